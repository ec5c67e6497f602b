package render

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/eval"
	"mercer/feature"
	"mercer/internal/engine/report"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/pipeline"
	"mercer/internal/solve/pool"
	"mercer/internal/solve/reduce"
	"mercer/kernel"
	"mercer/model"
	"mercer/train"
)

// someInfo is a model of two classes with a map.
func someInfo() *model.Info {
	return &model.Info{Task: "classify", Classes: []string{"no", "yes"}, Outputs: 1, Scale: "standard",
		Schema: dataset.Schema{Format: "csv", Header: true, Columns: []dataset.Column{{Place: dataset.Place{Name: "age"}},
			{Place: dataset.Place{Name: "town", At: 1}, Categories: []string{"A", "B"}}}},
		Feature: &feature.Config{Map: "orf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.25}, Features: 4096, Seed: 1},
		Training: model.Training{Rows: 12_345, Learner: "ridge", Why: map[string]string{"scale": "columns differ", "gamma": "median",
			"learner": "chosen"},
			Report: &learn.RidgeReport{Lambda: 0.01, By: "held-out", HeldOut: 1234, Path: []learn.PathPoint{
				{Lambda: 1, Error: 0.5, Parameters: 12}, {Lambda: 0.01, Error: 0.25, Parameters: 120, Chosen: true, GCV: of(0.26),
					LOO: of(0.255)}, {Lambda: 1e-4, Error: 0.3, Parameters: 900, GCV: of(0.31)}}}}}
}

// someData is what a pass over five rows tells.
func someData(t *testing.T) *Data {
	t.Helper()
	return dataOf(t, "age,town,income,label\n1,A,10,no\n2,B,20,yes\n3,A,30.5,no\n4,A,0,yes\n5,B,-50,no\n")
}

func dataOf(t *testing.T, text string) *Data {
	t.Helper()
	src, err := dataset.OpenBytes(context.Background(), "people.csv", []byte(text), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := dataset.Survey(context.Background(), src, dataset.SurveyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &Data{Name: "people.csv", Schema: *src.Schema(), Summary: sum}
}

func someReport(d *Data) *train.Report {
	return &train.Report{Summary: d.Summary, Read: 0.5, Map: 12.25, Solve: 83, Total: 725, Collect: 2, Choose: 0.03, Features: "in memory"}
}

// models are made up of every kind of line that a model has.
func models() map[string]Model {
	bag := someInfo()
	bag.Bag = &pipeline.BagInfo{Schema: dataset.Schema{Format: "csv", Dim: 7}, Scale: "none", Least: 1, Most: 1234,
		Why: map[string]string{"gamma": "median"},
		Pooling: pool.Config{Method: "mean", Norm: "l2", Map: &feature.Config{Map: "sorf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 2},
			Features: 512, Seed: 1}}}
	svm := someInfo()
	svm.Task, svm.Classes = "classify", hostile(300)
	svm.Training.Learner, svm.Training.Report = "svm", &learn.SVMReport{C: 1, Loss: "squared",
		DualReport: learn.DualReport{Passes: 12, Converged: true, Gap: 0.001},
		Path:       []learn.CPoint{{C: 0.1, Error: 0.2}, {C: 1, Error: 0.1, Chosen: true}}}
	svm.Feature = &feature.Config{Map: "chain", Features: 1024, Seed: 1, Steps: []feature.Config{{Map: "countsketch",
		Kernel: kernel.Kernel{Name: "linear"}, Features: 64}, {Map: "orf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1}, Features: 1024}}}
	svm.Training.Reduction = &reduce.Report{Features: 1024, Components: 3, Share: 0.9, Variance: 2, Variances: []float64{1, 0.5, 0.3},
		Method: "exact"}
	learned := someInfo()
	learned.Training.Metric = &metric.Report{Form: "diagonal", Rows: 8000, HeldOut: 2000, Landmarks: 1000, Best: 1, Rounds: []metric.Round{
		{Error: 0.5, Wrong: 0.2}, {Error: 0.25, Wrong: 0.1}, {Error: 0.26, Wrong: 0.1}}}
	lasso := someInfo()
	lasso.Task, lasso.Classes, lasso.Outputs, lasso.Feature = "regress", nil, 2, nil
	lasso.Training.Learner, lasso.Training.Report = "lasso", &learn.LassoReport{Lambda: 0.1, HeldOut: 100,
		Path: []learn.LassoPoint{{Lambda: 1, Error: 3, Weights: 0}, {Lambda: 0.1, Error: 2, Weights: 7,
			Chosen: true}}, Weights: 7, All: 20, Features: 10, Converged: true}
	online := someInfo()
	online.Task, online.Classes, online.Labels, online.Kernel, online.Feature = "multilabel", nil, hostile(20), of(kernel.Kernel{Name: "rbf",
		Gamma: 3}), nil
	online.Training.Learner, online.Training.Report = "online", &learn.OnlineReport{Epochs: 1,
		Progressive: []learn.OnlinePoint{{Rows: 1000, Loss: 0.7, Error: of(0.3)}, {Rows: 2000, Loss: 0.5, Error: of(0.2)}}}
	online.Schema.Columns = nil
	for _, name := range hostile(12) {
		online.Schema.Columns = append(online.Schema.Columns, dataset.Column{Place: dataset.Place{Name: name}, Categories: hostile(9)})
	}
	return map[string]Model{"ridge": {Info: someInfo(), Dim: 3}, "bags": {Info: bag, Dim: 512, Chosen: "period 4"},
		"svm": {Info: svm, Dim: 64}, "lasso": {Info: lasso, Dim: 3}, "online": {Info: online, Dim: 108},
		"learned": {Info: learned, Dim: 3, Relevance: []model.Relevance{{Column: "town", Share: 0.75},
			{Column: "age", Share: 0.249}, {Column: "x<y>", Share: 0.001}}}}
}

func TestModelTexts(t *testing.T) {
	d := someData(t)
	for name, m := range models() {
		r := someReport(d)
		if m.Bag != nil {
			r.Bags = &dataset.BagSummary{Summary: d.Summary, Bags: 1, Least: 5, Most: 5}
		}
		goldenText(t, "inspect-"+name, func(w *bytes.Buffer) { InspectModelText(w, m, "people.mercer", 123_456); narrow(t, w.String(), 620) })
		goldenText(t, "train-"+name, func(w *bytes.Buffer) {
			TrainText(w, m, r, "people.csv", 5<<30, &Tested{Metrics: classMetrics([]string{"no", "yes"}), On: "test.csv"})
			SavedText(w, "people.mercer", 123_456)
			narrow(t, w.String(), 620)
		})
	}
	// A training that was continued has no summary, and where nothing is known nothing is said.
	goldenText(t, "train-continued", func(w *bytes.Buffer) { TrainText(w, models()["ridge"], &train.Report{}, "more.csv", 0, nil) })
}

func TestModelPages(t *testing.T) {
	d := someData(t)
	for name, m := range models() {
		r := someReport(d)
		if m.Bag != nil {
			r.Bags = &dataset.BagSummary{Summary: d.Summary, Bags: 1, Least: 5, Most: 5}
		}
		page := TrainPage(m, r, "people.mercer", "people.csv", &Tested{Metrics: &eval.Metrics{N: 5, Accuracy: of(0.8)}, On: "test.csv"}, 5<<30,
			func(p *report.Page) { p.Section("More").Note("what a search found") })
		MadeBy(page, "mercer train people.csv -o people.mercer", "mercer 1.0", "a machine")
		goldenPage(t, "train-"+name, page)
	}
	goldenPage(t, "eval-model", EvalPage(models()["ridge"], "people.mercer", numberMetrics(), d))
}

func TestTrainJSON(t *testing.T) {
	m := classMetrics([]string{"no", "yes"})
	m.Curves = nil
	out := NewTrainJSON(Model{Info: someInfo()}, someReport(someData(t)), &Tested{Metrics: m, On: "test.csv"}, "people.mercer", 1<<20)
	goldenJSON(t, "train", out)
	if m.Classes == nil || m.Confusion == nil {
		t.Error("the metrics that were given have changed")
	}
	goldenJSON(t, "train-untested", NewTrainJSON(Model{Info: someInfo()}, &train.Report{Total: 1}, nil, "people.mercer", 0))
}

func TestInspectData(t *testing.T) {
	d := someData(t)
	goldenText(t, "inspect-data", func(w *bytes.Buffer) { d.Text(w) })
	goldenJSON(t, "inspect-data", d.JSON())
	var head, row strings.Builder
	for i := range 45 {
		head.WriteString(strings.Repeat("column ", 20) + strings.Repeat("i", i) + ",")
		row.WriteString("1e30,")
	}
	hard := dataOf(t, head.String()+"y\n"+row.String()+"1.5\n"+row.String()+"2.5\n")
	hard.Name = strings.Repeat("n", 300)
	hard.Bags = &dataset.BagSummary{Summary: hard.Summary, Bags: 1, Least: 2, Most: 2}
	goldenText(t, "inspect-data-hostile", func(w *bytes.Buffer) { hard.Text(w) })
	goldenJSON(t, "inspect-model", InspectModelJSON(Model{Info: someInfo()}))
}

func TestStatisticsAndForeignTexts(t *testing.T) {
	s := Statistics{Rows: 1, Features: 4096, Targets: 2, Schema: &dataset.Schema{Format: "csv", Dim: 14}}
	goldenText(t, "statistics", func(w *bytes.Buffer) { s.Text(w, "a.stats"); s.Saved(w, "b.stats") })
	goldenJSON(t, "statistics", s.JSON())
	goldenText(t, "foreign", func(w *bytes.Buffer) {
		ForeignText(w, "m.libsvm", 1<<20, []string{"LIBSVM, c_svc, rbf", "2 classes: 1 -1"})
	})
	goldenJSON(t, "foreign", ForeignJSON("LIBSVM", map[string]int{"classes": 2}, 14))
}

func TestFeaturesAndGram(t *testing.T) {
	f := &Features{Model: "m.mercer", Scale: "standard", BagScale: "none", Output: "z.npy",
		Rows: 1234, Dim: 14, Features: 4096, Format: "npy", NonZeros: 1234 * 4096,
		Why: map[string]string{"gamma": "median"}, Chosen: "rank 12",
		Feature: &feature.Config{Map: "orf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.5}, Features: 4096,
			Seed: 1}, Reduction: &reduce.Report{Features: 4096, Components: 12, Variance: 1, Share: 0.9}}
	g := &Gram{Bytes: 8 * 123_400, Scale: "standard", Why: map[string]string{"scale": "columns differ", "gamma": "median"},
		Output: "k.npy", Rows: 1234, Of: 100, Dim: 14, Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.5}, Distances: true}
	goldenText(t, "features", func(w *bytes.Buffer) { f.Text(w); (&Features{}).Text(w) })
	goldenText(t, "gram", func(w *bytes.Buffer) {
		g.Text(w)
		(&Gram{Kernel: kernel.Kernel{Name: "matern", Gamma: 0.5, Nu: 1.5}}).Text(w)
		(&Gram{Kernel: kernel.Kernel{Name: "rbf", Gamma: math.NaN()}}).Text(w)
	})
	goldenJSON(t, "features", f.JSON())
	goldenJSON(t, "gram", g.JSON())
}

// The length scale of a kernel is told wherever the kernel is: of a map, of a learner of the kernel itself, of bags.
func TestLengthScaleIsTold(t *testing.T) {
	matern := kernel.Kernel{Name: "matern", Nu: 1.5, Gamma: 1.0 / 18}
	mapped, exact, bags := someInfo(), someInfo(), *models()["bags"].Info
	mapped.Feature = &feature.Config{Map: "orf", Kernel: matern, Features: 64}
	exact.Kernel, exact.Feature = &matern, nil
	bag := *bags.Bag
	bag.Pooling.Map = mapped.Feature
	bags.Bag = &bag
	for name, info := range map[string]*model.Info{"mapped": mapped, "exact": exact, "bags": &bags} {
		var w bytes.Buffer
		InspectModelText(&w, Model{Info: info, Dim: 3}, "m", 1)
		if !strings.Contains(w.String(), "matern, ν = 1.5, γ = 0.05556, length scale σ = 3") {
			t.Errorf("%s: no length scale in\n%s", name, &w)
		}
	}
}
