package random

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestQuantilesInvertTheirLaws(t *testing.T) {
	for _, c := range []struct {
		name          string
		quantile, cdf func(float64) float64
	}{
		{"cauchy", CauchyQuantile, func(x float64) float64 { return 0.5 + math.Atan(x)/math.Pi }},
		{"laplace", LaplaceQuantile, distuv.Laplace{Scale: 1}.CDF},
		{"sech", SechQuantile, func(x float64) float64 { return 2 / math.Pi * math.Atan(math.Exp(math.Pi*x)) }},
	} {
		for i := 1; i < 1000; i++ {
			p := float64(i) / 1000
			if got := c.cdf(c.quantile(p)); math.Abs(got-p) > 1e-14 {
				t.Errorf("%s: the quantile of %g has probability %g", c.name, p, got)
			}
		}
		for _, p := range []float64{0x1p-53, 0x1p-20, 0.25} {
			if c.quantile(p) != -c.quantile(1-p) {
				t.Errorf("%s: the quantiles of %g and of 1 minus it are not opposite", c.name, p)
			}
		}
	}
}

// gonum's distribution function is good to about 10⁻¹³ of the smaller tail.
func TestChiSquaredQuantileInvertsItsLaw(t *testing.T) {
	for _, k := range []float64{0.2, 1, 2, 3, 5, 17, 64.5, 200} {
		law := distuv.ChiSquared{K: k}
		for _, p := range []float64{0x1p-33, 1e-6, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1 - 1e-6} {
			x := ChiSquaredQuantile(p, k)
			if got := law.CDF(x); math.Abs(got-p) > 1e-11*p {
				t.Errorf("k = %g: the quantile %g of %g has probability %g", k, x, p, got)
			}
		}
		// Terms of up to 500 are rounded to 53 bits: that is 10⁻³ of 2⁻³³.
		if x := ChiSquaredQuantile(1-0x1p-33, k); math.Abs(law.Survival(x)/0x1p-33-1) > 1e-3 {
			t.Errorf("k = %g: the survival at the quantile of 1 - 2⁻³³ is off by the factor %g", k, law.Survival(x)/0x1p-33)
		}
		last := -1.0
		for i := 1; i < 2000; i++ {
			if x := ChiSquaredQuantile(float64(i)/2000, k); !(x > last) {
				t.Fatalf("k = %g: the quantile falls at %d/2000", k, i)
			} else {
				last = x
			}
		}
	}
	if x := ChiSquaredQuantile(0x1p-33, 0.002); x != 0 {
		t.Errorf("below the range of numbers the quantile is %g", x)
	}
}

// The quantiles are frozen as the streams are.
func TestQuantilesAreFrozen(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{CauchyQuantile(0.123), -2.457779254514858},
		{LaplaceQuantile(0.777), 0.8074363269620731},
		{SechQuantile(0.123), -0.519302074481278},
		{ChiSquaredQuantile(0.3, 5), 2.999908132759904},
		{ChiSquaredQuantile(0.99, 0.5), 4.867770844393565},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

func BenchmarkChiSquaredQuantile(b *testing.B) {
	r := New(1, "bench")
	for b.Loop() {
		sink += ChiSquaredQuantile(r.UniformOpen(), 5)
	}
}
