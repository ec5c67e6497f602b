package dataset

import (
	"context"

	"mercer/matrix"
)

// Collect reads a whole source into one batch, for code that needs all rows at once; dim
// is the width of sparse rows. It takes 4·n·d bytes for dense rows, 8 bytes per value for sparse
// ones.
func Collect(ctx context.Context, src Source, dim int) (*matrix.Batch, error) {
	all := &matrix.Batch{}
	for b, err := range Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		all.Append(b.Batch, dim)
	}
	if all.X.Dense == nil && all.X.CSR == nil {
		all.X.Dense = matrix.NewDense(0, dim)
	}
	return all, nil
}
