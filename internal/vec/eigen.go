package vec

import (
	"math"
	"slices"
)

// The eigenvalues and eigenvectors of a symmetric matrix, in four steps, a file each:
//
//	eigen_tridiagonal.go  A = QTQᵀ by Householder reflections, T tridiagonal
//	eigen_conquer.go      T = SΛSᵀ by dividing and conquering (eigen_secular.go the roots that
//	                      a merge takes, eigen_ql.go the small problems at the bottom)
//	eigen_back.go         the eigenvectors QS of A
//
// (Golub and Van Loan, Matrix Computations, chapter 8.) All but half of the first step and
// some n² operations is matrix products; that half, n³/3 multiply-adds, is products of a
// matrix with a vector and as fast as memory is read.

// EigenSym computes the eigenvalues, ascending, of a symmetric A, n×n, of which only the upper
// triangle is read. If vectors is set, it overwrites A with as many orthonormal eigenvectors,
// row k of A that of values[k]; otherwise it overwrites the upper triangle with numbers of no
// use and leaves the rest alone. values takes n numbers.
//
// The eigenvalues are off by at most some n·2⁻⁵³‖A‖, and so are the residuals of the vectors:
// small eigenvalues have no more right digits than that.
//
// It returns false, with A and values undefined, where A's upper triangle has a number that is
// NaN or infinite, or where the iteration for the small problems does not converge, which was
// never seen. It takes work memory for 2n² + 1000n numbers if vectors is set.
func EigenSym(n int, a []float64, lda int, values []float64, vectors bool) bool {
	if n == 0 {
		return true
	}
	_ = a[(n-1)*lda+n-1]
	values = values[:n]
	largest, finite := largestUpper(n, a, lda)
	if !finite {
		return false
	}
	// Squares of what matters may neither overflow nor underflow.
	exponent := 0
	if largest > 0 && (largest > 0x1p200 || largest < 0x1p-200) {
		_, exponent = math.Frexp(largest)
		scaleUpper(n, a, lda, -exponent)
	}
	e, tau := make([]float64, n), make([]float64, n)
	tridiagonalise(n, a, lda, values, e, tau)
	dropNothings(values, e[:n-1])
	if !vectors {
		if !tridiagonalQL(n, values, e, nil, 0) {
			return false
		}
		slices.Sort(values)
	} else {
		lds := stride(n)
		s := aligned[float64](n * lds)
		order, ok := conquer(n, values, e, s, lds)
		if !ok {
			return false
		}
		reflectBack(n, a, lda, tau, s, lds)
		sorted := e
		for k, from := range order {
			sorted[k] = values[from]
			copy(a[k*lda:k*lda+n], s[from*lds:from*lds+n])
		}
		copy(values, sorted)
	}
	if exponent != 0 {
		for k := range values {
			values[k] = math.Ldexp(values[k], exponent)
		}
	}
	return true
}

// dropNothings makes those e 0 that are nothing beside the largest d or e, far less than
// rounding: the iterations compare with what is near, and squares of such numbers underflow.
func dropNothings(d, e []float64) {
	largest := 0.0
	for _, v := range d {
		largest = max(largest, math.Abs(v))
	}
	for _, v := range e {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range e {
		if math.Abs(v) < 0x1p-120*largest {
			e[i] = 0
		}
	}
}

// largestUpper is the largest absolute value in the upper triangle, and whether all are finite.
func largestUpper(n int, a []float64, lda int) (largest float64, finite bool) {
	for i := range n {
		for _, v := range a[i*lda+i : i*lda+n] {
			if v-v != 0 {
				return 0, false
			}
			largest = max(largest, math.Abs(v))
		}
	}
	return largest, true
}

// scaleUpper multiplies the upper triangle by 2^exponent.
func scaleUpper(n int, a []float64, lda, exponent int) {
	for i := range n {
		row := a[i*lda+i : i*lda+n]
		for j, v := range row {
			row[j] = math.Ldexp(v, exponent)
		}
	}
}
