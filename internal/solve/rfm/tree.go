package rfm

import (
	"fmt"
	"math"
	"slices"

	"mercer/matrix"
)

// Tree divides rows among leaves. Its first node is the root; without nodes there is one leaf.
type Tree []Node

// Node divides rows by s = Direction·x. Rows with s ≤ Low belong to the side Below, those with s ≥ High to
// Above, and those between to both, Above having the share (s - Low)/(High - Low). So scores have no steps where the
// sides meet. If Low = High, rows with s ≤ Low belong to Below.
type Node struct {
	Direction []float32
	Low, High float64

	// Below and Above are the numbers of nodes, greater than the node's own, or of leaves: -1 is the
	// first, -2 the second.
	Below, Above int
}

// share is the part of a row that belongs to a leaf.
type share struct {
	row, leaf int32
	of        float32
}

// smallestShare is that of leaves that are not asked.
const smallestShare = 1e-3

// route appends the shares of a row, in the order of the leaves in the tree. They add up to 1.
func (t Tree) route(shares []share, x []float32, row int32) []share {
	first := len(shares)
	shares = append(shares, share{row: row, of: 1})
	if len(t) == 0 {
		return shares
	}
	// Shares that wait at a node have its number in leaf; finished ones have that of their leaf, less one, negative.
	for i := first; i < len(shares); {
		at := shares[i].leaf
		if at < 0 {
			i++
			continue
		}
		n := &t[at]
		above := n.above(n.project(x))
		switch {
		case above <= smallestShare:
			shares[i].leaf = int32(n.Below)
		case above >= 1-smallestShare:
			shares[i].leaf = int32(n.Above)
		default:
			shares = append(shares, share{row: row, leaf: int32(n.Above), of: shares[i].of * above})
			shares[i].leaf = int32(n.Below)
			shares[i].of *= 1 - above
		}
	}
	for i := first; i < len(shares); i++ {
		shares[i].leaf = -shares[i].leaf - 1
	}
	return shares
}

func (n *Node) project(x []float32) float64 {
	s := 0.0
	for j, v := range n.Direction {
		s += float64(float64(v) * float64(x[j]))
	}
	return s
}

// above is the share of a row that belongs to the side Above.
func (n *Node) above(s float64) float32 {
	switch {
	case s <= n.Low:
		return 0
	case s >= n.High:
		return 1
	}
	return float32((s - n.Low) / (n.High - n.Low))
}

// check finds what is wrong with a tree for rows of dim numbers and a number of leaves, which may come from a file.
func (t Tree) check(dim, leaves int) error {
	if leaves < 1 || len(t) != leaves-1 {
		return fmt.Errorf("a tree of %d nodes and %d leaves; expected one leaf more than nodes", len(t), leaves)
	}
	seen := make([]int, len(t)+leaves) // nodes, then leaves
	for i, n := range t {
		for _, to := range []int{n.Below, n.Above} {
			switch {
			case to > i && to < len(t):
				seen[to]++
			case to < 0 && to >= -leaves:
				seen[len(t)-to-1]++
			default:
				return fmt.Errorf("node %d of the tree leads to %d; expected a later node, or a leaf", i, to)
			}
		}
		if len(n.Direction) != dim {
			return fmt.Errorf("node %d of the tree has a direction of %d numbers, the rows have %d", i, len(n.Direction), dim)
		}
		for _, v := range n.Direction {
			if v-v != 0 {
				return fmt.Errorf("node %d of the tree has the number %g in its direction", i, v)
			}
		}
		if !(n.Low <= n.High) || math.IsInf(n.Low, 0) || math.IsInf(n.High, 0) {
			return fmt.Errorf("node %d of the tree divides from %g to %g", i, n.Low, n.High)
		}
	}
	for i, times := range seen {
		if root := len(t) > 0 && i == 0; times != 1 && !root && len(t) > 0 {
			return fmt.Errorf("the tree reaches node or leaf %d %d times; expected once", i, times)
		}
	}
	return nil
}

// overlap is the share of a node's rows that belong to both sides, for nodes of up to overlapping leaves. It falls with
// the rows of larger ones, so that deep trees do not train on most rows many times.
const (
	overlap     = 0.1
	overlapping = 4
)

// overlapOf is the overlap of a node of rows for leaves of at most leaf rows.
func overlapOf(rows, leaf int) float64 {
	return overlap * min(1, overlapping*float64(leaf)/float64(rows))
}

// divide makes the node that divides rows of x into two halves along a direction, and returns the rows of both, of
// which about the share overlap belongs to both sides.
// ok is false if no more than a quarter of them would be on one side, as when most have the same value.
func divide(x *matrix.Dense, rows []int, direction []float64, overlap float64) (n Node, below, above []int, ok bool) {
	n.Direction = make([]float32, len(direction))
	for j, v := range direction {
		n.Direction[j] = float32(v)
	}
	s := make([]float64, len(rows))
	for r, i := range rows {
		s[r] = n.project(x.Row(i))
	}
	sorted := slices.Clone(s)
	slices.Sort(sorted)
	last := float64(len(rows) - 1)
	n.Low, n.High = sorted[int((0.5-overlap/2)*last)], sorted[int(math.Ceil((0.5+overlap/2)*last))]
	if n.Low == n.High {
		n.Low = edge(sorted)
		n.High = n.Low
	}
	for r, i := range rows {
		if s[r] < n.High || s[r] <= n.Low {
			below = append(below, i)
		}
		if s[r] > n.Low {
			above = append(above, i)
		}
	}
	least := len(rows) / 4
	return n, below, above, len(below) >= least && len(above) >= least && len(below) < len(rows) && len(above) < len(rows)
}

// edge is the value nearest to the middle of sorted numbers that is followed by a larger one.
func edge(sorted []float64) float64 {
	middle := len(sorted) / 2
	up, down := middle, middle
	for up+1 < len(sorted) && sorted[up+1] == sorted[up] {
		up++
	}
	for down > 0 && sorted[down-1] == sorted[middle] {
		down--
	}
	if down > 0 && middle-down < up-middle || up+1 == len(sorted) && down > 0 {
		return sorted[down-1]
	}
	return sorted[up]
}
