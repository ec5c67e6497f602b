package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/hypothesis"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// weightedTable is a table of two inputs, a weight and labels: of each row those that label makes of its two inputs and noise.
func weightedTable(t *testing.T, rows int, labels string, label func(a, b, noise float64) string) *dataset.File {
	t.Helper()
	r := random.New(7, "table")
	var text strings.Builder
	text.WriteString("a,b,w," + labels + "\n")
	for range rows {
		a, b := r.Normal(), r.Normal()
		fmt.Fprintf(&text, "%.4f,%.4f,%.3f,%s\n", a, b, 0.5+r.Uniform(), label(a, b, r.Normal()))
	}
	opt := dataset.Options{Weight: "w", Label: labels}
	if labels == "tags" {
		opt.LabelSeparator = "|"
	}
	f, err := dataset.OpenBytes(context.Background(), "table.csv", []byte(text.String()), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// weightedTables are one of each task.
func weightedTables(t *testing.T) map[string]*dataset.File {
	sign := func(v float64) string { return map[bool]string{true: "yes", false: "no"}[v > 0] }
	return map[string]*dataset.File{
		"two classes": weightedTable(t, 300, "y", func(a, b, e float64) string { return sign(a*b + e/2) }),
		"three classes": weightedTable(t, 300, "y", func(a, b, e float64) string {
			return sign(a*b+e/2) + map[bool]string{true: "!", false: ""}[a+e/2 > 1 && a*b > 0]
		}),
		"numbers": weightedTable(t, 300, "y,z", func(a, b, e float64) string { return fmt.Sprintf("%.4f,%.4f", a*b+e, 100+30*b*b+9*e) }),
		"labels": weightedTable(t, 300, "tags", func(a, b, e float64) string {
			var tags []string
			for name, v := range map[string]float64{"p": a + e, "q": b*a + e, "r": b - 1 + e} {
				if v > 0 {
					tags = append(tags, name)
				}
			}
			slices.Sort(tags)
			return strings.Join(tags, "|")
		}),
	}
}

// twoModels trains two models on a table.
func twoModels(t *testing.T, src dataset.Source, configs ...train.Config) (models []*model.Model, predictors []*Predictor) {
	t.Helper()
	if configs == nil {
		configs = []train.Config{{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{Lambda: 1}},
			{Map: train.Map{Features: 64}, Learner: train.Ridge{Lambda: 1}}}
	}
	for i, c := range configs {
		m, _, err := train.Fit(context.Background(), src, c, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
		predictors = append(predictors, PredictorOf(fmt.Sprintf("model %d", i+1), m))
	}
	return models, predictors
}

// TestComparedValuesAreThoseOfEvaluate: of every metric and task, of rows with weights.
func TestComparedValuesAreThoseOfEvaluate(t *testing.T) {
	ctx := context.Background()
	for name, src := range weightedTables(t) {
		configs := []train.Config(nil)
		if strings.Contains(name, "classes") {
			configs = []train.Config{{Kernel: train.Kernel{Name: "linear"}, Learner: train.Logistic{C: 1}},
				{Map: train.Map{Features: 64}, Learner: train.Logistic{C: 1}}}
		}
		models, predictors := twoModels(t, src, configs...)
		for _, metric := range ComparedMetrics(models[0].Info().Task) {
			got, err := Compare(ctx, predictors, src, CompareOptions{Metric: metric, Resamples: 100})
			if err != nil {
				if name == "three classes" && strings.Contains(err.Error(), "is for two classes") {
					continue
				}
				t.Fatalf("%s, %s: %v", name, metric, err)
			}
			for j, m := range models {
				all, err := Evaluate(ctx, m, src, Options{})
				if err != nil {
					t.Fatal(err)
				}
				of, err := MetricNamed(metric)
				if err != nil {
					t.Fatal(err)
				}
				want := *of.Value(all)
				if v := got.Models[j].Value; math.Abs(v-want) > 1e-6*math.Abs(want) {
					t.Errorf("%s, %s of model %d: %.9g, Evaluate says %.9g", name, metric, j+1, v, want)
				}
				if c := got.Models[j]; !(c.Low <= c.Value && c.Value <= c.High) && c.High != c.Low {
					t.Errorf("%s, %s: %g is not in its interval [%g, %g]", name, metric, c.Value, c.Low, c.High)
				}
			}
		}
	}
}

// TestTimesAreRepeatedRows: what the bootstrap computes for rows that come several times is what Evaluate says of such rows.
func TestTimesAreRepeatedRows(t *testing.T) {
	ctx := context.Background()
	const n = 60
	r := random.New(3, "times")
	x, names, times := line(n), sides(n), make([]int32, n)
	var again []int
	for i := range n {
		x.Dense.Data[i] = float32(i / 3) // rows with equal scores
		if r.Intn(4) == 0 {
			names[i] = "left"
		}
		times[i] = int32(r.Intn(4))
		for range times[i] {
			again = append(again, i)
		}
	}
	src := source(t, x, nil, 0, names)
	models, predictors := twoModels(t, src)
	y := matrix.NewDense(len(again), 1)
	more := make([]string, len(again))
	for k, i := range again {
		y.Data[k], more[k] = x.Dense.Data[i], names[i]
	}
	for _, metric := range []string{"accuracy", "macro_f1", "f1", "mcc", "auc", "average_precision"} {
		rec, err := newRecord(metric, predictors[0], 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.pass(ctx, predictors, src, func(string, int, float64) {}); err != nil {
			t.Fatal(err)
		}
		rec.prepare()
		got := make([]float64, 2)
		rec.values(times, got)
		for j, m := range models {
			all, err := Evaluate(ctx, m, source(t, matrix.Rows{Dense: y}, nil, 0, more), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := *rec.metric.Value(all); math.Abs(got[j]-want) > 1e-12 {
				t.Errorf("%s of model %d: %.15g, want %.15g", metric, j+1, got[j], want)
			}
		}
	}
}

func TestCompareFindsTheBetterModel(t *testing.T) {
	// The border of the classes is a·b = 0, which no linear model finds.
	sources := weightedTables(t)
	src := sources["two classes"]
	_, predictors := twoModels(t, src)
	for _, metric := range []string{"accuracy", "error", "auc"} {
		got, err := Compare(context.Background(), predictors, src, CompareOptions{Metric: metric})
		if err != nil {
			t.Fatal(err)
		}
		d := got.Models[0].Difference
		if got.Reference != 1 || !got.Chosen || got.Models[1].Difference != nil || d == nil {
			t.Fatalf("%s: %+v", metric, got)
		}
		if got.Test != "bootstrap" {
			t.Errorf("rows with weights are compared by %s", got.Test)
		}
		if d.P > 2e-3 || d.Holm != d.P || (d.Low < 0) != (d.High < 0) || (d.Value < 0) != (got.Better == "higher") {
			t.Errorf("%s: %+v", metric, *d)
		}
	}
	got, err := Compare(context.Background(), predictors, src, CompareOptions{Control: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got.Reference != 0 || got.Chosen || got.Models[0].Difference != nil || !(got.Models[1].Difference.Value > 0) {
		t.Errorf("against a control: %+v", got)
	}
}

// TestMcNemarCountsRowsOfOne: without weights accuracy is compared by the rows that only one has right.
func TestMcNemarCountsRowsOfOne(t *testing.T) {
	const n = 200
	names := sides(n)
	src := source(t, line(n), nil, 0, names)
	// say predicts wrongly the rows that wrong names.
	say := func(name string, wrong func(row int) bool) *Predictor {
		row := 0
		return &Predictor{Name: name, Task: "classify", Classes: []string{"left", "right"}, Outputs: 1,
			Predict: func(x matrix.Rows, _ bool, each func(int, *Said) error) error {
				for i := range x.Len() {
					s := &Said{}
					if (names[row] == "right") != wrong(row) {
						s.Class = 1
					}
					row++
					if err := each(i, s); err != nil {
						return err
					}
				}
				return nil
			}}
	}
	a := say("a", func(row int) bool { return row%10 == 0 })            // 20 rows
	b := say("b", func(row int) bool { return row%10 == 0 || row < 9 }) // 8 more
	c := say("c", func(row int) bool { return row%10 == 1 })            // 20 others
	got, err := Compare(context.Background(), []*Predictor{a, b, c}, src, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Test != "mcnemar" || got.Reference != 0 {
		t.Fatalf("%+v", got)
	}
	db, dc := got.Models[1].Difference, got.Models[2].Difference
	if *db.OnlyModel != 0 || *db.OnlyReference != 8 || math.Abs(db.P-2.0/256) > 1e-12 || math.Abs(db.Holm-2*db.P) > 1e-12 {
		t.Errorf("b: %+v", *db)
	}
	if *dc.OnlyModel != 20 || *dc.OnlyReference != 20 || dc.P != 1 || dc.Value != 0 {
		t.Errorf("c: %+v", *dc)
	}
	if math.Abs(db.Value+0.04) > 1e-12 || !(db.Low < -0.04 && -0.04 < db.High && db.High < 0) {
		t.Errorf("the difference of b: %+v", *db)
	}
}

// TestOrderOfClassesDoesNotMatter: a model may know the classes in another order, as those of LIBSVM do.
func TestOrderOfClassesDoesNotMatter(t *testing.T) {
	sources := weightedTables(t)
	src := sources["two classes"]
	_, predictors := twoModels(t, src, train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Logistic{C: 1}},
		train.Config{Map: train.Map{Features: 64}, Learner: train.Logistic{C: 1}})
	turned := *predictors[1]
	turned.Classes = []string{"yes", "no"}
	turned.Predict = func(x matrix.Rows, proba bool, each func(int, *Said) error) error {
		return predictors[1].Predict(x, proba, func(i int, s *Said) error {
			c := &Said{Class: 1 - s.Class, Score: -s.Score}
			if proba {
				c.Probabilities = []float64{s.Probabilities[1], s.Probabilities[0]}
			}
			return each(i, c)
		})
	}
	for _, metric := range []string{"accuracy", "f1", "auc", "log_loss", "brier"} {
		var got [2]*Comparison
		for k, other := range []*Predictor{predictors[1], &turned} {
			var err error
			if got[k], err = Compare(context.Background(), []*Predictor{predictors[0], other}, src,
				CompareOptions{Metric: metric, Resamples: 100}); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := got[0].Models[1].Value, got[1].Models[1].Value; math.Abs(a-b) > 1e-9 {
			t.Errorf("%s: %g, and %g with the classes turned", metric, a, b)
		}
	}
}

func TestOrderOfLabelsDoesNotMatter(t *testing.T) {
	sources := weightedTables(t)
	src := sources["labels"]
	_, predictors := twoModels(t, src)
	turned := *predictors[1]
	turned.Labels = slices.Clone(turned.Labels)
	slices.Reverse(turned.Labels)
	turned.Predict = func(x matrix.Rows, proba bool, each func(int, *Said) error) error {
		return predictors[1].Predict(x, proba, func(i int, s *Said) error {
			has := slices.Clone(s.Has)
			slices.Reverse(has)
			return each(i, &Said{Has: has})
		})
	}
	for _, metric := range ComparedMetrics("multilabel") {
		got, err := Compare(context.Background(), []*Predictor{predictors[0], predictors[1], &turned}, src,
			CompareOptions{Metric: metric, Resamples: 100})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := got.Models[1].Value, got.Models[2].Value; a != b {
			t.Errorf("%s: %g, and %g with the labels turned", metric, a, b)
		}
	}
}

// TestFoldsHaveTheTaskOfAllRows: of 12 rows six numbers are classes, but of half of them they are not.
func TestFoldsHaveTheTaskOfAllRows(t *testing.T) {
	const n = 12
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(i / 2)
	}
	ridge := train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{Lambda: 1}}
	got, err := CompareConfigs(context.Background(), []NamedConfig{{"a", ridge}, {"b", ridge}},
		source(t, line(n), y, 1, nil), FoldOptions{Folds: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got.Metric != "accuracy" {
		t.Errorf("the metric is %s", got.Metric)
	}
}

func TestComparisonDoesNotDependOnThreads(t *testing.T) {
	sources := weightedTables(t)
	src := sources["numbers"]
	_, predictors := twoModels(t, src)
	one := func() string {
		got, err := Compare(context.Background(), predictors, src, CompareOptions{Metric: "r2", Resamples: 200})
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Models {
			got.Models[i].MicrosPerRow = 0
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := one()
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	if got := one(); got != want {
		t.Errorf("one thread: %s\nseveral: %s", got, want)
	}
}

func TestCompareErrors(t *testing.T) {
	ctx := context.Background()
	sources := weightedTables(t)
	two, three, numbers := sources["two classes"], sources["three classes"], sources["numbers"]
	_, ofTwo := twoModels(t, two)
	_, ofThree := twoModels(t, three)
	_, ofNumbers := twoModels(t, numbers)
	constant := weightedTable(t, 20, "y", func(a, b, e float64) string { return "no" })
	flat := weightedTable(t, 20, "y,z", func(a, b, e float64) string { return "1,2" })
	for _, c := range []struct {
		models []*Predictor
		src    dataset.Source
		opt    CompareOptions
		want   string
	}{
		{ofTwo[:1], two, CompareOptions{}, "there is nothing to compare with; give two or more"},
		{ofTwo, two, CompareOptions{Control: 3}, "the control is 3, but there are 1 to 2"},
		{ofTwo, two, CompareOptions{Level: 95}, "the level 95 of the intervals is not between 0 and 1"},
		{ofTwo, two, CompareOptions{Metric: "RMSE"},
			"the metric rmse is not for the task classify; there are accuracy, error, balanced_accuracy, micro_f1, " +
				"macro_f1, weighted_f1, f1, precision, recall, micro_precision, micro_recall, macro_precision, " +
				"macro_recall, weighted_precision, weighted_recall, auc, average_precision, mcc"},
		{ofTwo, two, CompareOptions{Metric: "ece"}, "models cannot be compared by ece; there are accuracy, error"},
		{ofTwo, two, CompareOptions{Metric: "log_loss"}, "model 1 has no probabilities, which log_loss takes; train it with calibrate=platt"},
		{ofThree, three, CompareOptions{Metric: "auc"},
			"the metric auc is for two classes, and there are 3; there are accuracy, error, balanced_accuracy, " +
				"micro_f1, macro_f1, weighted_f1, micro_precision, micro_recall, macro_precision, macro_recall, " +
				"weighted_precision, weighted_recall, mcc, kappa, log_loss, brier"},
		{[]*Predictor{ofTwo[0], ofNumbers[0]}, two, CompareOptions{}, "model 1 is for the task classify, model 1 for regress"},
		{[]*Predictor{ofTwo[0], ofThree[1]}, two, CompareOptions{}, `model 2 knows the class "yes!", model 1 does not`},
		{ofTwo, three, CompareOptions{}, `the label "yes!" is none of the classes of the models, no, yes`},
		{ofNumbers, two, CompareOptions{}, "table.csv: rows have 1 labels, but the models predict 2 numbers"},
		{ofTwo, weightedTable(t, 1, "y", func(a, b, e float64) string { return "no" }), CompareOptions{}, "table.csv: has one row"},
		{ofTwo, constant, CompareOptions{Metric: "auc"}, "auc has no value on these rows"},
		{ofNumbers, flat, CompareOptions{Metric: "r2"}, "r2 has no value on these rows"},
		{ofTwo, source(t, line(5), nil, 0, nil), CompareOptions{}, "the rows have no labels to compare predictions with"},
		{ofTwo, source(t, line(5), nil, 0, []string{"no", "no", "yes", "no", "no"}), CompareOptions{},
			"model 1: rows in memory: the rows have 1 dimensions, but the model was trained on 2"},
	} {
		got, err := Compare(ctx, c.models, c.src, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// TestConfigurationsAreJudgedOnTheirFolds trains and judges by hand.
func TestConfigurationsAreJudgedOnTheirFolds(t *testing.T) {
	ctx := context.Background()
	sources := weightedTables(t)
	src := sources["two classes"]
	configs := []NamedConfig{{"linear", train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{Lambda: 1}}},
		{"rbf", train.Config{Map: train.Map{Features: 64}, Learner: train.Ridge{Lambda: 1}}}}
	got, err := CompareConfigs(ctx, configs, src, FoldOptions{Folds: 3, Repeats: 2, CompareOptions: CompareOptions{Metric: "f1"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.N != 300 || got.Reference != 1 || got.Test != "corrected_t" || len(got.Configs[0].FoldValues) != 6 {
		t.Fatalf("%+v", got)
	}
	class, err := classOfRows(ctx, src, []string{"no", "yes"})
	if err != nil {
		t.Fatal(err)
	}
	for j, c := range configs {
		for f := range 6 {
			part := dataset.DealFolds(300, class, 2, 3, 1, uint64(f/3))
			rest := dataset.Keep(src, func(row int) bool { return int(part[row]) != f%3 })
			held := dataset.Keep(src, func(row int) bool { return int(part[row]) == f%3 })
			m, _, err := train.Fit(ctx, rest, c.Config, train.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := Evaluate(ctx, m, held, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if v := got.Configs[j].FoldValues[f]; math.Abs(v-*want.F1) > 1e-9 {
				t.Errorf("%s, fold %d: F1 %g, want %g", c.Name, f+1, v, *want.F1)
			}
		}
	}
	gaps := make([]float64, 6)
	for f := range gaps {
		gaps[f] = got.Configs[0].FoldValues[f] - got.Configs[1].FoldValues[f]
	}
	want, err := hypothesis.CorrectedT(gaps, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if d := got.Configs[0].Difference; d.P != want.P || d.Value != want.Mean || d.Value >= 0 || !(d.Low < d.Value && d.Value < d.High) {
		t.Errorf("linear against rbf: %+v, want %+v", *d, *want)
	}
}

// Of five rows of a class each of five folds has one, without which it would have no area under the curve.
func TestFoldsOfConfigurationsAreStratified(t *testing.T) {
	const n = 60
	names := slices.Repeat([]string{"many"}, n)
	for i := range 5 {
		names[11*i+3] = "few"
	}
	same := train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{Lambda: 1}}
	for seed := range uint64(3) {
		opt := FoldOptions{CompareOptions: CompareOptions{Metric: "auc", Seed: seed + 1}}
		if _, err := CompareConfigs(context.Background(), []NamedConfig{{"a", same}, {"b", same}},
			source(t, line(n), nil, 0, names), opt); err != nil {
			t.Errorf("seed %d: %v", seed+1, err)
		}
	}
}

func TestConfigurationsByMcNemar(t *testing.T) {
	const n = 400
	names := sides(n)
	for i := 0; i < n; i += 7 {
		names[i] = "left"
	}
	src := source(t, line(n), nil, 0, names)
	same := train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{Lambda: 1}}
	got, err := CompareConfigs(context.Background(), []NamedConfig{{"a", same}, {"b", same}}, src, FoldOptions{Folds: 4, Test: "mcnemar"})
	if err != nil {
		t.Fatal(err)
	}
	if d := got.Configs[1].Difference; got.Test != "mcnemar" || got.Reference != 0 || d.P != 1 || d.Holm != 1 ||
		*d.OnlyModel != 0 || *d.OnlyReference != 0 {
		t.Errorf("a configuration against itself: %+v, %+v", got, d)
	}
}

// TestARareClassMayBeMissingFromAFold: its rows are then wrong, not an error.
func TestARareClassMayBeMissingFromAFold(t *testing.T) {
	const n = 120
	names := sides(n)
	names[3] = "rare"
	src := source(t, line(n), nil, 0, names)
	configs := []NamedConfig{{"a", train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{Lambda: 1}}},
		{"b", train.Config{Map: train.Map{Features: 32}, Learner: train.Ridge{Lambda: 1}}}}
	got, err := CompareConfigs(context.Background(), configs, src, FoldOptions{Folds: 3})
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Configs[0].Mean; v < 0.9 || v > 1-0.9/n {
		t.Errorf("accuracy %g", v)
	}
}

func TestCompareConfigsErrors(t *testing.T) {
	sources := weightedTables(t)
	src := sources["numbers"]
	linear := NamedConfig{"linear", train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{Lambda: 1}}}
	classify := NamedConfig{"classes", train.Config{Task: "classify"}}
	outliers := NamedConfig{"outliers", train.Config{Task: "outliers"}}
	for _, c := range []struct {
		src     dataset.Source
		configs []NamedConfig
		opt     FoldOptions
		want    string
	}{
		{src, []NamedConfig{linear}, FoldOptions{}, "there is nothing to compare with"},
		{src, []NamedConfig{linear, linear}, FoldOptions{Folds: 1}, "1 folds; give 2 or more"},
		{src, []NamedConfig{linear, linear}, FoldOptions{Test: "z"}, `the test "z" is not known; known are t, mcnemar`},
		{src, []NamedConfig{linear, linear}, FoldOptions{Test: "mcnemar"}, "McNemar's test is for accuracy and error, and the metric is rmse"},
		{src, []NamedConfig{linear, linear}, FoldOptions{Test: "mcnemar", Repeats: 2}, "McNemar's test takes one prediction of a row"},
		{weightedTables(t)["two classes"], []NamedConfig{linear, linear}, FoldOptions{Test: "mcnemar"},
			"McNemar's test counts rows, and these have weights"},
		{src, []NamedConfig{linear, outliers}, FoldOptions{}, "outliers: outliers are told without labels"},
		{src, []NamedConfig{linear, classify}, FoldOptions{}, "table.csv: 2 label columns are numbers to predict"},
		{source(t, line(2), nil, 0, []string{"a", "b"}), []NamedConfig{linear, linear}, FoldOptions{Folds: 30},
			"rows in memory: 2 rows are fewer than the 30 folds; give fewer folds"},
	} {
		_, err := CompareConfigs(context.Background(), c.configs, c.src, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// TestAlikeRowsTogetherAreTheRows: metrics of classes are the same of distinct rows and how many there are of each.
func TestAlikeRowsTogetherAreTheRows(t *testing.T) {
	const n = 5000
	for _, metric := range []string{"accuracy", "macro_f1", "mcc", "kappa"} {
		rec, err := newRecord(metric, &Predictor{Task: "classify", Classes: []string{"a", "b", "c"}}, 2)
		if err != nil {
			t.Fatal(err)
		}
		r := random.New(5, "alike")
		ones := make([]int32, n)
		for i := range n {
			truth := int32(r.Intn(3))
			rec.truth, ones[i] = append(rec.truth, truth), 1
			for j := range rec.models {
				class := truth
				if r.Intn(3) == 0 {
					class = int32(r.Intn(3))
				}
				rec.models[j].class = append(rec.models[j].class, class)
			}
		}
		rec.rows = n
		few, copies := rec.distinct()
		if few.rows != 27 || len(copies) != 27 {
			t.Fatalf("%d distinct rows of 3·3·3", few.rows)
		}
		got, want := make([]float64, 2), make([]float64, 2)
		few.values(copies, got)
		rec.values(ones, want)
		for j := range got {
			if math.Abs(got[j]-want[j]) > 1e-12 {
				t.Errorf("%s of model %d: %g, want %g", metric, j+1, got[j], want[j])
			}
		}
		// Where more than half of the rows differ there is nothing to gain.
		rec.rows, rec.truth = 4, []int32{0, 1, 2, 0}
		if few, copies := rec.distinct(); few != rec || copies != nil {
			t.Errorf("4 rows became %d", few.rows)
		}
	}
}

// TestComparedMetricListsWhatCanBeCompared names a metric that there is not, and one that no comparison has: the
// error lists all that one has, each with its task, and none that it has not.
func TestComparedMetricListsWhatCanBeCompared(t *testing.T) {
	for _, name := range []string{"beauty", "top_5_accuracy", "macro-auc"} {
		err := ComparedMetric(name)
		if err == nil {
			t.Errorf("models can be compared by %s", name)
			continue
		}
		_, list, _ := strings.Cut(err.Error(), " by ")
		if name == "macro-auc" || name == "top_5_accuracy" {
			_, list, _ = strings.Cut(err.Error(), ", but by ")
		}
		var got, want []string
		for part := range strings.SplitSeq(list, "; ") {
			names, _, _ := strings.Cut(part, " for ")
			got = append(got, strings.Split(names, ", ")...)
		}
		for _, task := range []string{"classify", "regress", "multilabel"} {
			want = append(want, ComparedMetrics(task)...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v\nlists %q, want %q", name, err, got, want)
		}
	}
	for _, name := range []string{"accuracy", "Macro-F1", "rmse", "samples_f1"} {
		if err := ComparedMetric(name); err != nil {
			t.Error(err)
		}
	}
}
