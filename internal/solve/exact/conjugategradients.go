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
	x, q := make([]float64, k*m), make([]float64, k*m)
	p := slices.Clone(r)
	first, square := make([]float64, k), make([]float64, k)
	for t := range k {
		square[t] = vec.Dot64(r[t*m:][:m], r[t*m:][:m])
		first[t] = square[t]
		if right != nil {
			first[t] = vec.Dot64(right[t*m:][:m], right[t*m:][:m])
		}
	}
	stuck := make([]bool, k)
	var stop stopped
	for {
		stop.residual = 0
		left := false
		for t := range k {
			if first[t] == 0 {
				continue
			}
			residual := math.Sqrt(square[t] / first[t])
			stop.residual = math.Max(stop.residual, residual)
			left = left || residual > tolerance && !stuck[t]
		}
		if progress != nil {
			progress(stop.iterations, stop.residual)
		}
		if !left || stop.iterations == most {
			return x, stop, nil
		}
		if err := product(q, p); err != nil {
			return nil, stop, err
		}
		stop.iterations++
		for t := range k {
			if stuck[t] || math.Sqrt(square[t]) <= tolerance*math.Sqrt(first[t]) {
				clear(p[t*m:][:m]) // done: no more work for this output
				continue
			}
			xt, rt, pt, qt := x[t*m:][:m], r[t*m:][:m], p[t*m:][:m], q[t*m:][:m]
			curve := vec.Dot64(pt, qt)
			if !(curve > 0) || math.IsInf(curve, 0) {
				stuck[t], stop.indefinite = true, true
				clear(pt)
				continue
			}
			step := square[t] / curve
			vec.Axpy64(step, pt, xt)
			vec.Axpy64(-step, qt, rt)
			next := vec.Dot64(rt, rt)
			for i, v := range rt {
				pt[i] = v + next/square[t]*pt[i]
			}
			square[t] = next
		}
	}
}
