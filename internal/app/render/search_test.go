package render

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"mercer/internal/engine/report"
	"mercer/internal/search"
	"mercer/train"
)

// someSearch has candidates that differ in two settings, one of them not judged.
func someSearch(gammas []string) *search.TuneResult {
	r := &search.TuneResult{Metric: "accuracy", Larger: true, Task: "classify", Rows: 1000,
		Folds: search.Folds{Kind: "stratified", K: 5, Repeats: 2}, Splits: 10,
		AtEnd: []string{"c"}, Work: search.Work{Mapped: 2000, Solves: 60}, Alone: search.Work{Mapped: 12_000,
			Solves: 60}, Wrong: 3, Why: "they do not go together", Warnings: []string{"a warning"}, Resumed: 2}
	for i, gamma := range gammas {
		for j, c := range []string{"1", "100"} {
			v := 0.95 - 0.01*float64(i) - 0.001*float64(j)
			r.Candidates = append(r.Candidates, &search.Candidate{Index: len(r.Candidates),
				Values: map[string]string{"gamma": gamma, "c": c, "kernel": "rbf"}, Config: train.Config{Learner: train.SVM{}},
				Scores: []float64{v, v}, Mean: v, SD: 0.012, SE: 0.004, Seconds: 1.5 * float64(i+1)})
		}
	}
	last := r.Candidates[len(r.Candidates)-1]
	last.Dropped, last.Mean, last.Scores = "not enough memory", math.NaN(), nil
	r.Candidates[0].Best, r.Candidates[1].Picked = true, true
	r.Best, r.Picked = r.Candidates[0], r.Candidates[1]
	return r
}

func TestSearch(t *testing.T) {
	for name, r := range map[string]*search.TuneResult{"search": someSearch([]string{"0.5", "2", "8"}), "search-hostile": someSearch(hostile(30))} {
		goldenText(t, name, func(w *bytes.Buffer) { SearchText(w, r, 83, "mercer train data.csv -o m") })
		page := &report.Page{Title: "t"}
		SearchSections(r, 83, "mercer train data.csv -o m")(page)
		goldenPage(t, name, page)
		var csv bytes.Buffer
		if err := SearchCSV(&csv, r); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".csv", csv.Bytes())
	}
	for _, f := range []search.Folds{{Kind: "holdout", Share: 0.2}, {Kind: "time", K: 4}, {Kind: "group", K: 3}, {Kind: "kfold", K: 5}} {
		if text := foldsText(&search.TuneResult{Folds: f}); !strings.ContainsAny(text, "0123456789") {
			t.Errorf("%+v: %q", f, text)
		}
	}
}

func someAuto(names []string) *AutoJSON {
	race := func(metric string, scores ...float64) *search.RaceResult {
		r := &search.RaceResult{Of: "kernels", Metric: metric, Held: 1500, Folds: 3, Rungs: []int{500, 1000}, Stopped: "the budget was spent"}
		for i, name := range names {
			c := search.Racer{Name: name, Config: train.Config{Map: train.Map{Features: 1024 * (i % 2)}},
				Runs: []search.Run{{Rows: 500, Score: scores[i%len(scores)], Seconds: 0.5}}}
			if i > 0 {
				c.Dropped = "behind after 500 rows"
			} else {
				c.Runs = append(c.Runs, search.Run{Rows: 1000, Score: scores[0] + 0.01, Seconds: 1.25})
			}
			r.Racers = append(r.Racers, c)
		}
		return r
	}
	return &AutoJSON{Command: "mercer train data.csv --kernel rbf -o m", AutoReport: &search.AutoReport{
		Facts: search.Facts{Rows: 40_000, Dim: 54, Task: "classify", Classes: 7, Least: 0.005, Most: 0.49, Histograms: true},
		Heats: []*search.RaceResult{race("accuracy", 0.9, 0.8), race("rmse", 1234.5, 2e-7)}, Why: []string{"rbf was the best",
			"4,096 features fit the budget"},
		Rows: 4000, Short: "trained on 4,000 of 40,000 rows: the budget had no time for more", Wanted: 300, Seconds: 12.5, Total: 62,
		Exact: &search.ExactPrediction{Rows: 40_000, Bytes: 12.8e9, Seconds: 86_400,
			Exponent: 2.1, Trials: []search.Timing{{Rows: 500}, {Rows: 2000}}}}}
}

func TestAuto(t *testing.T) {
	for name, names := range map[string][]string{"auto": {"rbf svm", "linear svm"}, "auto-hostile": hostile(9)} {
		a := someAuto(names)
		goldenText(t, name, func(w *bytes.Buffer) { AutoText(w, a); narrow(t, w.String(), 140) })
		page := &report.Page{Title: "t"}
		AutoSections(a)(page)
		goldenPage(t, name, page)
	}
	enough := someAuto([]string{"rbf svm"})
	enough.Facts = search.Facts{Rows: 10, Dim: 2, Task: "regress", Deviation: 3.25}
	enough.Heats, enough.Exact, enough.Short = nil, nil, ""
	goldenText(t, "auto-enough", func(w *bytes.Buffer) { AutoText(w, enough) })
	goldenJSON(t, "auto", enough)
	for seconds, want := range map[float64]string{1: "1s", 59: "59s", 61: "2m", 3600: "1h", 3601: "2h"} {
		if got := search.BudgetText(seconds); got != want {
			t.Errorf("%g s: %s, want %s", seconds, got, want)
		}
	}
}

func someCurve(metric string) *search.Curve {
	c := &search.Curve{Metric: metric, Config: train.Config{Kernel: train.Kernel{Name: "rbf"}, Learner: train.Ridge{},
		Map: train.Map{Features: 4096}}, Held: 8000, Seeds: 3,
		RowsLaw: &search.Law{A: 0.05, B: 1.5, C: 0.5, Misfit: 0.002}, FeaturesLaw: &search.Law{A: 0.04, B: 2, C: 0.6, Misfit: 0.001},
		Extrapolated: []search.Extrapolated{{Rows: 32_000, Test: 0.06, Seconds: 5400, Bytes: 3 << 30}}, SecondsFactor: 0.002, SecondsExponent: 1.25}
	for i := range 3 {
		n := 1000 << i
		c.ByRows = append(c.ByRows, search.CurvePoint{Rows: n, Features: 4096, Train: 0.02 * float64(i), TrainSD: 0.001,
			Test: 0.2 / float64(i+1), TestSD: 0.01, Seconds: float64(i) * 1.5, Bytes: int64(n) << 14})
		c.ByFeatures = append(c.ByFeatures, search.CurvePoint{Rows: 4000, Features: 64 << (2 * i), Train: 0.05, TrainSD: 0.001,
			Test: 0.3 / float64(i+1), TestSD: 0.01, Seconds: 0.1, Bytes: 1 << 20})
	}
	return c
}

func TestCurve(t *testing.T) {
	wild := &search.Curve{Metric: "rmse", Seeds: 2, ByRows: []search.CurvePoint{{Rows: 100_000, Features: 16_384, Train: 1.23456e-5,
		TrainSD: 1.23456e-7, Test: 123456.7, TestSD: 1234567, Seconds: 1}, {Rows: 2, Test: math.NaN(), Train: math.Inf(1)}}}
	one := &search.Curve{Metric: "hamming", Seeds: 1, ByRows: []search.CurvePoint{{Rows: 100, Features: 64}}}
	for name, c := range map[string]*search.Curve{"curve": someCurve("error"), "curve-rmse": someCurve("rmse"), "curve-wild": wild,
		"curve-one": one} {
		goldenText(t, name, func(w *bytes.Buffer) { CurveText(w, c) })
		goldenPage(t, name, CurvePage(c, "data.csv"))
	}
	var csv bytes.Buffer
	if err := CurveCSV(&csv, someCurve("error")); err != nil {
		t.Fatal(err)
	}
	golden(t, "curve.csv", csv.Bytes())
}

func TestCostText(t *testing.T) {
	c := &search.Prediction{Rows: 1_000_000, RowsGuessed: true, Plan: &train.Plan{Config: train.Config{Kernel: train.Kernel{Name: "rbf"},
		Learner: train.Ridge{}},
		Features: 4096, Outputs: 1, Bytes: 1 << 30, Formula: "16·D²"},
		Read: 2, Map: 30, Solve: 600, Seconds: 632, Trials: []search.Timing{{Rows: 500, Features: 512, Map: 0.01, Solve: 0.05}}}
	goldenText(t, "cost", func(w *bytes.Buffer) { CostText(w, c) })
}
