package learn

import (
	"fmt"

	"mercer/matrix"
)

// Recomputed are features that are made anew whenever they are asked for: rows(i, j) gives
// the rows [i, j), valid until the next call. It takes no memory but that of one block.
func Recomputed(n, dim int, rows func(i, j int) (matrix.Rows, error)) Features {
	return &recomputed{n: n, dim: dim, rows: rows}
}

type recomputed struct {
	n, dim int
	rows   func(i, j int) (matrix.Rows, error)
}

func (r *recomputed) Len() int       { return r.n }
func (r *recomputed) Dim() int       { return r.dim }
func (r *recomputed) Resident() bool { return false }

func (r *recomputed) Block(i, j int) (matrix.Rows, error) {
	z, err := r.rows(i, j)
	if err != nil {
		return matrix.Rows{}, err
	}
	if z.Len() != j-i || z.Dim() != r.dim {
		return matrix.Rows{}, fmt.Errorf("features of rows %d to %d were made anew as %d×%d, and %d×%d are wanted: the data changed while they were read", i, j, z.Len(), z.Dim(), j-i, r.dim)
	}
	return z, nil
}
