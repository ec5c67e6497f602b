package vec

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// leafOrder is the order up to which a tridiagonal problem is solved by QL.
const leafOrder = 32

// conquer computes the eigenvalues and eigenvectors of the tridiagonal T, n×n, with d on its
// diagonal and e[:n-1] next to it: d becomes the eigenvalues, and row i of S, n×n with stride
// lds and initially 0, the eigenvector of d[i]; order lists the rows by ascending eigenvalue. Only
// the last k of them, where top returns k for the ascending eigenvalues, need be vectors; the
// others may be left unfinished. e is overwritten. If the context ended, ok is false.
//
// Divide and conquer (Cuppen 1981): without the off-diagonal element β between its
// halves, T is two smaller problems, T = diag(T₁, T₂) + |β|·v·vᵀ with v = e ± e of the rows
// that meet there. With the eigenvectors of the halves for a basis it is a diagonal plus
// ρzzᵀ, whose eigenvectors a matrix product turns into those of T.
func conquer(ctx context.Context, n int, d, e, s []float64, lds int, top func(sorted []float64) int) (order []int, k int, ok bool) {
	order = make([]int, n)
	leaves := 1 // a power of 2
	for n > leafOrder*leaves {
		leaves *= 2
	}
	cuts := make([]int, leaves+1) // leaf t is rows cuts[t] to cuts[t+1]
	for t := range cuts {
		cuts[t] = n * t / leaves
	}
	beta := make([]float64, len(cuts)) // beside each cut
	for t, at := range cuts {
		if at > 0 && at < n {
			beta[t] = e[at-1]
			d[at-1] -= math.Abs(beta[t])
			d[at] -= math.Abs(beta[t])
		}
	}
	failed := make([]bool, leaves)
	Parallel(leaves, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			at, m := cuts[t], cuts[t+1]-cuts[t]
			for i := at; i < at+m; i++ {
				s[i*lds+i] = 1
			}
			failed[t] = !tridiagonalQL(ctx, m, d[at:at+m], e[at:at+m], s[at*lds+at:], lds)
			sortPlaces(d[at:at+m], order[at:at+m])
		}
	})
	if slices.Contains(failed, true) {
		return nil, 0, false
	}
	if leaves == 1 {
		return order, top(inOrder(d, order)), true
	}
	work := make([]float64, n*n)
	for step := 1; step < leaves && ctx.Err() == nil; step *= 2 {
		Parallel(leaves/(2*step), 1, func(lo, hi int) {
			for t := lo; t < hi; t++ {
				first, middle, last := cuts[2*t*step], cuts[(2*t+1)*step], cuts[(2*t+2)*step]
				m := merge{n: last - first, left: middle - first, d: d[first:last], order: order[first:last],
					s: s[first*lds+first:], lds: lds, work: work[first*n : last*n]}
				most := func([]float64) int { return m.n }
				if m.n == n {
					most = func(sorted []float64) int { k = top(sorted); return k }
				}
				m.do(ctx, beta[(2*t+1)*step], most)
			}
		})
	}
	return order, k, ctx.Err() == nil
}

// inOrder are the values of d in the given order.
func inOrder(d []float64, order []int) []float64 {
	sorted := make([]float64, len(d))
	for i, from := range order {
		sorted[i] = d[from]
	}
	return sorted
}

// sortPlaces makes order the indices of d by ascending value.
func sortPlaces(d []float64, order []int) {
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d[i], d[j]) })
}

// merge joins two solved halves of a tridiagonal problem of order n, the first of order left:
// rows of S are eigenvectors, 0 in the columns of the other half, d their eigenvalues, order
// lists those of each half, ascending.
type merge struct {
	n, left int
	d       []float64
	order   []int
	s       []float64
	lds     int
	work    []float64 // n·n numbers or more
}

// A row of S before a merge is 0 in the columns of the right half, of the left, or, after a
// rotation with one of the other half, in neither; or it is an eigenvector of the whole already.
const (
	inLeft = iota
	inBoth
	inRight
	settled
	kinds
)

// do merges with the element beta at the cut. Vectors are computed for as many of the largest
// eigenvalues as top returns, given all in ascending order.
func (m merge) do(ctx context.Context, beta float64, top func(sorted []float64) int) {
	z, kind := m.coupling(beta)
	kept := m.deflate(2*math.Abs(beta), z, kind)
	k := len(kept)
	old := m.moveRows(kind, k)

	q := &secular{rho: 2 * math.Abs(beta), d: make([]float64, k), z: make([]float64, k), origin: make([]int, k), tau: make([]float64, k)}
	to := make([]int, k)
	for t, i := range kept {
		q.d[t], q.z[t], to[t] = m.d[i], z[i], old.place[i]
	}
	values := make([]float64, m.n)
	for i, c := range kind {
		if c == settled {
			values[old.place[i]] = m.d[i]
		}
	}
	if !q.solve(ctx) {
		return
	}
	for t := range k {
		values[t] = q.value(t)
	}
	copy(m.d, values)
	sortPlaces(m.d, m.order)
	first := k // the least root whose vector is needed; they ascend
	for _, row := range m.order[m.n-top(inOrder(m.d, m.order)):] {
		first = min(first, row)
	}
	if !q.refine(ctx) {
		return
	}
	for i := k; i < m.n; i++ {
		copy(m.row(i), old.settled[(i-k)*m.n:])
	}
	m.vectors(ctx, q, old, to, first)
}

// coupling is z, which is v in the eigenvectors' basis, normalised to unit length, and the kinds of the rows.
func (m merge) coupling(beta float64) (z []float64, kind []int) {
	z, kind = make([]float64, m.n), make([]int, m.n)
	for i := range m.n {
		if i < m.left {
			z[i] = m.s[i*m.lds+m.left-1] / math.Sqrt2
		} else {
			z[i] = math.Copysign(1, beta) * m.s[i*m.lds+m.left] / math.Sqrt2
			kind[i] = inRight
		}
	}
	return z, kind
}

// moved are the rows of S before a merge, kind by kind, without halves that are 0.
type moved struct {
	lefts, rights       []float64 // halves
	leftRows, rightRows int
	onlyLeft            int       // rows that have no right half come first
	settled             []float64 // whole rows
	place               []int     // by row: the coefficient of a new row, or the new row that a settled one becomes
}

// moveRows moves the rows of S to the work memory. The k new rows replace them, the settled ones after the others.
func (m merge) moveRows(kind []int, k int) (to moved) {
	var count [kinds]int
	for _, c := range kind {
		count[c]++
	}
	right := m.n - m.left
	to.leftRows, to.rightRows, to.onlyLeft = count[inLeft]+count[inBoth], count[inBoth]+count[inRight], count[inLeft]
	to.lefts = m.work[:to.leftRows*m.left]
	to.rights = m.work[len(to.lefts):][:to.rightRows*right]
	to.settled = m.work[len(to.lefts)+len(to.rights):][:count[settled]*m.n]
	to.place = make([]int, m.n)
	at := [kinds]int{inBoth: count[inLeft], inRight: to.leftRows, settled: k}
	for i, c := range kind {
		p := at[c]
		to.place[i] = p
		at[c]++
		row := m.row(i)
		if c == settled {
			copy(to.settled[(p-k)*m.n:], row)
			continue
		}
		if p < to.leftRows {
			copy(to.lefts[p*m.left:], row[:m.left])
		}
		if p >= to.onlyLeft {
			copy(to.rights[(p-to.onlyLeft)*right:], row[m.left:])
		}
	}
	return to
}

// vectors makes the rows of S from first on the eigenvectors of the roots of q: products of their coefficients, whose places
// are to, with the old rows.
func (m merge) vectors(ctx context.Context, q *secular, old moved, to []int, first int) {
	k := len(to)
	if first == k {
		return
	}
	block := min(k-first, vectorBlock)
	ldu := stride(k)
	u := aligned[float64](block * ldu)
	right := m.n - m.left
	for i := first; i < k && ctx.Err() == nil; i += block {
		rows := min(block, k-i)
		Parallel(rows, 16, func(lo, hi int) {
			for t := lo; t < hi; t++ {
				q.vector(i+t, to, u[t*ldu:t*ldu+k])
			}
		})
		gemm64(ctx, rows, m.left, old.leftRows, u, ldu, old.lefts, m.left, m.s[i*m.lds:], m.lds)
		gemm64(ctx, rows, right, old.rightRows, u[old.onlyLeft:], ldu, old.rights, right, m.s[i*m.lds+m.left:], m.lds)
	}
}

// vectorBlock is how many eigenvectors of a merge are computed together.
const vectorBlock = 512

// gemm64 computes C = A·B, unless the context ends before.
func gemm64(ctx context.Context, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	micro64.multiply(product[float64]{ctx: ctx, m: m, n: n, k: k, alpha: 1, a: a, ars: lda, acs: 1, b: b, brs: ldb, bcs: 1,
		c: c, ldc: ldc})
}

// deflate settles rows that the merge does not change, up to rounding: those with z
// = 0, and one of two with the same eigenvalue, after a rotation. It returns the others,
// ascending.
func (m merge) deflate(rho float64, z []float64, kind []int) (kept []int) {
	// Neither ρ nor a d is more than a few times the norm of T, and one of them is about that.
	small := rho
	for _, v := range m.d {
		small = max(small, math.Abs(v))
	}
	small *= 0x1p-50
	sorted := m.mergeOrders()
	previous := -1
	for _, i := range sorted {
		if rho*math.Abs(z[i]) <= small {
			kind[i] = settled
			continue
		}
		if p := previous; p >= 0 {
			// The rotation that makes z[p] 0 puts this off the diagonal.
			length := math.Sqrt(float64(z[p]*z[p]) + float64(z[i]*z[i]))
			c, t := z[i]/length, z[p]/length
			if gap := m.d[i] - m.d[p]; math.Abs(gap*c*t) <= small {
				z[p], z[i] = 0, length
				rotate(c, t, m.row(p), m.row(i))
				m.d[p], m.d[i] = float64(m.d[p]*c*c)+float64(m.d[i]*t*t), float64(m.d[p]*t*t)+float64(m.d[i]*c*c)
				if kind[i] != kind[p] {
					kind[i] = inBoth
				}
				kind[p] = settled
				previous = i
				continue
			}
			kept = append(kept, p)
		}
		previous = i
	}
	if previous >= 0 {
		kept = append(kept, previous)
	}
	return kept
}

func (m merge) row(i int) []float64 { return m.s[i*m.lds : i*m.lds+m.n] }

// mergeOrders lists all rows by ascending eigenvalue.
func (m merge) mergeOrders() []int {
	one, other := m.order[:m.left], m.order[m.left:]
	all := make([]int, 0, m.n)
	for len(one) > 0 && len(other) > 0 {
		if m.d[other[0]+m.left] < m.d[one[0]] {
			all, other = append(all, other[0]+m.left), other[1:]
		} else {
			all, one = append(all, one[0]), one[1:]
		}
	}
	all = append(all, one...)
	for _, i := range other {
		all = append(all, i+m.left)
	}
	return all
}
