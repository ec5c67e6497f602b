package main

import (
	"fmt"
	"math"
	"path/filepath"

	"mercer/approx"
	"mercer/report"
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
	byD.Curves = append(byD.Curves, rootLine(r)...)
	s.Figure(&report.Figure{Name: "error-against-d", Title: "Error against D", Caption: "The mean of |z(x)·z(y) − k(x, y)| over all pairs. The dashed line falls like 1/√D.", Drawing: byD})
	s.Figure(&report.Figure{Name: "error-against-time", Title: "Error against time", Caption: "The same against the time a row takes in a batch: further left is faster, further down more exact.", Drawing: byTime})
	a.pairs(page, r)
	page.Section("All numbers").Table(approxTable(r))
	s = page.Section("The kernel and the rows")
	s.Facts(report.Fact{Name: "kernel", Value: a.kernel.String()},
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

// rootLine falls like 1/√D from the first point of the middle curve that has more than one.
func rootLine(r *approx.Result) []report.Curve {
	var several []approx.Curve
	for _, c := range r.Curves {
		if len(c.Points) > 1 && c.Points[0].MeanAbs.Mean > 0 {
			several = append(several, c)
		}
	}
	if len(several) == 0 {
		return nil
	}
	c := several[len(several)/2]
	first, last := &c.Points[0], &c.Points[len(c.Points)-1]
	from, to := float64(first.Outputs), float64(last.Outputs)
	return []report.Curve{{Name: "1/√D", Dashed: true, X: []float64{from, to}, Y: []float64{first.MeanAbs.Mean, first.MeanAbs.Mean * math.Sqrt(from/to)}}}
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

func approxTable(r *approx.Result) *report.Table {
	t := &report.Table{Caption: "Each map and number of features; the best of each column is marked", Columns: []report.Column{{Name: "map"}}}
	for _, name := range []string{"D", "mean error", "± sd", "largest", "relative", "Frobenius", "distortion", "Δ1", "Δ2", "µs a row", "memory"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Number: true})
	}
	best := map[int][2]float64{} // of a column: row, value
	note := func(column int, v float64) {
		if b, there := best[column]; !there || v < b[1] {
			best[column] = [2]float64{float64(len(t.Rows)), v}
		}
	}
	for _, c := range r.Curves {
		for i := range c.Points {
			p := &c.Points[i]
			note(2, p.MeanAbs.Mean)
			note(10, p.PerRow)
			row := []string{c.Map, featuresText(p.Features, p.Outputs), fmt.Sprintf("%.3g", p.MeanAbs.Mean), fmt.Sprintf("%.2g", p.MeanAbs.SD), fmt.Sprintf("%.3g", p.MaxAbs.Mean)}
			for k, s := range []*approx.Stat{p.MeanRel, p.RelFrobenius, p.Distortion, p.Delta1, p.Delta2} {
				text := "–"
				if s != nil {
					note(5+k, s.Mean)
					text = fmt.Sprintf("%.3g", s.Mean)
				}
				row = append(row, text)
			}
			t.Rows = append(t.Rows, append(row, fmt.Sprintf("%.3g", p.PerRow), bytesText(p.Bytes)))
		}
	}
	for column, b := range best {
		t.MarkBest(int(b[0]), column)
	}
	return t
}
