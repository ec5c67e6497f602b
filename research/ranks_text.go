package main

import (
	"fmt"
	"io"

	"mercer/internal/app/render"
	"mercer/internal/engine/hypothesis"
	"mercer/internal/engine/units"
)

// ranksText writes the tests of methods by their ranks, and a diagram of the mean ranks; data names the table.
func ranksText(w io.Writer, out *hypothesis.Comparison, data string) {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-16s%s\n", what, fmt.Sprintf(format, args...))
	}
	line("table", "%s: %s × %s, %s scores are better", data, units.Plural(out.DataSets, "data set"),
		units.Plural(len(out.Methods), "method"), out.Better)
	if two := out.Two; two != nil {
		first, second := out.Methods[0], out.Methods[1]
		line("mean ranks", "%s %.3f, %s %.3f", first.Method, first.MeanRank, second.Method, second.MeanRank)
		line("Wilcoxon", "p = %s, signed ranks of the differences", render.PValue(out.Comparisons[0].Wilcoxon))
		line("sign test", "p = %s; %s wins %d, loses %d, ties %d", render.PValue(two.Sign), first.Method, two.Wins, two.Losses, two.Ties)
		return
	}
	line("Friedman", "χ² = %.4g of %s of freedom, p = %s", out.Friedman.ChiSquare, units.Plural(out.Friedman.DF, "degree"),
		render.PValue(out.Friedman.P))
	if f := out.ImanDavenport.F; f != nil {
		line("Iman-Davenport", "F = %.4g of %d and %s of freedom, p = %s", *f, out.ImanDavenport.DF1,
			units.Plural(out.ImanDavenport.DF2, "degree"), render.PValue(out.ImanDavenport.P))
	} else {
		line("Iman-Davenport", "F has no bound: every data set ranks the methods alike")
	}
	kind := "Nemenyi, all pairs"
	if out.Control != "" {
		kind = "Bonferroni-Dunn, to " + out.Control
	}
	line("difference", "mean ranks differ at α = %g when %.3f apart (%s)", out.Alpha, out.CriticalDifference, kind)
	if out.DataSets <= 10 && len(out.Methods) <= 5 {
		line("", "so few data sets and methods make the p-values of ranks rough")
	}
	if out.ImanDavenport.P > out.Alpha && out.Friedman.P > out.Alpha {
		line("", "the tests of all methods find no difference; what follows shows none either")
	}
	fmt.Fprintln(w)
	ranksDiagram(w, out)
	fmt.Fprintln(w)
	if len(out.Comparisons) > maxPairs {
		fmt.Fprintf(w, "  %s; --json lists all, --control NAME those with one method\n", units.Plural(len(out.Comparisons), "pair"))
		return
	}
	table := [][]string{}
	if out.Control != "" {
		table = append(table, []string{"against " + out.Control, "z", "p", "Dunn", "Holm", "Hochberg", "Wilcoxon (Holm)"})
	} else {
		table = append(table, []string{"pair", "z", "p", "Nemenyi", "Holm", "Shaffer", "Wilcoxon (Holm)"})
	}
	p := render.PValue
	for _, c := range out.Comparisons {
		z := fmt.Sprintf("%.2f", c.Z)
		if out.Control != "" {
			table = append(table, []string{c.B, z, p(c.P), p(*c.Dunn), p(c.Holm), p(*c.Hochberg), p(c.WilcoxonHolm)})
		} else {
			table = append(table, []string{c.A + " – " + c.B, z, p(c.P), p(*c.Nemenyi), p(c.Holm), p(*c.Shaffer), p(c.WilcoxonHolm)})
		}
	}
	render.Columns(w, 1, table)
	better := "first"
	if out.Control != "" {
		better = "control"
	}
	fmt.Fprintf(w, "\n  z < 0: the %s is the better; the columns after p take the %s together\n", better,
		units.Plural(len(out.Comparisons), "comparison"))
}

// maxPairs is how many pairs are printed for a person, those of ten methods.
const maxPairs = 45
