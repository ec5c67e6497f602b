package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/rank"
)

// maxPairs is how many pairs are printed for a person, those of ten methods.
const maxPairs = 45

func (r *ranks) print(w io.Writer, t *scoreTable, test *rank.FriedmanTest, control int, out *ranksJSON) {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-16s%s\n", what, fmt.Sprintf(format, args...))
	}
	line("table", "%s: %s × %s, %s scores are better", t.name, plural(test.DataSets, "data set"), plural(test.Methods, "method"), out.Better)
	if two := out.Two; two != nil {
		first, second := out.Methods[0], out.Methods[1]
		line("mean ranks", "%s %.3f, %s %.3f", first.Method, first.MeanRank, second.Method, second.MeanRank)
		line("Wilcoxon", "p = %s, signed ranks of the differences", pText(out.Comparisons[0].Wilcoxon))
		line("sign test", "p = %s; %s wins %d, loses %d, ties %d", pText(two.Sign), first.Method, two.Wins, two.Losses, two.Ties)
		return
	}
	line("Friedman", "χ² = %.4g of %s of freedom, p = %s", test.ChiSquare, plural(test.DF, "degree"), pText(test.P))
	if f := out.ImanDavenport.F; f != nil {
		line("Iman-Davenport", "F = %.4g of %d and %s of freedom, p = %s", *f, test.DF, plural(test.FDF, "degree"), pText(test.FP))
	} else {
		line("Iman-Davenport", "F has no bound: every data set ranks the methods alike")
	}
	kind := "Nemenyi, all pairs"
	if control >= 0 {
		kind = "Bonferroni-Dunn, to " + out.Control
	}
	line("difference", "mean ranks differ at α = %g when %.3f apart (%s)", r.alpha, out.CriticalDifference, kind)
	if test.DataSets <= 10 && test.Methods <= 5 {
		line("", "so few data sets and methods make the p-values of ranks rough")
	}
	if test.FP > r.alpha && test.P > r.alpha {
		line("", "the tests of all methods find no difference; what follows shows none either")
	}
	fmt.Fprintln(w)
	drawRanks(w, t.methods, test.Ranks, out.CriticalDifference, control)
	fmt.Fprintln(w)
	if len(out.Comparisons) > maxPairs {
		fmt.Fprintf(w, "  %s; --json lists all, --control NAME those with one method\n", plural(len(out.Comparisons), "pair"))
		return
	}
	table := [][]string{}
	if control >= 0 {
		table = append(table, []string{"against " + out.Control, "z", "p", "Dunn", "Holm", "Hochberg", "Wilcoxon (Holm)"})
	} else {
		table = append(table, []string{"pair", "z", "p", "Nemenyi", "Holm", "Shaffer", "Wilcoxon (Holm)"})
	}
	for _, c := range out.Comparisons {
		if control >= 0 {
			table = append(table, []string{c.B, fmt.Sprintf("%.2f", c.Z), pText(c.P), pText(*c.Dunn), pText(c.Holm), pText(*c.Hochberg), pText(c.WilcoxonHolm)})
		} else {
			table = append(table, []string{c.A + " – " + c.B, fmt.Sprintf("%.2f", c.Z), pText(c.P), pText(*c.Nemenyi), pText(c.Holm), pText(*c.Shaffer), pText(c.WilcoxonHolm)})
		}
	}
	printColumns(w, 1, table)
	better := "first"
	if control >= 0 {
		better = "control"
	}
	fmt.Fprintf(w, "\n  z < 0: the %s is the better; the columns after p take the %s together\n", better, plural(len(out.Comparisons), "comparison"))
}

// pText writes a p-value as a person would.
func pText(p float64) string {
	switch {
	case p < 0.0001:
		return fmt.Sprintf("%.1e", p)
	case p < 0.0995:
		return fmt.Sprintf("%.4f", p)
	}
	return fmt.Sprintf("%.2f", p)
}

// drawRanks draws a critical-difference diagram: the methods on the axis of mean ranks, and the groups that do not
// differ as lines on the right; with a control, ≈ marks what does not differ from it.
func drawRanks(w io.Writer, methods []string, ranks []float64, difference float64, control int) {
	const axis = 48 // characters from rank 1 to rank k
	k := len(methods)
	column := func(r float64) int { return int(math.Round((r - 1) / float64(k-1) * axis)) }
	name := len("control")
	for _, m := range methods {
		name = max(name, len([]rune(m)))
	}
	left := name + 2 + 6 + 3
	scale, ticks := []rune(strings.Repeat(" ", axis+4)), []rune(strings.Repeat("─", axis+1))
	every := (k + 11) / 12
	for r := 1; r <= k; r += every {
		at := column(float64(r))
		copy(scale[at:], []rune(strconv.Itoa(r)))
		ticks[at] = '┼'
	}
	fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", left), strings.TrimRight(string(scale), " "))
	fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", left), string(ticks))
	bars := rank.Groups(ranks, difference)
	for _, j := range rank.Order(ranks) {
		at := column(ranks[j])
		row := strings.Repeat("·", at) + "●" + strings.Repeat(" ", axis-at)
		pad := strings.Repeat(" ", name-len([]rune(methods[j])))
		var marks strings.Builder
		switch {
		case j == control:
			marks.WriteString("  control")
		case control >= 0 && math.Abs(ranks[j]-ranks[control]) <= difference:
			marks.WriteString("  ≈")
		case control < 0:
			for _, g := range bars {
				marks.WriteString(" ")
				if slices.Contains(g, j) {
					marks.WriteString("┃")
				} else {
					marks.WriteString(" ")
				}
			}
		}
		text := fmt.Sprintf("  %s%s  %6.3f %s%s", methods[j], pad, ranks[j], row, &marks)
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	if d := column(1 + difference); d <= axis {
		label := "critical difference"
		fmt.Fprintf(w, "%s├%s┤ %s\n", strings.Repeat(" ", left), strings.Repeat("─", max(0, d-1)), label)
	}
}
