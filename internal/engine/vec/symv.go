package vec

import "math"

// symmetric64 multiplies symmetric matrices with vectors. The upper triangle of A is read
// once: a row contributes to its own element of the product, and to those of the columns
// it crosses.
//
// The triangle is divided by rows into parts of equally many numbers; each adds to its own
// vector, and these are added up in order. The division depends only on n, and so do the bits.
type symmetric64 struct {
	sums []float64
	ld   int
}

// mostParts is the largest number of parts; partRows how many rows of A make one.
const (
	mostParts = 8
	partRows  = 128
)

func newSymmetric(n int) *symmetric64 {
	ld := stride(n)
	return &symmetric64{sums: aligned[float64](parts(n) * ld), ld: ld}
}

func parts(n int) int { return max(1, min(mostParts, n/partRows)) }

// multiply computes y = A·x for an A, n×n, not larger than s was made for.
func (s *symmetric64) multiply(n int, a []float64, lda int, x, y []float64) {
	p := parts(n)
	if p == 1 {
		clear(y)
		symvRows(0, n, n, a, lda, x, y)
		return
	}
	Parallel(p, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			first, last := cutTriangle(n, t, p), cutTriangle(n, t+1, p)
			sum := s.sums[t*s.ld : t*s.ld+n]
			clear(sum[first:])
			symvRows(first, last, n, a, lda, x, sum)
		}
	})
	copy(y, s.sums[:n])
	for t := 1; t < p; t++ {
		first := cutTriangle(n, t, p)
		Axpy64(1, s.sums[t*s.ld+first:t*s.ld+n], y[first:n])
	}
}

// cutTriangle is the row before which t of p parts of an upper triangle lie.
func cutTriangle(n, t, p int) int {
	if t == p {
		return n
	}
	return int(float64(n)*(1-math.Sqrt(float64(p-t)/float64(p)))) &^ 7
}

// symvRows adds to y the contribution of rows [first, last) of A to A·x: as many rows
// at a time as the kernel takes, from the first column at which all of them are in the
// triangle and the rest is a multiple of the kernel's width.
func symvRows(first, last, n int, a []float64, lda int, x, y []float64) {
	var sums [symvHeight]float64
	i := first
	for ; i+symvHeight <= last; i += symvHeight {
		start := n - (n-i-symvHeight)&^7
		for r := i; r < i+symvHeight; r++ {
			row := a[r*lda+r : r*lda+start]
			factor, sum := x[r], float64(row[0]*x[r])
			xs, ys := x[r+1:start], y[r+1:start]
			for c, v := range row[1:] {
				sum += float64(v * xs[c])
				ys[c] += float64(v * factor)
			}
			sums[r-i] = sum
		}
		if start < n {
			symvBlock(n-start, a[i*lda+start:], lda, x[start:], sums[:], x[i:], y[start:])
		}
		for r, v := range sums[:] {
			y[i+r] += v
		}
	}
	for ; i < last; i++ {
		row := a[i*lda+i : i*lda+n]
		y[i] += float64(row[0]*x[i]) + Dot64(row[1:], x[i+1:n])
		Axpy64(x[i], row[1:], y[i+1:n])
	}
}

// The kernels take a few rows of a matrix and n columns, a multiple of 8:
//
//	symvBlock  sums[r] += Σ_c row_r[c]·x[c] and y[c] += Σ_r row_r[c]·factors[r], symvHeight rows
//	rowDots    the first alone, rowHeight rows
//	rowSums    the second alone, rowHeight rows

const (
	symvHeight = 8
	rowHeight  = 4
)

// longestColumns is how many columns one call of a kernel gets: it cannot be preempted.
const longestColumns = 1 << 11

func portableDots(n int, a []float64, lda int, x, sums []float64) {
	for r := range sums {
		sums[r] += Dot64(a[r*lda:r*lda+n], x[:n])
	}
}

func portableSums(n int, a []float64, lda int, factors, y []float64) {
	for r, f := range factors {
		Axpy64(f, a[r*lda:r*lda+n], y[:n])
	}
}
