package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// zipped is an archive of files: name, content, and so on.
func zipped(t *testing.T, files ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i].(string))
		if err == nil {
			_, err = w.Write(files[i+1].([]byte))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Arrays of numpy.savez are rows and labels by the names that people give them, and an archive of one table is that table.
func TestArchivesOfArraysAndTables(t *testing.T) {
	x, y := npyFile("'<f4'", false, "(3, 2)", float32Bytes(1, 2, 3, 4, 5, 6)), npyFile("'<i4'", false, "(3,)", integers[int32](7, 8, 9))
	deep := npyFile("'<f4'", false, "(3, 1, 2)", float32Bytes(1, 2, 3, 4, 5, 6))
	table := []byte("a,b,y\n1,2,7\n3,4,8\n5,6,9\n")
	packed := func(data []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(data)
		z.Close()
		return b.Bytes()
	}
	model := &Schema{Format: "npy", Dim: 2, Width: 2}
	for _, c := range []struct {
		files []any
		opt   Options
		y     bool
		want  string // of the error, or the notices
	}{
		{[]any{"X.npy", x, "y.npy", y}, Options{}, true, "takes the array X for the rows, and y for their labels"},
		{[]any{"x_train.npy", deep, "y_train.npy", y, "x_test.npy", deep, "y_test.npy", y}, Options{}, true, "and y_train for their labels, and leaves out x_test, y_test"},
		{[]any{"x_train.npy", y, "y_train.npy", y, "x_test.npy", x, "y_test.npy", y}, Options{Schema: model}, true, ""},
		{[]any{"data.npy", x, "target.npy", y, "target_names.npy", []byte("?")}, Options{}, true, "leaves out target_names"},
		{[]any{"arr_0.npy", x, "arr_1.npy", y}, Options{}, true, "the array arr_0"},
		{[]any{"foo.npy", x, "bar.npy", y}, Options{Label: "bar"}, true, "the array foo"},
		{[]any{"X.npy", x, "y.npy", y}, Options{Label: "none"}, false, ""},
		{[]any{"X.npy", x}, Options{Label: "none"}, false, ""},
		{[]any{"X.npy", deep}, Options{Label: "none"}, false, "has 3 dimensions: takes each of the 3 as a row of 1 × 2 = 2 columns"},
		{[]any{"__MACOSX/._t.csv", []byte("x"), "d/", []byte(nil), "d/t.csv", table}, Options{}, true, ""},
		{[]any{"foo.npy", x, "bar.npy", y}, Options{}, false, "has the arrays bar, foo, and their names do not say"},
		{[]any{"X.npy", x, "y.npy", npyFile("'<i4'", false, "(2,)", integers[int32](7, 8))}, Options{}, false, "array X: has 3 rows, and f: array y 2"},
		{[]any{"a.csv", table, "b.csv", table}, Options{}, false, "neither one file of data nor arrays alone; unpack it"},
		{[]any{"a.csv.gz", packed(table)}, Options{}, false, "f: a.csv.gz: is an archive within an archive; unpack it"},
		{[]any{"a.zip", zipped(t, "a.csv", table)}, Options{}, false, "f: a.zip: is an archive within an archive; unpack it"},
	} {
		var told []string
		c.opt.Columns.Notice = func(n Notice) { told = append(told, n.Text) }
		archive := zipped(t, c.files...)
		for _, data := range [][]byte{archive, packed(archive)} {
			told = nil
			f, err := OpenBytes(context.Background(), "f", data, c.opt)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || c.want == "" {
					t.Errorf("%v: %v", c.files[0], err)
				}
				continue
			}
			for range 2 {
				b, err := everything(f)
				if err != nil || !slices.Equal(b.X.Dense.Data, []float32{1, 2, 3, 4, 5, 6}) || c.y != slices.Equal(b.Y, []float64{7, 8, 9}) {
					t.Errorf("%v: %+v: %v", c.files[0], b, err)
				}
			}
			if got := fmt.Sprint(told); !strings.Contains(got, c.want) || c.want == "" && len(told) > 0 {
				t.Errorf("%v: told %s, not %q", c.files[0], got, c.want)
			}
			f.Close()
		}
	}
}
