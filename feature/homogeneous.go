package feature

import (
	"fmt"
	"math"

	"mercer/internal/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// The homogeneous map of Vedaldi and Zisserman, "Efficient additive kernels via explicit feature
// maps" (2012). 𝒦 is the Fourier transform of a spectrum κ ≥ 0, 𝒦(ω) = ∫ κ(λ) cos(λω) dλ, which
// is sampled at the multiples of a period L:
//
//	z(x) = x^(h/2)·[√w_0, √(2w_1) cos(Lu), √(2w_1) sin(Lu), …, √(2w_n) cos(nLu), √(2w_n) sin(nLu)],
//
// u = log x, m = 2n+1 features a dimension, so that k₁ is (xy)^(h/2) times
//
//	𝒦̂(ω) = w_0 + 2 Σ_i w_i cos(iLω)
//
// of ω = log(y/x). It depends on the ratio of x and y alone, as k₁ does: to stretch the inputs
// would change nothing. The weights are those of a window.
//
//	uniform      w_i = Lκ(iL): 𝒦̂ is n+1 terms of the Fourier series of Σ_j 𝒦(ω + 2πj/L)
//	rectangular  w_i = (L/2π)∫ 𝒦(ω) cos(iLω) dω over |ω| ≤ π/L, negative ones 0: the series of 𝒦
//	             as it is between -π/L and π/L, and repeated outside
//
// A short period reaches ratios far from 1, a long one spends its terms on near ones: the
// best depends on the data. Unless given, the period is the one of a grid with the least
//
//	Σ (z(x)·z(y) - k(x, y))²
//
// over pairs of the sample's rows, among them pairs of equal ones.

// spectra are κ of the kernels, and their signatures 𝒦.
var spectra = map[string]struct{ kappa, signature func(float64) float64 }{
	"chi2": {
		kappa:     func(l float64) float64 { return 1 / math.Cosh(math.Pi*l) },
		signature: func(w float64) float64 { return 1 / math.Cosh(w/2) },
	},
	"intersection": {
		kappa:     func(l float64) float64 { return 2 / math.Pi / (1 + 4*l*l) },
		signature: func(w float64) float64 { return math.Exp(-math.Abs(w) / 2) },
	},
	"jensen-shannon": {
		kappa: func(l float64) float64 { return 1 / math.Ln2 / math.Cosh(math.Pi*l) / (1 + 4*l*l) },
		signature: func(w float64) float64 {
			w = math.Abs(w)
			// log(1+e^w) = w + log(1+e^-w)
			near := math.Log1p(math.Exp(-w))
			return (math.Exp(w/2)*near + math.Exp(-w/2)*(w+near)) / (2 * math.Ln2)
		},
	},
}

// usualHomogeneous is m unless the configuration says otherwise.
const usualHomogeneous = 5

func checkHomogeneous(cfg Config) error {
	if cfg.Kernel.Name == "exp-chi2" {
		return nil // a chain, whose steps are checked
	}
	if err := checkSeriesTerms(cfg); err != nil {
		return err
	}
	if cfg.Kernel.Name == "hellinger" {
		switch {
		case cfg.Terms > 1:
			return fmt.Errorf("feature: homogeneous: terms is %d, but one feature is the hellinger kernel exactly; leave terms out", cfg.Terms)
		case cfg.Window != "" || cfg.Period != 0:
			return fmt.Errorf("feature: homogeneous: the hellinger kernel has no window and no period; leave them out")
		}
		return nil
	}
	if cfg.Terms%2 == 0 && cfg.Terms > 0 {
		return fmt.Errorf("feature: homogeneous: terms is %d, but a constant and pairs of a cos and a sin are odd: use %d", cfg.Terms, cfg.Terms+1)
	}
	if w := cfg.Window; w != "" && w != "uniform" && w != "rectangular" {
		return fmt.Errorf("feature: homogeneous: window %q is not known; known are uniform, rectangular", w)
	}
	if cfg.Period != 0 && !(cfg.Period >= leastPeriod && cfg.Period <= mostPeriod) {
		return fmt.Errorf("feature: homogeneous: period is %g; it must be from %g to %g, or 0 for a choice by the data", cfg.Period, leastPeriod, mostPeriod)
	}
	return nil
}

// At the ends of this range all rows look the same, and every ratio is far.
const leastPeriod, mostPeriod = 1.0 / 1024, 64.0

func givenPeriod(cfg Config) bool { return cfg.Kernel.Name == "hellinger" || cfg.Period != 0 }

func newPeriodic(cfg Config, dim int) (Map, error) {
	if cfg.Kernel.Name == "hellinger" {
		m, err := newSeries(cfg, dim, 1)
		if err == nil {
			m.expand = func(out []float32, _ int, s *strip) { copy(out[:s.n], s.power[:s.n]) }
		}
		return m, err
	}
	return periodicOf(cfg, dim, cfg.Period)
}

func fitPeriodic(cfg Config, sample matrix.Rows) (Fitted, error) {
	period := choosePeriod(cfg, sample)
	m, err := periodicOf(cfg, sample.Dim(), period)
	if err != nil {
		return nil, err
	}
	m.keepPeriod(period)
	return m, nil
}

func (m *series) keepPeriod(period float64) {
	m.state = map[string]*matrix.Dense{"period": {Rows: 1, Cols: 1, Stride: 1, Data: []float32{float32(period)}}}
	m.chosen = fmt.Sprintf("period %.3g", period)
}

func restorePeriodic(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	p := state["period"]
	if len(state) != 1 || p == nil || p.Rows != 1 || p.Cols != 1 || len(p.Data) < 1 {
		return nil, fmt.Errorf("feature: homogeneous: its state must be one number, period")
	}
	period := float64(p.Data[0])
	if !(period >= leastPeriod && period <= mostPeriod) {
		return nil, fmt.Errorf("feature: homogeneous: the period of its state is %g; it must be from %g to %g", period, leastPeriod, mostPeriod)
	}
	m, err := periodicOf(cfg, dim, period)
	if err != nil {
		return nil, err
	}
	m.keepPeriod(period)
	return m, nil
}

// periodicOf is the map with period L.
func periodicOf(cfg Config, dim int, period float64) (*series, error) {
	terms := cfg.terms(usualHomogeneous)
	m, err := newSeries(cfg, dim, terms)
	if err != nil {
		return nil, err
	}
	weights := windowed(cfg.Kernel, cfg.Window, period, terms/2)
	scale := make([]float32, len(weights))
	for i, w := range weights {
		if i > 0 {
			w *= 2
		}
		scale[i] = float32(math.Sqrt(w))
	}
	m.expand = func(out []float32, stride int, s *strip) { s.waves(out, stride, float32(period), scale) }
	return m, nil
}

// waves writes the features of the homogeneous map. The cos and sin of multiples of Lu follow
// from those of Lu by rotations, x^(h/2) being the length of what is turned.
func (s *strip) waves(out []float32, stride int, period float32, scale []float32) {
	n := s.n
	for e, v := range s.power[:n] {
		out[e] = scale[0] * v
	}
	if len(scale) == 1 {
		return
	}
	sin, cos := s.a[:n], s.b[:n]
	for e, v := range s.log[:n] {
		sin[e] = period * v
	}
	vec.SinCos32(sin, cos, sin, 1)
	re, im := s.c[:n], s.d[:n]
	copy(re, s.power[:n])
	clear(im)
	for i, w := range scale[1:] {
		even, odd := out[(2*i+1)*stride:][:n], out[(2*i+2)*stride:][:n]
		for e, c := range cos {
			x, y, t := re[e], im[e], sin[e]
			re[e] = float32(x*c) - float32(y*t)
			im[e] = float32(y*c) + float32(x*t)
			even[e], odd[e] = w*re[e], w*im[e]
		}
	}
}

// windowed returns w_0 … w_n.
func windowed(k kernel.Kernel, window string, period float64, n int) []float64 {
	spectrum := spectra[k.Name]
	w := make([]float64, n+1)
	if window == "uniform" {
		for i := range w {
			w[i] = period * spectrum.kappa(float64(i)*period)
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
		f := weight * h / 3 * period / math.Pi * spectrum.signature(at)
		for i := range w {
			w[i] += float64(f * math.Cos(float64(i)*period*at))
		}
	}
	for i, v := range w {
		w[i] = max(0, v)
	}
	return w
}

// choosePeriod returns the best period for a sample, a float32. The grid is geometric: by
// octaves' quarters over all of the range, then by 32nds around the best.
func choosePeriod(cfg Config, sample matrix.Rows) float64 {
	r := newRatios(cfg.Kernel, sample)
	n := cfg.terms(usualHomogeneous) / 2
	best, least := 1.0, math.Inf(1)
	try := func(period float64) {
		period = float64(float32(period))
		if period < leastPeriod || period > mostPeriod {
			return
		}
		if e := r.error(cfg.Kernel, windowed(cfg.Kernel, cfg.Window, period, n), period); e < least {
			best, least = period, e
		}
	}
	for i := -20; i <= 12; i++ { // 1/32 to 8
		try(math.Exp2(float64(i) / 4))
	}
	around := best
	for i := -7; i <= 7; i++ {
		try(around * math.Exp2(float64(i)/32))
	}
	return best
}

// ratios holds, for pairs of rows x and y, the sums of (x_j y_j)^(h/2) over the dimensions where
// |log(y_j/x_j)| is about b·step, so that the error of a map of ratios is a linear function of
// them.
type ratios struct {
	step  float64
	pairs [][]float64
}

// The pairs are those of rows that follow each other at these distances in the sample, of which
// ratioRows rows in even steps are used.
const ratioRows, ratioBins = 128, 2048

var ratioDistances = []int{0, 1, 3, 10}

func newRatios(k kernel.Kernel, sample matrix.Rows) *ratios {
	h := homogeneity(k)
	var rows []logs
	for i, n := 0, sample.Len(); i < min(n, ratioRows); i++ {
		rows = append(rows, logsOf(sample, i*n/min(n, ratioRows), h))
	}
	// The largest ratio decides on the width of the bins, which is 1/64 if that reaches.
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range rows {
		for _, u := range x.log {
			low, high = min(low, u), max(high, u)
		}
	}
	r := &ratios{step: max(1.0/64, (high-low)/(ratioBins-2))}
	bins := 2
	if high > low {
		bins = int((high-low)/r.step) + 3
	}
	for _, distance := range ratioDistances {
		for i := range rows {
			if i+distance < len(rows) {
				r.pairs = append(r.pairs, histogram(rows[i], rows[i+distance], r.step, bins))
			}
		}
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

// histogram adds up (x_j y_j)^(h/2) by |log(y_j/x_j)|, divided between the two nearest bins.
func histogram(x, y logs, step float64, bins int) []float64 {
	sums := make([]float64, bins)
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
	return sums
}

// error is the sum of the squares of the errors of 𝒦̂ over the pairs.
func (r *ratios) error(k kernel.Kernel, w []float64, period float64) float64 {
	if len(r.pairs) == 0 {
		return 0
	}
	difference := make([]float64, len(r.pairs[0]))
	for b := range difference {
		at := float64(b) * r.step
		difference[b] = w[0] - spectra[k.Name].signature(at)
		for i, v := range w[1:] {
			difference[b] += float64(2 * v * math.Cos(float64(i+1)*period*at))
		}
	}
	sum := 0.0
	for _, pair := range r.pairs {
		e := 0.0
		for b, p := range pair {
			e += float64(p * difference[b])
		}
		sum += float64(e * e)
	}
	return sum
}
