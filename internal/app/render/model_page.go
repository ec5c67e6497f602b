package render

import (
	"fmt"

	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/train"
)

// modelSection describes a model, and how λ, C and the like were chosen.
func modelSection(page *report.Page, m Model) {
	s := page.Section("The model")
	s.Facts(factLines(func(line lines) {
		line("trained on", "%s × %s dimensions", units.Plural(m.Training.Rows, m.Row()), units.Count(m.Dim))
		modelLines(line, m)
	})...)
	relevanceSection(page, m)
	choiceSection(page, m.Info)
}

// relevanceSection shows which columns count in a learned metric.
func relevanceSection(page *report.Page, m Model) {
	if m.Relevance == nil {
		return
	}
	const most = 20
	bars := &report.Intervals{X: report.Axis{Name: "share"}, Bars: true}
	for _, r := range m.Relevance[:min(most, len(m.Relevance))] {
		bars.Rows = append(bars.Rows, certain(r.Column, r.Share))
	}
	caption := "The share of each column in the squared gradient of what was learned, " +
		"along the scaled column; distances between rows are measured by it."
	if len(m.Relevance) > most {
		caption += fmt.Sprintf(" The %d largest of %s.", most, units.Count(len(m.Relevance)))
	}
	page.Section("Relevance of columns").Figure(
		&report.Figure{Name: "relevance", Title: "Relevance of columns", Caption: caption, Drawing: bars})
}

// costSection shows the time of each part of a training, and the peak memory in bytes.
func costSection(page *report.Page, m Model, r *train.Report, peak int64) {
	s := page.Section("Time and memory")
	bars := &report.Intervals{X: report.Axis{Name: "seconds"}, Bars: true}
	for _, part := range []report.Interval{certain("read", r.Read),
		certain("metric", r.Metric), certain("map", r.Map), certain("solve", r.Solve),
		certain("… statistics", r.Collect), certain("… choice of "+penaltyOf(m.Info), r.Choose), certain("total", r.Total)} {
		if part.Value > 0 {
			bars.Rows = append(bars.Rows, part)
		}
	}
	s.Figure(&report.Figure{Name: "time", Title: "Time",
		Caption: fmt.Sprintf("How the %s were spent: reading data, mapping rows, "+
			"solving (with the parts marked … in it). The total has everything else as well.",
			units.Seconds(r.Total)), Drawing: bars})
	var facts []report.Fact
	if peak > 0 {
		facts = append(facts, report.Fact{Name: "memory", Value: units.Bytes(peak) + " at its peak"})
	}
	if r.Features != "" {
		facts = append(facts, report.Fact{Name: "features", Value: r.Features})
	}
	s.Facts(facts...)
}
