package eval

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// recorded are predictions with scikit-learn's metrics of them, which testdata/metrics.py wrote.
type recorded struct {
	Name, Kind       string
	K                int
	Truth, Predicted json.RawMessage
	Scores           json.RawMessage
	Proba            [][]float64
	Weights          []float64
	Want             map[string]*float64
	Classes          []map[string]*float64
	Confusion        [][]float64
}

func load(t *testing.T) []recorded {
	t.Helper()
	text, err := os.ReadFile("testdata/metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// read reads numbers of a case, nil where it has none.
func read[T any](t *testing.T, text json.RawMessage) (v []T) {
	t.Helper()
	if text != nil {
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func (r *recorded) weight(i int) float64 {
	if r.Weights == nil {
		return 1
	}
	return r.Weights[i]
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

func (r *recorded) names() []string { return strings.Split("abcdefghij"[:r.K], "") }

// metrics are those of the gatherers.
func (r *recorded) metrics(t *testing.T) *Metrics {
	t.Helper()
	var m *Metrics
	switch r.Kind {
	case "classes":
		c, q := NewClassification(r.names()), NewProbability(r.K == 2)
		truth, predicted := read[int](t, r.Truth), read[int](t, r.Predicted)
		var scores [][]float64
		switch {
		case r.Scores == nil:
		case r.K == 2:
			for _, s := range read[float64](t, r.Scores) {
				scores = append(scores, []float64{s})
			}
		default:
			scores = read[[]float64](t, r.Scores)
		}
		for i := range truth {
			var s []float32
			if scores != nil {
				s = narrow(scores[i])
			}
			c.Add(truth[i], predicted[i], s, r.weight(i))
			if r.Proba != nil && truth[i] >= 0 {
				q.Add(truth[i], r.Proba[i], r.weight(i))
			}
		}
		m = c.Metrics()
		q.Into(m)
	case "labels":
		l, q := NewMultiLabel(r.names()), NewProbability(false)
		predicted, scores := read[[]int](t, r.Predicted), read[[]float64](t, r.Scores)
		bools := func(x []int) (b []bool) {
			for _, v := range x {
				b = append(b, v == 1)
			}
			return b
		}
		for i, has := range read[[]int](t, r.Truth) {
			l.Add(bools(has), bools(predicted[i]), narrow(scores[i]), 0, r.weight(i))
			q.AddLabels(bools(has), r.Proba[i], r.weight(i))
		}
		m = l.Metrics()
		q.Into(m)
	case "numbers":
		g := NewRegression(nil, r.K)
		g.Quantile = *r.Want["quantile"]
		predicted := read[[]float64](t, r.Predicted)
		for i, truth := range read[[]float64](t, r.Truth) {
			g.Add(truth, predicted[i], r.weight(i))
		}
		m = g.Metrics()
	}
	return m
}

func TestMetricsAgreeWithScikitLearn(t *testing.T) {
	near := func(got any, want *float64) bool {
		v, is := got.(float64)
		if want == nil {
			return !is
		}
		return is && math.Abs(v-*want) <= 1e-9*max(1, math.Abs(*want))
	}
	compared := map[string]bool{}
	for _, r := range load(t) {
		m := r.metrics(t)
		got := keys(t, m)
		for name, want := range r.Want {
			if !near(got[name], want) {
				t.Errorf("%s: %s is %v, scikit-learn's %v", r.Name, name, got[name], show(want))
			}
			compared[name] = compared[name] || want != nil
		}
		if r.Kind == "classes" {
			// Micro averages over all classes are the accuracy, of precision and recall as of the recorded F1.
			for _, name := range []string{"micro_precision", "micro_recall"} {
				if !near(got[name], r.Want["micro_f1"]) {
					t.Errorf("%s: %s is %v, scikit-learn's micro F1 %v", r.Name, name, got[name], show(r.Want["micro_f1"]))
				}
			}
		}
		key := "classes"
		if r.Kind == "labels" {
			key = "labels"
		}
		for k, want := range r.Classes {
			of := got[key].([]any)[k].(map[string]any)
			for name, v := range want {
				if !near(of[name], v) {
					t.Errorf("%s: %s of class %d is %v, scikit-learn's %v", r.Name, name, k, of[name], show(v))
				}
			}
		}
		for i, line := range r.Confusion {
			for j, v := range line {
				if got := m.Confusion.Counts[i][j]; math.Abs(got-v) > 1e-9 {
					t.Errorf("%s: %g of class %d predicted as %d, scikit-learn's %g", r.Name, got, i, j, v)
				}
			}
		}
	}
	for _, name := range MetricNames("") {
		if !compared[name] {
			t.Errorf("no recorded case has a value of %s", name)
		}
	}
}

func show(v *float64) any {
	if v == nil {
		return "none"
	}
	return *v
}

func TestUnknownLabelsAreErrors(t *testing.T) {
	c := NewClassification([]string{"no", "yes"})
	c.Add(1, 1, []float32{1}, 1)
	c.Add(0, 0, []float32{-1}, 1)
	c.Add(-1, 1, []float32{2}, 1)
	c.Add(-1, 0, []float32{-2}, 1)
	m := c.Metrics()
	if *m.Accuracy != 0.5 || *m.AUC != 1 {
		t.Errorf("accuracy %g, AUC %g", *m.Accuracy, *m.AUC)
	}
	// Of the rows predicted as the second class one is; F1 = 2/(1+2).
	if math.Abs(*m.F1-2.0/3) > 1e-15 {
		t.Errorf("F1 %g", *m.F1)
	}
}

func TestAUCNeedsBothClasses(t *testing.T) {
	c := NewClassification([]string{"no", "yes"})
	c.Add(1, 1, []float32{1}, 1)
	if m := c.Metrics(); m.AUC != nil {
		t.Errorf("AUC %g of positive rows alone", *m.AUC)
	}
}

func TestConstantTargets(t *testing.T) {
	for _, c := range []struct {
		predicted float64
		want      float64
	}{{3, 1}, {2, 0}} {
		g := NewRegression(nil, 1)
		for range 5 {
			g.Add([]float64{3}, []float64{c.predicted}, 1)
		}
		if m := g.Metrics(); *m.R2 != c.want {
			t.Errorf("predicting %g for 3: R² %g, want %g", c.predicted, *m.R2, c.want)
		}
	}
}

// TestScriptsFindTheirKeys holds the names of DESIGN's contract, which scripts read.
func TestScriptsFindTheirKeys(t *testing.T) {
	c := NewClassification([]string{"no", "yes"})
	c.Add(1, 1, []float32{1}, 1)
	c.Add(0, 0, []float32{0}, 1)
	g := NewRegression(nil, 1)
	g.Add([]float64{1}, []float64{1}, 1)
	g.Add([]float64{2}, []float64{1}, 1)
	for _, x := range []struct {
		m          *Metrics
		want, none []string
	}{
		{c.Metrics(), []string{"n", "accuracy", "error", "macro_f1", "f1", "auc"}, []string{"rmse", "r2", "log_loss", "weight"}},
		{g.Metrics(), []string{"n", "rmse", "mae", "r2"}, []string{"accuracy", "auc", "f1"}},
	} {
		got := keys(t, x.m)
		for _, k := range x.want {
			if _, there := got[k]; !there {
				t.Errorf("no key %q in %v", k, got)
			}
		}
		for _, k := range x.none {
			if _, there := got[k]; there {
				t.Errorf("a key %q in %v", k, got)
			}
		}
	}
}

func keys(t *testing.T, m *Metrics) map[string]any {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
