package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mercer/internal/report"
	"mercer/lab"
)

// evaluationPage adds what an evaluation found out to a page: metrics, confusion matrix and
// curves. rows is the word for what is predicted.
func evaluationPage(page *report.Page, m *lab.Metrics, task, rows string) {
	s := page.Section("How good it is")
	s.Table(metricsTable(m, task, rows))
	if m.Unknown > 0 {
		s.Note(fmt.Sprintf("%s of labels that the model does not know count as errors; ranking and probabilities leave them out.", plural(m.Unknown, rows[:len(rows)-1])))
	}
	confusionSection(page, m.Confusion, rows)
	classesSection(page, "Classes", m.Classes)
	classesSection(page, "Labels", m.Labels)
	if len(m.Outputs) > 1 {
		outputsSection(page, m.Outputs)
	}
	if c := m.Curves; c != nil {
		curvesSection(page, c, task, rows)
		for i := range c.Residuals {
			if i == mostCurves {
				page.Section("Residuals").Note(fmt.Sprintf("The other %s are not drawn.", plural(len(c.Residuals)-i, "output")))
				break
			}
			residualsSection(page, &c.Residuals[i], len(c.Residuals) > 1, rows)
		}
	}
}

// headline is the metric that matters most for a task, in words; "" if there is none.
func headline(m *lab.Metrics, task string) string {
	metric, err := lab.MetricOf("", task)
	if err != nil || metric.Value(m) == nil {
		return ""
	}
	return metric.Title + " " + metricText(metric, m)
}

func metricsTable(m *lab.Metrics, task, rows string) *report.Table {
	t := &report.Table{Caption: fmt.Sprintf("Metrics of %s %s", comma(m.N), rows), Columns: []report.Column{{Name: "metric"}, {Name: "value", Number: true}, {Name: "what it is"}}}
	for _, name := range lab.MetricNames(task) {
		metric, err := lab.MetricNamed(name)
		if err != nil {
			continue
		}
		v := metric.Value(m)
		switch {
		case v == nil,
			name == "pinball" && m.Quantile != nil && *m.Quantile == 0.5: // half of MAE
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

func confusionSection(page *report.Page, c *lab.Confusion, rows string) {
	if c == nil || len(c.Labels) == 0 {
		return
	}
	s := page.Section("What is taken for what")
	s.Figure(&report.Figure{Name: "confusion", Title: "Confusion matrix",
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
	table := &report.Table{Caption: "The most frequent mistakes", Columns: []report.Column{{Name: "true class"}, {Name: "taken for"}, {Name: rows, Number: true}, {Name: "share of the class", Number: true}}}
	for _, e := range mistakes[:min(len(mistakes), 10)] {
		table.Rows = append(table.Rows, []string{e.truth, e.predicted, amount(e.count), fmt.Sprintf("%.2f %%", 100*e.share)})
	}
	if len(table.Rows) > 0 {
		s.Table(table)
	}
}

// classesSection is a table of classes or labels. Of many, those with the smallest F1 are shown.
func classesSection(page *report.Page, title string, classes []lab.LabelMetrics) {
	if len(classes) == 0 {
		return
	}
	s := page.Section(title)
	word := strings.ToLower(title)
	t := &report.Table{Caption: "Each of the " + word + " against all else",
		Columns: []report.Column{{Name: word[:len(word)-1]}, {Name: "rows", Number: true}, {Name: "predicted", Number: true}, {Name: "precision", Number: true}, {Name: "recall", Number: true}, {Name: "F1", Number: true}}}
	if word == "classes" {
		t.Columns[0].Name = "class"
	}
	areas := slices.ContainsFunc(classes, func(l lab.LabelMetrics) bool { return l.AUC != nil })
	if areas {
		t.Columns = append(t.Columns, report.Column{Name: "AUC", Number: true}, report.Column{Name: "PR AUC", Number: true})
	}
	shown := classes
	if len(classes) > mostNamed {
		shown = slices.Clone(classes)
		slices.SortStableFunc(shown, func(a, b lab.LabelMetrics) int { return cmp.Compare(a.F1, b.F1) })
		shown = shown[:mostNamed]
		t.Caption = fmt.Sprintf("The %d of %s %s with the smallest F1, each against all else", mostNamed, comma(len(classes)), word)
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

func percentText(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

func outputsSection(page *report.Page, outputs []lab.OutputMetrics) {
	t := &report.Table{Caption: "Each output", Columns: []report.Column{{Name: "output"}, {Name: "RMSE", Number: true}, {Name: "MAE", Number: true}, {Name: "median AE", Number: true}, {Name: "max error", Number: true}, {Name: "R²", Number: true}}}
	for _, o := range outputs[:min(len(outputs), mostNamed)] {
		t.Rows = append(t.Rows, []string{o.Name, numberText(o.RMSE), numberText(o.MAE), numberText(o.MedianAE), numberText(o.MaxError), areaText(o.R2)})
	}
	s := page.Section("Outputs")
	s.Table(t)
	if n := len(outputs) - mostNamed; n > 0 {
		s.Note(fmt.Sprintf("The other %s are in eval --json.", plural(n, "output")))
	}
}

// hardest are the curves with the smallest areas, in their own order.
func hardest(curves []lab.Curve) []lab.Curve {
	if len(curves) <= mostCurves {
		return curves
	}
	order := make([]int, len(curves))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(curves[a].Area, curves[b].Area) })
	order = order[:mostCurves]
	slices.Sort(order)
	var list []lab.Curve
	for _, i := range order {
		list = append(list, curves[i])
	}
	return list
}

// areaCurves are curves with their areas in their names.
func areaCurves(curves []lab.Curve) []report.Curve {
	var list []report.Curve
	for _, c := range curves {
		list = append(list, report.Curve{Name: fmt.Sprintf("%s, area %.4f", c.Label, c.Area), X: c.X, Y: c.Y})
	}
	return list
}

func curvesSection(page *report.Page, c *lab.Curves, task, rows string) {
	s := page.Section("Scores and probabilities")
	of := "of each class against the rest"
	if task == "multilabel" {
		of = "of each label"
	}
	if len(c.ROC) > mostCurves {
		of += fmt.Sprintf(", the %d of %s with the smallest areas", mostCurves, comma(len(c.ROC)))
	}
	if len(c.ROC) == 1 {
		of = "of the class " + c.ROC[0].Label
	}
	share := func(name string) report.Axis { return report.Axis{Name: name, To: 1, Percent: true} }
	if len(c.ROC) > 0 {
		one := ""
		if len(c.ROC) == 1 {
			one = fmt.Sprintf(" The area below is %.4f.", c.ROC[0].Area)
		}
		s.Figure(&report.Figure{Name: "roc", Title: "ROC curve",
			Caption: "The share of positive " + rows + " that are found against the share of negative ones taken for positive, " + of + ", as the threshold of the score falls." + one + " Chance is the dashed line.",
			Drawing: &report.Lines{X: share("false positive rate"), Y: share("true positive rate"), Curves: areaCurves(hardest(c.ROC)), Diagonal: true}})
	}
	if len(c.PR) > 0 {
		lines := &report.Lines{X: share("recall"), Y: share("precision"), Curves: areaCurves(hardest(c.PR))}
		one := ""
		if len(c.PR) == 1 {
			one = fmt.Sprintf(" The average precision is %.4f; chance, dashed, is %.4f.", c.PR[0].Area, c.PR[0].Share)
			lines.Curves = append(lines.Curves, report.Curve{Name: "chance", X: []float64{0, 1}, Y: []float64{c.PR[0].Share, c.PR[0].Share}, Dashed: true})
		}
		s.Figure(&report.Figure{Name: "precision-recall", Title: "Precision and recall",
			Caption: "The share of the predictions that are right against the share of positive " + rows + " that are found, " + of + "." + one,
			Drawing: lines})
	}
	if len(c.Calibration) > 0 {
		observed := report.Curve{Name: "this model", Points: true}
		edges, counts := []float64{0}, []float64{}
		const bins = 15
		for i := range bins {
			edges, counts = append(edges, float64(i+1)/bins), append(counts, 0)
		}
		for _, b := range c.Calibration {
			observed.X, observed.Y = append(observed.X, b.Predicted), append(observed.Y, b.Observed)
			counts[min(int(b.Predicted*bins), bins-1)] += b.Rows
		}
		what := "of the likeliest class"
		if len(c.ROC) == 1 {
			what = "of the class " + c.ROC[0].Label
		} else if task == "multilabel" {
			what = "of each label"
		}
		s.Figure(&report.Figure{Name: "calibration", Title: "Calibration",
			Caption: "How often what was predicted came true, against its probability " + what + ". A calibrated model lies on the dashed line.",
			Drawing: &report.Lines{X: share("probability"), Y: share("share that came true"), Curves: []report.Curve{observed}, Diagonal: true}})
		s.Figure(&report.Figure{Name: "probabilities", Title: "Probabilities",
			Caption: "How many " + rows + " have which probability " + what + ".",
			Drawing: &report.Histogram{X: share("probability"), What: rows, Edges: edges, Counts: counts}})
	}
}

func residualsSection(page *report.Page, r *lab.Residuals, named bool, rows string) {
	title, file := "Residuals", ""
	if named {
		title, file = "Residuals of "+r.Name, "-"+r.Name
	}
	s := page.Section(title)
	s.Figure(&report.Figure{Name: "prediction" + file, Title: "Prediction against truth",
		Caption: fmt.Sprintf("Each point is one of %s %s; on the dashed line predictions are exact.", comma(len(r.Truth)), rows),
		Drawing: &report.Scatter{X: report.Axis{Name: "truth"}, Y: report.Axis{Name: "prediction"}, Diagonal: true,
			Clouds: []report.Cloud{{X: r.Truth, Y: r.Predicted}}}})
	errors := make([]float64, len(r.Truth))
	for i := range errors {
		errors[i] = r.Predicted[i] - r.Truth[i]
	}
	s.Figure(&report.Figure{Name: "residuals-against-prediction" + file, Title: "Residual against prediction",
		Caption: "Prediction minus truth of the same " + rows + ". A pattern is something that the model has not learned.",
		Drawing: &report.Scatter{X: report.Axis{Name: "prediction"}, Y: report.Axis{Name: "prediction − truth"}, Zero: true,
			Clouds: []report.Cloud{{X: r.Predicted, Y: errors}}}})
	if len(r.Counts) == 0 {
		return
	}
	h := &report.Histogram{X: report.Axis{Name: "prediction − truth"}, What: rows, Counts: r.Counts, Marks: []report.Mark{{X: 0, Name: "exact"}}}
	for i := range len(r.Counts) + 1 {
		h.Edges = append(h.Edges, r.Start+float64(i)*r.Width)
	}
	beyond := ""
	if r.Below+r.Above > 0 {
		beyond = fmt.Sprintf(" %s below and %s above are not shown.", amount(r.Below), amount(r.Above))
	}
	s.Figure(&report.Figure{Name: "residuals" + file, Title: "Residuals", Caption: "How many " + rows + " are how far off." + beyond, Drawing: h})
}
