package feature

import (
	"fmt"
	"slices"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// What maps with sparse features have in common.

// bySparseRows is a map that writes sparse rows independently of each other.
type bySparseRows interface {
	sparseRows(dst *matrix.CSR, x matrix.Rows, lo, hi int)
}

// eachSparseRow transforms the rows of x into dst, whose Ptr is set.
func eachSparseRow(m bySparseRows, dst *matrix.CSR, x matrix.Rows) {
	n := x.Len()
	if n <= few {
		m.sparseRows(dst, x, 0, n)
		return
	}
	vec.Parallel(n, few, func(lo, hi int) { m.sparseRows(dst, x, lo, hi) })
}

// reserve makes dst n×cols with room for width(i) elements in row i.
func reserve(dst *matrix.CSR, n, cols int, width func(row int) int) {
	dst.Rows, dst.Cols = n, cols
	dst.Ptr = append(dst.Ptr[:0], 0)
	total := 0
	for i := range n {
		total += width(i)
		dst.Ptr = append(dst.Ptr, total)
	}
	dst.Idx = slices.Grow(dst.Idx[:0], total)[:total]
	dst.Val = slices.Grow(dst.Val[:0], total)[:total]
}

// checkSparse panics unless x fits a map of in dimensions.
func checkSparse(in int, x matrix.Rows) {
	if x.Dim() != in {
		panic(fmt.Sprintf("feature: TransformSparse of rows of %d dimensions by a map of %d", x.Dim(), in))
	}
}
