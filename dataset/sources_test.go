package dataset

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/matrix"
)

func TestSplitDividesTheRows(t *testing.T) {
	const n = 20_000
	src := Generate(Synthetic{Rows: n, Dim: 5, Seed: 3})
	all, err := everything(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []float64{0, 0.1, 0.5, 1} {
		rest, held := Split(src, share, 7)
		a, err := everything(rest)
		if err != nil {
			t.Fatal(err)
		}
		b, err := everything(held)
		if err != nil {
			t.Fatal(err)
		}
		if a.X.Len()+b.X.Len() != n {
			t.Fatalf("share %g: %d and %d rows of %d", share, a.X.Len(), b.X.Len(), n)
		}
		if se := math.Sqrt(n * share * (1 - share)); math.Abs(float64(b.X.Len())-n*share) > 4*se {
			t.Errorf("share %g: %d rows held of %d", share, b.X.Len(), n)
		}
		// Each row of the source comes next in one of the two.
		i, j := 0, 0
		for k := range n {
			row := all.X.Dense.Row(k)
			switch {
			case i < a.X.Len() && slices.Equal(row, a.X.Dense.Row(i)) && a.Y[i] == all.Y[k]:
				i++
			case j < b.X.Len() && slices.Equal(row, b.X.Dense.Row(j)) && b.Y[j] == all.Y[k]:
				j++
			default:
				t.Fatalf("share %g: row %d is in neither part", share, k)
			}
		}
		_, again := Split(Generate(Synthetic{Rows: n, Dim: 5, Seed: 3, BatchRows: 13}), share, 7)
		c, err := everything(again)
		if err != nil || !slices.Equal(b.X.Dense.Data, c.X.Dense.Data) {
			t.Errorf("share %g: other rows are held in other batches (%v)", share, err)
		}
	}
}

func TestSplitCarriesWhatBelongsToARow(t *testing.T) {
	f, err := openMemory([]byte("w,x,kind\n1,10,a\n2,20,b\n3,30,c\n4,40,d\n5,50,e\n6,60,f\n"), Options{Weight: "w"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rest, held := Split(f, 0.5, 1)
	seen := 0
	for _, part := range []Source{rest, held} {
		b, err := everything(part)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.X.Len() {
			v := float64(b.X.Dense.Row(i)[0])
			if b.Weights[i] != v/10 || b.Names[i] != string(rune('a'+int(v/10)-1)) {
				t.Errorf("row %g has weight %g and label %q", v, b.Weights[i], b.Names[i])
			}
			seen++
		}
	}
	if seen != 6 {
		t.Errorf("%d rows of 6", seen)
	}
	sparse, err := openMemory([]byte("1 1:1\n2 2:2\n3 3:3\n4 1:4 3:5\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer sparse.Close()
	rest, held = Split(sparse, 0.5, 2)
	total := 0
	for _, part := range []Source{rest, held} {
		b, err := Collect(context.Background(), part, 3)
		if err != nil {
			t.Fatal(err)
		}
		if b.X.CSR != nil {
			total += b.X.CSR.NNZ()
		}
	}
	if total != 5 {
		t.Errorf("%d values of 5", total)
	}
}

func TestFromRows(t *testing.T) {
	x := matrix.Rows{Dense: &matrix.Dense{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}}
	nan := float32(math.NaN())
	for _, c := range []struct {
		x       matrix.Rows
		y       []float64
		outputs int
		names   []string
		want    string
	}{
		{x, []float64{1}, 1, nil, "1 targets for 2 rows"},
		{x, []float64{1, 2}, 0, nil, "targets for 2 rows"},
		{x, nil, 0, []string{"a"}, "1 labels for 2 rows"},
		{x, nil, 0, []string{"a", ""}, "row 1: the label is empty"},
		{x, []float64{1, 2}, 1, []string{"a", "b"}, "not as both"},
		{x, []float64{1, math.NaN()}, 1, nil, "row 1: the target NaN"},
		{matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0, nan}}}, nil, 0, nil, "row 0, column 1"},
		{matrix.Rows{CSR: &matrix.CSR{Rows: 1, Cols: 9, Ptr: []int{0, 1}, Idx: []int32{7}, Val: []float32{nan}}}, nil, 0, nil, "row 0, column 7"},
	} {
		if _, err := FromRows(c.x, c.y, c.outputs, c.names); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	src, err := FromRows(x, []float64{1, 2}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	b.X.Dense.Data[0], b.Y[0] = 99, 99
	if x.Dense.Data[0] != 1 {
		t.Error("changing a batch changes the source")
	}
	if again, _ := everything(src); again.Y[0] != 1 {
		t.Error("changing a batch's labels changes the source")
	}
}

func TestGeneratedRows(t *testing.T) {
	const n, d = 4000, 6
	all, err := everything(Generate(Synthetic{Rows: n, Dim: d, Seed: 1}))
	if err != nil {
		t.Fatal(err)
	}
	// Later rows by themselves, in other batches.
	part, err := everything(Generate(Synthetic{First: 1000, Rows: 500, Dim: d, Seed: 1, BatchRows: 7}))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(part.X.Dense.Data, all.X.Dense.Data[1000*d:1500*d]) || !slices.Equal(part.Y, all.Y[1000:1500]) {
		t.Error("rows 1000 to 1500 differ when they are read alone")
	}
	// Uniform on [-1, 1): the counts in 20 cells are chi-squared with 19 degrees of freedom,
	// mean 19 and deviation √38.
	cells := make([]float64, 20)
	for _, v := range all.X.Dense.Data {
		if v < -1 || v >= 1 {
			t.Fatalf("an input is %g", v)
		}
		cells[int((v+1)*10)]++
	}
	chi := 0.0
	expected := float64(n*d) / 20
	for _, c := range cells {
		chi += (c - expected) * (c - expected) / expected
	}
	if math.Abs(chi-19) > 4*math.Sqrt(38) {
		t.Errorf("χ² of the inputs is %g", chi)
	}
	other, err := everything(Generate(Synthetic{Rows: n, Dim: d, Seed: 2}))
	if err != nil || slices.Equal(other.X.Dense.Data, all.X.Dense.Data) {
		t.Error("the seed changes nothing")
	}
}
