package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// sizes are those around the tiles and blocks of all micro-kernels.
var sizes = []int{1, 2, 3, 5, 6, 7, 13, 14, 15, 16, 17, 28, 31, 32, 33, 65, 130}

func numbers[T float32 | float64](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
	return x
}

func TestGemm32IsTheNaiveProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range sizes {
		for _, n := range sizes {
			for _, k := range []int{0, 1, 3, 40, 511, 512, 513, 1100} {
				if m*n > 2000 && k > 600 || testing.Short() && m*n*k > 500_000 {
					continue
				}
				lda, ldb, ldc := k+3, n+1, n+2
				a, b, c := numbers[float32](r, m*lda), numbers[float32](r, k*ldb), numbers[float32](r, m*ldc)
				before := append([]float32(nil), c...)
				Gemm32(m, n, k, a, lda, b, ldb, c, ldc)
				for i := range m {
					for j := range ldc {
						if j >= n {
							if c[i*ldc+j] != before[i*ldc+j] {
								t.Fatalf("%d×%d×%d: wrote beside C at %d, %d", m, k, n, i, j)
							}
							continue
						}
						want, size := 0.0, 0.0
						for l := range k {
							v := float64(a[i*lda+l]) * float64(b[l*ldb+j])
							want += v
							size += math.Abs(v)
						}
						if math.Abs(float64(c[i*ldc+j])-want) > 1e-6*(size+1e-30) {
							t.Fatalf("%d×%d×%d at %d, %d: %g, want %g", m, k, n, i, j, c[i*ldc+j], want)
						}
					}
				}
			}
		}
	}
}

func TestGemm64IsTheNaiveProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for _, m := range sizes {
		for _, n := range sizes {
			for _, k := range []int{1, 5, 255, 256, 257, 600} {
				if m*n > 2000 && k > 300 || testing.Short() && m*n*k > 200_000 {
					continue
				}
				a, b, c := numbers[float64](r, k*(m+1)), numbers[float64](r, k*(n+2)), numbers[float64](r, m*n)
				want := append([]float64(nil), c...)
				GemmAddTN(m, n, k, a, m+1, b, n+2, c, n)
				at, bt, ct := make([]float64, m*k), make([]float64, n*k), make([]float64, m*n)
				for l := range k {
					for i := range m {
						at[i*k+l] = a[l*(m+1)+i]
						for j := range n {
							want[i*n+j] += a[l*(m+1)+i] * b[l*(n+2)+j]
						}
					}
					for j := range n {
						bt[j*k+l] = b[l*(n+2)+j]
					}
				}
				GemmNT(m, n, k, at, k, bt, k, ct, n)
				zero := make([]float64, m*n)
				GemmAddTN(m, n, k, a, m+1, b, n+2, zero, n)
				for i := range want {
					if math.Abs(c[i]-want[i]) > 1e-13*float64(k+10) {
						t.Fatalf("TN %d×%d×%d at %d: %g, want %g", m, k, n, i, c[i], want[i])
					}
					if ct[i] != zero[i] {
						t.Fatalf("%d×%d×%d at %d: NT gives %g, TN %g", m, k, n, i, ct[i], zero[i])
					}
				}
			}
		}
	}
}

func TestSyrkIsTheUpperTriangle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{1, 2, 15, 33, 130, 700, 1100} {
		for _, k := range []int{1, 40, 300} {
			z := numbers[float64](r, k*n)
			c := numbers[float64](r, n*n)
			want := append([]float64(nil), c...)
			GemmAddTN(n, n, k, z, n, z, n, want, n)
			SyrkAdd(n, k, z, n, c, n)
			for i := range n {
				for j := i; j < n; j++ {
					if c[i*n+j] != want[i*n+j] {
						t.Fatalf("n = %d, k = %d at %d, %d: %g, want %g", n, k, i, j, c[i*n+j], want[i*n+j])
					}
				}
			}
		}
	}
}

func TestWideSyrkIsTheUpperTriangle(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(6, 1))
		for _, n := range []int{1, 2, 15, 33, 130, 700} {
			for _, k := range []int{1, 40, 300, 900, 1300} { // one block, one span of two, one and a half
				if testing.Short() && n*k > 130*300 && n*k != 130*900 && n*k != 33*1300 {
					continue
				}
				z := numbers[float32](r, k*(n+1))
				c := numbers[float64](r, n*(n+2))
				before := append([]float64(nil), c...)
				SyrkAddWide(n, k, z, n+1, c, n+2)
				step := 1 + n/64 // of many elements some, in every row and column
				for i := range n {
					for j := i % step; j < n+2; j += step {
						want, size := before[i*(n+2)+j], 0.0
						if j >= i && j < n {
							for l := range k {
								v := float64(z[l*(n+1)+i]) * float64(z[l*(n+1)+j])
								want, size = want+v, size+math.Abs(v)
							}
						}
						if math.Abs(c[i*(n+2)+j]-want) > float64(k)*0x1p-24*size {
							t.Fatalf("n = %d, k = %d at %d, %d: %g, want %g", n, k, i, j, c[i*(n+2)+j], want)
						}
					}
				}
			}
		}
	})
}

func TestGemm32RowsDoNotDependOnTheirNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	const n, k = 133, 700
	a, b := numbers[float32](r, 40*k), numbers[float32](r, k*n)
	whole := make([]float32, 40*n)
	Gemm32(40, n, k, a, k, b, n, whole, n)
	for _, m := range []int{1, 2, 5, 14, 15, 39} {
		for i := 0; i+m <= 40; i += m {
			part := make([]float32, m*n)
			Gemm32(m, n, k, a[i*k:], k, b, n, part, n)
			for j, v := range part {
				if v != whole[i*n+j] {
					t.Fatalf("%d rows from %d: element %d is %g, in the whole %g", m, i, j, v, whole[i*n+j])
				}
			}
		}
	}
}

func TestProductsAreTheSameOnAnyThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	const n, k = 1100, 70
	z := numbers[float64](r, k*n)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, three := make([]float64, n*n), make([]float64, n*n)
	SyrkAdd(n, k, z, n, one, n)
	runtime.GOMAXPROCS(3)
	SyrkAdd(n, k, z, n, three, n)
	for i := range n {
		for j := i; j < n; j++ {
			if one[i*n+j] != three[i*n+j] {
				t.Fatalf("at %d, %d: %g, %g", i, j, one[i*n+j], three[i*n+j])
			}
		}
	}
}

func TestSmallProductsAllocateNothing(t *testing.T) {
	a, b, c := make([]float32, 100), make([]float32, 100*50), make([]float32, 50)
	Gemm32(1, 50, 100, a, 100, b, 50, c, 50)
	if n := testing.AllocsPerRun(100, func() { Gemm32(1, 50, 100, a, 100, b, 50, c, 50) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkGemm32(b *testing.B) {
	for _, s := range [][3]int{{4096, 4096, 784}, {4096, 4096, 64}, {1, 2048, 784}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s[0], s[2], s[1]), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			m, n, k := s[0], s[1], s[2]
			x, y, z := numbers[float32](r, m*k), numbers[float32](r, k*n), make([]float32, m*n)
			for b.Loop() {
				Gemm32(m, n, k, x, k, y, n, z, n)
			}
			b.ReportMetric(2*float64(m)*float64(n)*float64(k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkSyrk(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n, k = 4096, 512
	z, c := numbers[float64](r, k*n), make([]float64, n*n)
	for b.Loop() {
		SyrkAdd(n, k, z, n, c, n)
	}
	b.ReportMetric(float64(n)*float64(n+1)*k*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
