package vec

import "fmt"

// Rows side by side, one in each lane of a vector: one instruction
// then processes the same number of all rows, whatever its position.

// Lanes is how many rows are side by side.
const Lanes = 16

// Interleave32 puts rows side by side: dst[j·step+i] = src[i·stride+j] for j < cols. Lanes
// beyond the last row get copies of the last row.
//
// It panics unless 1 ≤ rows ≤ Lanes ≤ step, and src and dst hold the rows. They must not
// overlap.
func Interleave32(rows, cols int, dst []float32, step int, src []float32, stride int) {
	mustBeSideBySide(rows, cols, dst, step, src, stride, "dst", "src")
	if cols == 0 {
		return
	}
	if level != generic && cols >= Lanes {
		interleave(rows, cols, dst, step, src, stride)
		return
	}
	for i := range Lanes {
		for j, v := range src[min(i, rows-1)*stride:][:cols] {
			dst[j*step+i] = v
		}
	}
}

// Deinterleave32 is the inverse: dst[i·stride+j] = src[j·step+i] for i < rows and j < cols.
// It panics as Interleave32 does.
func Deinterleave32(rows, cols int, dst []float32, stride int, src []float32, step int) {
	mustBeSideBySide(rows, cols, src, step, dst, stride, "src", "dst")
	if cols == 0 {
		return
	}
	if level != generic && cols >= Lanes {
		deinterleave(rows, cols, dst, stride, src, step)
		return
	}
	for i := range rows {
		for j := range dst[i*stride:][:cols] {
			dst[i*stride+j] = src[j*step+i]
		}
	}
}

func mustBeSideBySide(rows, cols int, lanes []float32, step int, apart []float32, stride int, lanesName, apartName string) {
	if rows < 1 || rows > Lanes || step < Lanes {
		panic(fmt.Sprintf("vec: %d rows side by side, %d numbers from element to element", rows, step))
	}
	mustHold(lanesName, len(lanes), cols, Lanes, step)
	mustHold(apartName, len(apart), rows, cols, stride)
}

// SparseSigns is a matrix of -1, 0 and 1, d×m, as lists of the nonzero elements. It is
// immutable.
type SparseSigns struct {
	d   int
	ptr []int
	idx []int32
}

// NewSparseSigns makes the matrix whose column j has 1 in the rows idx[ptr[2j]:ptr[2j+1]] and -1
// in idx[ptr[2j+1]:ptr[2j+2]]. It keeps both slices.
func NewSparseSigns(d int, ptr []int, idx []int32) *SparseSigns {
	if len(ptr)%2 != 1 || ptr[0] < 0 || ptr[len(ptr)-1] > len(idx) {
		panic(fmt.Sprintf("vec: %d bounds for lists of %d elements", len(ptr), len(idx)))
	}
	for j, p := range ptr[1:] {
		if p < ptr[j] {
			panic(fmt.Sprintf("vec: bound %d of the lists is %d, after %d", j+1, p, ptr[j]))
		}
	}
	for _, i := range idx {
		if uint(i) >= uint(d) {
			panic(fmt.Sprintf("vec: index %d of %d", i, d))
		}
	}
	return &SparseSigns{d, ptr, idx}
}

// SignLanes is how many rows SparseSigns multiplies, side by side.
const SignLanes = 64

// longestSigns is how many elements of the lists one call of the kernel gets: it cannot
// be preempted.
const longestSigns = 1 << 12

// Multiply multiplies rows side by side, row i's element l at src[l·SignLanes+i], with
// columns [j, j+n). With sums in order of the lists, those of 1 first, it sets
//
//	dst[(i/Lanes)·group + c·step + i%Lanes] = scale·(Σ_{+1} x_l - Σ_{-1} x_l) + shift_c, c < n
//
// or leaves shift out if that is nil. It panics unless src, dst and shift hold that.
func (s *SparseSigns) Multiply(j, n int, dst []float32, step, group int, src []float32, scale float32, shift []float32) {
	if n == 0 {
		return
	}
	mustHold("src", len(src), s.d, SignLanes, SignLanes)
	if step < Lanes || group < 0 {
		panic(fmt.Sprintf("vec: steps of %d and %d for %d rows side by side", step, group, Lanes))
	}
	mustHold("dst", len(dst)-(SignLanes/Lanes-1)*group, n, Lanes, step)
	if shift != nil {
		shift = shift[:n]
	}
	ptr := s.ptr[2*j : 2*(j+n)+1]
	for c := 0; c < n; {
		end := c + 1
		for end < n && ptr[2*end+2]-ptr[2*c] <= longestSigns {
			end++
		}
		var b []float32
		if shift != nil {
			b = shift[c:end]
		}
		if level == generic || s.d == 0 || ptr[2*end]-ptr[2*c] > 2*longestSigns {
			s.portable(ptr[2*c:2*end+1], dst[c*step:], step, group, src, scale, b)
		} else {
			s.lists(ptr[2*c:2*end+1], dst[c*step:], step, group, src, scale, b)
		}
		c = end
	}
}

// portable is also for lists that are too long for the kernel.
func (s *SparseSigns) portable(ptr []int, dst []float32, step, group int, src []float32, scale float32, shift []float32) {
	for c := range len(ptr) / 2 {
		var sums [SignLanes]float32
		for _, l := range s.idx[ptr[2*c]:ptr[2*c+1]] {
			Axpy32(1, src[int(l)*SignLanes:][:SignLanes], sums[:])
		}
		for _, l := range s.idx[ptr[2*c+1]:ptr[2*c+2]] {
			Axpy32(-1, src[int(l)*SignLanes:][:SignLanes], sums[:])
		}
		for i, v := range sums {
			v = float32(scale * v)
			if shift != nil {
				v += shift[c]
			}
			dst[i/Lanes*group+c*step+i%Lanes] = v
		}
	}
}

// Products sums products of the numbers k of a row:
//
//	z_c = scale·(start + Σ_{i<terms} Π_{j<degree} k[I(c,i,j)]), c < outputs
//
// from left to right, each result rounded. It is immutable.
type Products struct {
	m, outputs, degree, terms int
	index                     []uint16
	start, scale              float32
}

// NewProducts makes Products of rows of m numbers. I(c,i,j) is index[(i·degree+j)·outputs+c];
// it keeps that slice. start is 0, or the 0 of negative sign, which changes no sum.
func NewProducts(m, outputs, degree, terms int, index []uint16, start, scale float32) *Products {
	if degree < 1 || terms < 1 || outputs < 0 {
		panic(fmt.Sprintf("vec: %d outputs of %d terms of degree %d", outputs, terms, degree))
	}
	mustHave("index", len(index), outputs*degree*terms)
	for _, l := range index {
		if int(l) >= m {
			panic(fmt.Sprintf("vec: index %d of %d", l, m))
		}
	}
	return &Products{m, outputs, degree, terms, index, start, scale}
}

// Bytes is what p holds.
func (p *Products) Bytes() int64 { return 2 * int64(len(p.index)) }

// Row computes the outputs z of one row.
func (p *Products) Row(z, k []float32) {
	mustHave("z", len(z), p.outputs)
	k = k[:p.m]
	if level != generic && p.outputs >= 2*Lanes && p.degree*p.terms <= longestProduct {
		p.rowKernel(z, k)
		return
	}
	for c := range z {
		sum := p.start
		for at := c; at < len(p.index); {
			product := k[p.index[at]]
			at += p.outputs
			for range p.degree - 1 {
				product *= k[p.index[at]]
				at += p.outputs
			}
			sum += float32(product)
		}
		z[c] = p.scale * sum
	}
}

// Rows computes the outputs of up to Lanes rows side by side, k[l·Lanes+i], into
// rows of dst, stride apart: the same as Row. It panics unless k and dst hold them.
func (p *Products) Rows(rows int, dst []float32, stride int, k []float32) {
	if stride < p.outputs || rows < 1 || rows > Lanes {
		panic(fmt.Sprintf("vec: %d rows of %d outputs with stride %d", rows, p.outputs, stride))
	}
	mustHold("k", len(k), p.m, Lanes, Lanes)
	mustHold("dst", len(dst), rows, p.outputs, stride)
	if level != generic && p.outputs >= Lanes && p.degree*p.terms <= longestProduct {
		p.rowsKernel(rows, dst, stride, k)
		return
	}
	for c := range p.outputs {
		var sums [Lanes]float32
		for i := range sums {
			sums[i] = p.start
		}
		for at := c; at < len(p.index); {
			product := *(*[Lanes]float32)(k[int(p.index[at])*Lanes:])
			at += p.outputs
			for range p.degree - 1 {
				for i, v := range (*[Lanes]float32)(k[int(p.index[at])*Lanes:]) {
					product[i] *= v
				}
				at += p.outputs
			}
			for i, v := range product {
				sums[i] += float32(v)
			}
		}
		for i := range rows {
			dst[i*stride+c] = p.scale * sums[i]
		}
	}
}

// longestProduct is how many factors an output of the kernel may have: it cannot
// be preempted.
const longestProduct = 1 << 10
