package vec

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// onAnyThreads compares what f computes on 1, 2 and 5 threads.
func onAnyThreads[T float32 | float64](t *testing.T, name string, f func() []T) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := f()
	for _, threads := range []int{2, 5} {
		runtime.GOMAXPROCS(threads)
		for i, v := range f() {
			if v != want[i] {
				t.Fatalf("%s on %d threads: element %d is %g, on one %g", name, threads, i, v, want[i])
			}
		}
	}
}

func TestAllProductsAndSolvesAreTheSameOnAnyThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 1))
	for _, s := range [][3]int{{530, 461, 71}, {1301, 67, 433}, {67, 1301, 833}} {
		m, n, k := s[0], s[1], s[2]
		a, b := numbers[float64](r, m*k), numbers[float64](r, k*n)
		x, y := numbers[float32](r, m*k), numbers[float32](r, k*n)
		onAnyThreads(t, "GemmAddTN", func() []float64 {
			c := make([]float64, m*n)
			GemmAddTN(m, n, k, a, m, b, n, c, n)
			return c
		})
		onAnyThreads(t, "GemmNT", func() []float64 {
			c := make([]float64, m*n)
			GemmNT(m, n, k, a, k, b, k, c, n)
			return c
		})
		onAnyThreads(t, "Gemm32", func() []float32 {
			c := make([]float32, m*n)
			Gemm32(m, n, k, x, k, y, n, c, n)
			return c
		})
		onAnyThreads(t, "Packed", func() []float32 {
			c := make([]float32, m*n)
			Pack32(k, n, y, n).Multiply(m, x, k, c, n, func(i, j, rows, cols int) {
				for r := i; r < i+rows; r++ {
					Axpy32(1, c[r*n+j:r*n+j+cols], c[r*n+j:r*n+j+cols])
				}
			})
			return c
		})
		onAnyThreads(t, "SyrkAddWide", func() []float64 {
			c := make([]float64, n*n)
			SyrkAddWide(n, k, y, n, c, n)
			return c
		})
	}
	const n, k = 450, 70
	a, b := positive(r, n), numbers[float64](r, n*k)
	onAnyThreads(t, "CholeskySolve", func() []float64 {
		u, x := append([]float64(nil), a...), append([]float64(nil), b...)
		if !CholeskySolve(n, u, n, k, x, k) {
			t.Fatal("not positive definite")
		}
		return append(u, x...)
	})
	onAnyThreads(t, "QuadraticForms", func() []float64 {
		q := make([]float64, k)
		QuadraticForms(q, n, a, n, k, b, n)
		return q
	})
}
