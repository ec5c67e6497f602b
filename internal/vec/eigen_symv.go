package vec

import "math"

// symmetric multiplies symmetric matrices with vectors. The upper triangle of A is read once:
// a row takes part in its own element of the product, and in those of the columns it crosses.
//
// The triangle is cut into parts of as many numbers, by rows; each adds to a vector of its
// own, and these are added up in order. The cut depends on n alone, and so do the bits.
type symmetric64 struct {
	sums []float64
	ld   int
}

// mostParts is how many parts there are at most; partRows how many rows of A make one.
const (
	mostParts = 8
	partRows  = 128
)

func newSymmetric(n int) *symmetric64 {
	return &symmetric64{sums: aligned[float64](parts(n) * stride(n)), ld: stride(n)}
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

// symvRows adds to y what rows [first, last) of A contribute to A·x.
func symvRows(first, last, n int, a []float64, lda int, x, y []float64) {
	for i := first; i < last; i++ {
		row := a[i*lda+i : i*lda+n]
		y[i] += float64(row[0]*x[i]) + Dot64(row[1:], x[i+1:n])
		Axpy64(x[i], row[1:], y[i+1:n])
	}
}
