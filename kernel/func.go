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

// Spectrum counts the substrings of p bytes that two strings share, relative to those that they have: k(s, s) is 1 (Leslie, Eskin and
// Noble 2002). Strings of fewer bytes have none, and k is 0.
func Spectrum(p int) Func[string] { return Mismatch(p, 0) }

// Mismatch is Spectrum where substrings of p bytes are alike if they differ in up to m of them (Leslie et al. 2004): features are all
// strings of p bytes, and a substring counts for each that differs in up to m. Two substrings that differ in d bytes share a number
// of these that depends on d, p, m and the size of the alphabet alone, here 256, and m is 0 or 1.
func Mismatch(p, m int) Func[string] {
	if p < 1 || m < 0 || m > 1 || m > 0 && m >= p {
		panic(fmt.Sprintf("kernel: Mismatch of %d bytes of which %d differ; give 1 or more bytes, of which 0 or 1 differ", p, m))
	}
	shared := func(d int) float64 { // strings that differ from both in up to m bytes
		switch {
		case m == 0 && d == 0:
			return 1
		case m == 0 || d > 2:
			return 0
		case d == 0:
			return 1 + 255*float64(p)
		case d == 1:
			return 256 // the place where they differ may hold anything
		}
		return 2 // one place as in the one, the other as in the other
	}
	product := func(x, y string) (sum float64) {
		if m == 0 {
			count := map[string]float64{}
			for i := 0; i+p <= len(x); i++ {
				count[x[i:i+p]]++
			}
			for i := 0; i+p <= len(y); i++ {
				sum += count[y[i:i+p]]
			}
			return sum
		}
		for i := 0; i+p <= len(x); i++ {
			for j := 0; j+p <= len(y); j++ {
				d := 0
				for c := 0; c < p && d <= 2*m; c++ {
					if x[i+c] != y[j+c] {
						d++
					}
				}
				sum += shared(d)
			}
		}
		return sum
	}
	return func(x, y string) float64 {
		if len(x) < p || len(y) < p {
			return 0
		}
		return product(x, y) / math.Sqrt(product(x, x)*product(y, y))
	}
}
