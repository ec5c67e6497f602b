package learn

import (
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// unit is a loss of 1 in standardised units, expressed in units of the targets.
func (f *OnlineFit) unit(t int) float64 {
	switch f.loss.degree {
	case 1:
		return f.Scale[t]
	case 2:
		return f.Scale[t] * f.Scale[t]
	}
	return 1
}

func (f *OnlineFit) checkShapes(z matrix.Rows, y, weights []float64) {
	if n := z.Len(); z.Dim() != f.d || len(y) != n*f.k || weights != nil && len(weights) != n {
		panic(fmt.Sprintf("learn: an online learner of %d features and %d outputs got %d×%d rows, %d targets and %d weights", f.d, f.k, n,
			z.Dim(), len(y), len(weights)))
	}
}

// rowOf is a row of dense (idx nil) or sparse rows.
func rowOf(z matrix.Rows, i int) (idx []int32, val []float32) {
	if z.CSR != nil {
		return z.CSR.Row(i)
	}
	return nil, z.Dense.Row(i)
}

// onlineBlock is how many values of rows are processed for all outputs at a time: 1 MB.
const onlineBlock = 1 << 18

// Learn predicts each of the rows z and learns from it before the next. y holds the targets,
// n×K, ±1 or numbers, and weights may be nil; rows of weight 0 are predicted only. The result
// has the score of each row and output from before it was learned, n×K in units of the
// targets, and is valid until the next call.
func (f *OnlineFit) Learn(z matrix.Rows, y, weights []float64) []float64 {
	f.checkShapes(z, y, weights)
	f.schedule(z, weights)
	n := z.Len()
	f.targets, f.scores = resized(f.targets, n*f.k), resized(f.scores, n*f.k)
	for i := range n {
		for t := range f.k {
			f.targets[i*f.k+t] = (y[i*f.k+t] - f.Shift[t]) / f.Scale[t]
		}
	}
	block := max(1, onlineBlock/f.d)
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		vec.Parallel(f.k, 1, func(from, to int) {
			if f.work[from] == nil && f.cfg.Optimizer == "adagrad" {
				f.work[from] = make([]float64, f.d)
			}
			for t := from; t < to; t++ {
				for i := lo; i < hi; i++ {
					f.row(t, i, z, weights, f.work[from])
				}
			}
		})
	}
	f.count(y, weights)
	return f.scores
}

func resized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// schedule computes what all outputs share for the rows of a call.
func (f *OnlineFit) schedule(z matrix.Rows, weights []float64) {
	n := z.Len()
	f.eta, f.mu, f.decay, f.norm = resized(f.eta, n), resized(f.mu, n), resized(f.decay, n), resized(f.norm, n)
	rate := f.cfg.Rate
	if f.cfg.Lambda > 0 {
		rate = min(rate, 0.5/f.cfg.Lambda)
	}
	t := f.Rows
	for i := range n {
		f.decay[i] = f.cfg.Lambda * float64(t)
		fall := 1 + float64(rate*f.cfg.Lambda)*float64(t)
		if f.cfg.AverageFrom >= 0 {
			fall = math.Sqrt(fall * math.Sqrt(fall))
			if f.loss.corner {
				fall = max(fall, math.Sqrt(1+float64(t)/sampleRows))
			}
		}
		f.eta[i] = rate / fall
		switch from := f.cfg.AverageFrom; {
		case from < 0 || from > 0 && t <= from:
			f.mu[i] = 1
		case from == 0:
			f.mu[i] = 4 / float64(t+4)
		default:
			f.mu[i] = 1 / float64(t-from+1)
		}
		if f.loss.curve > 0 {
			_, val := rowOf(z, i)
			f.norm[i] = vec.DotWide(val, val) + 1
		}
		if weights == nil || weights[i] > 0 {
			t++
		}
	}
}

// parameter is that of the loss, in standardised units.
func (f *OnlineFit) parameter(t int) float64 {
	p := f.cfg.Quantile + f.cfg.Epsilon + f.cfg.Huber // at most one of them is nonzero
	if f.loss.inUnits {
		p /= f.Scale[t]
	}
	return p
}

// row predicts row i for output t and learns from it. work is memory for the weights of a row.
func (f *OnlineFit) row(t, i int, z matrix.Rows, weights, work []float64) {
	idx, val := rowOf(z, i)
	c := 1.0
	if weights != nil {
		c = weights[i]
	}
	var score float64
	if f.cfg.Optimizer == "adagrad" {
		score = f.leaderScore(t, idx, val, f.decay[i], work)
	} else {
		score = f.descentScore(t, idx, val)
	}
	f.scores[i*f.k+t] = float64(score*f.Scale[t]) + f.Shift[t]
	if c == 0 {
		return
	}
	loss, slope := f.loss.of(score, f.targets[i*f.k+t], f.parameter(t))
	f.Losses[t] += c * loss * f.unit(t)
	if f.cfg.Optimizer == "adagrad" {
		if slope != 0 {
			f.leaderStep(t, idx, val, c*slope, work)
		}
		return
	}
	eta := f.eta[i]
	if f.loss.curve > 0 {
		eta = min(eta, 1/(f.loss.curve*c*f.norm[i]))
	}
	f.descentStep(t, idx, val, 1-eta*f.cfg.Lambda, eta*c*slope, f.mu[i])
}
