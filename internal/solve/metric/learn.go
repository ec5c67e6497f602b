package metric

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/landmarks"
	"mercer/kernel"
	"mercer/matrix"
)

// Forms are the forms of a metric: a weight for each dimension, a matrix, and a matrix of low rank.
var Forms = []string{"diagonal", "full", "low-rank"}

// Options say how Learn learns.
type Options struct {
	// Kernel is the kernel of the machines; its γ is ignored. It must be a kernel of distances: rbf,
	// laplacian, cauchy or matern. A full or low-rank metric needs one of ‖x-y‖₂.
	Kernel kernel.Kernel

	// Form is one of Forms; "" means diagonal.
	Form string

	// Shape is that of the metrics. Shapes asks for a search of the shape in the end, for metrics that are plain before and
	// not of low rank.
	Shape  Shape
	Shapes bool

	// Rank is the largest number of axes of low-rank; 0 means a quarter of the dimensions, at most 16.
	Rank int

	// Lengths are the widths of the kernel that are tried, as multiples of the median distance, ascending; nil
	// means powers of 1.7 from about 0.2 to 14. The first round goes from the one nearest to Width to wider and narrower ones while
	// these are better. Every other later round goes from the width of the last one in one direction, wider and narrower in turn.
	Lengths []float64

	// Start is the metric of the first machine, nil for plain distances, Width the length to try first, and Lambda
	// the λ; 0 means 1 and 0.1. They may be those of a machine on similar rows.
	Start  *Metric
	Width  float64
	Lambda float64

	// Known, if not nil, is the best machine with Start on the same rows and landmarks. It is not trained again: only shapes are looked for, and
	// nothing is learned if none is better.
	Known *Round

	// Rounds bounds how often the metric is learned again from a machine with the last one; 0 means 5.
	// It stops after two rounds in a row that do not lower the held-out error by a hundredth, and takes up to three times
	// as many rounds while each lowers it by a tenth.
	Rounds int

	// Rows and Landmarks bound the rows that machines are trained on, and the number of their landmarks; 0
	// means 8,000 and 1,000.
	Rows, Landmarks int

	// Held are the rows that judge, of which at most 4,000 are taken; nothing else is learned from any of them. nil means a fifth of
	// the rows, drawn.
	Held []int

	// Classes says that the targets are codes of classes, where the largest output is that of the row's
	// class (or its sign if there is one output), so that reports include the error rate.
	Classes bool

	// WithDirection asks for Learned.Direction.
	WithDirection bool

	Seed uint64

	// Progress, if not nil, is called in each round.
	Progress func(round, rounds int)
}

// Axes is the largest number of dimensions after the metric for rows of d dimensions.
func (opt Options) Axes(d int) int {
	switch {
	case opt.Form != "low-rank":
		return d
	case opt.Rank > 0:
		return min(opt.Rank, d)
	}
	return max(1, min(16, d/4))
}

// Report says what Learn tried.
type Report struct {
	Form string `json:"form"`

	// Rows, HeldOut and Landmarks are the number of rows that machines were trained on, the number that judged them,
	// and the number of their landmarks.
	Rows      int `json:"rows"`
	HeldOut   int `json:"held_out"`
	Landmarks int `json:"landmarks"`

	// Rounds are the machines, the one with plain distances (or those of Start) first, and last one whose metric has another
	// shape, if that was looked for and is better.
	Rounds []Round `json:"rounds"`

	// Best is the index of the round whose metric was kept; 0 means plain distances (or those of Start).
	Best int `json:"best"`
}

// Lines describes the training, for display.
func (r *Report) Lines() []string {
	last, shape := len(r.Rounds)-1, ""
	if s := r.Shape(); s != nil {
		shape = ", " + s.String()
	}
	kept := fmt.Sprintf("%s, learned in %d rounds", r.Form, r.Best)
	if r.Best == 1 {
		kept = r.Form + ", learned in one round"
	}
	switch {
	case shape != "":
		kept = fmt.Sprintf("%s, learned in %d rounds%s", r.Form, last-1, shape)
	case r.Best < last:
		kept += fmt.Sprintf(" (of %d)", last)
	}
	if r.Best == 0 {
		kept = fmt.Sprintf("none: of plain distances and %s ones the plain did best", r.Form)
	}
	lines := []string{fmt.Sprintf("%s, from %d rows, %d landmarks", kept, r.Rows, r.Landmarks)}
	if r.Best > 0 {
		text := fmt.Sprintf("1 - R² of %d other rows from %.3g to %.3g", r.HeldOut, r.Rounds[0].Error, r.Rounds[r.Best].Error)
		if a, b := r.Rounds[0].Wrong, r.Rounds[r.Best].Wrong; a != 0 || b != 0 {
			text = fmt.Sprintf("errors of %d other rows from %.2f %% to %.2f %%", r.HeldOut, 100*a, 100*b)
		}
		lines = append(lines, text)
	}
	return lines
}

// Shape is that of the metric that was kept, nil if none was looked for or the plain one is best.
func (r *Report) Shape() *Shape {
	if r == nil || r.Best < 0 || r.Best >= len(r.Rounds) {
		return nil
	}
	return r.Rounds[r.Best].Shape
}

// Round is the best machine with one metric.
type Round struct {
	// Error is the squared error on held-out rows divided by that of predicting the mean, and Wrong the share
	// of wrongly predicted classes.
	Error float64 `json:"error"`
	Wrong float64 `json:"wrong,omitempty"`

	// Length is the kernel's width as a multiple of the median distance, Gamma the factor of γ relative to that at the
	// median distance, and Lambda the ridge's λ.
	Length float64 `json:"length"`
	Gamma  float64 `json:"gamma_factor"`
	Lambda float64 `json:"lambda"`

	// Shape is that of the metric if it was looked for and is not the plain one.
	Shape *Shape `json:"shape,omitempty"`
}

// Learned is what Learn found.
type Learned struct {
	// Metric is nil if plain distances did best.
	Metric *Metric
	Report *Report

	// Direction is the direction of unit length along which the best machine's answers change most, in the
	// space of the rows that were given: the leading eigenvector of the average outer product of its gradients.
	// nil if they do not change.
	Direction []float64

	// Held are the numbers of the rows that judged, ascending, and Scores what the best machine says of them,
	// len(Held)×outputs.
	Held   []int
	Scores []float64
}

const (
	usualRounds    = 5
	usualRows      = 8000
	usualLandmarks = 1000
	mostHeld       = 4000
	widest         = 4096 // dimensions of a matrix
	farBetter      = 0.9
)

// Learn learns a metric for rows x, which are scaled, and targets y, n×outputs row by row, with weights
// (nil: all 1). The result depends on its arguments alone, not on the number of threads.
//
// A machine is ridge regression on L landmarks; its width and λ are those with the smallest error on held-out
// rows. Time per round: O(n·L·(L + d·outputs)); memory: 4nL + 16L² bytes and, for a matrix, 16d².
func Learn(ctx context.Context, x matrix.Rows, y []float64, outputs int, weights []float64, opt Options) (*Learned, error) {
	l, err := newLearner(x, y, outputs, weights, opt)
	if err != nil {
		return nil, err
	}
	out := &Learned{Metric: opt.Start, Report: l.report, Held: l.heldRows}
	var best *function
	if opt.Known != nil {
		l.report.Rounds = []Round{*opt.Known}
	} else if best, err = l.rounds(ctx, out); err != nil {
		return nil, err
	}
	if opt.Shapes && out.Metric != nil {
		round := l.report.Rounds[l.report.Best]
		if out.Metric, best, round, err = l.shape(ctx, out.Metric, best, round); err != nil {
			return nil, err
		}
		if round.Shape != nil {
			l.report.Best = len(l.report.Rounds)
			l.report.Rounds = append(l.report.Rounds, round)
		}
	}
	if best == nil {
		return nil, nil
	}
	for i, v := range best.held {
		best.held[i] = v + l.mean[i%outputs]
	}
	out.Scores = best.held
	if opt.WithDirection {
		out.Direction, err = l.direction(ctx, best, out.Metric)
	}
	return out, err
}

// rounds trains machines, each with the metric that the one before asks for, and puts the best metric into out.
func (l *learner) rounds(ctx context.Context, out *Learned) (best *function, err error) {
	now, stale, fast := l.opt.Start, 0, false // consecutive rounds that were no better; the last was far better
	for round := 0; ; round++ {
		if l.opt.Progress != nil {
			l.opt.Progress(round, l.opt.Rounds)
		}
		report := l.report
		if round > 0 {
			l.hopeless = worseMetric * report.Rounds[report.Best].Error
		}
		f, told, err := l.fit(ctx, now, directionsOf(round))
		if err != nil {
			return nil, err
		}
		report.Rounds = append(report.Rounds, told)
		stale++
		if least := report.Rounds[report.Best].Error; round == 0 || told.Error < least {
			if round == 0 || told.Error < 0.99*least {
				stale = 0
			}
			fast = told.Error < farBetter*least
			best, report.Best, out.Metric = f, round, now
		}
		if round >= l.opt.Rounds && (!fast || stale > 0 || round >= 3*l.opt.Rounds) || stale == 2 {
			return best, nil
		}
		if now, err = l.next(ctx, f, now); err != nil {
			return nil, err
		}
		if now == nil { // nothing changes the answer
			return best, nil
		}
	}
}

// withDefaults fills in defaults for zero values and checks the rest, for rows of d dimensions.
func (opt Options) withDefaults(d int) (Options, error) {
	if opt.Form == "" {
		opt.Form = "diagonal"
	}
	if opt.Rounds == 0 {
		opt.Rounds = usualRounds
	}
	if opt.Rows == 0 {
		opt.Rows = usualRows
	}
	if opt.Landmarks == 0 {
		opt.Landmarks = usualLandmarks
	}
	if opt.Lengths == nil {
		for e := -3; e <= 5; e++ {
			opt.Lengths = append(opt.Lengths, math.Pow(1.7, float64(e)))
		}
	}
	if opt.Width == 0 {
		opt.Width = 1
	}
	if opt.Lambda == 0 {
		opt.Lambda = 0.1
	}
	if opt.Form == "low-rank" {
		opt.Rank = opt.Axes(d)
	}
	kind := opt.Kernel.Kind()
	opt.Kernel.Gamma = 1
	switch {
	case !slices.Contains(Forms, opt.Form):
		return opt, fmt.Errorf("metric %q is not known; known are diagonal, full and low-rank", opt.Form)
	case opt.Rounds < 0 || opt.Rows < 10 || opt.Landmarks < 1 || opt.Rank < 0:
		return opt, fmt.Errorf("a metric by %d rounds of %d rows and %d landmarks, of rank %d: "+
			"it takes 10 rows or more, and positive numbers", opt.Rounds, opt.Rows, opt.Landmarks, opt.Rank)
	case kind == nil:
		return opt, opt.Kernel.Validate()
	case kind.MedianOf() != "distance" || !math.IsInf(float64(opt.Kernel.Lowest()), -1):
		return opt, fmt.Errorf("a metric is for kernels of distances such as rbf, laplacian and matern; %s is none", kind.Name())
	case opt.Form != "diagonal" && !opt.Kernel.Smooth():
		return opt, fmt.Errorf("the kernel %s has distances along the dimensions, "+
			"for which there are diagonal metrics only; matern has others", kind.Name())
	case opt.Form != "diagonal" && d > widest:
		return opt, fmt.Errorf("a %s metric of %d dimensions would take a matrix of their square; "+
			"%d is the most; take a diagonal one", opt.Form, d, widest)
	}
	if err := opt.Shape.check(); err != nil {
		return opt, err
	}
	if opt.Shapes && (opt.Form == "low-rank" || !opt.Shape.plain()) {
		return opt, errors.New("shapes are looked for of metrics that are plain, diagonal or full")
	}
	if opt.Start != nil {
		if in, _ := opt.Start.Dims(); in != d {
			return opt, fmt.Errorf("the metric to start with is for %d dimensions, the rows have %d", in, d)
		}
	}
	for i, length := range append([]float64{opt.Width, opt.Lambda}, opt.Lengths...) {
		if i > 2 && length <= opt.Lengths[i-3] {
			return opt, errors.New("the lengths must ascend")
		}
		if !(length > 0) || math.IsInf(length, 0) {
			return opt, fmt.Errorf("length %g is not a positive number", length)
		}
	}
	return opt, opt.Kernel.Validate()
}

// learner is the state of Learn.
type learner struct {
	opt     Options
	report  *Report
	d       int
	outputs int

	train, held part
	heldRows    []int // the numbers of held
	landmarks   []int // rows of train
	mean        []float64
	room        *machine // the last one

	hopeless      float64 // error of the first machine of a metric from which no other width is tried; 0: none
	width, lambda int     // where the search of the next machine begins, in Lengths and lambdas
}

// part are some of the rows.
type part struct {
	x       *matrix.Dense
	y       []float64 // minus the mean, n×outputs
	weights []float64 // nil: all 1
}

func newLearner(x matrix.Rows, y []float64, outputs int, weights []float64, opt Options) (*learner, error) {
	n, d := x.Len(), x.Dim()
	if len(y) != n*outputs || outputs < 1 || weights != nil && len(weights) != n {
		return nil, fmt.Errorf("%d rows with %d targets of %d outputs and %d weights", n, len(y), outputs, len(weights))
	}
	opt, err := opt.withDefaults(d)
	if err != nil {
		return nil, err
	}
	if n < 10 {
		return nil, fmt.Errorf("%d rows are too few to learn a metric from; it takes 10", n)
	}
	order := random.New(opt.Seed, "metric.rows").Perm(n)
	held, rest := order[:n/5], order[n/5:]
	if opt.Held != nil {
		if held, rest, err = divided(order, opt.Held); err != nil {
			return nil, err
		}
	}
	held, rest = held[:min(len(held), mostHeld)], rest[:min(len(rest), opt.Rows)]
	rows := len(rest)
	l := &learner{opt: opt, d: d, outputs: outputs, report: &Report{Form: opt.Form, Rows: rows, HeldOut: len(held)}}
	pick := func(some []int) part {
		slices.Sort(some)
		p := part{x: &matrix.Dense{}}
		if picked := matrix.Pick(x, some); picked.CSR != nil {
			picked.CSR.Densify(p.x)
		} else {
			p.x = picked.Dense
		}
		for _, i := range some {
			p.y = append(p.y, y[i*outputs:][:outputs]...)
			if weights != nil {
				p.weights = append(p.weights, weights[i])
			}
		}
		return p
	}
	l.heldRows = held
	l.held, l.train = pick(held), pick(rest)
	l.width, l.lambda = nearest(opt.Lengths, opt.Width), nearest(lambdas, opt.Lambda)
	l.landmarks = landmarks.Distinct(l.train.x, random.New(opt.Seed, "metric.landmarks").Perm(rows), opt.Landmarks)
	l.report.Landmarks = len(l.landmarks)
	return l, l.centre()
}

// divided are the rows of an order that are held out and the others, both in this order.
func divided(order, out []int) (held, rest []int, err error) {
	is := make([]bool, len(order))
	for _, i := range out {
		if i < 0 || i >= len(is) || is[i] {
			return nil, nil, fmt.Errorf("row %d is held out, which is none of %d rows, or there twice", i, len(is))
		}
		is[i] = true
	}
	for _, i := range order {
		if is[i] {
			held = append(held, i)
		} else {
			rest = append(rest, i)
		}
	}
	if len(held) == 0 || len(rest) < 5 {
		return nil, nil, fmt.Errorf("%d of %d rows are held out; it takes 1, and 5 others", len(held), len(order))
	}
	return held, rest, nil
}

// centre subtracts the mean of the training targets from all.
func (l *learner) centre() error {
	l.mean = make([]float64, l.outputs)
	total := 0.0
	for i := range l.train.x.Rows {
		w := l.train.weight(i)
		total += w
		for t, v := range l.train.y[i*l.outputs:][:l.outputs] {
			l.mean[t] += float64(w * v)
		}
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return errors.New("the weights of the rows for the metric are not positive numbers")
	}
	for t := range l.mean {
		l.mean[t] /= total
	}
	for _, p := range []*part{&l.train, &l.held} {
		for i := range p.y {
			p.y[i] -= l.mean[i%l.outputs]
		}
	}
	return nil
}

func (p *part) weight(i int) float64 {
	if p.weights == nil {
		return 1
	}
	return p.weights[i]
}

// next is the metric from the gradients of f, the machine that was fitted last, which uses the metric now: with u = Aᵀx, ∇_x f = A∇_u f.
func (l *learner) next(ctx context.Context, f *function, now *Metric) (*Metric, error) {
	if l.wide() {
		f.raw = &placed{&l.room.trainRaw, l.landmarks}
		defer func() { f.raw = nil }()
	}
	var work Work
	x := matrix.Rows{Dense: l.train.x}
	if now != nil {
		x = now.Apply(x, &work)
	}
	r := x.Dim()
	if l.opt.Form == "diagonal" {
		g := make([]float64, r)
		if err := f.outer(ctx, x.Dense, l.train.weights, g, true); err != nil {
			return nil, err
		}
		if now != nil {
			for j, w := range now.Weights {
				g[j] *= float64(w) * float64(w)
			}
		}
		return diagonalOf(g, l.opt.Shape), nil
	}
	g := make([]float64, r*r)
	if err := f.outer(ctx, x.Dense, l.train.weights, g, false); err != nil {
		return nil, err
	}
	if now != nil {
		g = around(now.Axes, g)
	}
	return axesOf(ctx, g, l.d, l.opt.Rank, l.opt.Shape), ctx.Err()
}

// nearest is the index of the number nearest to v by ratio.
func nearest(numbers []float64, v float64) int {
	at := 0
	for i, n := range numbers {
		if math.Abs(math.Log(n/v)) < math.Abs(math.Log(numbers[at]/v)) {
			at = i
		}
	}
	return at
}

// around is A·G·Aᵀ for A d×r and G r×r, of which only the upper triangle is read.
func around(a *matrix.Dense, g []float64) []float64 {
	d, r := a.Rows, a.Cols
	for i := range r {
		for j := range i {
			g[i*r+j] = g[j*r+i]
		}
	}
	wide := make([]float64, d*r)
	for i := range d {
		for j, v := range a.Row(i) {
			wide[i*r+j] = float64(v)
		}
	}
	ag, out := make([]float64, d*r), make([]float64, d*d)
	vec.GemmNT(d, r, r, wide, r, g, r, ag, r)
	vec.GemmNT(d, d, r, ag, r, wide, r, out, d)
	return out
}
