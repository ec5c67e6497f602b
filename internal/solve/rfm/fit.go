package rfm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/metric"
	"mercer/kernel"
	"mercer/matrix"
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

// Options say how Fit trains. The zero value chooses by the data.
type Options struct {
	// Kinds are those to choose from; nil means Kinds(). Their γ is ignored. Members bounds how many of them are
	// averaged, each of which has to make the held-out error a percent smaller; 0 means 2, and 1 with more than 400,000 rows.
	Kinds   []Kind
	Members int

	// Leaf bounds the rows of a leaf; 0 means 2,000. Centres bounds the landmarks of a machine; 0 means what held-out rows ask
	// for: 750 or 1,500 in a leaf, and 1,024, 2,048 or 4,096 for machines of all rows.
	Leaf    int
	Centres int

	// Smooth leaves out boosted trees.
	Smooth bool

	// Lambda is λ of each machine, for as many rows as there are; 0 means that held-out rows of each leaf choose.
	Lambda float64

	// Classes says that the targets are codes of classes (metric.Options.Classes): ±1, one output for two classes, or one for each, of
	// which one is 1.
	Classes bool

	// Logistic asks for machines by the logistic loss beside those by squared error, and for a choice by held-out rows
	// (Report.Logistic). It needs Classes and Held.
	Logistic bool

	// Held asks for scores of rows that the machines had not seen (Report.Scores).
	Held bool

	// Memory bounds the bytes of one machine's training (exact.Falkon.Memory); 0 means 4 GiB.
	Memory int64

	Seed uint64

	// Progress, if not nil, is told the share of the work that is done.
	Progress func(share float64)
}

const (
	sampleRows   = 10_000 // rows that choose kinds
	usualLeaf    = 2000
	usualCentres = 1500
	usualMembers = 2

	// How metrics are learned: of all kinds by few rows and landmarks, of those that did best of all rows, and again in each leaf.
	raceRows, raceLandmarks, raceRounds       = 3000, 500, 4
	chooseRows, chooseLandmarks, chooseRounds = 5000, 700, 1
	leafRows, leafLandmarks, leafRounds       = 4000, 600, 1

	// With more than manyRows, leaves have one machine each, and their metrics come from fewer rows and landmarks.
	manyRows                = 400_000
	someRows, someLandmarks = 3000, 300

	// A kind whose error is farFrom times the smallest has no share in the end.
	farFrom = 1.06

	// Metrics are learned again in a leaf if to do so at its parent multiplied the squared error by less than this.
	settledGain = 0.99

	widestMatrix = 500 // dimensions up to which a full metric is tried
)

// Fit trains machines for rows x, which are scaled, and targets y, n×outputs row by row, with weights (nil: all 1).
// It chooses kinds on a sample of the rows, the shapes of their metrics, and their weights; divides the rows at the median along the direction
// in which the answer changes most, until at most opt.Leaf are in a leaf; and in each leaf learns the metric of
// every kind again, from that of the leaf's parent, if that gained something there, and trains a machine with it. If there are several leaves it also
// trains machines on a sample of all rows; held-out rows decide how much these count beside the leaves.
// With fewer than 1,000 rows all that is done for two or four draws of the rows held out, and the scores are averaged.
// Several outputs that are not classes count alike, whatever their units. The result depends on the arguments alone, not
// on the number of threads.
//
// Time: O(n·m·(m + d)) for m centres a leaf. Memory: Bytes.
func Fit(ctx context.Context, x *matrix.Dense, y []float64, outputs int, weights []float64, opt Options) (*Machine, *Report, error) {
	if draws := opt.repeats(x.Rows); draws > 1 {
		return fitSeveral(ctx, x, y, outputs, weights, opt, draws)
	}
	return fitOnce(ctx, x, y, outputs, weights, opt)
}

// fitOnce is Fit by one draw of the rows held out.
func fitOnce(ctx context.Context, x *matrix.Dense, y []float64, outputs int, weights []float64, opt Options) (*Machine, *Report, error) {
	n := x.Rows
	if outputs < 1 || len(y) != n*outputs || weights != nil && len(weights) != n {
		return nil, nil, fmt.Errorf("rfm: %d rows with %d targets of %d outputs and %d weights", n, len(y), outputs, len(weights))
	}
	f := &fitting{ctx: ctx, x: x, y: y, outputs: outputs, weights: weights, opt: opt, report: &Report{}}
	if err := f.defaults(); err != nil {
		return nil, nil, err
	}
	sizes := f.standardise()
	var all []int // rows that count
	for i := range n {
		if weights == nil || weights[i] != 0 {
			all = append(all, i)
		}
	}
	if f.rows = len(all); f.rows < 10 {
		return nil, nil, fmt.Errorf("rfm: %d rows are too few; it takes 10, with weights that are not 0", f.rows)
	}
	f.hold()
	chosen, err := f.choose(all)
	if err != nil {
		return nil, nil, err
	}
	root, err := f.grow(all, chosen)
	if err != nil {
		return nil, nil, err
	}
	f.lay(root)
	if err := f.more(); err != nil {
		return nil, nil, err
	}
	return f.finish(all, chosen, sizes)
}

// finish makes the machine of leaves that are trained, for targets that were divided by sizes.
func (f *fitting) finish(all []int, chosen []member, sizes []float64) (*Machine, *Report, error) {
	tree, leaves, whole, steps, spread, err := f.join(all, chosen)
	if err != nil {
		return nil, nil, err
	}
	for _, leaf := range append(slices.Clone(leaves), whole.Leaf) {
		if err := leaf.resize(sizes); err != nil {
			return nil, nil, err
		}
	}
	if sizes != nil && steps.Trees != nil {
		steps.Trees = steps.Trees.Times(sizes)
	}
	m, err := NewMachine(f.x.Cols, tree, leaves, whole, steps)
	if err != nil {
		return nil, nil, err
	}
	if spread != nil {
		if sizes != nil {
			spread.resize(sizes)
		}
		if err := m.SetSpread(spread); err != nil {
			return nil, nil, fmt.Errorf("rfm: %w", err)
		}
	}
	r := f.report
	r.Leaves, r.LeafRows, r.Centres, r.Whole = len(leaves), f.opt.Leaf, m.Centres(), whole.Share
	if steps.Trees != nil {
		r.Trees, r.TreeShare = steps.Trees.Len(), steps.Share
	}
	return m, r, nil
}

func (f *fitting) defaults() error {
	o := &f.opt
	f.wholeCentres = wholeCentres(*o)
	f.fewLeaf, f.fewWhole = cmp.Or(o.Centres, fewLeaf), cmp.Or(min(o.Centres, mostDirect), fewWhole)
	o.Leaf, o.Centres, o.Members = sizes(f.x.Rows, *o)
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
	leaves  []trained
	rows    int // that count

	growing  atomic.Int64 // branches, less one
	rooms    freelist.List[room]
	stop     atomic.Bool // a branch has failed
	counting sync.Mutex
	done     int // rows that machines of leaves were trained on

	held         []bool // rows that choose λ and the rest, or judge
	judges       []bool
	wholeCentres int // most landmarks of those
	fewLeaf      int // landmarks of a leaf's machines, and of those for all rows, before held-out rows ask for more
	fewWhole     int
}

// member is a kind with what is known about it at a node of the tree.
type member struct {
	Kind
	weight  float64
	metric  *metric.Metric
	shape   metric.Shape
	learned *metric.Learned
	settled bool // to learn the metric of a part of the rows again gained next to nothing
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
	opt := metric.Options{Rows: raceRows, Landmarks: raceLandmarks, Rounds: raceRounds}
	if parent != nil {
		last := parent.round()
		opt = metric.Options{Start: parent.metric, Shape: parent.shape, Width: last.Length, Lambda: last.Lambda,
			Rows: leafRows, Landmarks: leafLandmarks, Rounds: leafRounds}
		if f.x.Rows > manyRows {
			opt.Rows, opt.Landmarks = someRows, someLandmarks
		}
	}
	return f.metric(rows, k, opt, direction)
}

// metric learns the metric of a kind from rows.
func (f *fitting) metric(rows []int, k Kind, opt metric.Options, direction bool) (*metric.Learned, error) {
	opt.Kernel, opt.Form, opt.Classes, opt.Seed, opt.WithDirection = k.Kernel, k.Form, f.opt.Classes, f.opt.Seed, direction
	opt.Landmarks = min(opt.Landmarks, f.opt.Centres)                                      // the width of a kernel is that for as many landmarks
	if _, held := f.divided(rows); 10*len(held) >= len(rows) && 2*len(held) <= len(rows) { // a small leaf may have drawn too few or too many
		opt.Held = held
	}
	x, y, weights := f.part(rows)
	return metric.Learn(f.ctx, x, y, f.outputs, weights, opt)
}

// choose learns the metric of every kind from a sample of rows, and chooses those that are averaged: all judged by the
// same held-out rows.
func (f *fitting) choose(rows []int) ([]member, error) {
	some := f.sample(f.choosers(rows), sampleRows)
	var all []member
	for i, k := range f.opt.Kinds {
		f.tellProgress(choosing, racing*float64(i)/float64(len(f.opt.Kinds)))
		learned, err := f.learn(some, k, nil, false)
		if err != nil {
			return nil, err
		}
		all = append(all, member{Kind: k, metric: learned.Metric, learned: learned})
	}
	if err := f.exchange(some, all); err != nil {
		return nil, err
	}
	all, err := f.refine(some, all)
	if err != nil {
		return nil, err
	}
	dropped := len(f.report.Candidates)
	blend := f.judge(some, all)
	if err := f.shape(some, all, blend(all)); err != nil {
		return nil, err
	}
	shares := blend(all)
	for i, m := range all {
		f.report.Candidates = append(f.report.Candidates, Candidate{Kind: m.Kind, Weight: shares[i], Learned: m.learned.Report})
	}
	f.tellProgress(choosing, 1)
	var chosen []member
	for _, i := range f.report.order() { // the first divides the rows
		i -= dropped
		all[i].weight = shares[i]
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// judge returns a function that says how much of each kind, learned from rows, an average should have, all judged by the
// same held-out rows.
func (f *fitting) judge(rows []int, all []member) func(all []member) []float64 {
	var targets, weights []float64
	for _, h := range all[0].learned.Held {
		i := rows[h]
		targets = append(targets, f.y[i*f.outputs:][:f.outputs]...)
		w := 1.0
		if f.weights != nil {
			w = f.weights[i]
		}
		weights = append(weights, w)
	}
	margin := 0.0
	if d := f.x.Cols; d*(d+1)/2*rowsPerNumber > all[0].learned.Report.Rows {
		margin = surely
	}
	return func(all []member) []float64 {
		var scores [][]float64
		var forms []string
		for i := range all {
			scores, forms = append(scores, all[i].learned.Scores), append(forms, all[i].Form)
		}
		allowed := earned(forms, scores, targets, weights, f.outputs, margin)
		return blend(scores, allowed, targets, weights, f.outputs, f.opt.Members)
	}
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
		f.tellProgress(choosing, racing+exchanging*float64(i)/float64(len(all)))
		if m := &all[i]; best >= 0 && i != best && m.Form == "diagonal" && all[best].metric != nil {
			opt := metric.Options{Start: all[best].metric, Width: m.round().Length, Lambda: m.round().Lambda, Rounds: 1,
				Rows: raceRows, Landmarks: raceLandmarks}
			learned, err := f.metric(rows, m.Kind, opt, false)
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

// refine learns the metrics of the kinds whose errors are not far from the smallest again, from more rows and landmarks.
func (f *fitting) refine(rows []int, all []member) (kept []member, err error) {
	least := math.Inf(1)
	for _, m := range all {
		least = min(least, m.round().Error)
	}
	for i, m := range all {
		f.tellProgress(choosing, racing+exchanging+refining*float64(i)/float64(len(all)))
		if m.round().Error > farFrom*least {
			f.report.Candidates = append(f.report.Candidates, Candidate{Kind: m.Kind, Learned: m.learned.Report})
			continue
		}
		opt := metric.Options{Start: m.metric, Width: m.round().Length, Lambda: m.round().Lambda, Rounds: chooseRounds,
			Rows: chooseRows, Landmarks: chooseLandmarks}
		if m.learned, err = f.metric(rows, m.Kind, opt, f.rows > f.opt.Leaf); err != nil {
			return nil, err
		}
		m.metric = m.learned.Metric
		kept = append(kept, m)
	}
	return kept, nil
}

// shape looks for better shapes of the metrics of the kinds that have a share.
func (f *fitting) shape(rows []int, all []member, shares []float64) error {
	for i := range all {
		f.tellProgress(choosing, 1-shaping*(1-float64(i)/float64(len(all))))
		m := &all[i]
		if m.metric == nil || shares[i] == 0 {
			continue
		}
		last := m.round()
		opt := metric.Options{Start: m.metric, Known: &last, Shapes: true, Width: last.Length, Lambda: last.Lambda, Rows: chooseRows, Landmarks: chooseLandmarks}
		learned, err := f.metric(rows, m.Kind, opt, f.rows > f.opt.Leaf)
		if err != nil {
			return err
		}
		if learned != nil {
			m.metric, m.learned, m.shape = learned.Metric, learned, *learned.Report.Shape()
		}
	}
	return nil
}

// branch is a part of the tree while it grows: a node with its sides, below and above, or a leaf.
type branch struct {
	node  Node
	sides [2]*branch
	leaf  *trained
}

// grow divides rows until they fit in leaves, and trains those. What is known about the members comes from these rows or
// more. The sides of a node do not depend on each other, and each has a thread of its own as long as there are any.
func (f *fitting) grow(rows []int, members []member) (*branch, error) {
	if len(rows) > f.opt.Leaf && members[0].learned.Direction != nil {
		if node, below, above, ok := divide(f.x, rows, members[0].learned.Direction, overlapOf(len(rows), f.opt.Leaf)); ok {
			b, parts := &branch{node: node}, [2][]int{below, above}
			return b, f.both(func(side int) error {
				known, err := f.known(parts[side], members, len(parts[side]) <= f.opt.Leaf)
				if err == nil {
					b.sides[side], err = f.grow(parts[side], known)
				}
				return err
			})
		}
	}
	leaf, err := f.train(rows, members, f.fewLeaf, f.fewLeaf < f.opt.Centres, nil)
	if err != nil {
		return nil, err
	}
	f.progress(len(rows))
	return &branch{leaf: &leaf}, nil
}

// branches is the number of branches that grow at the same time: as many as take no more memory than a machine for all rows.
func (f *fitting) branches() int64 {
	if f.opt.Centres > mostDirect {
		return 1
	}
	one, whole := directBytes(f.opt.Centres, f.x.Cols, f.outputs), directBytes(f.wholeCentres, f.x.Cols, f.outputs)
	return max(1, whole/one)
}

// both does the work of both sides of a node, at once if there may be one more branch. If one side fails the other is not
// begun, nor is any further node.
func (f *fitting) both(side func(int) error) error {
	var errs [2]error
	do := func(lo, hi int) {
		for s := lo; s < hi && !f.stop.Load(); s++ {
			if errs[s] = side(s); errs[s] != nil {
				f.stop.Store(true)
			}
		}
	}
	if f.growing.Add(1) < f.branches() {
		vec.Parallel(2, 1, do)
		f.growing.Add(-1)
	} else {
		f.growing.Add(-1)
		do(0, 2)
	}
	return cmp.Or(errs[0], errs[1])
}

// lay puts a branch into the tree and its leaves into the list, in order from below to above, and returns the number of
// its node or leaf, as Node.Below has it.
func (f *fitting) lay(b *branch) int {
	if b.leaf != nil {
		f.leaves = append(f.leaves, *b.leaf)
		return -len(f.leaves)
	}
	at := len(f.tree)
	f.tree = append(f.tree, b.node)
	below := f.lay(b.sides[0])
	above := f.lay(b.sides[1])
	f.tree[at].Below, f.tree[at].Above = below, above
	return at
}

// known is what is known about the members once their metrics are learned from rows on one side of a node, those of a leaf or more.
func (f *fitting) known(rows []int, members []member, leaf bool) ([]member, error) {
	known := slices.Clone(members)
	for i := range known {
		if i > 0 && !leaf {
			continue // it is learned again in the leaf
		}
		if leaf && members[0].settled {
			continue
		}
		learned, err := f.learn(f.sample(f.choosers(rows), sampleRows), known[i].Kind, &known[i], i == 0 && !leaf)
		if err != nil {
			return nil, err
		}
		r := learned.Report
		known[i].settled = r.Rounds[r.Best].Error > settledGain*r.Rounds[0].Error
		known[i].metric, known[i].learned = learned.Metric, learned
	}
	return known, nil
}
