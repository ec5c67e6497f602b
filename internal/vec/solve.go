package vec

import (
	"gonum.org/v1/gonum/blas"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

var lapackImpl lapackgonum.Implementation

// CholeskySolve overwrites B, n×k, with the solution X of A·X = B for a symmetric positive
// definite A, n×n, of which the upper triangle is read and overwritten with its Cholesky
// factor. It returns false, with B undefined, where A is not positive definite.
func CholeskySolve(n int, a []float64, lda int, k int, b []float64, ldb int) bool {
	if n == 0 {
		return true
	}
	if !lapackImpl.Dpotrf(blas.Upper, n, a, lda) {
		return false
	}
	lapackImpl.Dpotrs(blas.Upper, n, k, a, lda, b, ldb)
	for i := range n {
		for _, x := range b[i*ldb : i*ldb+k] {
			if x-x != 0 {
				return false
			}
		}
	}
	return true
}

// SymmMul computes C = A·B for a symmetric A, n×n, of which only the upper triangle is read,
// and B and C n×k.
func SymmMul(n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	if n == 0 || k == 0 {
		return
	}
	impl.Dsymm(blas.Left, blas.Upper, n, k, 1, a, lda, b, ldb, 0, c, ldc)
}
