package render

import (
	"fmt"

	"mercer/eval"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
)

// comparison is what pages show of models and of configurations alike.
type comparison struct {
	metric    *eval.Metric
	show      figures
	what      string // model or configuration
	reference string
	rows      []comparedRow
}

type comparedRow struct {
	name             string
	value, low, high float64
	difference       *eval.Difference // nil: the reference
	more             []string         // cells of the table behind the value
}

func (c *comparison) fill(page *report.Page, columns []string, spread, test string) {
	s := page.Section("The " + c.what + "s")
	values := &report.Intervals{X: report.Axis{Name: c.metric.Title, Percent: c.metric.Percent}}
	gaps := &report.Intervals{X: report.Axis{Name: c.metric.Title + " less that of " + c.reference, Percent: c.metric.Percent},
		Marks: []report.Mark{{X: 0, Name: "the same"}}}
	t := &report.Table{Caption: c.metric.Title + ": " + c.metric.About, Columns: []report.Column{{Name: c.what},
		{Name: title(c.metric), Number: true}}}
	for _, name := range append(columns, "difference", "interval", "p", "p (Holm)") {
		t.Columns = append(t.Columns, report.Column{Name: name, Number: true})
	}
	best := 0
	for i, r := range c.rows {
		if c.metric.Better(r.value, c.rows[best].value) {
			best = i
		}
		row := append([]string{r.name, c.show.value(r.value)}, r.more...)
		if d := r.difference; d != nil {
			gaps.Rows = append(gaps.Rows, report.Interval{Name: r.name, Value: d.Value, Low: d.Low, High: d.High})
			row = append(row, c.show.gap(d.Value), c.show.gap(d.Low)+" … "+c.show.gap(d.High), PValue(d.P), PValue(d.Holm))
		}
		if r.name == c.reference && r.difference == nil {
			row = append(row, "reference")
		}
		t.Rows = append(t.Rows, row)
	}
	t.MarkBest(best, 1)
	for i, r := range c.rows {
		values.Rows = append(values.Rows, report.Interval{Name: r.name, Value: r.value, Low: r.low, High: r.high, Best: i == best})
	}
	s.Figure(&report.Figure{Name: "values", Title: "The " + c.what + "s",
		Caption: "The " + c.metric.Title + " of each, with " + spread + ". The best is marked.", Drawing: values})
	s.Figure(&report.Figure{Name: "differences", Title: "Differences", Caption: "How far each is from " + c.reference +
		". Where the interval holds 0, these rows do not tell the two apart.", Drawing: gaps})
	s.Table(t)
	s.Note(test)
}

// ModelsPage is the page of a comparison of models; data names the rows, and so many bootstrap samples were drawn.
func ModelsPage(out *ModelsJSON, data string, resamples int) (*report.Page, error) {
	m, err := eval.MetricNamed(out.Metric)
	if err != nil {
		return nil, err
	}
	reference := out.Models[out.Reference]
	v := &comparison{metric: m, show: figuresFor(m, reference.High-reference.Low), what: "model", reference: reference.Name}
	for _, e := range out.Models {
		v.rows = append(v.rows, comparedRow{e.Name, e.Value, e.Low, e.High, e.Difference,
			[]string{v.show.value(e.Low) + " … " + v.show.value(e.High), units.Bytes(e.Bytes), fmt.Sprintf("%.3g", e.MicrosPerRow)}})
	}
	page := &report.Page{Title: "Models compared", Subtitle: fmt.Sprintf("%s on %s: %s", units.Plural(len(out.Models), "model"), data,
		units.Plural(out.N, "row"))}
	test := "p is where the bootstrap interval of the level 1 − p ends at 0"
	if out.Test == "mcnemar" {
		test = "p is that of McNemar's exact test of the rows that only one of the two has right"
	}
	level := fmt.Sprintf("%g %% interval", 100*out.Level)
	v.fill(page, []string{level, "size", "µs a row"}, fmt.Sprintf("its %s (BCa, %s bootstrap samples of the rows)", level,
		units.Count(resamples)),
		test+", adjusted for the number of comparisons by Holm's procedure."+chosenNote(v.reference, out.Chosen))
	return page, nil
}

// ConfigsPage is the page of a comparison of configurations; data names the rows.
func ConfigsPage(out *eval.ConfigComparison, data string) (*report.Page, error) {
	m, err := eval.MetricNamed(out.Metric)
	if err != nil {
		return nil, err
	}
	reference := out.Configs[out.Reference]
	v := &comparison{metric: m, show: figuresFor(m, reference.SD), what: "configuration", reference: reference.Name}
	for _, e := range out.Configs {
		v.rows = append(v.rows, comparedRow{e.Name, e.Mean, e.Mean - e.SD, e.Mean + e.SD, e.Difference,
			[]string{v.show.value(e.SD), units.Seconds(e.Seconds), fmt.Sprintf("%.3g", e.MicrosPerRow)}})
	}
	page := &report.Page{Title: "Configurations compared", Subtitle: fmt.Sprintf("%s on %s: %s in %d folds",
		units.Plural(len(out.Configs), "configuration"), data, units.Plural(out.N, "row"), out.Folds)}
	test := "Intervals of differences and p are those of the corrected resampled t-test"
	if out.Test == "mcnemar" {
		test = "p is that of McNemar's exact test of the out-of-fold predictions"
	}
	v.fill(page, []string{"± sd", "training", "µs a row"}, "the standard deviation over the folds",
		test+"; p is adjusted for the number of comparisons by Holm's procedure."+chosenNote(v.reference, out.Chosen))
	return page, nil
}

func chosenNote(reference string, chosen bool) string {
	if !chosen {
		return ""
	}
	return " " + reference + " was chosen as the best by these same rows, which flatters it a little."
}
