package exact

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// ThresholdProduct multiplies by the Gram matrix without its small elements: K̃ has those above
// ε, as compressed rows, and 0 for the others (Kumar's lecture of 2010). Pairs of boxes of
// a kd-tree between which the kernel is at most ε are skipped as a whole, so that finding the
// others does not take n² operations if neighbours are few.
type ThresholdProduct struct {
	order []int
	ptr   []int // row i of K̃, in the tree's order, has the elements [ptr[i], ptr[i+1])
	idx   []int32
	val   []float64
	bound float64
}

// NewThresholdProduct prepares products with the elements of K that are larger than threshold,
// for kernels that fall in every column ([kernel.Kernel.Falling]) and dense rows. It counts them first, and fails if
// they would take more than memory bytes, 12 each (0: 4 GiB). Temporarily it holds
// 12nd bytes more.
func NewThresholdProduct(ctx context.Context, k kernel.Kernel, x matrix.Rows, threshold float64, limit int64) (*ThresholdProduct, error) {
	if !(threshold >= 0 && threshold < 1) {
		return nil, fmt.Errorf("exact: the threshold is %g; it must be a number from 0 to below 1, the kernel's largest value", threshold)
	}
	t, err := newTree(k, x)
	if err != nil {
		return nil, err
	}
	n := x.Len()
	near := make([][]int32, len(t.leaves))
	off := make([]float64, len(t.nodes)) // what a row omits through pairs of nodes
	most, found := memory(limit), 0.0
	enough := t.pairs(0, 0, func(a, b int, _, largest float64) bool {
		if largest > threshold {
			return false
		}
		off[a] += float64(t.nodes[b].hi-t.nodes[b].lo) * largest
		if a != b {
			off[b] += float64(t.nodes[a].hi-t.nodes[a].lo) * largest
		}
		return true
	}, func(a, b int) bool {
		near[a] = append(near[a], int32(b))
		if a != b {
			near[b] = append(near[b], int32(a))
		}
		found++
		return 8*found <= float64(most) && (int64(found)%1024 != 0 || ctx.Err() == nil)
	})
	p := &ThresholdProduct{order: t.order, ptr: make([]int, n+1)}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !enough {
		return nil, option.Errorf("exact: the Gram matrix of %d rows has so many elements above %g that the pairs of boxes with them take "+
			"more than %s; use a higher threshold (%s), Falkon or a feature map",
			n, threshold, units.Bytes(most), option.Ref("accuracy"))
	}
	p.count(ctx, t, near, off, threshold)
	if need := 12 * float64(p.ptr[n]); need > float64(most) {
		takes, allowed := units.BytesApart(need, float64(most))
		return nil, option.Errorf("exact: the Gram matrix of %d rows has %d elements above %g, which take %s, of %s allowed; use a higher "+
			"threshold (%s), Falkon or a feature map",
			n, p.ptr[n], threshold, takes, allowed, option.Ref("accuracy"))
	}
	p.idx, p.val = make([]int32, p.ptr[n]), make([]float64, p.ptr[n])
	eachBlock(ctx, t, near, func(a, b int, block []float64) {
		first, width := t.nodes[t.leaves[b]].lo, t.rows(b)
		for r := range t.rows(a) {
			// The progress of the row is kept where its end will be: the next row begins at ptr[i+1].
			i := t.nodes[t.leaves[a]].lo + r
			at := p.ptr[i]
			for c := range width {
				if v := block[r*width+c]; v > threshold {
					p.idx[at], p.val[at] = int32(first+c), v
					at++
				}
			}
			p.ptr[i] = at
		}
	})
	copy(p.ptr[1:], p.ptr[:n]) // every row's end is the next one's begin
	p.ptr[0] = 0
	return p, ctx.Err()
}

// count sets ptr, and the bound: the largest sum of a row's omitted elements.
func (p *ThresholdProduct) count(ctx context.Context, t *tree, near [][]int32, off []float64, threshold float64) {
	for i, n := range t.nodes { // parents first
		if n.left != 0 {
			off[n.left] += off[i]
			off[n.right] += off[i]
		}
	}
	n := t.x.Len()
	missed := make([]float64, n)
	for _, at := range t.leaves {
		for i := t.nodes[at].lo; i < t.nodes[at].hi; i++ {
			missed[i] = off[at]
		}
	}
	eachBlock(ctx, t, near, func(a, b int, block []float64) {
		width := t.rows(b)
		for r := range t.rows(a) {
			i := t.nodes[t.leaves[a]].lo + r
			for _, v := range block[r*width:][:width] {
				if v > threshold {
					p.ptr[i+1]++
				} else {
					missed[i] += v
				}
			}
		}
	})
	for i := range n {
		p.ptr[i+1] += p.ptr[i]
		p.bound = math.Max(p.bound, missed[i])
	}
}

// eachBlock calls do for the blocks of K of near leaves, all those of a leaf a consecutively, until the context ends.
func eachBlock(ctx context.Context, t *tree, near [][]int32, do func(a, b int, block []float64)) {
	vec.Parallel(len(t.leaves), 1, func(lo, hi int) {
		block, turned, work := make([]float64, blockSize), make([]float64, blockSize), make([]float64, t.workSize())
		for a := lo; a < hi && ctx.Err() == nil; a++ {
			for _, other := range near[a] {
				b := int(other)
				t.block(min(a, b), max(a, b), block, work)
				if a <= b {
					do(a, b, block)
					continue
				}
				rows, width := t.rows(a), t.rows(b)
				for c := range width {
					for r := range rows {
						turned[r*width+c] = block[c*rows+r]
					}
				}
				do(a, b, turned)
			}
		}
	})
}

// Len is n.
func (p *ThresholdProduct) Len() int { return len(p.order) }

// Bound is the largest sum of the omitted elements of a row of K̃, which is at most nε.
func (p *ThresholdProduct) Bound() float64 { return p.bound }

// Bytes is the memory it holds.
func (p *ThresholdProduct) Bytes() int64 { return 12*int64(len(p.val)) + 16*int64(len(p.order)) }

// Elements is the number of elements that are kept.
func (p *ThresholdProduct) Elements() int { return len(p.val) }

// Apply computes K̃v.
func (p *ThresholdProduct) Apply(ctx context.Context, dst, v []float64, outputs int) {
	n, k := p.Len(), outputs
	checkApply(n, dst, v, k)
	x := make([]float64, n*k)
	for i, from := range p.order {
		copy(x[i*k:][:k], v[from*k:])
	}
	vec.Parallel(n, 64, func(lo, hi int) {
		sum := make([]float64, k)
		for i := lo; i < hi && (i%64 != 0 || ctx.Err() == nil); i++ {
			clear(sum)
			for e := p.ptr[i]; e < p.ptr[i+1]; e++ {
				for t, u := range x[int(p.idx[e])*k:][:k] {
					sum[t] += float64(p.val[e] * u)
				}
			}
			copy(dst[p.order[i]*k:], sum)
		}
	})
}
