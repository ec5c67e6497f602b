package render

import (
	"fmt"
	"io"
	"math"

	"mercer/eval"
	"mercer/internal/engine/units"
	"mercer/internal/engine/visible"
	"mercer/internal/search"
)

// ModelsJSON is what compare --json prints of models.
type ModelsJSON struct {
	*eval.Comparison
	Models []ModelJSON `json:"models"`
}

// ModelJSON is a model of a comparison, with the size of its file.
type ModelJSON struct {
	eval.Compared
	Bytes int64 `json:"bytes"`
}

// ConfigsJSON is what compare --json prints of configurations.
type ConfigsJSON struct {
	*eval.ConfigComparison
	Forecast *search.Forecast `json:"forecast,omitempty"`
}

// figures are how many digits after the point a table of a metric shows, of values and of differences.
type figures struct {
	metric             *eval.Metric
	values, difference int
}

// figuresFor shows two digits of what is uncertain, by how much values are.
func figuresFor(m *eval.Metric, uncertain float64) figures {
	if m.Percent {
		return figures{m, 2, 2}
	}
	n := 4
	if uncertain > 0 && !math.IsInf(uncertain, 1) {
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
func title(m *eval.Metric) string {
	if m.Percent {
		return m.Title + " %"
	}
	return m.Title
}

// ModelsText writes a comparison of models as a table; data names the rows, and so many bootstrap samples were drawn.
func ModelsText(w io.Writer, out *ModelsJSON, data string, resamples int) error {
	m, err := eval.MetricNamed(out.Metric)
	if err != nil {
		return err
	}
	level := fmt.Sprintf("%g %% interval", 100*out.Level)
	best := out.Models[out.Reference]
	reference, show := best.Name, figuresFor(m, best.High-best.Low)
	Line(w, "data", "%s: %s", data, units.Plural(out.N, "row"))
	Line(w, "metric", "%s, %s is better", m.About, out.Better)
	fmt.Fprintln(w)
	table := [][]string{{"model", title(m), level, "to " + ShortLabel(reference, 24), level, "p", "p (Holm)", "size", "µs/row"}}
	for _, e := range out.Models {
		row := []string{e.Name, show.value(e.Value), show.value(e.Low) + " … " + show.value(e.High)}
		table = append(table, append(append(row, show.compared(e.Difference, out.Chosen)...), units.Bytes(e.Bytes),
			fmt.Sprintf("%.3g", e.MicrosPerRow)))
	}
	Columns(w, 1, table)
	test := "by the same samples (an interval of the level 1-p ends at 0)"
	if out.Test == "mcnemar" {
		test = "McNemar's exact test of the rows that only one of the two has right"
	}
	fmt.Fprintf(w, "\n  Intervals: BCa, %s bootstrap samples of the rows.\n  p: %s, adjusted for %s by Holm.\n", units.Count(resamples),
		test, units.Plural(len(out.Models)-1, "comparison"))
	verdictText(w, reference, out.Chosen)
	return nil
}

// compared writes a difference, its interval and p, or what the reference is.
func (f figures) compared(gap *eval.Difference, chosen bool) []string {
	switch {
	case gap != nil:
		return []string{f.gap(gap.Value), f.gap(gap.Low) + " … " + f.gap(gap.High), PValue(gap.P), PValue(gap.Holm)}
	case chosen:
		return []string{"best", "", "", ""}
	}
	return []string{"control", "", "", ""}
}

// verdictText says how the reference was chosen.
func verdictText(w io.Writer, reference string, chosen bool) {
	if chosen {
		fmt.Fprintf(w, "  %s was chosen as the best by these same rows, which flatters it a little; --control NAME\n  compares with "+
			"one that was named before.\n", visible.Text(reference))
	}
}

// ConfigsText writes a comparison of configurations as a table; data names the rows.
func ConfigsText(w io.Writer, out *eval.ConfigComparison, data string) error {
	m, err := eval.MetricNamed(out.Metric)
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
	Line(w, "data", "%s: %s in %d folds%s", data, units.Plural(out.N, "row"), out.Folds, repeats)
	Line(w, "metric", "%s, %s is better", m.About, out.Better)
	fmt.Fprintln(w)
	table := [][]string{{"configuration", title(m), "± sd", "to " + shown, level, "p", "p (Holm)", "training", "µs/row"}}
	for i, e := range out.Configs {
		row := []string{fmt.Sprintf("%d  %s", i+1, e.Name), show.value(e.Mean), show.value(e.SD)}
		table = append(table, append(append(row, show.compared(e.Difference, out.Chosen)...), units.Seconds(e.Seconds),
			fmt.Sprintf("%.3g", e.MicrosPerRow)))
	}
	Columns(w, 1, table)
	test := "the same test"
	if out.Test == "mcnemar" {
		test = "McNemar's exact test of the out-of-fold predictions"
	}
	fmt.Fprintf(w, "\n  sd: over the folds. Intervals: corrected resampled t-test.\n  p: %s, adjusted for %s by Holm.\n", test,
		units.Plural(len(out.Configs)-1, "comparison"))
	verdictText(w, reference, out.Chosen)
	return nil
}
