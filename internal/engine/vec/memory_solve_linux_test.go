package vec

import (
	"math/rand/v2"
	"testing"
)

// Not even a read goes beside a slice: it would end the test.
func TestSolversStayWithinTheirSlices(t *testing.T) {
	ab, bb, qb := newBorder[float64](t, 2<<20), newBorder[float64](t, 1<<20), newBorder[float64](t, 1<<12)
	r := rand.New(rand.NewPCG(43, 1))
	var orders []int
	for n := range 71 {
		orders = append(orders, n)
	}
	orders = append(orders, 95, 96, 97, 127, 128, 129, 193, 417)
	everyLevel(t, func(t *testing.T) {
		for _, n := range orders {
			for _, end := range []bool{false, true} {
				k, pad := 1+r.IntN(40), r.IntN(2)*3
				a, b, q := ab.matrix(n, n, n+pad, end), bb.matrix(n, k, k+pad, end), qb.slice(k, end)
				for i := range a {
					a[i] = r.Float64()
				}
				for i := range n {
					a[i*(n+pad)+i] = float64(n) // more than all beside it together
				}
				w := bb.matrix(k, n, n+pad, end)
				QuadraticForms(q, n, a, n+pad, k, w, n+pad)
				if !CholeskySolve(t.Context(), n, a, n+pad, k, b, k+pad) {
					t.Fatalf("n = %d: not positive definite", n)
				}
			}
		}
	})
}
