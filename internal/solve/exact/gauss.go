package exact

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// GaussProduct multiplies by the Gram matrix of the rbf kernel for up to three columns in O(n)
// operations: the fast Gauss transform (Greengard and Strain 1991). In one column, with numbers
// times √γ, s = c + a in the box around c and t = c' + b in that around c', x = c' - c,
//
//	exp(-(t-s)²) = Σ_mn (bᵐ/m!)·(-1)ᵐh_(m+n)(x)·(aⁿ/n!),  h_k(x) = (-1)ᵏ dᵏ/dxᵏ exp(-x²),
//
// truncated at m, n < p: the rows of a box give p moments Σ v·aⁿ/n!, matrices that depend
// only on x carry them to the other boxes, and there the sum is a polynomial in b. With d columns the
// kernel is a product, there are pᵈ moments, and boxes lie on a grid; the matrices then act on
// one column at a time along the lines of the grid, which is O(d) instead of O(reachᵈ) boxes.
//
// By Cramér's inequality |h_k(x)| ≤ 1.09·2^(k/2)√(k!), the truncation error for boxes of half side
// ρ is at most
//
//	e = 1.09 Σ_(m ≥ p or n ≥ p) (√2ρ)^(m+n) √((m+n)!)/(m!n!),
//
// and boxes further apart than √log(1/e) are left out at the same cost, so that the error of
// an element of K̃ is at most (1+e)ᵈ - 1. (Greengard and Strain's own bound has a mistake, found
// by Baxter and Roussos in 2002; this one covers both truncations.) K̃ is symmetric.
type GaussProduct struct {
	order  []int     // row i here is row order[i] of the caller
	first  []int     // box i has the rows [first[i], first[i+1])
	filled []int     // the boxes that have rows
	offset []float64 // n×d: a, from the centre of the row's box

	axes  int // d, the number of columns that are not constant
	terms int // p
	size  int // pᵈ
	boxes [3]int
	reach int
	table []float64 // for each shift by -reach … reach boxes, p×p
	off   float64   // the largest error of an element
}

// mostTerms is the largest p that is tried.
const mostTerms = 24

// NewGaussProduct prepares products with an error of at most accuracy in each element of K, for
// the rbf kernel and dense rows of which no more than three columns vary. p and the boxes
// are chosen for the least work. It holds 8n(d + 1) bytes and 16pᵈ for every box of the
// grid, and fails if that is more than limit bytes (0: 4 GiB), as for rows that extend over
// very many kernel widths.
func NewGaussProduct(k kernel.Kernel, x matrix.Rows, accuracy float64, limit int64) (*GaussProduct, error) {
	if err := checkRows(k, x); err != nil {
		return nil, err
	}
	switch {
	case k.Kind() != kernel.RBF:
		return nil, option.Errorf("exact: the fast Gauss transform takes the rbf kernel, not %s; "+
			"use a tree or a threshold, which take %s, or the exact Gram matrix (%s)",
			k.Name, strings.Join(falling(), ", "), option.Set("product", "exact"))
	case !(accuracy >= 1e-12 && accuracy < 1):
		return nil, fmt.Errorf("exact: the accuracy is %g; the fast Gauss transform takes a number from 10⁻¹² to below 1", accuracy)
	case x.CSR != nil:
		return nil, option.Errorf("exact: the fast Gauss transform takes dense rows, not sparse ones; use the exact Gram matrix (%s), Falkon "+
			"or a feature map", option.Set("product", "exact"))
	case x.Len() == 0:
		return nil, fmt.Errorf("exact: no rows")
	}
	// The columns that vary, and their ranges in kernel widths.
	n, root := x.Len(), math.Sqrt(k.Gamma)
	var columns []int
	var start, extent []float64
	for j := range x.Dim() {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range n {
			v := float64(x.Dense.Row(i)[j])
			low, high = min(low, v), max(high, v)
		}
		if high > low {
			columns, start, extent = append(columns, j), append(start, low), append(extent, root*(high-low))
		}
	}
	if len(columns) > 3 {
		return nil, fmt.Errorf("exact: %d columns vary; the fast Gauss transform takes 3 at most: use a tree, Falkon or a feature map",
			len(columns))
	}
	p := &GaussProduct{order: make([]int, n), axes: len(columns), terms: 1}
	half, err := p.plan(n, extent, accuracy, float64(memory(limit)))
	if err != nil {
		return nil, err
	}
	p.setTable(half)
	box := make([]int, n)
	centred := make([]float64, n*p.axes)
	for i := range n {
		p.order[i] = i
		for a, j := range columns {
			v := root * (float64(x.Dense.Row(i)[j]) - start[a])
			c := min(p.boxes[a]-1, int(v/(2*half)))
			box[i] = box[i]*p.boxes[a] + c
			centred[i*p.axes+a] = v - (2*float64(c)+1)*half
		}
	}
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Or(cmp.Compare(box[a], box[b]), cmp.Compare(a, b)) })
	p.first = make([]int, p.grid()+1)
	p.offset = make([]float64, n*p.axes)
	for i, from := range p.order {
		copy(p.offset[i*p.axes:][:p.axes], centred[from*p.axes:])
		if i == 0 || box[from] != box[p.order[i-1]] {
			p.filled = append(p.filled, box[from])
		}
		p.first[box[from]+1]++
	}
	for i := range p.grid() {
		p.first[i+1] += p.first[i]
	}
	return p, nil
}

func (p *GaussProduct) grid() int {
	boxes := 1
	for a := range p.axes {
		boxes *= p.boxes[a]
	}
	return boxes
}

// plan chooses p, and ρ as large as it allows.
func (p *GaussProduct) plan(n int, extent []float64, accuracy, limit float64) (half float64, err error) {
	if p.axes == 0 {
		p.size = 1
		return 1, nil // all rows are equal, K is all ones
	}
	d := float64(p.axes)
	e := math.Expm1(math.Log1p(accuracy) / d)
	least, needed := math.Inf(1), math.Inf(1)
	for terms := 2; terms <= mostTerms; terms++ {
		c := truncation(terms)
		low, high := 0.0, 1.0
		for range 40 {
			if mid := (low + high) / 2; truncated(c, mid) <= e {
				low = mid
			} else {
				high = mid
			}
		}
		if low == 0 {
			continue
		}
		boxes, grid := [3]int{1, 1, 1}, 1.0
		for a, width := range extent {
			count := math.Max(1, math.Ceil(width/(2*low)))
			grid *= count
			boxes[a] = int(math.Min(count, 1<<40))
		}
		size := math.Pow(float64(terms), d)
		bytes := 16*grid*size + 8*grid + 8*float64(n)*(d+1)
		needed = math.Min(needed, bytes)
		if bytes > limit {
			continue
		}
		reach := int(math.Ceil(math.Sqrt(-math.Log(e)) / (2 * low)))
		work := 4 * float64(n) * size
		for a := range extent {
			work += 2 * grid * size * float64(terms) * float64(min(2*reach+1, boxes[a]))
		}
		if work < least {
			least, half = work, low
			p.terms, p.boxes, p.reach, p.size = terms, boxes, reach, int(size+0.5)
		}
	}
	if half == 0 {
		take, allowed := units.BytesApart(needed, limit)
		return 0, fmt.Errorf("exact: the rows spread over so many widths 1/√γ of the kernel that the boxes of a fast "+
			"Gauss transform take %s, "+
			"of %s allowed; use a tree or a threshold", take, allowed)
	}
	p.off = accuracy
	p.reach = min(p.reach, slices.Max(p.boxes[:])-1)
	return half, nil
}

// truncation has, for every k, the coefficient of (√2ρ)ᵏ in e for p terms: e is 1.09 times the sum over k.
func truncation(terms int) []float64 {
	const most = 160 // the rest is below 10⁻⁶⁰ for ρ ≤ 1
	factorial := make([]float64, most)
	factorial[0] = 1
	for k := 1; k < most; k++ {
		factorial[k] = factorial[k-1] * float64(k)
	}
	c := make([]float64, most)
	for k := terms; k < most; k++ {
		for m := range k + 1 {
			if n := k - m; m >= terms || n >= terms {
				c[k] += 1 / factorial[m] / factorial[n]
			}
		}
		c[k] *= math.Sqrt(factorial[k])
	}
	return c
}

// truncated is e of boxes of half side rho.
func truncated(c []float64, rho float64) float64 {
	sum := 0.0
	for k := len(c) - 1; k >= 0; k-- {
		sum = c[k] + math.Sqrt2*rho*sum
	}
	return 1.09 * sum
}

// setTable computes (-1)ᵐh_(m+n)(x) of the shifts x by -reach … reach boxes.
func (p *GaussProduct) setTable(half float64) {
	p.table = make([]float64, (2*p.reach+1)*p.terms*p.terms)
	h := make([]float64, 2*p.terms)
	for shift := -p.reach; shift <= p.reach; shift++ {
		x := 2 * half * float64(shift)
		h[0] = math.Exp(-x * x)
		h[1] = 2 * x * h[0]
		for k := 1; k+1 < len(h); k++ {
			h[k+1] = 2*x*h[k] - 2*float64(k)*h[k-1]
		}
		m := p.table[(shift+p.reach)*p.terms*p.terms:]
		for i := range p.terms {
			sign := 1.0
			if i%2 == 1 {
				sign = -1
			}
			for j := range p.terms {
				m[i*p.terms+j] = sign * h[i+j]
			}
		}
	}
}

// Len is n.
func (p *GaussProduct) Len() int { return len(p.order) }

// Bound is n times the largest error of an element of K̃.
func (p *GaussProduct) Bound() float64 { return float64(p.Len()) * p.off }

// Bytes is the memory it holds, including that of a product.
func (p *GaussProduct) Bytes() int64 {
	return 8*int64(p.Len())*int64(p.axes+1) + 8*int64(p.grid())*int64(1+2*p.size) + 8*int64(len(p.table))
}

// Apply computes K̃v.
func (p *GaussProduct) Apply(ctx context.Context, dst, v []float64, outputs int) {
	checkApply(p.Len(), dst, v, outputs)
	from, to := make([]float64, p.grid()*p.size), make([]float64, p.grid()*p.size)
	for t := 0; t < outputs && ctx.Err() == nil; t++ {
		clear(from)
		p.eachBox(func(box, i int, tensor []float64) {
			vec.Axpy64(v[p.order[i]*outputs+t], tensor, from[box*p.size:][:p.size])
		})
		for axis := range p.axes {
			p.shift(ctx, to, from, axis)
			from, to = to, from
		}
		p.eachBox(func(box, i int, tensor []float64) {
			dst[p.order[i]*outputs+t] = vec.Dot64(tensor, from[box*p.size:][:p.size])
		})
	}
}

// eachBox calls do for all rows i of all boxes, with the products of their aⁿ/n!.
func (p *GaussProduct) eachBox(do func(box, i int, tensor []float64)) {
	vec.Parallel(len(p.filled), 1, func(lo, hi int) {
		tensor, power := make([]float64, p.size), make([]float64, p.terms)
		for _, box := range p.filled[lo:hi] {
			for i := p.first[box]; i < p.first[box+1]; i++ {
				// From the last column on: the current values times the powers of the previous column.
				tensor[0] = 1
				filled := 1
				for axis := p.axes - 1; axis >= 0; axis-- {
					power[0] = 1
					for n := 1; n < p.terms; n++ {
						power[n] = power[n-1] * p.offset[i*p.axes+axis] / float64(n)
					}
					for n := p.terms - 1; n >= 0; n-- {
						for c, u := range tensor[:filled] {
							tensor[n*filled+c] = power[n] * u
						}
					}
					filled *= p.terms
				}
				do(box, i, tensor)
			}
		}
	})
}

// shift carries the moments from to all boxes along an axis of the grid.
func (p *GaussProduct) shift(ctx context.Context, to, from []float64, axis int) {
	stride, inner := 1, 1 // between boxes, and between the moments of the axis
	for a := axis + 1; a < p.axes; a++ {
		stride *= p.boxes[a]
		inner *= p.terms
	}
	vec.Parallel(p.grid(), 1, func(lo, hi int) {
		for box := lo; box < hi && ctx.Err() == nil; box++ {
			out := to[box*p.size:][:p.size]
			clear(out)
			at := box / stride % p.boxes[axis]
			for other := max(0, at-p.reach); other <= min(p.boxes[axis]-1, at+p.reach); other++ {
				in := from[(box+(other-at)*stride)*p.size:][:p.size]
				table := p.table[(at-other+p.reach)*p.terms*p.terms:][:p.terms*p.terms]
				multiplyAxis(out, in, table, p.terms, inner)
			}
		}
	})
}

// multiplyAxis adds the product of a matrix with one axis of the moments: out[o, m, c] += Σ_n
// table[m, n]·in[o, n, c] with c below inner.
func multiplyAxis(out, in, table []float64, terms, inner int) {
	for o := 0; o < len(out); o += terms * inner {
		for m := range terms {
			row := table[m*terms:][:terms]
			if inner == 1 {
				sum := 0.0
				for n, v := range in[o:][:terms] {
					sum += row[n] * v
				}
				out[o+m] += sum
				continue
			}
			dst := out[o+m*inner:][:inner]
			for n, w := range row {
				for c, v := range in[o+n*inner:][:inner] {
					dst[c] += w * v
				}
			}
		}
	}
}
