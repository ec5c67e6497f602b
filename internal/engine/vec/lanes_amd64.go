//go:build amd64 && !purego

package vec

// mostBlocks is how many square blocks one call of a kernel gets: it cannot be preempted.
const mostBlocks = 32

// offsets are the positions of rows or elements, in bytes.
type offsets [Lanes]int

// places are n positions stride numbers apart, followed by copies of the last.
func places(n, stride int) (o offsets) {
	for i := range o {
		o[i] = 4 * stride * min(i, n-1)
	}
	return o
}

// width is how many rows and elements a block of the kernels has.
func width() int {
	if level == avx512 {
		return 16
	}
	return 8
}

// blocks calls f for blocks of w elements, of at least w in all: for those from element j on, a
// number of blocks to be processed together. The last one ends at the last element, so
// it may overlap the previous one.
func blocks(elements, w, most int, f func(j, blocks int)) {
	whole := elements / w
	for b := 0; b < whole; b += most {
		f(b*w, min(most, whole-b))
	}
	if elements%w != 0 {
		f(elements-w, 1)
	}
}

func transpose(dst, src *float32, to, from *int, dstStep, srcStep, blocks int) {
	if level == avx512 {
		laneBlocks32_avx512(dst, src, to, from, 4*dstStep, 4*srcStep, blocks)
	} else {
		laneBlocks32_avx2(dst, src, to, from, 4*dstStep, 4*srcStep, blocks)
	}
}

func interleave(rows, cols int, dst []float32, step int, src []float32, stride int) {
	from, to, w := places(rows, stride), places(Lanes, step), width()
	for half := 0; half < Lanes; half += w {
		blocks(cols, w, mostBlocks, func(j, blocks int) {
			transpose(&dst[j*step+half], &src[j], &to[0], &from[half], w*step, w, blocks)
		})
	}
}

func deinterleave(rows, cols int, dst []float32, stride int, src []float32, step int) {
	from, to, w := places(Lanes, step), places(rows, stride), width()
	for half := 0; half < rows; half += w {
		blocks(cols, w, mostBlocks, func(j, blocks int) {
			transpose(&dst[j], &src[j*step+half], &to[half], &from[0], w, w*step, blocks)
		})
	}
}

// lists computes the columns whose lists have the bounds ptr.
func (s *SparseSigns) lists(ptr []int, dst []float32, step, group int, src []float32, scale float32, shift []float32) {
	var b *float32
	if shift != nil {
		b = &shift[0]
	}
	var idx *int32
	if len(s.idx) > 0 {
		idx = &s.idx[0]
	}
	if level == avx512 {
		laneSums32_avx512(&dst[0], 4*step, 4*group, &src[0], &ptr[0], idx, len(ptr)/2, scale, b)
	} else {
		laneSums32_avx2(&dst[0], 4*step, 4*group, &src[0], &ptr[0], idx, len(ptr)/2, scale, b)
	}
}

// rowsKernel is Rows for at least Lanes outputs.
func (p *Products) rowsKernel(rows int, dst []float32, stride int, k []float32) {
	to, w := places(rows, stride), width()
	most := p.most()
	for half := 0; half < rows; half += w {
		blocks(p.outputs, w, most, func(c, blocks int) {
			if level == avx512 {
				products32_avx512(&dst[c], &to[half], &k[half], &p.index[c], 2*p.outputs, p.degree, p.terms, blocks, p.start, p.scale)
			} else {
				products32_avx2(&dst[c], &to[half], &k[half], &p.index[c], 2*p.outputs, p.degree, p.terms, blocks, p.start, p.scale)
			}
		})
	}
}

// most is how many blocks one call gets.
func (p *Products) most() int { return max(1, min(mostBlocks, longestProduct/(p.degree*p.terms))) }

// rowKernel is Row for at least 2·Lanes outputs.
func (p *Products) rowKernel(z, k []float32) {
	blocks(p.outputs, 2*width(), p.most(), func(c, blocks int) {
		if level == avx512 {
			productsRow32_avx512(&z[c], &k[0], &p.index[c], 2*p.outputs, p.degree, p.terms, blocks, p.start, p.scale)
		} else {
			productsRow32_avx2(&z[c], &k[0], &p.index[c], 2*p.outputs, p.degree, p.terms, blocks, p.start, p.scale)
		}
	})
}
