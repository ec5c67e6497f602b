package main

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/app/render"
	"mercer/internal/engine/hypothesis"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
)

// ranksPage is the page of ranks; data names the table.
func ranksPage(out *hypothesis.Comparison, data string) *report.Page {
	page := &report.Page{Title: "Methods ranked", Subtitle: fmt.Sprintf("%s: %s × %s, %s scores are better", data,
		units.Plural(out.DataSets, "data set"), units.Plural(len(out.Methods), "method"), out.Better)}
	s := page.Section("Mean ranks")
	d := &report.Ranks{Critical: out.CriticalDifference}
	t := &report.Table{Caption: "Methods", Columns: []report.Column{{Name: "method"}, {Name: "mean rank", Number: true},
		{Name: "mean score", Number: true}}}
	best, control := 0, -1
	for i, m := range out.Methods {
		d.Names, d.Averages = append(d.Names, m.Method), append(d.Averages, m.MeanRank)
		t.Rows = append(t.Rows, []string{m.Method, fmt.Sprintf("%.3f", m.MeanRank), render.Number(m.MeanScore)})
		if m.MeanRank < out.Methods[best].MeanRank {
			best = i
		}
		if out.Control != "" && m.Method == out.Control {
			control = i
		}
	}
	t.MarkBest(best, 1)
	caption := fmt.Sprintf("The best are on the left. Bars join methods whose mean ranks do not differ at α = %g (Nemenyi).", out.Alpha)
	if control >= 0 {
		caption = fmt.Sprintf("The best are on the left. The bars join %s with methods whose mean ranks do not differ from its own at "+
			"α = %g (Bonferroni and Dunn).", out.Control, out.Alpha)
		d.Groups = [][]int{}
		for _, side := range []float64{-1, 1} {
			group := []int{control}
			for i, m := range out.Methods {
				if gap := side * (m.MeanRank - out.Methods[control].MeanRank); i != control && gap >= 0 && math.Abs(gap) < out.CriticalDifference {
					group = append(group, i)
				}
			}
			d.Groups = append(d.Groups, group)
		}
	}
	s.Figure(&report.Figure{Name: "ranks", Title: "Critical difference", Caption: caption, Drawing: d})
	s.Table(t)
	if out.Two == nil {
		facts := []report.Fact{{Name: "Friedman", Value: fmt.Sprintf("χ² = %.4g of %s of freedom, p = %s", out.Friedman.ChiSquare,
			units.Plural(out.Friedman.DF, "degree"), render.PValue(out.Friedman.P))}}
		if f := out.ImanDavenport.F; f != nil {
			facts = append(facts, report.Fact{Name: "Iman-Davenport", Value: fmt.Sprintf("F = %.4g of %d and %d degrees of freedom, p = %s", *f,
				out.ImanDavenport.DF1, out.ImanDavenport.DF2, render.PValue(out.ImanDavenport.P))})
		}
		s.Facts(append(facts, report.Fact{Name: "critical difference", Value: fmt.Sprintf("%.3f", out.CriticalDifference)})...)
	}
	page.Section("Pairs").Table(pairsTable(out))
	return page
}

// mostPairsListed bounds the lines of the table of pairs.
const mostPairsListed = 100

func pairsTable(out *hypothesis.Comparison) *report.Table {
	t := &report.Table{Caption: "Each pair: z < 0 where the first is better; p as it is and adjusted for all pairs",
		Columns: []report.Column{{Name: "first"}, {Name: "second"}}}
	rows := make([][]string, len(out.Comparisons))
	for i, c := range out.Comparisons {
		rows[i] = []string{c.A, c.B}
	}
	column := func(name string, value func(c *hypothesis.Pair) *float64, text func(float64) string) {
		if !slices.ContainsFunc(out.Comparisons, func(c hypothesis.Pair) bool { return value(&c) != nil }) {
			return
		}
		t.Columns = append(t.Columns, report.Column{Name: name, Number: true})
		for i := range out.Comparisons {
			cell := "–"
			if v := value(&out.Comparisons[i]); v != nil {
				cell = text(*v)
			}
			rows[i] = append(rows[i], cell)
		}
	}
	column("z", func(c *hypothesis.Pair) *float64 { return &c.Z }, func(v float64) string { return fmt.Sprintf("%.2f", v) })
	column("p", func(c *hypothesis.Pair) *float64 { return &c.P }, render.PValue)
	column("Nemenyi", func(c *hypothesis.Pair) *float64 { return c.Nemenyi }, render.PValue)
	column("Dunn", func(c *hypothesis.Pair) *float64 { return c.Dunn }, render.PValue)
	column("Holm", func(c *hypothesis.Pair) *float64 { return &c.Holm }, render.PValue)
	column("Hochberg", func(c *hypothesis.Pair) *float64 { return c.Hochberg }, render.PValue)
	column("Shaffer", func(c *hypothesis.Pair) *float64 { return c.Shaffer }, render.PValue)
	column("Wilcoxon (Holm)", func(c *hypothesis.Pair) *float64 { return &c.WilcoxonHolm }, render.PValue)
	t.Rows = rows[:min(len(rows), mostPairsListed)]
	if n := len(rows) - mostPairsListed; n > 0 {
		t.Caption += fmt.Sprintf("; %s more are in ranks --json", units.Count(n))
	}
	return t
}
