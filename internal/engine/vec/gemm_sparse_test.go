package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// scantRows is a dense matrix with strips of rows that are empty, nearly empty, mostly zero,
// and full, and the same as a sparse one.
func scantRows[T float32 | float64](r *rand.Rand, m, k, lda int, shares []float64) (a []T, ptr []int, idx []int32, val []T) {
	a, ptr = make([]T, m*lda), []int{0}
	for i := range m {
		share := shares[i/17%len(shares)]
		for l := range k {
			if r.Float64() < share {
				a[i*lda+l] = T(r.NormFloat64())
				idx, val = append(idx, int32(l)), append(val, a[i*lda+l])
			}
		}
		ptr = append(ptr, len(idx))
	}
	return a, ptr, idx, val
}

// Leaving zeros out changes no bit.
func TestProductsOfScantRowsAreThoseOfDenseOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	everyLevel(t, func(t *testing.T) {
		scantIsDense(t, micro32, Gemm32)
		scantIsDense(t, micro64, func(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
			clear(c)
			micro64.multiply(product[float64]{m: m, n: n, k: k, alpha: 1, a: a, ars: lda, acs: 1, b: b, brs: ldb, bcs: 1, c: c, ldc: ldc})
		})
	})
}

func scantIsDense[T float32 | float64](t *testing.T, mk *micro[T], gemm func(m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, shares := range [][]float64{{0.1}, {0, 0.02, 0.2, 1}, {1}} {
		for _, m := range []int{1, 2, 15, 40, 700} {
			for _, n := range []int{1, mk.nr, mk.nr + 1, 3 * mk.nr, 4*mk.nr + 3, 8 * mk.nr, 17*mk.nr - 1} {
				for _, k := range []int{1, 33, mk.kc + 1, 2*mk.kc + 9, 10*mk.kc + 5} { // the last in several ranges
					if m*n*k > 4e6 || len(shares) == 1 && m*n*k > 1e6 {
						continue
					}
					lda, ldc := k+1, n+2
					a, ptr, idx, val := scantRows[T](r, m, k, lda, shares)
					b := numbers[T](r, k*n)
					want := numbers[T](r, m*ldc)
					start := slices.Clone(want)
					for i := range m {
						gemm(1, n, k, a[i*lda:], lda, b, n, want[i*ldc:][:n], ldc)
					}
					packed := pack(mk, k, n, b, n)
					for name, multiply := range map[string]func(c []T, after func(i, j, rows, cols int)){
						"sparse": func(c []T, after func(i, j, rows, cols int)) {
							packed.MultiplySparse(ptr, idx, val, c, ldc, after)
						},
						"slice": func(c []T, after func(i, j, rows, cols int)) { // rows of a longer matrix
							later := slices.Clone(ptr)
							for i := range later {
								later[i] += 2
							}
							packed.MultiplySparse(later, slices.Concat([]int32{-1, -1}, idx), slices.Concat([]T{9, 9}, val), c, ldc, after)
						},
						"dense": func(c []T, after func(i, j, rows, cols int)) { packed.Multiply(m, a, lda, c, ldc, after) },
						"scant": func(c []T, after func(i, j, rows, cols int)) { // whatever a look at the rows says
							mk.compute(product[T]{m: m, n: n, k: k, alpha: 1, a: a, ars: lda, acs: 1, scant: true,
								packed: packed.panels, c: c, ldc: ldc, after: after})
						},
					} {
						what := fmt.Sprintf("%s %d×%d×%d, shares %g", name, m, n, k, shares)
						c := slices.Clone(start)
						var mu sync.Mutex
						done := make([]bool, m*n)
						multiply(c, func(i, j, rows, cols int) {
							mu.Lock()
							defer mu.Unlock()
							for r := i; r < i+rows; r++ {
								for s := j; s < j+cols; s++ {
									if done[r*n+s] || c[r*ldc+s] != want[r*ldc+s] {
										t.Fatalf("%s: element %d, %d was done before, or is not", what, r, s)
									}
									done[r*n+s] = true
									c[r*ldc+s] = -c[r*ldc+s]
								}
							}
						})
						if slices.Contains(done, false) {
							t.Fatalf("%s: blocks do not cover C", what)
						}
						for i, v := range c {
							if i%ldc < n {
								v = -v
							}
							if v != want[i] {
								t.Fatalf("%s: place %d holds %g, want %g", what, i, v, want[i])
							}
						}
					}
				}
			}
		}
	}
}

// In whatever order, and twice, elements make the sum that they are: few and many.
func TestSparseProductsOfUnorderedElements(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const k, n, m = 3000, 70, 14
		for _, elements := range []int{900, 40_000} {
			r := rand.New(rand.NewPCG(7, 2))
			b := make([]float32, k*n)
			for i := range b {
				b[i] = float32(r.IntN(9) - 4)
			}
			var idx []int32
			var val []float32
			want, ptr := make([]float32, m*n), []int{0}
			for i := range m {
				for range elements / m {
					l, v := r.IntN(k), float32(r.IntN(9)-4)
					idx, val = append(idx, int32(l)), append(val, v)
					for j := range n {
						want[i*n+j] += v * b[l*n+j]
					}
				}
				ptr = append(ptr, len(idx))
			}
			got := make([]float32, m*n)
			Pack32(k, n, b, n).MultiplySparse(ptr, idx, val, got, n, nil)
			if !slices.Equal(got, want) {
				t.Errorf("%d elements: other sums", elements)
			}
		}
	})
}

// Where B is not finite, 0·∞ is what it is for dense rows, and no term of sparse ones, whatever
// the rows beside.
func TestScantProductsWithInfinity(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const m, k, n = 14, 64, 512
		b := make([]float32, k*n)
		b[63*n] = float32(math.Inf(1))
		packed := Pack32(k, n, b, n)
		for _, rest := range []float32{0, 1} {
			a, ptr, idx, val := make([]float32, m*k), []int{0}, []int32(nil), []float32(nil)
			for i := range a {
				if i == 0 || i >= k && rest != 0 {
					a[i] = 1
					idx, val = append(idx, int32(i%k)), append(val, 1)
				}
				if i%k == k-1 {
					ptr = append(ptr, len(idx))
				}
			}
			c := make([]float32, m*n)
			packed.Multiply(m, a, k, c, n, nil)
			if !math.IsNaN(float64(c[0])) {
				t.Errorf("dense: %g beside rows of %g", c[0], rest)
			}
			packed.MultiplySparse(ptr, idx, val, c, n, nil)
			if c[0] != 0 || rest == 1 && !math.IsInf(float64(c[n]), 1) {
				t.Errorf("sparse: %g and %g beside rows of %g", c[0], c[n], rest)
			}
		}
		// What is not a number in A is not left out.
		a, c := make([]float32, k), make([]float32, n)
		a[5] = float32(math.NaN())
		Pack32(k, n, make([]float32, k*n), n).Multiply(1, a, k, c, n, nil)
		if !math.IsNaN(float64(c[0])) {
			t.Errorf("NaN·0 is %g", c[0])
		}
	})
}

func TestSparseProductChecksRows(t *testing.T) {
	packed := Pack32(3, 2, make([]float32, 6), 2)
	for _, ptr := range [][]int{{0, 2, 1}, {0, 0, 3}, {-1, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("rows %d went through", ptr)
				}
			}()
			packed.MultiplySparse(ptr, []int32{0, 1}[:2:2], []float32{1, 2}, make([]float32, 4), 2, nil)
		}()
	}
}

func TestScantProductsAreTheSameOnAnyThreads(t *testing.T) {
	const m, n, k = 600, 900, 400
	r := rand.New(rand.NewPCG(5, 3))
	a, ptr, idx, val := scantRows[float32](r, m, k, k, []float64{0.1, 0.02, 1, 0.1})
	packed := Pack32(k, n, numbers[float32](r, k*n), n)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var want []float32
	for _, threads := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(threads)
		for _, rows := range []int{m, 40} { // cut by rows, and by columns
			dense, sparse := make([]float32, m*n), make([]float32, m*n)
			packed.Multiply(rows, a, k, dense, n, nil)
			packed.MultiplySparse(ptr[:rows+1], idx, val, sparse, n, nil)
			if want == nil {
				want = dense
			}
			if !slices.Equal(dense[:rows*n], want[:rows*n]) || !slices.Equal(sparse[:rows*n], want[:rows*n]) {
				t.Errorf("%d threads, %d rows: other numbers", threads, rows)
			}
		}
	}
}

// Small products stay on the caller's goroutine, whatever there is.
func TestSparseProductsAllocateNothing(t *testing.T) {
	const m, n, k = 40, 300, 200
	r := rand.New(rand.NewPCG(3, 3))
	a, ptr, idx, val := scantRows[float32](r, m, k, k, []float64{0.02, 1})
	c, packed := make([]float32, m*n), Pack32(k, n, numbers[float32](r, k*n), n)
	if allocations := testing.AllocsPerRun(20, func() {
		packed.MultiplySparse(ptr, idx, val, c, n, nil)
		packed.Multiply(m, a, k, c, n, nil)
	}); allocations > 0 {
		t.Errorf("%g allocations", allocations)
	}
}

func BenchmarkScant(b *testing.B) {
	for _, s := range []struct {
		m, n, k int
		share   float64
	}{{2048, 2048, 784, 0.02}, {2048, 2048, 784, 0.1}, {2048, 2048, 784, 0.2}, {2048, 2048, 784, 0.3}, {2048, 2048, 784,
		0.4}, {4096, 10, 784, 0.3}, {4096, 32, 784, 0.1}, {4096, 130, 784, 0.3}, {512, 512, 20_000, 0.3}, {512, 512, 20_000, 0.005}} {
		m, n, k, share := s.m, s.n, s.k, s.share
		r := rand.New(rand.NewPCG(3, 3))
		a, ptr, idx, val := scantRows[float32](r, m, k, k, []float64{share})
		c, packed := make([]float32, m*n), Pack32(k, n, numbers[float32](r, k*n), n)
		b.Run(fmt.Sprintf("sparse/%dx%d/%g", k, n, share), func(b *testing.B) {
			for range b.N {
				packed.MultiplySparse(ptr, idx, val, c, n, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(m), "us/row")
		})
		b.Run(fmt.Sprintf("dense/%dx%d/%g", k, n, share), func(b *testing.B) {
			for range b.N {
				packed.Multiply(m, a, k, c, n, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(m), "us/row")
		})
	}
}
