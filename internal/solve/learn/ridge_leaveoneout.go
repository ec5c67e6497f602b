package learn

import (
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// leaveOneOut adds to every λ of a path the exact leave-one-out error, in one pass over the
// rows. Leaving out row i, of weight w, divides its residual by 1 - h (Allen 1974), with the
// leverage
//
//	h = w(1/Σw + (z-z̄)ᵀ(H+λI)⁻¹(z-z̄)) = w(1/Σw + Σ p²/(d+λ)),  p = U(z-z̄),
//
// also with weights, several targets and an intercept without penalty. A block of rows costs
// the product with U, 2·D² operations per row, and for L values of λ and K targets 2·L·(K+1)·D
// more.
func (s *spectrum) leaveOneOut(rows func(func(z *matrix.Dense, y, w []float64) error) error, path []PathPoint) error {
	d, k, l := s.m.D, s.m.K, len(path)
	inverses := make([]float64, l*d)  // L×D: 1/(d+λ)
	weights := make([]float64, l*k*d) // LK×D: V'/(d+λ)
	for a, p := range path {
		for i := range d {
			g := s.inverse(i, p.Lambda)
			inverses[a*d+i] = g
			for t := range k {
				weights[(a*k+t)*d+i] = g * s.v[i*k+t]
			}
		}
	}
	sums := make([]float64, l)
	var z, p, leverages, fits []float64
	seen := 0
	err := rows(func(rows *matrix.Dense, y, w []float64) error {
		n := rows.Rows
		if rows.Cols != d || len(y) != n*k {
			panic(fmt.Sprintf("learn: leave-one-out of %d×%d features and %d targets; the fit has %d and %d", n, rows.Cols, len(y), d, k))
		}
		if len(p) < n*d {
			z, p = make([]float64, n*d), make([]float64, n*d)
			leverages, fits = make([]float64, n*l), make([]float64, n*l*k)
		}
		vec.Parallel(n, 16, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := z[i*d : (i+1)*d]
				for j, v := range rows.Row(i) {
					row[j] = float64(v) - s.m.MeanZ[j]
				}
			}
		})
		vec.GemmNT(n, d, d, z, d, s.vectors, d, p, d)
		vec.GemmNT(n, l*k, d, p, d, weights, d, fits, l*k)
		for i, v := range p[:n*d] {
			p[i] = v * v
		}
		vec.GemmNT(n, l, d, p, d, inverses, d, leverages, l)
		for i := range n {
			weight := 1.0
			if w != nil {
				weight = w[i]
			}
			if weight == 0 {
				continue
			}
			seen++
			for a := range path {
				rest := 1 - weight*(1/s.m.Labelled+leverages[i*l+a])
				for t := range k {
					e := (y[i*k+t] - s.m.MeanY[t] - fits[(i*l+a)*k+t]) / rest
					if !(rest > 1e-9) {
						e = math.Inf(1)
					}
					sums[a] += float64(weight * e * e)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if seen != s.m.Used {
		return fmt.Errorf("%d rows in the second pass, %d in the first; the data changed while they were read", seen, s.m.Used)
	}
	for a := range path {
		path[a].Error = math.Inf(1)
		if v := sums[a] / s.m.Labelled; v-v == 0 {
			path[a].LOO, path[a].Error = &v, v
		}
	}
	return nil
}
