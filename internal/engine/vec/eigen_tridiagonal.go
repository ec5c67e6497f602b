package vec

import (
	"context"
	"math"
)

// tridiagonalise reduces the symmetric A, whose upper triangle is given, to the tridiagonal
// T = QᵀAQ with d on its diagonal and e[:n-1] next to it. Q is the product of the reflections
// H_j = I - tau[j]·v_j·v_jᵀ, j = 0 … n-2, where v_j is 0 up to index j and 1 at j+1; from
// there on it replaces row j of A.
//
// One reflection turns A into H·A·H = A - v·wᵀ - w·vᵀ with w = p - (tau/2)(pᵀv)·v, p = tau·A·v
// (Golub and Van Loan, section 8.3.1). The rest of A is not updated during a block
// of reflections, whose v and w are kept (Dongarra, Hammarling and Sorensen 1989): then it is
// updated by one product, and until then A·v accounts for the pending updates. It returns false if the context ended.
func tridiagonalise(ctx context.Context, n int, a []float64, lda int, d, e, tau []float64) bool {
	b := newReflections(n)
	times := newSymmetric(n)
	for j0 := 0; j0 < n; j0 += b.most {
		b.clear(j0)
		end := min(j0+b.most, n)
		for j := j0; j < end; j++ {
			if ctx.Err() != nil {
				return false
			}
			row := a[j*lda+j : j*lda+n]
			x := b.v[b.count*b.ld:][:b.ld] // v to be
			copy(x[j:n], row)
			b.update(j, x)
			d[j] = x[j]
			x[j] = 0
			if j == n-1 {
				break
			}
			e[j], tau[j] = reflector(x[j+1 : n])
			copy(row[1:], x[j+1:n])
			w := b.w[b.count*b.ld:][:b.ld]
			if tau[j] != 0 {
				times.multiply(n-j-1, a[(j+1)*(lda+1):], lda, x[j+1:n], w[j+1:n])
				b.owed(j+1, w)
				rest, v := w[j+1:n], x[j+1:n]
				for i := range rest {
					rest[i] *= tau[j]
				}
				Axpy64(-tau[j]/2*Dot64(rest, v), v, rest)
			}
			b.count++
		}
		if end < n {
			b.subtract(ctx, n-end, a[end*(lda+1):], lda, end)
		}
	}
	return true
}

// reflections keeps v and w of a block of reflections, one row each, 0 outside
// the reflection's range and from n up to ld.
type reflections struct {
	n, ld, most int
	count       int
	v, w, again []float64 // v twice: rows of [v; w] and of [w; v] follow each other
	all         []float64
	factors     []float64
	products    []float64
}

// tridiagonalBlock is how many reflections are gathered.
const tridiagonalBlock = 32

func newReflections(n int) *reflections {
	b := &reflections{n: n, ld: stride(n), most: tridiagonalBlock}
	size := b.most * b.ld
	b.all = aligned[float64](3 * size)
	b.v, b.w, b.again = b.all[:size], b.all[size:2*size], b.all[2*size:]
	b.factors, b.products = make([]float64, 2*b.most), make([]float64, 2*b.most)
	return b
}

// clear drops all; from is the first index that the next block reaches.
func (b *reflections) clear(from int) {
	b.count = 0
	for p := range 2 * b.most {
		clear(b.all[p*b.ld+from : (p+1)*b.ld])
	}
}

// rounded is the count rounded up to a multiple of what the kernels take: the additional rows are 0.
func (b *reflections) rounded() int { return (b.count + rowHeight - 1) / rowHeight * rowHeight }

// update brings row j of A, x[j:], up to date.
func (b *reflections) update(j int, x []float64) {
	k, from := b.rounded(), j&^7
	columns := b.ld - from
	for q := range b.count {
		b.factors[q], b.products[q] = -b.w[q*b.ld+j], -b.v[q*b.ld+j]
	}
	clear(b.factors[b.count:k])
	clear(b.products[b.count:k])
	y := x[from:b.ld]
	for q := 0; q < k; q += rowHeight {
		rowSums(columns, b.v[q*b.ld+from:], b.ld, b.factors[q:], y)
		rowSums(columns, b.w[q*b.ld+from:], b.ld, b.products[q:], y)
	}
	clear(x[from:j])
}

// owed subtracts from w[at:], A·v, the pending updates of A: V(Wᵀv) + W(Vᵀv), where v is
// the row of V after the count.
func (b *reflections) owed(at int, w []float64) {
	k, from := b.rounded(), at&^7
	columns := b.ld - from
	v := b.v[b.count*b.ld+from : (b.count+1)*b.ld]
	clear(b.factors[:k])
	clear(b.products[:k])
	for q := 0; q < k; q += rowHeight {
		rowDots(columns, b.w[q*b.ld+from:], b.ld, v, b.factors[q:])
		rowDots(columns, b.v[q*b.ld+from:], b.ld, v, b.products[q:])
	}
	for q := range k {
		b.factors[q], b.products[q] = -b.factors[q], -b.products[q]
	}
	clear(b.factors[b.count:k])
	clear(b.products[b.count:k])
	y := w[from:]
	for q := 0; q < k; q += rowHeight {
		rowSums(columns, b.v[q*b.ld+from:], b.ld, b.factors[q:], y)
		rowSums(columns, b.w[q*b.ld+from:], b.ld, b.products[q:], y)
	}
	clear(w[from:at])
}

// subtract updates the rest of A, m×m, whose first row is row at.
func (b *reflections) subtract(ctx context.Context, m int, a []float64, lda, at int) {
	for q := range b.count {
		copy(b.again[q*b.ld+at:(q+1)*b.ld], b.v[q*b.ld+at:])
	}
	micro64.multiply(product[float64]{ctx: ctx, m: m, n: m, k: 2 * b.count, alpha: -1, a: b.all[at:], ars: 1, acs: b.ld,
		b: b.all[b.most*b.ld+at:], brs: b.ld, bcs: 1, add: true, c: a, ldc: lda, part: upper})
}

// reflector overwrites x with v, v[0] = 1, such that (I - tau·v·vᵀ)x = beta·e₁.
func reflector(x []float64) (beta, tau float64) {
	first, rest := x[0], x[1:]
	square := Dot64(rest, rest)
	x[0] = 1
	if square < 0x1p-900 { // negligible beside the rest of A, whose smallest size is 2⁻²⁰⁰
		clear(rest)
		return first, 0
	}
	beta = -math.Copysign(math.Sqrt(float64(first*first)+square), first)
	f := 1 / (first - beta)
	for i := range rest {
		rest[i] *= f
	}
	return beta, (beta - first) / beta
}

// stride is a distance between rows of n numbers that start at cache lines, but at different
// offsets within pages.
func stride(n int) int {
	ld := (n + 7) &^ 7
	if ld%512 == 0 {
		ld += 8
	}
	return ld
}
