package vec

import (
	"math/rand/v2"
	"testing"
)

// The factors of a product may be one matrix, and share an array with C where C has none of
// their elements: the solves rest on that.
func TestProductsOfAMatrixWithItselfBesideIt(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(61, 1))
		for _, n := range []int{1, 5, 14, 33, 100} {
			ld := 2*n + 1 // A on the left, C on the right of one array
			both := numbers[float64](r, n*ld)
			a, c := make([]float64, n*n), make([]float64, n*n)
			for i := range n {
				copy(a[i*n:(i+1)*n], both[i*ld:])
				copy(c[i*n:(i+1)*n], both[i*ld+n:])
			}
			before := append([]float64(nil), both...)
			GemmAddTN(n, n, n, a, n, append([]float64(nil), a...), n, c, n)
			GemmAddTN(n, n, n, both, ld, both, ld, both[n:], ld)
			for i, v := range both {
				row, col := i/ld, i%ld
				want := before[i]
				if col >= n && col < 2*n {
					want = c[row*n+col-n]
				}
				if v != want {
					t.Fatalf("n = %d at %d, %d: %g, want %g", n, row, col, v, want)
				}
			}
		}
	})
}

func TestDotAndAxpyOfAVectorWithItself(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(62, 1))
		for n := range 300 {
			x, v := numbers[float32](r, n), numbers[float64](r, n)
			y, w := append([]float32(nil), x...), append([]float64(nil), v...)
			if Dot32(x, x) != Dot32(x, y) || DotWide(x, x) != DotWide(x, y) || Dot64(v, v) != Dot64(v, w) {
				t.Fatalf("%d elements: a vector times itself is not its product with a copy", n)
			}
			Axpy32(-0.3, x, y)
			Axpy64(-0.3, v, w)
			Axpy32(-0.3, x, x)
			Axpy64(-0.3, v, v)
			for i := range x {
				if x[i] != y[i] || v[i] != w[i] {
					t.Fatalf("%d elements: element %d over itself is %g, %g, want %g, %g", n, i, x[i], v[i], y[i], w[i])
				}
			}
		}
	})
}
