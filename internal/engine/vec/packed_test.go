package vec

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

func TestPackedProductIsTheProduct(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, m := range []int{0, 1, 2, 13, 14, 15, 31, 1030} {
			for _, n := range []int{1, 15, 31, 32, 33, 515, 1040} {
				for _, k := range []int{0, 1, 40, 559, 561, 1200} {
					if m*n*k > 4e7 || testing.Short() && m*n*k > 1e6 {
						continue
					}
					lda, ldb, ldc := k+3, n+1, n+2
					a, b := numbers[float32](r, m*lda), numbers[float32](r, k*ldb)
					want, got := numbers[float32](r, m*ldc), make([]float32, m*ldc)
					copy(got, want)
					Gemm32(m, n, k, a, lda, b, ldb, want, ldc)
					var mu sync.Mutex
					seen := 0
					Pack32(k, n, b, ldb).Multiply(m, a, lda, got, ldc, func(i, j, rows, cols int) {
						mu.Lock()
						defer mu.Unlock()
						seen += rows * cols
						for r := range rows {
							for c := range cols {
								if got[(i+r)*ldc+j+c] != want[(i+r)*ldc+j+c] {
									t.Fatalf("%d×%d×%d: element %d, %d is not done when its block is", m, k, n, i+r, j+c)
								}
							}
						}
					})
					if seen != m*n {
						t.Errorf("%d×%d×%d: blocks of %d elements, want %d", m, k, n, seen, m*n)
					}
					for i, v := range got {
						if v != want[i] {
							t.Fatalf("%d×%d×%d: place %d holds %g, want %g", m, k, n, i, v, want[i])
						}
					}
				}
			}
		}
	})
}

func TestSparseProductChecksIndices(t *testing.T) {
	packed := Pack32(3, 2, make([]float32, 6), 2)
	for _, i := range []int32{-1, 3, math.MaxInt32} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("index %d went through", i)
				}
			}()
			packed.MultiplySparse([]int{0, 1}, []int32{i}, []float32{1}, make([]float32, 2), 2, nil)
		}()
	}
}

func TestPackTLaysOutTheTranspose(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 2))
		for _, n := range []int{1, 7, 16, 17, 100} {
			for _, k := range []int{1, 5, 300} {
				ldb := k + 2
				b := numbers[float64](r, n*ldb)
				transpose := make([]float64, k*n)
				for i := range n {
					for l := range k {
						transpose[l*n+i] = b[i*ldb+l]
					}
				}
				got, want := PackT64(n, k, b, ldb), Pack64(k, n, transpose, n)
				for i, v := range want.panels {
					if got.panels[i] != v {
						t.Fatalf("%d×%d: place %d holds %g, want %g", n, k, i, got.panels[i], v)
					}
				}
			}
		}
	})
}
