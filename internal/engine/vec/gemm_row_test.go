package vec

import (
	"math/rand/v2"
	"testing"
)

// A row has the bits alone that it has beside another row, and touches nothing but its columns.
func TestNarrowRowIsItsProduct(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(71, 1))
		for _, k := range []int{1, 2, 40, kc32, kc32 + 1, 3 * kc32, 4 * kc32, 4*kc32 + 1, 5*kc32 - 1, 7 * kc32, 8*kc32 - 3} {
			for n := 1; n <= NarrowColumns+1; n++ {
				ldb := n + n%3
				a, b := numbers[float32](r, k), numbers[float32](r, (k-1)*ldb+n)
				want, got := make([]float32, 2*n), make([]float32, n+1)
				Gemm32(2, n, k, append(a, a...), k, b, ldb, want, n)
				got[n] = 7
				Gemm32(1, n, k, a, k, b, ldb, got, n)
				if got[n] != 7 {
					t.Errorf("%d×%d: %g behind the columns", k, n, got[n])
				}
				for j, v := range want[:n] {
					if !equalBits(got[j], v) {
						t.Fatalf("%d×%d: column %d is %g, want %g", k, n, j, got[j], v)
					}
				}
			}
		}
	})
}

func BenchmarkNarrowRow(b *testing.B) {
	const k, n = 4096, 10
	r := rand.New(rand.NewPCG(72, 1))
	x, c, w := numbers[float32](r, k), make([]float32, n), numbers[float32](r, k*n)
	for b.Loop() {
		Gemm32(1, n, k, x, k, w, n, c, n)
	}
}
