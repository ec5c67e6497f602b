package rfm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/exact"
	"mercer/internal/landmarks"
	"mercer/internal/random"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/metric"
)

// Kind is a kernel with a form of its metric, one of metric.Forms, or "" for plain distances.
type Kind struct {
	Kernel kernel.Kernel `json:"kernel"`
	Form   string        `json:"metric"`
}

// Kinds are the kinds that Fit chooses from by default, for rows of dim numbers.
func Kinds(dim int) []Kind {
	kinds := []Kind{
		{kernel.Laplacian.Usual(), "diagonal"},
		{kernel.Matern.Usual(), "diagonal"},
		{kernel.RBF.Usual(), "diagonal"},
	}
	if dim <= widestMatrix {
		kinds = append(kinds, Kind{kernel.Matern.Usual(), "full"})
	}
	return kinds
}

// sizes are the bounds of the rows of a leaf, of the landmarks of a machine, and of the machines of a leaf.
func sizes(opt Options) (leaf, centres, members int) {
	return cmp.Or(opt.Leaf, usualLeaf), cmp.Or(opt.Centres, usualCentres), cmp.Or(opt.Members, usualMembers)
}

// LeafRows is the bound of the rows of a leaf, as long as held-out rows do not double it.
func LeafRows(opt Options) int {
	leaf, _, _ := sizes(opt)
	return leaf
}

// Bytes is the memory of Fit for n rows of d dimensions beside the rows, at most: the machines of all leaves, 12d + 16K
// for each landmark; and the training of one, with landmarks.Bytes or exact.FalkonBytes and the kernel of a few
// thousand rows.
func Bytes(n, d, outputs int, opt Options) int64 {
	leaf, centres, members := sizes(opt)
	if opt.Leaf == 0 && opt.Centres == 0 { // they may be doubled
		leaf, centres = 2*leaf, min(mostDirect, 2*centres)
	}
	leaf = min(leaf, n)
	centres = min(centres, leaf)
	// Leaves are at least a quarter full, and rows near nodes are in several.
	all := min(int64(n)*2, int64(centres)*int64(max(1, 4*n/leaf)))
	one := landmarks.Bytes(centres, d, outputs) + 4*(mostHeld+2*valueRows)*int64(centres)
	if centres > mostDirect {
		one = exact.FalkonBytes(leaf, d, centres, outputs, false)
	}
	return all*int64(members)*int64(12*d+16*outputs) + one + 4*int64(leaf)*int64(3*d)
}

// Options say how Fit trains. The zero value chooses by the data.
type Options struct {
	// Kinds are those to choose from; nil means Kinds(). Their γ is ignored. Members bounds how many of them are
	// averaged; 0 means 2.
	Kinds   []Kind
	Members int

	// Leaf bounds the rows of a leaf, and Centres the landmarks of a machine; 0 means 4,000 and 2,500, or if both are 0
	// twice as many rows and 4,096 landmarks where held-out rows say so.
	Leaf    int
	Centres int

	// Lambda is λ of each machine, for as many rows as there are; 0 means that held-out rows of each leaf choose.
	Lambda float64

	// Classes says that the targets are codes of classes (metric.Options.Classes).
	Classes bool

	// Memory bounds the bytes of one machine's training (exact.Falkon.Memory); 0 means 4 GiB.
	Memory int64

	Seed uint64

	// Progress, if not nil, is told the share of the work that is done.
	Progress func(share float64)
}

const (
	sampleRows   = 10_000 // rows that choose kinds
	usualLeaf    = 4000
	usualCentres = 2500
	usualMembers = 2

	// How metrics are learned: of all rows, and again in each leaf.
	chooseRows, chooseLandmarks, chooseRounds = 5000, 800, 4
	leafRows, leafLandmarks, leafRounds       = 4000, 600, 1

	widestMatrix = 500 // dimensions up to which a full metric is tried
)

// Fit trains machines for rows x, which are scaled, and targets y, n×outputs row by row, with weights (nil: all 1).
// It chooses kinds on a sample of the rows, and their weights; divides the rows at the median along the direction
// in which the answer changes most, until at most opt.Leaf are in a leaf; and in each leaf learns the metric of
// every kind again, from that of the leaf's parent, and trains Falkon with it. Several outputs that are not classes
// count alike, whatever their units. The result depends on the arguments alone, not on the number of threads.
//
// Time: O(n·m·(m + d)) for m centres a leaf. Memory: Bytes.
func Fit(ctx context.Context, x *matrix.Dense, y []float64, outputs int, weights []float64, opt Options) (*Machine, *Report, error) {
	n := x.Rows
	if outputs < 1 || len(y) != n*outputs || weights != nil && len(weights) != n {
		return nil, nil, fmt.Errorf("rfm: %d rows with %d targets of %d outputs and %d weights", n, len(y), outputs, len(weights))
	}
	f := &fitting{ctx: ctx, x: x, y: y, outputs: outputs, weights: weights, opt: opt, report: &Report{}}
	if err := f.defaults(); err != nil {
		return nil, nil, err
	}
	sizes := f.standardise()
	f.leafRows, f.centres, f.undecided = f.opt.Leaf, f.opt.Centres, f.ownLeaves
	var all []int // rows that count
	for i := range n {
		if weights == nil || weights[i] != 0 {
			all = append(all, i)
		}
	}
	if f.rows = len(all); f.rows < 10 {
		return nil, nil, fmt.Errorf("rfm: %d rows are too few; it takes 10, with weights that are not 0", f.rows)
	}
	chosen, err := f.choose(all)
	if err != nil {
		return nil, nil, err
	}
	if _, err := f.grow(all, chosen); err != nil {
		return nil, nil, err
	}
	if err := f.resize(sizes); err != nil {
		return nil, nil, err
	}
	m, err := NewMachine(x.Cols, f.tree, f.leaves)
	if err != nil {
		return nil, nil, err
	}
	f.report.Leaves, f.report.LeafRows, f.report.Centres = len(f.leaves), f.leafRows, m.Centres()
	return m, f.report, nil
}

func (f *fitting) defaults() error {
	o := &f.opt
	f.ownLeaves = o.Leaf == 0 && o.Centres == 0
	o.Leaf, o.Centres, o.Members = sizes(*o)
	if o.Members < 0 || o.Leaf < 100 || o.Centres < 1 || !(o.Lambda >= 0) || math.IsInf(o.Lambda, 0) {
		return fmt.Errorf("rfm: %d members, leaves of %d rows, %d centres, λ = %g; it takes positive numbers, and leaves of 100 rows or more",
			o.Members, o.Leaf, o.Centres, o.Lambda)
	}
	if o.Kinds == nil {
		o.Kinds = Kinds(f.x.Cols)
	}
	if len(o.Kinds) == 0 {
		return errors.New("rfm: no kinds to choose from")
	}
	return nil
}

// fitting is the state of Fit.
type fitting struct {
	ctx     context.Context
	x       *matrix.Dense
	y       []float64
	outputs int
	weights []float64
	opt     Options
	report  *Report
	tree    Tree
	leaves  []Leaf
	rows    int // that count
	done    int // rows of leaves

	// The bounds of leaves, and whether it is still to be decided if they are twice as large.
	leafRows, centres int
	undecided         bool
	ownLeaves         bool // nobody asked for other bounds
}

// member is a kind with what is known about it at a node of the tree.
type member struct {
	Kind
	weight  float64
	metric  *metric.Metric
	learned *metric.Learned
}

// round is the best machine of the member.
func (m *member) round() metric.Round { return m.learned.Report.Rounds[m.learned.Report.Best] }

// part is a copy of some rows.
func (f *fitting) part(rows []int) (x matrix.Rows, y, weights []float64) {
	if len(rows) == f.x.Rows {
		return matrix.Rows{Dense: f.x}, f.y, f.weights
	}
	dense := matrix.NewDense(len(rows), f.x.Cols)
	y = make([]float64, 0, len(rows)*f.outputs)
	for r, i := range rows {
		copy(dense.Row(r), f.x.Row(i))
		y = append(y, f.y[i*f.outputs:][:f.outputs]...)
		if f.weights != nil {
			weights = append(weights, f.weights[i])
		}
	}
	return matrix.Rows{Dense: dense}, y, weights
}

// sample draws at most k of the rows; they stay in order.
func (f *fitting) sample(rows []int, k int) []int {
	if len(rows) <= k {
		return rows
	}
	some := random.New(f.opt.Seed, "rfm.sample").Perm(len(rows))[:k]
	for i, at := range some {
		some[i] = rows[at]
	}
	slices.Sort(some)
	return some
}

// learn learns the metric of a kind from rows, starting with that of the parent, nil if there is none.
func (f *fitting) learn(rows []int, k Kind, parent *member, direction bool) (*metric.Learned, error) {
	opt := metric.Options{Rows: chooseRows, Landmarks: chooseLandmarks, Rounds: chooseRounds}
	if parent != nil {
		last := parent.round()
		opt = metric.Options{Start: parent.metric, Width: last.Length, Lambda: last.Lambda,
			Rows: leafRows, Landmarks: leafLandmarks, Rounds: leafRounds}
	}
	return f.metric(rows, k, opt, direction)
}

// metric learns the metric of a kind from rows.
func (f *fitting) metric(rows []int, k Kind, opt metric.Options, direction bool) (*metric.Learned, error) {
	opt.Kernel, opt.Form, opt.Classes, opt.Seed, opt.WithDirection = k.Kernel, k.Form, f.opt.Classes, f.opt.Seed, direction
	x, y, weights := f.part(rows)
	return metric.Learn(f.ctx, x, y, f.outputs, weights, opt)
}

// choose learns the metric of every kind from a sample of rows, and chooses those that are averaged: all judged by the
// same held-out rows.
func (f *fitting) choose(rows []int) ([]member, error) {
	some := f.sample(rows, sampleRows)
	var all []member
	for _, k := range f.opt.Kinds {
		learned, err := f.learn(some, k, nil, true)
		if err != nil {
			return nil, err
		}
		all = append(all, member{Kind: k, metric: learned.Metric, learned: learned})
	}
	if err := f.exchange(some, all); err != nil {
		return nil, err
	}
	for _, m := range all {
		f.report.Candidates = append(f.report.Candidates, Candidate{Kind: m.Kind, Learned: m.learned.Report})
	}
	var targets, weights []float64
	for _, h := range all[0].learned.Held {
		i := some[h]
		targets = append(targets, f.y[i*f.outputs:][:f.outputs]...)
		w := 1.0
		if f.weights != nil {
			w = f.weights[i]
		}
		weights = append(weights, w)
	}
	var scores [][]float64
	for i := range all {
		scores = append(scores, all[i].learned.Scores)
	}
	shares := blend(scores, targets, weights, f.outputs, f.opt.Members)
	for i, w := range shares {
		f.report.Candidates[i].Weight = w
	}
	var chosen []member
	for _, i := range f.report.order() { // the first divides the rows
		all[i].weight = shares[i]
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// exchange tries the diagonal metric of the kind with the smallest error with the other kernels: some kernels find
// the columns that matter more easily than others, and others then predict better.
func (f *fitting) exchange(rows []int, all []member) error {
	best := -1
	for i, m := range all {
		if m.Form == "diagonal" && (best < 0 || m.round().Error < all[best].round().Error) {
			best = i
		}
	}
	for i := range all {
		if m := &all[i]; best >= 0 && i != best && m.Form == "diagonal" && all[best].metric != nil {
			opt := metric.Options{Start: all[best].metric, Width: m.round().Length, Lambda: m.round().Lambda, Rounds: 1,
				Rows: chooseRows, Landmarks: chooseLandmarks}
			learned, err := f.metric(rows, m.Kind, opt, true)
			if err != nil {
				return err
			}
			if r := learned.Report; r.Rounds[r.Best].Error < m.round().Error {
				m.metric, m.learned = learned.Metric, learned
			}
		}
	}
	return nil
}

// grow divides rows until they fit in leaves, and trains those. It returns the number of the node or leaf, as
// Node.Below has it. What is known about the members comes from these rows or more.
func (f *fitting) grow(rows []int, members []member) (int, error) {
	if len(rows) > f.leafRows && members[0].learned.Direction != nil {
		if f.undecided && len(rows) <= 2*f.leafRows {
			f.undecided = false
			if err := f.decide(rows, members); err != nil {
				return 0, err
			}
			return f.grow(rows, members)
		}
		if node, below, above, ok := divide(f.x, rows, members[0].learned.Direction, overlapOf(len(rows), f.leafRows)); ok {
			at := len(f.tree)
			f.tree = append(f.tree, node)
			for side, part := range [][]int{below, above} {
				known, err := f.known(part, members)
				if err != nil {
					return 0, err
				}
				to, err := f.grow(part, known)
				if err != nil {
					return 0, err
				}
				if side == 0 {
					f.tree[at].Below = to
				} else {
					f.tree[at].Above = to
				}
			}
			return at, nil
		}
	}
	leaf, err := f.leaf(rows, members)
	if err != nil {
		return 0, err
	}
	f.leaves = append(f.leaves, leaf)
	f.done += len(rows)
	if f.opt.Progress != nil {
		f.opt.Progress(min(1, float64(f.done)/float64(f.rows)))
	}
	return -len(f.leaves), nil
}

// known is what is known about the members once their metrics are learned from rows on one side of a node.
func (f *fitting) known(rows []int, members []member) ([]member, error) {
	known, leaf := slices.Clone(members), len(rows) <= f.leafRows
	for i := range known {
		if i > 0 && !leaf {
			continue // it is learned again in the leaf
		}
		learned, err := f.learn(f.sample(rows, sampleRows), known[i].Kind, &known[i], i == 0 && !leaf)
		if err != nil {
			return nil, err
		}
		known[i].metric, known[i].learned = learned.Metric, learned
	}
	return known, nil
}

// decide tries on the first rows that make two leaves whether one of twice the size is better, by held-out rows, and if
// so has all leaves so large.
func (f *fitting) decide(rows []int, members []member) error {
	var main, held []int
	draw := random.New(f.opt.Seed, "rfm.decide")
	for _, i := range rows {
		if draw.Uniform() < decidingShare {
			held = append(held, i)
		} else {
			main = append(main, i)
		}
	}
	node, below, above, ok := divide(f.x, main, members[0].learned.Direction, overlapOf(len(main), f.leafRows))
	if !ok {
		return nil
	}
	node.Below, node.Above = -1, -2
	var halves []Leaf
	for _, part := range [][]int{below, above} {
		known, err := f.known(part, members)
		if err != nil {
			return err
		}
		leaf, err := f.leaf(part, known)
		if err != nil {
			return err
		}
		halves = append(halves, leaf)
	}
	two, err := f.failed(held, Tree{node}, halves)
	if err != nil {
		return err
	}
	small := *f
	f.leafRows, f.centres = 2*f.leafRows, min(mostDirect, 2*f.centres)
	whole, err := f.known(main, members)
	if err != nil {
		return err
	}
	leaf, err := f.leaf(main, whole)
	if err != nil {
		return err
	}
	one, err := f.failed(held, nil, []Leaf{leaf})
	if err != nil {
		return err
	}
	if !(one < (1-decidingGain)*two) {
		f.leafRows, f.centres = small.leafRows, small.centres
	}
	return nil
}

// decidingShare is the share of rows that are held out to decide on the size of leaves, and decidingGain how much
// better large ones, which take twice as long, must be.
const (
	decidingShare = 0.2
	decidingGain  = 0.01
)

// failed is the squared error of a tree on rows.
func (f *fitting) failed(rows []int, tree Tree, leaves []Leaf) (float64, error) {
	m, err := NewMachine(f.x.Cols, tree, leaves)
	if err != nil {
		return 0, err
	}
	x, y, weights := f.part(rows)
	scores := matrix.NewDense(len(rows), f.outputs)
	if err := m.Scores(scores, x); err != nil {
		return 0, err
	}
	sum := 0.0
	for i := range rows {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		for t, v := range scores.Row(i) {
			e := float64(v) - y[i*f.outputs+t]
			sum += float64(w * e * e)
		}
	}
	return sum, nil
}
