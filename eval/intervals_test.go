package eval

import (
	"context"
	"slices"
	"testing"
)

// TestIntervalsAreThoseOfAComparison, of the same rows and samples, and hold the values that they are of.
func TestIntervalsAreThoseOfAComparison(t *testing.T) {
	ctx := context.Background()
	const n = 600
	x, names := line(n), sides(n)
	for i := 0; i < n; i += 7 {
		names[i] = map[string]string{"left": "right", "right": "left"}[names[i]]
	}
	src := source(t, x, nil, 0, slices.Clone(names))
	m := fit(t, src)
	metrics, err := Evaluate(ctx, m, src, Options{Intervals: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"accuracy", "f1", "auc", "average_precision"} {
		got, there := metrics.Intervals[name]
		metric, err := MetricNamed(name)
		if err != nil || !there {
			t.Fatalf("%s: %v, %v", name, metrics.Intervals, err)
		}
		p := PredictorOf("m", m)
		c, err := Compare(ctx, []*Predictor{p, p}, src, CompareOptions{Metric: name, Resamples: sureResamples, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if want := c.Models[0]; got.Low != want.Low || got.High != want.High || !(got.Low < *metric.Value(metrics) && *metric.Value(metrics) < got.High) {
			t.Errorf("%s: %+v, a comparison has %+v", name, got, want)
		}
	}
	if _, there := metrics.Intervals["log_loss"]; there {
		t.Error("a model without probabilities has an interval of its log loss")
	}
	numbers := source(t, x, targets(n), 1, nil)
	m = fit(t, numbers)
	if metrics, err = Evaluate(ctx, m, numbers, Options{Intervals: true}); err != nil || metrics.Intervals["rmse"].High < *metrics.RMSE {
		t.Errorf("%+v, %v", metrics, err)
	}
	// Labels that the model does not know, and more rows than are kept, have none.
	names[3] = "middle"
	if metrics, err = Evaluate(ctx, fit(t, src), source(t, x, nil, 0, names), Options{Intervals: true}); err != nil || metrics.Intervals != nil {
		t.Errorf("%+v, %v", metrics.Intervals, err)
	}
	many := source(t, line(mostSure+1), targets(mostSure+1), 1, nil)
	if metrics, err = Evaluate(ctx, m, many, Options{Intervals: true}); err != nil || metrics.Intervals != nil {
		t.Errorf("%+v, %v", metrics.Intervals, err)
	}
}

// targets are numbers that a line follows but for a wave.
func targets(n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(i)/float64(n) + float64(i%5)/7
	}
	return y
}
