package approx

import (
	"errors"
	"fmt"
	"math"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// gramOf is the exact Gram matrix that the features of a configuration approximate: that of its
// kernel; of a sum Σ w_i K_i; of a chain that of the last kernel on the feature space of the
// kernel before, where this is a function of inner products.
func gramOf(cfg feature.Config, x matrix.Rows) ([]float64, error) {
	switch {
	case cfg.Steps == nil:
		return Gram(cfg.Kernel, x)
	case cfg.Map == "sum":
		return sumOf(cfg, x, gramOf)
	}
	var g []float64 // nil: inner products of the rows themselves
	for i, s := range cfg.Steps {
		var err error
		switch {
		case g != nil:
			err = inFeatureSpace(s, g, x.Len())
		case s.Steps != nil || s.Kernel.Name != "linear" || i == len(cfg.Steps)-1:
			g, err = gramOf(s, x)
		}
		if err != nil {
			return nil, err
		}
	}
	return g, nil
}

func sumOf(cfg feature.Config, x matrix.Rows, part func(feature.Config, matrix.Rows) ([]float64, error)) ([]float64, error) {
	var all []float64
	for i, s := range cfg.Steps {
		g, err := part(s, x)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = make([]float64, len(g))
		}
		w := 1.0
		if i < len(cfg.Weights) {
			w = cfg.Weights[i]
		}
		for j, v := range g {
			all[j] += w * v
		}
	}
	return all, nil
}

// inFeatureSpace replaces a Gram matrix of n rows by that of a kernel on their feature space.
func inFeatureSpace(s feature.Config, g []float64, n int) error {
	k := s.Kernel
	var of func(xy, xx, yy float64) float64
	switch k.Name {
	case "linear":
		return nil
	case "poly":
		of = func(xy, _, _ float64) float64 { return math.Pow(k.Gamma*xy+k.Coef0, float64(k.Degree)) }
	case "exp":
		of = func(xy, _, _ float64) float64 { return math.Exp(k.Gamma * xy) }
	case "rbf":
		of = func(xy, xx, yy float64) float64 { return math.Exp(-k.Gamma * max(0, xx+yy-2*xy)) }
	default:
		return fmt.Errorf("approx: the %s kernel behind a map of another kernel has no exact value here; known are linear, poly, exp and rbf", nameOfKernel(s))
	}
	diagonal := make([]float64, n)
	for i := range n {
		diagonal[i] = g[i*n+i]
	}
	for i := range n {
		for j := range n {
			g[i*n+j] = of(g[i*n+j], diagonal[i], diagonal[j])
		}
	}
	return nil
}

func nameOfKernel(s feature.Config) string {
	if s.Steps != nil {
		return s.Map
	}
	return s.Kernel.Name
}

// distancesOf are the squared distances that belong to gramOf. Those of single kernels and their
// sums keep their digits where rows are near.
func distancesOf(cfg feature.Config, x matrix.Rows, gram []float64) ([]float64, error) {
	switch {
	case cfg.Steps == nil:
		return Distances2(cfg.Kernel, x)
	case cfg.Map == "sum":
		return sumOf(cfg, x, func(s feature.Config, x matrix.Rows) ([]float64, error) {
			g, err := gramOf(s, x)
			if err != nil {
				return nil, err
			}
			return distancesOf(s, x, g)
		})
	}
	n := x.Len()
	all := make([]float64, n*n)
	for i := range n {
		for j := range n {
			all[i*n+j] = max(0, gram[i*n+i]+gram[j*n+j]-2*gram[i*n+j])
		}
	}
	return all, nil
}

// target is what maps of one kernel are measured against.
type target struct {
	n                int
	gram, distances2 []float64
	exact            []float64 // of pairs i > j, row by row
	norm2            float64   // ‖K‖_F²

	spectral *Spectral // nil if K is 0
	block    int       // rows of spectral
}

// spectralRows is how many of the rows the spectral closeness is measured on.
const spectralRows = 500

func newTarget(cfg feature.Config, x matrix.Rows, lambda float64) (*target, error) {
	n := x.Len()
	gram, err := gramOf(cfg, x)
	if err != nil {
		return nil, err
	}
	t := &target{n: n, gram: gram, exact: lower(n, gram), block: min(n, spectralRows)}
	for i, v := range gram {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("approx: the kernel of rows %d and %d of the sample is beyond float64; scale the data or give a smaller gamma", i/n+1, i%n+1)
		}
		t.norm2 += v * v
	}
	if math.IsInf(t.norm2, 0) {
		return nil, errors.New("approx: the kernel's values are beyond float64 when squared; scale the data or give a smaller gamma")
	}
	if t.distances2, err = distancesOf(cfg, x, gram); err != nil {
		return nil, err
	}
	part := block(n, t.block, gram)
	trace := 0.0
	for i := range t.block {
		trace += part[i*t.block+i]
	}
	if lambda == 0 {
		lambda = trace / 1000
	}
	if trace > 0 && lambda > 0 {
		t.spectral, err = NewSpectral(t.block, part, lambda)
	}
	return t, err
}

// lower are the elements below the diagonal of a matrix n×n, row by row.
func lower(n int, a []float64) []float64 {
	all := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		all = append(all, a[i*n:i*n+i]...)
	}
	return all
}

// block are the first m rows and columns of a matrix n×n.
func block(n, m int, a []float64) []float64 {
	if n == m {
		return a
	}
	all := make([]float64, 0, m*m)
	for i := range m {
		all = append(all, a[i*n:i*n+m]...)
	}
	return all
}

func (t *target) about() Exact {
	if t.spectral == nil {
		return Exact{}
	}
	return Exact{t.spectral.lambda, t.spectral.Dimension(), t.spectral.StableRank()}
}

// meter measures maps on rows; it keeps the targets of kernels.
type meter struct {
	rows    Rows
	opt     Options
	targets map[kernel.Kernel]*target
}

func newMeter(rows Rows, opt Options) *meter {
	return &meter{rows, opt, map[kernel.Kernel]*target{}}
}

func (m *meter) target(cfg feature.Config) (*target, error) {
	if cfg.Steps != nil {
		return newTarget(cfg, m.rows.Judge, m.opt.Lambda)
	}
	if err := cfg.Kernel.Validate(); err != nil {
		return nil, err
	}
	k := cfg.Kernel.Own()
	if t := m.targets[k]; t != nil {
		return t, nil
	}
	t, err := newTarget(cfg, m.rows.Judge, m.opt.Lambda)
	if err == nil {
		m.targets[k] = t
	}
	return t, err
}
