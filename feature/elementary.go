package feature

import (
	"context"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Elementary is the map of Li, Lebanon and Sminchisescu (2012), section 5, for k₁(x, y) = 2xy/(x+y):
// as x+y is proportional to 1 - t(x)t(y), where t(x) = (x-1)/(x+1),
//
//	2xy/(x+y) = 2x/(x+1)·2y/(y+1)·Σ_k t(x)^k t(y)^k, c_k(x) = 2x/(x+1)·t(x)^k
//
// (equation 15 there, except for a factor in its middle). The relative error of m terms is exactly
// (t(x)t(y))^m, at ax instead of x: negligible where ax is near 1, and total where it is near 0 or infinite.
// For a, the cost and the order of features see [Chebyshev], which is more accurate.
//
// A row takes O(dm) operations, a sparse one O(nnz·m), and the map holds 8d bytes.
const Elementary = "elementary"

// usualElementary is m unless the configuration says otherwise.
const usualElementary = 6

func newElementary(cfg Config, dim int) (Map, error) {
	return elementaryOf(cfg, given(cfg.Stretch, dim))
}

func fitElementary(_ context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	return fitStretched(cfg, sample, chooseStretches(cfg, sample, cfg.terms(usualElementary), elementarySignature), elementaryOf)
}

func restoreElementary(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	return restoreStretched(cfg, dim, state, elementaryOf)
}

func elementaryOf(cfg Config, stretch []float32) (*series, error) {
	terms := cfg.terms(usualElementary)
	m, err := newSeries(cfg, len(stretch), terms)
	if err != nil {
		return nil, err
	}
	m.form, m.stretch = "elementary", newStretches(stretch)
	m.expand = func(out []float32, stride int, s *strip) {
		s.sech(out)
		last := out[:s.n]
		for k := 1; k < terms; k++ {
			next := out[k*stride:][:s.n]
			vec.Recur32(next, 1, s.b[:s.n], last, 0, last)
			last = next
		}
	}
	return m, nil
}

// elementarySignature writes g_0(u), g_1(u), … into g.
func elementarySignature(g []float64, u float64) {
	g[0] = 1 / math.Cosh(u/2)
	t := math.Tanh(u / 2)
	for k := 1; k < len(g); k++ {
		g[k] = t * g[k-1]
	}
}
