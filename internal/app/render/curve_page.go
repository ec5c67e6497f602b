package render

import (
	"fmt"
	"math"

	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/search"
)

// CurvePage is the page of learning curves; data names the rows.
func CurvePage(c *search.Curve, data string) *report.Page {
	name := map[string]string{"error": "error", "rmse": "RMSE", "hamming": "wrong labels"}[c.Metric]
	percent := c.Metric != "rmse"
	page := &report.Page{Title: "Learning curve of " + data,
		Subtitle: fmt.Sprintf("%s; %s, tested on %s rows", search.Describe(c.Config), seedsText(c.Seeds), units.Count(c.Held))}
	y := report.Axis{Name: name, Percent: percent, Log: true}
	if !percent {
		y.Name += " of test and training rows"
	}
	rows := page.Section("More rows")
	lines := curveLines(c.ByRows, y, report.Axis{Name: "training rows n", Log: true},
		func(p search.CurvePoint) float64 { return float64(p.Rows) })
	if n := len(c.Extrapolated); c.RowsLaw != nil && n > 0 {
		lines.Curves = append(lines.Curves, lawCurve(c.RowsLaw, float64(c.ByRows[0].Rows), float64(c.Extrapolated[n-1].Rows)))
	}
	rows.Figure(&report.Figure{Name: "error-against-rows", Title: "Error against rows", Drawing: lines,
		Caption: "Bands are a standard deviation wide to either side. The dashed line is the law fitted to the test errors; beyond " +
			"the last point it is extrapolated."})
	rows.Table(curveTable(c.ByRows, c.Extrapolated, name, percent, c.Seeds))
	if c.RowsLaw != nil {
		rows.Note(lawText(c.RowsLaw, "n", percent) + " More rows do not help against the first number.")
	}
	if len(c.ByFeatures) > 0 {
		features := page.Section("More features")
		lines := curveLines(c.ByFeatures, y, report.Axis{Name: "features D", Log: true},
			func(p search.CurvePoint) float64 { return float64(p.Features) })
		if c.FeaturesLaw != nil {
			lines.Curves = append(lines.Curves, lawCurve(c.FeaturesLaw, float64(c.ByFeatures[0].Features),
				float64(c.ByFeatures[len(c.ByFeatures)-1].Features)))
		}
		features.Figure(&report.Figure{Name: "error-against-features", Title: "Error against features", Drawing: lines,
			Caption: fmt.Sprintf("All with %s training rows.", units.Count(c.ByFeatures[0].Rows))})
		features.Table(curveTable(c.ByFeatures, nil, name, percent, c.Seeds))
	}
	seconds := page.Section("Error against time")
	time := &report.Lines{X: report.Axis{Name: "seconds of a training", Log: true}, Y: y}
	for _, part := range []struct {
		name   string
		points []search.CurvePoint
	}{{"growing rows", c.ByRows}, {"growing features", c.ByFeatures}} {
		line := report.Curve{Name: part.name, Points: true}
		for _, p := range part.points {
			line.X, line.Y = append(line.X, p.Seconds), append(line.Y, p.Test)
		}
		if len(line.X) > 0 {
			time.Curves = append(time.Curves, line)
		}
	}
	caption := "Further left is faster, further down better."
	if c.SecondsExponent > 0 {
		caption += fmt.Sprintf(" With n rows a training takes about %.2g·n^%.2g seconds.", c.SecondsFactor, c.SecondsExponent)
	}
	seconds.Figure(&report.Figure{Name: "error-against-seconds", Title: "Test error against seconds", Drawing: time, Caption: caption})
	return page
}

// curveLines draws the training and the test errors with bands.
func curveLines(points []search.CurvePoint, y, x report.Axis, at func(search.CurvePoint) float64) *report.Lines {
	test, train := report.Curve{Name: "test", Points: true}, report.Curve{Name: "training", Points: true}
	add := func(c *report.Curve, x, mean, sd float64) {
		if mean <= 0 {
			return // a logarithmic axis has no place for it
		}
		c.X, c.Y = append(c.X, x), append(c.Y, mean)
		c.Low, c.High = append(c.Low, max(mean-sd, mean/10)), append(c.High, mean+sd)
	}
	for _, p := range points {
		add(&test, at(p), p.Test, p.TestSD)
		add(&train, at(p), p.Train, p.TrainSD)
	}
	l := &report.Lines{X: x, Y: y}
	for _, c := range []report.Curve{test, train} {
		if len(c.X) > 0 {
			l.Curves = append(l.Curves, c)
		}
	}
	return l
}

// lawCurve is a law between two numbers of rows or features.
func lawCurve(l *search.Law, from, to float64) report.Curve {
	const steps = 40
	c := report.Curve{Name: "fitted law", Dashed: true}
	for i := range steps + 1 {
		x := from * math.Pow(to/from, float64(i)/steps)
		if v := l.At(x); v > 0 {
			c.X, c.Y = append(c.X, x), append(c.Y, v)
		}
	}
	return c
}

// lawText is a law as a sentence.
func lawText(l *search.Law, n string, percent bool) string {
	factor, unit := 1.0, ""
	if percent {
		factor, unit = 100, " %"
	}
	return fmt.Sprintf("Test ≈ %.4g + %.4g·%s^-%.2g%s, off by %.2g%s in the mean.", factor*l.A, factor*l.B, n, l.C, unit, factor*l.Misfit,
		unit)
}

func curveTable(points []search.CurvePoint, beyond []search.Extrapolated, name string, percent bool, seeds int) *report.Table {
	number := func(v float64) string {
		if percent {
			return fmt.Sprintf("%.2f", 100*v)
		}
		return fmt.Sprintf("%.4g", v)
	}
	deviation := func(v float64) string {
		if seeds < 2 {
			return "–"
		}
		return number(v)
	}
	if percent {
		name += " in %"
	}
	t := &report.Table{Caption: name}
	for _, column := range []string{"rows", "features", "training", "sd", "test", "sd", "seconds", "memory"} {
		t.Columns = append(t.Columns, report.Column{Name: column, Number: true})
	}
	t.Columns = append(t.Columns, report.Column{})
	for _, p := range points {
		t.Rows = append(t.Rows, []string{units.Count(p.Rows), units.Count(p.Features), number(p.Train), deviation(p.TrainSD), number(p.Test),
			deviation(p.TestSD), units.Seconds(p.Seconds), units.Bytes(p.Bytes), ""})
	}
	for _, e := range beyond {
		t.Rows = append(t.Rows, []string{units.Count(e.Rows), "", "", "", number(e.Test), "", units.Roughly(e.Seconds), units.Bytes(e.Bytes),
			"extrapolated"})
	}
	return t
}
