package render

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/search/approx"
)

// Page is the page of an approximation.
func (a *Approx) Page() *report.Page {
	r, rec := a.Result, a.Recommendation
	page := &report.Page{Title: fmt.Sprintf("Maps for the %s kernel", a.Kernel.Name),
		Subtitle: fmt.Sprintf("%s: all %s pairs of %s, means over %s of each map", filepath.Base(a.Data), units.Count(r.Pairs),
			units.Plural(r.Rows, "row"), units.Plural(r.Seeds, "draw"))}
	if rec != nil {
		s := page.Section("The cheapest map")
		kind := "absolute"
		if rec.Goal.Relative {
			kind = "relative"
		}
		s.Facts(report.Fact{Name: "asked for", Value: fmt.Sprintf("a mean %s error of at most %s", kind, Number(rec.Goal.Error))},
			report.Fact{Name: "take", Value: flagsOf(rec), Remark: fmt.Sprintf("error %s, %.3g µs a row, %s", Number(rec.Offer.Error),
				rec.PerRow, units.Bytes(rec.Bytes))})
		bars := &report.Intervals{X: report.Axis{Name: "microseconds a row"}, Bars: true}
		for i, o := range rec.Offers {
			bar := certain(fmt.Sprintf("%s, D = %s", o.Map, featuresText(o.Features, o.Outputs)), o.PerRow)
			bar.Best = i == 0
			bars.Rows = append(bars.Rows, bar)
		}
		s.Figure(&report.Figure{Name: "offers", Title: "What the error costs",
			Caption: "The time a row takes with each map at the number of features that meets what is asked for.", Drawing: bars})
	}
	s := page.Section("Error, features and time")
	byD := &report.Lines{X: report.Axis{Name: "features D", Log: true, At: measured(r)},
		Y: report.Axis{Name: "mean absolute error of the kernel", Log: true}}
	byTime := &report.Lines{X: report.Axis{Name: "microseconds a row", Log: true}, Y: byD.Y}
	for _, c := range r.Curves {
		d, t := report.Curve{Name: curveName(&c)}, report.Curve{Name: curveName(&c)}
		for _, p := range c.Points {
			d.X, t.X = append(d.X, float64(p.Outputs)), append(t.X, p.PerRow)
			d.Y = append(d.Y, p.MeanAbs.Mean)
			if r.Seeds > 1 {
				d.Low, d.High = append(d.Low, max(p.MeanAbs.Mean-p.MeanAbs.SD, p.MeanAbs.Mean/10)), append(d.High, p.MeanAbs.Mean+p.MeanAbs.SD)
			}
		}
		d.Bars, t.Bars = true, true
		t.Y, t.Low, t.High = d.Y, d.Low, d.High
		byD.Curves, byTime.Curves = append(byD.Curves, d), append(byTime.Curves, t)
	}
	byD.Curves = append(byD.Curves, rateLines(r)...)
	caption := "The mean of |z(x)·z(y) − k(x, y)| over all pairs."
	if r.Seeds > 1 {
		caption += fmt.Sprintf(" Bars are one standard deviation of %d draws to either side.", r.Seeds)
	}
	if text := centredText(r); text != "" {
		caption += " Centred: " + text + "."
	}
	rates := rateTable(r)
	if rates != nil {
		caption += " Dashed lines are the fitted rates of the table; random draws fall like 1/√D, with the exponent −½."
	}
	s.Figure(&report.Figure{Name: "error-against-d", Title: "Error against D", Caption: caption, Drawing: byD})
	s.Figure(&report.Figure{Name: "error-against-time", Title: "Error against time",
		Caption: "The same against the time a row takes in a batch: further left is faster, further down more exact.", Drawing: byTime})
	if rates != nil {
		s.Table(rates)
	}
	pairsSection(page, r)
	all := page.Section("All numbers")
	all.Table(errorTable(r))
	all.Table(matrixTable(r))
	if len(a.Vectors) > 0 {
		page.Section("Projection vectors").Table(vectorTable(a.Vectors))
	}
	if a.Converted != nil {
		page.Section("Converted estimates").Table(a.Converted.table())
	}
	s = page.Section("The kernel and the rows")
	s.Facts(report.Fact{Name: "kernel", Value: a.Kernel.String(), Remark: strings.Join(gramTexts(r), "; ")},
		report.Fact{Name: "scaling", Value: a.Scale, Remark: a.Why["scale"]},
		report.Fact{Name: "data", Value: fmt.Sprintf("%s: %s × %s dimensions", a.Data, units.Plural(a.Total, "row"), units.Count(a.Dim))})
	for _, text := range fewer(r) {
		s.Note("Features " + text + ".")
	}
	for _, skipped := range a.skipped() {
		s.Note("Left out: " + skipped.Reason)
	}
	return page
}

// curveName is what the curve of a map is called in pictures.
func curveName(c *approx.Curve) string {
	if c.Centred {
		return c.Map + " (centred)"
	}
	return c.Map
}

// mostTicks bounds the numbers of features that are ticks of an axis.
const mostTicks = 12

// measured are the numbers of features that maps were measured at, nil if there are too many for an axis.
func measured(r *approx.Result) []float64 {
	var at []float64
	for _, c := range r.Curves {
		for _, p := range c.Points {
			if v := float64(p.Outputs); !slices.Contains(at, v) {
				at = append(at, v)
			}
		}
	}
	if len(at) > mostTicks {
		return nil
	}
	return at
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

// pairsSection draws exact against approximate kernels of the most exact maps.
func pairsSection(page *report.Page, r *approx.Result) {
	const shown = 4
	s := page.Section("Exact against approximate kernel")
	for _, c := range r.Curves[:min(len(r.Curves), shown)] {
		p := &c.Points[len(c.Points)-1]
		var cloud report.Cloud
		for _, q := range p.Pairs {
			cloud.X, cloud.Y = append(cloud.X, q.Exact), append(cloud.Y, q.Estimate)
		}
		x, y := "k(x, y)", "z(x)·z(y)"
		if c.Centred {
			x, y = x+", centred", y+", centred"
		}
		s.Figure(&report.Figure{Name: "pairs-" + c.Map, Title: fmt.Sprintf("%s, D = %s", c.Map, featuresText(p.Features, p.Outputs)),
			Caption: fmt.Sprintf("%s of rows; on the dashed line the map is exact.", units.Plural(len(p.Pairs), "random pair")),
			Drawing: &report.Scatter{X: report.Axis{Name: x}, Y: report.Axis{Name: y}, Diagonal: true,
				Clouds: []report.Cloud{cloud}}})
	}
	if n := len(r.Curves) - shown; n > 0 {
		s.Note(fmt.Sprintf("The %d most exact maps; the other %d are in the table.", shown, n))
	}
}
