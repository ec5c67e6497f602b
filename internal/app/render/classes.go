package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"mercer/eval"
	"mercer/internal/engine/units"
)

// shownClasses is how many classes a table shows, and crossed of how many a matrix is readable.
const (
	shownClasses = 40
	crossed      = 20
)

// labelsTable writes a line for each class or label; of very many those with the lowest F1.
func labelsTable(w io.Writer, what string, all []eval.LabelMetrics, areas bool) {
	if len(all) == 0 {
		return
	}
	shown := all
	if len(all) > shownClasses && areas {
		shown = slices.Clone(all)
		slices.SortStableFunc(shown, func(a, b eval.LabelMetrics) int { return cmp.Compare(a.F1, b.F1) })
		what = "lowest F1"
	}
	wide := utf8.RuneCountInString(what)
	shown = shown[:min(len(shown), shownClasses)]
	for _, l := range shown {
		wide = max(wide, utf8.RuneCountInString(ShortLabel(l.Label, 30)))
	}
	wide = max(wide+2, 20)
	fmt.Fprintf(w, "\n  %s%10s%11s%11s%11s", padded(what, wide), "rows", "precision", "recall", "F1")
	if areas {
		fmt.Fprintf(w, "%10s%10s", "AUC", "PR AUC")
	}
	fmt.Fprintln(w)
	for _, l := range shown {
		fmt.Fprintf(w, "  %s%10s%9.2f %%%9.2f %%%9.2f %%", padded(ShortLabel(l.Label, 30), wide), amount(l.Rows), 100*l.Precision,
			100*l.Recall, 100*l.F1)
		if areas {
			fmt.Fprintf(w, "%10s%10s", areaText(l.AUC), areaText(l.AveragePrecision))
		}
		fmt.Fprintln(w)
	}
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(w, "  … and %s more (--json lists all)\n", units.Count(more))
	}
}

// confusionText writes a confusion matrix, or of many classes the pairs that
// are confused most often.
func confusionText(w io.Writer, c *eval.Confusion) {
	if len(c.Labels) > crossed {
		confusedText(w, c)
		return
	}
	const mostLabel = 20
	lineNames := slices.Clone(c.Labels)
	if len(c.Counts) > len(c.Labels) {
		lineNames = append(lineNames, "(unknown)")
	}
	wide, column := 0, 4
	for i, name := range lineNames {
		lineNames[i] = ShortLabel(name, mostLabel)
		wide = max(wide, utf8.RuneCountInString(lineNames[i]))
		for _, v := range c.Counts[i] {
			column = max(column, len(amount(v)))
		}
	}
	for _, name := range c.Labels {
		column = max(column, min(utf8.RuneCountInString(name), 60/len(c.Labels)))
	}
	fmt.Fprintf(w, "\n  lines: truth, columns: prediction\n  %s", padded("", wide))
	for _, name := range c.Labels {
		fmt.Fprint(w, "  ", leftPadded(ShortLabel(name, column), column))
	}
	fmt.Fprintln(w)
	for i, name := range lineNames {
		fmt.Fprintf(w, "  %s", padded(name, wide))
		for _, v := range c.Counts[i] {
			text := "·"
			if v != 0 {
				text = amount(v)
			}
			fmt.Fprint(w, "  ", leftPadded(text, column))
		}
		fmt.Fprintln(w)
	}
}

// confusedText writes the ten pairs of classes that are confused most often.
func confusedText(w io.Writer, c *eval.Confusion) {
	type pair struct {
		truth, predicted int
		rows, share      float64
	}
	var pairs []pair
	for t, line := range c.Counts[:len(c.Labels)] {
		all := 0.0
		for _, v := range line {
			all += v
		}
		for p, v := range line {
			if p != t && v > 0 {
				pairs = append(pairs, pair{t, p, v, v / all})
			}
		}
	}
	if len(pairs) == 0 {
		return
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.rows, a.rows) })
	const wide = 22
	fmt.Fprintf(w, "\n  %s%s%10s%16s\n", padded("most often, truth", wide), padded("is taken for", wide), "rows", "of the truth's")
	for _, p := range pairs[:min(10, len(pairs))] {
		fmt.Fprintf(w, "  %s%s%10s%14.2f %%\n", padded(ShortLabel(c.Labels[p.truth], wide-2), wide),
			padded(ShortLabel(c.Labels[p.predicted], wide-2), wide), amount(p.rows), 100*p.share)
	}
}

// outputsText writes a line for each output of a regression.
func outputsText(w io.Writer, outputs []eval.OutputMetrics) {
	if len(outputs) == 0 {
		return
	}
	fmt.Fprintf(w, "\n  %-20s%12s%12s%12s%12s%12s\n", "output", "RMSE", "MAE", "R²", "median AE", "max error")
	for i, o := range outputs {
		if i == shownClasses {
			fmt.Fprintf(w, "  … and %s more (--json lists all)\n", units.Count(len(outputs)-i))
			break
		}
		r2 := "–"
		if o.R2 != nil {
			r2 = Number(*o.R2)
		}
		fmt.Fprintf(w, "  %s%12s%12s%12s%12s%12s\n", padded(ShortLabel(o.Name, 19), 20), Number(o.RMSE), Number(o.MAE), r2,
			Number(o.MedianAE), Number(o.MaxError))
	}
}
