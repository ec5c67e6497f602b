package feature

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Unary is unary (thermometer) code (Maji and Berg, "Max-margin additive classifiers for
// detection", 2009), for the intersection kernel: with N cells (option terms) per dimension
// and 0 ≤ x ≤ 1, option form is
//
//	fraction  φ₂(x) = √(1/N)·[1, …, 1, xN - ⌊xN⌋, 0, …, 0], with ⌊xN⌋ ones; the default
//	step      φ₁(x) = √(1/N)·[1, …, 1, 0, …, 0], with round(xN) ones
//
// The product of two is min(x, y) rounded to N parts, at most 1/(2N) away, for φ₁. For φ₂ it
// is min(x, y) exactly unless x and y lie in the same cell, at fractions f ≤ g of it: then
// it is too small by f(1-g)/N ≤ 1/(4N).
//
// With a stretch a the map encodes ax and divides by √a: errors are relative to 1/a.
// Numbers above 1/a count as 1/a. Unless given, 1/a is the largest number of each dimension
// in the sample. For the kernels with h ≠ 1 features are multiplied by x^((h-1)/2).
//
// A linear machine on φ₂ is Maji and Berg's piecewise linear one (PWLSGD): w·φ₂ is in each dimension a
// piecewise linear function f with knots at the ends of the cells, w_j = √N·(f(j/N) - f((j-1)/N)), so that the
// penalty ‖w‖² is N times the sum of the squared differences between neighbouring knots, which is their regulariser.
// They train it by stochastic gradients; any linear learner solves the same problem.
//
// The N features of a dimension are adjacent, so the nonzero ones of a number form a run. Features
// are sparse: for an x of the sample about axN are nonzero.
//
// A row takes O(Nd) operations, or as many as it has features if these are sparse. The map holds 8d
// bytes.
const Unary = "unary"

// unary is the map [Unary].
type unary struct {
	dim, cells int
	h          float64
	step       bool
	stretch    []float32
	scale      []float32 // √(1/(N·a_j))
	state      map[string]*matrix.Dense
	chosen     string
	work       freelist.Slices[float32]
}

// usualUnary is N unless the configuration says otherwise.
const usualUnary = 20

// unarySample is how many rows are used to find the largest number of each dimension.
const unarySample = 10_000

func checkUnary(cfg Config) error {
	if cfg.Form != "" && cfg.Form != "step" && cfg.Form != "fraction" {
		return fmt.Errorf("feature: unary: form %q is not known; known are step, fraction", cfg.Form)
	}
	return checkSeries(cfg)
}

func newUnary(cfg Config, dim int) (Map, error) { return unaryOf(cfg, given(cfg.Stretch, dim)) }

func fitUnary(_ context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	largest := make([]float32, sample.Dim())
	for i := range sample.Len() {
		if sample.CSR == nil {
			for j, v := range sample.Dense.Row(i) {
				largest[j] = max(largest[j], v)
			}
			continue
		}
		idx, val := sample.CSR.Row(i)
		for e, j := range idx {
			largest[j] = max(largest[j], val[e])
		}
	}
	all := float32(0)
	for _, v := range largest {
		all = max(all, v)
	}
	a := make([]float32, len(largest))
	for j, v := range largest {
		if v == 0 { // no number above 0: assume numbers as large as in the other dimensions
			v = all
		}
		if a[j] = 1; v > 0 {
			a[j] = min(max(1/v, leastStretch), mostStretch)
		}
	}
	return fitStretched(cfg, sample, a, unaryOf)
}

func restoreUnary(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	return restoreStretched(cfg, dim, state, unaryOf)
}

func unaryOf(cfg Config, stretch []float32) (*unary, error) {
	m := &unary{dim: len(stretch), cells: cfg.terms(usualUnary), h: homogeneity(cfg.Kernel), step: cfg.Form == "step", stretch: stretch}
	if out := float64(m.dim) * float64(m.cells); out > math.MaxInt32 {
		return nil, fmt.Errorf("feature: unary: %d dimensions with %d cells each are too many", m.dim, m.cells)
	}
	if err := cfg.decided(m.dim * m.cells); err != nil {
		return nil, err
	}
	for _, a := range stretch {
		m.scale = append(m.scale, float32(1/math.Sqrt(float64(m.cells)*float64(a))))
	}
	return m, nil
}

func (m *unary) keep(state map[string]*matrix.Dense, chosen string) {
	m.state, m.chosen = state, chosen
}

// Dims returns d and D = dN.
func (m *unary) Dims() (in, out int) { return m.dim, m.dim * m.cells }

// Bytes counts the stretches.
func (m *unary) Bytes() int64 { return 8 * int64(m.dim) }

// State is the stretches, if a sample decided on them.
func (m *unary) State() map[string]*matrix.Dense { return m.state }

// Chosen describes them.
func (m *unary) Chosen() string { return m.chosen }

// ones returns how many ones the number x of dimension j has, and the fraction after them.
func (m *unary) ones(x float32, j int) (whole int, fraction float32) {
	n := min(float64(m.cells), float64(x)*float64(m.stretch[j])*float64(m.cells))
	switch {
	case n == 0:
		return 0, 0
	case !(n > 0):
		return 0, float32(math.NaN())
	}
	if m.step {
		return int(n + 0.5), 0
	}
	whole = int(n)
	return whole, float32(n - float64(whole))
}

// write writes the features of the number x of dimension j, its ones and a fraction if it is not
// 0, to the beginning of z.
func (m *unary) write(z []float32, x float32, j, whole int, fraction, factor float32) {
	one := m.scale[j] * factor
	z = z[:whole+count(fraction)]
	for i := range whole {
		z[i] = one
	}
	if fraction != 0 {
		z[whole] = one * fraction
	}
}

// count is how many features a fraction makes.
func count(fraction float32) int {
	if fraction != 0 {
		return 1
	}
	return 0
}

// factors returns x^((h-1)/2) for numbers, in work memory, or nil for h = 1.
func (m *unary) factors(x []float32) []float32 {
	if m.h == 1 {
		return nil
	}
	f := m.work.Get(m.dim)[:len(x)]
	for e, v := range x {
		f[e] = max(v, math.SmallestNonzeroFloat32)
	}
	vec.Log32(f, f)
	for e := range f {
		f[e] *= float32((m.h - 1) / 2)
	}
	vec.Exp32(f, f)
	return f
}

// Transform writes the ones of each row.
func (m *unary) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(m.dim, m.dim*m.cells, dst, x)
	eachRow(m, dst, x)
}

func (m *unary) rows(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	for i := lo; i < hi; i++ {
		z := dst.Row(i)
		clear(z)
		idx, val := rowOf(x, i)
		f := m.factors(val)
		for e, v := range val {
			j, factor := e, float32(1)
			if idx != nil {
				j = int(idx[e])
			}
			if f != nil {
				factor = f[e]
			}
			whole, fraction := m.ones(v, j)
			m.write(z[j*m.cells:], v, j, whole, fraction, factor)
		}
		if f != nil {
			m.work.Put(f[:m.dim])
		}
	}
}

// rowOf returns row i, with its columns if it is sparse.
func rowOf(x matrix.Rows, i int) (idx []int32, val []float32) {
	if x.CSR != nil {
		return x.CSR.Row(i)
	}
	return nil, x.Dense.Row(i)
}

// Sparsely reports that features are always sparse.
func (m *unary) Sparsely(matrix.Rows) bool { return true }

// TransformSparse writes the nonzero features.
func (m *unary) TransformSparse(dst *matrix.CSR, x matrix.Rows) {
	checkSparse(m.dim, x)
	reserve(dst, x.Len(), m.dim*m.cells, func(i int) (n int) {
		idx, val := rowOf(x, i)
		for e, v := range val {
			j := e
			if idx != nil {
				j = int(idx[e])
			}
			whole, fraction := m.ones(v, j)
			n += whole + count(fraction)
		}
		return n
	})
	eachSparseRow(m, dst, x)
}

func (m *unary) sparseRows(dst *matrix.CSR, x matrix.Rows, lo, hi int) {
	for i := lo; i < hi; i++ {
		to, z := dst.Row(i)
		idx, val := rowOf(x, i)
		f := m.factors(val)
		at := 0
		for e, v := range val {
			j, factor := e, float32(1)
			if idx != nil {
				j = int(idx[e])
			}
			if f != nil {
				factor = f[e]
			}
			whole, fraction := m.ones(v, j)
			m.write(z[at:], v, j, whole, fraction, factor)
			for i := range whole + count(fraction) {
				to[at] = int32(j*m.cells + i)
				at++
			}
		}
		if f != nil {
			m.work.Put(f[:m.dim])
		}
	}
}
