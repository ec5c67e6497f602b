package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mercer/lab"
)

// firstMetrics are those that are printed first, and by train alone.
var firstMetrics = []string{"accuracy", "error", "subset_accuracy", "hamming_loss", "micro_f1", "macro_f1", "f1", "auc",
	"rmse", "mae", "r2", "log_loss", "brier", "ece"}

// printMetrics prints for a person what matters first.
func printMetrics(w io.Writer, m *lab.Metrics, rows string) {
	if m.Weight != nil {
		fmt.Fprintf(w, "  %-10s%s in all\n", "weights", amount(*m.Weight))
	}
	if m.Unknown > 0 {
		fmt.Fprintf(w, "  %-10s%s of labels that the model does not know; they count as errors\n", "unknown", plural(m.Unknown, rows))
	}
	for _, name := range firstMetrics {
		if !isFirst(name, m) {
			continue
		}
		metric, err := lab.MetricNamed(name)
		if err != nil {
			panic("mercer: " + err.Error()) // firstMetrics are known
		}
		if v := metric.Value(m); v != nil {
			fmt.Fprintf(w, "  %-10s%s\n", metric.Title, metricText(metric, m))
		}
	}
	printLabels(w, "label", m.Labels, false)
}

// isFirst says whether printMetrics prints a metric. Micro F1 of classes is the accuracy, and stands with the other averages.
func isFirst(name string, m *lab.Metrics) bool {
	return slices.Contains(firstMetrics, name) && (name != "micro_f1" || m.Accuracy == nil)
}

// metricText writes a metric's value, and how exact it is.
func metricText(metric *lab.Metric, m *lab.Metrics) string {
	v := *metric.Value(m)
	if metric.Percent {
		return fmt.Sprintf("%.2f %%", 100*v)
	}
	text := numberText(v)
	if within := metric.Within(m); within != nil {
		text += fmt.Sprintf(" ± %.1g", *within)
	}
	return text
}

// numberText writes a number with five digits, large ones as they are read.
func numberText(v float64) string {
	if a := math.Abs(v); a >= 10_000 && a < 1e15 {
		return comma(int(math.Round(v)))
	}
	return fmt.Sprintf("%.5g", v)
}

// printMoreMetrics prints those that printMetrics does not, with what they are.
func printMoreMetrics(w io.Writer, m *lab.Metrics) {
	space := "\n"
	for _, name := range lab.MetricNames("") {
		metric, err := lab.MetricNamed(name)
		if err != nil {
			panic("mercer: " + err.Error()) // the names are its own
		}
		v := metric.Value(m)
		switch {
		case v == nil || isFirst(name, m):
			continue
		case name == "pinball" && *m.Quantile == 0.5:
			continue // half of the mean absolute error
		}
		fmt.Fprintf(w, "%s  %s%-12s%s\n", space, padded(metric.Title, 19), metricText(metric, m), aboutText(metric, m))
		space = ""
	}
	if m.Bias != nil {
		fmt.Fprintf(w, "  %s%-12s%s\n", padded("bias", 19), numberText(*m.Bias), "mean of prediction - target")
	}
}

// aboutText says what a metric is, of the classes, labels or targets that it is of here.
func aboutText(metric *lab.Metric, m *lab.Metrics) string {
	about := metric.About
	if m.Labels != nil {
		about = strings.NewReplacer("the classes", "the labels", "one class", "one label").Replace(about)
	}
	if len(m.Classes) == 2 {
		about = strings.ReplaceAll(about, "the second of two classes", m.Classes[1].Label)
	}
	switch {
	case strings.HasPrefix(metric.Name, "micro_") && m.Accuracy != nil:
		about += ", which is the accuracy"
	case metric.Name == "mape" && m.ZeroTargets > 0:
		about += fmt.Sprintf(" (%s are)", comma(m.ZeroTargets))
	case metric.Name == "pinball" && m.Quantile != nil:
		about += fmt.Sprintf(" of the quantile %g", *m.Quantile)
	}
	return about
}

// shownClasses is how many classes a table shows, and crossed of how many a matrix is readable.
const (
	shownClasses = 40
	crossed      = 20
)

// printLabels prints a line for each class or label; of very many those with the lowest F1.
func printLabels(w io.Writer, what string, all []lab.LabelMetrics, areas bool) {
	if len(all) == 0 {
		return
	}
	shown := all
	if len(all) > shownClasses && areas {
		shown = slices.Clone(all)
		slices.SortStableFunc(shown, func(a, b lab.LabelMetrics) int { return cmp.Compare(a.F1, b.F1) })
		what = "lowest F1"
	}
	wide := utf8.RuneCountInString(what)
	shown = shown[:min(len(shown), shownClasses)]
	for _, l := range shown {
		wide = max(wide, utf8.RuneCountInString(shortLabel(l.Label, 30)))
	}
	wide = max(wide+2, 20)
	fmt.Fprintf(w, "\n  %s%10s%11s%11s%11s", padded(what, wide), "rows", "precision", "recall", "F1")
	if areas {
		fmt.Fprintf(w, "%10s%10s", "AUC", "PR AUC")
	}
	fmt.Fprintln(w)
	for _, l := range shown {
		fmt.Fprintf(w, "  %s%10s%9.2f %%%9.2f %%%9.2f %%", padded(shortLabel(l.Label, 30), wide), amount(l.Rows), 100*l.Precision, 100*l.Recall, 100*l.F1)
		if areas {
			fmt.Fprintf(w, "%10s%10s", areaText(l.AUC), areaText(l.AveragePrecision))
		}
		fmt.Fprintln(w)
	}
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(w, "  … and %s more (--json lists all)\n", comma(more))
	}
}

func areaText(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *v)
}

// printConfusion prints what is taken for what: a matrix, or of many classes the pairs that
// are confused most often.
func printConfusion(w io.Writer, c *lab.Confusion) {
	if len(c.Labels) > crossed {
		printConfused(w, c)
		return
	}
	const mostLabel = 20
	lineNames := slices.Clone(c.Labels)
	if len(c.Counts) > len(c.Labels) {
		lineNames = append(lineNames, "(unknown)")
	}
	wide, column := 0, 4
	for i, name := range lineNames {
		lineNames[i] = shortLabel(name, mostLabel)
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
		fmt.Fprint(w, "  ", leftPadded(shortLabel(name, column), column))
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

// printConfused prints the ten pairs of classes that are confused most often.
func printConfused(w io.Writer, c *lab.Confusion) {
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
		fmt.Fprintf(w, "  %s%s%10s%14.2f %%\n", padded(shortLabel(c.Labels[p.truth], wide-2), wide),
			padded(shortLabel(c.Labels[p.predicted], wide-2), wide), amount(p.rows), 100*p.share)
	}
}

// printOutputs prints a line for each output of a regression.
func printOutputs(w io.Writer, outputs []lab.OutputMetrics) {
	if len(outputs) == 0 {
		return
	}
	fmt.Fprintf(w, "\n  %-20s%12s%12s%12s%12s%12s\n", "output", "RMSE", "MAE", "R²", "median AE", "max error")
	for i, o := range outputs {
		if i == shownClasses {
			fmt.Fprintf(w, "  … and %s more (--json lists all)\n", comma(len(outputs)-i))
			break
		}
		r2 := "–"
		if o.R2 != nil {
			r2 = numberText(*o.R2)
		}
		fmt.Fprintf(w, "  %s%12s%12s%12s%12s%12s\n", padded(shortLabel(o.Name, 19), 20), numberText(o.RMSE), numberText(o.MAE), r2, numberText(o.MedianAE), numberText(o.MaxError))
	}
}

// amount writes a number of rows, or a sum of their weights.
func amount(v float64) string {
	if v == float64(int(v)) {
		return comma(int(v))
	}
	if v >= 10_000 {
		return comma(int(v + 0.5))
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}

// shortLabel cuts what is longer than so many characters.
func shortLabel(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:max(most-1, 1)]) + "…"
	}
	return s
}

func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

func leftPadded(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}
