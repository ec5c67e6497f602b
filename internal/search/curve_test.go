package search

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"mercer/dataset"
	"mercer/model"
	"mercer/train"
)

func TestLawIsFound(t *testing.T) {
	for _, want := range []Law{{A: 0.1, B: 2, C: 0.5}, {A: 0, B: 1, C: 0.25}, {A: 3, B: 40, C: 1}, {A: 0.2, B: 0, C: 1}} {
		var points []CurvePoint
		for n := 100; n <= 12_800; n *= 2 {
			points = append(points, CurvePoint{Rows: n, Test: want.At(float64(n))})
		}
		got := fitLaw(points, 3, func(p CurvePoint) float64 { return float64(p.Rows) })
		for _, n := range []float64{100, 1000, 100_000} {
			if math.Abs(got.At(n)-want.At(n)) > 0.005*want.At(n) {
				t.Errorf("%+v is fitted by %+v: %g of %g rows", want, *got, got.At(n), n)
			}
		}
		if got.Misfit > 1e-3*want.At(100) {
			t.Errorf("%+v is off by %g", *got, got.Misfit)
		}
	}
	if fitLaw(make([]CurvePoint, 3), 3, nil) != nil {
		t.Error("three points have a law of three numbers")
	}
}

func TestLearningCurveFallsTowardsTheNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	// The noise of these rows is uniform in ±0.1, of deviation 0.0577, under which no test error
	// gets but by chance.
	s := draw(t, dataset.Generate(dataset.Synthetic{Rows: 3000, Dim: 5, Seed: 1}), 3000, "regress")
	clock := time.Time{}
	opt := CurveOptions{Rows: []int{125, 250, 500, 1000, 2000}, Features: []int{32, 256}, Seeds: 2, lab: lab{clock: func() time.Time { return clock }}}
	opt.fit = func(ctx context.Context, src dataset.Source, cfg train.Config, o train.Options) (*model.Model, *train.Report, error) {
		m, report, err := train.Fit(ctx, src, cfg, o)
		if err == nil {
			clock = clock.Add(time.Duration(m.Info().Training.Rows) * time.Millisecond)
		}
		return m, report, err
	}
	c, err := LearningCurve(t.Context(), s, train.Config{Map: train.Map{Features: 256}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.ByRows) != 5 || len(c.ByFeatures) != 2 || c.Held != 1000 || c.Metric != "rmse" || c.SourceRows != 3000 {
		t.Fatalf("%+v", c)
	}
	for i, p := range c.ByRows {
		if p.Features != 256 || p.Test < 0.05 || p.Train > p.Test || p.TestSD <= 0 || p.TestSD > 0.5*p.Test {
			t.Errorf("%+v", p)
		}
		if i > 0 && p.Test >= c.ByRows[i-1].Test {
			t.Errorf("more rows, larger error: %+v", c.ByRows)
		}
		if math.Abs(p.Seconds-float64(p.Rows)/1000) > 1e-6 {
			t.Errorf("%d rows in %g s", p.Rows, p.Seconds)
		}
	}
	if c.ByFeatures[0].Features != 32 || c.ByFeatures[0].Test <= c.ByFeatures[1].Test {
		t.Errorf("%+v", c.ByFeatures)
	}
	if math.Abs(c.SecondsExponent-1) > 1e-6 || math.Abs(c.SecondsFactor-1e-3) > 1e-6 {
		t.Errorf("seconds %g·n^%g", c.SecondsFactor, c.SecondsExponent)
	}
	if len(c.Extrapolated) != 3 || c.Extrapolated[0].Rows != 3000 || c.Extrapolated[2].Rows != 8000 ||
		c.Extrapolated[2].Test > c.ByRows[4].Test {
		t.Errorf("%+v", c.Extrapolated)
	}
}

func TestCurvesThatCannotBe(t *testing.T) {
	s := draw(t, made(t, 90, 3, ringRow), 90, "")
	for _, c := range []struct {
		cfg  train.Config
		opt  CurveOptions
		want string
	}{
		{train.Config{}, CurveOptions{Rows: []int{10, 100}}, "60 to train on"},
		{train.Config{Kernel: train.Kernel{Name: "linear"}}, CurveOptions{Features: []int{10}}, "no number of features"},
		{train.Config{Kernel: train.Kernel{Name: "none"}}, CurveOptions{}, "kernel"},
	} {
		if _, err := LearningCurve(t.Context(), s, c.cfg, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v; it is to say %q", err, c.want)
		}
	}
}
