package vec

import "fmt"

// Packed32 is a matrix B, k×n, laid out for many products A·B. It never changes.
type Packed32 struct {
	k, n   int
	panels []float32 // of nr columns, one behind the other, the last filled up with zeros
}

// Pack32 lays out B, k×n, row-major with stride ldb.
func Pack32(k, n int, b []float32, ldb int) *Packed32 {
	nr := micro32.nr
	p := &Packed32{k: k, n: n, panels: aligned[float32]((n + nr - 1) / nr * nr * k)}
	if k > 0 {
		Parallel((n+nr-1)/nr, 1, func(lo, hi int) {
			q := product[float32]{b: b, brs: ldb, bcs: 1}
			micro32.packB(&q, 0, k, lo*nr, min(hi*nr, n), p.panels[lo*nr*k:])
		})
	}
	return p
}

// Dims returns k and n.
func (p *Packed32) Dims() (k, n int) { return p.k, p.n }

// Multiply computes C = A·B for A m×k and C m×n, row-major with strides lda and ldc. A row
// of C depends on the same row of A and on B alone, to the bit.
//
// If after is not nil, it is called once for every block of rows and columns of C, when the
// block is done and still near the core, by several goroutines: there C may be changed.
func (p *Packed32) Multiply(m int, a []float32, lda int, c []float32, ldc int, after func(i, j, rows, cols int)) {
	micro32.multiply(product[float32]{m: m, n: p.n, k: p.k, alpha: 1, a: a, ars: lda, acs: 1, packed: p.panels, c: c, ldc: ldc, after: after})
}

// MultiplySparse computes c = aᵀB for a sparse a of len(val) elements, val[t] at idx[t].
func (p *Packed32) MultiplySparse(idx []int32, val []float32, c []float32) {
	for _, i := range idx {
		if uint(i) >= uint(p.k) {
			panic(fmt.Sprintf("vec: index %d of %d", i, p.k))
		}
	}
	nr := micro32.nr
	c = c[:p.n]
	val = val[:len(idx)]
	var sum [32]float32
	for j := 0; j < p.n; j += nr {
		panel := p.panels[j*p.k:]
		clear(sum[:nr])
		for t := 0; t < len(idx); t += sparseBlock {
			end := min(t+sparseBlock, len(idx))
			sparsePanel(idx[t:end], val[t:end], panel, sum[:nr])
		}
		copy(c[j:], sum[:nr])
	}
}

// sparseBlock is how many elements one call of the kernel gets: it cannot be interrupted.
const sparseBlock = 512

// sparsePanelGo adds Σ val[t]·panel[idx[t]] to c, for rows of len(c) numbers.
func sparsePanelGo(idx []int32, val, panel, c []float32) {
	for t, i := range idx {
		row := panel[int(i)*len(c):][:len(c)]
		v := val[t]
		for j := range c {
			c[j] += float32(v * row[j])
		}
	}
}

// At is element (l, j) of B.
func (p *Packed32) At(l, j int) float32 {
	nr := micro32.nr
	return p.panels[j/nr*nr*p.k+l*nr+j%nr]
}
