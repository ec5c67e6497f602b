package learn

import (
	"math"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/moments"
)

// quadratic is the smooth part of penalised least squares, as moments give it:
//
//	1/(2n) Σ w‖y - Wᵀz - b‖² = ½tr(WᵀAW) - tr(WᵀC) + constant, A = H/n, C = V/n, n = Σw,
//
// for the best b, which is ȳ - Wᵀz̄. Matrices of K outputs have one row per output.
type quadratic struct {
	d, k     int
	a        []float64 // D×D, both triangles
	diagonal []float64 // D: of A, 0 for constant features
	c        []float64 // K×D
	w        []float64 // K×D
	g        []float64 // K×D: C - WA, minus the gradient
}

// newQuadratic takes features in the given order; nil means the original one.
func newQuadratic(m *moments.Moments, order []int) *quadratic {
	d, k := m.D, m.K
	q := &quadratic{d: d, k: k, a: make([]float64, d*d), diagonal: make([]float64, d),
		c: make([]float64, k*d), w: make([]float64, k*d), g: make([]float64, k*d)}
	if order == nil {
		order = make([]int, d)
		for i := range order {
			order[i] = i
		}
	}
	f := 1 / m.Weight
	const tile = 64
	vec.Parallel((d+tile-1)/tile, 1, func(lo, hi int) {
		for i0 := lo * tile; i0 < min(hi*tile, d); i0 += tile {
			for j0 := 0; j0 < d; j0 += tile {
				for i := i0; i < min(i0+tile, d); i++ {
					row, from := q.a[i*d:(i+1)*d], order[i]
					for j := j0; j < min(j0+tile, d); j++ {
						to := order[j]
						row[j] = f * m.H[min(from, to)*d+max(from, to)]
					}
				}
			}
		}
	})
	for i, from := range order {
		// float32 resolves relative differences of 2⁻²⁴: a deviation far
		// below that is the rounding of a constant.
		if v := q.a[i*d+i]; math.Sqrt(v) > 0x1p-44*math.Abs(m.MeanZ[from]) {
			q.diagonal[i] = v
		}
		for t := range k {
			q.c[t*d+i] = f * m.V[from*k+t]
		}
	}
	copy(q.g, q.c)
	return q
}

// row is row j of A.
func (q *quadratic) row(j int) []float64 { return q.a[j*q.d : (j+1)*q.d] }

// refresh recomputes g = c - Aw for one output.
func (q *quadratic) refresh(w, c, g []float64) {
	copy(g, c)
	for j, v := range w {
		if v != 0 {
			vec.Axpy64(-v, q.row(j), g)
		}
	}
}

// heldOutError is the mean over the rows of held of the squared error, summed over the
// outputs, of the weights w, K×D, fitted on main: with centred moments and the mean residual
// e = (ȳ_held - ȳ_main) - W(z̄_held - z̄_main),
//
//	Σ w‖y - Wz - b‖² = YY - 2 tr(WV) + tr(WHWᵀ) + n‖e‖².
func heldOutError(main, held *moments.Moments, w []float64) float64 {
	d, k := held.D, held.K
	whw := make([]float64, k)
	vec.QuadraticForms(whw, d, held.H, d, k, w, d)
	sum := 0.0
	for t := range k {
		e := held.MeanY[t] - main.MeanY[t]
		q := held.YY[t] + whw[t]
		for i, v := range w[t*d : (t+1)*d] {
			e -= float64(v * (held.MeanZ[i] - main.MeanZ[i]))
			q -= float64(2 * v * held.V[i*k+t])
		}
		sum += max(q, 0) + float64(held.Weight*e*e)
	}
	return sum / held.Weight
}
