package vec

import (
	"fmt"
	"sync/atomic"
)

// Packed is a matrix B, k×n, packed for many products A·B. It is immutable.
type Packed[T float32 | float64] struct {
	mk     *micro[T]
	k, n   int
	panels []T // of nr columns, one after the other, the last padded with zeros
	finite bool
}

// Pack32 packs B, k×n, row-major with stride ldb.
func Pack32(k, n int, b []float32, ldb int) *Packed[float32] { return pack(micro32, k, n, b, ldb) }

// Pack64 packs B, k×n, row-major with stride ldb.
func Pack64(k, n int, b []float64, ldb int) *Packed[float64] { return pack(micro64, k, n, b, ldb) }

// PackT64 packs the transpose of B, which is n×k, row-major with stride ldb.
func PackT64(n, k int, b []float64, ldb int) *Packed[float64] {
	return packed(micro64, k, n, b, 1, ldb)
}

func pack[T float32 | float64](mk *micro[T], k, n int, b []T, ldb int) *Packed[T] {
	return packed(mk, k, n, b, ldb, 1)
}

// packed packs a matrix whose element (l, j) is b[l*brs+j*bcs].
func packed[T float32 | float64](mk *micro[T], k, n int, b []T, brs, bcs int) *Packed[T] {
	nr := mk.nr
	p := &Packed[T]{mk: mk, k: k, n: n, panels: aligned[T]((n + nr - 1) / nr * nr * k), finite: true}
	if k > 0 && n > 0 {
		_ = b[(k-1)*brs+(n-1)*bcs] // panics here, not on another goroutine
		var infinite atomic.Bool
		Parallel((n+nr-1)/nr, 1, func(lo, hi int) {
			q := product[T]{b: b, brs: brs, bcs: bcs}
			mk.packB(&q, 0, k, lo*nr, min(hi*nr, n), p.panels[lo*nr*k:])
			if !finite(p.panels[lo*nr*k : hi*nr*k]) {
				infinite.Store(true)
			}
		})
		p.finite = !infinite.Load()
	}
	return p
}

// finite reports whether all numbers of x, a multiple of 4 of them, are finite.
func finite[T float32 | float64](x []T) bool {
	var a, b, c, d T
	for ; len(x) >= 4; x = x[4:] {
		a += 0 * x[0]
		b += 0 * x[1]
		c += 0 * x[2]
		d += 0 * x[3]
	}
	return a+b+c+d == 0
}

// Dims returns k and n.
func (p *Packed[T]) Dims() (k, n int) { return p.k, p.n }

// Multiply computes C = A·B for A m×k and C m×n, row-major with strides lda and ldc. A row
// of C depends only on the same row of A and on B, to the bit except for the sign of a zero.
// If rows are mostly zeros, and B is finite, zeros are left out.
//
// If after is not nil, it is called once for every block of rows and columns of C, when the
// block is done and still in cache, by several goroutines: they may change C there.
func (p *Packed[T]) Multiply(m int, a []T, lda int, c []T, ldc int, after func(i, j, rows, cols int)) {
	q := product[T]{m: m, n: p.n, k: p.k, alpha: 1, a: a, ars: lda, acs: 1, packed: p.panels, c: c, ldc: ldc, after: after}
	q.scant = p.finite && p.mk.mostlyZero(&q)
	p.mk.multiply(q)
}

// MultiplySparse is Multiply for a sparse A: row i has the elements val[ptr[i]:ptr[i+1]], in
// the columns given by the same range of idx, strictly ascending. If B is finite, C is the same;
// otherwise 0·∞ counts as 0.
func (p *Packed[T]) MultiplySparse(ptr []int, idx []int32, val []T, c []T, ldc int, after func(i, j, rows, cols int)) {
	m := len(ptr) - 1
	if m <= 0 || p.n == 0 {
		return
	}
	// It panics here, not on another goroutine.
	for i, end := range ptr[1:] {
		if end < ptr[i] {
			panic(fmt.Sprintf("vec: row %d of a sparse matrix ends at element %d and starts at %d", i, end, ptr[i]))
		}
	}
	idx, val = idx[:ptr[m]:len(idx)], val[:ptr[m]:len(val)]
	_ = c[(m-1)*ldc+p.n-1]
	for _, i := range idx[ptr[0]:] {
		if uint(i) >= uint(p.k) {
			panic(fmt.Sprintf("vec: index %d of %d", i, p.k))
		}
	}
	p.mk.compute(product[T]{m: m, n: p.n, k: p.k, alpha: 1, ptr: ptr, idx: idx, a: val, infinite: !p.finite, scant: true,
		packed: p.panels, c: c, ldc: ldc, after: after})
}

// At is element (l, j) of B.
func (p *Packed[T]) At(l, j int) T {
	nr := p.mk.nr
	return p.panels[j/nr*nr*p.k+l*nr+j%nr]
}
