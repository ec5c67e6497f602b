package render

import (
	"fmt"
	"math"

	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/search/approx"
)

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
		{"memory", func(p *point) string { return units.Bytes(p.Bytes) }, func(p *point) *float64 { v := float64(p.Bytes); return &v }},
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
