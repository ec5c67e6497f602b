package metric

import (
	"context"
	"errors"
	"math"
	"strconv"

	"mercer/internal/solve/landmarks"
	"mercer/kernel"
	"mercer/matrix"
)

// fit trains the machines with a metric, nil being plain distances, and returns the best on held-out rows. If the one of the width to begin
// with is far worse than that of the best metric so far, no other width is tried.
func (l *learner) fit(ctx context.Context, by *Metric, directions []int) (best *function, told Round, err error) {
	var works [2]Work
	train, held := matrix.Rows{Dense: l.train.x}, matrix.Rows{Dense: l.held.x}
	if by != nil {
		train, held = by.Apply(train, &works[0]), by.Apply(held, &works[1])
	}
	z := matrix.Pick(train, l.landmarks).Dense
	kind := l.opt.Kernel.Kind()
	median, err := kernel.MedianGamma(train, l.opt.Seed, kind.Name())
	if errors.Is(err, kernel.ErrEqual) { // any γ will do
		median, err = 1, nil
	}
	if err != nil {
		return nil, told, err
	}
	told.Error = math.Inf(1)
	hopeless, placed := false, false // no other width; the kernel's arguments are there
	try := func(at int) (bool, error) {
		if hopeless {
			return false, nil
		}
		length := l.opt.Lengths[at]
		k := l.opt.Kernel
		factor := rounded(kind.GammaOfLength(length))
		k.Gamma = median * factor
		m, err := newMachine(ctx, k, z, train.Dense, held.Dense, l, placed)
		if err != nil {
			return false, err
		}
		placed = true
		better := false
		take := func(e int) (squared float64, err error) {
			alpha := m.ridge.Solve(ctx, lambdas[e], m.ridge.Landmarks())
			if alpha == nil {
				return math.Inf(1), ctx.Err()
			}
			scores, squared, wrong := m.heldOut(alpha)
			if squared < told.Error {
				told = Round{Error: squared, Wrong: wrong, Length: length, Gamma: factor, Lambda: lambdas[e]}
				best = &function{kernel: k, landmarks: z, alpha: alpha, outputs: l.outputs, held: scores, seed: l.opt.Seed}
				l.lambda, better = e, true
			}
			return squared, nil
		}
		before := told.Error
		squared, err := take(l.lambda)
		if err != nil {
			return false, err
		}
		hopeless = l.hopeless > 0 && squared > l.hopeless
		if squared > worseWidth*before { // no other λ
			return false, nil
		}
		e, err := m.bestLambda(ctx, l.lambda)
		if err == nil && e != l.lambda {
			_, err = take(e)
		}
		return better, err
	}
	if l.width, err = valley(len(l.opt.Lengths), l.width, directions, try); err != nil {
		return nil, told, err
	}
	if best == nil {
		return nil, told, errors.New("no machine for the metric could be trained: the kernel of the rows is singular")
	}
	return best, told, nil
}

// worseWidth is the ratio of errors from which no other λ is tried for a width, and worseMetric that from which no other width is tried for
// a metric.
const (
	worseWidth  = 1.02
	worseMetric = 1.05
)

// both are the directions in which widths are searched: first to wider ones, and to narrower ones if the first of those is no better.
var both = []int{1, -1}

// directionsOf are those of a round: both in the first, then every other time one in turn, as the best width changes little from one
// round to the next.
func directionsOf(round int) []int {
	switch {
	case round == 0:
		return both
	case round%4 == 2:
		return both[1:]
	case round%4 == 0:
		return both[:1]
	}
	return nil
}

// valley looks for the best of n choices: from start on in the first direction while they are better, and if the first
// step was not, in the next. try says whether a choice is better than all before.
func valley(n, start int, directions []int, try func(i int) (better bool, err error)) (best int, err error) {
	best = start
	if _, err := try(start); err != nil {
		return best, err
	}
	for _, step := range directions {
		for i := best + step; i >= 0 && i < n; i += step {
			better, err := try(i)
			if err != nil {
				return best, err
			}
			if !better {
				break
			}
			best = i
		}
		if best != start {
			break
		}
	}
	return best, nil
}

// rounded is v to four digits, which are readable and lose nothing here.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return v
}

// lambdas are the λ that are tried, with k(x, x) = 1.
var lambdas = []float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100}

// machine is ridge regression on the landmarks by one kernel.
type machine struct {
	l     *learner
	ridge *landmarks.Ridge
	held  []float32 // the kernel of held-out rows and landmarks
	rows  []float32 // that of a block of rows

	trainRaw, heldRaw landmarks.Raw // of wide rows
}

// newMachine computes the sums of a machine, in the memory of the one before, which is not needed any more. That the rows are placed says that
// they are those of the machine before, whose kernel had another width.
func newMachine(ctx context.Context, k kernel.Kernel, z, train, held *matrix.Dense, l *learner, placed bool) (_ *machine, err error) {
	a := l.room
	wide := l.wide()
	switch {
	case a == nil:
		a = &machine{l: l, ridge: new(landmarks.Ridge)}
		err = a.ridge.Begin(k, z, l.outputs, true)
		l.room = a
	case !wide:
		err = a.ridge.Reset(k, z)
	case !placed:
		err = a.ridge.Place(k, z)
	}
	if err != nil {
		return nil, err
	}
	if wide {
		if !placed {
			a.ridge.Raw(&a.trainRaw, train)
			a.ridge.Raw(&a.heldRaw, held)
		}
		if err := a.ridge.Widen(k, &a.trainRaw, l.landmarks); err != nil {
			return nil, err
		}
		a.held = a.ridge.RawValues(a.held, &a.heldRaw, 0, held.Rows)
	} else {
		a.held = a.ridge.Values(a.held, held)
	}
	const block = 2048
	for i := 0; i < train.Rows; i += block {
		j := min(i+block, train.Rows)
		if wide {
			a.rows = a.ridge.RawValues(a.rows, &a.trainRaw, i, j)
		} else {
			a.rows = a.ridge.Values(a.rows, train.Slice(i, j))
		}
		var weights []float64
		if l.train.weights != nil {
			weights = l.train.weights[i:j]
		}
		if err := a.ridge.Add(ctx, a.rows, l.train.y[i*l.outputs:j*l.outputs], weights); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// rawFrom is the number of dimensions from which distances are kept for all widths: 8 bytes for each row and landmark, for what takes longer
// than an exponential.
const rawFrom = 64

// wide says whether distances are kept for all widths. Those of cauchy depend on the width.
func (l *learner) wide() bool {
	falling, ok := l.opt.Kernel.Falling()
	return l.d >= rawFrom && (l.opt.Kernel.Smooth() || ok && falling.Absolute)
}

// bestLambda looks for the λ with the smallest error on held-out rows, from one on.
func (a *machine) bestLambda(ctx context.Context, from int) (int, error) {
	least := math.Inf(1)
	return valley(len(lambdas), from, []int{1, -1}, func(e int) (bool, error) {
		alpha := a.ridge.Solve(ctx, lambdas[e], a.ridge.LambdaLandmarks())
		if alpha == nil {
			return false, ctx.Err()
		}
		_, squared, _ := a.heldOut(alpha)
		better := squared < least
		least = min(least, squared)
		return better, nil
	})
}

// heldOut is the scores of held-out rows, less the mean, the squared error on held-out rows divided by that of the mean, and the share of wrong
// classes.
func (a *machine) heldOut(alpha []float64) (scores []float64, squared, wrong float64) {
	l, k := a.l, a.l.outputs
	n := l.held.x.Rows
	scores = a.ridge.Scores(a.held, alpha)
	sum, all, missed, total := 0.0, 0.0, 0.0, 0.0
	for i := range n {
		w := l.held.weight(i)
		total += w
		y, s := l.held.y[i*k:][:k], scores[i*k:][:k]
		for t, v := range y {
			sum += float64(w * (v - s[t]) * (v - s[t]))
			all += float64(w * v * v)
		}
		if l.opt.Classes && l.class(y) != l.class(s) {
			missed += w
		}
	}
	if all == 0 || total == 0 {
		return scores, sum, 0
	}
	return scores, sum / all, missed / total
}

// class is the class for scores from which the mean was subtracted.
func (l *learner) class(scores []float64) int {
	if l.outputs == 1 {
		if scores[0]+l.mean[0] > 0 {
			return 1
		}
		return 0
	}
	best := 0
	for t, s := range scores {
		if s+l.mean[t] > scores[best]+l.mean[best] {
			best = t
		}
	}
	return best
}
