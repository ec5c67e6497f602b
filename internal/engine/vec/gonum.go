package vec

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// BLAS64 is gonum's blas.Float64 with the matrix-matrix products and solves (level 3) by the
// kernels of this package, the rest gonum's own. gonum's lapack uses the implementation last
// given to blas64.Use, for the whole program: only a program may call that, never a package.
//
// Matrices may not overlap. Wrong arguments make it panic as gonum does. The smallest products
// are gonum's own, which sums in another order: a row's bits depend on how many rows there are.
type BLAS64 struct{ gonum.Implementation }

// BLAS32 is gonum's blas.Float32 with level 3 by the kernels of this package, as BLAS64.
type BLAS32 struct{ gonum.Implementation }

var (
	_ blas.Float64 = BLAS64{}
	_ blas.Float32 = BLAS32{}
)

// smallProduct is how many multiplications gonum does as fast.
const smallProduct = 512

// triangleBlock is the order of the blocks on the diagonal that gonum solves or multiplies.
const triangleBlock = 32

// view is op(X) for a matrix X stored row by row: element (i, j) at data[i*rs+j*cs].
type view[T float32 | float64] struct {
	data   []T
	rs, cs int
}

func viewOf[T float32 | float64](t bool, data []T, ld int) view[T] {
	if t {
		return view[T]{data, 1, ld}
	}
	return view[T]{data, ld, 1}
}

// from is the view that begins at element (i, j), which may lie beyond the end.
func (v view[T]) from(i, j int) view[T] {
	return view[T]{v.data[min(len(v.data), i*v.rs+j*v.cs):], v.rs, v.cs}
}

// scale computes C = βC for a part of C.
func scale[T float32 | float64](part triangle, m, n int, beta T, c []T, ldc int) {
	if beta == 1 {
		return
	}
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		switch part {
		case upper:
			row = row[i:]
		case lower:
			row = row[:i+1]
		}
		if beta == 0 {
			clear(row) // NaN too
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

// addProduct computes C += αA·B for a part of C.
func (mk *micro[T]) addProduct(part triangle, m, n, k int, alpha T, a, b view[T], c []T, ldc int) {
	if alpha == 0 || m <= 0 || n <= 0 || k <= 0 {
		return
	}
	mk.multiply(product[T]{m: m, n: n, k: k, alpha: alpha, a: a.data, ars: a.rs, acs: a.cs,
		b: b.data, brs: b.rs, bcs: b.cs, add: true, c: c, ldc: ldc, part: part})
}

func transposed(t blas.Transpose) bool { return t != blas.NoTrans }

func triangleOf(ul blas.Uplo) triangle {
	if ul == blas.Upper {
		return upper
	}
	return lower
}

func known(t blas.Transpose) bool {
	return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

// fits says whether a matrix of rows×cols, stored row by row, lies within a slice.
func fits(rows, cols, length, ld int) bool {
	return rows > 0 && cols > 0 && ld >= cols && length >= (rows-1)*ld+cols
}

// The following report whether the arguments of a routine are valid, and its matrices
// not empty. Anything else goes to gonum, which handles it or panics.

func gemmFits(tA, tB blas.Transpose, m, n, k, a, lda, b, ldb, c, ldc int) bool {
	if !known(tA) || !known(tB) {
		return false
	}
	am, an, bm, bn := m, k, k, n
	if transposed(tA) {
		am, an = an, am
	}
	if transposed(tB) {
		bm, bn = bn, bm
	}
	return fits(am, an, a, lda) && fits(bm, bn, b, ldb) && fits(m, n, c, ldc)
}

func rankFits(ul blas.Uplo, t blas.Transpose, n, k, a, lda, c, ldc int) bool {
	if ul != blas.Upper && ul != blas.Lower || !known(t) {
		return false
	}
	if transposed(t) {
		return fits(k, n, a, lda) && fits(n, n, c, ldc)
	}
	return fits(n, k, a, lda) && fits(n, n, c, ldc)
}

func triangularFits(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n, na, a, lda, b, ldb int) bool {
	return (s == blas.Left || s == blas.Right) && (ul == blas.Upper || ul == blas.Lower) && known(t) &&
		(d == blas.Unit || d == blas.NonUnit) && fits(na, na, a, lda) && fits(m, n, b, ldb)
}

// symmetric computes C += αA·B, or αB·A, for a symmetric A of which a triangle is given. A is
// completed a block of rows at a time.
func symmetric[T float32 | float64](mk *micro[T], left, up bool, m, n int, alpha T, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	const block = 256
	na := n
	if left {
		na = m
	}
	rows := make([]T, min(block, na)*na)
	for i := 0; i < na; i += block {
		end := min(i+block, na)
		for r := i; r < end; r++ {
			row := rows[(r-i)*na : (r-i+1)*na]
			for j := range row {
				if (j >= r) == up || j == r {
					row[j] = a[r*lda+j]
				} else {
					row[j] = a[j*lda+r]
				}
			}
		}
		if left {
			mk.addProduct(full, end-i, n, na, alpha, view[T]{rows, na, 1}, view[T]{b, ldb, 1}, c[i*ldc:], ldc)
		} else {
			mk.addProduct(full, m, n, end-i, alpha, view[T]{b[i:], ldb, 1}, view[T]{rows, na, 1}, c, ldc)
		}
	}
}

// triangular is a product or a system with a triangular op(A), cut in halves until the blocks
// on the diagonal are small enough for gonum.
type triangular[T float32 | float64] struct {
	mk   *micro[T]
	left bool    // A·B, not B·A
	up   bool    // op(A) is upper triangular
	a    view[T] // op(A)
	lda  int
	b    []T
	ldb  int

	// small processes the block of A at a[at:] with the m×n part of B at x.
	small func(at, m, n int, x []T)
}

// cut gives the parts of B of the first h and of the other rows, or columns.
func (t triangular[T]) cut(at int) []T {
	if t.left {
		return t.b[at*t.ldb:]
	}
	return t.b[at:]
}

// multiply computes B = αop(A)·B or αB·op(A).
func (t triangular[T]) multiply(m, n int, alpha T) {
	if t.left {
		t.halve(0, m, n, t.left == t.up, func(to, from, rows, cols int) { t.link(to, from, rows, cols, n, alpha) })
		return
	}
	t.halve(0, n, m, t.left == t.up, func(to, from, rows, cols int) { t.link(to, from, rows, cols, m, alpha) })
}

// solve computes B = op(A)⁻¹B or Bop(A)⁻¹.
func (t triangular[T]) solve(m, n int) {
	if t.left {
		t.halve(0, m, n, t.left != t.up, func(from, to, cols, rows int) { t.link(to, from, rows, cols, n, -1) })
		return
	}
	t.halve(0, n, m, t.left != t.up, func(from, to, cols, rows int) { t.link(to, from, rows, cols, m, -1) })
}

// halve processes the blocks [at, at+na) of A: first the half of B whose old value the
// other no longer needs, or whose solution the other needs; then the link between them; then
// the other half. across is the extent of B that A does not touch.
func (t triangular[T]) halve(at, na, across int, lowFirst bool, link func(one, other, sizeOne, sizeOther int)) {
	if na <= triangleBlock {
		if t.left {
			t.small(at*(t.lda+1), na, across, t.cut(at))
		} else {
			t.small(at*(t.lda+1), across, na, t.cut(at))
		}
		return
	}
	h := half(na)
	one, other, sizeOne, sizeOther := at, at+h, h, na-h
	if !lowFirst {
		one, other, sizeOne, sizeOther = other, one, sizeOther, sizeOne
	}
	t.halve(one, sizeOne, across, lowFirst, link)
	link(one, other, sizeOne, sizeOther)
	t.halve(other, sizeOther, across, lowFirst, link)
}

// link adds α·op(A)·B, or αB·op(A), for the block of op(A) that leads from one part of B to
// the other.
func (t triangular[T]) link(to, from, sizeTo, sizeFrom, across int, alpha T) {
	b := view[T]{t.cut(from), t.ldb, 1}
	if t.left {
		t.mk.addProduct(full, sizeTo, across, sizeFrom, alpha, t.a.from(to, from), b, t.cut(to), t.ldb)
	} else {
		t.mk.addProduct(full, across, sizeTo, sizeFrom, alpha, b, t.a.from(from, to), t.cut(to), t.ldb)
	}
}
