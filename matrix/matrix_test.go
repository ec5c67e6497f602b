package matrix

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// counted is a dense matrix with a stride that is larger than its width.
func counted() *Dense {
	m := &Dense{Rows: 3, Cols: 2, Stride: 3}
	for i := range 9 {
		m.Data = append(m.Data, float32(i))
	}
	return m
}

func TestViewsShareMemory(t *testing.T) {
	m := counted()
	m.Row(1)[1] = 40
	m.Slice(1, 3).Row(1)[0] = 60
	m.Columns(1, 2).Row(0)[0] = 10
	if want := []float32{0, 10, 2, 3, 40, 5, 60, 7, 8}; !slices.Equal(m.Data, want) {
		t.Errorf("%v, want %v", m.Data, want)
	}
	if v := m.Slice(1, 1); v.Rows != 0 || v.Cols != 2 {
		t.Errorf("an empty view: %+v", v)
	}
	// A row cannot grow into the next.
	if row := m.Row(0); cap(row) != 2 {
		t.Errorf("a row has room for %d numbers", cap(row))
	}
}

func TestReshapeKeepsMemory(t *testing.T) {
	m := NewDense(4, 5)
	p := &m.Data[0]
	m.Reshape(2, 3)
	if &m.Data[0] != p || m.Rows != 2 || m.Cols != 3 || m.Stride != 3 || len(m.Data) != 6 {
		t.Errorf("%+v", m)
	}
	m.Reshape(10, 10)
	if len(m.Data) != 100 {
		t.Errorf("%d numbers", len(m.Data))
	}
}

func sparse() *CSR {
	return &CSR{Rows: 3, Cols: 4, Ptr: []int{0, 2, 2, 3}, Idx: []int32{0, 3, 1}, Val: []float32{1, 2, 3}}
}

func TestSparseRows(t *testing.T) {
	m := sparse()
	if m.NNZ() != 3 || m.Slice(1, 3).NNZ() != 1 || (&CSR{}).NNZ() != 0 {
		t.Error("wrong numbers of values")
	}
	idx, val := m.Slice(2, 3).Row(0)
	if !slices.Equal(idx, []int32{1}) || !slices.Equal(val, []float32{3}) {
		t.Errorf("%v, %v", idx, val)
	}
	var d Dense
	m.Densify(&d)
	if want := []float32{1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0}; !slices.Equal(d.Data, want) {
		t.Errorf("%v", d.Data)
	}
	m.Slice(2, 3).Densify(&d)
	if want := []float32{0, 3, 0, 0}; !slices.Equal(d.Data, want) {
		t.Errorf("%v", d.Data)
	}
}

func TestBatchSlices(t *testing.T) {
	for _, x := range []Rows{{Dense: counted()}, {CSR: sparse()}} {
		b := Batch{X: x, First: 10, Outputs: 2, Y: []float64{1, 2, 3, 4, 5, 6}, Weights: []float64{7, 8, 9}, Names: []string{"a", "b", "c"}}
		v := b.Slice(1, 3)
		if v.X.Len() != 2 || v.X.Dim() != x.Dim() || v.First != 11 || !slices.Equal(v.Y, []float64{3, 4, 5, 6}) ||
			!slices.Equal(v.Weights, []float64{8, 9}) || !slices.Equal(v.Names, []string{"b", "c"}) {
			t.Errorf("%+v", v)
		}
		bare := Batch{X: x}
		if v := bare.Slice(0, 1); v.Y != nil || v.Weights != nil || v.Names != nil {
			t.Errorf("%+v", v)
		}
	}
}

func TestProgrammingErrorsAreNamed(t *testing.T) {
	for want, f := range map[string]func(){
		"row 3 of 3":          func() { counted().Row(3) },
		"row -1 of 3":         func() { sparse().Row(-1) },
		"rows [2, 1) of 3":    func() { counted().Slice(2, 1) },
		"rows [0, 4) of 3":    func() { sparse().Slice(0, 4) },
		"columns [0, 3) of 2": func() { counted().Columns(0, 3) },
		"negative size":       func() { NewDense(-1, 2) },
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, want) {
					t.Errorf("panic %q, want %q", text, want)
				}
			}()
			f()
		}()
	}
}

func TestGonum(t *testing.T) {
	m := counted()
	a := m.Mat()
	r, c := a.Dims()
	if r != 3 || c != 2 || a.At(2, 1) != 7 || a.T().At(1, 2) != 7 {
		t.Errorf("%d×%d", r, c)
	}
	back, err := FromMat(a)
	if err != nil || !slices.Equal(back.Data, []float32{0, 1, 3, 4, 6, 7}) {
		t.Errorf("%+v, %v", back, err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(-1), 1e39} {
		_, err := FromMat(mat.NewDense(2, 2, []float64{0, 1, v, 3}))
		if err == nil || !strings.Contains(err.Error(), "row 1, column 0") {
			t.Errorf("%g: %v", v, err)
		}
	}
}

func TestPickCopiesRows(t *testing.T) {
	d := Pick(Rows{Dense: counted()}, []int{2, 0, 2}).Dense
	for i, from := range []int{2, 0, 2} {
		if !slices.Equal(d.Row(i), counted().Row(from)) {
			t.Errorf("row %d is %v, want that of %d, %v", i, d.Row(i), from, counted().Row(from))
		}
	}
	m := sparse()
	c := Pick(Rows{CSR: m.Slice(1, 3)}, []int32{1, 0}).CSR
	var got, want Dense
	c.Densify(&got)
	m.Slice(2, 3).Densify(&want)
	if c.Rows != 2 || c.Cols != m.Cols || c.NNZ() != 1 || !slices.Equal(got.Row(0), want.Row(0)) {
		t.Errorf("%+v", c)
	}
	if none := Pick(Rows{CSR: m}, []int{}); none.Len() != 0 || none.Dim() != m.Cols {
		t.Errorf("no rows are %+v", none.CSR)
	}
}
