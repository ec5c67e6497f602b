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
		appendRows(all, b.Batch, dim)
	}
	if all.X.Dense == nil && all.X.CSR == nil {
		all.X.Dense = matrix.NewDense(0, dim)
	}
	return all, nil
}

// appendRows copies the rows of b to the end of all.
func appendRows(all, b *matrix.Batch, dim int) {
	n := 0
	if all.X.Dense != nil || all.X.CSR != nil {
		n = all.X.Len()
	}
	switch x := b.X.CSR; {
	case x == nil:
		d := b.X.Dense
		if all.X.Dense == nil {
			all.X.Dense = &matrix.Dense{Cols: d.Cols, Stride: d.Cols}
		}
		for i := range d.Rows {
			all.X.Dense.Data = append(all.X.Dense.Data, d.Row(i)...)
		}
		all.X.Dense.Rows += d.Rows
	default:
		if all.X.CSR == nil {
			all.X.CSR = &matrix.CSR{Cols: dim, Ptr: []int{0}}
		}
		for i := range x.Rows {
			idx, val := x.Row(i)
			all.X.CSR.Idx = append(all.X.CSR.Idx, idx...)
			all.X.CSR.Val = append(all.X.CSR.Val, val...)
			all.X.CSR.Ptr = append(all.X.CSR.Ptr, len(all.X.CSR.Idx))
		}
		all.X.CSR.Rows += x.Rows
		all.X.CSR.Cols = max(all.X.CSR.Cols, x.Cols)
	}
	all.Outputs = b.Outputs
	all.Y = append(all.Y, b.Y...)
	if b.Names != nil && all.Names == nil {
		all.Names = make([]string, n)
	}
	if all.Names != nil {
		all.Names = append(all.Names, b.Names...)
		if b.Names == nil {
			all.Names = append(all.Names, make([]string, b.X.Len())...)
		}
	}
	all.Weights = append(all.Weights, b.Weights...)
}
