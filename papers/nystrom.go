package papers

import (
	"math"

	"mercer/internal/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// nystrom names the baseline that tables compare with; it is no map of package feature.
const nystrom = "nystrom"

// nystromFeatures maps x by Nyström's method with all of landmarks. The features are the rows
// of the pivoted Cholesky factor that belong to x: with K_hh = CCᵀ they are C⁻¹k_h(x), which
// is K_hh^{-1/2} k_h(x) but for a rotation, so that all distances are the same. A landmark
// of which the others leave less than 10⁻¹² of the largest k(h, h) is left out, as its zero
// eigenvalue would be; its feature is 0.
//
// O((n + m)·m·(d + m)) time and 16·(n + m)·m bytes for n rows and m landmarks.
func nystromFeatures(k kernel.Kernel, x, landmarks matrix.Rows) (*matrix.Dense, error) {
	n, m := x.Len(), landmarks.Len()
	all := make([]float64, (m+n)*m) // k(·, h) by row: the landmarks, then x
	for _, part := range []struct {
		rows matrix.Rows
		to   []float64
	}{{landmarks, all[:m*m]}, {x, all[m*m:]}} {
		g, err := kernel.NewGram(k, part.rows, landmarks)
		if err != nil {
			return nil, err
		}
		g.Rows(0, part.rows.Len(), part.to)
	}
	left := make([]float64, m) // of k(h, h), by the landmarks chosen so far
	for i := range left {
		left[i] = all[i*m+i]
	}
	smallest := 1e-12 * left[largest(left)]
	factor := make([]float64, (m+n)*m)
	for r := range m {
		p := largest(left)
		if left[p] <= smallest {
			break
		}
		pivot, root := factor[p*m:][:r], math.Sqrt(left[p])
		vec.Parallel(m+n, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := factor[i*m:][:r+1]
				sum := all[i*m+p]
				for j, v := range pivot {
					sum -= row[j] * v
				}
				row[r] = sum / root
				if i < m {
					left[i] -= row[r] * row[r]
				}
			}
		})
		left[p] = 0
	}
	z := matrix.NewDense(n, m)
	for i, v := range factor[m*m:] {
		z.Data[i] = float32(v)
	}
	return z, nil
}

// largest returns the place of the largest number.
func largest(v []float64) int {
	at := 0
	for i, x := range v {
		if x > v[at] {
			at = i
		}
	}
	return at
}
