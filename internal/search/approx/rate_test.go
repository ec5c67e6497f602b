package approx

import (
	"math"
	"testing"

	"mercer/feature"
)

// By scipy's linregress (testdata/spectral.py).
func TestRateMatchesScipy(t *testing.T) {
	rec := recorded(t, "testdata/spectral.txt")
	r := FitRate(rec["features"], rec["errors"])
	for i, got := range []float64{r.Exponent, *r.SE, r.Constant} {
		if want := rec["rate"][i]; math.Abs(got-want) > 1e-12 {
			t.Errorf("number %d is %.15g, by scipy %.15g", i, got, want)
		}
	}
}

func TestRateOfALaw(t *testing.T) {
	r := FitRate([]float64{10, 100, 1000}, []float64{3, 0.3, 0.03})
	if math.Abs(r.Exponent+1) > 1e-12 || math.Abs(r.Constant-30) > 1e-9 || *r.SE > 1e-7 {
		t.Errorf("30/D is fitted as %+v", r)
	}
	if e := r.At(300); math.Abs(e-0.1) > 1e-12 {
		t.Errorf("error at 300: %g", e)
	}
	if d, ok := r.Features(0.1); !ok || math.Abs(d-300) > 1e-6 {
		t.Errorf("D for 0.1: %g", d)
	}
	if r := FitRate([]float64{10, 20}, []float64{2, 1}); r == nil || r.SE != nil {
		t.Errorf("two errors: %+v", r)
	}
	if r := FitRate([]float64{10, 20, 30}, []float64{1, 0, 1}); r != nil {
		t.Errorf("an error of 0: %+v", r)
	}
	if r := FitRate([]float64{10, 10}, []float64{1, 2}); r != nil {
		t.Errorf("one D: %+v", r)
	}
	if _, ok := FitRate([]float64{1, 2, 3}, []float64{1, 2, 3}).Features(0.1); ok {
		t.Error("errors that grow reach any goal")
	}
}

// Monte Carlo: D^(-1/2). Errors of qmc fall faster.
func TestErrorsFallLikeTheRootOfD(t *testing.T) {
	x := normal(80, 3, 7)
	dims := []int{32, 128, 512}
	rff := measure(t, x, feature.Config{Map: "rff", Kernel: rbf}, Options{Seeds: 30}, dims...).Rate
	if math.Abs(rff.Exponent+0.5) > 3.5*(*rff.SE) || *rff.SE > 0.05 {
		t.Errorf("rff: %.3f ± %.3f", rff.Exponent, *rff.SE)
	}
	if qmc := measure(t, x, feature.Config{Map: "qmc", Kernel: rbf}, Options{Seeds: 12}, dims...).Rate; qmc.Exponent > -0.6 {
		t.Errorf("qmc: %.3f ± %.3f", qmc.Exponent, *qmc.SE)
	}
}
