package vec

import (
	"context"
	"math"
	"slices"
)

// The eigenvalues and eigenvectors of a symmetric matrix, in four steps, one per file:
//
//	eigen_tridiagonal.go  A = QTQᵀ by Householder reflections, T tridiagonal
//	eigen_conquer.go      T = SΛSᵀ by dividing and conquering (eigen_secular.go the roots that
//	                      a merge takes, eigen_ql.go the small problems at the bottom)
//	eigen_back.go         the eigenvectors QS of A
//
// (Golub and Van Loan, Matrix Computations, chapter 8.) All but half of the first step
// and some n² operations are matrix products; that half, n³/3 multiply-adds, is
// matrix-vector products bound by memory bandwidth.

// EigenSym computes the eigenvalues, ascending, of a symmetric A, n×n, of which only the upper
// triangle is read. If vectors is set, it overwrites A with as many orthonormal eigenvectors,
// row k of A that of values[k]; otherwise it overwrites the upper triangle with garbage
// and leaves the rest unchanged. values has n numbers.
//
// The errors of the eigenvalues are at most about n·2⁻⁵²‖A‖, and so are the residuals of the
// vectors: small eigenvalues are no more accurate than that.
//
// It returns false, with A and values undefined, if the context ended, if A's upper triangle has a NaN or
// an infinity, or if the iteration for the small problems does not converge, which has never
// been observed. It takes work memory for 2n² + 1000n numbers if vectors is set.
func EigenSym(ctx context.Context, n int, a []float64, lda int, values []float64, vectors bool) bool {
	if vectors {
		return EigenSymTop(ctx, n, a, lda, values, func([]float64) int { return n })
	}
	if n == 0 {
		return true
	}
	values = values[:n]
	e, _, exponent, ok := toTridiagonal(ctx, n, a, lda, values)
	if !ok || !tridiagonalQL(ctx, n, values, e, nil, 0) {
		return false
	}
	slices.Sort(values)
	scaleValues(values, exponent)
	return true
}

// EigenSymTop is EigenSym for the eigenvectors of the k largest eigenvalues:
// it calls top with all values, ascending, to get k. The first k rows of A become
// the vectors of the last k values; the others are garbage.
//
// In addition to the first step of 2n³/3 multiply-adds, in which nothing is saved, EigenSym takes
// up to n³·5/3; of these n²(n-k)·3/2 are saved. The work memory is the same.
func EigenSymTop(ctx context.Context, n int, a []float64, lda int, values []float64, top func(values []float64) int) bool {
	if n == 0 {
		return true
	}
	values = values[:n]
	e, tau, exponent, ok := toTridiagonal(ctx, n, a, lda, values)
	if !ok {
		return false
	}
	lds := stride(n)
	s := aligned[float64](n * lds)
	order, k, ok := conquer(ctx, n, values, e, s, lds, func(sorted []float64) int {
		scaleValues(sorted, exponent)
		return top(sorted)
	})
	if !ok {
		return false
	}
	wanted := order[n-k:]
	place := make([]int, n) // of needed rows, which move up to be contiguous
	for to, from := range slices.Sorted(slices.Values(wanted)) {
		place[from] = to
		if to != from {
			copy(s[to*lds:to*lds+n], s[from*lds:from*lds+n])
		}
	}
	if !reflectBack(ctx, n, k, a, lda, tau, s, lds) {
		return false
	}
	for i, row := range wanted {
		from := place[row]
		copy(a[i*lda:i*lda+n], s[from*lds:from*lds+n])
	}
	sorted := e
	for i, from := range order {
		sorted[i] = values[from]
	}
	copy(values, sorted)
	scaleValues(values, exponent)
	return true
}

// toTridiagonal does the first step on A·2^-exponent: d and e are its tridiagonal, and A's rows
// and tau its reflections.
func toTridiagonal(ctx context.Context, n int, a []float64, lda int, d []float64) (e, tau []float64, exponent int, ok bool) {
	_ = a[(n-1)*lda+n-1]
	largest, finite := largestUpper(n, a, lda)
	if !finite {
		return nil, nil, 0, false
	}
	// Squares of relevant numbers must neither overflow nor underflow.
	if largest > 0 && (largest > 0x1p200 || largest < 0x1p-200) {
		_, exponent = math.Frexp(largest)
		scaleUpper(n, a, lda, -exponent)
	}
	e, tau = make([]float64, n), make([]float64, n)
	if !tridiagonalise(ctx, n, a, lda, d, e, tau) {
		return nil, nil, 0, false
	}
	dropNothings(d, e[:n-1])
	return e, tau, exponent, true
}

// scaleValues multiplies eigenvalues by 2^exponent.
func scaleValues(values []float64, exponent int) {
	if exponent == 0 {
		return
	}
	for k := range values {
		values[k] = math.Ldexp(values[k], exponent)
	}
}

// dropNothings sets those e to 0 that are negligible compared with the largest d or e, far
// below rounding: the iterations compare with neighbouring numbers, and squares of such e underflow.
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
