package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// The maps of additive kernels of histograms,
//
//	k(x, y) = Σ_j k₁(x_j, y_j), k₁(x, y) = (xy)^(h/2)·𝒦(log y - log x), x, y ≥ 0.
//
// Each approximates k₁ by the inner product of m features of x and of y, in the same way for every
// dimension, so that z(x)·z(y) = Σ_j z(x_j)·z(y_j) is the sum. With u = log x all have the form
//
//	z_i(x) = x^(h/2)·g_i(u), i = 0 … m-1, Σ_i g_i(u)·g_i(v) ≈ 𝒦(v - u),
//
// and differ in g: homogeneous uses cos iLu and sin iLu; chebyshev and elementary use
// sech(u/2) times polynomials in u and in tanh(u/2), for the chi2
// kernel. A zero maps to zeros, and nothing is random: the error is a bias, not a variance.
//
// As k₁(x, y) = k₁(ax, ay)/aʰ for every a > 0, chebyshev and elementary, which are best where
// u is near 0, may use u = log(ax). The papers do not; but bins of histograms are
// small numbers, and choosing a on a sample gains orders of magnitude of accuracy. Each
// dimension is a separate kernel, so it has its own a.
//
// Feature i of dimension j is column i·d + j.

// additive are the maps of kernels of histograms.
func additive() []kind {
	return []kind{
		{name: Homogeneous, about: "additive kernels of histograms, by waves of log x",
			cost: "D", source: "Vedaldi and Zisserman 2012",
			options: []string{"terms", "window", "period"}, words: map[string][]string{"window": {"fitted", "uniform", "rectangular"}}, dim: true, frugal: true, columns: true,
			takes: isAdditive,
			check: checkHomogeneous, given: givenPeriod, make: newPeriodic, fit: fitPeriodic, restore: restorePeriodic},
		{name: Chebyshev, about: "the chi2 kernel, by a series of polynomials in log x",
			cost: "D", source: "Li, Lebanon and Sminchisescu 2012",
			options: []string{"terms", "stretch"}, dim: true, frugal: true, columns: true, takes: only(kernel.Chi2),
			check: checkSeries, given: givenStretch, make: newChebyshev, fit: fitChebyshev, restore: restoreChebyshev},
		{name: Elementary, about: "the chi2 kernel, by a geometric series",
			cost: "D", source: "Li, Lebanon and Sminchisescu 2012",
			options: []string{"terms", "stretch"}, dim: true, frugal: true, columns: true, takes: only(kernel.Chi2),
			check: checkSeries, given: givenStretch, make: newElementary, fit: fitElementary, restore: restoreElementary},
		{name: Skewed, about: "the skewed kernels of histograms, by random waves of log(x+c)",
			cost: "dD", source: "Li, Ionescu and Sminchisescu 2010",
			options: []string{"form"}, words: map[string][]string{"form": waveForms}, takes: hasLogLaw, check: checkForm, make: newSkewed},
		{name: Unary, about: "the intersection kernel, by unary (thermometer) code, to the fraction of a cell or rounded (form); sparse",
			cost: "D", source: "Maji and Berg 2009",
			options: []string{"terms", "form", "stretch"}, words: map[string][]string{"form": {"fraction", "step"}}, dim: true, frugal: true,
			sample: func(Config) int { return unarySample },
			takes:  only(kernel.Intersection),
			check:  checkUnary, given: givenStretch, make: newUnary, fit: fitUnary, restore: restoreUnary},
	}
}

// mostSeries bounds the features of a dimension: more are beyond the precision of float32.
const mostSeries = 1 << 12

// isAdditive reports whether a kernel is a sum over the dimensions.
func isAdditive(k kernel.Kernel) bool {
	_, ok := k.Additive()
	return ok
}

// hasLogLaw reports whether a kernel has frequencies, of log(x+c).
func hasLogLaw(k kernel.Kernel) bool {
	l, ok := k.Law()
	return ok && l.Log
}

// homogeneity is h of a kernel.
func homogeneity(k kernel.Kernel) float64 {
	a, _ := k.Additive()
	return a.Homogeneity
}

// terms is m of an additive map: the configuration's or the default.
func (cfg *Config) terms(usual int) int {
	if cfg.Terms == 0 {
		return usual
	}
	return cfg.Terms
}

// checkSeriesTerms checks the number of terms.
func checkSeriesTerms(cfg Config) error {
	if cfg.Terms < 0 || cfg.Terms > mostSeries {
		return fmt.Errorf("feature: %s: terms is %d; it must be from 1 to %d, or 0 for the usual number", cfg.Map, cfg.Terms, mostSeries)
	}
	return nil
}

// A stretch is limited to a range in which float32 can hold the squares of stretched numbers.
const leastStretch, mostStretch = 1e-30, 1e30

func checkStretch(cfg Config) error {
	if cfg.Stretch != 0 && !(cfg.Stretch >= leastStretch && cfg.Stretch <= mostStretch) {
		return fmt.Errorf("feature: %s: stretch is %g; it must be from %g to %g, or 0 for a choice by the data", cfg.Map,
			cfg.Stretch, leastStretch, mostStretch)
	}
	return nil
}

func givenStretch(cfg Config) bool { return cfg.Stretch != 0 }

// series is a map of an additive kernel. A row takes O(dm) operations, a sparse one O(nnz·m)
// (and D writes if its features are to be dense).
type series struct {
	dim, terms int
	h          float64
	// expand writes the features of the elements of a strip: feature i of element e to
	// out[i·stride+e].
	expand func(out []float32, stride int, s *strip)
	// form is what expand does: "root", "waves" with period and scale, "chebyshev" or "elementary".
	form   string
	period float32
	scale  []float32
	// stretch, if not nil, has a_j for each dimension, in the form that expand needs.
	stretch *stretches
	state   map[string]*matrix.Dense
	chosen  string
	free    freelist.List[strip]
}

// stretches are the numbers a_j by which the inputs are multiplied.
type stretches struct{ log, root []float32 } // log a_j and √a_j

// stripLen is how many elements of a row are mapped at a time.
const stripLen = 512

// strip is the input for the features of up to stripLen elements x of a row, and work memory.
type strip struct {
	n, group int               // elements, and their number rounded up to a multiple of 64; the contents beyond them do not matter
	log      [stripLen]float32 // log x, of the smallest normal number if x is less
	root     [stripLen]float32 // √x
	power    [stripLen]float32 // x^(h/2)
	logA     [stripLen]float32 // log a
	rootA    [stripLen]float32 // √a
	a, b     [stripLen]float32 // work memory of expand, as the next
	c, d     [stripLen]float32
	scatter  []float32 // terms·stripLen: features on their way to scattered columns
}

// newSeries is the map of cfg with a number of terms; expand is still missing.
func newSeries(cfg Config, dim, terms int) (*series, error) {
	if out := float64(dim) * float64(terms); out > math.MaxInt32 {
		return nil, fmt.Errorf("feature: %s: %d dimensions with %d features each are too many", cfg.Map, dim, terms)
	}
	if err := cfg.decided(dim * terms); err != nil {
		return nil, err
	}
	return &series{dim: dim, terms: terms, h: homogeneity(cfg.Kernel)}, nil
}

func (m *series) get() *strip {
	s := m.free.Get()
	if s.scatter == nil {
		s.scatter = make([]float32, m.terms*stripLen)
	}
	return s
}

// Dims returns d and D = d·m.
func (m *series) Dims() (in, out int) { return m.dim, m.dim * m.terms }

// Bytes counts the stretches.
func (m *series) Bytes() int64 {
	if m.stretch == nil {
		return 0
	}
	return 8 * int64(m.dim)
}

// State is what a sample decided.
func (m *series) State() map[string]*matrix.Dense { return m.state }

// Chosen says what.
func (m *series) Chosen() string { return m.chosen }

// load takes the elements x of the dimensions in idx (nil: from first on).
func (m *series) load(s *strip, x []float32, idx []int32, first int) {
	s.n = len(x)
	log, root := s.log[:s.n], s.root[:s.n]
	vec.Roots32(s.a[:s.n], root, x) // any finite logarithm serves for 0, whose root is 0
	// The logarithm works on groups: padding after the last number saves it a copy.
	s.group = (s.n + 63) / 64 * 64
	for e := s.n; e < s.group; e++ {
		s.a[e] = 1
	}
	vec.Log32(s.log[:s.group], s.a[:s.group])
	power := s.power[:s.n]
	copy(power, root)
	if m.h != 1 {
		h := float32(m.h / 2)
		for e, v := range log {
			power[e] = h * v
		}
		vec.Exp32(power, power)
		for e, v := range root {
			if !(v > 0) { // 0 or NaN
				power[e] = v
			}
		}
	}
	switch {
	case m.stretch == nil:
	case idx == nil:
		copy(s.logA[:s.n], m.stretch.log[first:])
		copy(s.rootA[:s.n], m.stretch.root[first:])
	default:
		for e, j := range idx {
			s.logA[e], s.rootA[e] = m.stretch.log[j], m.stretch.root[j]
		}
	}
}

// Transform expands each row.
func (m *series) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(m.dim, m.dim*m.terms, dst, x)
	eachRow(m, dst, x)
}

// rows transforms rows [lo, hi).
func (m *series) rows(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	s := m.get()
	defer m.free.Put(s)
	for r := lo; r < hi; r++ {
		z := dst.Row(r)
		if x.CSR == nil {
			row := x.Dense.Row(r)
			for j := 0; j < len(row); j += stripLen {
				part := row[j:min(j+stripLen, len(row))]
				m.load(s, part, nil, j)
				m.expand(z[j:], m.dim, s)
			}
			continue
		}
		clear(z)
		idx, val := x.CSR.Row(r)
		for e := 0; e < len(idx); e += stripLen {
			part := idx[e:min(e+stripLen, len(idx))]
			m.load(s, val[e:e+len(part)], part, 0)
			m.expand(s.scatter, stripLen, s)
			for i := range m.terms {
				to, from := z[i*m.dim:(i+1)*m.dim], s.scatter[i*stripLen:]
				for e, j := range part {
					to[j] = from[e]
				}
			}
		}
	}
}

// Sparsely reports that sparse rows give sparse features.
func (m *series) Sparsely(x matrix.Rows) bool { return x.CSR != nil }

// TransformSparse writes m features for each element of x that is stored.
func (m *series) TransformSparse(dst *matrix.CSR, x matrix.Rows) {
	checkSparse(m.dim, x)
	width := func(row int) int {
		if x.CSR == nil {
			return m.dim
		}
		return x.CSR.Ptr[row+1] - x.CSR.Ptr[row]
	}
	reserve(dst, x.Len(), m.dim*m.terms, func(row int) int { return m.terms * width(row) })
	eachSparseRow(m, dst, x)
}

// sparseRows writes rows [lo, hi) to where they belong.
func (m *series) sparseRows(dst *matrix.CSR, x matrix.Rows, lo, hi int) {
	s := m.get()
	defer m.free.Put(s)
	for r := lo; r < hi; r++ {
		to, z := dst.Row(r)
		var idx []int32
		var val []float32
		if x.CSR != nil {
			idx, val = x.CSR.Row(r)
		} else {
			val = x.Dense.Row(r)
		}
		n := len(val)
		for e := 0; e < n; e += stripLen {
			end := min(e+stripLen, n)
			var part []int32
			if idx != nil {
				part = idx[e:end]
			}
			m.load(s, val[e:end], part, e)
			m.expand(z[e:], n, s)
		}
		for i := range m.terms {
			for e := range n {
				j := e
				if idx != nil {
					j = int(idx[e])
				}
				to[i*n+e] = int32(i*m.dim + j)
			}
		}
	}
}
