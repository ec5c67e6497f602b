package feature

import (
	"context"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Chebyshev is the map of Li, Lebanon and Sminchisescu, "Chebyshev approximations to the
// histogram χ² kernel" (2012), for k₁(x, y) = 2xy/(x+y). Equation 12 there, at ax instead of x:
//
//	c_0 = 2x/(x+1), c_1 = -(√2 log x/π)·c_0, c_k = [(-1)^k (2 log x/π)·c_(k-1) + (k-2)·c_(k-2)]/k.
//
// Of the m terms c_0 … c_(m-1) the sum Σ c_k(x)c_k(y) is k₁(x, y) up to C(x)/m·√(xy), with C of
// the order of 1 for x from 10⁻³ to 1; where log x is near 0 the error falls much faster.
//
// With r = √x, c_0 is √x·2r/(1+r²): |c_k| ≤ √x for every k and x, as Σ c_k² = k₁(x, x) = x.
//
// Option stretch is a; by default a sample of rows decides, for each dimension. A row takes O(dm)
// operations, a sparse one O(nnz·m), and the map 8d bytes. Feature i of dimension j is column i·d + j.
const Chebyshev = "chebyshev"

// usualChebyshev is m unless the configuration says otherwise.
const usualChebyshev = 6

func newChebyshev(cfg Config, dim int) (Map, error) {
	return chebyshevOf(cfg, given(cfg.Stretch, dim))
}

func fitChebyshev(_ context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	return fitStretched(cfg, sample, chooseStretches(cfg, sample, cfg.terms(usualChebyshev), chebyshevSignature), chebyshevOf)
}

func restoreChebyshev(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	return restoreStretched(cfg, dim, state, chebyshevOf)
}

func chebyshevOf(cfg Config, stretch []float32) (*series, error) {
	terms := cfg.terms(usualChebyshev)
	m, err := newSeries(cfg, len(stretch), terms)
	if err != nil {
		return nil, err
	}
	m.form, m.stretch = "chebyshev", newStretches(stretch)
	m.expand = func(out []float32, stride int, s *strip) { s.chebyshev(out, stride, terms) }
	return m, nil
}

func (s *strip) chebyshev(out []float32, stride, terms int) {
	n := s.n
	s.sech(out)
	if terms == 1 {
		return
	}
	twice := s.a[:n] // 2 log(ax)/π
	for e, v := range s.log[:n] {
		twice[e] = 2 / math.Pi * (v + s.logA[e])
	}
	before, last := out[:n], out[stride:][:n]
	vec.Recur32(last, -math.Sqrt2/2, twice, before, 0, before)
	for k := 2; k < terms; k++ {
		next := out[k*stride:][:n]
		f, g := float32(1/float64(k)), float32(float64(k-2)/float64(k))
		if k%2 == 1 {
			f = -f
		}
		vec.Recur32(next, f, twice, last, g, before)
		before, last = last, next
	}
}

// sech writes (ax)^½·sech(½ log ax)/√a·x^((h-1)/2), with which the series of the chi2 kernel begin:
// 2ax/(ax+1)/√a for h = 1. It leaves (ax-1)/(ax+1) in s.b.
func (s *strip) sech(out []float32) {
	n := s.n
	vec.Sech32(out[:n], s.b[:n], s.rootA[:n], s.root[:n], s.power[:n])
}

// chebyshevSignature writes g_0(u), g_1(u), … into g.
func chebyshevSignature(g []float64, u float64) {
	g[0] = 1 / math.Cosh(u/2)
	if len(g) > 1 {
		g[1] = -math.Sqrt2 * u / math.Pi * g[0]
	}
	sign := 1.0
	for k := 2; k < len(g); k++ {
		g[k] = (float64(sign*2*u/math.Pi*g[k-1]) + float64(float64(k-2)*g[k-2])) / float64(k)
		sign = -sign
	}
}
