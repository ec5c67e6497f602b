package hypothesis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
)

// Resampling says what Bootstrap is to do.
type Resampling struct {
	// Rows is how many rows there are to draw from.
	Rows int

	// Copies, if not nil, is how many equal rows each of them stands for. As many are drawn as they are in all, in time
	// that does not depend on their number.
	Copies []int32

	// Resamples is how often they are drawn, 0 meaning 2,000; Seed chooses the draws.
	Resamples int
	Seed      uint64

	// Quantities is how many quantities Statistic computes, into a slice of that length: those of rows of which row i
	// comes weights[i] times. NaN says that one of them is not defined for these rows. It is called by
	// several goroutines at a time.
	Quantities int
	Statistic  func(weights []int32, quantities []float64)

	// Progress, if not nil, is told the share that is done.
	Progress func(share float64)
}

// Distribution is a quantity with its bootstrap distribution (Efron and Tibshirani, An Introduction to the
// Bootstrap, 1993).
type Distribution struct {
	// Estimate is the quantity of the rows themselves.
	Estimate float64

	resamples []float64
	jackknife []float64 // of all rows without one group of them
	copies    []int32   // how often each of these values comes; nil: once
}

// jackknifeGroups is the largest number of groups that the rows are divided into for the jackknife. The acceleration of BCa
// is the skewness of an estimate divided by 6, which groups of rows have in expectation like the rows; it errs by about
// 0.4/groups.
const jackknifeGroups = 200

// ErrUndefined is of a quantity that rows do not have.
var ErrUndefined = errors.New("is not defined")

// Bootstrap draws the rows anew, with replacement, and gives the distribution of each quantity. All come from the same draws,
// so that they can be subtracted (Minus). Memory: 4 bytes a row and
// thread, and 8 bytes a quantity and resample. Time: Rows numbers and one call of Statistic a resample.
// It fails where a quantity is not defined for the rows themselves, or not for half of the resamples.
func Bootstrap(ctx context.Context, r Resampling) ([]Distribution, error) {
	if r.Resamples == 0 {
		r.Resamples = 2000
	}
	groups, total := min(r.Rows, jackknifeGroups), r.Rows
	if r.Copies != nil {
		groups, total = r.Rows, 0
		for _, n := range r.Copies {
			total += int(n)
		}
	}
	if total < 2 || total > math.MaxInt32 {
		return nil, fmt.Errorf("rank: %d rows; the bootstrap takes two or more, and no more than 2³¹", total)
	}
	if r.Resamples < 100 {
		return nil, fmt.Errorf("rank: %d resamples are too few for an interval; give 100 or more", r.Resamples)
	}
	out := make([]Distribution, r.Quantities)
	for q := range out {
		out[q].resamples = make([]float64, r.Resamples)
		out[q].jackknife = make([]float64, groups)
		out[q].copies = r.Copies
	}
	var done atomic.Int64
	vec.Parallel(r.Resamples+groups+1, 32, func(lo, hi int) {
		weights := make([]int32, r.Rows)
		values := make([]float64, r.Quantities)
		for job := lo; job < hi && ctx.Err() == nil; job++ {
			b, g := job, job-r.Resamples
			switch {
			case b < r.Resamples:
				r.draw(weights, uint64(b), total)
			case g < groups:
				r.leave(weights, g, groups)
			default:
				r.leave(weights, -1, groups)
			}
			r.Statistic(weights, values)
			for q, v := range values {
				switch {
				case b < r.Resamples:
					out[q].resamples[b] = v
				case g < groups:
					out[q].jackknife[g] = v
				default:
					out[q].Estimate = v
				}
			}
			if n := done.Add(1); r.Progress != nil && n%32 == 0 {
				r.Progress(float64(n) / float64(r.Resamples+groups+1))
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for q := range out {
		if v := out[q].Estimate; v-v != 0 {
			return nil, fmt.Errorf("rank: quantity %d %w for these rows", q+1, ErrUndefined)
		}
		if 2*len(out[q].defined()) < r.Resamples {
			return nil, fmt.Errorf("rank: quantity %d %w for most resamples of these rows", q+1, ErrUndefined)
		}
	}
	return out, nil
}

// draw draws the weights of sample b, of total rows.
func (r *Resampling) draw(weights []int32, b uint64, total int) {
	draw := random.New(r.Seed, "bootstrap", b)
	if r.Copies == nil {
		clear(weights)
		for range weights {
			weights[draw.Intn(r.Rows)]++
		}
		return
	}
	left, from := total, total
	for i, n := range r.Copies {
		k := binomial(draw, left, float64(n)/float64(from))
		weights[i] = int32(k)
		left, from = left-k, from-int(n)
	}
}

// leave gives every row its weight but those of one group of the jackknife; of copies one is left out.
func (r *Resampling) leave(weights []int32, g, groups int) {
	for i := range weights {
		switch {
		case r.Copies != nil:
			weights[i] = r.Copies[i]
			if i == g {
				weights[i]--
			}
		case g >= 0 && group(i, groups, r) == g:
			weights[i] = 0
		default:
			weights[i] = 1
		}
	}
}

// group is the group of the jackknife that a row is of.
func group(row, groups int, r *Resampling) int {
	if groups == r.Rows {
		return row
	}
	return int(random.Hash(r.Seed, "jackknife", uint64(row)) % uint64(groups))
}

// PairedBootstrap is the bootstrap distribution of the mean difference a - b of two methods' losses (or scores) on the
// same rows.
func PairedBootstrap(ctx context.Context, a, b []float64, resamples int, seed uint64) (Distribution, error) {
	if len(a) != len(b) {
		return Distribution{}, fmt.Errorf("rank: %d losses of one method, %d of the other; give a pair a row", len(a), len(b))
	}
	d := make([]float64, len(a))
	for i := range a {
		if d[i] = a[i] - b[i]; d[i]-d[i] != 0 {
			return Distribution{}, fmt.Errorf("rank: row %d: the losses %g and %g have no finite difference", i+1, a[i], b[i])
		}
	}
	out, err := Bootstrap(ctx, Resampling{Rows: len(d), Resamples: resamples, Seed: seed, Quantities: 1,
		Statistic: func(weights []int32, mean []float64) {
			sum, n := 0.0, 0
			for i, w := range weights {
				sum += float64(w) * d[i]
				n += int(w)
			}
			mean[0] = sum / float64(n)
		}})
	if err != nil {
		return Distribution{}, err
	}
	return out[0], nil
}

// Minus is the distribution of the difference of two quantities of one call of Bootstrap. It panics if they are not.
func (d Distribution) Minus(other Distribution) Distribution {
	if len(d.resamples) != len(other.resamples) || len(d.jackknife) != len(other.jackknife) {
		panic("rank: Minus: the distributions come from different resamples")
	}
	out := Distribution{Estimate: d.Estimate - other.Estimate, copies: d.copies,
		resamples: slices.Clone(d.resamples), jackknife: slices.Clone(d.jackknife)}
	for i, v := range other.resamples {
		out.resamples[i] -= v
	}
	for i, v := range other.jackknife {
		out.jackknife[i] -= v
	}
	return out
}

// defined are the resamples for which the quantity is defined.
func (d Distribution) defined() []float64 {
	return slices.DeleteFunc(slices.Clone(d.resamples), math.IsNaN)
}

// P is the p-value of the hypothesis that the quantity is 0: the level 1-P is that of the BCa interval that ends at 0, so
// that P ≤ α where the interval of level 1-α leaves out 0. 0 counts as no further out than the outermost resample.
func (d Distribution) P() float64 {
	values := d.defined()
	n := float64(len(values))
	bias, a := normalQuantileOfShare(values, d.Estimate, 0.5/n), d.acceleration()
	w := normalQuantileOfShare(values, 0, 1/(n+1)) - bias
	return normalTail(w/(1+a*w) - bias)
}

// normalQuantileOfShare is Φ⁻¹ of the share of values below x, equal ones counting half, which is taken to be no less than
// least and no more than 1 - least.
func normalQuantileOfShare(values []float64, x, least float64) float64 {
	below, equal := 0, 0
	for _, v := range values {
		switch {
		case v < x:
			below++
		case v == x:
			equal++
		}
	}
	share := (float64(below) + float64(equal)/2) / float64(len(values))
	return random.NormalQuantile(min(max(share, least), 1-least))
}

// Percentile is the interval between the percentiles of the resamples that leave (1-level)/2 on either side.
func (d Distribution) Percentile(level float64) (low, high float64) {
	values := d.defined()
	slices.Sort(values)
	return quantile(values, (1-level)/2), quantile(values, (1+level)/2)
}

// BCa is the bias-corrected and accelerated interval (Efron 1987): the percentiles are moved by the share of resamples
// below the estimate and by the skewness of the quantity, by which it is second-order accurate.
func (d Distribution) BCa(level float64) (low, high float64) {
	values := d.defined()
	slices.Sort(values)
	bias := normalQuantileOfShare(values, d.Estimate, 0.5/float64(len(values)))
	a := d.acceleration()
	at := func(p float64) float64 {
		z := bias + random.NormalQuantile(p)
		return quantile(values, normalCDF(bias+z/(1-a*z)))
	}
	return at((1 - level) / 2), at((1 + level) / 2)
}

// acceleration is Σ(m - vᵢ)³/(6·(Σ(m - vᵢ)²)^1.5) of the jackknife's values.
func (d Distribution) acceleration() float64 {
	times := func(i int) float64 {
		switch {
		case math.IsNaN(d.jackknife[i]):
			return 0
		case d.copies == nil:
			return 1
		}
		return float64(d.copies[i])
	}
	sum, count := 0.0, 0.0
	for i, v := range d.jackknife {
		if n := times(i); n > 0 {
			sum += n * v
			count += n
		}
	}
	mean, square, cube := sum/count, 0.0, 0.0
	for i, v := range d.jackknife {
		if n := times(i); n > 0 {
			e := mean - v
			square += n * e * e
			cube += n * e * e * e
		}
	}
	if !(square > 0) {
		return 0
	}
	return cube / (6 * math.Pow(square, 1.5))
}

// quantile interpolates between sorted values, the first being the quantile of 0 and the last that of 1.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
