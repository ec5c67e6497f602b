package eval

import (
	"context"
	"errors"
	"fmt"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// blockRows is the number of rows that are scored at a time, fewer if rows are wide: enough for fast products, few
// enough to end soon after an interruption.
const blockRows = 1024

// block gathers rows that are put together from two, scores them together, and hands the scores out in the order
// of the rows. A tag says what a row is for. Memory: 4·blockRows·d bytes, 16 MB at most; for sparse rows their values.
type block[T any] struct {
	ctx  context.Context
	m    *model.Model
	take func(tag T, scores []float32)

	tags   []T
	dense  matrix.Dense
	csr    *matrix.CSR // nil for dense rows
	scores matrix.Dense
}

func newBlock[T any](ctx context.Context, m *model.Model, like matrix.Rows, take func(tag T, scores []float32)) *block[T] {
	most := min(blockRows, max(1, 1<<22/m.Dim()))
	b := &block[T]{ctx: ctx, m: m, take: take}
	if like.CSR != nil {
		most = blockRows
		b.csr = &matrix.CSR{Cols: m.Dim(), Ptr: []int{0}}
	} else {
		b.dense.Reshape(most, m.Dim())
	}
	b.tags = make([]T, 0, most)
	return b
}

// add adds row i of x with the dimensions of mask from row j of y. Both are dense, or both sparse.
func (b *block[T]) add(tag T, x matrix.Rows, i int, y matrix.Rows, j int, mask []bool) error {
	if b.csr != nil {
		merge(x.CSR, i, y.CSR, j, func(dim int32, v, w float32) {
			if mask[dim] {
				v = w
			}
			if v != 0 {
				b.csr.Idx, b.csr.Val = append(b.csr.Idx, dim), append(b.csr.Val, v)
			}
		})
		b.csr.Ptr = append(b.csr.Ptr, len(b.csr.Idx))
		b.csr.Rows++
	} else {
		row := b.dense.Row(len(b.tags))
		copy(row, x.Dense.Row(i))
		for dim, w := range y.Dense.Row(j) {
			if mask[dim] {
				row[dim] = w
			}
		}
	}
	if b.tags = append(b.tags, tag); len(b.tags) == cap(b.tags) {
		return b.flush()
	}
	return nil
}

// flush scores the rows gathered.
func (b *block[T]) flush() error {
	if err := b.ctx.Err(); err != nil || len(b.tags) == 0 {
		return err
	}
	x := matrix.Rows{CSR: b.csr}
	if b.csr == nil {
		x.Dense = b.dense.Slice(0, len(b.tags))
	}
	b.scores.Reshape(len(b.tags), b.m.Outputs())
	if err := b.m.Learned(&b.scores, x); err != nil {
		var at *dataset.RowError
		if errors.As(err, &at) {
			err = at.Err // the row is in no file
		}
		return fmt.Errorf("a row with values of another in some columns: %w", err)
	}
	for i, tag := range b.tags {
		b.take(tag, b.scores.Row(i))
	}
	b.tags = b.tags[:0]
	if b.csr != nil {
		b.csr.Rows, b.csr.Ptr, b.csr.Idx, b.csr.Val = 0, b.csr.Ptr[:1], b.csr.Idx[:0], b.csr.Val[:0]
	}
	return nil
}

// cover sets the dimensions of columns in a mask.
func cover(mask []bool, columns []Column, which []int, to bool) {
	for _, c := range which {
		for dim := columns[c].From; dim < columns[c].To; dim++ {
			mask[dim] = to
		}
	}
}
