package vec

import "fmt"

// Packed is a matrix B, k×n, laid out for many products A·B. It never changes.
type Packed[T float32 | float64] struct {
	mk     *micro[T]
	k, n   int
	panels []T // of nr columns, one behind the other, the last filled up with zeros
}

// Pack32 lays out B, k×n, row-major with stride ldb.
func Pack32(k, n int, b []float32, ldb int) *Packed[float32] { return pack(micro32, k, n, b, ldb) }

// Pack64 lays out B, k×n, row-major with stride ldb.
func Pack64(k, n int, b []float64, ldb int) *Packed[float64] { return pack(micro64, k, n, b, ldb) }

// PackT64 lays out the transpose of B, which is n×k, row-major with stride ldb.
func PackT64(n, k int, b []float64, ldb int) *Packed[float64] {
	return packed(micro64, k, n, b, 1, ldb)
}

func pack[T float32 | float64](mk *micro[T], k, n int, b []T, ldb int) *Packed[T] {
	return packed(mk, k, n, b, ldb, 1)
}

// packed lays out a matrix whose element (l, j) is b[l*brs+j*bcs].
func packed[T float32 | float64](mk *micro[T], k, n int, b []T, brs, bcs int) *Packed[T] {
	nr := mk.nr
	p := &Packed[T]{mk: mk, k: k, n: n, panels: aligned[T]((n + nr - 1) / nr * nr * k)}
	if k > 0 && n > 0 {
		_ = b[(k-1)*brs+(n-1)*bcs] // panics here, not on another goroutine
		Parallel((n+nr-1)/nr, 1, func(lo, hi int) {
			q := product[T]{b: b, brs: brs, bcs: bcs}
			mk.packB(&q, 0, k, lo*nr, min(hi*nr, n), p.panels[lo*nr*k:])
		})
	}
	return p
}

// Dims returns k and n.
func (p *Packed[T]) Dims() (k, n int) { return p.k, p.n }

// Multiply computes C = A·B for A m×k and C m×n, row-major with strides lda and ldc. A row
// of C depends on the same row of A and on B alone, to the bit.
//
// If after is not nil, it is called once for every block of rows and columns of C, when the
// block is done and still near the core, by several goroutines: there C may be changed.
func (p *Packed[T]) Multiply(m int, a []T, lda int, c []T, ldc int, after func(i, j, rows, cols int)) {
	p.mk.multiply(product[T]{m: m, n: p.n, k: p.k, alpha: 1, a: a, ars: lda, acs: 1, packed: p.panels, c: c, ldc: ldc, after: after})
}

// MultiplySparse computes c = aᵀB for a sparse a of len(val) elements, val[t] at idx[t].
func (p *Packed[T]) MultiplySparse(idx []int32, val, c []T) {
	for _, i := range idx {
		if uint(i) >= uint(p.k) {
			panic(fmt.Sprintf("vec: index %d of %d", i, p.k))
		}
	}
	nr := p.mk.nr
	c = c[:p.n]
	val = val[:len(idx)]
	w := p.mk.get()
	defer p.mk.put(w)
	sum := w.tile[:nr]
	for j := 0; j < p.n; j += nr {
		panel := p.panels[j*p.k:]
		clear(sum)
		for t := 0; t < len(idx); t += sparseBlock {
			n := min(sparseBlock, len(idx)-t)
			if p.mk.sparse != nil {
				p.mk.sparse(n, &idx[t], &val[t], &panel[0], &sum[0])
				continue
			}
			for e, i := range idx[t : t+n] {
				row := panel[int(i)*nr:][:nr]
				v := val[t+e]
				for x := range row {
					sum[x] += T(v * row[x])
				}
			}
		}
		copy(c[j:], sum)
	}
}

// sparseBlock is how many elements one call of the kernel gets: it cannot be interrupted.
const sparseBlock = 512

// At is element (l, j) of B.
func (p *Packed[T]) At(l, j int) T {
	nr := p.mk.nr
	return p.panels[j/nr*nr*p.k+l*nr+j%nr]
}
