package vec

// A single row times a narrow B needs no packing: a row of B is read as it is, and what a vector has beyond its columns
// is masked. The blocks of the inner dimension are chains of their own, several of which are computed side
// by side: one alone would wait for each multiply-add before the next. Their sums are added in the
// order of the blocks, as for all rows.

// NarrowColumns is how many columns B may have so that a product of a single row by it needs no packing:
// two vectors of the kernels.
const NarrowColumns = 16

// blocksAtOnce is how many blocks are computed side by side.
const blocksAtOnce = 4

// blocksKernel multiplies blocks of a row, of k numbers each, with as many blocks of rows of B, ldb bytes apart, and
// stores the sums NarrowColumns apart. mask has -1 for each column of the last vector.
type blocksKernel[T float32 | float64] func(k int, a, b *T, ldb int, mask *int32, c *T)

// masks are those of a vector and none.
var masks = [16]int32{-1, -1, -1, -1, -1, -1, -1, -1}

// isNarrowRow says whether the product is of one row by a narrow B that is not packed.
func (mk *micro[T]) isNarrowRow(p *product[T]) bool {
	return p.m == 1 && p.n <= NarrowColumns && p.packed == nil && p.wide == nil && p.alpha == 1 && p.acs == 1 && p.bcs == 1 && p.part == full &&
		mk.size == 4
}

// rowTask computes the product of a row by a narrow B, to the same bits as denseTask.
func (mk *micro[T]) rowTask(p *product[T], w *panels[T]) {
	sums := w.tile
	kc, vectors := mk.block(p.k), (p.n-1)/8
	mask, ldb := &masks[(8-p.n%8)%8], p.brs*mk.size
	for l := 0; l < p.k; {
		kb, count := min(kc, p.k-l), 1
		switch {
		case mk.blocks[0][0] == nil:
			portableNarrow(kb, p.a[l:], p.b[l*p.brs:], p.brs, sums[:p.n])
		case l+blocksAtOnce*kc <= p.k:
			count = blocksAtOnce
			mk.blocks[1][vectors](kb, &p.a[l], &p.b[l*p.brs], ldb, mask, &sums[0])
		default:
			mk.blocks[0][vectors](kb, &p.a[l], &p.b[l*p.brs], ldb, mask, &sums[0])
		}
		for i := range count {
			c, block := p.c[:p.n], sums[i*NarrowColumns:][:p.n]
			if l+i == 0 && !p.add {
				copy(c, block)
				continue
			}
			for j, v := range block {
				c[j] += v
			}
		}
		l += count * kc
	}
	if p.after != nil {
		p.after(0, 0, 1, p.n)
	}
}

// portableNarrow is the kernel of one block in Go.
func portableNarrow[T float32 | float64](k int, a, b []T, ldb int, c []T) {
	clear(c)
	for l, v := range a[:k] {
		for j, y := range b[l*ldb:][:len(c)] {
			c[j] += T(v * y)
		}
	}
}
