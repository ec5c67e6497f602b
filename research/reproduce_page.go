package main

import (
	"fmt"
	"math"

	"mercer/internal/engine/report"
	"mercer/research/papers"
)

// curvesDrawn bounds the curves of a picture; a table of more has several.
const curvesDrawn = 6

// reproducedSection adds a table that was made again in so many seconds to a page: theirs and ours, curves where its
// columns or rows are values of a number, and the points of scatter plots.
func reproducedSection(page *report.Page, r *papers.Result, took float64) error {
	s := page.Section(r.Name + "  " + r.Title)
	s.Facts(report.Fact{Name: "paper", Value: r.Source}, report.Fact{Name: "ours", Value: ranText(r, took)})
	s.Note(r.Protocol)
	t := &report.Table{Caption: r.Corner + ": theirs, and ours with the mark", Columns: []report.Column{{Name: r.Corner}, {}}}
	for _, c := range r.Columns {
		t.Columns = append(t.Columns, report.Column{Name: c, Number: true})
	}
	for i, row := range r.Rows {
		ours, theirs := []string{row.Name, "ours"}, []string{row.Name, "theirs"}
		for j, c := range r.Cells[i] {
			var f papers.Figure
			if row.Theirs != nil {
				f = row.Theirs[j]
			}
			ours, theirs = append(ours, cellText(c, f)), append(theirs, theirsText(f))
		}
		if row.Theirs != nil {
			t.Rows = append(t.Rows, theirs)
			ours[0] = ""
		}
		t.Rows = append(t.Rows, ours)
	}
	s.Table(t)
	if r.Missing != "" {
		return nil
	}
	if c, ok := r.Curves(); ok {
		for i := 0; i < len(c.Curves); i += curvesDrawn {
			s.Figure(curvesFigure(r, c, i, min(i+curvesDrawn, len(c.Curves))))
		}
	}
	if r.Clouds == nil {
		return nil
	}
	clouds, err := r.Clouds()
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	for i, c := range clouds {
		s.Figure(&report.Figure{
			Name: fmt.Sprintf("%s-points-%d", r.Name,
				i+1), Title: c.Name, Caption: "Each point is a pair of rows; on the line an estimate is exact.",
			Drawing: &report.Scatter{
				X: report.Axis{Name: "kernel"}, Y: report.Axis{Name: "estimate"}, Diagonal: true,
				Clouds: []report.Cloud{{Name: "pairs", X: c.Exact, Y: c.Estimate}},
			},
		})
	}
	return nil
}

// curvesFigure draws curves [lo, hi) with a standard deviation around ours, and theirs as dashed lines.
// Axes are logarithmic where the numbers differ by more than one order.
func curvesFigure(r *papers.Result, c papers.Curves, lo, hi int) *report.Figure {
	lines := &report.Lines{X: report.Axis{Name: c.X}, Y: report.Axis{Name: c.Y}}
	var xs, ys []float64
	for _, curve := range c.Curves[lo:hi] {
		xs, ys = append(append(xs, curve.X...), curve.TheirX...), append(append(ys, curve.Mean...), curve.Theirs...)
	}
	lines.X.Log, lines.Y.Log = manyOrders(xs), manyOrders(ys)
	for _, curve := range c.Curves[lo:hi] {
		ours := report.Curve{Name: curve.Name, X: curve.X, Y: curve.Mean, Points: true}
		if r.Seeds > 1 {
			for i, m := range curve.Mean {
				low := m - curve.SD[i]
				if lines.Y.Log {
					low = max(low, m/10)
				}
				ours.Low, ours.High = append(ours.Low, low), append(ours.High, m+curve.SD[i])
			}
		}
		if len(ours.X) > 0 {
			lines.Curves = append(lines.Curves, ours)
		}
		if len(curve.TheirX) > 0 {
			lines.Curves = append(lines.Curves, report.Curve{Name: curve.Name + ", theirs", X: curve.TheirX, Y: curve.Theirs, Points: true,
				Dashed: true})
		}
	}
	f := &report.Figure{Name: r.Name, Title: r.Title, Caption: "Ours, and theirs dashed.", Drawing: lines}
	if len(c.Curves) > curvesDrawn {
		f.Name = fmt.Sprintf("%s-%d", r.Name, lo/curvesDrawn+1)
	}
	if r.Seeds > 1 {
		f.Caption = fmt.Sprintf("Ours with one standard deviation of %d seeds, and theirs dashed.", r.Seeds)
	}
	return f
}

// manyOrders says that numbers are positive and differ by more than a factor of 10.
func manyOrders(v []float64) bool {
	low, high := math.Inf(1), 0.0
	for _, x := range v {
		low, high = min(low, x), max(high, x)
	}
	return low > 0 && high > 10*low
}
