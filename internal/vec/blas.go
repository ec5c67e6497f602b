// Package vec holds the loops that everything else rests on: matrix products, dot
// products, elementary functions over slices. They work on slices with strides, know
// nothing of rows, kernels or models, and are the one place where the machine's vector
// instructions come in; the products are gonum's today.
//
// Every product is bit for bit the same for any number of threads and however the rows
// come in batches: each element is one sum in the order of the inner index.
package vec

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

var impl gonum.Implementation

// Gemm32 computes C = A·B for A m×k, B k×n, C m×n, row-major with strides lda, ldb, ldc.
func Gemm32(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		for i := range m {
			clear(c[i*ldc : i*ldc+n])
		}
		return
	}
	if m <= 64 {
		// gonum starts goroutines for four tiles of 64×64 and more, which costs a call for
		// one row more than it gains.
		for j := 0; j < n; j += 192 {
			impl.Sgemm(blas.NoTrans, blas.NoTrans, m, min(192, n-j), k, 1, a, lda, b[j:], ldb, 0, c[j:], ldc)
		}
		return
	}
	impl.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, lda, b, ldb, 0, c, ldc)
}

// GemmAddTN computes C += Aᵀ·B for A k×m, B k×n, C m×n in float64.
func GemmAddTN(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	impl.Dgemm(blas.Trans, blas.NoTrans, m, n, k, 1, a, lda, b, ldb, 1, c, ldc)
}

// SyrkAdd computes the upper triangle of C += ZᵀZ for Z k×n and C n×n in float64; what
// lies below the diagonal is unspecified.
func SyrkAdd(n, k int, z []float64, ldz int, c []float64, ldc int) {
	const panel = 256
	for i := 0; i < n; i += panel {
		GemmAddTN(min(panel, n-i), n-i, k, z[i:], ldz, z[i:], ldz, c[i*ldc+i:], ldc)
	}
}

// GemmNT computes C = A·Bᵀ for A m×k, B n×k, C m×n in float64.
func GemmNT(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		for i := range m {
			clear(c[i*ldc : i*ldc+n])
		}
		return
	}
	impl.Dgemm(blas.NoTrans, blas.Trans, m, n, k, 1, a, lda, b, ldb, 0, c, ldc)
}

// Dot32 is x·y over the shorter length, accumulated in float32.
func Dot32(x, y []float32) float32 {
	n := min(len(x), len(y))
	return impl.Sdot(n, x, 1, y, 1)
}

// Axpy32 computes y += alpha·x.
func Axpy32(alpha float32, x, y []float32) {
	n := min(len(x), len(y))
	impl.Saxpy(n, alpha, x, 1, y, 1)
}
