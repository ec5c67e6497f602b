package vec

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// naiveDFT computes X_0, …, X_{n/2} by the definition.
func naiveDFT(x []float32) []complex128 {
	n := len(x)
	out := make([]complex128, n/2+1)
	root := make([]complex128, n)
	for j := range root {
		root[j] = cmplx.Exp(complex(0, -2*math.Pi*float64(j)/float64(n)))
	}
	for k := range out {
		for j, v := range x {
			out[k] += complex(float64(v), 0) * root[j*k%n]
		}
	}
	return out
}

func TestFFTMatchesDefinition(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096} {
			f := NewFFT(n)
			x := numbers[float32](r, n)
			s := make([]float32, n)
			f.Forward(s, x)
			got := make([]complex64, n/2+1)
			f.Natural(got, s)
			want := naiveDFT(x)
			var off, norm float64
			for k := range want {
				off += sqr(cmplx.Abs(complex128(got[k]) - want[k]))
				norm += sqr(cmplx.Abs(want[k]))
			}
			e := math.Sqrt(off / norm)
			if !(e < 1e-6) {
				t.Errorf("n=%d: relative error %g", n, e)
			}
			y := make([]float32, n)
			f.Inverse(y, s)
			off, norm = 0, 0
			for j := range x {
				off += sqr(float64(x[j] - y[j]))
				norm += sqr(float64(x[j]))
			}
			ei := math.Sqrt(off / norm)
			if !(ei < 1e-6) {
				t.Errorf("n=%d: inverse: relative error %g", n, ei)
			}
			t.Log(n, e, ei)
		}
	})
}

func sqr(x float64) float64 { return x * x }
