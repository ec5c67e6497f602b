package vec

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/blas"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// positive makes a random symmetric positive definite matrix, well conditioned.
func positive(r *rand.Rand, n int) []float64 {
	z := numbers[float64](r, 2*n*n)
	a := make([]float64, n*n)
	GemmAddTN(n, n, 2*n, z, n, z, n, a, n)
	for i := range n {
		a[i*n+i] += float64(n)
	}
	return a
}

func TestCholeskyIsLAPACKs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{1, 2, 31, 32, 33, 127, 128, 129, 300} {
		a := positive(r, n)
		got, want := append([]float64(nil), a...), append([]float64(nil), a...)
		if !Cholesky(t.Context(), n, got, n) || !(lapackgonum.Implementation{}).Dpotrf(blas.Upper, n, want, n) {
			t.Fatalf("n = %d: not positive definite", n)
		}
		for i := range n {
			for j := range n {
				if j >= i && math.Abs(got[i*n+j]-want[i*n+j]) > 1e-12*math.Sqrt(float64(n)) {
					t.Fatalf("n = %d at %d, %d: %g, want %g", n, i, j, got[i*n+j], want[i*n+j])
				}
			}
		}
	}
}

func TestCholeskySolveSolves(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for _, n := range []int{1, 5, 32, 33, 100, 257} {
		for _, k := range []int{1, 3, 26} {
			a := positive(r, n)
			b := numbers[float64](r, n*k)
			x := append([]float64(nil), b...)
			if !CholeskySolve(t.Context(), n, append([]float64(nil), a...), n, k, x, k) {
				t.Fatal("not positive definite")
			}
			ax := make([]float64, n*k)
			for i := range n {
				for j := range n {
					for t := range k {
						ax[i*k+t] += a[min(i, j)*n+max(i, j)] * x[j*k+t]
					}
				}
			}
			for i := range b {
				if math.Abs(ax[i]-b[i]) > 1e-11 {
					t.Fatalf("n = %d, k = %d: residual %g at %d", n, k, ax[i]-b[i], i)
				}
			}
		}
	}
}

func TestQuadraticFormsAreTheDoubleSums(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{1, 2, 63, 64, 65, 200} {
		for _, k := range []int{1, 3} {
			a, w, q := numbers[float64](r, n*(n+1)), numbers[float64](r, k*(n+2)), make([]float64, k)
			QuadraticForms(q, n, a, n+1, k, w, n+2)
			for c := range k {
				want, size := 0.0, 0.0
				for i := range n {
					for j := range n {
						v := w[c*(n+2)+i] * a[min(i, j)*(n+1)+max(i, j)] * w[c*(n+2)+j]
						want, size = want+v, size+math.Abs(v)
					}
				}
				if math.Abs(q[c]-want) > float64(n+4)*0x1p-52*size {
					t.Errorf("n = %d, form %d: %g, want %g", n, c, q[c], want)
				}
			}
		}
	}
}

func TestCholeskyRefusesIndefinite(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for _, n := range []int{1, 40, 200} {
		for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			a := positive(r, n)
			a[(n-1)*n+n-1] = bad
			if Cholesky(t.Context(), n, a, n) {
				t.Errorf("n = %d with %g in the corner was factorised", n, bad)
			}
		}
	}
}

// Of a symmetric matrix, the triangle below the diagonal may hold anything, and still does.
func TestSolversLeaveTheLowerTriangleAlone(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 1))
		for _, n := range []int{3, 33, 65, 100, 203} {
			a, b := positive(r, n), numbers[float64](r, 3*n)
			spoiled := append([]float64(nil), a...)
			for i := range n {
				for j := range i {
					spoiled[i*n+j] = math.NaN()
				}
			}
			forms, want := make([]float64, 3), make([]float64, 3)
			QuadraticForms(forms, n, spoiled, n, 3, b, n)
			QuadraticForms(want, n, a, n, 3, b, n)
			x := append([]float64(nil), b...)
			if !CholeskySolve(t.Context(), n, a, n, 3, b, 3) || !CholeskySolve(t.Context(), n, spoiled, n, 3, x, 3) {
				t.Fatalf("n = %d: not positive definite", n)
			}
			for i := range x {
				if x[i] != b[i] || forms[i%3] != want[i%3] {
					t.Fatalf("n = %d: element %d of X is %g, want %g; forms %g, want %g", n, i, x[i], b[i], forms, want)
				}
			}
			for i, v := range spoiled {
				if below := i%n < i/n; below && v == v || !below && v != a[i] {
					t.Fatalf("n = %d at %d, %d: %g, want %g", n, i/n, i%n, v, a[i])
				}
			}
		}
	})
}

func TestCholeskyIsTheSameOnAnyThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	const n = 700
	a := positive(r, n)
	one, three := append([]float64(nil), a...), append([]float64(nil), a...)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	Cholesky(t.Context(), n, one, n)
	runtime.GOMAXPROCS(3)
	Cholesky(t.Context(), n, three, n)
	for i := range n {
		for j := i; j < n; j++ {
			if one[i*n+j] != three[i*n+j] {
				t.Fatalf("at %d, %d: %g, %g", i, j, one[i*n+j], three[i*n+j])
			}
		}
	}
}

func BenchmarkCholesky(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 2048
	a := positive(r, n)
	work := make([]float64, n*n)
	for b.Loop() {
		b.StopTimer()
		copy(work, a)
		b.StartTimer()
		Cholesky(b.Context(), n, work, n)
	}
	b.ReportMetric(float64(n)*n*n/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// The kernels of the small systems round as sums and quotients of one element after the other do.
func TestRowsAreSubtractedOneByOne(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(12, 1))
		for _, n := range lengths() {
			for _, rows := range []int{0, 1, 2, 31} {
				x, alpha := numbers[float64](r, rows*(n+3)+n), numbers[float64](r, 5*rows+1)
				y := numbers[float64](r, n+1)
				want := append([]float64(nil), y...)
				for l := range rows {
					Axpy64(-alpha[5*l], x[l*(n+3):][:n], want[:n])
				}
				subtractRows(rows, alpha, 5, x, n+3, y[:n])
				if !slices.Equal(y, want) {
					t.Fatalf("%d rows of %d: %v, want %v", rows, n, y, want)
				}
				for i := range n {
					want[i] /= 0.7
				}
				divide(y[:n], 0.7)
				if !slices.Equal(y, want) {
					t.Fatalf("%d elements divided: %v, want %v", n, y, want)
				}
			}
		}
	})
}

func BenchmarkSolveCholesky(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 1000
	u := positive(r, n)
	Cholesky(b.Context(), n, u, n)
	for _, k := range []int{1, 9} {
		x := numbers[float64](r, n*k)
		b.Run(strconv.Itoa(k), func(b *testing.B) {
			for b.Loop() {
				SolveCholesky(b.Context(), n, u, n, k, x, k)
				for i := range x {
					x[i] = float64(i%7) - 3
				}
			}
		})
	}
}
