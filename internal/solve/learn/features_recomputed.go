package learn

import (
	"fmt"

	"mercer/matrix"
)

// Recomputed are features that are recomputed whenever they are needed: rows(which) returns
// those of the rows which, in that order, valid until the next call. They take only the
// memory of a few rows.
func Recomputed(n, dim int, rows func(which []int) (matrix.Rows, error)) Features {
	return &recomputed{n: n, dim: dim, rows: rows}
}

type recomputed struct {
	n, dim int
	rows   func(which []int) (matrix.Rows, error)
	which  []int
}

func (r *recomputed) Len() int       { return r.n }
func (r *recomputed) Dim() int       { return r.dim }
func (r *recomputed) Resident() bool { return false }

func (r *recomputed) Block(i, j int) (matrix.Rows, error) {
	r.which = r.which[:0]
	for ; i < j; i++ {
		r.which = append(r.which, i)
	}
	return r.Pick(r.which)
}

func (r *recomputed) Pick(which []int) (matrix.Rows, error) {
	z, err := r.rows(which)
	if err != nil {
		return matrix.Rows{}, err
	}
	if z.Len() != len(which) || z.Dim() != r.dim {
		return matrix.Rows{}, fmt.Errorf("the recomputed features are %d×%d instead of %d×%d: the data changed "+
			"while they were read", z.Len(),
			z.Dim(), len(which), r.dim)
	}
	return z, nil
}
