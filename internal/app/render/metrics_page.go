package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/eval"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
)

// evaluationSections adds what an evaluation found out to a page: the metrics that matter most, pictures, and then all others. No
// metric is there twice. rows is the word for what is predicted.
func evaluationSections(page *report.Page, m *eval.Metrics, task, rows string) {
	first := chiefMetrics(m)
	facts := []report.Fact{{Name: rows, Value: units.Count(m.N)}}
	for _, metric := range first {
		facts = append(facts, report.Fact{Name: metric.Title, Value: metricText(metric, m), Remark: aboutText(metric, m)})
	}
	page.Section("How good it is").Facts(facts...)
	confusionSection(page, m.Confusion, rows)
	if c := m.Curves; c != nil {
		curvesSection(page, m, task, rows)
		for i := range c.Residuals {
			if i == mostCurves {
				page.Section("Residuals").Note(fmt.Sprintf("The other %s are not drawn.", units.Plural(len(c.Residuals)-i, "output")))
				break
			}
			residualsSection(page, &c.Residuals[i], len(c.Residuals) > 1, rows)
		}
	}
	classesSection(page, "Classes", m.Classes)
	classesSection(page, "Labels", m.Labels)
	if len(m.Outputs) > 1 {
		outputsSection(page, m.Outputs)
	}
	s := page.Section("Other metrics")
	if t := metricsTable(m, task, rows, first); len(t.Rows) > 0 {
		s.Table(t)
	}
	if m.Unknown > 0 {
		s.Note(fmt.Sprintf("%s of labels that the model does not know count as errors; ranking and probabilities leave them out.",
			units.Plural(m.Unknown, rows[:len(rows)-1])))
	}
}

// headMetrics are how many metrics a page begins with; together with the number of rows they are six numbers.
const headMetrics = 5

// chiefMetrics are those that a page begins with, the most important first.
func chiefMetrics(m *eval.Metrics) []*eval.Metric {
	var list []*eval.Metric
	names := []string{"accuracy", "subset_accuracy", "hamming_loss", "macro_f1", "micro_f1", "auc", "macro_auc", "log_loss",
		"ece", "rmse", "mae", "r2", "median_ae", "max_error"}
	if rare(m) {
		names = append([]string{"average_precision", "precision", "recall", "f1"}, names...)
	}
	for _, name := range names {
		metric, err := eval.MetricNamed(name)
		if err == nil && metric.Value(m) != nil && !said(name, m) && len(list) < headMetrics {
			list = append(list, metric)
		}
	}
	return list
}

// said says of a metric that another one, or the table of the classes, says the same: the error says what the accuracy says, each
// micro mean of classes is the accuracy, so is the recall weighted by rows, areas under the curves of two
// classes are equal, and half of the mean absolute error is the pinball loss of
// the median.
func said(name string, m *eval.Metrics) bool {
	same := func(a, b *float64) bool { return a != nil && b != nil && math.Abs(*a-*b) < 1e-12 }
	switch name {
	case "error", "micro_precision", "micro_recall", "micro_f1":
		return m.Accuracy != nil
	case "weighted_recall":
		return same(m.WeightedRecall, m.Accuracy)
	case "macro_auc":
		return same(m.MacroAUC, m.AUC)
	case "weighted_auc":
		return same(m.WeightedAUC, m.AUC)
	case "macro_recall":
		return same(m.MacroRecall, m.BalancedAccuracy)
	case "precision", "recall", "f1":
		return len(m.Classes) == 2 // those of its second class
	case "pinball":
		return m.Quantile != nil && *m.Quantile == 0.5
	}
	return false
}

// metricsTable has the metrics of a task that are not said elsewhere: those that the page begins with, and what repeats others.
func metricsTable(m *eval.Metrics, task, rows string, first []*eval.Metric) *report.Table {
	t := &report.Table{Caption: "Metrics of all " + rows, Columns: []report.Column{{Name: "metric"}, {Name: "value", Number: true},
		{Name: "what it is"}}}
	for _, name := range eval.MetricNames(task) {
		metric, err := eval.MetricNamed(name)
		if err != nil || metric.Value(m) == nil || said(name, m) || slices.ContainsFunc(first,
			func(f *eval.Metric) bool { return f.Name == name }) {
			continue
		}
		t.Rows = append(t.Rows, []string{metric.Title, metricText(metric, m), aboutText(metric, m)})
	}
	return t
}

// mostNamed bounds the lines of tables about classes, mostCurves the curves of a picture.
const (
	mostNamed  = 40
	mostCurves = 6
)

func confusionSection(page *report.Page, c *eval.Confusion, rows string) {
	if c == nil || len(c.Labels) == 0 {
		return
	}
	s := page.Section("Confusion matrix")
	s.Figure(&report.Figure{Name: "confusion", Title: "Truth and prediction",
		Caption: "How many " + rows + " of each class are predicted as each class. On the diagonal they are right.",
		Drawing: report.Confusion(c.Labels, c.Counts)})
	if len(c.Labels) == 2 {
		return
	}
	type mistake struct {
		truth, predicted string
		count, share     float64
	}
	var mistakes []mistake
	for t, row := range c.Counts {
		truth, total := "(unknown)", 0.0
		if t < len(c.Labels) {
			truth = c.Labels[t]
		}
		for _, n := range row {
			total += n
		}
		for p, n := range row {
			if t != p && n > 0 {
				mistakes = append(mistakes, mistake{truth, c.Labels[p], n, n / total})
			}
		}
	}
	slices.SortStableFunc(mistakes, func(a, b mistake) int { return cmp.Compare(b.count, a.count) })
	table := &report.Table{Caption: "The most frequent mistakes", Columns: []report.Column{{Name: "true class"}, {Name: "predicted"},
		{Name: rows, Number: true}, {Name: "share of the class", Number: true}}}
	for _, e := range mistakes[:min(len(mistakes), 10)] {
		table.Rows = append(table.Rows, []string{e.truth, e.predicted, amount(e.count), fmt.Sprintf("%.2f %%", 100*e.share)})
	}
	if len(table.Rows) > 0 {
		s.Table(table)
	}
}

// classesSection is a table of classes or labels. Of many, those with the smallest F1 are shown.
func classesSection(page *report.Page, title string, classes []eval.LabelMetrics) {
	if len(classes) == 0 {
		return
	}
	s := page.Section(title)
	word := strings.ToLower(title)
	t := &report.Table{Caption: "Each of the " + word + " against all else",
		Columns: []report.Column{{Name: word[:len(word)-1]}, {Name: "rows", Number: true}, {Name: "predicted", Number: true},
			{Name: "precision", Number: true}, {Name: "recall", Number: true}, {Name: "F1", Number: true}}}
	if word == "classes" {
		t.Columns[0].Name = "class"
	}
	areas := (word == "labels" || len(classes) > 2) && slices.ContainsFunc(classes, func(l eval.LabelMetrics) bool { return l.AUC != nil })
	if areas {
		t.Columns = append(t.Columns, report.Column{Name: "AUC", Number: true}, report.Column{Name: "PR AUC", Number: true})
	}
	shown := classes
	if len(classes) > mostNamed {
		shown = slices.Clone(classes)
		slices.SortStableFunc(shown, func(a, b eval.LabelMetrics) int { return cmp.Compare(a.F1, b.F1) })
		shown = shown[:mostNamed]
		t.Caption = fmt.Sprintf("The %d of %s %s with the smallest F1, each against all else", mostNamed, units.Count(len(classes)), word)
	}
	for _, l := range shown {
		row := []string{l.Label, amount(l.Rows), amount(l.Predicted), percentText(l.Precision), percentText(l.Recall), percentText(l.F1)}
		if areas {
			row = append(row, areaText(l.AUC), areaText(l.AveragePrecision))
		}
		t.Rows = append(t.Rows, row)
	}
	s.Table(t)
}

func outputsSection(page *report.Page, outputs []eval.OutputMetrics) {
	t := &report.Table{Caption: "Each output", Columns: []report.Column{{Name: "output"}, {Name: "RMSE", Number: true},
		{Name: "MAE", Number: true}, {Name: "median AE", Number: true}, {Name: "max error", Number: true}, {Name: "R²", Number: true}}}
	for _, o := range outputs[:min(len(outputs), mostNamed)] {
		t.Rows = append(t.Rows, []string{o.Name, Number(o.RMSE), Number(o.MAE), Number(o.MedianAE), Number(o.MaxError),
			areaText(o.R2)})
	}
	s := page.Section("Outputs")
	s.Table(t)
	if n := len(outputs) - mostNamed; n > 0 {
		s.Note(fmt.Sprintf("The other %s are in eval --json.", units.Plural(n, "output")))
	}
}
