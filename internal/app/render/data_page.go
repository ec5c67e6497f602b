package render

import (
	"fmt"
	"math"

	"mercer/dataset"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/model"
)

// dataSection adds what the rows hold that a model was trained on or judged by, or the bags if bags is not nil.
func dataSection(page *report.Page, name, format string, m Model, sum *dataset.Summary, bags *dataset.BagSummary) {
	info := m.Info
	schema, what := &info.Schema, report.Fact{Name: "rows"}
	if bags != nil {
		sum, schema = bags.Summary, &info.Bag.Schema
		what = report.Fact{Name: "bags", Value: fmt.Sprintf("%s of %s", units.Count(bags.Bags), membersText(bags.Least, bags.Most))}
	}
	if sum == nil {
		return // a training that was continued
	}
	if bags == nil {
		what.Value = units.Count(sum.Rows)
	}
	s := page.Section("The data")
	facts := []report.Fact{{Name: "data", Value: name, Remark: format}, what,
		{Name: "dimensions", Value: units.Count(sum.Dim)}, {Name: "values", Value: rangeText(sum)}}
	if sum.Outputs > 0 {
		facts = append(facts, report.Fact{Name: "labels", Value: labelsText(info)})
	}
	s.Facts(facts...)
	if info.Classes != nil && info.Task == "classify" {
		classShares(s, info.Classes, sum.ClassRows(dataset.NewClasses(info.Classes)), m.Row()+"s")
	}
	columnTable(s, schema, sum)
}

// labelsText says what a row's labels are.
func labelsText(info *model.Info) string {
	switch {
	case info.Classes != nil:
		return fmt.Sprintf("one of %d classes", len(info.Classes))
	case info.Labels != nil:
		return fmt.Sprintf("any of %s", units.Plural(len(info.Labels), "label"))
	case info.Outputs == 1:
		return "a number"
	}
	return fmt.Sprintf("%d numbers", info.Outputs)
}

// classShares shows how many rows each class has.
func classShares(s *report.Section, labels []string, counts []int, rows string) {
	total, values := 0, make([]float64, len(counts))
	for i, n := range counts {
		total += n
		values[i] = float64(n)
	}
	if total == 0 {
		return
	}
	if len(labels) <= mostNamed {
		bars := &report.Intervals{X: report.Axis{Name: rows}, Bars: true}
		for i, l := range labels {
			bars.Rows = append(bars.Rows, certain(fmt.Sprintf("%s (%.3g %%)", l, 100*values[i]/float64(total)), values[i]))
		}
		s.Figure(&report.Figure{Name: "classes", Title: "Classes", Caption: "The number of " + rows + " of each class.", Drawing: bars})
		return
	}
	h := &report.Histogram{X: report.Axis{Name: rows + " of a class"}, What: "classes"}
	h.Edges, h.Counts = report.Bins(values)
	s.Figure(&report.Figure{Name: "classes", Title: "Classes", Caption: fmt.Sprintf("The sizes of the %s classes, in %s.",
		units.Count(len(labels)), rows), Drawing: h})
}

// certain is a bar without uncertainty.
func certain(name string, v float64) report.Interval {
	return report.Interval{Name: name, Value: v, Low: v, High: v}
}

// rangeText is the range of all values.
func rangeText(sum *dataset.Summary) string {
	low, high, constant := math.Inf(1), math.Inf(-1), 0
	for _, c := range sum.Columns {
		low, high = min(low, c.Min), max(high, c.Max)
		if c.Min == c.Max {
			constant++
		}
	}
	text := fmt.Sprintf("from %s to %s, %.3g %% of them non-zero", Number(low), Number(high), 100*sum.Density())
	if constant > 0 {
		text += fmt.Sprintf("; %s constant", units.Plural(constant, "dimension"))
	}
	return text
}

// mostColumns bounds the lines of the table of columns.
const mostColumns = 100

// columnTable shows the range of each column, where these are the columns of a table.
func columnTable(s *report.Section, schema *dataset.Schema, sum *dataset.Summary) {
	if n := len(schema.Columns); n == 0 || n > mostColumns {
		return
	}
	t := &report.Table{Caption: "Columns", Columns: []report.Column{{Name: "column"}, {Name: "min", Number: true},
		{Name: "mean", Number: true}, {Name: "max", Number: true}, {Name: "deviation", Number: true}, {Name: "non-zero", Number: true}}}
	if hasCategories(schema.Columns) {
		t.Columns = append(t.Columns, report.Column{Name: "values"})
	}
	at := 0
	for _, c := range schema.Columns {
		switch {
		case c.Categories != nil:
			t.Rows = append(t.Rows, []string{c.Name, "", "", "", "", "", units.Plural(len(c.Categories), "value") + ": " + firstOf(c.Categories, 6)})
		case at < len(sum.Columns):
			v := &sum.Columns[at]
			t.Rows = append(t.Rows, []string{c.Name, Number(v.Min), Number(v.Mean), Number(v.Max), Number(math.Sqrt(v.Variance)),
				fmt.Sprintf("%.3g %%", 100*float64(v.NonZero)/float64(max(sum.Rows, 1)))})
		}
		at += c.Width()
	}
	s.Table(t)
}
