package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Labels of an array that are texts are classes, and so are columns of which one has a 1 in each row, which is told.
func TestLabelsOfArrays(t *testing.T) {
	wide := func(order binary.ByteOrder, texts ...string) []byte {
		var b bytes.Buffer
		for _, text := range texts {
			runes := append([]rune(text), make([]rune, 3)...)
			if err := binary.Write(&b, order, runes[:3]); err != nil {
				t.Fatal(err)
			}
		}
		return b.Bytes()
	}
	x := npyFile("'<f4'", false, "(3, 2)", float32Bytes(1, 2, 3, 4, 5, 6))
	for _, c := range []struct {
		name, dtype, shape string
		data               []byte
		names              []string
		y                  []float64
		want               string // of the error, or the notices
	}{
		{"texts", "'<U3'", "(3,)", wide(binary.LittleEndian, "käs", "x,\"", "a"), []string{"käs", "x,\"", "a"}, nil, ""},
		{"other order", "'>U3'", "(3, 1)", wide(binary.BigEndian, "no", "yes", "no"), []string{"no", "yes", "no"}, nil, ""},
		{"bytes", "'|S2'", "(3,)", []byte("a\x00bba\x00"), []string{"a", "bb", "a"}, nil, ""},
		{"cut", "'|S2'", "(3,)", []byte("a\x00bba"), nil, nil, "is cut short: it ends in row 2 (from 0) of the 3"},
		{"more", "'|S2'", "(3,)", []byte("a\x00bba\x00\x00"), nil, nil, "goes on after the 3 texts"},
		{"several", "'|S1'", "(3, 2)", []byte("abcdef"), nil, nil, "texts of shape [3 2]; each row needs one label"},
		{"one-hot", "'<f4'", "(3, 2)", float32Bytes(0, 1, 1, 0, 0, 1), nil, []float64{1, 0, 1}, "has one 1 in each row and 0 otherwise, and is taken for the classes 0 to 1"},
		{"two ones", "'<f4'", "(3, 2)", float32Bytes(0, 1, 1, 1, 0, 1), nil, []float64{0, 1, 1, 1, 0, 1}, ""},
		{"no type", "'<'", "(3,)", []byte("abc"), nil, nil, `elements of type "<" are not read`},
		{"numbers", "'<f4'", "(3, 2)", float32Bytes(0, 1, 1, 0, 0, 2), nil, []float64{0, 1, 1, 0, 0, 2}, ""},
	} {
		y := npyFile(c.dtype, false, c.shape, c.data)
		dir := t.TempDir()
		for name, data := range map[string][]byte{"a.npz": zipped(t, "X.npy", x, "y.npy", y), "x.npy": x, "y.npy": y} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name, opt := range map[string]Options{"a.npz": {}, "x.npy": {LabelsFile: filepath.Join(dir, "y.npy")}} {
			var told []string
			opt.Columns.Notice = func(n Notice) { told = append(told, n.Text) }
			f, err := Open(context.Background(), filepath.Join(dir, name), opt)
			if err == nil {
				b, failed := Collect(context.Background(), f, 2)
				if err = failed; err == nil && (!slices.Equal(b.Names, c.names) || c.y != nil && !slices.Equal(b.Y, c.y)) {
					t.Errorf("%s in %s: %q %v", c.name, name, b.Names, b.Y)
				}
				f.Close()
			}
			if got := fmt.Sprint(told, err); !strings.Contains(got, c.want) || c.want == "" && (err != nil || strings.Contains(got, "one 1")) {
				t.Errorf("%s in %s: %s", c.name, name, got)
			}
		}
	}
}
