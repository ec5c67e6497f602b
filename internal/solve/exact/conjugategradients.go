package exact

import (
	"math"
	"slices"

	"mercer/internal/engine/vec"
)

// stopped describes how an iteration ended.
type stopped struct {
	iterations int
	residual   float64 // the largest of the outputs' relative residuals
	indefinite bool    // a direction was found in which A is not positive
}

// conjugateGradients solves Ax = r for a symmetric positive semidefinite A and K right sides,
// r K×m, all at once but each with its own step sizes, and returns x (Hestenes and Stiefel 1952).
// product computes q = Ap for K vectors. It stops when every residual is at most tolerance of its
// right side, after most iterations, or when A turns out not to be definite, so that only
// rounding errors are left. r is overwritten with the residual. If r is already the residual of a start, x is what is to be
// added to the start, and right are the right sides; otherwise right is nil.
func conjugateGradients(k, m int, r, right []float64, product func(q, p []float64) error, tolerance float64, most int,
	progress func(int, float64)) ([]float64, stopped, error) {
	c, q := newConjugate(k, m, r, right, tolerance, most), make([]float64, k*m)
	for {
		more := c.more()
		if progress != nil {
			progress(c.stop.iterations, c.stop.residual)
		}
		if !more {
			return c.x, c.stop, nil
		}
		if err := product(q, c.p); err != nil {
			return nil, c.stop, err
		}
		c.step(q)
	}
}

// conjugate is the state of conjugateGradients between its products.
type conjugate struct {
	k, m          int
	tolerance     float64
	most          int
	x, r, p       []float64 // p is to be multiplied next
	first, square []float64
	stuck         []bool
	stop          stopped
}

func newConjugate(k, m int, r, right []float64, tolerance float64, most int) *conjugate {
	c := &conjugate{k: k, m: m, tolerance: tolerance, most: most, x: make([]float64, k*m), r: r, p: slices.Clone(r),
		first: make([]float64, k), square: make([]float64, k), stuck: make([]bool, k)}
	for t := range k {
		c.square[t] = vec.Dot64(r[t*m:][:m], r[t*m:][:m])
		c.first[t] = c.square[t]
		if right != nil {
			c.first[t] = vec.Dot64(right[t*m:][:m], right[t*m:][:m])
		}
	}
	return c
}

// more says whether one more product is wanted.
func (c *conjugate) more() bool {
	c.stop.residual = 0
	left := false
	for t := range c.k {
		if c.first[t] == 0 {
			continue
		}
		residual := math.Sqrt(c.square[t] / c.first[t])
		c.stop.residual = math.Max(c.stop.residual, residual)
		left = left || residual > c.tolerance && !c.stuck[t]
	}
	return left && c.stop.iterations < c.most
}

// step goes on by the product q = Ap.
func (c *conjugate) step(q []float64) {
	m := c.m
	c.stop.iterations++
	for t := range c.k {
		if c.stuck[t] || math.Sqrt(c.square[t]) <= c.tolerance*math.Sqrt(c.first[t]) {
			clear(c.p[t*m:][:m]) // done: no more work for this output
			continue
		}
		xt, rt, pt, qt := c.x[t*m:][:m], c.r[t*m:][:m], c.p[t*m:][:m], q[t*m:][:m]
		curve := vec.Dot64(pt, qt)
		if !(curve > 0) || math.IsInf(curve, 0) {
			c.stuck[t], c.stop.indefinite = true, true
			clear(pt)
			continue
		}
		step := c.square[t] / curve
		vec.Axpy64(step, pt, xt)
		vec.Axpy64(-step, qt, rt)
		next := vec.Dot64(rt, rt)
		for i, v := range rt {
			pt[i] = v + next/c.square[t]*pt[i]
		}
		c.square[t] = next
	}
}
