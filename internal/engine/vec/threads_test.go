package vec

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
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
		if !CholeskySolve(t.Context(), n, u, n, k, x, k) {
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

// Ranges inside ranges, from many callers at once: every element is covered once, nobody
// waits for ever, and no more run at a time than callers and pool together.
func TestThePoolServesNestedCallers(t *testing.T) {
	const threads, callers, n = 4, 6, 97
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	Parallel(threads, 1, func(lo, hi int) {}) // the pool exists
	pool.Lock()
	most := int64(pool.size + callers)
	pool.Unlock()
	var running, peak atomic.Int64
	var wait sync.WaitGroup
	for range callers {
		wait.Go(func() {
			for range 50 {
				var covered [n * n]atomic.Int32
				Parallel(n, 3, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						Parallel(n, 5, func(from, to int) {
							now := running.Add(1)
							for old := peak.Load(); now > old && !peak.CompareAndSwap(old, now); old = peak.Load() {
							}
							for j := from; j < to; j++ {
								covered[i*n+j].Add(1)
							}
							running.Add(-1)
						})
					}
				})
				for i := range covered {
					if c := covered[i].Load(); c != 1 {
						t.Errorf("element %d was covered %d times", i, c)
						return
					}
				}
			}
		})
	}
	wait.Wait()
	if peak.Load() > most {
		t.Errorf("%d ran at a time, at most %d should", peak.Load(), most)
	}
	if idle := pool.idle.Load(); idle != int64(pool.size) {
		t.Errorf("%d of %d goroutines of the pool are idle at the end", idle, pool.size)
	}
}

// What is to spare does not compute.
func TestSpare(t *testing.T) {
	threads, processors := Threads(), runtime.GOMAXPROCS(0)
	undo := Spare(2)
	if Threads() != threads || runtime.GOMAXPROCS(0) != processors+2 {
		t.Errorf("%d threads compute of %d, before %d of %d", Threads(), runtime.GOMAXPROCS(0), threads, processors)
	}
	undo()
	if Threads() != threads || runtime.GOMAXPROCS(0) != processors {
		t.Errorf("afterwards %d threads compute of %d, before %d of %d", Threads(), runtime.GOMAXPROCS(0), threads, processors)
	}
}
