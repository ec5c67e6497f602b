package moments

import (
	"errors"
	"fmt"

	"mercer/internal/engine/vec"
)

// Classes are the moments of rows by class: what a discriminant analysis needs. They follow from moments
// whose targets are 1 for a row's class and -1 for the others (of two classes there is one target, 1 for the second): for the N_c of
// the weight N in class c,
//
//	N_c = N(1 + ȳ_c)/2,  V_c = Σw(z-z̄)(y_c-ȳ_c) = 2N_c(μ_c - z̄),
//
// so that one pass, and a merger of statistics, serve ridge regression and discriminants alike.
type Classes struct {
	D int

	// Rows is the number of rows with a weight, Weight N_c by class, and Offsets μ_c - z̄, C×D.
	Rows    int
	Weight  []float64
	Offsets []float64

	m *Moments
}

// Classes returns the moments by class. They share the memory of m. It is an error if some class has no rows of positive
// weight, or some rows have no class.
func (m *Moments) Classes() (*Classes, error) {
	switch {
	case m.Labelled != m.Weight:
		return nil, errors.New("some rows have no class; discriminants take statistics of the others alone")
	case !(m.Weight > 0):
		return nil, errors.New("no rows to find discriminants of")
	}
	c := &Classes{D: m.D, Rows: m.Used, m: m}
	column := func(t int, sign float64) {
		n := m.Weight * (1 + sign*m.MeanY[t]) / 2
		c.Weight = append(c.Weight, n)
		for i := range m.D {
			c.Offsets = append(c.Offsets, sign*m.V[i*m.K+t]/(2*n))
		}
	}
	if m.K == 1 {
		column(0, -1)
		column(0, 1)
	} else {
		for t := range m.K {
			column(t, 1)
		}
	}
	for t, n := range c.Weight {
		if !(n > 1e-12*m.Weight) {
			return nil, fmt.Errorf("class %d of %d has no rows of a weight above 0; discriminants need a mean of each class", t+1, len(c.Weight))
		}
	}
	return c, nil
}

// Total is N.
func (c *Classes) Total() float64 { return c.m.Weight }

// Within is the covariance within classes, (H - Σ N_c(μ_c-z̄)(μ_c-z̄)ᵀ)/N, of which the upper triangle is written
// to sigma, D×D.
func (c *Classes) Within(sigma []float64) {
	d, m := c.D, c.m
	vec.Parallel(d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := sigma[i*d+i : (i+1)*d]
			copy(row, m.H[i*d+i:])
			for t, n := range c.Weight {
				o := c.Offsets[t*d : (t+1)*d]
				vec.Axpy64(-n*o[i], o[i:], row)
			}
			for j := range row {
				row[j] /= m.Weight
			}
			row[0] = max(row[0], 0)
		}
	})
}

// Shrink replaces Σ by (1-s)Σ + s·tr(Σ)/D·I, in place.
func Shrink(sigma []float64, d int, s float64) {
	unit := 0.0
	for i := range d {
		unit += sigma[i*d+i] / float64(d)
	}
	vec.Parallel(d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := sigma[i*d+i : (i+1)*d]
			for j := range row {
				row[j] *= 1 - s
			}
			row[0] += s * unit
		}
	})
}

// OracleShrinkage is the share s of Shrink that has the least squared error if n rows are normal (the oracle approximating
// shrinkage of Chen, Wiesel, Eldar and Hero 2010, without the terms 2/D, like scikit-learn's): with α the
// mean square of the elements of Σ and μ = tr(Σ)/D,
//
//	s = min(1, (α + μ²)/((n + 1)(α - μ²/D))).
func OracleShrinkage(sigma []float64, d, n int) float64 {
	squares, trace := 0.0, 0.0
	for i := range d {
		v := sigma[i*d+i]
		trace += v
		squares += float64(v * v)
		row := sigma[i*d+i+1 : (i+1)*d]
		squares += 2 * vec.Dot64(row, row)
	}
	dims := float64(d)
	alpha, unit := squares/(dims*dims), trace/dims
	if below := alpha - unit*unit/dims; below > 0 {
		return min(1, (alpha+unit*unit)/(float64(n+1)*below))
	}
	return 1
}
