package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/units"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/reduce"
	"mercer/model"
	"mercer/train"
)

// mostColumnName bounds the name of a column in a table.
const mostColumnName = 23

// InspectModelJSON is what inspect --json prints of a model.
func InspectModelJSON(m Model) any {
	told := map[string]any{"kind": "model", "model": m.Info}
	if m.Relevance != nil {
		told["relevance"] = m.Relevance
	}
	return told
}

// InspectModelText describes a model. bytes is the size of its file.
func InspectModelText(w io.Writer, m Model, path string, bytes int64) {
	File(w, "model", path, bytes)
	line, info := linesTo(w), m.Info
	if b := info.Bag; b != nil {
		line("trained", "on %s of %s × %s dimensions (%s)", units.Plural(info.Training.Rows, "bag"), membersText(b.Least, b.Most),
			units.Count(b.Schema.Dim), b.Schema.Format)
	} else {
		line("trained", "on %s rows × %s dimensions (%s)", units.Count(info.Training.Rows), units.Count(m.Dim), info.Schema.Format)
	}
	modelLines(line, m)
	if r := model.ReportOf[*learn.RidgeReport](&info.Training); r != nil && len(r.Path) > 0 && !r.Whole {
		fmt.Fprintf(w, "\n  %-14s%s\n", "λ", "mean squared error")
		for _, p := range r.Path {
			mark := ""
			if p.Chosen {
				mark = "  chosen"
			}
			fmt.Fprintf(w, "  %-14.3g%.5g%s\n", p.Lambda, p.Error, mark)
		}
	}
	if r := model.ReportOf[*learn.LassoReport](&info.Training); r != nil && len(r.Path) > 0 {
		fmt.Fprintf(w, "\n  %-14s%-30s%s\n", "λ", "held-out mean squared error", "non-zero weights")
		for _, p := range r.Path {
			mark := ""
			if p.Chosen {
				mark = "  chosen"
			}
			fmt.Fprintf(w, "  %-14.3g%-30.5g%d%s\n", p.Lambda, p.Error, p.Weights, mark)
		}
	}
	if r := model.ReportOf[*learn.SVMReport](&info.Training); r != nil && len(r.Path) > 0 {
		fmt.Fprintf(w, "\n  %-14s%s\n", "C", "held-out error")
		for _, p := range r.Path {
			mark := ""
			if p.Chosen {
				mark = "  chosen"
			}
			fmt.Fprintf(w, "  %-14g%.2f %%%s\n", p.C, 100*p.Error, mark)
		}
	}
	if r := info.Training.Reduction; r != nil {
		variancesText(w, r)
	}
	if r := model.ReportOf[*learn.OnlineReport](&info.Training); r != nil {
		fmt.Fprintf(w, "\n  %-14s%s\n", "rows", "progressive validation: loss, error")
		for _, p := range r.Progressive {
			fmt.Fprintf(w, "  %-14s%-10.4g", units.Count(int(p.Rows)), p.Loss)
			if p.Error != nil {
				fmt.Fprintf(w, "  %.2f %%", 100**p.Error)
			}
			fmt.Fprintln(w)
		}
	}
	schema := &info.Schema
	if info.Bag != nil {
		schema = &info.Bag.Schema
	}
	if cols := schema.Columns; len(cols) > 0 && (schema.Header || hasCategories(cols)) {
		fmt.Fprintf(w, "\n  %s\n", "columns")
		for _, c := range cols {
			what := "numeric"
			switch {
			case c.Categories != nil:
				what = units.Plural(len(c.Categories), "value") + ": " + firstOf(c.Categories, 8)
			case c.Coding != nil:
				what = fmt.Sprintf("%s, %s", c.Coding.Kind, units.Plural(c.Width(), "dimension"))
			}
			if c.Means != nil {
				what += ", mean targets"
			}
			if c.Indicator {
				what += ", may be missing"
			}
			fmt.Fprintf(w, "    %-24s%s\n", ShortLabel(c.Name, mostColumnName), what)
		}
	}
}

// Statistics describes a file of statistics.
type Statistics struct {
	Rows, Features, Targets int
	Schema                  *dataset.Schema
}

// StatisticsOf describes statistics of rows.
func StatisticsOf(s *train.Statistics) Statistics {
	d, k := s.Dims()
	return Statistics{s.Rows(), d, k, s.DataSchema()}
}

// JSON is what inspect --json prints of statistics.
func (s Statistics) JSON() any {
	return map[string]any{"kind": "statistics", "rows": s.Rows, "features": s.Features, "targets": s.Targets, "schema": s.Schema}
}

// Text describes the statistics in a file.
func (s Statistics) Text(w io.Writer, path string) {
	Line(w, "file", "%s: statistics of %s × %s dimensions, %s features, %s", path, units.Plural(s.Rows, "row"), units.Count(s.Schema.Dim),
		units.Count(s.Features), units.Plural(s.Targets, "target"))
}

// Saved says that the statistics were saved.
func (s Statistics) Saved(w io.Writer, path string) {
	Line(w, "saved", "%s: %s rows, %s features, %s", path, units.Count(s.Rows), units.Count(s.Features), units.Plural(s.Targets, "target"))
}

// ForeignJSON is what inspect --json prints of a model of LIBSVM or LIBLINEAR.
func ForeignJSON(kind string, m any, dim int) any {
	return map[string]any{"kind": strings.ToLower(kind) + "-model", "model": m, "d": dim}
}

// ForeignText describes a model of LIBSVM or LIBLINEAR by the lines in about. bytes is the size of its file.
func ForeignText(w io.Writer, path string, bytes int64, about []string) {
	File(w, "model", path, bytes)
	for _, text := range about {
		Line(w, "", "%s", text)
	}
}

// variancesText lists the explained variance of the first eight components, of every power of two after
// them, and of the last.
func variancesText(w io.Writer, r *reduce.Report) {
	fmt.Fprintf(w, "\n  %-14s%-30s%s\n", "component", "explained variance", "cumulative")
	sum := 0.0
	for i, v := range r.Variances {
		sum += v
		if n := i + 1; n <= 8 || n&(n-1) == 0 || n == len(r.Variances) {
			fmt.Fprintf(w, "  %-14d%-30s%.2f %%\n", n, fmt.Sprintf("%.3g %%", 100*v/r.Variance), 100*sum/r.Variance)
		}
	}
}

func hasCategories(cols []dataset.Column) bool {
	for _, c := range cols {
		if c.Categories != nil {
			return true
		}
	}
	return false
}

// Data describes a file of data, by one pass over it.
type Data struct {
	Name    string
	Schema  dataset.Schema
	Summary *dataset.Summary
	Bags    *dataset.BagSummary // nil for rows
	Profile *dataset.Profile    // nil for what is no table
	Notices []string            // what a person should know of the columns
}

// JSON is what inspect --json prints of data.
func (d *Data) JSON() map[string]any {
	schema, sum := d.Schema, d.Summary
	schema.Dim = sum.Dim
	kind, _ := dataset.ChooseScale(sum)
	v := map[string]any{"kind": "data", "name": d.Name, "rows": sum.Rows, "d": sum.Dim, "density": sum.Density(),
		"schema": schema, "scale": kind}
	if task, _, err := sum.Task("auto"); err == nil {
		v["task"] = task
	}
	if d.Profile != nil {
		v["columns"] = d.Profile.Columns
	}
	if d.Profile != nil || len(d.Notices) > 0 {
		v["notices"] = d.Notices
	}
	if b := d.Bags; b != nil {
		v["bags"], v["least"], v["most"] = b.Bags, b.Least, b.Most
	}
	return v
}

// Text describes the data and the scaling that train would choose.
func (d *Data) Text(w io.Writer) {
	schema, sum, bags := &d.Schema, d.Summary, d.Bags
	kind, why := dataset.ChooseScale(sum)
	task, taskWhy, taskErr := sum.Task("auto")
	line := linesTo(w)
	line("data", "%s (%s)", d.Name, schema.Format)
	if bags != nil {
		line("bags", "%s of %s", units.Count(bags.Bags), membersText(bags.Least, bags.Most))
	}
	line("rows", "%s × %s dimensions, %.3g %% of the values non-zero", units.Count(sum.Rows), units.Count(sum.Dim), 100*sum.Density())
	switch {
	case taskErr != nil:
		line("labels", "%s", taskErr)
	case task == "multilabel":
		if l, err := sum.LabelSets(schema); err == nil {
			line("labels", "%d, multi-label (%s): %s", len(l.Labels()), taskWhy, firstOf(l.Labels(), 12))
		} else {
			line("labels", "%s", err)
		}
	case task == "regress":
		line("labels", "%s to predict (%s)", units.Plural(sum.Outputs, "number"), taskWhy)
	default:
		if c, err := sum.Classes(); err == nil {
			line("labels", "%d classes (%s): %s", len(c.Labels()), taskWhy, firstOf(c.Labels(), 12))
		} else {
			line("labels", "%s", err)
		}
	}
	line("scaling", "train would choose %s (%s)", kind, why)
	if len(schema.Columns) == 0 {
		noticesText(w, d.Notices)
		return
	}
	if d.Profile != nil {
		profileText(w, d.Profile, d.Notices)
		return
	}
	fmt.Fprintf(w, "\n    %-24s%12s%12s%12s%12s\n", "column", "min", "mean", "max", "deviation")
	at := 0
	for i, c := range schema.Columns {
		if i == 40 {
			fmt.Fprintf(w, "    … and %s more (--json lists all)\n", units.Count(len(schema.Columns)-i))
			break
		}
		if c.Categories != nil {
			fmt.Fprintf(w, "    %-24s%s values: %s\n", ShortLabel(c.Name, mostColumnName), units.Count(len(c.Categories)), firstOf(c.Categories, 6))
		} else {
			s := &sum.Columns[at]
			fmt.Fprintf(w, "    %-24s%12.5g%12.5g%12.5g%12.5g\n", ShortLabel(c.Name, mostColumnName), s.Min, s.Mean, s.Max, math.Sqrt(s.Variance))
		}
		at += c.Width()
	}
}
