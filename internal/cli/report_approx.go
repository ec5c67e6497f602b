package cli

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"mercer/approx"
	"mercer/internal/report"
)

// approxPage is the report of approx; rec is nil where no error was asked for.
func (a *approximation) page(r *approx.Result, rec *approx.Recommendation) *report.Page {
	page := &report.Page{Title: fmt.Sprintf("Maps for the %s kernel", a.kernel.Name),
		Subtitle: fmt.Sprintf("%s: all %s pairs of %s, means over %s of each map", filepath.Base(a.name), comma(r.Pairs), plural(r.Rows, "row"), plural(r.Seeds, "draw"))}
	if rec != nil {
		s := page.Section("The cheapest map")
		kind := "absolute"
		if rec.Goal.Relative {
			kind = "relative"
		}
		s.Facts(report.Fact{Name: "asked for", Value: fmt.Sprintf("a mean %s error of at most %s", kind, numberText(rec.Goal.Error))},
			report.Fact{Name: "take", Value: flagsOf(rec), Remark: fmt.Sprintf("error %s, %.3g µs a row, %s", numberText(rec.Offer.Error), rec.PerRow, bytesText(rec.Bytes))})
		bars := &report.Intervals{X: report.Axis{Name: "microseconds a row"}, Bars: true}
		for i, o := range rec.Offers {
			bar := certain(fmt.Sprintf("%s, D = %s", o.Map, featuresText(o.Features, o.Outputs)), o.PerRow)
			bar.Best = i == 0
			bars.Rows = append(bars.Rows, bar)
		}
		s.Figure(&report.Figure{Name: "offers", Title: "What the error costs", Caption: "The time a row takes with each map at the number of features that meets what is asked for.", Drawing: bars})
	}
	s := page.Section("Error, features and time")
	byD := &report.Lines{X: report.Axis{Name: "features D", Log: true}, Y: report.Axis{Name: "mean absolute error of the kernel", Log: true}}
	byTime := &report.Lines{X: report.Axis{Name: "microseconds a row", Log: true}, Y: byD.Y}
	for _, c := range r.Curves {
		d, t := report.Curve{Name: c.Map}, report.Curve{Name: c.Map}
		for _, p := range c.Points {
			d.X, d.Y = append(d.X, float64(p.Outputs)), append(d.Y, p.MeanAbs.Mean)
			t.X, t.Y = append(t.X, p.PerRow), append(t.Y, p.MeanAbs.Mean)
		}
		byD.Curves, byTime.Curves = append(byD.Curves, d), append(byTime.Curves, t)
	}
	byD.Curves = append(byD.Curves, rateLines(r)...)
	caption := "The mean of |z(x)·z(y) − k(x, y)| over all pairs."
	rates := rateTable(r)
	if rates != nil {
		caption += " Dashed lines are the fitted rates of the table; random draws fall like 1/√D, with the exponent −½."
	}
	s.Figure(&report.Figure{Name: "error-against-d", Title: "Error against D", Caption: caption, Drawing: byD})
	if rates != nil {
		s.Table(rates)
	}
	s.Figure(&report.Figure{Name: "error-against-time", Title: "Error against time", Caption: "The same against the time a row takes in a batch: further left is faster, further down more exact.", Drawing: byTime})
	a.pairs(page, r)
	all := page.Section("All numbers")
	all.Table(errorTable(r))
	all.Table(matrixTable(r))
	if len(a.drawn) > 0 {
		page.Section("Projection vectors").Table(vectorTable(a.drawn))
	}
	s = page.Section("The kernel and the rows")
	s.Facts(report.Fact{Name: "kernel", Value: a.kernel.String(), Remark: strings.Join(gramTexts(r), "; ")},
		report.Fact{Name: "scaling", Value: a.cfg.Scale, Remark: a.why["scale"]},
		report.Fact{Name: "data", Value: fmt.Sprintf("%s: %s × %s dimensions", a.name, plural(a.total, "row"), comma(a.dim))})
	for _, text := range fewer(r) {
		s.Note("Features " + text + ".")
	}
	for _, skipped := range append(a.left, r.Skipped...) {
		s.Note("Left out: " + skipped.Reason)
	}
	return page
}

// rateLines are the fitted rates of the maps that have some, over the features that were measured.
func rateLines(r *approx.Result) []report.Curve {
	var lines []report.Curve
	for _, c := range r.Curves {
		if c.Rate == nil {
			continue
		}
		from, to := float64(c.Points[0].Outputs), float64(c.Points[len(c.Points)-1].Outputs)
		line := report.Curve{Dashed: true, X: []float64{from, to}, Y: []float64{c.Rate.At(from), c.Rate.At(to)}}
		if len(lines) == 0 {
			line.Name = "fitted rates"
		}
		lines = append(lines, line)
	}
	return lines
}

// pairs draws exact against approximate kernels of the most exact maps.
func (a *approximation) pairs(page *report.Page, r *approx.Result) {
	const shown = 4
	s := page.Section("Exact against approximate kernel")
	for _, c := range r.Curves[:min(len(r.Curves), shown)] {
		p := &c.Points[len(c.Points)-1]
		var cloud report.Cloud
		for _, q := range p.Pairs {
			cloud.X, cloud.Y = append(cloud.X, q.Exact), append(cloud.Y, q.Estimate)
		}
		s.Figure(&report.Figure{Name: "pairs-" + c.Map, Title: fmt.Sprintf("%s, D = %s", c.Map, featuresText(p.Features, p.Outputs)),
			Caption: fmt.Sprintf("%s of rows; on the dashed line the map is exact.", plural(len(p.Pairs), "random pair")),
			Drawing: &report.Scatter{X: report.Axis{Name: "k(x, y)"}, Y: report.Axis{Name: "z(x)·z(y)"}, Diagonal: true, Clouds: []report.Cloud{cloud}}})
	}
	if n := len(r.Curves) - shown; n > 0 {
		s.Note(fmt.Sprintf("The %d most exact maps; the other %d are in the table.", shown, n))
	}
}

// approxColumn is a column of a table of maps and numbers of features.
type approxColumn struct {
	name  string
	text  func(p *approx.Point) string
	value func(p *approx.Point) *float64 // nil: there is no best
}

// approxTable has a row for each map and number of features; the least value of a column is marked.
func approxTable(r *approx.Result, caption string, columns []approxColumn) *report.Table {
	t := &report.Table{Caption: caption, Columns: []report.Column{{Name: "map"}, {Name: "D", Number: true}}}
	for _, c := range columns {
		t.Columns = append(t.Columns, report.Column{Name: c.name, Number: true})
	}
	var points []*approx.Point
	for _, c := range r.Curves {
		for i := range c.Points {
			p := &c.Points[i]
			row := []string{c.Map, featuresText(p.Features, p.Outputs)}
			for _, column := range columns {
				row = append(row, column.text(p))
			}
			t.Rows, points = append(t.Rows, row), append(points, p)
		}
	}
	for j, column := range columns {
		if column.value == nil {
			continue
		}
		best, least := -1, math.Inf(1)
		for i, p := range points {
			if v := column.value(p); v != nil && *v < least {
				best, least = i, *v
			}
		}
		if best >= 0 {
			t.MarkBest(best, 2+j)
		}
	}
	return t
}

// statColumn is the column of a statistic, which may not be defined; the least mean is the best.
func statColumn(name string, of func(p *approx.Point) *approx.Stat, text func(s *approx.Stat) string) approxColumn {
	return approxColumn{name, func(p *approx.Point) string { return text(of(p)) }, func(p *approx.Point) *float64 { return meanOf(of(p)) }}
}

// errorTable is how far maps are from the kernel, pair by pair.
func errorTable(r *approx.Result) *report.Table {
	type point = approx.Point
	sd := approxColumn{"± sd", func(p *point) string { return fmt.Sprintf("%.2g", p.MeanAbs.SD) }, nil}
	if r.Seeds < 2 {
		sd.text = func(*point) string { return "–" }
	}
	return approxTable(r, "Errors over pairs: each map and number of features; the best of each column is marked", []approxColumn{
		statColumn("mean error", func(p *point) *approx.Stat { return &p.MeanAbs }, statText), sd,
		statColumn("largest", func(p *point) *approx.Stat { return &p.MaxAbs }, statText),
		statColumn("relative", func(p *point) *approx.Stat { return p.MeanRel }, percentOf),
		{"share of pairs", func(p *point) string { return percentOf(&p.Within) }, nil},
		statColumn("largest relative", func(p *point) *approx.Stat { return p.MaxRel }, percentOf),
		{"bias", func(p *point) string { return fmt.Sprintf("%+.1g", p.MeanSigned.Mean) }, nil},
	})
}

// matrixTable is how far Gram matrices are from that of the kernel, and what maps cost.
func matrixTable(r *approx.Result) *report.Table {
	type point = approx.Point
	cost := func(name string, of func(p *point) float64) approxColumn {
		return approxColumn{name, func(p *point) string { return short(of(p)) }, func(p *point) *float64 { v := of(p); return &v }}
	}
	return approxTable(r, "The Gram matrix, and the cost", []approxColumn{
		statColumn("Frobenius", func(p *point) *approx.Stat { return p.RelFrobenius }, statText),
		statColumn("distortion", func(p *point) *approx.Stat { return p.Distortion }, statText),
		statColumn("Δ1", func(p *point) *approx.Stat { return p.Delta1 }, statText),
		statColumn("Δ2", func(p *point) *approx.Stat { return p.Delta2 }, statText),
		{"effective dimension", func(p *point) string { return statText(p.Dimension) }, nil},
		cost("µs a row", func(p *point) float64 { return p.PerRow }),
		cost("µs one row", func(p *point) float64 { return p.OneRow }),
		{"memory", func(p *point) string { return bytesText(p.Bytes) }, func(p *point) *float64 { v := float64(p.Bytes); return &v }},
	})
}

// rateTable is how fast errors fall; nil if no map has a rate.
func rateTable(r *approx.Result) *report.Table {
	t := &report.Table{Caption: "Fitted rates: error = c·D^e, ± the standard error of e", Columns: []report.Column{{Name: "map"}}}
	for _, name := range []string{"e of the mean error", "±", "c", "e of the relative error", "±", "c"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Number: true})
	}
	for _, c := range r.Curves {
		if c.Rate == nil && c.RateRel == nil {
			continue
		}
		row := []string{c.Map}
		for _, rate := range []*approx.Rate{c.Rate, c.RateRel} {
			cells := []string{"–", "–", "–"}
			if rate != nil {
				cells[0], cells[2] = fmt.Sprintf("%.2f", rate.Exponent), fmt.Sprintf("%.3g", rate.Constant)
				if rate.SE != nil {
					cells[1] = fmt.Sprintf("%.2f", *rate.SE)
				}
			}
			row = append(row, cells...)
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}
