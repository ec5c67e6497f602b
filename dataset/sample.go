package dataset

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Sample draws at most n rows of a source at random, with what belongs to them, in one pass: those with the
// smallest hashes of seed and row number, in the order of the source. numbers are those of the rows, and of is the
// number of rows that there are. dim is the width of sparse rows. Memory: that of n rows.
func Sample(ctx context.Context, src Source, n, dim int, seed uint64) (rows *matrix.Batch, numbers []int, of int, err error) {
	var kept drawnRows
	for b, err := range Each(ctx, src) {
		if err != nil {
			return nil, nil, 0, err
		}
		for i := range b.X.Len() {
			h := random.Hash(seed, "sample", uint64(of))
			switch {
			case len(kept) < n:
				heap.Push(&kept, drawnRow{h, of, copied(b.Batch, i, dim)})
			case n > 0 && h < kept[0].hash:
				kept[0] = drawnRow{h, of, copied(b.Batch, i, dim)}
				heap.Fix(&kept, 0)
			}
			of++
		}
	}
	slices.SortFunc(kept, func(a, b drawnRow) int { return cmp.Compare(a.number, b.number) })
	rows = &matrix.Batch{X: matrix.Rows{Dense: matrix.NewDense(0, dim)}}
	for i, r := range kept {
		if i == 0 {
			rows.X = matrix.Rows{}
		}
		rows.Append(r.row, dim)
		numbers = append(numbers, r.number)
	}
	return rows, numbers, of, nil
}

// copied is a copy of row i of a batch.
func copied(b *matrix.Batch, i, dim int) *matrix.Batch {
	var one matrix.Batch
	row := b.Slice(i, i+1)
	one.Append(&row, dim)
	return &one
}

// drawnRow is a row of a sample.
type drawnRow struct {
	hash   uint64
	number int
	row    *matrix.Batch
}

// drawnRows is a heap that has the row with the largest hash on top.
type drawnRows []drawnRow

func (h drawnRows) Len() int           { return len(h) }
func (h drawnRows) Less(i, j int) bool { return h[i].hash > h[j].hash }
func (h drawnRows) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *drawnRows) Push(x any)        { *h = append(*h, x.(drawnRow)) }
func (h *drawnRows) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
