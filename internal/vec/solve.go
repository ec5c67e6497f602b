package vec

import (
	"math"
)

// choleskyBlock is the width of the panels that Cholesky factorises before the rest is
// updated by a product.
const choleskyBlock = 128

// Cholesky overwrites the upper triangle of a symmetric A, n×n, with U of A = UᵀU. It
// returns false where A is not positive definite. What lies below the diagonal is
// unspecified. The work is n³/3 multiply-adds, nearly all
// of them in products.
func Cholesky(n int, a []float64, lda int) bool {
	for j := 0; j < n; j += choleskyBlock {
		nb := min(choleskyBlock, n-j)
		rest := n - j - nb
		diagonal := a[j*lda+j:]
		if !choleskySmall(nb, diagonal, lda) {
			return false
		}
		if rest == 0 {
			break
		}
		panel := a[j*lda+j+nb:]
		Parallel(rest, 64, func(lo, hi int) { solveUpperT(nb, diagonal, lda, hi-lo, panel[lo:], lda) })
		syrk(-1, rest, nb, panel, lda, a[(j+nb)*lda+j+nb:], lda)
	}
	return true
}

// choleskySmall is Cholesky row by row.
func choleskySmall(n int, a []float64, lda int) bool {
	for i := range n {
		row := a[i*lda : i*lda+n]
		for l := range i {
			above := a[l*lda : l*lda+n]
			f := above[i]
			for j := i; j < n; j++ {
				row[j] -= f * above[j]
			}
		}
		d := row[i]
		if !(d > 0) || math.IsInf(d, 0) {
			return false
		}
		d = math.Sqrt(d)
		row[i] = d
		for j := i + 1; j < n; j++ {
			row[j] /= d
		}
	}
	return true
}

// solveBlock is the width of the panels that solveUpperT solves before the rest is updated
// by a product.
const solveBlock = 32

// solveUpperT overwrites B, n×k, with the solution X of UᵀX = B for an upper triangular U.
func solveUpperT(n int, u []float64, ldu, k int, b []float64, ldb int) {
	for j := 0; j < n; j += solveBlock {
		end := min(j+solveBlock, n)
		for i := j; i < end; i++ {
			x := b[i*ldb : i*ldb+k]
			for l := j; l < i; l++ {
				impl.Daxpy(k, -u[l*ldu+i], b[l*ldb:], 1, x, 1)
			}
			impl.Dscal(k, 1/u[i*ldu+i], x, 1)
		}
		// Rows after the panel: B -= U[panel, after]ᵀ·X[panel].
		subtractProduct(n-end, k, end-j, u[j*ldu+end:min(len(u), (end-1)*ldu+n)], 1, ldu, b[j*ldb:], ldb, b[min(len(b), end*ldb):], ldb)
	}
}

// solveUpper overwrites B, n×k, with the solution X of UX = B for an upper triangular U.
func solveUpper(n int, u []float64, ldu, k int, b []float64, ldb int) {
	for j := (n - 1) / solveBlock * solveBlock; j >= 0; j -= solveBlock {
		end := min(j+solveBlock, n)
		// What is solved already: B[panel] -= U[panel, after]·X[after].
		if end < n {
			subtractProduct(end-j, k, n-end, u[j*ldu+end:], ldu, 1, b[end*ldb:], ldb, b[j*ldb:], ldb)
		}
		for i := end - 1; i >= j; i-- {
			x := b[i*ldb : i*ldb+k]
			for l := i + 1; l < end; l++ {
				impl.Daxpy(k, -u[i*ldu+l], b[l*ldb:], 1, x, 1)
			}
			impl.Dscal(k, 1/u[i*ldu+i], x, 1)
		}
	}
}

// subtractProduct computes C -= A·B, element (i, l) of A at a[i*ars+l*acs].
func subtractProduct(m, n, k int, a []float64, ars, acs int, b []float64, ldb int, c []float64, ldc int) {
	micro64.multiply(product[float64]{m: m, n: n, k: k, alpha: -1, a: a, ars: ars, acs: acs, b: b, brs: ldb, bcs: 1, add: true, c: c, ldc: ldc})
}

// CholeskySolve overwrites B, n×k, with the solution X of A·X = B for a symmetric positive
// definite A, n×n, of which the upper triangle is read and overwritten with its Cholesky
// factor. It returns false, with B undefined, where A is not positive definite.
func CholeskySolve(n int, a []float64, lda int, k int, b []float64, ldb int) bool {
	if !Cholesky(n, a, lda) {
		return false
	}
	solveUpperT(n, a, lda, k, b, ldb)
	solveUpper(n, a, lda, k, b, ldb)
	for i := range n {
		for _, x := range b[i*ldb : i*ldb+k] {
			if x-x != 0 {
				return false
			}
		}
	}
	return true
}

// quadraticBlock is how many rows QuadraticForms sums before it adds up: part of its bits.
const quadraticBlock = 64

// QuadraticForms computes q[t] = wᵀAw for each row w of W, k×n, and a symmetric A, n×n, of
// which only the upper triangle is read.
func QuadraticForms(q []float64, n int, a []float64, lda, k int, w []float64, ldw int) {
	blocks := (n + quadraticBlock - 1) / quadraticBlock
	sums := make([]float64, blocks*k)
	Parallel(blocks, 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			sum := sums[b*k : (b+1)*k]
			for i := b * quadraticBlock; i < min((b+1)*quadraticBlock, n); i++ {
				row := a[i*lda+i : i*lda+n]
				for t := range sum {
					x := w[t*ldw+i : t*ldw+n]
					sum[t] += x[0] * (row[0]*x[0] + 2*Dot64(row[1:], x[1:]))
				}
			}
		}
	})
	q = q[:k]
	clear(q)
	for b := range blocks {
		for t := range q {
			q[t] += sums[b*k+t]
		}
	}
}
