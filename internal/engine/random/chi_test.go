package random

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The quantile has the digits that it says, to the ends of the points of a Sobol sequence, and rises: also where the
// number of steps changes.
func TestChiQuantileIsTheRootOfChiSquaredQuantile(t *testing.T) {
	for _, k := range []float64{1, 2, 3, 8, 15.5, 16, 17, 32, 64, 511, 512, 1024} {
		for _, p := range []float64{0x1p-33, 1e-6, 0.001, 0.02, 0.25, 0.5, 0.75, 0.98, 0.999, 1 - 1e-6} {
			if got, want := ChiQuantile(p, k), math.Sqrt(ChiSquaredQuantile(p, k)); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("k = %g: the quantile of %g is %.9g, want %.9g", k, p, got, want)
			}
		}
	}
	for _, k := range []float64{8191, 8192, 1 << 20} {
		law := distuv.ChiSquared{K: k}
		for _, p := range []float64{0.001, 0.02, 0.25, 0.5, 0.75, 0.98, 0.999} {
			if got, want := ChiQuantile(p, k), math.Sqrt(law.Quantile(p)); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("k = %g: the quantile of %g is %.9g, want %.9g", k, p, got, want)
			}
		}
	}
	for _, k := range []float64{4, 16, 33, 600, 9000} {
		last := 0.0
		for i := 1; i < 2000; i++ {
			x := ChiQuantile(float64(i)/2000, k)
			if !(x > last) {
				t.Fatalf("k = %g: the quantile falls at %d/2000", k, i)
			}
			last = x
		}
	}
}

func BenchmarkChiQuantile(b *testing.B) {
	for _, k := range []float64{3, 16, 32, 1024} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			for i := range b.N {
				ChiQuantile(float64(i%1023+1)/1024, k)
			}
		})
	}
}
