package render

import (
	"cmp"
	"fmt"
	"slices"

	"mercer/eval"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
)

// hardest are the curves with the smallest areas, in their own order.
func hardest(curves []eval.Curve) []eval.Curve {
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
	var list []eval.Curve
	for _, i := range order {
		list = append(list, curves[i])
	}
	return list
}

// namedCurves are curves with the names of their classes.
func namedCurves(curves []eval.Curve) []report.Curve {
	var list []report.Curve
	for _, c := range curves {
		list = append(list, report.Curve{Name: c.Label, X: c.X, Y: c.Y})
	}
	return list
}

// curvesSection draws the curves of scores. Where the second of two classes is rare, precision and recall come first.
func curvesSection(page *report.Page, m *eval.Metrics, task, rows string) {
	c := m.Curves
	s := page.Section("Scores and probabilities")
	of := "of each class against the rest"
	if task == "multilabel" {
		of = "of each label"
	}
	if len(c.ROC) > mostCurves {
		of += fmt.Sprintf(", the %d of %s with the smallest areas", mostCurves, units.Count(len(c.ROC)))
	}
	if len(c.ROC) == 1 {
		of = "of the class " + c.ROC[0].Label
	}
	share := func(name string) report.Axis { return report.Axis{Name: name, To: 1, Percent: true} }
	figures := []*report.Figure{rocFigure(m, of, rows, share), precisionFigure(m, of, rows, share)}
	if rare(m) {
		slices.Reverse(figures)
	}
	for _, f := range figures {
		if f != nil {
			s.Figure(f)
		}
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

// rocFigure is the ROC curve, nil if there is none.
func rocFigure(m *eval.Metrics, of, rows string, share func(string) report.Axis) *report.Figure {
	c := m.Curves.ROC
	if len(c) == 0 {
		return nil
	}
	one := ""
	if len(c) == 1 {
		one = fmt.Sprintf(" Its area is %.4f.", c[0].Area)
	}
	return &report.Figure{Name: "roc", Title: "ROC curve",
		Caption: "The share of positive " + rows + " that are found against the share of negative ones taken for positive, " + of +
			", as the threshold of the score falls. Chance is the dashed line." + one,
		Drawing: &report.Lines{X: share("false positive rate"), Y: share("true positive rate"), Curves: namedCurves(hardest(c)), Diagonal: true}}
}

// precisionFigure is the curve of precision against recall, with the point that is predicted; nil if there is none.
func precisionFigure(m *eval.Metrics, of, rows string, share func(string) report.Axis) *report.Figure {
	c := m.Curves.PR
	if len(c) == 0 {
		return nil
	}
	lines := &report.Lines{X: share("recall"), Y: share("precision"), Curves: namedCurves(hardest(c))}
	one := ""
	if len(c) == 1 {
		one = fmt.Sprintf(" Its area, the average precision, is %.4f. Chance, dashed, is %.4f.", c[0].Area, c[0].Share)
		lines.Curves = append(lines.Curves, report.Curve{Name: "chance", X: []float64{0, 1}, Y: []float64{c[0].Share, c[0].Share}, Dashed: true})
		if p, r := m.Precision, m.Recall; p != nil && r != nil && *r > 0 {
			lines.Curves = append(lines.Curves, report.Curve{Name: "as predicted", X: []float64{*r}, Y: []float64{*p}, Points: true})
			one += fmt.Sprintf(" Predictions have a precision of %s and a recall of %s.", percentText(*p), percentText(*r))
		}
	}
	return &report.Figure{Name: "precision-recall", Title: "Precision and recall",
		Caption: "The share of the predictions that are right against the share of positive " + rows + " that are found, " + of + "." + one,
		Drawing: lines}
}

func residualsSection(page *report.Page, r *eval.Residuals, named bool, rows string) {
	title, file := "Residuals", ""
	if named {
		title, file = "Residuals of "+r.Name, "-"+r.Name
	}
	s := page.Section(title)
	s.Figure(&report.Figure{Name: "prediction" + file, Title: "Prediction against truth",
		Caption: fmt.Sprintf("Each point is one of %s %s; on the dashed line predictions are exact.", units.Count(len(r.Truth)), rows),
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
	h := &report.Histogram{X: report.Axis{Name: "prediction − truth"}, What: rows, Counts: r.Counts,
		Marks: []report.Mark{{X: 0, Name: "exact"}}}
	for i := range len(r.Counts) + 1 {
		h.Edges = append(h.Edges, r.Start+float64(i)*r.Width)
	}
	beyond := ""
	if r.Below+r.Above > 0 {
		beyond = fmt.Sprintf(" %s below and %s above are not shown.", amount(r.Below), amount(r.Above))
	}
	s.Figure(&report.Figure{Name: "residuals" + file, Title: "Residuals", Caption: "How many " + rows + " are how far off." + beyond,
		Drawing: h})
}
