package metric

import (
	"context"
	"errors"
	"math"
	"strconv"

	"mercer/internal/vec"
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
	landmarks := matrix.Pick(train, l.landmarks).Dense
	kind := l.opt.Kernel.Kind()
	median, err := kernel.MedianGamma(train, l.opt.Seed, kind.Name())
	if errors.Is(err, kernel.ErrEqual) { // any γ will do
		median, err = 1, nil
	}
	if err != nil {
		return nil, told, err
	}
	told.Error = math.Inf(1)
	hopeless := false // no other width
	try := func(at int) (bool, error) {
		if hopeless {
			return false, nil
		}
		length := l.opt.Lengths[at]
		k := l.opt.Kernel
		factor := rounded(kind.GammaOfLength(length))
		k.Gamma = median * factor
		m, err := newMachine(ctx, k, landmarks, train.Dense, held.Dense, l)
		if err != nil {
			return false, err
		}
		better, first, settled := false, true, false // no other λ
		_, err = valley(len(lambdas), l.lambda, []int{1, -1}, func(e int) (bool, error) {
			if err := ctx.Err(); err != nil || settled {
				return false, err
			}
			alpha := m.solve(ctx, lambdas[e])
			if alpha == nil {
				return false, ctx.Err()
			}
			scores, squared, wrong := m.heldOut(alpha)
			if first {
				settled = squared > worseWidth*told.Error
				hopeless = l.least > 0 && squared > worseMetric*l.least
				first = false
			}
			if !(squared < told.Error) {
				return false, nil
			}
			told = Round{Error: squared, Wrong: wrong, Length: length, Gamma: factor, Lambda: lambdas[e]}
			best = &function{kernel: k, landmarks: landmarks, alpha: alpha, outputs: l.outputs, held: scores}
			l.lambda, better = e, true
			return true, nil
		})
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

// machine is ridge regression on the landmarks by one kernel:
//
//	(K_nmᵀWK_nm + λK_mm)α = K_nmᵀWy
type machine struct {
	l         *learner
	m         int
	square    []float64 // K_nmᵀWK_nm, upper triangle
	landmarks []float64 // K_mm
	right     []float64 // K_nmᵀWy, m×outputs
	held      []float32 // K of held-out rows and landmarks
	system    []float64

	rows []float32 // a block of K_nm
	y    []float64 // their targets
}

// newMachine computes the sums of a machine, in the memory of the one before, which is not needed any more.
func newMachine(ctx context.Context, k kernel.Kernel, landmarks, train, held *matrix.Dense, l *learner) (*machine, error) {
	against, err := kernel.NewAgainst(k, matrix.Rows{Dense: landmarks})
	if err != nil {
		return nil, err
	}
	m := landmarks.Rows
	const block = 2048
	a := l.room
	if a == nil {
		height := min(block, train.Rows)
		a = &machine{l: l, m: m, square: make([]float64, m*m), landmarks: make([]float64, m*m),
			right: make([]float64, m*l.outputs), system: make([]float64, m*m), held: make([]float32, held.Rows*m),
			rows: make([]float32, height*m), y: make([]float64, height*l.outputs)}
		l.room = a
	} else {
		clear(a.square)
		clear(a.right)
	}
	rows, y := a.rows, a.y
	values(against, held, a.held, nil)
	vec.Parallel(m, 64, func(lo, hi int) {
		work := make([]float64, 64*against.Work())
		for i := lo; i < hi; i += 64 {
			against.Rows(matrix.Rows{Dense: landmarks}, i, min(i+64, hi), a.landmarks[i*m:], work)
		}
	})
	for i := 0; i < train.Rows; i += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j := min(i+block, train.Rows)
		var roots []float64
		copy(y, l.train.y[i*l.outputs:j*l.outputs])
		if l.train.weights != nil {
			roots = make([]float64, j-i)
			for r := range roots {
				roots[r] = math.Sqrt(l.train.weights[i+r])
				for t := range l.outputs {
					y[r*l.outputs+t] *= roots[r]
				}
			}
		}
		values(against, train.Slice(i, j), rows, roots)
		vec.SyrkAddWide(m, j-i, rows, m, a.square, m)
		vec.GemmAddTNWide(m, l.outputs, j-i, rows, m, y, l.outputs, a.right, l.outputs)
	}
	return a, nil
}

// values writes k of rows and landmarks into dst, each row multiplied by its root, if roots are given.
func values(against *kernel.Against, x *matrix.Dense, dst []float32, roots []float64) {
	_, m := against.Dims()
	const block = 16
	vec.Parallel((x.Rows+block-1)/block, 1, func(lo, hi int) {
		out, work := make([]float64, block*m), make([]float64, block*against.Work())
		for b := lo; b < hi; b++ {
			i, j := b*block, min((b+1)*block, x.Rows)
			against.Rows(matrix.Rows{Dense: x}, i, j, out, work)
			if roots != nil {
				for r := i; r < j; r++ {
					row := out[(r-i)*m:][:m]
					for c := range row {
						row[c] *= roots[r]
					}
				}
			}
			vec.Round32(dst[i*m:j*m], out[:(j-i)*m])
		}
	})
}

// solve returns α, outputs×L, nil if the kernel is not finite or the context ended.
func (a *machine) solve(ctx context.Context, lambda float64) []float64 {
	m, k := a.m, a.l.outputs
	trace := 0.0
	for i := range m {
		trace += a.square[i*m+i]
	}
	// Values are rounded to float32, and so are sums over blocks: anything smaller is noise.
	b := make([]float64, m*k)
	for jitter := 1e-7 * trace / float64(m); ; jitter *= 10 {
		vec.Parallel(m, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := a.system[i*m+i : (i+1)*m]
				copy(row, a.square[i*m+i:])
				vec.Axpy64(lambda, a.landmarks[i*m+i:(i+1)*m], row)
				row[0] += jitter
			}
		})
		copy(b, a.right)
		if vec.CholeskySolve(ctx, m, a.system, m, k, b, k) {
			break
		}
		if !(jitter < trace) || ctx.Err() != nil {
			return nil
		}
	}
	alpha := make([]float64, k*m)
	for i := range m {
		for t := range k {
			alpha[t*m+i] = b[i*k+t]
		}
	}
	return alpha
}

// heldOut is the scores of held-out rows, less the mean, the squared error on held-out rows divided by that of the mean, and the share of wrong
// classes.
func (a *machine) heldOut(alpha []float64) (scores []float64, squared, wrong float64) {
	l, m, k := a.l, a.m, a.l.outputs
	n := l.held.x.Rows
	scores = make([]float64, n*k)
	vec.Parallel(n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for t := range k {
				scores[i*k+t] = vec.DotMixed(a.held[i*m:][:m], alpha[t*m:][:m])
			}
		}
	})
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
