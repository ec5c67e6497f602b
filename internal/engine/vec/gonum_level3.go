package vec

import "gonum.org/v1/gonum/blas"

// Dgemm computes C = αA·B + βC, with A and B as they are or transposed: C m×n, k products.
func (b BLAS64) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, x []float64, ldx int,
	beta float64, c []float64, ldc int) {
	if !gemmFits(tA, tB, m, n, k, len(a), lda, len(x), ldx, len(c), ldc) || work(m, n, k) <= smallProduct {
		b.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, x, ldx, beta, c, ldc)
		return
	}
	scale(full, m, n, beta, c, ldc)
	micro64.addProduct(full, m, n, k, alpha, viewOf(transposed(tA), a, lda), viewOf(transposed(tB), x, ldx), c, ldc)
}

// Dsyrk computes a triangle of C = αA·Aᵀ + βC, or of αAᵀ·A + βC: C n×n, k products.
func (b BLAS64) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if !rankFits(ul, t, n, k, len(a), lda, len(c), ldc) || work(n, n, k) <= smallProduct {
		b.Implementation.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	part := triangleOf(ul)
	scale(part, n, n, beta, c, ldc)
	micro64.addProduct(part, n, n, k, alpha, viewOf(transposed(t), a, lda), viewOf(!transposed(t), a, lda), c, ldc)
}

// Dsyr2k computes a triangle of C = αA·Bᵀ + αB·Aᵀ + βC, or of αAᵀ·B + αBᵀ·A + βC.
func (b BLAS64) Dsyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, x []float64,
	ldx int, beta float64, c []float64, ldc int) {
	if !rankFits(ul, t, n, k, len(a), lda, len(c), ldc) || !rankFits(ul, t, n, k, len(x), ldx, len(c), ldc) || work(n, n, k) <= smallProduct {
		b.Implementation.Dsyr2k(ul, t, n, k, alpha, a, lda, x, ldx, beta, c, ldc)
		return
	}
	part, tr := triangleOf(ul), transposed(t)
	scale(part, n, n, beta, c, ldc)
	micro64.addProduct(part, n, n, k, alpha, viewOf(tr, a, lda), viewOf(!tr, x, ldx), c, ldc)
	micro64.addProduct(part, n, n, k, alpha, viewOf(tr, x, ldx), viewOf(!tr, a, lda), c, ldc)
}

// Dsymm computes C = αA·B + βC, or αB·A + βC, for a symmetric A of which a triangle is given.
func (b BLAS64) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, x []float64, ldx int,
	beta float64, c []float64, ldc int) {
	na := n
	if s == blas.Left {
		na = m
	}
	if !triangularFits(s, ul, blas.NoTrans, blas.NonUnit, m, n, na, len(a), lda, len(x), ldx) || len(c) < (m-1)*ldc+n ||
		ldc < n || work(m, n, na) <= smallProduct {
		b.Implementation.Dsymm(s, ul, m, n, alpha, a, lda, x, ldx, beta, c, ldc)
		return
	}
	scale(full, m, n, beta, c, ldc)
	symmetric(micro64, s == blas.Left, ul == blas.Upper, m, n, alpha, a, lda, x, ldx, c, ldc)
}

// Dtrmm computes B = αA·B, or αB·A, for a triangular A as it is or transposed.
func (b BLAS64) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64,
	lda int, x []float64, ldx int) {
	na := n
	if s == blas.Left {
		na = m
	}
	if !triangularFits(s, ul, tA, d, m, n, na, len(a), lda, len(x), ldx) || na <= triangleBlock || alpha == 0 {
		b.Implementation.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	triangular[float64]{micro64, s == blas.Left, (ul == blas.Upper) != transposed(tA), viewOf(transposed(tA), a, lda), lda, x, ldx,
		func(at, m, n int, x []float64) {
			b.Implementation.Dtrmm(s, ul, tA, d, m, n, alpha, a[at:], lda, x, ldx)
		}}.multiply(m, n, alpha)
}

// Dtrsm computes the solution X of A·X = αB, or X·A = αB, overwriting B, for a triangular A
// as it is or transposed.
func (b BLAS64) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64,
	lda int, x []float64, ldx int) {
	na := n
	if s == blas.Left {
		na = m
	}
	if !triangularFits(s, ul, tA, d, m, n, na, len(a), lda, len(x), ldx) || na <= triangleBlock || alpha == 0 {
		b.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	scale(full, m, n, alpha, x, ldx)
	triangular[float64]{micro64, s == blas.Left, (ul == blas.Upper) != transposed(tA), viewOf(transposed(tA), a, lda), lda, x, ldx,
		func(at, m, n int, x []float64) {
			b.Implementation.Dtrsm(s, ul, tA, d, m, n, 1, a[at:], lda, x, ldx)
		}}.solve(m, n)
}

// Sgemm computes C = αA·B + βC, with A and B as they are or transposed: C m×n, k products.
func (b BLAS32) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, x []float32, ldx int,
	beta float32, c []float32, ldc int) {
	if !gemmFits(tA, tB, m, n, k, len(a), lda, len(x), ldx, len(c), ldc) || work(m, n, k) <= smallProduct {
		b.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, x, ldx, beta, c, ldc)
		return
	}
	scale(full, m, n, beta, c, ldc)
	micro32.addProduct(full, m, n, k, alpha, viewOf(transposed(tA), a, lda), viewOf(transposed(tB), x, ldx), c, ldc)
}

// Ssyrk computes a triangle of C = αA·Aᵀ + βC, or of αAᵀ·A + βC: C n×n, k products.
func (b BLAS32) Ssyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	if !rankFits(ul, t, n, k, len(a), lda, len(c), ldc) || work(n, n, k) <= smallProduct {
		b.Implementation.Ssyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	part := triangleOf(ul)
	scale(part, n, n, beta, c, ldc)
	micro32.addProduct(part, n, n, k, alpha, viewOf(transposed(t), a, lda), viewOf(!transposed(t), a, lda), c, ldc)
}

// Ssyr2k computes a triangle of C = αA·Bᵀ + αB·Aᵀ + βC, or of αAᵀ·B + αBᵀ·A + βC.
func (b BLAS32) Ssyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, x []float32,
	ldx int, beta float32, c []float32, ldc int) {
	if !rankFits(ul, t, n, k, len(a), lda, len(c), ldc) || !rankFits(ul, t, n, k, len(x), ldx, len(c), ldc) || work(n, n, k) <= smallProduct {
		b.Implementation.Ssyr2k(ul, t, n, k, alpha, a, lda, x, ldx, beta, c, ldc)
		return
	}
	part, tr := triangleOf(ul), transposed(t)
	scale(part, n, n, beta, c, ldc)
	micro32.addProduct(part, n, n, k, alpha, viewOf(tr, a, lda), viewOf(!tr, x, ldx), c, ldc)
	micro32.addProduct(part, n, n, k, alpha, viewOf(tr, x, ldx), viewOf(!tr, a, lda), c, ldc)
}

// Ssymm computes C = αA·B + βC, or αB·A + βC, for a symmetric A of which a triangle is given.
func (b BLAS32) Ssymm(s blas.Side, ul blas.Uplo, m, n int, alpha float32, a []float32, lda int, x []float32, ldx int,
	beta float32, c []float32, ldc int) {
	na := n
	if s == blas.Left {
		na = m
	}
	if !triangularFits(s, ul, blas.NoTrans, blas.NonUnit, m, n, na, len(a), lda, len(x), ldx) || len(c) < (m-1)*ldc+n ||
		ldc < n || work(m, n, na) <= smallProduct {
		b.Implementation.Ssymm(s, ul, m, n, alpha, a, lda, x, ldx, beta, c, ldc)
		return
	}
	scale(full, m, n, beta, c, ldc)
	symmetric(micro32, s == blas.Left, ul == blas.Upper, m, n, alpha, a, lda, x, ldx, c, ldc)
}

// Strmm computes B = αA·B, or αB·A, for a triangular A as it is or transposed.
func (b BLAS32) Strmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32,
	lda int, x []float32, ldx int) {
	na := n
	if s == blas.Left {
		na = m
	}
	if !triangularFits(s, ul, tA, d, m, n, na, len(a), lda, len(x), ldx) || na <= triangleBlock || alpha == 0 {
		b.Implementation.Strmm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	triangular[float32]{micro32, s == blas.Left, (ul == blas.Upper) != transposed(tA), viewOf(transposed(tA), a, lda), lda, x, ldx,
		func(at, m, n int, x []float32) {
			b.Implementation.Strmm(s, ul, tA, d, m, n, alpha, a[at:], lda, x, ldx)
		}}.multiply(m, n, alpha)
}

// Strsm computes the solution X of A·X = αB, or X·A = αB, overwriting B, for a triangular A
// as it is or transposed.
func (b BLAS32) Strsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32,
	lda int, x []float32, ldx int) {
	na := n
	if s == blas.Left {
		na = m
	}
	if !triangularFits(s, ul, tA, d, m, n, na, len(a), lda, len(x), ldx) || na <= triangleBlock || alpha == 0 {
		b.Implementation.Strsm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	scale(full, m, n, alpha, x, ldx)
	triangular[float32]{micro32, s == blas.Left, (ul == blas.Upper) != transposed(tA), viewOf(transposed(tA), a, lda), lda, x, ldx,
		func(at, m, n int, x []float32) {
			b.Implementation.Strsm(s, ul, tA, d, m, n, 1, a[at:], lda, x, ldx)
		}}.solve(m, n)
}
