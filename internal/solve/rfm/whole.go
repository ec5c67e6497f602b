package rfm

import (
	"cmp"
	"slices"
)

// Leaves learn what matters near their rows, and know nothing of others. Where a function is smooth machines of all
// rows do better, though a bounded number of landmarks stands for more rows. A mean of both is better than either.

// wholeRows bounds the rows that machines for all rows are trained on, and with mostDirect landmarks the time they take.
// They may have a share of the scores of at least leastShare; with one of more than mostShare there are no leaves.
const (
	wholeRows  = 40_000
	leastShare = 0.05
	mostShare  = 0.95
)

// wholeCentres bounds the landmarks of machines for all rows.
func wholeCentres(opt Options) int { return min(mostDirect, cmp.Or(opt.Centres, mostDirect)) }

// join trains machines of the members on all rows, or a sample, if these are in several leaves, and returns what held-out
// rows say is best: the tree, these machines, or the mean of both by a share of each; and boosted trees beside them, with a share of their own. How far
// all that is from the truth of held-out rows is the spread, nil if it is unknown.
func (f *fitting) join(rows []int, members []member) (tree Tree, leaves []Leaf, whole Whole, steps Steps, spread *Spread, err error) {
	for _, l := range f.leaves {
		leaves = append(leaves, l.Leaf)
	}
	tree = f.tree
	if slices.ContainsFunc(f.leaves, func(l trained) bool { return l.scores == nil }) {
		return tree, leaves, whole, steps, nil, nil
	}
	var one *trained
	first := f.leaves[0]
	squares, logits := judged{first.held, first.scores, first.scores, 0}, judged{first.held, first.logits, first.later, 0}
	some := f.sample(rows, wholeRows)
	if len(leaves) > 1 {
		all, err := f.trainWhole(some, members)
		if err != nil {
			return nil, nil, whole, steps, nil, err
		}
		one = &all
		f.tellProgress(joining, 1)
		squares = f.mixed(one, one.scores, (*trained).bySquares, f.share)
		logits = judged{}
		if one.logits != nil && !slices.ContainsFunc(f.leaves, func(l trained) bool { return l.logits == nil }) {
			logits = f.mixed(one, one.logits, (*trained).byLogits, f.logisticShare)
			_, ofTree, ofAll := f.heldBy(*one, one.later, (*trained).byLater)
			logits.later = mix(ofTree, ofAll, logits.share)
		}
	}
	best, logistic, steps, err := f.stepped(some, squares, logits)
	if err == nil && logistic {
		err = f.byLogistic(one)
	}
	if err != nil {
		return nil, nil, whole, steps, nil, err
	}
	switch {
	case best.share == 1:
		leaves, tree = []Leaf{one.Leaf}, nil
	case best.share > 0:
		whole = Whole{one.Leaf, best.share}
	}
	return tree, leaves, whole, steps, f.spread(tree, len(leaves), squares, best), nil
}

// judged are scores of held-out rows by a mean of the tree and of machines for all rows, which have a share of it.
type judged struct {
	held   []int
	scores []float64
	later  []float64 // if they are logits, by machines that were trained on all rows but the judges
	share  float64
}

// mix turns a into the mean of a and b, which has the given share of it.
func mix(a, b []float64, share float64) []float64 {
	for i, v := range b {
		a[i] += float64(share * (v - a[i]))
	}
	return a
}

// mixed is the best mean of the scores by the tree and by machines for all rows, of the held-out rows that both have scores of.
func (f *fitting) mixed(one *trained, scores []float64, of func(*trained) []float64,
	best func(held []int, ofTree, ofAll []float64) float64) judged {
	held, ofTree, ofAll := f.heldBy(*one, scores, of)
	share := best(held, ofTree, ofAll)
	switch {
	case share < leastShare:
		share = 0
	case share > mostShare:
		share = 1
	}
	mix(ofTree, ofAll, share)
	return judged{held, ofTree, ofTree, share}
}

// bySquares, byLogits and byLater are scores of held-out rows.
func (t *trained) bySquares() []float64 { return t.scores }
func (t *trained) byLogits() []float64  { return t.logits }
func (t *trained) byLater() []float64   { return t.later }

// tell puts scores of held-out rows into the report if they are wanted.
func (f *fitting) tell(held []int, scores []float64) {
	if f.opt.Held {
		f.report.Held, f.report.Scores = held, scores
	}
}

// heldBy are the held-out rows of machines for all rows that all their leaves held out, too, with the scores by the tree and
// by these machines. A leaf that could not be divided holds out some of its rows only.
func (f *fitting) heldBy(one trained, scores []float64, of func(*trained) []float64) (held []int, ofTree, ofAll []float64) {
	var shares []share
	sum := make([]float64, f.outputs)
next:
	for h, i := range one.held {
		clear(sum)
		shares = f.tree.route(shares[:0], f.x.Row(i), 0)
		for _, s := range shares {
			leaf := &f.leaves[s.leaf]
			at, ok := slices.BinarySearch(leaf.held, i)
			if !ok {
				continue next
			}
			for t := range sum {
				sum[t] += float64(float64(s.of) * of(leaf)[at*f.outputs+t])
			}
		}
		held = append(held, i)
		ofTree = append(ofTree, sum...)
		ofAll = append(ofAll, scores[h*f.outputs:][:f.outputs]...)
	}
	return held, ofTree, ofAll
}

// share is that of machines for all rows, between 0 and 1, with which the mean of them and the tree has the smallest squared
// error Σ w (y - (1-a)t - av)² on held-out rows, with the scores t of the tree and v of these machines: the a where the
// derivative is 0.
func (f *fitting) share(held []int, ofTree, ofAll []float64) float64 {
	above, below := 0.0, 0.0
	for h, i := range held {
		w := 1.0
		if f.weights != nil {
			w = f.weights[i]
		}
		for t := range f.outputs {
			of := ofTree[h*f.outputs+t]
			d := ofAll[h*f.outputs+t] - of
			above += float64(w * (f.y[i*f.outputs+t] - of) * d)
			below += float64(w * d * d)
		}
	}
	if !(below > 0) {
		return 0
	}
	return min(1, max(0, above/below))
}
