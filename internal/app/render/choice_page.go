package render

import (
	"cmp"
	"fmt"
	"slices"

	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/solve/learn"
	"mercer/model"
)

// path is a parameter that was tried at several values, with a measure at each.
type path struct {
	parameter, measure string
	at, values         []float64
	chosen             float64
	percent            bool
}

// figure draws the path in the order of the parameter.
func (v *path) figure(name, title, caption string) *report.Figure {
	order := make([]int, len(v.at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.at[a], v.at[b]) })
	curve := report.Curve{Name: v.measure, Points: true}
	for _, i := range order {
		curve.X, curve.Y = append(curve.X, v.at[i]), append(curve.Y, v.values[i])
	}
	return &report.Figure{Name: name, Title: title, Caption: caption, Drawing: &report.Lines{
		X: report.Axis{Name: v.parameter, Log: true}, Y: report.Axis{Name: v.measure, Percent: v.percent},
		Curves: []report.Curve{curve},
		Marks:  []report.Mark{{X: v.chosen, Name: fmt.Sprintf("chosen: %.3g", v.chosen)}}}}
}

// choiceSection adds the values of λ, C and the like that were tried, and what came of them.
func choiceSection(page *report.Page, info *model.Info) {
	s, t := page.Section("Choice of parameters"), &info.Training
	if r, ok := t.Report.(*learn.RidgeReport); ok && len(r.Path) > 0 {
		s.Figure(ridgePath(r, info.Task != "regress"))
		s.Table(ridgeTable(r))
	}
	if r, ok := t.Report.(*learn.LassoReport); ok && len(r.Path) > 0 {
		v := path{parameter: "λ", measure: "mean squared error, held out", chosen: r.Lambda}
		weights := v
		weights.measure = "non-zero weights"
		for _, p := range r.Path {
			v.at, v.values = append(v.at, p.Lambda), append(v.values, p.Error)
			weights.at, weights.values = append(weights.at, p.Lambda), append(weights.values, float64(p.Weights))
		}
		s.Figure(v.figure("lambda", "Path of λ", fmt.Sprintf("The error on %s held-out rows for each λ.", units.Count(r.HeldOut))))
		s.Figure(weights.figure("weights", "Weights along the path", "The number of non-zero weights for each λ."))
	}
	if r, ok := t.Report.(*learn.SVMReport); ok {
		cPath(s, r.Path, r.C, true)
	}
	if r, ok := t.Report.(*learn.SVRReport); ok {
		cPath(s, r.Path, r.C, false)
	}
	if r, ok := t.Report.(*learn.PrimalReport); ok {
		trials(s, r.Path, r.C)
	}
	if r, ok := t.Report.(*learn.L1Report); ok {
		trials(s, r.Path, r.C)
	}
	if r, ok := t.Report.(*learn.OnlineReport); ok && len(r.Progressive) > 0 {
		loss := path{parameter: "rows learned", measure: "mean loss"}
		wrong := path{parameter: "rows learned", measure: "error", percent: true}
		for _, p := range r.Progressive {
			loss.at, loss.values = append(loss.at, float64(p.Rows)), append(loss.values, p.Loss)
			if p.Error != nil {
				wrong.at, wrong.values = append(wrong.at, float64(p.Rows)), append(wrong.values, *p.Error)
			}
		}
		for _, v := range []path{loss, wrong} {
			if len(v.at) > 0 {
				f := v.figure("progressive-"+v.measure, "Progressive validation: "+v.measure,
					"The "+v.measure+" over the rows so far, each predicted before the model learned it.")
				f.Drawing.(*report.Lines).Marks = nil
				s.Figure(f)
			}
		}
	}
	if r := t.Reduction; r != nil && len(r.Variances) > 0 {
		c := report.Curve{Name: "explained variance"}
		sum := 0.0
		for i, v := range r.Variances {
			sum += v
			c.X, c.Y = append(c.X, float64(i+1)), append(c.Y, sum/r.Variance)
		}
		title, caption := "Principal components", "The share of the features' variance that the first components explain together."
		if r.Discriminants() {
			title, caption = "Linear discriminants", "The share of the variance between classes, in units of that within them, that the first discriminants explain together."
		}
		s.Figure(&report.Figure{Name: "components", Title: title, Caption: caption,
			Drawing: &report.Lines{X: report.Axis{Name: "components", Log: len(c.X) > 50},
				Y: report.Axis{Name: "explained variance", Percent: true, To: 1}, Curves: []report.Curve{c}}})
	}
}

func ridgePath(r *learn.RidgeReport, classes bool) *report.Figure {
	how := map[string]string{"held-out": "on held-out rows", "folds": "over folds", "gcv": "by generalised cross-validation",
		"loo": "by leave-one-out", "evidence": "by generalised cross-validation"}[r.By]
	chosen := report.Curve{Name: "mean squared error " + how, Points: true}
	loo, gcv := report.Curve{Name: "leave-one-out"}, report.Curve{Name: "generalised cross-validation"}
	best := r.Lambda
	for _, p := range r.Path {
		if p.Chosen {
			best = p.Lambda
		}
		chosen.X, chosen.Y = append(chosen.X, p.Lambda), append(chosen.Y, p.Error)
		if p.LOO != nil {
			loo.X, loo.Y = append(loo.X, p.Lambda), append(loo.Y, *p.LOO)
		}
		if p.GCV != nil {
			gcv.X, gcv.Y = append(gcv.X, p.Lambda), append(gcv.Y, *p.GCV)
		}
	}
	lines := &report.Lines{X: report.Axis{Name: "λ", Log: true}, Y: report.Axis{Name: "mean squared error"}, Curves: []report.Curve{chosen},
		Marks: []report.Mark{{X: best, Name: fmt.Sprintf("chosen: %.3g", best)}}}
	if len(loo.X) > 0 && r.By != "loo" {
		lines.Curves = append(lines.Curves, loo)
	}
	if len(gcv.X) > 0 && r.By != "gcv" && r.By != "evidence" {
		lines.Curves = append(lines.Curves, gcv)
	}
	caption := "The mean squared error " + how + " for each λ"
	if classes {
		caption += ", the targets being −1 and 1"
	}
	caption += "."
	if best != r.Lambda {
		caption += fmt.Sprintf(" The model, fitted to all rows, has λ = %.3g.", r.Lambda)
	}
	return &report.Figure{Name: "lambda", Title: "Path of λ", Caption: caption, Drawing: lines}
}

// ridgeTable has the numbers of ridgePath, with the effective parameters.
func ridgeTable(r *learn.RidgeReport) *report.Table {
	t := &report.Table{Caption: "Path of λ", Columns: []report.Column{{Name: "λ", Number: true},
		{Name: "mean squared error", Number: true}, {Name: "effective parameters", Number: true}, {Name: "−2 log evidence", Number: true}}}
	some := [4]bool{true, true}
	for i, p := range r.Path {
		row := []string{fmt.Sprintf("%.3g", p.Lambda), Number(p.Error), "", ""}
		if p.Parameters > 0 {
			row[2], some[2] = Number(p.Parameters), true
		}
		if p.Evidence != nil {
			row[3], some[3] = Number(*p.Evidence), true
		}
		t.Rows = append(t.Rows, row)
		if p.Chosen {
			t.MarkBest(i, 1)
		}
	}
	// Columns without a number go, the last first.
	for j := 3; j >= 2 && !some[j]; j-- {
		t.Columns = t.Columns[:j]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:j]
		}
	}
	return t
}

func cPath(s *report.Section, points []learn.CPoint, chosen float64, share bool) {
	if len(points) == 0 {
		return
	}
	v := path{parameter: "C", measure: "error on held-out rows", chosen: chosen, percent: share}
	if !share {
		v.measure = "loss on held-out rows"
	}
	for _, p := range points {
		v.at, v.values = append(v.at, p.C), append(v.values, p.Error)
	}
	s.Figure(v.figure("c", "Path of C", "The "+v.measure+" for each C."))
}

func trials(s *report.Section, list []learn.Trial, chosen float64) {
	wrong := path{parameter: "C", measure: "error on held-out rows", chosen: chosen, percent: true}
	loss := path{parameter: "C", measure: "log loss on held-out rows", chosen: chosen}
	for _, p := range list {
		wrong.at, wrong.values = append(wrong.at, p.C), append(wrong.values, p.Error)
		if p.LogLoss > 0 {
			loss.at, loss.values = append(loss.at, p.C), append(loss.values, p.LogLoss)
		}
	}
	if len(loss.at) > 0 {
		s.Figure(loss.figure("c-log-loss", "Log loss against C", "The log loss on held-out rows for each C."))
	}
	if len(wrong.at) > 0 {
		s.Figure(wrong.figure("c-error", "Error against C", "The error on held-out rows for each C."))
	}
}
