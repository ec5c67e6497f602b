package shard

import (
	"context"
	"fmt"

	"mercer/internal/engine/atomicfile"
)

// The sum of all pieces is that of a binary tree: of pieces 2k and 2k+1, then of two such pairs, and so on; what is left over at the
// end is added to what stands before it. The tree depends on the number of pieces alone.

// node is the sum of pieces from from on, 2^level of them, or fewer at the end of a tree.
type node struct {
	from, level int
	sum         sum
	file        *atomicfile.Temporary // if the sum waits in a file
}

// count is the number of pieces of a node.
func (n *node) count() int { return 1 << n.level }

// tree adds up sums of adjacent pieces that come in order. It holds one sum for each level.
type tree struct {
	nodes []*node

	// leave, if not nil, is called with a sum that will not be needed for a while and may leave memory; back fetches it.
	leave func(context.Context, *node) error
	back  func(context.Context, *node) error
}

// add adds the next sum.
func (t *tree) add(ctx context.Context, n *node) error {
	t.nodes = append(t.nodes, n)
	for len(t.nodes) > 1 {
		a, b := t.nodes[len(t.nodes)-2], t.nodes[len(t.nodes)-1]
		if a.level != b.level || a.from>>a.level%2 == 1 {
			break
		}
		if err := t.join(ctx, a, b); err != nil {
			return err
		}
		a.level++
	}
	// The last waits for what comes next, those before it for longer.
	if k := len(t.nodes) - 2; k >= 0 && t.leave != nil && t.nodes[k].sum != nil {
		return t.leave(ctx, t.nodes[k])
	}
	return nil
}

// join adds b to a, which precedes it.
func (t *tree) join(ctx context.Context, a, b *node) error {
	if a.sum == nil {
		if err := t.back(ctx, a); err != nil {
			return err
		}
	}
	if b.sum == nil {
		if err := t.back(ctx, b); err != nil {
			return err
		}
	}
	if err := a.sum.merge(b.sum); err != nil {
		return fmt.Errorf("piece %d: %w", b.from, err)
	}
	t.nodes = t.nodes[:len(t.nodes)-1]
	return nil
}

// root adds up what is left over, at the end of all pieces.
func (t *tree) root(ctx context.Context) (sum, error) {
	for len(t.nodes) > 1 {
		k := len(t.nodes)
		if err := t.join(ctx, t.nodes[k-2], t.nodes[k-1]); err != nil {
			return nil, err
		}
	}
	return t.nodes[0].sum, nil
}
