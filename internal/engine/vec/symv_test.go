package vec

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// A product errs by rounding alone, reads nothing below the diagonal, and is the same on any
// number of threads.
func TestSymmetricProductIsTheSum(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(71, 1))
		most := newSymmetric(1100)
		for _, n := range []int{1, 2, 7, 8, 9, 15, 16, 17, 24, 33, 255, 256, 257, 400, 1029, 1100} {
			lda := n + 1
			a, x, y := numbers[float64](r, n*lda), numbers[float64](r, n), numbers[float64](r, n)
			for i := range n {
				for j := range i {
					a[i*lda+j] = math.NaN()
				}
			}
			runtime.GOMAXPROCS(1)
			most.multiply(n, a, lda, x, y)
			for i := range n {
				want, size := 0.0, 0.0
				for j := range n {
					v := a[min(i, j)*lda+max(i, j)] * x[j]
					want, size = want+v, size+math.Abs(v)
				}
				if !(math.Abs(y[i]-want) <= float64(n)*0x1p-52*size) {
					t.Fatalf("n = %d: element %d is %g, want %g", n, i, y[i], want)
				}
			}
			one := slices.Clone(y)
			runtime.GOMAXPROCS(3)
			most.multiply(n, a, lda, x, y)
			if !slices.Equal(y, one) {
				t.Fatalf("n = %d: other bits on three threads", n)
			}
		}
	})
}

func TestPartsOfATriangleAreAlike(t *testing.T) {
	for n := partRows; n < 5000; n += 37 {
		p := parts(n)
		for i := range p {
			first, last := cutTriangle(n, i, p), cutTriangle(n, i+1, p)
			numbers := (2*n - first - last + 1) * (last - first) / 2
			// Cuts are less than 8 rows off.
			if share := n * (n + 1) / 2 / p; numbers < share-8*n || numbers > share+8*n {
				t.Fatalf("n = %d: part %d of %d has %d numbers of %d", n, i, p, numbers, n*(n+1)/2)
			}
		}
	}
}

func BenchmarkSymmetricProduct(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{512, 4096} {
		a, x, y, s := numbers[float64](r, n*n), numbers[float64](r, n), make([]float64, n), newSymmetric(n)
		b.Run(map[bool]string{true: "in cache", false: "in memory"}[n < 1000], func(b *testing.B) {
			b.SetBytes(int64(4 * n * n))
			for b.Loop() {
				s.multiply(n, a, n, x, y)
			}
		})
	}
}
