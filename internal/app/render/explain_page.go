package render

import (
	"cmp"
	"fmt"
	"slices"

	"mercer/eval"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
)

// classesDrawn bounds the classes in one picture of partial dependence.
const classesDrawn = 6

// ExplainPage is the page of importances, partial dependences and pairs; top bounds the columns and the pairs.
func ExplainPage(e *Explanation, top int) *report.Page {
	imp := e.Importance
	page := &report.Page{Title: "What matters to " + e.Model, Subtitle: "measured on " + e.Data}
	s := page.Section("Which columns matter")
	s.Facts(factLines(e.importanceLines)...)
	shown := imp.Columns[:min(top, len(imp.Columns))]
	for k, measure := range imp.Measures {
		name := measureNames[measure]
		share := measure == "error" || measure == "hamming_loss"
		bars := &report.Intervals{X: report.Axis{Name: "rise of the " + name, Percent: share}, Bars: true}
		for _, c := range shown {
			r := c.Rises[k]
			bars.Rows = append(bars.Rows, report.Interval{Name: c.Column, Value: r.Mean, Low: r.Mean - r.SE, High: r.Mean + r.SE})
		}
		caption := "How much the " + name + " rises if the values of a column are permuted among the rows, with a standard error " +
			"to either side. Columns that say the same share their importance."
		if left := len(imp.Columns) - len(shown); left > 0 {
			caption += fmt.Sprintf(" The first %d of %s columns.", len(shown), units.Count(len(imp.Columns)))
		}
		s.Figure(&report.Figure{Name: "importance-" + measure, Title: "Importance: rise of the " + name, Caption: caption,
			Drawing: bars})
	}
	if e.Dependence != nil && len(e.Dependence.Curves) > 0 {
		s := page.Section("How the prediction changes with a column")
		s.Note(fmt.Sprintf("Each point is the mean %s over %s that all have the value in this column and their own values in all "+
			"others. Grey bars at the foot tell where the data lie; far from them the curve is a guess.",
			predictedMean(e.Dependence), units.Plural(e.Dependence.Rows, "row")))
		for i := range e.Dependence.Curves {
			dependenceFigure(s, e.Dependence, &e.Dependence.Curves[i])
		}
	}
	s = page.Section("Columns that act together")
	if len(e.Pairs) == 0 {
		s.Note(upper(e.NoPairs) + ".")
		return page
	}
	bars := &report.Intervals{X: report.Axis{Name: "strength", From: 0, To: 1}, Bars: true}
	for _, p := range e.Pairs[:min(top, len(e.Pairs))] {
		bars.Rows = append(bars.Rows, certain(p.First+", "+p.Second, p.Strength))
	}
	s.Figure(&report.Figure{Name: "pairs", Title: "Columns that act together", Drawing: bars,
		Caption: "How much the learned function changes along combinations of two columns rather than along each: " +
			"the off-diagonal of the learned metric, divided by the root of the product of the two diagonal elements."})
	return page
}

// predictedMean says what partial dependences are means of, for all outputs.
func predictedMean(d *eval.Dependences) string {
	if len(d.Outputs) == 1 {
		return predictedText(d, 0)
	}
	return map[string]string{"value": "prediction", "probability": "probability of a class", "score": "score of a class"}[d.Of]
}

// upper begins a text with a capital.
func upper(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}

// dependenceFigure draws the partial dependence on a column.
func dependenceFigure(s *report.Section, d *eval.Dependences, c *eval.ColumnDependence) {
	name, percent := "mean "+predictedMean(d), d.Of == "probability"
	figure := &report.Figure{Name: "dependence-" + c.Column, Title: "Dependence on " + ShortLabel(c.Column, listedName)}
	order := make([]int, len(c.Mean))
	for k := range order {
		order[k] = k
	}
	change := func(k int) float64 { return slices.Max(c.Mean[k]) - slices.Min(c.Mean[k]) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(change(b), change(a)) })
	order = order[:min(len(order), classesDrawn)]
	if len(order) < len(c.Mean) {
		figure.Caption = fmt.Sprintf("The %d classes that change most. ", len(order))
	}
	if c.Categories != nil {
		k := order[0]
		dots := &report.Intervals{X: report.Axis{Name: "mean " + predictedText(d, k), Percent: percent}}
		for p, category := range c.Categories {
			dots.Rows = append(dots.Rows, report.Interval{Name: fmt.Sprintf("%s (%s)", ShortLabel(category, listedName), units.Count(c.Rows[p])),
				Value: c.Mean[k][p], Low: c.Low[k][p], High: c.High[k][p]})
		}
		figure.Drawing = dots
		figure.Caption = "A dot is the mean; 80 % of the predictions lie between the ends of its line. Numbers of rows are in brackets."
		if len(c.Mean) > 1 {
			figure.Caption += " The class that changes most."
		}
		s.Figure(figure)
		return
	}
	lines := &report.Lines{X: report.Axis{Name: ShortLabel(c.Column, listedName)}, Y: report.Axis{Name: name, Percent: percent}}
	slices.Sort(order)
	for _, k := range order {
		curve := report.Curve{Name: d.Outputs[k], X: c.Values, Y: c.Mean[k]}
		if len(c.Mean) == 1 {
			curve.Low, curve.High = c.Low[k], c.High[k]
		}
		lines.Curves = append(lines.Curves, curve)
	}
	lines.Edges, lines.Counts = cells(c)
	if len(c.Mean) == 1 {
		figure.Caption += "The line is the mean; 80 % of the predictions lie in the band."
	} else {
		figure.Caption += "The mean for each class."
	}
	figure.Drawing = lines
	s.Figure(figure)
}

// cells are the edges halfway between the points of a curve, and the rows between them.
func cells(c *eval.ColumnDependence) (edges, counts []float64) {
	n := len(c.Values)
	if n < 2 {
		return nil, nil
	}
	edges = append(edges, c.Values[0]-(c.Values[1]-c.Values[0])/2)
	for p, v := range c.Values[1:] {
		edges = append(edges, (c.Values[p]+v)/2)
	}
	edges = append(edges, c.Values[n-1]+(c.Values[n-1]-c.Values[n-2])/2)
	for _, rows := range c.Rows {
		counts = append(counts, float64(rows))
	}
	return edges, counts
}

// rowsOnPage bounds the rows on a page of contributions.
const rowsOnPage = 20

// Page is the page of contributions; top bounds the columns of a row.
func (c *Contributions) Page(top int) *report.Page {
	page := &report.Page{Title: "What " + c.Model + " goes by",
		Subtitle: "contributions of the columns to single rows of " + c.Data}
	page.Section("Contributions").Note(fmt.Sprintf("The base is the mean score of %s of %s. The contributions of all columns, "+
		"added to the base, are the score of the row: to the right of 0 what raises it, to the left what lowers it.",
		units.Plural(c.Background, "row"), c.BackgroundData))
	for i := range c.Rows[:min(len(c.Rows), rowsOnPage)] {
		r := &c.Rows[i]
		base, score, parts, others, left := c.shown(r, top)
		s := page.Section(fmt.Sprintf("Row %s: %s", units.Count(r.Row), ShortLabel(r.Prediction, listedName)))
		s.Facts(report.Fact{Name: r.of(), Value: Number(score)}, report.Fact{Name: "base", Value: Number(base)})
		bars := &report.Intervals{X: report.Axis{Name: "contribution to the " + r.of()}, Bars: true, Marks: []report.Mark{{X: 0}}}
		for _, p := range parts {
			bars.Rows = append(bars.Rows, report.Interval{Name: fmt.Sprintf("%s = %s", ShortLabel(p.name, 24), ShortLabel(p.input, 24)),
				Value: p.value, Low: p.value - p.se, High: p.value + p.se})
		}
		if left > 0 {
			bars.Rows = append(bars.Rows, certain(fmt.Sprintf("%s more", units.Plural(left, "column")), others))
		}
		caption := "The columns that contribute most, with a standard error of the permutations to either side."
		if r.Exact {
			caption = "The columns that contribute most, computed exactly."
		}
		s.Figure(&report.Figure{Name: fmt.Sprintf("row-%d", r.Row), Title: fmt.Sprintf("Row %s", units.Count(r.Row)), Caption: caption,
			Drawing: bars})
	}
	if left := len(c.Rows) - rowsOnPage; left > 0 {
		page.Section("Further rows").Note(fmt.Sprintf("%s more are not shown here.", units.Plural(left, "row")))
	}
	return page
}
