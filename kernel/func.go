package kernel

import (
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Func is a kernel of one's own on values of any type: strings, graphs, sets. It has to be symmetric and positive semidefinite, and safe
// for concurrent calls. A training takes rows of its values with landmarks, train.Kernel{Name: "precomputed"}:
//
//	at := k.Pivots(x, 500)                  // landmarks, by incomplete Cholesky; or all of x
//	rows, err := k.Matrix(x, at)            // the rows of the training, and later those of others
//	gram, err := k.Matrix(at, at)           // train.Map{Given: gram}, with the option Landmarks "given"; not needed for all of x
type Func[T any] func(x, y T) float64

// Matrix is k(x_i, y_j), a row for each x. It fails if a value is no number that float32 holds.
func (k Func[T]) Matrix(x, y []T) (*matrix.Dense, error) {
	m := matrix.NewDense(len(x), len(y))
	vec.Parallel(len(x), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range y {
				m.Row(i)[j] = float32(k(x[i], y[j]))
			}
		}
	})
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			if v-v != 0 {
				return nil, fmt.Errorf("kernel: the value of row %d with row %d (from 1) is %g", i+1, j+1, v)
			}
		}
	}
	return m, nil
}

// Pivots are the values of x, at most m, that incomplete Cholesky with pivoting picks (Fine and Scheinberg 2001): each is the farthest in
// feature space from the span of those before. They end where all others are within 10⁻⁶ of the largest length. It takes n·m values
// of k, O(nm²) operations and 8nm bytes.
func (k Func[T]) Pivots(x []T, m int) []T {
	n := len(x)
	left, most := make([]float64, n), 0.0
	for i, v := range x {
		left[i] = k(v, v)
		most = max(most, left[i])
	}
	var picked []T
	var factor [][]float64
	for len(picked) < min(m, n) {
		at := 0
		for i, v := range left {
			if v > left[at] {
				at = i
			}
		}
		if !(left[at] > 1e-6*most) {
			break
		}
		root, column := math.Sqrt(left[at]), make([]float64, n)
		vec.Parallel(n, 16, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				v := k(x[i], x[at])
				for _, f := range factor {
					v -= float64(f[i] * f[at])
				}
				column[i] = v / root
				left[i] -= float64(column[i] * column[i])
			}
		})
		left[at] = 0
		picked, factor = append(picked, x[at]), append(factor, column)
	}
	return picked
}
