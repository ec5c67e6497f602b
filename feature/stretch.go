package feature

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// How chebyshev and elementary come by the numbers a_j with which they multiply dimensions.
//
// Dimension j takes the a_j of a grid for which the mean of
//
//	|Σ_i z_i(x)z_i(y) - k₁(x, y)|
//
// over pairs x ≤ y of its numbers above 0 in the sample (or of stretchValues of their quantiles) is
// least: the errors of the dimensions mostly have the same sign and add up. A dimension
// with fewer than stretchFew such numbers takes the a of all dimensions together.
const stretchValues, stretchFew = 24, 8

// The grid for log a has this step, or the range of log x divided by stretchSteps.
const stretchStep, stretchSteps = 0.25, 64

// newStretches prepares the numbers.
func newStretches(a []float32) *stretches {
	s := &stretches{make([]float32, len(a)), make([]float32, len(a))}
	for j, v := range a {
		s.log[j], s.root[j] = float32(math.Log(float64(v))), float32(math.Sqrt(float64(v)))
	}
	return s
}

// given uses the same number for all dimensions.
func given(a float64, dim int) []float32 { return slices.Repeat([]float32{float32(a)}, dim) }

func fitStretched[M Fitted](cfg Config, sample matrix.Rows, a []float32, of func(Config, []float32) (M, error)) (Fitted, error) {
	state := &matrix.Dense{Rows: 1, Cols: len(a), Stride: len(a), Data: a}
	return restoreStretched(cfg, sample.Dim(), map[string]*matrix.Dense{"stretch": state}, of)
}

func restoreStretched[M Fitted](cfg Config, dim int, state map[string]*matrix.Dense,
	of func(Config, []float32) (M, error)) (Fitted, error) {
	a := state["stretch"]
	if len(state) != 1 || a == nil || a.Rows != 1 || a.Cols != dim || len(a.Data) < dim {
		return nil, fmt.Errorf("feature: %s: its state must be a row of %d numbers, stretch", cfg.Map, dim)
	}
	row := a.Row(0)
	for j, v := range row {
		if !(v >= leastStretch && v <= mostStretch) {
			return nil, fmt.Errorf("feature: %s: the stretch of dimension %d in its state is %g; it must be from %g "+
				"to %g", cfg.Map, j+1, v, leastStretch, mostStretch)
		}
	}
	m, err := of(cfg, row)
	if err != nil {
		return nil, err
	}
	if k, ok := any(m).(interface {
		keep(map[string]*matrix.Dense, string)
	}); ok {
		k.keep(state, stretchText(row))
	}
	return m, nil
}

func (m *series) keep(state map[string]*matrix.Dense, chosen string) {
	m.state, m.chosen = state, chosen
}

// stretchText describes the factors of the inputs.
func stretchText(a []float32) string {
	low, high := slices.Min(a), slices.Max(a)
	if low == high {
		return fmt.Sprintf("inputs times %.3g", low)
	}
	return fmt.Sprintf("inputs times %.3g to %.3g", low, high)
}

func checkSeries(cfg Config) error {
	if err := checkSeriesTerms(cfg); err != nil {
		return err
	}
	return checkStretch(cfg)
}

// byDimension returns the logarithms of the numbers above 0 of each dimension, sorted.
func byDimension(x matrix.Rows) [][]float64 {
	values := make([][]float64, x.Dim())
	for i := range x.Len() {
		row := logsOf(x, i, 1)
		for e, j := range row.at {
			values[j] = append(values[j], row.log[e])
		}
	}
	for _, v := range values {
		slices.Sort(v)
	}
	return values
}

// quantiles are at most n of the sorted values in even steps.
func quantiles(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	some := make([]float64, n)
	for i := range some {
		some[i] = values[(2*i+1)*len(values)/(2*n)]
	}
	return some
}

// chooseStretches returns a for every dimension, for the series whose g_0(u), …, given a number of
// terms, signature writes.
func chooseStretches(cfg Config, sample matrix.Rows, terms int, signature func(g []float64, u float64)) []float32 {
	h := homogeneity(cfg.Kernel)
	values := byDimension(sample)
	all := slices.Concat(values...)
	slices.Sort(all)
	common := stretchFor(quantiles(all, 4*stretchValues), h, terms, signature)
	a := make([]float32, len(values))
	vec.Parallel(len(values), 1, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			a[j] = common
			if len(values[j]) >= stretchFew {
				a[j] = stretchFor(quantiles(values[j], stretchValues), h, terms, signature)
			}
		}
	})
	return a
}

// stretchFor returns the best a for the sorted logarithms u of numbers; 1 if there
// are none.
func stretchFor(u []float64, h float64, terms int, signature func(g []float64, u float64)) float32 {
	n := len(u)
	if n == 0 {
		return 1
	}
	// The parts that do not depend on a: (xy)^(h/2), relative to the largest, and 𝒦.
	power := make([]float64, n)
	kernel := make([]float64, n*n)
	for i, v := range u {
		power[i] = math.Exp(h / 2 * (v - u[n-1]))
		for j := range i + 1 {
			kernel[i*n+j] = 1 / math.Cosh((v-u[j])/2)
		}
	}
	first, last := u[0], u[n-1]
	step := max(stretchStep, (last-first)/stretchSteps)
	best, least := 0.0, math.Inf(1)
	g := make([]float64, n*terms)
	for c := 0; ; c++ {
		logA := -last + float64(float64(c)*step)
		if logA > -first+step {
			break
		}
		for i, v := range u {
			signature(g[i*terms:][:terms], v+logA)
		}
		sum := 0.0
		for i := range u {
			for j := range i + 1 {
				k := 0.0
				for t, v := range g[i*terms:][:terms] {
					k += float64(v * g[j*terms+t])
				}
				sum += float64(power[i] * power[j] * math.Abs(k-kernel[i*n+j]))
			}
		}
		if sum < least {
			best, least = logA, sum
		}
	}
	return float32(min(max(math.Exp(best), leastStretch), mostStretch))
}
