package trees

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/landmarks"
	"mercer/matrix"
)

// Options say how Fit trains.
type Options struct {
	// Logistic asks for the logistic loss of classes, whose targets are ±1 for one output, and otherwise 1 for one of the outputs. Scores are
	// log-odds then, or logarithms of probabilities but for a number.
	Logistic bool

	// Trees is the number of trees; 0 means as many as held-out rows ask for, at most mostTrees.
	Trees int

	Seed uint64

	// Progress, if not nil, is told now and then the share of the trees, of as many as there are at most.
	Progress func(share float64)
}

const (
	rate      = 0.05 // of a tree's values that is added; by squared error of the first one's, which grows to twice as much
	rateTrees = 200  // until there are so many: where few trees do, small steps are better, and where many are asked for, larger ones are as good
	ridge     = 3.0  // λ of a leaf's value, in rows
	mostTrees = 1000
	patience  = 50  // trees without a smaller loss of held-out rows
	drawn     = 0.8 // of the rows, that choose the questions of a tree

	// Questions for many outputs are chosen by sums of their gradients with random signs (Iosipoi and Vakhrushev 2022), anew for each tree.
	mostSketches = 4

	leastShare = 1e-6 // of a class, to begin with

	// Wide rows have this many columns, drawn for each tree, to ask for.
	mostColumns = 128
)

// Fit trains trees on the rows main of x by gradient boosting (Friedman 2001, 2002) with Newton's steps for the values of leaves, until
// the loss of the rows held stops to fall, and returns as many trees as have the smallest, with their scores of the rows others, len(others)×outputs.
// Targets y and weights (nil: all 1) are those of all rows of x. The result depends on the arguments alone, not on the number of threads.
//
// Time: O(n·min(d, 128)·min(K, 4) + n·K) for each tree of K outputs, and O(d·n·log n) once. Memory: Bytes.
func Fit(ctx context.Context, x *matrix.Dense, main, held, others []int, y []float64, outputs int, weights []float64, opt Options) (*Trees, []float64, error) {
	if outputs < 1 || len(y) != x.Rows*outputs || weights != nil && len(weights) != x.Rows || len(main) == 0 {
		return nil, nil, fmt.Errorf("trees: %d rows with %d targets of %d outputs and %d weights", x.Rows, len(y), outputs, len(weights))
	}
	if opt.Trees == 0 && len(held) == 0 {
		return nil, nil, errors.New("trees: without held-out rows it takes a number of trees")
	}
	b := newBoosting(x, main, held, y, outputs, weights, opt)
	most := opt.Trees
	if most == 0 {
		most = mostTrees
	}
	best, least := 0, math.Inf(1)
	if opt.Trees == 0 {
		least = b.loss()
	}
	if len(b.vary) == 0 { // no question tells rows apart
		most = 0
	}
	for t := range most {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if opt.Progress != nil && t%16 == 0 {
			opt.Progress(float64(t) / float64(most))
		}
		b.grow(t)
		if opt.Trees > 0 {
			best = t + 1
		} else if loss := b.loss(); loss < least {
			best, least = t+1, loss
		} else if t+1-best >= patience {
			break
		}
	}
	b.Columns, b.Thresholds, b.Values = b.Columns[:best*Levels], b.Thresholds[:best*Levels], b.Values[:best*Leaves*outputs]
	scores := make([]float64, len(others)*outputs)
	for r, i := range others {
		b.Add(scores[r*outputs:][:outputs], x.Slice(i, i+1), 1)
	}
	return &b.Trees, scores, nil
}

// Bytes is the memory of Fit for n rows of d columns beside the rows, at most: two bytes for each number; targets, scores, derivatives and sums;
// histograms; and the trees, twice while they grow.
func Bytes(n, d, outputs int) int64 {
	k, s := int64(outputs), int64(min(outputs, mostSketches)+1)
	return int64(n)*(2*int64(d)+40*k+16*s+20) + int64(min(d, mostColumns))*Leaves/2*mostBins*8*s + 2*mostTrees*(4*Leaves*k+8*Levels)
}

// boosting is the state of Fit. Its rows are those of main, and then those held.
type boosting struct {
	Trees
	opt     Options
	main    int
	bins    *binned
	y       []float64
	weights []float64
	mean    float64 // weight of a row

	scores           []float64 // rows×outputs
	slopes, curves   []float64 // derivatives of the loss, main×outputs
	sketches         int
	sums             []float64                      // for each row of main: its sketches of gradients, and its weight; 0 if it was not drawn
	rows, aside      []int32                        // that were drawn, leaf by leaf of a level; room for some of them
	ends             [Leaves]struct{ from, to int } // of the leaves in rows
	totals           []float64                      // of sums for each leaf of a level
	leaf             []uint8                        // of all rows
	histograms       []float64                      // for each column drawn, leaf and bin: what sums has, added up
	gains            []float64                      // of the best question for each column
	questions        []uint8                        // its bin
	vary             []int                          // the columns of more than one bin
	columns          []int                          // those that were drawn of them
	groups           [][]int                        // of places in columns, whose sums are found at the same time
	leafSums, leafHs []float64
}

func newBoosting(x *matrix.Dense, main, held []int, y []float64, outputs int, weights []float64, opt Options) *boosting {
	rows := append(append(make([]int, 0, len(main)+len(held)), main...), held...)
	b := &boosting{Trees: Trees{Dim: x.Cols, Outputs: outputs, Start: make([]float64, outputs)}, opt: opt, main: len(main), bins: bin(x, rows, len(main))}
	b.y, b.weights = make([]float64, 0, len(rows)*outputs), make([]float64, len(rows))
	for r, i := range rows {
		b.y = append(b.y, y[i*outputs:][:outputs]...)
		b.weights[r] = 1
		if weights != nil {
			b.weights[r] = weights[i]
		}
	}
	for c, tops := range b.bins.tops {
		if len(tops) > 0 {
			b.vary = append(b.vary, c)
		}
	}
	b.begin()
	b.scores = make([]float64, len(rows)*outputs)
	for i := range b.scores {
		b.scores[i] = b.Start[i%outputs]
	}
	b.slopes, b.curves = make([]float64, len(main)*outputs), make([]float64, len(main)*outputs)
	b.sketches = min(outputs, mostSketches)
	b.sums, b.leaf = make([]float64, len(main)*(b.sketches+1)), make([]uint8, len(rows))
	b.rows, b.aside, b.totals = make([]int32, 0, len(main)), make([]int32, len(main)), make([]float64, Leaves*(b.sketches+1))
	b.histograms = make([]float64, min(x.Cols, mostColumns)*Leaves/2*mostBins*(b.sketches+1))
	b.gains, b.questions = make([]float64, x.Cols), make([]uint8, x.Cols)
	b.leafSums, b.leafHs = make([]float64, Leaves*outputs), make([]float64, Leaves*outputs)
	return b
}

// begin finds the constant scores with the smallest loss.
func (b *boosting) begin() {
	k, total := b.Outputs, 0.0
	for i, v := range b.y[:b.main*k] {
		switch {
		case !b.opt.Logistic:
			b.Start[i%k] += float64(b.weights[i/k] * v)
		case v == 1:
			b.Start[i%k] += b.weights[i/k]
		}
	}
	for _, w := range b.weights[:b.main] {
		total += w
	}
	b.mean = total / float64(b.main)
	for t := range b.Start {
		b.Start[t] /= total
		if b.opt.Logistic {
			p := min(1-leastShare, max(leastShare, b.Start[t]))
			b.Start[t] = math.Log(p)
			if k == 1 {
				b.Start[t] -= math.Log1p(-p)
			}
		}
	}
}

// loss is that of the rows held.
func (b *boosting) loss() (sum float64) {
	k := b.Outputs
	scores, y, weights := b.scores[b.main*k:], b.y[b.main*k:], b.weights[b.main:]
	if b.opt.Logistic {
		return landmarks.LogLoss(scores, y, weights, k)
	}
	for i, v := range scores {
		sum += float64(weights[i/k] * (v - y[i]) * (v - y[i]))
	}
	return sum
}

// differentiate computes the derivatives of the loss of the rows of main.
func (b *boosting) differentiate() {
	k := b.Outputs
	vec.Parallel(b.main, 256, func(lo, hi int) {
		scores, y, slopes, curves := b.scores[lo*k:hi*k], b.y[lo*k:hi*k], b.slopes[lo*k:hi*k], b.curves[lo*k:hi*k]
		if !b.opt.Logistic {
			for i, v := range scores {
				w := b.weights[lo+i/k]
				slopes[i], curves[i] = w*(v-y[i]), w
			}
			return
		}
		landmarks.LogSlopes(slopes, nil, scores, y, k)
		times := 1.0
		if k > 1 {
			times = float64(k) / float64(k-1)
		}
		for r := range hi - lo {
			w, g, h := b.weights[lo+r], slopes[r*k:][:k], curves[r*k:][:k]
			for t, slope := range g { // of a probability p it is p, or p - 1, or for one output -y(1-p)
				h[t] = w * times * math.Abs(slope) * (1 - math.Abs(slope))
				g[t] = w * slope
			}
		}
	})
}

// draw chooses the rows and the columns for the questions of tree t, and sketches the gradients of these rows.
func (b *boosting) draw(t int) {
	stream := random.New(b.opt.Seed, "trees.draw", uint64(t))
	b.columns = b.columns[:0]
	if len(b.vary) > mostColumns {
		for _, at := range stream.Perm(len(b.vary))[:mostColumns] {
			b.columns = append(b.columns, b.vary[at])
		}
	} else {
		b.columns = append(b.columns, b.vary...)
	}
	b.group()
	k := b.Outputs
	signs := make([]float64, b.sketches*k)
	for i := range signs {
		signs[i] = stream.Sign()
	}
	b.rows = b.rows[:0]
	stride := b.sketches + 1
	if k > mostSketches {
		vec.Pack64(k, mostSketches, signs, mostSketches).Multiply(b.main, b.slopes, k, b.sums, stride, nil)
	}
	for r := range b.main {
		to := b.sums[r*stride:][:stride]
		if stream.Uniform() >= drawn || b.weights[r] == 0 {
			clear(to)
			continue
		}
		b.rows = append(b.rows, int32(r))
		to[b.sketches] = b.weights[r]
		if k <= mostSketches {
			copy(to, b.slopes[r*k:][:k])
		}
	}
	b.ends[0].from, b.ends[0].to = 0, len(b.rows)
}

// atOnce is the number of columns whose sums are found at the same time: a row's sums are read once for all of them, and no addition waits
// for the one before it.
const atOnce = 4

// group divides the columns into groups; one with one bin for most rows is alone.
func (b *boosting) group() {
	b.groups = b.groups[:0]
	var many []int
	for at, c := range b.columns {
		if b.bins.others[c] != nil {
			b.groups = append(b.groups, []int{at})
		} else {
			many = append(many, at)
		}
	}
	b.groups = slices.AppendSeq(b.groups, slices.Chunk(many, atOnce))
}

// grow adds tree t.
func (b *boosting) grow(t int) {
	b.differentiate()
	b.draw(t)
	clear(b.leaf)
	for level := range Levels {
		column, question := b.ask(level)
		b.Columns, b.Thresholds = append(b.Columns, int32(column)), append(b.Thresholds, b.bins.tops[column][question])
		b.split(level, column, question)
	}
	b.settle()
}

// binAbove is 1 if a bin is above that of a question, and 0 if not.
func binAbove(bin, question uint8) uint8 { return (question - bin) >> 7 } // neither is more than mostBins

// split divides the leaves of a level by its question. The order of the rows drawn that are in one leaf stays.
func (b *boosting) split(level, column int, question uint8) {
	of := b.bins.of[column]
	for r, bin := range of {
		b.leaf[r] |= binAbove(bin, question) << level
	}
	for l := range 1 << level {
		ends := b.ends[l]
		rows, low, high := b.rows[ends.from:ends.to], 0, 0
		aside := b.aside[:len(rows)]
		for _, i := range rows {
			side := int(binAbove(of[i], question))
			rows[low], aside[high] = i, i // without a branch, which would be taken at random
			low, high = low+1-side, high+side
		}
		copy(rows[low:], aside[:high])
		b.ends[l].to = ends.from + low
		b.ends[l|1<<level].from, b.ends[l|1<<level].to = ends.from+low, ends.to
	}
}

// ask finds the question that divides the leaves of a level best: with the largest Σ |G|²/(W + λ) over the leaves after it, for sums G of
// gradients and W of weights.
func (b *boosting) ask(level int) (column int, question uint8) {
	if slices.ContainsFunc(b.columns, func(c int) bool { return b.bins.others[c] != nil }) {
		b.total(level)
	}
	vec.Parallel(len(b.groups), 1, func(lo, hi int) {
		for _, group := range b.groups[lo:hi] {
			if c := b.columns[group[0]]; b.bins.others[c] != nil {
				b.countOthers(b.sumsOf(group[0], 0), c, level)
			} else {
				b.count(group, level)
			}
			for _, at := range group {
				b.judge(at, level)
			}
		}
	})
	column = b.columns[0]
	for _, c := range b.columns {
		if b.gains[c] > b.gains[column] {
			column = c
		}
	}
	return column, b.questions[column]
}

// divide adds to each question's score what it is for one leaf, from the sums of its bins.
func (b *boosting) divide(scores, sums []float64) {
	stride, lambda := b.sketches+1, ridge*b.mean
	if stride == 2 {
		divideOne(scores, sums, lambda)
		return
	}
	var total, below [mostSketches + 1]float64
	for at := 0; at < len(sums); at += stride {
		for s, v := range sums[at:][:stride] {
			total[s] += v
		}
	}
	if total[b.sketches] == 0 {
		return
	}
	for q := range scores {
		for s, v := range sums[q*stride:][:stride] {
			below[s] += v
		}
		low, high := 0.0, 0.0
		for s := range b.sketches {
			low += float64(below[s] * below[s])
			high += float64((total[s] - below[s]) * (total[s] - below[s]))
		}
		scores[q] += low/(below[b.sketches]+lambda) + high/(total[b.sketches]-below[b.sketches]+lambda)
	}
}

// divideOne is divide for one sketch, G and W of each bin.
func divideOne(scores, sums []float64, lambda float64) {
	var g, w, belowG, belowW float64
	for at := 0; at+1 < len(sums); at += 2 {
		g, w = g+sums[at], w+sums[at+1]
	}
	if w == 0 {
		return
	}
	sums = sums[:2*len(scores)]
	for q := range scores {
		belowG, belowW = belowG+sums[2*q], belowW+sums[2*q+1]
		scores[q] += float64(belowG*belowG)/(belowW+lambda) + float64((g-belowG)*(g-belowG))/(w-belowW+lambda)
	}
}

// settle finds the values of the leaves of the tree that has just been grown by a step of Newton's, and adds them to the scores of all rows.
func (b *boosting) settle() {
	k := b.Outputs
	clear(b.leafSums)
	clear(b.leafHs)
	curves := make([]float64, k)
	for r := range b.main {
		at := int(b.leaf[r]) * k
		if k > mostSketches {
			vec.Axpy64(1, b.slopes[r*k:][:k], b.leafSums[at:][:k])
			vec.Axpy64(1, b.curves[r*k:][:k], b.leafHs[at:][:k])
			continue
		}
		g, h := b.leafSums[at:][:k], b.leafHs[at:][:k]
		for t := range k {
			g[t] += b.slopes[r*k+t]
			h[t] += b.curves[r*k+t]
		}
	}
	for i, h := range b.leafHs {
		curves[i%k] += h
	}
	at := len(b.Values)
	rate := rate
	if !b.opt.Logistic {
		rate += float64(rate * min(1, float64(b.Len())/rateTrees))
	}
	for i, g := range b.leafSums {
		v := 0.0
		if below := b.leafHs[i] + ridge*curves[i%k]/float64(b.main); below > 0 {
			v = -rate * g / below
		}
		b.Values = append(b.Values, float32(v))
	}
	values := b.Values[at:]
	for r, l := range b.leaf {
		to := b.scores[r*k:][:k]
		if k > mostSketches {
			vec.AxpyWide(1, values[int(l)*k:][:k], to)
			continue
		}
		for t, v := range values[int(l)*k:][:k] {
			to[t] += float64(v)
		}
	}
}
