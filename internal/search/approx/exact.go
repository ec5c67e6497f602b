package approx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// gramOf is the exact Gram matrix that the features of a configuration approximate (up to a shift
// for those that are feature.Centred): that of its kernel; for a sum Σ w_i K_i; for a chain that
// of the last kernel on the feature space of the previous kernel, if it is a function of inner products.
func gramOf(cfg feature.Config, x matrix.Rows) ([]float64, error) {
	switch {
	case cfg.Steps == nil:
		return Gram(cfg.Kernel, x)
	case cfg.Map == "sum":
		return sumOf(cfg, x, gramOf)
	}
	var g []float64 // nil: inner products of the rows themselves
	moved := false  // the features so far have the kernel's distances, not its inner products
	for i, s := range cfg.Steps {
		var err error
		linear := s.Steps == nil && s.Kernel.Linear()
		switch law, _ := s.Kernel.Law(); {
		case moved && !linear && !law.ShiftInvariant():
			err = fmt.Errorf("approx: %s of the %s kernel has no exact value behind a map that moves features, as %s does; "+
				"take a kernel of distances, such as rbf",
				nameOf(s), nameOfKernel(s), nameOf(cfg.Steps[i-1]))
		case g != nil:
			err = inFeatureSpace(s, g, x.Len())
		case !linear || i == len(cfg.Steps)-1:
			g, err = gramOf(s, x)
		}
		if err != nil {
			return nil, err
		}
		moved = feature.Centred(s) || moved && linear
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
	if s.Steps != nil || !k.Smooth() {
		return fmt.Errorf("approx: the %s kernel behind a map of another kernel has no exact value here; "+
			"only functions of inner products have one: %s",
			nameOfKernel(s), strings.Join(ofProducts(), ", "))
	}
	if k.Linear() {
		return nil
	}
	diagonal := make([]float64, n)
	for i := range n {
		diagonal[i] = g[i*n+i]
	}
	for i := range n {
		for j := range n {
			g[i*n+j] = k.OfProducts(g[i*n+j], diagonal[i], diagonal[j])
		}
	}
	return nil
}

// ofProducts are the names of the kernels that are functions of inner products.
func ofProducts() (names []string) {
	for _, name := range kernel.Names() {
		if (kernel.Kernel{Name: name}).Smooth() {
			names = append(names, name)
		}
	}
	return names
}

func nameOfKernel(s feature.Config) string {
	if s.Steps != nil {
		return s.Map
	}
	return s.Kernel.Name
}

// distancesOf are the squared distances that belong to gramOf. Those of single kernels and
// their sums lose no digits for near rows.
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
	centred          bool // gram is moved, and so are features to be
	gram, distances2 []float64
	exact            []float64 // of pairs i > j, row by row
	norm2            float64   // ‖K‖_F²

	spectral *Spectral // nil if K is 0
	block    int       // rows of spectral
}

// spectralRows is how many of the rows the spectral closeness is measured on.
const spectralRows = 500

func newTarget(ctx context.Context, cfg feature.Config, x matrix.Rows, lambda float64) (*target, error) {
	n := x.Len()
	gram, err := gramOf(cfg, x)
	if err != nil {
		return nil, err
	}
	t := &target{n: n, centred: feature.Centred(cfg), gram: gram, block: min(n, spectralRows)}
	for i, v := range gram {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("approx: the kernel of rows %d and %d of the sample is beyond float64; scale the "+
				"data or give a smaller gamma", i/n+1, i%n+1)
		}
	}
	if t.distances2, err = distancesOf(cfg, x, gram); err != nil {
		return nil, err
	}
	if t.centred {
		centre(n, gram)
	}
	for _, v := range gram {
		t.norm2 += v * v
	}
	if math.IsInf(t.norm2, 0) {
		return nil, errors.New("approx: the kernel's values are beyond float64 when squared; scale the data or give a smaller gamma")
	}
	t.exact = lower(n, gram)
	part := block(n, t.block, gram)
	trace := 0.0
	for i := range t.block {
		trace += part[i*t.block+i]
	}
	if lambda == 0 {
		lambda = trace / 1000
	}
	if trace > 0 && lambda > 0 {
		t.spectral, err = NewSpectral(ctx, t.block, part, lambda)
	}
	return t, err
}

// centre moves a Gram matrix of n rows to their mean in the feature space.
func centre(n int, gram []float64) {
	mean, all := make([]float64, n), 0.0
	for i := range n {
		for _, v := range gram[i*n:][:n] {
			mean[i] += v / float64(n)
		}
		all += mean[i] / float64(n)
	}
	for i := range n {
		for j := range n {
			gram[i*n+j] -= mean[i] + mean[j] - all
		}
	}
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
	targets map[targetKey]*target
}

// targetKey identifies maps with the same target.
type targetKey struct {
	kernel  kernel.Kernel
	centred bool
}

func newMeter(rows Rows, opt Options) *meter {
	return &meter{rows, opt, map[targetKey]*target{}}
}

func (m *meter) target(ctx context.Context, cfg feature.Config) (*target, error) {
	if cfg.Steps != nil {
		return newTarget(ctx, cfg, m.rows.Judge, m.opt.Lambda)
	}
	if err := cfg.Kernel.Validate(); err != nil {
		return nil, err
	}
	k := targetKey{cfg.Kernel.Own(), feature.Centred(cfg)}
	if t := m.targets[k]; t != nil {
		return t, nil
	}
	t, err := newTarget(ctx, cfg, m.rows.Judge, m.opt.Lambda)
	if err == nil {
		m.targets[k] = t
	}
	return t, err
}
