package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
)

// profileText lists the columns of a table.
func profileText(w io.Writer, p *dataset.Profile, notices []string) {
	fmt.Fprintf(w, "\n  %-24s %-9s %9s %9s %9s  %s\n", "column", "kind", "missing", "distinct", "relation", "values")
	for i := range p.Columns {
		if i == 40 {
			fmt.Fprintf(w, "  … and %s more (--json lists all)\n", units.Count(len(p.Columns)-i))
			break
		}
		c := &p.Columns[i]
		fmt.Fprintf(w, "  %-24s %-9s %9s %9s %9s  %s\n", ShortLabel(c.Name, mostColumnName), c.Kind, missingText(c, p.Rows),
			distinctText(c), relationText(c), profileValues(c))
	}
	noticesText(w, notices)
}

func noticesText(w io.Writer, notices []string) {
	if len(notices) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range notices {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
}

func missingText(c *dataset.ColumnProfile, rows int) string {
	if c.Missing == 0 || c.Note == "" && c.Distinct == 0 && !c.Numeric() {
		return "-"
	}
	return fmt.Sprintf("%.3g %%", 100*float64(c.Missing)/float64(max(1, rows)))
}

func distinctText(c *dataset.ColumnProfile) string {
	switch {
	case c.Many:
		return "> " + units.Count(c.Distinct-1)
	case c.Distinct == 0:
		return "-"
	}
	return units.Count(c.Distinct)
}

// relationText is how well the column alone predicts the label.
func relationText(c *dataset.ColumnProfile) string {
	if c.Relation < 0 {
		return "-"
	}
	return strconv.FormatFloat(c.Relation, 'f', 2, 64)
}

// profileValues says what values a column has: a range with the median, or the most frequent ones.
func profileValues(c *dataset.ColumnProfile) string {
	text := ""
	switch {
	case c.Kind == dataset.KindDate && len(c.Quantiles) == 5:
		text = fmt.Sprintf("%s to %s", c.Text(c.Min), c.Text(c.Max))
	case len(c.Quantiles) == 5:
		text = fmt.Sprintf("%.4g to %.4g, half from %.4g to %.4g, median %.4g", c.Min, c.Max, c.Quantiles[1], c.Quantiles[3], c.Quantiles[2])
	case len(c.Top) > 0:
		var list []string
		for _, f := range c.Top {
			list = append(list, fmt.Sprintf("%s (%s)", ShortLabel(strings.Join(strings.Fields(f.Value), " "), 24), units.Count(f.Rows)))
		}
		text = firstOf(list, 4)
	}
	if c.Note != "" && text != "" {
		return text + " (" + c.Note + ")"
	}
	return text + c.Note
}

// DataPage is a page about a data set: its columns with a small picture each.
func DataPage(d *Data) *report.Page {
	page := &report.Page{Title: d.Name, Subtitle: "What the data hold"}
	s := page.Section("The data")
	s.Facts(report.Fact{Name: "data", Value: d.Name, Remark: d.Schema.Format}, report.Fact{Name: "rows", Value: units.Count(d.Summary.Rows)},
		report.Fact{Name: "dimensions", Value: units.Count(d.Summary.Dim)}, report.Fact{Name: "values", Value: rangeText(d.Summary)})
	if len(d.Notices) > 0 {
		t := &report.Table{Caption: "Worth a look", Columns: []report.Column{{Name: "note"}}}
		for _, n := range d.Notices {
			t.Rows = append(t.Rows, []string{n})
		}
		s.Table(t)
	}
	if d.Profile == nil {
		columnTable(s, &d.Schema, d.Summary)
		return page
	}
	t := &report.Table{Caption: "Columns", Columns: []report.Column{{Name: "column"}, {Name: "kind"}, {Name: "missing", Number: true},
		{Name: "distinct", Number: true}, {Name: "relation to the label", Number: true}, {Name: "values"}}}
	for i := range d.Profile.Columns {
		c := &d.Profile.Columns[i]
		t.Rows = append(t.Rows, []string{c.Name, c.Kind, missingText(c, d.Profile.Rows), distinctText(c), relationText(c), profileValues(c)})
	}
	s.Table(t)
	pictures := page.Section("The columns")
	for i := range d.Profile.Columns {
		if i == mostColumns {
			break
		}
		columnFigure(pictures, &d.Profile.Columns[i], i)
	}
	return page
}

// columnFigure shows the values of a column.
func columnFigure(s *report.Section, c *dataset.ColumnProfile, i int) {
	f := &report.Figure{Name: fmt.Sprintf("column-%d", i), Title: c.Name}
	switch {
	case len(c.Values) > 1 && c.Min < c.Max:
		h := &report.Histogram{X: report.Axis{Name: c.Name}, What: "rows"}
		h.Edges, h.Counts = report.Bins(c.Values)
		f.Caption, f.Drawing = fmt.Sprintf("Values of %s rows.", units.Count(len(c.Values))), h
		if c.Kind == dataset.KindDate {
			h.X.Name += " (days since 1970)"
		}
	case len(c.Top) > 1 && c.Kind != dataset.KindID:
		bars := &report.Intervals{X: report.Axis{Name: "rows"}, Bars: true}
		for _, v := range c.Top {
			bars.Rows = append(bars.Rows, certain(ShortLabel(v.Value, 24), float64(v.Rows)))
		}
		f.Caption, f.Drawing = fmt.Sprintf("The most frequent of %s values.", units.Count(c.Distinct)), bars
	default:
		return
	}
	s.Figure(f)
}
