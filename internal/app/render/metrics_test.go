package render

import (
	"bytes"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"mercer/eval"
	"mercer/internal/engine/report"
)

// labelled are metrics of classes or labels, falling from 100 %.
func labelled(names []string, areas bool) []eval.LabelMetrics {
	var list []eval.LabelMetrics
	for i, name := range names {
		f := 1 - float64(i)/float64(4*len(names))
		l := eval.LabelMetrics{Label: name, Rows: float64(10 + i), Predicted: float64(12 + i), Precision: f, Recall: f * 0.98, F1: f * 0.99}
		if areas && i != 1 {
			l.AUC, l.AveragePrecision = of(0.5+f/2), of(f)
		}
		list = append(list, l)
	}
	return list
}

// confused has most rows on the diagonal and some beside it.
func confused(names []string) *eval.Confusion {
	c := &eval.Confusion{Labels: names}
	for i := range names {
		row := make([]float64, len(names))
		row[i], row[(i+1)%len(names)] = float64(10+i), float64(i%3)
		c.Counts = append(c.Counts, row)
	}
	return c
}

func someCurves(names []string) *eval.Curves {
	c := &eval.Curves{}
	for i, name := range names {
		c.ROC = append(c.ROC, eval.Curve{Label: name, Area: 1 - float64(i)/100, X: []float64{0, 0.1, 1}, Y: []float64{0, 0.9, 1}})
		c.PR = append(c.PR, eval.Curve{Label: name, Area: 0.9 - float64(i)/100, Share: 0.4, X: []float64{0, 0.5, 1}, Y: []float64{1, 0.9, 0.4}})
	}
	for i := range 5 {
		p := 0.1 + 0.2*float64(i)
		c.Calibration = append(c.Calibration, eval.CalibrationBin{Predicted: p, Observed: p * p, Rows: float64(10 * (i + 1))})
	}
	return c
}

func classMetrics(names []string) *eval.Metrics {
	m := &eval.Metrics{N: 1460, Unknown: 2, Weight: of(1501.5), Accuracy: of(0.9), Error: of(0.1), BalancedAccuracy: of(0.88),
		MacroF1: of(0.87), MCC: of(0.8), Kappa: of(0.79),
		MacroPrecision: of(0.86), MacroRecall: of(0.88), WeightedPrecision: of(0.9), WeightedRecall: of(0.9), WeightedF1: of(0.89),
		MicroPrecision: of(0.9), MicroRecall: of(0.9), MicroF1: of(0.9),
		LogLoss: of(0.25), Brier: of(0.07), ECE: of(0.02), MCE: of(0.11), MacroAUC: of(0.97), MacroAveragePrecision: of(0.91),
		AUCWithin: of(0.0003),
		Classes:   labelled(names, true), Confusion: confused(names), Curves: someCurves(names)}
	if len(names) == 2 {
		m.F1, m.AUC, m.Precision, m.Recall, m.AveragePrecision = of(0.85), of(0.97), of(0.84), of(0.86), of(0.93)
		m.Curves = someCurves(names[1:])
	}
	return m
}

// rareMetricsOf are those of two classes whose second is rare.
func rareMetricsOf() *eval.Metrics {
	m := classMetrics([]string{"no", "yes"})
	m.Classes[0].Rows, m.Classes[1].Rows = 95, 5
	m.Curves.PR[0].Share = 0.05
	return m
}

func numberMetrics() *eval.Metrics {
	r := eval.Residuals{Name: "height", Start: -2, Width: 1, Counts: []float64{1, 5, 6, 2}, Below: 1}
	for i := range 14 {
		v := float64(i)
		r.Truth, r.Predicted = append(r.Truth, v), append(r.Predicted, v+math.Sin(v))
	}
	return &eval.Metrics{N: 14, RMSE: of(56_619.3), MAE: of(38_000.5), R2: of(0.76), MedianAE: of(25_111.7), MaxError: of(400_001.2),
		RelativeRMSE: of(0.49), MAPE: of(0.21), ZeroTargets: 1234,
		ExplainedVariance: of(0.77), Bias: of(-12.3456), Pinball: of(19_000.25), Quantile: of(0.5),
		Outputs: []eval.OutputMetrics{{Name: "height", RMSE: 1.25, MAE: 1, R2: of(0.9), MedianAE: 0.75, MaxError: 3},
			{Name: strings.Repeat("width ", 50), RMSE: 80_000, MAE: 60_000}},
		Curves: &eval.Curves{Residuals: []eval.Residuals{r}}}
}

func labelMetrics() *eval.Metrics {
	names := []string{"red", "green"}
	return &eval.Metrics{N: 100, SubsetAccuracy: of(0.6), HammingLoss: of(0.1), MicroF1: of(0.8), MacroF1: of(0.7), SamplesF1: of(0.75),
		RankingPrecision: of(0.9),
		MicroPrecision:   of(0.81), MicroRecall: of(0.79), Labels: labelled(names, true), Curves: someCurves(names)}
}

func TestEvalText(t *testing.T) {
	for name, m := range map[string]*eval.Metrics{
		"rare-class": rareMetricsOf(), "two-classes": classMetrics([]string{"no", "yes"}), "classes": classMetrics([]string{"low", "middle",
			"high"}), "numbers": numberMetrics(), "labels": labelMetrics(),
		"many-classes": classMetrics(hostile(300)), "hostile-classes": classMetrics(hostile(9)), "nothing": {},
	} {
		goldenText(t, "eval-"+name, func(w *bytes.Buffer) {
			EvalText(w, m, "row", true)
			narrow(t, w.String(), 140)
		})
	}
}

// A model that predicts one class for all rows says so, whatever its learner; rows that are of one class themselves say nothing of it.
func TestMetricsTellOfOneAnswer(t *testing.T) {
	for _, c := range []struct {
		rows, predicted [3]float64
		says            bool
	}{
		{[3]float64{97, 3, 0}, [3]float64{100, 0, 0}, true},
		{[3]float64{97, 3, 0}, [3]float64{99, 1, 0}, false},
		{[3]float64{100, 0, 0}, [3]float64{100, 0, 0}, false},
		{[3]float64{50, 30, 20}, [3]float64{0, 0, 100}, true},
	} {
		m := &eval.Metrics{N: 100, Accuracy: of(0.5)}
		for i, name := range []string{"one", "two", "three"} {
			m.Classes = append(m.Classes, eval.LabelMetrics{Label: name, Rows: c.rows[i], Predicted: c.predicted[i]})
		}
		var text bytes.Buffer
		EvalText(&text, m, "row", false)
		if got := strings.Contains(text.String(), "all rows are predicted to be "); got != c.says {
			t.Errorf("%v: %s", c, &text)
		}
	}
}

func TestEvalPages(t *testing.T) {
	for name, c := range map[string]struct {
		m    *eval.Metrics
		task string
	}{
		"rare-class": {rareMetricsOf(), "classify"}, "two-classes": {classMetrics([]string{"no", "yes"}), "classify"}, "classes": {classMetrics([]string{"low", "middle", "high"}),
			"classify"},
		"numbers": {numberMetrics(), "regress"}, "labels": {labelMetrics(), "multilabel"}, "hostile-classes": {classMetrics(hostile(9)),
			"classify"}, "nothing": {&eval.Metrics{}, "classify"},
	} {
		page := &report.Page{Title: name}
		evaluationSections(page, c.m, c.task, "rows")
		goldenPage(t, "eval-"+name, page)
	}
	// Of 300 classes with names of any kind there is a page of a size that a browser bears.
	page := &report.Page{Title: "many"}
	evaluationSections(page, classMetrics(hostile(300)), "classify", "rows")
	if n := len(pageBytes(t, page)); n > 1<<20 {
		t.Errorf("the page of 300 classes has %d bytes", n)
	}
}

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	digits = regexp.MustCompile(`\d[\d,.]*`)
)

// A page begins with six numbers at most, and says each metric once.
func TestEvalPageSaysEachMetricOnce(t *testing.T) {
	for name, c := range map[string]struct {
		m    *eval.Metrics
		task string
	}{"a rare class": {rareMetricsOf(), "classify"}, "two classes": {classMetrics([]string{"no", "yes"}), "classify"}, "classes": {classMetrics([]string{"low", "middle", "high"}),
		"classify"},
		"numbers": {numberMetrics(), "regress"}, "labels": {labelMetrics(), "multilabel"}} {
		info := someInfo()
		info.Task = c.task
		page := EvalPage(Model{Info: info}, "m.mercer", c.m, someData(t))
		text := string(pageBytes(t, page))
		body := text[strings.Index(text, "<main>"):strings.Index(text, "<svg")]
		values := regexp.MustCompile(`<dd>[^<]*`).FindAllString(body, -1)
		if n := len(values); n < 3 || n > 6 {
			t.Errorf("%s: %d numbers before the first picture: %s", name, n, tags.ReplaceAllString(body, " "))
		}
		if strings.Contains(body, "<table") || digits.MatchString(tags.ReplaceAllString(text[strings.Index(text,
			"<header>"):strings.Index(text, "<main>")], "")) {
			t.Errorf("%s: there are other numbers before the first picture", name)
		}
		whole := text[strings.Index(text, "<main>"):]
		for _, metric := range eval.MetricNames(c.task) {
			known, err := eval.MetricNamed(metric)
			if err != nil {
				t.Fatal(err)
			}
			title := html.EscapeString(known.Title)
			if n := strings.Count(whole, "<dt>"+title+"</dt>") + strings.Count(whole, `<th scope="row">`+title+"</th>"); n > 1 {
				t.Errorf("%s: %s is there %d times", name, known.Title, n)
			} else if n == 0 && known.Value(c.m) != nil && !said(metric, c.m) {
				t.Errorf("%s: %s is not there", name, known.Title)
			}
		}
	}
}
