package feature

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Homogeneous is the map of additive kernels k₁(x, y) = (xy)^(h/2)·𝒦(log(y/x)) of Vedaldi and
// Zisserman, "Efficient additive kernels via explicit feature maps" (2012). 𝒦 is the Fourier transform
// of a spectrum κ ≥ 0, 𝒦(ω) = ∫ κ(λ) cos(λω) dλ, which is sampled at the multiples of a period L:
//
//	z(x) = x^(h/2)·[√w_0, √(2w_1) cos(Lu), √(2w_1) sin(Lu), …, √(2w_n) cos(nLu), √(2w_n) sin(nLu)],
//
// u = log x, m = 2n+1 features per dimension, so that k₁ is (xy)^(h/2) times
//
//	𝒦̂(ω) = w_0 + 2 Σ_i w_i cos(iLω)
//
// of ω = log(y/x). It depends only on the ratio of x and y, as k₁ does: stretching the inputs
// would change nothing. The weights are those of a window.
//
//	uniform      w_i = Lκ(iL): 𝒦̂ is n+1 terms of the Fourier series of Σ_j 𝒦(ω + 2πj/L)
//	rectangular  w_i = (L/2π)∫ 𝒦(ω) cos(iLω) dω over |ω| ≤ π/L, negative ones set to 0:
//	             the series of 𝒦 on [-π/L, π/L], continued periodically
//	fitted       the w_i ≥ 0 with the least squared error on a sample; not in the paper
//
// A short period covers ratios far from 1, a long one is more accurate near 1: the
// best depends on the data. Unless given, the period is the one on a grid with the least
//
//	Σ (z(x)·z(y) - k(x, y))²
//
// over pairs of the sample's rows, one in eight of them x = y; fitted weights are chosen in the same way.
// Without a period and a window, both are fitted. For the hellinger kernel one feature, x^(h/2), is exact.
//
// A row takes O(dm) operations, a sparse one O(nnz·m), and the map holds a few numbers. Feature i
// of dimension j is column i·d + j.
const Homogeneous = "homogeneous"

// usualHomogeneous is m unless the configuration says otherwise.
const usualHomogeneous = 5

// rooted reports whether the kernel is a sum of products of powers, which one feature per dimension represents exactly.
func rooted(cfg Config) bool {
	a, ok := cfg.Kernel.Additive()
	return ok && a.Roots()
}

func checkHomogeneous(cfg Config) error {
	if err := checkSeriesTerms(cfg); err != nil {
		return err
	}
	if rooted(cfg) {
		switch {
		case cfg.Terms > 1:
			return fmt.Errorf("feature: homogeneous: terms is %d, but one feature is the %s kernel exactly; leave terms out",
				cfg.Terms, cfg.Kernel.Name)
		case cfg.Window != "" || cfg.Period != 0:
			return fmt.Errorf("feature: homogeneous: the %s kernel has no window and no period; leave them out", cfg.Kernel.Name)
		}
		return nil
	}
	if cfg.Terms%2 == 0 && cfg.Terms > 0 {
		return fmt.Errorf("feature: homogeneous: terms is %d, but a constant and pairs of a cos and a sin are odd: "+
			"use %d", cfg.Terms, cfg.Terms+1)
	}
	if w := cfg.Window; w != "" && w != "uniform" && w != "rectangular" && w != "fitted" {
		return fmt.Errorf("feature: homogeneous: window %q is not known; known are uniform, rectangular, fitted", w)
	}
	if cfg.Period != 0 && !(cfg.Period >= leastPeriod && cfg.Period <= mostPeriod) {
		return fmt.Errorf("feature: homogeneous: period is %g; it must be from %g to %g, or 0 for a choice by the data",
			cfg.Period, leastPeriod, mostPeriod)
	}
	return nil
}

// At one end of this range all rows look the same, and at the other every ratio is far from 1.
const leastPeriod, mostPeriod = 1.0 / 1024, 64.0

func givenPeriod(cfg Config) bool {
	return rooted(cfg) || cfg.Period != 0 && cfg.Window != "fitted"
}

// fitted reports whether the weights follow from a sample.
func (cfg *Config) fitted() bool {
	return cfg.Window == "fitted" || cfg.Window == "" && cfg.Period == 0
}

func newPeriodic(cfg Config, dim int) (Map, error) {
	if rooted(cfg) {
		m, err := newSeries(cfg, dim, 1)
		if err == nil {
			m.form = "root"
			m.expand = func(out []float32, _ int, s *strip) { copy(out[:s.n], s.power[:s.n]) }
		}
		return m, err
	}
	return periodicOf(cfg, dim, cfg.Period, windowed(cfg.Kernel, cfg.Window, cfg.Period, cfg.terms(usualHomogeneous)/2))
}

func fitPeriodic(_ context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	period, w := choosePeriod(cfg, sample)
	state := map[string]*matrix.Dense{"period": {Rows: 1, Cols: 1, Stride: 1, Data: []float32{float32(period)}}}
	if cfg.fitted() {
		weights := matrix.NewDense(1, len(w))
		for i, v := range w {
			weights.Data[i] = float32(v)
		}
		state["weights"] = weights
	}
	return restorePeriodic(cfg, sample.Dim(), state)
}

func restorePeriodic(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	n := cfg.terms(usualHomogeneous) / 2
	p, weights := state["period"], state["weights"]
	switch {
	case p == nil || p.Rows != 1 || p.Cols != 1 || len(p.Data) < 1:
		return nil, fmt.Errorf("feature: homogeneous: its state must have one number, period")
	case cfg.fitted() && (weights == nil || weights.Rows != 1 || weights.Cols != n+1 || len(weights.Data) < n+1 || len(state) != 2):
		return nil, fmt.Errorf("feature: homogeneous: its state must be a period and a row of %d weights", n+1)
	case !cfg.fitted() && len(state) != 1:
		return nil, fmt.Errorf("feature: homogeneous: its state must be one number, period")
	}
	period := float64(p.Data[0])
	if !(period >= leastPeriod && period <= mostPeriod) {
		return nil, fmt.Errorf("feature: homogeneous: the period of its state is %g; it must be from %g to %g", period, leastPeriod, mostPeriod)
	}
	var w []float64
	if cfg.fitted() {
		for i, v := range weights.Row(0) {
			if !(v >= 0 && v <= math.MaxFloat32/2) {
				return nil, fmt.Errorf("feature: homogeneous: weight %d of its state is %g; it must be 0 or more", i, v)
			}
			w = append(w, float64(v))
		}
	} else {
		w = windowed(cfg.Kernel, cfg.Window, period, n)
	}
	m, err := periodicOf(cfg, dim, period, w)
	if err != nil {
		return nil, err
	}
	chosen := fmt.Sprintf("period %.3g", period)
	if cfg.fitted() {
		chosen += ", fitted weights"
	}
	m.keep(state, chosen)
	return m, nil
}

// periodicOf is the map with period L and weights w_0 … w_n.
func periodicOf(cfg Config, dim int, period float64, weights []float64) (*series, error) {
	m, err := newSeries(cfg, dim, 2*len(weights)-1)
	if err != nil {
		return nil, err
	}
	scale := make([]float32, len(weights))
	for i, w := range weights {
		if i > 0 {
			w *= 2
		}
		scale[i] = float32(math.Sqrt(w))
	}
	m.form, m.period, m.scale = "waves", float32(period), scale
	m.expand = func(out []float32, stride int, s *strip) { s.waves(out, stride, float32(period), scale) }
	return m, nil
}

// waves writes the features of the homogeneous map. The cos and sin of multiples of Lu follow
// from those of Lu by rotations of a vector of length x^(h/2).
func (s *strip) waves(out []float32, stride int, period float32, scale []float32) {
	n := s.n
	multiple(out[:n], scale[0], s.power[:n])
	if len(scale) == 1 {
		return
	}
	multiple(s.a[:s.group], period, s.log[:s.group])
	vec.SinCos32(s.a[:s.group], s.b[:s.group], s.a[:s.group], 1)
	sin, cos := s.a[:n], s.b[:n]
	re, im := s.c[:n], s.d[:n]
	copy(re, s.power[:n])
	clear(im)
	for i, w := range scale[1:] {
		even, odd := out[(2*i+1)*stride:][:n], out[(2*i+2)*stride:][:n]
		vec.Rotate32(re, im, cos, sin, even, odd, w)
	}
}

// multiple computes dst = a·x.
func multiple(dst []float32, a float32, x []float32) {
	clear(dst)
	vec.Axpy32(a, x, dst)
}

// windowed returns w_0 … w_n.
func windowed(k kernel.Kernel, window string, period float64, n int) []float64 {
	of, _ := k.Additive()
	w := make([]float64, n+1)
	if window == "uniform" {
		for i := range w {
			w[i] = period * of.Spectrum(float64(i)*period)
		}
		return w
	}
	// Simpson's rule over [0, π/L], by steps that follow 𝒦 and the waves.
	reach := math.Pi / period
	steps := 2 * (64*(n+1) + int(8*min(reach, 200)))
	h := reach / float64(steps)
	for j := range steps + 1 {
		weight := 2.0
		switch {
		case j == 0 || j == steps:
			weight = 1
		case j%2 == 1:
			weight = 4
		}
		at := float64(j) * h
		f := weight * h / 3 * period / math.Pi * of.Signature(at)
		for i := range w {
			w[i] += float64(f * math.Cos(float64(i)*period*at))
		}
	}
	for i, v := range w {
		w[i] = max(0, v)
	}
	return w
}

// The periods that are tried: 16ths of octaves from 1/16 to 8. Shorter ones cover ratios beyond
// float32, and for longer ones the ratios would have to be so near 1 that any period would do.
const firstPeriod, lastPeriod, periodsInOctave = -4, 3, 16

// choosePeriod returns the best period for a sample, a float32, and its weights.
func choosePeriod(cfg Config, sample matrix.Rows) (period float64, w []float64) {
	r := newRatios(cfg.Kernel, sample)
	n := cfg.terms(usualHomogeneous) / 2
	periods := []float64{cfg.Period}
	switch {
	case cfg.Period != 0:
	case n == 0 && cfg.fitted(): // there is no wave
		periods[0] = 1
	default:
		periods = periods[:0]
		for i := firstPeriod * periodsInOctave; i <= lastPeriod*periodsInOctave; i++ {
			periods = append(periods, math.Exp2(float64(i)/periodsInOctave))
		}
	}
	weights, errors := make([][]float64, len(periods)), make([]float64, len(periods))
	vec.Parallel(len(periods), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			periods[i] = float64(float32(periods[i]))
			weights[i] = windowed(cfg.Kernel, cfg.Window, periods[i], n)
			errors[i] = r.fit(weights[i], periods[i], cfg.fitted())
		}
	})
	best := 0
	for i, e := range errors {
		if e < errors[best] {
			best = i
		}
	}
	return periods[best], weights[best]
}

// ratios holds, for pairs of rows x and y, the sums of (x_j y_j)^(h/2) over the dimensions where
// |log(y_j/x_j)| is about b·step, in sums[b], so that the estimate of k(x, y) is a linear
// function of them. exact is the same function of 𝒦: k(x, y) up to the width of the bins.
//
// All are relative to √(k(x, x)k(y, y)), so that long rows do not outweigh all others.
type ratios struct {
	step  float64
	bins  int
	pairs []ratio
}

type ratio struct {
	at    []int32   // the bins that are not empty
	sums  []float64 // theirs
	exact float64
}

// ratioPairs pairs are used, of ratioRows rows at even steps through the sample.
const ratioRows, ratioPairs, ratioBins = 256, 512, 1024

func newRatios(k kernel.Kernel, sample matrix.Rows) *ratios {
	of, _ := k.Additive()
	h := of.Homogeneity
	rows := make([]logs, min(sample.Len(), ratioRows))
	low, high := math.Inf(1), math.Inf(-1)
	for i := range rows {
		rows[i] = logsOf(sample, i*sample.Len()/len(rows), h)
		for _, u := range rows[i].log {
			low, high = min(low, u), max(high, u)
		}
	}
	// Bins are 1/64 wide if that reaches the largest ratio.
	r := &ratios{step: 1.0 / 64, bins: 2}
	if high > low {
		r.step = max(r.step, (high-low)/(ratioBins-2))
		r.bins = int((high-low)/r.step) + 3
	}
	draw := random.New(1, "feature.homogeneous")
	sums := make([]float64, r.bins)
	for p := range ratioPairs {
		x := rows[draw.Intn(len(rows))]
		y := x
		if p%8 > 0 {
			y = rows[draw.Intn(len(rows))]
		}
		norm := math.Sqrt(float64(x.norm() * y.norm()))
		if norm == 0 {
			continue
		}
		clear(sums)
		histogram(sums, x, y, r.step)
		pair := ratio{}
		for b, s := range sums {
			if s != 0 {
				pair.at, pair.sums = append(pair.at, int32(b)), append(pair.sums, s/norm)
				pair.exact += float64(s / norm * of.Signature(float64(b)*r.step))
			}
		}
		r.pairs = append(r.pairs, pair)
	}
	return r
}

// logs are the logarithms of a row's elements above 0, and their powers x^(h/2).
type logs struct {
	at         []int32
	log, power []float64
}

func logsOf(x matrix.Rows, i int, h float64) (l logs) {
	add := func(j int, v float32) {
		if v > 0 {
			u := math.Log(float64(v))
			l.at, l.log, l.power = append(l.at, int32(j)), append(l.log, u), append(l.power, math.Exp(h/2*u))
		}
	}
	if x.CSR != nil {
		idx, val := x.CSR.Row(i)
		for e, v := range val {
			add(int(idx[e]), v)
		}
		return l
	}
	for j, v := range x.Dense.Row(i) {
		add(j, v)
	}
	return l
}

// norm is k(x, x).
func (l logs) norm() (sum float64) {
	for _, p := range l.power {
		sum += float64(p * p)
	}
	return sum
}

// histogram adds up (x_j y_j)^(h/2) by |log(y_j/x_j)|, divided between the two nearest bins.
func histogram(sums []float64, x, y logs, step float64) {
	for i, j := 0, 0; i < len(x.at) && j < len(y.at); {
		switch {
		case x.at[i] < y.at[j]:
			i++
		case x.at[i] > y.at[j]:
			j++
		default:
			p := float64(x.power[i] * y.power[j])
			b := math.Abs(x.log[i]-y.log[j]) / step
			whole := int(b)
			part := float64(p * (b - float64(whole)))
			sums[whole] += p - part
			sums[whole+1] += part
			i, j = i+1, j+1
		}
	}
}

// fit returns the sum of the squared errors over the pairs for the weights w ≥ 0,
// or for the best ones, with which it then replaces them. They are found by
// coordinate descent, which is fast for so few unknowns.
func (r *ratios) fit(w []float64, period float64, replace bool) float64 {
	n := len(w)
	cos := make([]float64, n*r.bins)
	for b := range r.bins {
		cos[b*n] = 1
		for i := 1; i < n; i++ {
			cos[b*n+i] = 2 * math.Cos(float64(i)*period*float64(b)*r.step)
		}
	}
	// The error is wᵀGw - 2vᵀw + c.
	g, v, c := make([]float64, n*n), make([]float64, n), 0.0
	row := make([]float64, n)
	for _, p := range r.pairs {
		clear(row)
		for e, b := range p.at {
			for i, x := range cos[int(b)*n:][:n] {
				row[i] += float64(p.sums[e] * x)
			}
		}
		for i, x := range row {
			v[i] += float64(x * p.exact)
			for j, y := range row {
				g[i*n+j] += float64(x * y)
			}
		}
		c += float64(p.exact * p.exact)
	}
	for range max(fitWork/(n*n), 100) {
		most := 0.0
		for i := 0; replace && i < n && g[i*n+i] > 0; i++ {
			gradient := -v[i]
			for j, x := range w {
				gradient += float64(g[i*n+j] * x)
			}
			before := w[i]
			w[i] = max(0, before-gradient/g[i*n+i])
			most = max(most, math.Abs(w[i]-before))
		}
		if most < 1e-9 { // of w_0 < 1
			break
		}
	}
	for i, x := range w {
		c -= float64(2 * v[i] * x)
		for j, y := range w {
			c += float64(float64(g[i*n+j]*x) * y)
		}
	}
	return c
}

// fitWork bounds the work of a descent. If the terms can hardly be told apart on the sample, it
// ends far from the minimum, but with an error close to the least.
const fitWork = 200_000
