package vec

import "math"

// tridiagonalBlock is how many reflections are gathered before the rest of A is updated.
const tridiagonalBlock = 32

// tridiagonalise reduces the symmetric A, whose upper triangle is given, to the tridiagonal
// T = QᵀAQ with d on its diagonal and e[:n-1] beside it. Q is the product of the reflections
// H_j = I - tau[j]·v_j·v_jᵀ, j = 0 … n-2, where v_j is 0 up to place j, 1 at place j+1; from
// there on it replaces row j of A.
//
// One reflection makes A into H·A·H = A - v·wᵀ - w·vᵀ with w = p - (tau/2)(pᵀv)·v, p = tau·A·v
// (Golub and Van Loan, section 8.3.1). The rest of A stays as it is for a block of
// reflections, whose v and w are remembered (Dongarra, Hammarling and Sorensen 1989): then it
// is updated by one product, and meanwhile A·v counts what they owe.
func tridiagonalise(n int, a []float64, lda int, d, e, tau []float64) {
	block := min(tridiagonalBlock, n)
	ld := stride(n)
	// v, w and v once more: rows of [v; w] and of [w; v] follow each other.
	memory := aligned[float64](3*block*ld + n)
	vs, ws, again := memory[:block*ld], memory[block*ld:2*block*ld], memory[2*block*ld:3*block*ld]
	owed := make([]float64, 2*block)
	times := newSymmetric(n)
	for j0 := 0; j0 < n; j0 += block {
		end := min(j0+block, n)
		for j := j0; j < end; j++ {
			p := j - j0
			row := a[j*lda+j : j*lda+n]
			for q := range p {
				v, w := vs[q*ld+j:q*ld+n], ws[q*ld+j:q*ld+n]
				Axpy64(-v[0], w, row)
				Axpy64(-w[0], v, row)
			}
			d[j] = row[0]
			if j == n-1 {
				break
			}
			x := row[1:]
			e[j], tau[j] = reflector(x)
			v, w := vs[p*ld:p*ld+n], ws[p*ld:p*ld+n]
			clear(v[j0 : j+1])
			clear(w[j0 : j+1])
			copy(v[j+1:], x)
			w = w[j+1:]
			if tau[j] == 0 {
				clear(w)
				continue
			}
			times.multiply(n-j-1, a[(j+1)*(lda+1):], lda, x, w)
			for q := range p {
				owed[2*q] = Dot64(ws[q*ld+j+1:q*ld+n], x)
				owed[2*q+1] = Dot64(vs[q*ld+j+1:q*ld+n], x)
			}
			for q := range p {
				Axpy64(-owed[2*q], vs[q*ld+j+1:q*ld+n], w)
				Axpy64(-owed[2*q+1], ws[q*ld+j+1:q*ld+n], w)
			}
			for i := range w {
				w[i] *= tau[j]
			}
			Axpy64(-tau[j]/2*Dot64(w, x), x, w)
		}
		if end == n {
			break
		}
		k := end - j0
		for q := range k {
			copy(again[q*ld+end:q*ld+n], vs[q*ld+end:q*ld+n])
		}
		micro64.multiply(product[float64]{m: n - end, n: n - end, k: 2 * k, alpha: -1, a: memory[end:], ars: 1, acs: ld,
			b: memory[block*ld+end:], brs: ld, bcs: 1, add: true, c: a[end*(lda+1):], ldc: lda, part: upper})
	}
}

// reflector overwrites x with v, v[0] = 1, such that (I - tau·v·vᵀ)x = beta·e₁.
func reflector(x []float64) (beta, tau float64) {
	first, rest := x[0], x[1:]
	square := Dot64(rest, rest)
	x[0] = 1
	if square < 0x1p-900 { // nothing beside the rest of A, of which 2⁻²⁰⁰ is the least
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

// stride is a distance between rows of n numbers that begin at cache lines, but not at the
// same place of pages.
func stride(n int) int {
	ld := (n + 7) &^ 7
	if ld%512 == 0 {
		ld += 8
	}
	return ld
}
