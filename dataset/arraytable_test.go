package dataset

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// rowsWithGaps are rows of numbers and a label, with gaps in two of four columns, and the same as CSV.
func rowsWithGaps(n int) (rows [][]float64, text string) {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range n {
		row := []float64{math.Round(r.NormFloat64()*1024) / 1024, float64(r.IntN(50)), math.Round(r.Float64()*512) / 512, 2.5 * float64(i%7), float64(i % 2)}
		for j := range 3 {
			if j != 1 && r.IntN(5) == 0 {
				row[j] = math.NaN()
			}
		}
		rows = append(rows, row)
		for j, v := range row {
			if j > 0 {
				b.WriteByte(',')
			}
			if v == v {
				fmt.Fprint(&b, v)
			}
		}
		b.WriteByte('\n')
	}
	return rows, b.String()
}

// encoded are rows as elements of a type, which all of them have, by rows or by columns.
func encoded(rows [][]float64, order binary.AppendByteOrder, size int, fortran bool) (b []byte) {
	put := func(v float64) {
		switch size {
		case 4:
			b = order.AppendUint32(b, math.Float32bits(float32(v)))
		default:
			b = order.AppendUint64(b, math.Float64bits(v))
		}
	}
	if fortran {
		for j := range rows[0] {
			for _, row := range rows {
				put(row[j])
			}
		}
		return b
	}
	for _, row := range rows {
		for _, v := range row {
			put(v)
		}
	}
	return b
}

// NaN in an array is a missing value, as an empty cell of a table is: the rows are the same, whatever the type and the order of the elements.
func TestNaNInArraysIsMissing(t *testing.T) {
	rows, text := rowsWithGaps(300)
	table, err := OpenBytes(t.Context(), "f.csv", []byte(text), Options{Header: "no"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := everything(table)
	if err != nil {
		t.Fatal(err)
	}
	if table.Schema().Dim != 6 { // with two that say that a value is missing
		t.Fatalf("%d dimensions", table.Schema().Dim)
	}
	same := func(name string, file []byte, opt Options) *File {
		t.Helper()
		f, err := OpenBytes(t.Context(), "f.npy", file, opt)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		got, err := everything(f)
		if err != nil || !reflect.DeepEqual(got.X.Dense.Contiguous(), want.X.Dense.Contiguous()) || len(got.Y) > 0 && !reflect.DeepEqual(got.Y, want.Y) {
			t.Errorf("%s: other rows than those of the table, %v", name, err)
		}
		return f
	}
	shape := "(300, 5)"
	for name, file := range map[string][]byte{
		"float32":             npyFile("'<f4'", false, shape, encoded(rows, binary.LittleEndian, 4, false)),
		"float64":             npyFile("'<f8'", false, shape, encoded(rows, binary.LittleEndian, 8, false)),
		"big-endian":          npyFile("'>f4'", false, shape, encoded(rows, binary.BigEndian, 4, false)),
		"big-endian, float64": npyFile("'>f8'", false, shape, encoded(rows, binary.BigEndian, 8, false)),
		"by columns":          npyFile("'<f4'", true, shape, encoded(rows, binary.LittleEndian, 4, true)),
		"three dimensions":    npyFile("'<f4'", false, "(300, 1, 5)", encoded(rows, binary.LittleEndian, 4, false)),
	} {
		f := same(name, file, Options{})
		if f == nil || !reflect.DeepEqual(f.Schema().Columns, table.Schema().Columns) || !reflect.DeepEqual(f.Schema().Labels, table.Schema().Labels) {
			t.Errorf("%s: another schema", name)
			continue
		}
		// For a model of either, the array is read as it was then.
		same(name+", for the model", file, Options{Schema: f.Schema()})
		same(name+", for that of the table", file, Options{Schema: table.Schema()})
	}
	inputs := make([][]float64, len(rows))
	for i := range rows {
		inputs[i] = rows[i][:4]
	}
	alone := npyFile("'<f4'", false, "(300, 4)", encoded(inputs, binary.LittleEndian, 4, false))
	same("without labels", alone, Options{Schema: table.Schema()})
	same("all inputs", alone, Options{AllInputs: true})
	same("no label", alone, Options{Label: "none"})
	labels := make([]float32, len(rows))
	for i := range rows {
		labels[i] = float32(rows[i][4])
	}
	archive := same("arrays of an archive", zipped(t, "X.npy", alone, "y.npy", npyFile("'<f4'", false, "(300,)", float32Bytes(labels...))), Options{})
	same("labels in the last column, for the model of an archive", npyFile("'<f4'", false, shape, encoded(rows, binary.LittleEndian, 4, false)),
		Options{Schema: archive.Schema()})

	// Without gaps, for the model: the values are those of the table as well.
	for i := range inputs {
		for j := range inputs[i] {
			inputs[i][j] = float64(i + j)
		}
	}
	whole, err := OpenBytes(t.Context(), "f.npy", npyFile("'<f8'", false, "(300, 4)", encoded(inputs, binary.LittleEndian, 8, false)), Options{Schema: table.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := everything(whole); err != nil || b.X.Dense.Cols != 6 || b.X.Dense.Row(3)[1] != 0 {
		t.Errorf("%v, %v", b, err)
	}
}

// Arrays without gaps stay arrays, and where missing values are to be errors, NaN is one.
func TestArraysWithoutNaNStayArrays(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		opt  Options
	}{
		"numbers":       {npyOf32([][]float64{{1, 2, 0}, {3, 4, 1}}), Options{}},
		"NaN, an error": {npyOf32([][]float64{{1, math.NaN(), 0}, {3, 4, 1}}), Options{Missing: "error"}},
		"label NaN":     {npyOf32([][]float64{{1, 2, math.NaN()}, {3, 4, 1}}), Options{}},
	} {
		f, err := OpenBytes(t.Context(), "f", c.file, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := f.Source.(*array); !is || f.Schema().Format != "npy" {
			t.Errorf("%s: %T", name, f.Source)
		}
	}
}
