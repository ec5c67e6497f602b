package vec

import (
	"context"
	"math"
)

// Cholesky and the triangular solves halve the matrix until a small one is left: nearly all
// of the work is in products of large blocks, whatever the size of the caches.

// smallTriangle is the order up to which triangular systems are solved row by row.
const smallTriangle = 32

// half is where a matrix of order n is split: at a multiple of smallTriangle.
func half(n int) int { return (n/2 + smallTriangle - 1) / smallTriangle * smallTriangle }

// Cholesky overwrites the upper triangle of a symmetric A, n×n, with U of A = UᵀU. It
// returns false if A is not positive definite, or if the context ended, which ctx.Err tells apart. The
// part below the diagonal is not touched. The work is n³/6 multiply-adds.
func Cholesky(ctx context.Context, n int, a []float64, lda int) bool {
	if n <= 2*smallTriangle {
		return ctx.Err() == nil && choleskySmall(n, a, lda)
	}
	h := half(n)
	if !Cholesky(ctx, h, a, lda) {
		return false
	}
	right, rest := a[h:], a[h*lda+h:]
	if work(h, h, n-h) < 2*smallWork {
		solveUpperT(ctx, h, a, lda, n-h, right, lda)
	} else {
		Parallel(n-h, 64, func(lo, hi int) { solveUpperT(ctx, h, a, lda, hi-lo, right[lo:], lda) })
	}
	syrk(ctx, -1, n-h, h, right, lda, rest, lda)
	return Cholesky(ctx, n-h, rest, lda)
}

// choleskySmall is Cholesky row by row.
func choleskySmall(n int, a []float64, lda int) bool {
	for i := range n {
		row := a[i*lda+i : i*lda+n]
		subtractRows(i, a[i:], lda, a[i:], lda, row)
		d := row[0]
		if !(d > 0) || math.IsInf(d, 0) {
			return false
		}
		d = math.Sqrt(d)
		row[0] = d
		divide(row[1:], d)
	}
	return true
}

// solveUpperT overwrites B, n×k, with the solution X of UᵀX = B for an upper triangular U.
func solveUpperT(ctx context.Context, n int, u []float64, ldu, k int, b []float64, ldb int) {
	if ctx.Err() != nil {
		return
	}
	if n <= smallTriangle {
		for i := range n {
			x := b[i*ldb : i*ldb+k]
			subtractRows(i, u[i:], ldu, b, ldb, x)
			divide(x, u[i*ldu+i])
		}
		return
	}
	h := half(n)
	solveUpperT(ctx, h, u, ldu, k, b, ldb)
	subtractProduct(ctx, n-h, k, h, u[h:], 1, ldu, b, ldb, b[h*ldb:], ldb)
	solveUpperT(ctx, n-h, u[h*ldu+h:], ldu, k, b[h*ldb:], ldb)
}

// solveUpper overwrites B, n×k, with the solution X of UX = B for an upper triangular U.
func solveUpper(ctx context.Context, n int, u []float64, ldu, k int, b []float64, ldb int) {
	if ctx.Err() != nil {
		return
	}
	if n <= smallTriangle {
		for i := n - 1; i >= 0; i-- {
			x := b[i*ldb : i*ldb+k]
			if i+1 < n {
				subtractRows(n-i-1, u[i*ldu+i+1:], 1, b[(i+1)*ldb:], ldb, x)
			}
			divide(x, u[i*ldu+i])
		}
		return
	}
	h := half(n)
	solveUpper(ctx, n-h, u[h*ldu+h:], ldu, k, b[h*ldb:], ldb)
	subtractProduct(ctx, h, k, n-h, u[h:], ldu, 1, b[h*ldb:], ldb, b, ldb)
	solveUpper(ctx, h, u, ldu, k, b, ldb)
}

// subtractRowsPlain is subtractRows row by row.
func subtractRowsPlain(rows int, alpha []float64, stride int, x []float64, ldx int, y []float64) {
	for l := range rows {
		Axpy64(-alpha[l*stride], x[l*ldx:l*ldx+len(y)], y)
	}
}

// subtractProduct computes C -= A·B, element (i, l) of A at a[i*ars+l*acs].
func subtractProduct(ctx context.Context, m, n, k int, a []float64, ars, acs int, b []float64, ldb int, c []float64, ldc int) {
	micro64.multiply(product[float64]{ctx: ctx, m: m, n: n, k: k, alpha: -1, a: a, ars: ars, acs: acs, b: b, brs: ldb, bcs: 1,
		add: true, c: c, ldc: ldc})
}

// CholeskySolve overwrites B, n×k, with the solution X of A·X = B for a symmetric positive
// definite A, n×n, of which the upper triangle is read and overwritten with its Cholesky
// factor. It returns false, with B undefined, if A is not positive definite or the context ended.
func CholeskySolve(ctx context.Context, n int, a []float64, lda int, k int, b []float64, ldb int) bool {
	if !Cholesky(ctx, n, a, lda) {
		return false
	}
	if k == 0 {
		return true
	}
	if !SolveCholesky(ctx, n, a, lda, k, b, ldb) {
		return false
	}
	for i := range n {
		for _, x := range b[i*ldb : i*ldb+k] {
			if x-x != 0 {
				return false
			}
		}
	}
	return true
}

// quadraticBlock is how many rows QuadraticForms sums at a time: it determines the bits.
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
					// The conversions prevent fused multiply-adds, so that all machines round alike.
					sum[t] += float64(x[0] * (float64(row[0]*x[0]) + 2*Dot64(row[1:], x[1:])))
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

// fewColumns is the number of columns of B up to which the solves read U once, row by row, for all of them.
const fewColumns = 8

// SolveCholesky overwrites B, n×k, with the solution X of UᵀU·X = B for the factor U of Cholesky. It
// returns false, with B undefined, if the context ended.
func SolveCholesky(ctx context.Context, n int, u []float64, ldu, k int, b []float64, ldb int) bool {
	if k <= fewColumns {
		return solveNarrow(ctx, n, u, ldu, k, b, ldb)
	}
	solveUpperT(ctx, n, u, ldu, k, b, ldb)
	solveUpper(ctx, n, u, ldu, k, b, ldb)
	return ctx.Err() == nil
}

// solveNarrow is SolveCholesky for a few columns, which are laid out as rows. U is read twice, in order.
func solveNarrow(ctx context.Context, n int, u []float64, ldu, k int, b []float64, ldb int) bool {
	columns := micro64.buffers.Get(n * k)
	for i := range n {
		for t, v := range b[i*ldb : i*ldb+k] {
			columns[t*n+i] = v
		}
	}
	for i := range n {
		if i%smallTriangle == 0 && ctx.Err() != nil {
			return false
		}
		row := u[i*ldu+i : i*ldu+n]
		for t := range k {
			x := columns[t*n+i : (t+1)*n]
			x[0] /= row[0]
			Axpy64(-x[0], row[1:], x[1:])
		}
	}
	for i := n - 1; i >= 0; i-- {
		row := u[i*ldu+i : i*ldu+n]
		for t := range k {
			x := columns[t*n+i : (t+1)*n]
			x[0] = (x[0] - Dot64(row[1:], x[1:])) / row[0]
		}
	}
	for i := range n {
		for t := range k {
			b[i*ldb+t] = columns[t*n+i]
		}
	}
	micro64.keep(columns)
	return ctx.Err() == nil
}
