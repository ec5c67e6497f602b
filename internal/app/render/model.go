package render

import (
	"cmp"
	"fmt"
	"strings"

	"mercer/feature"
	"mercer/internal/engine/units"
	"mercer/internal/solve/pipeline"
	"mercer/internal/solve/reduce"
	"mercer/internal/solve/rfm"
	"mercer/kernel"
	"mercer/model"
)

// Model is a model to describe: what its file holds, and what only the loaded model knows.
type Model struct {
	*model.Info

	// Dim is the number of dimensions of a row; of bags, those of a pooled row.
	Dim int

	// Relevance says which columns count in a learned metric, nil if there is none.
	Relevance []model.Relevance

	// Chosen says what the map chose where its configuration leaves it open, "" if nothing.
	Chosen string
}

// ModelOf describes a model.
func ModelOf(m *model.Model) Model {
	return Model{Info: m.Info(), Dim: m.Dim(), Chosen: m.Pipeline().Chosen(), Relevance: m.Relevance()}
}

// Row is what a row of the model is called: row or bag.
func (m Model) Row() string {
	if m.Bag != nil {
		return "bag"
	}
	return "row"
}

// modelLines describes a model: task, scaling, kernel, map and learner, a line each.
func modelLines(line lines, m Model) {
	info := m.Info
	why := func(key string) string {
		if w := info.Training.Why[key]; w != "" {
			return " (" + w + ")"
		}
		return ""
	}
	if info.Task == "outliers" {
		line("task", "outlier detection: outliers are -1, all other rows 1%s", why("task"))
	} else if info.Classes != nil {
		text, n := firstOf(info.Classes, 12), len(info.Classes)
		if n > 12 {
			text = firstOf(info.Classes, 10) + " " + ShortLabel(info.Classes[n-1], listedName)
		}
		line("task", "%d classes: %s%s", n, text, why("task"))
	} else if info.Labels != nil {
		line("task", "multi-label, %d labels: %s%s", len(info.Labels), firstOf(info.Labels, 12), why("task"))
	} else {
		line("task", "regression, %s%s", units.Plural(info.Outputs, "output"), why("task"))
	}
	if info.Bag != nil {
		what := "bags"
		for _, text := range poolingText(info.Bag) {
			line(what, "%s", text)
			what = ""
		}
		line("rows", "one per bag, %s dimensions", units.Count(m.Dim))
	}
	missingLine(line, &info.Schema)
	line("scaling", "%s%s", info.Scale, why("scale"))
	if means := info.Training.Why["means"]; means != "" {
		line("means", "mean targets of %s", means)
	}
	metricLines(line, m)
	if info.Feature != nil {
		mapLines(line, info.Feature, m.Chosen, info.Training.Why)
	} else if info.Kernel != nil {
		line("kernel", "%s%s", kernelText(*info.Kernel), why("gamma"))
	} else if model.ReportOf[*rfm.Report](&info.Training) == nil { // which tells of its kernels itself
		line("kernel", "%s", kernel.Linear)
	}
	if r := info.Training.Reduction; r != nil {
		reductionLines(line, r)
	}
	for i, text := range info.Training.Lines() {
		if i == 0 {
			line("learner", "%s%s, %s", info.Training.Learner, why("learner"), text)
		} else {
			line("", "%s", text)
		}
	}
	if c := info.Training.Calibration; c != nil {
		line("proba", "%s", c)
	}
	if rows := info.Training.Why["one class"]; rows != "" {
		line("note", "it predicts the same class for %s; --threshold max-f1 (two classes), --class-weight balanced, or other columns may tell the others apart", rows)
	}
	if names := info.Training.Why["alike"]; names != "" {
		line("note", "the classes %s look alike; if they are one, give their rows one label", names)
	}
	if t := info.Threshold; t != nil {
		line("threshold", "%s from %s", ShortLabel(info.Classes[1], listedName), t)
	}
}

// metricLines describes a learned metric.
func metricLines(line lines, m Model) {
	switch what := "metric"; {
	case m.Training.Metric != nil:
		for _, text := range m.Training.Metric.Lines() {
			line(what, "%s", text)
			what = ""
		}
	case m.Relevance != nil && model.ReportOf[*rfm.Report](&m.Training) == nil:
		line(what, "learned from the first rows") // to which others were added
	}
	if m.Relevance == nil {
		return
	}
	const most = 6
	var columns []string
	for i, r := range m.Relevance {
		if i == most || i > 0 && r.Share < 0.01 {
			columns = append(columns, "…")
			break
		}
		columns = append(columns, fmt.Sprintf("%s %.0f %%", ShortLabel(r.Column, listedName), 100*r.Share))
	}
	line("relevance", "%s", strings.Join(columns, ", "))
}

// mapLines describes the kernel and the map. chosen is what the map chose by itself, why where γ comes from.
func mapLines(line lines, f *feature.Config, chosen string, why map[string]string) {
	if f.Steps == nil && !f.Kernelless() {
		line("kernel", "%s%s", kernelText(f.Kernel), because(why["gamma"]))
	}
	line("map", "%s, %s features, seed %d%s", mapText(f), units.Count(f.Features), f.Seed, because(cmp.Or(why["map"], chosen)))
	if why["weights"] != "" {
		line("weights", "%s", why["weights"])
	}
}

// reductionLines describes the principal components that replace the features.
func reductionLines(line lines, r *reduce.Report) {
	what := "reduction"
	for _, text := range r.Lines() {
		line(what, "%s", text)
		what = ""
	}
}

// mapText is the name of a map, with its steps.
func mapText(f *feature.Config) string {
	if f.Steps == nil {
		return f.Map
	}
	var steps []string
	for i := range f.Steps {
		s := &f.Steps[i]
		text := mapText(s)
		switch {
		case s.Steps != nil:
		default:
			about := []string{s.Kernel.String()}
			if s.Features != 0 { // otherwise the map decides
				about = append(about, units.Count(s.Features)+" features")
			}
			if s.Columns != "" {
				about = append(about, "columns "+s.Columns)
			}
			if f.Weights != nil {
				about = append(about, fmt.Sprintf("weight %.3g", f.Weights[i]))
			}
			text += " (" + strings.Join(about, ", ") + ")"
		}
		steps = append(steps, text)
	}
	return f.Map + " of " + strings.Join(steps, ", ")
}

// poolingText describes how bags become rows, in lines.
func poolingText(b *pipeline.BagInfo) []string {
	why := func(key string) string {
		if w := b.Why[key]; w != "" {
			return " (" + w + ")"
		}
		return ""
	}
	p := &b.Pooling
	var lines []string
	switch {
	case p.Method != "mean":
		text := p.Method
		if p.Streams == 2 {
			text += fmt.Sprintf(" of two streams of %d and %d channels", p.First, b.Schema.Dim-p.First)
		}
		if p.Features > 0 {
			text += fmt.Sprintf(", %s features, seed %d", units.Count(p.Features), p.Seed)
		}
		lines = append(lines, text+why("pooling"))
	case p.Map == nil:
		lines = append(lines, "mean of the members")
	default:
		kernel := "kernels"
		if p.Map.Steps == nil {
			kernel = kernelText(p.Map.Kernel)
		}
		lines = append(lines, "mean of "+kernel+why("gamma"),
			fmt.Sprintf("map %s, %s features, seed %d%s", mapText(p.Map), units.Count(p.Map.Features), p.Map.Seed, why("map")))
	}
	if p.Norm != "none" {
		lines[len(lines)-1] += ", norm " + p.Norm
	}
	return append(lines, "scaling of members: "+b.Scale+why("scale"))
}

// membersText is the number of rows of a bag, or its range.
func membersText(least, most int) string {
	if least == most {
		return units.Plural(least, "row")
	}
	return fmt.Sprintf("%s to %s", units.Count(least), units.Plural(most, "row"))
}

// kernelText is a kernel for a person, with the length scale where it has one: that is what --sigma takes.
func kernelText(k kernel.Kernel) string {
	if sigma, ok := k.LengthScale(); ok {
		return fmt.Sprintf("%s, length scale σ = %.4g", k, sigma)
	}
	return k.String()
}

// because puts the reason for a choice in brackets; "" if there is none.
func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}
