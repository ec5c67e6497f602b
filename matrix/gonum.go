package matrix

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Mat presents m to gonum as a read-only mat.Matrix without copying.
func (m *Dense) Mat() mat.Matrix { return view{m} }

type view struct{ m *Dense }

func (v view) Dims() (r, c int) { return v.m.Rows, v.m.Cols }
func (v view) T() mat.Matrix    { return mat.Transpose{Matrix: v} }
func (v view) At(i, j int) float64 {
	if uint(j) >= uint(v.m.Cols) {
		panic(mat.ErrColAccess)
	}
	if uint(i) >= uint(v.m.Rows) {
		panic(mat.ErrRowAccess)
	}
	return float64(v.m.Data[i*v.m.Stride+j])
}

// FromMat copies a gonum matrix into a new Dense, rounding to float32. It fails on an
// element that is not finite in float32, naming it.
func FromMat(a mat.Matrix) (*Dense, error) {
	r, c := a.Dims()
	m := NewDense(r, c)
	for i := range r {
		row := m.Row(i)
		for j := range row {
			x := a.At(i, j)
			row[j] = float32(x)
			if row[j]-row[j] != 0 {
				return nil, fmt.Errorf("matrix: row %d, column %d: %g is not a finite float32", i, j, x)
			}
		}
	}
	return m, nil
}
