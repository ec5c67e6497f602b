package learn

import (
	"math"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// partsOfRows are four parts of rows with weights, of different means, the last of which is empty.
func partsOfRows(d, k int) []*moments.Stats {
	s := random.New(4, "ridge parts")
	parts := make([]*moments.Stats, 4)
	for p := range parts {
		parts[p] = moments.New(d, k)
		if p == 3 {
			continue
		}
		n := 30 + 10*p
		z, y, w := matrix.NewDense(n, d), make([]float64, n*k), make([]float64, n)
		for i := range n {
			for j := range d {
				z.Row(i)[j] = float32(float64(p) + s.Normal()*float64(1+j))
			}
			for t := range k {
				y[i*k+t] = float64(z.Row(i)[t]) - 2*float64(z.Row(i)[d-1]) + s.Normal() + 7
			}
			w[i] = 0.5 + s.Uniform()
		}
		parts[p].Add(z, y, w)
	}
	return parts
}

func TestRidgeOfPartsIsThatOfTheirRows(t *testing.T) {
	const d, k = 6, 2
	shared, err := NewRidgeParts(partsOfRows(d, k))
	if err != nil {
		t.Fatal(err)
	}
	for _, train := range [][]int{{0, 1, 2, 3}, {0, 1, 2}, {0, 2}, {1, 2, 3}, {2}} {
		for _, by := range []string{"given", "trace"} {
			lambdas := []float64{0.01, 3}
			models, errs, err := shared.Fit(t.Context(), train, lambdas, by == "trace")
			if err != nil {
				t.Fatal(err)
			}
			for i, lambda := range lambdas {
				alone := moments.New(d, k)
				for _, p := range train {
					alone.Merge(partsOfRows(d, k)[p])
				}
				fit, err := Ridge{Lambda: lambda, By: by}.Fit(t.Context(), []*moments.Stats{alone})
				if err != nil || errs[i] != nil {
					t.Fatal(err, errs[i])
				}
				for e, w := range fit.Linear.W.Data {
					if math.Abs(float64(models[i].W.Data[e]-w)) > 1e-6 {
						t.Errorf("parts %v, λ %g %s: weight %d is %g, want %g", train, lambda, by, e, models[i].W.Data[e], w)
					}
				}
				for e, b := range fit.Linear.B {
					if math.Abs(models[i].B[e]-b) > 1e-5 {
						t.Errorf("parts %v, λ %g %s: intercept %d is %g, want %g", train, lambda, by, e, models[i].B[e], b)
					}
				}
			}
		}
	}
	for _, train := range [][]int{{}, {3}} {
		if _, _, err := shared.Fit(t.Context(), train, []float64{1}, false); err == nil || !strings.Contains(err.Error(), "no rows") {
			t.Errorf("parts %v: %v", train, err)
		}
	}
	if _, _, err := shared.Fit(t.Context(), []int{0}, []float64{0}, false); err == nil {
		t.Error("λ = 0 was taken")
	}
}

// By trace λ is in units of the features' mean sum of squares: features twice as large have the
// same predictions.
func TestLambdaByTraceDoesNotDependOnScale(t *testing.T) {
	fit := func(factor float32, lambda float64) *RidgeFit {
		s := random.New(6, "trace")
		const n, d = 50, 4
		z, y := matrix.NewDense(n, d), make([]float64, n)
		for i := range n {
			for j := range d {
				z.Row(i)[j] = factor * float32(s.Normal())
			}
			y[i] = float64(z.Row(i)[0]/factor) + s.Normal()
		}
		stats := moments.New(d, 1)
		stats.Add(z, y, nil)
		f, err := Ridge{Lambda: lambda, By: "trace"}.Fit(t.Context(), []*moments.Stats{stats})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one, two := fit(1, 0.1), fit(2, 0.1)
	if r := two.Report.Lambda / one.Report.Lambda; math.Abs(r-4) > 1e-9 {
		t.Errorf("λ grows by %g where the squares grow by 4", r)
	}
	for i, w := range one.Linear.W.Data {
		if math.Abs(float64(2*two.Linear.W.Data[i]-w)) > 1e-6 {
			t.Errorf("weight %d: %g and %g", i, w, two.Linear.W.Data[i])
		}
	}
	if _, err := (Ridge{By: "trace"}).Fit(t.Context(), []*moments.Stats{moments.New(1, 1)}); err == nil {
		t.Error("no λ was taken")
	}
}
