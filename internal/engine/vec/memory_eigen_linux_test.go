package vec

import (
	"math/rand/v2"
	"testing"
)

// Not even a read goes beside a slice: it would end the test.
func TestEigenSymStaysWithinItsSlices(t *testing.T) {
	ab, vb := newBorder[float64](t, 2<<20), newBorder[float64](t, 1<<14)
	r := rand.New(rand.NewPCG(44, 1))
	last, large := 70, []int{95, 96, 97, 127, 128, 129, 193, 417}
	if testing.Short() {
		last, large = 34, []int{63, 64, 65, 97, 129, 193}
	}
	var orders []int
	for n := range last + 1 {
		orders = append(orders, n)
	}
	orders = append(orders, large...)
	everyLevel(t, func(t *testing.T) {
		for _, n := range orders {
			for _, end := range []bool{false, true} {
				pad := r.IntN(2) * 3
				a, values := ab.matrix(n, n, n+pad, end), vb.slice(n, end)
				for i := range a {
					a[i] = r.Float64()
				}
				if !EigenSym(t.Context(), n, a, n+pad, values, true) || !EigenSym(t.Context(), n, a, n+pad, values, false) {
					t.Fatalf("n = %d: no eigenvalues", n)
				}
			}
		}
	})
}

func TestKernelsForRowsStayWithinTheirSlices(t *testing.T) {
	const most = 2*longestColumns + 16
	ab, xb, yb, sb, fb := newBorder[float64](t, 8*symvHeight*(most+3)), newBorder[float64](t,
		8*most), newBorder[float64](t, 8*most), newBorder[float64](t, 4096), newBorder[float64](t, 4096)
	everyLevel(t, func(t *testing.T) {
		for _, n := range []int{8, 16, 24, longestColumns, longestColumns + 8, most} {
			for _, pad := range []int{0, 3} {
				for _, end := range []bool{false, true} {
					x, y, factors := xb.slice(n, end), yb.slice(n, end), fb.slice(symvHeight, end)
					symvBlock(n, ab.matrix(symvHeight, n, n+pad, end), n+pad, x, sb.slice(symvHeight, end), factors, y)
					a, sums, factors := ab.matrix(rowHeight, n, n+pad, end), sb.slice(rowHeight, end), fb.slice(rowHeight, end)
					rowDots(n, a, n+pad, x, sums)
					rowSums(n, a, n+pad, factors, y)
				}
			}
		}
	})
}
