package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// line has one input, 0 … n-1, over n.
func line(n int) matrix.Rows {
	x := matrix.NewDense(n, 1)
	for i := range x.Data {
		x.Data[i] = float32(i) / float32(n)
	}
	return matrix.Rows{Dense: x}
}

func source(t *testing.T, x matrix.Rows, y []float64, outputs int, names []string) dataset.Source {
	t.Helper()
	src, err := dataset.FromRows(x, y, outputs, names)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// sides says for each row of a line whether it is in the first half.
func sides(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "left"
		if i >= n/2 {
			names[i] = "right"
		}
	}
	return names
}

func fit(t *testing.T, src dataset.Source) *model.Model {
	t.Helper()
	m, _, err := train.Fit(context.Background(), src, train.Config{Kernel: train.Kernel{Name: "linear"},
		Learner: train.Ridge{Lambda: 1e-6}}, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEvaluateCountsWrongRows(t *testing.T) {
	const n = 10_000 // more than a batch
	x, names := line(n), sides(n)
	m := fit(t, source(t, x, nil, 0, names))

	// The model puts the border in the middle. Turned labels and an unknown one are wrong.
	for _, i := range []int{0, 1, n - 1} {
		names[i] = map[string]string{"left": "right", "right": "left"}[names[i]]
	}
	names[n-2] = "above"
	rows, last := 0, 0.0
	got, err := Evaluate(context.Background(), m, source(t, x, nil, 0, names),
		Options{Progress: func(r int, share float64) { rows, last = r, share }})
	if err != nil {
		t.Fatal(err)
	}
	if got.N != n || math.Abs(*got.Error-4.0/n) > 1e-12 || got.RMSE != nil {
		t.Errorf("n = %d, error %g; want %d, %g", got.N, *got.Error, n, 4.0/n)
	}
	if rows != n || last != 1 {
		t.Errorf("progress ended at %d rows, share %g", rows, last)
	}
}

func TestEvaluateOfSeveralOutputs(t *testing.T) {
	const n = 50
	x := line(n)
	y := make([]float64, 2*n)
	for i := range n {
		y[2*i], y[2*i+1] = 3*float64(i)/n, 5-float64(i)/n
	}
	m := fit(t, source(t, x, y, 2, nil))
	for i := range n {
		y[2*i+1] += 2 // one of the two is off by 2 now
	}
	got, err := Evaluate(context.Background(), m, source(t, x, y, 2, nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.N != n || math.Abs(*got.RMSE-1) > 1e-4 || math.Abs(*got.MAE-1) > 1e-4 || got.Accuracy != nil {
		t.Errorf("n = %d, RMSE %g, MAE %g; want %d, 1, 1", got.N, *got.RMSE, *got.MAE, n)
	}
}

func TestEvaluateErrors(t *testing.T) {
	const n = 50
	x, y := line(n), make([]float64, n)
	for i := range y {
		y[i] = float64(i) / 3
	}
	classifier := fit(t, source(t, x, nil, 0, sides(n)))
	regression := fit(t, source(t, x, y, 1, nil))
	wide := matrix.Rows{Dense: matrix.NewDense(n, 3)}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		m    *model.Model
		src  dataset.Source
		want string
	}{
		{"unlabelled", context.Background(), classifier, source(t, x, nil, 0, nil),
			"rows in memory: the rows have no labels to compare predictions with; name them with label or labels_file"},
		{"text", context.Background(), regression, source(t, x, nil, 0, sides(n)),
			`rows in memory: row 1: the label "left" is not a number, but the model predicts numbers`},
		{"two labels", context.Background(), regression, source(t, line(25), y, 2, nil),
			"rows in memory: rows have 2 labels, but the model predicts 1 numbers"},
		{"two labels of classes", context.Background(), classifier, source(t, line(25), y, 2, nil),
			"rows in memory: rows have 2 labels, but the model predicts one class"},
		{"too wide", context.Background(), classifier, source(t, wide, nil, 0, sides(n)),
			"rows in memory: the rows have 3 dimensions, but the model was trained on 1"},
		{"no rows", context.Background(), classifier, source(t, line(0), nil, 0, []string{}),
			"rows in memory: has no rows"},
		{"cancelled", cancelled, classifier, source(t, x, nil, 0, sides(n)), "context canceled"},
	} {
		got, err := Evaluate(c.ctx, c.m, c.src, Options{})
		if err == nil || err.Error() != c.want || got != nil {
			t.Errorf("%s: %v, %v; want %q", c.name, got, err, c.want)
		}
	}
}

// csvSource is a source of a CSV file's text.
func csvSource(t *testing.T, text string, o dataset.Options) dataset.Source {
	t.Helper()
	o.Header = "yes"
	src, err := dataset.OpenBytes(context.Background(), "rows.csv", []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// TestWeightsCountAsRepeatedRows evaluates rows with whole weights, and each as often as it weighs.
func TestWeightsCountAsRepeatedRows(t *testing.T) {
	s := random.New(1, "weighted rows")
	for _, c := range []struct {
		task, learner string
		label         func(x float64) string
		proba         bool
	}{
		{"two classes", "logistic", func(x float64) string { return []string{"no", "yes"}[int(x+s.Uniform())] }, true},
		{"three classes", "ridge", func(x float64) string { return []string{"a", "b", "c"}[int(2*x+s.Uniform())] }, false},
		{"numbers", "ridge", func(x float64) string { return fmt.Sprintf("%.3f", 3*x+s.Normal()) }, false},
		{"labels", "ridge", func(x float64) string { return []string{"", "a", "b|a", "b"}[int(3*x+s.Uniform())] }, false},
	} {
		o := dataset.Options{}
		if c.task == "labels" {
			o.LabelSeparator = "|"
		}
		var weighted, repeated strings.Builder
		weighted.WriteString("x,w,y\n")
		repeated.WriteString("x,w,y\n")
		for range 200 {
			x, w := s.Uniform(), s.Intn(4)
			line := fmt.Sprintf("%.4f,%d,%s\n", x, w, c.label(x))
			weighted.WriteString(line)
			repeated.WriteString(strings.Repeat(line, w))
		}
		withWeights := o
		withWeights.Weight = "w"
		m, _, err := train.Fit(context.Background(), csvSource(t, weighted.String(), withWeights),
			train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Named{Name: c.learner}}, train.Options{})
		if err != nil {
			t.Fatal(c.task, err)
		}
		withWeights.Schema, o.Schema = &m.Info().Schema, &m.Info().Schema
		got, err := Evaluate(context.Background(), m, csvSource(t, weighted.String(), withWeights), Options{Curves: true})
		if err != nil {
			t.Fatal(c.task, err)
		}
		want, err := Evaluate(context.Background(), m, csvSource(t, repeated.String(), o), Options{Curves: true})
		if err != nil {
			t.Fatal(c.task, err)
		}
		if got.N != 200 || want.Weight != nil || got.Weight == nil || *got.Weight != float64(want.N) {
			t.Errorf("%s: %d rows of weight %v; the same as %d rows", c.task, got.N, got.Weight, want.N)
		}
		compared := 0
		for _, name := range MetricNames("") {
			metric, _ := MetricNamed(name)
			a, b := metric.Value(got), metric.Value(want)
			if (a == nil) != (b == nil) || a != nil && math.Abs(*a-*b) > 1e-9*max(1, math.Abs(*b)) {
				t.Errorf("%s: %s is %v with weights, %v of repeated rows", c.task, name, show(a), show(b))
			}
			if a != nil {
				compared++
			}
		}
		if compared < 8 || c.proba != (got.LogLoss != nil) {
			t.Errorf("%s: %d metrics", c.task, compared)
		}
		if !reflect.DeepEqual(round(got.Curves.Calibration), round(want.Curves.Calibration)) {
			t.Errorf("%s: calibration %v, want %v", c.task, got.Curves.Calibration, want.Curves.Calibration)
		}
	}
}

func round(bins []CalibrationBin) (whole []CalibrationBin) {
	for _, b := range bins {
		whole = append(whole, CalibrationBin{math.Round(1e9*b.Predicted) / 1e9, math.Round(1e9*b.Observed) / 1e9, b.Rows})
	}
	return whole
}

func TestWeightsThatNothingCanBeDividedByAreErrors(t *testing.T) {
	text := "x,w,y\n1,1,a\n2,1,b\n3,1,b\n"
	o := dataset.Options{Weight: "w"}
	m := fit(t, csvSource(t, text, o))
	o.Schema = &m.Info().Schema
	for weight, want := range map[string]string{
		"0":      "rows.csv: the weights of all 3 rows are 0, so there is nothing to measure",
		"1e-170": "rows.csv: the weights add up to 3e-170, whose square float64 does not hold; multiply all of them by the same number",
		"1e308":  "rows.csv: the weights add up to +Inf, whose square float64 does not hold; multiply all of them by the same number",
	} {
		_, err := Evaluate(context.Background(), m, csvSource(t, strings.ReplaceAll(text, ",1,", ","+weight+","), o), Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// TestNoMetricIsInfinite has errors whose squares overflow, and targets that are next to nothing.
func TestNoMetricIsInfinite(t *testing.T) {
	x, y := line(3), []float64{1, 2, 3}
	m := fit(t, source(t, x, y, 1, nil))
	_, err := Evaluate(context.Background(), m, source(t, x, []float64{1e200, 2, 3}, 1, nil), Options{})
	if want := "rows in memory: the targets differ from the predictions by up to 1e+200, whose square float64 does " +
		"not hold; divide all targets by the same number"; err == nil || err.Error() != want {
		t.Errorf("%v; want %q", err, want)
	}
	got, err := Evaluate(context.Background(), m, source(t, x, []float64{5e-324, 2, 3}, 1, nil), Options{Curves: true})
	if err != nil || got.MAPE != nil || got.RMSE == nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}

// TestCurvesOfEveryTask looks at what pictures are drawn from, and that JSON can hold it.
func TestCurvesOfEveryTask(t *testing.T) {
	const n = 600
	x, y, three := line(n), make([]float64, 2*n), make([]string, n)
	s := random.New(2, "curves")
	two := sides(n)
	for i := range n {
		y[2*i], y[2*i+1] = float64(i)/n+s.Normal(), s.Normal()
		three[i] = []string{"a", "b", "c"}[min(2, int(3*float64(i)/n+s.Uniform()/2))]
	}
	evaluate := func(src dataset.Source, cfg train.Config) *Metrics {
		m, _, err := train.Fit(context.Background(), src, cfg, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Evaluate(context.Background(), m, src, Options{Curves: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
		return got
	}
	linear, steep := train.Config{Kernel: train.Kernel{Name: "linear"},
		Learner: train.Ridge{}}, train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Logistic{C: 1e6}}

	m := evaluate(source(t, x, nil, 0, two), steep)
	c := m.Curves
	if len(c.ROC) != 1 || c.ROC[0].Label != "right" || c.ROC[0].Area != *m.AUC || c.PR[0].Area != *m.AveragePrecision ||
		len(c.Calibration) == 0 || c.Residuals != nil {
		t.Errorf("two classes: %+v", c)
	}
	if math.Abs(c.PR[0].Share-0.5) > 1e-12 {
		t.Errorf("the share of the right half is %g", c.PR[0].Share)
	}

	for _, cfg := range []train.Config{linear, steep} {
		m = evaluate(source(t, x, nil, 0, three), cfg)
		c = m.Curves
		if len(c.ROC) != 3 || len(c.PR) != 3 || (c.Calibration != nil) != (cfg.LearnerName() == "logistic") {
			t.Fatalf("three classes: %+v", c)
		}
		for k, class := range m.Classes {
			if c.ROC[k].Label != class.Label || c.ROC[k].Area != *class.AUC || c.PR[k].Area != *class.AveragePrecision {
				t.Errorf("class %s: %+v", class.Label, c.ROC[k])
			}
		}
	}

	m = evaluate(source(t, x, y, 2, nil), linear)
	c = m.Curves
	if len(c.Residuals) != 2 || c.ROC != nil || len(c.Residuals[0].Truth) != n || c.Residuals[1].Name != m.Outputs[1].Name {
		t.Errorf("numbers: %+v", c)
	}
	for k, r := range c.Residuals {
		sum := 0.0
		for i := range r.Truth {
			if r.Truth[i] != y[2*i+k] {
				t.Fatalf("output %d, row %d: %g, was %g", k, i, r.Truth[i], y[2*i+k])
			}
			sum += math.Pow(r.Truth[i]-r.Predicted[i], 2) / n
		}
		if math.Abs(math.Sqrt(sum)-m.Outputs[k].RMSE) > 1e-9 {
			t.Errorf("output %d: RMSE %g of the shown rows, %g of all", k, math.Sqrt(sum), m.Outputs[k].RMSE)
		}
	}
}

// TestRanksOfClassesFollowProbabilities: of a softmax the scores of one class alone, of rows
// with different scores of the others, say little.
func TestRanksOfClassesFollowProbabilities(t *testing.T) {
	const n = 300
	x, names := line(n), make([]string, n)
	s := random.New(3, "three")
	for i := range names {
		names[i] = []string{"a", "b", "c"}[min(2, int(3*float64(i)/n+0.7*s.Uniform()))]
	}
	src := source(t, x, nil, 0, names)
	m, _, err := train.Fit(context.Background(), src, train.Config{Kernel: train.Kernel{Name: "linear"},
		Learner: train.Logistic{C: 100}}, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	scores, p := matrix.NewDense(n, 3), make([]float64, 3)
	if err := m.Scores(scores, x); err != nil {
		t.Fatal(err)
	}
	r := newRanking(3)
	for i, name := range names {
		if err := m.Probabilities(p, scores.Row(i)); err != nil {
			t.Fatal(err)
		}
		r.add(narrow(p), strings.Index("abc", name), 1)
	}
	got, err := Evaluate(context.Background(), m, src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range r.all() {
		// The probabilities as float32 may tie a few pairs.
		if math.Abs(*got.Classes[k].AUC-want.auc) > 1e-3 {
			t.Errorf("class %d: area %g by log-odds, %g by probabilities", k, *got.Classes[k].AUC, want.auc)
		}
	}
}

// TestJudgingAllocatesNothingARow compares batches of 100 and of 4,000 rows, after the number
// of rows that are kept.
func TestJudgingAllocatesNothingARow(t *testing.T) {
	const n = 4000
	x, y, three := line(n), make([]float64, n), make([]string, n)
	for i := range n {
		y[i], three[i] = float64(i%7), []string{"a", "b", "c"}[3*i/n]
	}
	for name, src := range map[string]dataset.Source{
		"classes": source(t, x, nil, 0, three),
		"numbers": source(t, x, y, 1, nil),
	} {
		j := newJudge(fit(t, src), src, Options{Curves: true})
		r, err := src.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		add := func(b *matrix.Batch) func() {
			return func() {
				if err := j.add(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		few := b.Slice(0, 100)
		add(&few)()
		if j.byClass != nil {
			j.byClass.ranking.limit = 1000
		} else {
			j.byValue.outputs[0].middle.limit = 200
		}
		add(b)()
		one, many := testing.AllocsPerRun(10, add(&few)), testing.AllocsPerRun(10, add(b))
		if many > one+50 {
			t.Errorf("%s: %g allocations for 100 rows, %g for %d", name, one, many, n)
		}
	}
}
