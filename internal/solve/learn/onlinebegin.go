package learn

import (
	"math"

	"mercer/internal/engine/option"
	"mercer/matrix"
)

// sampleRows is how many rows η₀ is meant for.
const sampleRows = 1000

// Begin chooses open settings by a first sample of the rows: the standardisation of numeric
// targets, ε and δ, and the rate η₀. It learns nothing else: these rows still have to be learned
// like all others. 1,000 rows are enough. y is n×K; weights may be nil.
func (f *OnlineFit) Begin(z matrix.Rows, y, weights []float64) error {
	f.checkShapes(z, y, weights)
	n := z.Len()
	if n == 0 {
		return nil
	}
	if f.cfg.Numbers {
		spread := 0.0
		for t := range f.k {
			f.Shift[t], f.Scale[t] = meanDeviation(y[t:], f.k, n)
			spread += f.Scale[t] / float64(f.k)
		}
		if f.cfg.Loss == "huber" && f.cfg.Huber == 0 {
			f.cfg.Huber = spread
		}
	}
	if f.cfg.Rate > 0 {
		return nil
	}
	size := 0.0
	for i := range n {
		_, val := rowOf(z, i)
		for _, v := range val {
			if f.cfg.Optimizer == "adagrad" {
				size += math.Abs(float64(v))
			} else {
				size += float64(float64(v) * float64(v))
			}
		}
	}
	start := 1 / (size/float64(n) + 1)
	try := func(rate float64) float64 {
		f.cfg.Rate = rate
		f.clear()
		f.Learn(z, y, weights)
		total := 0.0
		for t, l := range f.Losses {
			total += l / f.unit(t) // in standardised units, so that no output dominates the others
		}
		return total
	}
	best, least := start, try(start)
	for _, step := range []float64{2, 0.5} {
		for rate, tries := start*step, 0; tries < 20; rate, tries = rate*step, tries+1 {
			loss := try(rate)
			if !(loss < least) && least-least == 0 {
				break
			}
			best, least = rate, loss
		}
		if best != start {
			break
		}
	}
	f.cfg.Rate = best
	f.clear()
	if least-least != 0 {
		return option.Errorf("the losses are not finite at any rate; scale the inputs (%s)", option.Set("scale", "standard"))
	}
	return nil
}

// meanDeviation are those of y[0], y[stride], …; a deviation of 0 counts as 1.
func meanDeviation(y []float64, stride, n int) (mean, deviation float64) {
	for i := range n {
		mean += y[i*stride] / float64(n)
	}
	for i := range n {
		d := y[i*stride] - mean
		deviation += d * d / float64(n)
	}
	if deviation = math.Sqrt(deviation); !(deviation > 0) {
		deviation = 1
	}
	return mean, deviation
}
