package dataset

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/matrix"
)

// writtenCSV is the table of a batch of one row, or what is wrong with it.
func writtenCSV(t *testing.T, b *matrix.Batch, cols int) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "z.csv")
	w, err := CreateRows(path, "csv", cols)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Write(b); err != nil {
		return "", err
	}
	if err := w.Commit(); err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

func TestCSVOfLabels(t *testing.T) {
	one := matrix.Rows{CSR: &matrix.CSR{Rows: 1, Cols: 3, Ptr: []int{0, 2}, Idx: []int32{0, 2}, Val: []float32{0.1, -2}}}
	inf := matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1, float32(math.Inf(1)), 0}}}
	nan := math.NaN()
	for _, c := range []struct {
		rows matrix.Batch
		want string
	}{
		{matrix.Batch{X: one}, "z0,z1,z2\n0.1,0,-2\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{-1}}, "z0,z1,z2,label\n0.1,0,-2,-1\n"},
		{matrix.Batch{X: one, Outputs: 2, Y: []float64{0.1, 7}}, "z0,z1,z2,label0,label1\n0.1,0,-2,0.1,7\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{"light blue"}}, "z0,z1,z2,label\n0.1,0,-2,light blue\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{`a "b", c`}}, "z0,z1,z2,label\n0.1,0,-2,\"a \"\"b\"\", c\"\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{"3" + listMark + "7"}}, "z0,z1,z2,label\n0.1,0,-2,3|7\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{listMark}}, "z0,z1,z2,label\n0.1,0,-2,\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{"3|4" + listMark + "7"}},
			`row 1: a label in the list ["3|4" "7"] has the mark |`},
		{matrix.Batch{X: inf}, "row 1: value 2 (from 1) is +Inf, which a table of numbers cannot hold; write NPY or npz"},
	} {
		got, err := writtenCSV(t, &c.rows, 3)
		if strings.HasSuffix(c.want, "\n") && (err != nil || got != c.want) || !strings.HasSuffix(c.want, "\n") &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
}

// Numbers that are rounded twice when they are read, and labels of every kind, come back as they were.
func TestCSVIsReadBack(t *testing.T) {
	const bits = 0x15ae43fd // 7.038531e-26
	want := []float32{math.Float32frombits(bits), -math.Float32frombits(bits), math.SmallestNonzeroFloat32, math.MaxFloat32}
	names := []string{"cat", `say "moo", cow`, "3", "light blue"}
	x := &matrix.Dense{Rows: 4, Cols: 1, Stride: 1, Data: want}
	text, err := writtenCSV(t, &matrix.Batch{X: matrix.Rows{Dense: x}, Outputs: 1,
		Y: []float64{math.NaN(), math.NaN(), 3, math.NaN()}, Names: []string{names[0], names[1], "", names[3]}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "z.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := Collect(context.Background(), f, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.X.Dense.Data, want) {
		t.Errorf("%v, want %v", b.X.Dense.Data, want)
	}
	for i, name := range names {
		if got := b.Names[i]; got != name && !(got == "" && b.Y[i] == 3 && name == "3") {
			t.Errorf("label %d is %q, want %q", i, got, name)
		}
	}
	if f.Schema().Columns[0].Name != "z0" {
		t.Errorf("the column is called %q", f.Schema().Columns[0].Name)
	}
}
