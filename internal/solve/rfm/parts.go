package rfm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Rows that outgrow one machine are trained in parts, which need not know of one another. A sample of the rows chooses kinds and metrics,
// and the upper nodes of the tree (NewTop). These say to which parts a row belongs (Route). From the rows of a part its leaves grow (Grow),
// and the sample joins all leaves with machines for all rows and boosted trees, as if it were all rows that there are (Join).

// Rows are rows with what they are known by.
type Rows struct {
	X       *matrix.Dense
	Y       []float64 // targets, rows×outputs
	Weights []float64 // of which none is 0
	Keys    []int     // numbers among all rows, ascending
}

// weights are those of rows, nil if all are 1, for which there are shorter sums.
func (r *Rows) weights() []float64 {
	if slices.ContainsFunc(r.Weights, func(w float64) bool { return w != 1 }) {
		return r.Weights
	}
	return nil
}

// Append adds the rows that follow, of the same dimensions.
func (r *Rows) Append(next *Rows) error {
	if r.X.Cols != next.X.Cols {
		return fmt.Errorf("rows of %d dimensions after rows of %d", next.X.Cols, r.X.Cols)
	}
	r.X.Data = append(r.X.Contiguous(), next.X.Contiguous()...)
	r.X.Rows, r.X.Stride = r.X.Rows+next.X.Rows, r.X.Cols
	r.Y, r.Weights, r.Keys = append(r.Y, next.Y...), append(r.Weights, next.Weights...), append(r.Keys, next.Keys...)
	return nil
}

// The rows of a part are at most about PartRows, unless another number is asked for: they are in the memory of one process. The sample has one row
// of sampleOf, but at least wholeRows and at most mostSample of them; parts are no smaller than leastSampled rows of the sample tell apart.
const (
	PartRows     = 200_000
	sampleOf     = 100
	mostSample   = 1_000_000
	leastSampled = 500
)

// SampleRows is about how many of so many rows are in the sample that says what all rows are like.
func SampleRows(rows int) int { return min(rows, mostSample, max(wholeRows, rows/sampleOf)) }

// JoinRows is about how many of these join the leaves.
func JoinRows(rows int) int { return min(rows, wholeRows) }

// Sampled says whether a row is in the sample.
func Sampled(seed uint64, rows, key int) bool {
	most := SampleRows(rows)
	return most >= rows || random.New(seed, "rfm.sampled", uint64(key)).Uniform()*float64(rows) < float64(most)
}

// Top is what a sample says of all rows. It does not change.
type Top struct {
	opt     Options
	outputs int
	rows    int // all
	sample  Rows
	sizes   []float64 // the targets were divided by; nil: by 1
	chosen  []member
	tree    Tree       // to parts in place of leaves
	parts   [][]member // what is known about the members of each
	report  *Report
}

// NewTop chooses kinds and metrics by a sample of so many rows, whose rows have no weight of 0, and divides these into parts of at most about part
// rows (0: PartRows). Kinds and metrics follow from the sample as Fit makes them.
func NewTop(ctx context.Context, sample Rows, outputs, rows, part int, opt Options) (*Top, error) {
	t := &Top{opt: opt, outputs: outputs, rows: rows, sample: sample}
	if n := sample.X.Rows; n < 10 || len(sample.Y) != n*outputs || len(sample.Keys) != n || len(sample.Weights) != n {
		return nil, fmt.Errorf("rfm: a sample of %d rows is too small; it takes 10, with weights that are not 0", n)
	}
	t.opt.Leaf, _, t.opt.Members = sizes(rows, opt)
	f, err := t.fitting(ctx, &t.sample)
	if err != nil {
		return nil, err
	}
	t.sizes = f.standardise()
	f.rows = rows
	if t.chosen, err = f.choose(numbers(sample.X.Rows)); err != nil {
		return nil, err
	}
	t.report = f.report
	depth := 0
	for part = cmp.Or(part, PartRows); rows > part<<depth; {
		depth++
	}
	_, err = t.divide(f, numbers(sample.X.Rows), t.chosen, depth)
	return t, err
}

// numbers are 0 to n-1.
func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// fitting is the state of a training on rows, with those held out that Fit would hold out by chance.
func (t *Top) fitting(ctx context.Context, rows *Rows) (*fitting, error) {
	f := &fitting{ctx: ctx, x: rows.X, y: rows.Y, outputs: t.outputs, weights: rows.weights(), opt: t.opt, report: &Report{}, rows: t.rows}
	f.opt.Lambda *= float64(rows.X.Rows) / float64(t.rows)
	if err := f.defaults(); err != nil {
		return nil, err
	}
	if t.sizes != nil {
		f.y = make([]float64, len(rows.Y))
		for i, v := range rows.Y {
			f.y[i] = v / t.sizes[i%t.outputs]
		}
	}
	f.held, f.judges = make([]bool, rows.X.Rows), make([]bool, rows.X.Rows)
	held, judges := f.shares()
	for i, key := range rows.Keys {
		u := random.New(t.opt.Seed, "rfm.held", uint64(key)).Uniform()
		f.held[i], f.judges[i] = u < held, u < judges
	}
	return f, nil
}

// divide divides rows of the sample so many times, and returns the number of the node or part that they come to, as Node.Below has it.
func (t *Top) divide(f *fitting, rows []int, members []member, depth int) (int, error) {
	if depth > 0 && members[0].learned.Direction != nil {
		all := int(float64(len(rows)) / float64(t.sample.X.Rows) * float64(t.rows))
		node, below, above, ok := divide(f.x, rows, members[0].learned.Direction, overlapOf(all, f.opt.Leaf))
		if ok && min(len(below), len(above)) >= leastSampled {
			at := len(t.tree)
			t.tree = append(t.tree, node)
			var to [2]int
			for side, rows := range [2][]int{below, above} {
				known, err := f.known(rows, members, false)
				if err != nil {
					return 0, err
				}
				if to[side], err = t.divide(f, rows, known, depth-1); err != nil {
					return 0, err
				}
			}
			t.tree[at].Below, t.tree[at].Above = to[0], to[1]
			return at, nil
		}
	}
	t.parts = append(t.parts, members)
	return -len(t.parts), nil
}

// Sample are the rows of the sample; they must not be changed.
func (t *Top) Sample() *Rows { return &t.sample }

// Parts is the number of parts.
func (t *Top) Parts() int { return len(t.parts) }

// Route appends the numbers of the parts to which a row belongs, ascending: more than one near where these meet.
func (t *Top) Route(parts []int, x []float32) []int {
	for _, s := range t.tree.route(nil, x, 0) {
		parts = append(parts, int(s.leaf))
	}
	slices.Sort(parts)
	return parts
}

// Part is a part of the tree with its leaves.
type Part struct {
	tree   Tree
	leaves []trained
}

// Grow grows the leaves of a part from the rows that belong to it.
func (t *Top) Grow(ctx context.Context, part int, rows Rows, progress func(share float64)) (*Part, error) {
	f, err := t.fitting(ctx, &rows)
	if err != nil {
		return nil, err
	}
	n := rows.X.Rows
	if n < 10 {
		return nil, fmt.Errorf("rfm: part %d has %d rows; it takes 10", part, n)
	}
	if f.opt.Progress = nil; progress != nil {
		f.opt.Progress = func(float64) { progress(float64(f.done) / float64(n)) }
	}
	members := slices.Clone(t.parts[part])
	for i := range members {
		members[i].settled = false // by the few rows of the sample
	}
	if members, err = f.known(numbers(n), members, n <= f.opt.Leaf); err != nil {
		return nil, err
	}
	root, err := f.grow(numbers(n), members)
	if err != nil {
		return nil, err
	}
	f.lay(root)
	if err := f.more(); err != nil {
		return nil, err
	}
	p := &Part{tree: f.tree}
	for i := range f.leaves {
		p.leaves = append(p.leaves, f.leaves[i].known(&rows, &t.sample, t.outputs))
	}
	return p, nil
}

// known is a leaf with the scores of those of its held-out rows that are in the sample, by their numbers there.
func (t *trained) known(rows, sample *Rows, outputs int) trained {
	of := trained{Leaf: t.Leaf, solutions: t.solutions, rates: t.rates}
	scores := [...]struct {
		from []float64
		to   *[]float64
	}{{t.scores, &of.scores}, {t.logits, &of.logits}, {t.later, &of.later}}
	for _, s := range scores {
		if s.from != nil {
			*s.to = []float64{}
		}
	}
	for h, r := range t.held {
		at, found := slices.BinarySearch(sample.Keys, rows.Keys[r])
		if !found {
			continue
		}
		of.held = append(of.held, at)
		for _, s := range scores {
			if s.from != nil {
				*s.to = append(*s.to, s.from[h*outputs:][:outputs]...)
			}
		}
	}
	return of
}

// Join makes the machine of all parts, in order.
func (t *Top) Join(ctx context.Context, parts []*Part, progress func(share float64)) (*Machine, *Report, error) {
	f, err := t.fitting(ctx, &t.sample)
	if err != nil {
		return nil, nil, err
	}
	if len(parts) != len(t.parts) {
		return nil, nil, fmt.Errorf("rfm: %d parts of %d", len(parts), len(t.parts))
	}
	report := *t.report
	f.report, f.opt.Progress = &report, progress
	root, err := branchOf(t.tree, len(t.parts), func(part int) (*branch, error) {
		p := parts[part]
		return branchOf(p.tree, len(p.leaves), func(leaf int) (*branch, error) { return &branch{leaf: &p.leaves[leaf]}, nil })
	})
	if err != nil {
		return nil, nil, err
	}
	f.lay(root)
	return f.finish(numbers(t.sample.X.Rows), t.chosen, t.sizes)
}

// branchOf is the root of a tree as a branch, with what leaf makes of each of its leaves.
func branchOf(tree Tree, leaves int, leaf func(i int) (*branch, error)) (*branch, error) {
	if len(tree) != leaves-1 {
		return nil, errors.New("rfm: a part has not as many leaves as its tree")
	}
	var at func(i int) (*branch, error)
	at = func(i int) (b *branch, err error) {
		if i < 0 {
			return leaf(-i - 1)
		}
		b = &branch{node: tree[i]}
		if b.sides[0], err = at(tree[i].Below); err == nil {
			b.sides[1], err = at(tree[i].Above)
		}
		return b, err
	}
	if leaves == 1 {
		return leaf(0)
	}
	return at(0)
}
