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

// Product multiplies by the Gram matrix K of n rows with themselves, or by a symmetric K̃ that
// is close to it. FitIterative trains with it. It is immutable and safe for
// concurrent use.
type Product interface {
	// Len is n.
	Len() int

	// Apply writes K̃v into dst, both n×outputs, row by row. If the context ends, dst is garbage.
	Apply(ctx context.Context, dst, v []float64, outputs int)

	// Bound is an upper bound on ‖K̃ - K‖₂, up to rounding.
	Bound() float64

	// Bytes is the memory that the product holds.
	Bytes() int64
}

// tree divides rows into boxes (a kd-tree, Bentley 1975): node 0 has all, and the children of a
// node come after it.
type tree struct {
	falls   kernel.Falling
	order   []int       // row i of x is row order[i] of the caller
	x       matrix.Rows // dense
	nodes   []node
	boxes   []float32         // of node i: its smallest numbers from 2di on, followed by its largest
	against []*kernel.Against // of the leaves
	leaves  []int             // their nodes
}

type node struct {
	lo, hi      int // rows
	left, right int // 0 of leaves
	leaf        int // its index among the leaves
}

// leafRows is the largest number of rows in a leaf.
const leafRows = 64

// falling are the names of the kernels that are decreasing functions of every |x_j - y_j|.
func falling() (names []string) {
	for _, name := range kernel.Names() {
		if _, ok := (kernel.Kernel{Name: name}).Falling(); ok {
			names = append(names, name)
		}
	}
	return names
}

func newTree(k kernel.Kernel, x matrix.Rows) (*tree, error) {
	if err := checkRows(k, x); err != nil {
		return nil, err
	}
	falls, ok := k.Falling()
	switch {
	case !ok:
		return nil, option.Errorf("exact: trees take the kernels %s, which fall with the distance in every column, not %s; "+
			"use the exact Gram matrix (%s), Falkon or a feature map",
			strings.Join(falling(), ", "), k.Name, option.Set("product", "exact"))
	case x.CSR != nil:
		return nil, option.Errorf("exact: trees take dense rows of few columns, not sparse ones; use the exact Gram matrix (%s), Falkon or a "+
			"feature map", option.Set("product", "exact"))
	case x.Len() == 0:
		return nil, fmt.Errorf("exact: no rows")
	}
	t := &tree{falls: falls, order: make([]int, x.Len())}
	for i := range t.order {
		t.order[i] = i
	}
	t.split(x.Dense, 0, x.Len())
	t.x = matrix.Pick(x, t.order)
	for _, i := range t.leaves {
		a, err := kernel.NewAgainst(k, t.x.Slice(t.nodes[i].lo, t.nodes[i].hi))
		if err != nil {
			return nil, err
		}
		t.against = append(t.against, a)
	}
	return t, nil
}

// split makes the node of the rows [lo, hi) of the order and those below it, cutting the widest
// side of the box at the median.
func (t *tree) split(x *matrix.Dense, lo, hi int) int {
	at, d := len(t.nodes), x.Cols
	t.nodes = append(t.nodes, node{lo: lo, hi: hi})
	t.boxes = append(t.boxes, x.Row(t.order[lo])...)
	t.boxes = append(t.boxes, x.Row(t.order[lo])...)
	low, high := t.box(at, d)
	for _, i := range t.order[lo:hi] {
		for j, v := range x.Row(i) {
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	widest, width := 0, 0.0
	for j := range d {
		if w := float64(high[j]) - float64(low[j]); w > width {
			widest, width = j, w
		}
	}
	if hi-lo <= leafRows {
		t.nodes[at].leaf = len(t.leaves)
		t.leaves = append(t.leaves, at)
		return at
	}
	// Equal numbers keep the order of the rows, so that the tree is the same on every machine.
	slices.SortFunc(t.order[lo:hi], func(a, b int) int {
		return cmp.Or(cmp.Compare(x.Row(a)[widest], x.Row(b)[widest]), cmp.Compare(a, b))
	})
	mid := lo + (hi-lo)/2
	left := t.split(x, lo, mid)
	right := t.split(x, mid, hi)
	t.nodes[at].left, t.nodes[at].right = left, right
	return at
}

func (t *tree) box(i, d int) (low, high []float32) {
	return t.boxes[2*d*i:][:d], t.boxes[2*d*i+d:][:d]
}

// ranges returns the smallest and the largest value of the kernel between the rows of two nodes'
// boxes, slightly widened for rounding.
func (t *tree) ranges(a, b int) (least, most float64) {
	d := t.x.Dim()
	lowA, highA := t.box(a, d)
	lowB, highB := t.box(b, d)
	near, far := 0.0, 0.0
	for j := range d {
		gap := max(0, float64(lowA[j])-float64(highB[j]), float64(lowB[j])-float64(highA[j]))
		span := max(float64(highA[j])-float64(lowB[j]), float64(highB[j])-float64(lowA[j]))
		near += t.falls.Term(gap)
		far += t.falls.Term(span)
	}
	const hair = 1e-12
	return math.Exp(-t.falls.Rate*far) * (1 - hair), min(1, math.Exp(-t.falls.Rate*near)*(1+hair))
}

// pairs visits pairs of nodes that together hold every pair of rows once, as (a, b) or as (b, a).
// done decides which need not be divided further; the others are pairs of leaves, with a's
// index among the leaves at most b's.
func (t *tree) pairs(a, b int, done func(a, b int, least, most float64) bool, leaves func(a, b int) bool) bool {
	least, most := t.ranges(a, b)
	if done(a, b, least, most) {
		return true
	}
	p, q := &t.nodes[a], &t.nodes[b]
	switch {
	case p.left == 0 && q.left == 0:
		return leaves(p.leaf, q.leaf)
	case a == b:
		return t.pairs(p.left, p.left, done, leaves) && t.pairs(p.left, p.right, done, leaves) && t.pairs(p.right, p.right, done, leaves)
	case p.left != 0 && (q.left == 0 || p.hi-p.lo >= q.hi-q.lo):
		return t.pairs(p.left, b, done, leaves) && t.pairs(p.right, b, done, leaves)
	}
	return t.pairs(a, q.left, done, leaves) && t.pairs(a, q.right, done, leaves)
}

// block writes the kernel's values between the rows of leaves a ≤ b into dst, row by row of a.
func (t *tree) block(a, b int, dst, work []float64) {
	p := t.nodes[t.leaves[a]]
	t.against[b].Rows(t.x, p.lo, p.hi, dst, work)
}

// rows is how many rows a leaf has.
func (t *tree) rows(leaf int) int {
	p := t.nodes[t.leaves[leaf]]
	return p.hi - p.lo
}

// workSize is the length of work that block needs, and blockSize that of dst.
func (t *tree) workSize() int { return leafRows * t.against[0].Work() }

const blockSize = leafRows * leafRows

func (t *tree) bytes() int64 {
	sum := int64(8*len(t.order)) + 4*int64(t.x.Len())*int64(t.x.Dim()) + 64*int64(len(t.nodes)) + 4*int64(len(t.boxes))
	for _, a := range t.against {
		sum += a.Bytes()
	}
	return sum
}

// gatherColumns writes the columns of v, n×k, with its rows in the given order, one after the other.
func gatherColumns(v []float64, order []int, k int) []float64 {
	columns := make([]float64, len(v))
	for i, from := range order {
		for t, x := range v[from*k:][:k] {
			columns[t*len(order)+i] = x
		}
	}
	return columns
}

// scatterColumns is the inverse.
func scatterColumns(dst, columns []float64, order []int, k int) {
	for i, to := range order {
		for t := range k {
			dst[to*k+t] = columns[t*len(order)+i]
		}
	}
}

// TreeProduct multiplies by a K̃ none of whose elements differs from K's by more than ε,
// so that the error of an element of K̃v is at most ε‖v‖₁: distant rows act as groups.
// Between the boxes of two nodes of a kd-tree whose kernel values lie within 2ε, all are replaced
// by the midpoint of the two bounds; between the remaining leaves they are computed. The
// pairs do not depend on v and are the same from both sides: K̃ is one symmetric matrix (the
// dual tree of Gray and Moore, "N-body problems in statistical learning", 2001, pruning by
// values instead of sums).
//
// It pays with few columns, an ε that is not small, or a large γ: of m leaves O(m) pairs are
// then left; with many columns and small ε nearly all m²/2, and a product takes n² values.
type TreeProduct struct {
	*tree
	far   [][]link  // by node
	near  [][]int32 // by leaf: the leaves
	bound float64
	links int64
}

// link is a node that acts as one.
type link struct {
	node  int32
	value float64
}

// NewTreeProduct prepares products with an error of at most accuracy in each element of K, for
// kernels that fall in every column ([kernel.Kernel.Falling]) and dense rows. It holds the rows twice, 12nd bytes,
// and 16 bytes for every pair of nodes, and fails if these would take more than memory bytes
// (0: 4 GiB).
func NewTreeProduct(ctx context.Context, k kernel.Kernel, x matrix.Rows, accuracy float64, limit int64) (*TreeProduct, error) {
	if !(accuracy >= 0) {
		return nil, fmt.Errorf("exact: the accuracy is %g; it must be a number of 0 or more", accuracy)
	}
	t, err := newTree(k, x)
	if err != nil {
		return nil, err
	}
	p := &TreeProduct{tree: t, far: make([][]link, len(t.nodes)), near: make([][]int32, len(t.leaves))}
	off := make([]float64, len(t.nodes)) // the largest error of a row of K̃, in the 1-norm
	enough := p.pairs(0, 0, func(a, b int, least, most float64) bool {
		if most-least > 2*accuracy {
			return false
		}
		value := (least + most) / 2
		p.far[a] = append(p.far[a], link{int32(b), value})
		off[a] += float64(t.nodes[b].hi-t.nodes[b].lo) * (most - least) / 2
		p.links++
		if a != b {
			p.far[b] = append(p.far[b], link{int32(a), value})
			off[b] += float64(t.nodes[a].hi-t.nodes[a].lo) * (most - least) / 2
			p.links++
		}
		return true
	}, func(a, b int) bool {
		p.near[a] = append(p.near[a], int32(b))
		p.links++
		if a != b {
			p.near[b] = append(p.near[b], int32(a))
			p.links++
		}
		return p.links%1024 != 0 || p.Bytes() <= memory(limit) && ctx.Err() == nil
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !enough || p.Bytes() > memory(limit) {
		return nil, option.Errorf("exact: a tree product of %d rows takes more than the %s allowed for its pairs of nodes; let elements be "+
			"off by more (%s), or use Falkon or a feature map",
			x.Len(), units.Bytes(memory(limit)), option.Ref("accuracy"))
	}
	for i, n := range t.nodes { // parents first
		p.bound = max(p.bound, off[i])
		if n.left != 0 {
			off[n.left] += off[i]
			off[n.right] += off[i]
		}
	}
	return p, nil
}

// Len is n.
func (p *TreeProduct) Len() int { return p.x.Len() }

// Bound is the largest row sum of the bounds on |K̃ - K|, which is at most nε.
func (p *TreeProduct) Bound() float64 { return p.bound }

// Bytes is the memory it holds.
func (p *TreeProduct) Bytes() int64 { return p.bytes() + 16*p.links }

// Apply computes K̃v.
func (p *TreeProduct) Apply(ctx context.Context, dst, v []float64, outputs int) {
	n, k := p.Len(), outputs
	checkApply(n, dst, v, k)
	x, out := gatherColumns(v, p.order, k), make([]float64, n*k)
	sums, acts := make([]float64, len(p.nodes)*k), make([]float64, len(p.nodes)*k)
	for i := len(p.nodes) - 1; i >= 0; i-- { // children first
		node := p.nodes[i]
		for t := range k {
			if node.left != 0 {
				sums[i*k+t] = sums[node.left*k+t] + sums[node.right*k+t]
				continue
			}
			for _, u := range x[t*n+node.lo : t*n+node.hi] {
				sums[i*k+t] += u
			}
		}
	}
	vec.Parallel(len(p.nodes), 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			act := acts[i*k:][:k]
			for _, l := range p.far[i] {
				for t, s := range sums[int(l.node)*k:][:k] {
					act[t] += float64(l.value * s)
				}
			}
		}
	})
	for i, node := range p.nodes {
		if node.left != 0 {
			for t, s := range acts[i*k:][:k] {
				acts[node.left*k+t] += s
				acts[node.right*k+t] += s
			}
		}
	}
	vec.Parallel(len(p.leaves), 1, func(lo, hi int) {
		block, work := make([]float64, blockSize), make([]float64, p.workSize())
		for a := lo; a < hi && ctx.Err() == nil; a++ {
			at := p.leaves[a]
			for t := range k {
				for r := p.nodes[at].lo; r < p.nodes[at].hi; r++ {
					out[t*n+r] = acts[at*k+t]
				}
			}
			for _, b := range p.near[a] {
				p.addBlock(a, int(b), out, x, k, block, work)
			}
		}
	})
	scatterColumns(dst, out, p.order, k)
}

// addBlock adds to the rows of leaf a of out the contribution of those of leaf b of x.
func (t *tree) addBlock(a, b int, out, x []float64, k int, block, work []float64) {
	p, q, n := t.nodes[t.leaves[a]], t.nodes[t.leaves[b]], t.x.Len()
	// The values are those of the pair in its order, so that they are the same from both sides.
	t.block(min(a, b), max(a, b), block, work)
	for c := range k {
		to, from := out[c*n+p.lo:c*n+p.hi], x[c*n+q.lo:c*n+q.hi]
		if a <= b {
			for r := range to {
				to[r] += vec.Dot64(block[r*len(from):][:len(from)], from)
			}
			continue
		}
		for r, u := range from {
			vec.Axpy64(u, block[r*len(to):][:len(to)], to)
		}
	}
}

func checkApply(n int, dst, v []float64, outputs int) {
	if len(dst) != n*outputs || len(v) != n*outputs {
		panic(fmt.Sprintf("exact: Apply of %d numbers to %d, for %d rows of %d outputs", len(v), len(dst), n, outputs))
	}
}
