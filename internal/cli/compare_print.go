package cli

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"mercer/lab"
)

// figures are how many digits after the point a table of a metric shows, of values and of differences.
type figures struct {
	metric             *lab.Metric
	values, difference int
}

// figuresFor shows two digits of what is uncertain, by how much values are.
func figuresFor(m *lab.Metric, uncertain float64) figures {
	if m.Percent {
		return figures{m, 2, 2}
	}
	n := 4
	if uncertain > 0 {
		n = min(max(1-int(math.Floor(math.Log10(uncertain))), 0), 9)
	}
	return figures{m, n, n + 1}
}

func (f figures) percent(v float64) float64 {
	if f.metric.Percent {
		return 100 * v
	}
	return v
}

func (f figures) value(v float64) string { return fmt.Sprintf("%.*f", f.values, f.percent(v)) }

func (f figures) gap(v float64) string { return fmt.Sprintf("%+.*f", f.difference, f.percent(v)) }

// title is a metric's title with its unit.
func title(m *lab.Metric) string {
	if m.Percent {
		return m.Title + " %"
	}
	return m.Title
}

func (c *compare) printModels(w io.Writer, path string, out *modelsJSON) error {
	m, err := lab.MetricNamed(out.Metric)
	if err != nil {
		return err
	}
	level := fmt.Sprintf("%g %% interval", 100*out.Level)
	best := out.Models[out.Reference]
	reference, show := best.Name, figuresFor(m, best.High-best.Low)
	fmt.Fprintf(w, "  %-10s%s: %s\n", "data", filepath.Base(path), plural(out.N, "row"))
	fmt.Fprintf(w, "  %-10s%s, %s is better\n\n", "metric", m.About, out.Better)
	table := [][]string{{"model", title(m), level, "to " + reference, level, "p", "p (Holm)", "size", "µs/row"}}
	for _, e := range out.Models {
		row := []string{e.Name, show.value(e.Value), show.value(e.Low) + " … " + show.value(e.High)}
		table = append(table, append(append(row, show.compared(e.Difference, out.Chosen)...), bytesText(e.Bytes), fmt.Sprintf("%.3g", e.MicrosPerRow)))
	}
	printColumns(w, 1, table)
	test := "by the same samples (an interval of the level 1-p ends at 0)"
	if out.Test == "mcnemar" {
		test = "McNemar's exact test of the rows that only one of the two has right"
	}
	fmt.Fprintf(w, "\n  Intervals: BCa, %s bootstrap samples of the rows.\n  p: %s, adjusted for %s by Holm.\n", comma(c.opt.Resamples), test, plural(len(out.Models)-1, "comparison"))
	printVerdict(w, reference, out.Chosen)
	return nil
}

// compared writes a difference, its interval and p, or what the reference is.
func (f figures) compared(gap *lab.Difference, chosen bool) []string {
	switch {
	case gap != nil:
		return []string{f.gap(gap.Value), f.gap(gap.Low) + " … " + f.gap(gap.High), pText(gap.P), pText(gap.Holm)}
	case chosen:
		return []string{"best", "", "", ""}
	}
	return []string{"control", "", "", ""}
}

// printVerdict says how the reference was chosen.
func printVerdict(w io.Writer, reference string, chosen bool) {
	if chosen {
		fmt.Fprintf(w, "  %s was chosen as the best by these same rows, which flatters it a little; --control NAME\n  compares with one that was named before.\n", reference)
	}
}

func (c *compare) printConfigs(w io.Writer, name string, out *lab.ConfigComparison) error {
	m, err := lab.MetricNamed(out.Metric)
	if err != nil {
		return err
	}
	level := fmt.Sprintf("%g %% interval", 100*out.Level)
	reference, show := out.Configs[out.Reference].Name, figuresFor(m, out.Configs[out.Reference].SD)
	shown := reference
	if len([]rune(shown)) > 24 {
		shown = fmt.Sprintf("number %d", out.Reference+1)
	}
	repeats := ""
	if out.Repeats > 1 {
		repeats = fmt.Sprintf(", %d times", out.Repeats)
	}
	fmt.Fprintf(w, "  %-10s%s: %s in %d folds%s\n", "data", name, plural(out.N, "row"), out.Folds, repeats)
	fmt.Fprintf(w, "  %-10s%s, %s is better\n\n", "metric", m.About, out.Better)
	table := [][]string{{"configuration", title(m), "± sd", "to " + shown, level, "p", "p (Holm)", "training", "µs/row"}}
	for i, e := range out.Configs {
		row := []string{fmt.Sprintf("%d  %s", i+1, e.Name), show.value(e.Mean), show.value(e.SD)}
		table = append(table, append(append(row, show.compared(e.Difference, out.Chosen)...), secondsText(duration(e.Seconds)), fmt.Sprintf("%.3g", e.MicrosPerRow)))
	}
	printColumns(w, 1, table)
	test := "the same test"
	if out.Test == "mcnemar" {
		test = "McNemar's exact test of the out-of-fold predictions"
	}
	fmt.Fprintf(w, "\n  sd: over the folds. Intervals: corrected resampled t-test.\n  p: %s, adjusted for %s by Holm.\n", test, plural(len(out.Configs)-1, "comparison"))
	printVerdict(w, reference, out.Chosen)
	return nil
}
