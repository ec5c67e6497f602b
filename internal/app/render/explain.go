package render

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"mercer/eval"
	"mercer/internal/engine/units"
)

// Explanation is what explain found out about a model as a whole.
type Explanation struct {
	// Model and Data name the files.
	Model string `json:"-"`
	Data  string `json:"-"`

	Importance *eval.Importances `json:"importance"`
	Dependence *eval.Dependences `json:"dependence,omitempty"`

	// Pairs are those that act together in the learned metric; NoPairs says why there are none.
	Pairs   []eval.Pair `json:"pairs,omitempty"`
	NoPairs string      `json:"no_pairs,omitempty"`
}

// measureNames are the losses of importances as people call them.
var measureNames = map[string]string{"log_loss": "log loss", "error": "error", "1-r2": "1 - R²", "hamming_loss": "Hamming loss",
	"pinball": "pinball loss"}

// lossText is a loss, or the rise of one.
func lossText(measure string, v float64) string {
	switch measure {
	case "error", "hamming_loss":
		return fmt.Sprintf("%.2f %%", 100*v)
	case "pinball":
		return fmt.Sprintf("%.4g", v)
	}
	if a := math.Abs(v); a > 0 && a < 0.0005 {
		return fmt.Sprintf("%.1e", v)
	}
	return fmt.Sprintf("%.4f", v)
}

// importanceLines are the facts about importances.
func (e *Explanation) importanceLines(line lines) {
	imp := e.Importance
	rows := units.Plural(imp.Rows, "row")
	if imp.Of > imp.Rows {
		rows = fmt.Sprintf("%s of %s, drawn at random", units.Count(imp.Rows), units.Plural(imp.Of, "row"))
	}
	line("rows", "%s; %d permutations of each column", rows, imp.Repeats)
	if imp.Unknown > 0 {
		line("", "%s with labels that the model does not know are left out", units.Plural(imp.Unknown, "row"))
	}
	for k, measure := range imp.Measures {
		name := measureNames[measure]
		if measure != "log_loss" {
			name = strings.TrimSuffix(name, " loss") // to fit the column of names
		}
		line(name, "%s", lossText(measure, imp.Losses[k]))
	}
}

// ExplainText writes importances, partial dependences and pairs; top bounds the columns and the pairs.
func ExplainText(w io.Writer, e *Explanation, top int) {
	e.importanceLines(linesTo(w))
	imp := e.Importance
	fmt.Fprintf(w, "\nImportance: the rise of the loss if the column is permuted, with its standard error\n\n")
	table := [][]string{{"column"}}
	for _, measure := range imp.Measures {
		table[0] = append(table[0], measureNames[measure], "±")
	}
	shown := imp.Columns[:min(top, len(imp.Columns))]
	most := 0.0
	for _, c := range shown {
		most = max(most, c.Rises[0].Mean)
	}
	for _, c := range shown {
		row := []string{ShortLabel(c.Column, listedName)}
		for k, r := range c.Rises {
			row = append(row, lossText(imp.Measures[k], r.Mean), lossText(imp.Measures[k], r.SE))
		}
		table = append(table, append(row, "  "+bar(c.Rises[0].Mean, most)))
	}
	Columns(w, 1, table)
	if left := len(imp.Columns) - len(shown); left > 0 {
		fmt.Fprintf(w, "  … and %s more (--top shows more, --json all)\n", units.Count(left))
	}
	if e.Dependence != nil {
		for i := range e.Dependence.Curves {
			dependenceText(w, e.Dependence, &e.Dependence.Curves[i])
		}
	}
	fmt.Fprintf(w, "\nColumns that act together\n\n")
	if len(e.Pairs) == 0 {
		fmt.Fprintf(w, "  %s\n", e.NoPairs)
		return
	}
	table = [][]string{{"columns", "strength"}}
	for _, p := range e.Pairs[:min(top, len(e.Pairs))] {
		table = append(table, []string{ShortLabel(p.First, listedName) + ", " + ShortLabel(p.Second, listedName),
			fmt.Sprintf("%.2f", p.Strength), "  " + bar(p.Strength, 1)})
	}
	Columns(w, 1, table)
}

// dependenceText writes the partial dependence on a column, at no more than eight points; of several outputs, that of
// the one that changes most. Bars go from the least 10 % (0 for probabilities) to the largest 90 %.
func dependenceText(w io.Writer, d *eval.Dependences, c *eval.ColumnDependence) {
	k := steepest(c)
	fmt.Fprintf(w, "\n%s: mean %s, with 10 %% and 90 %% of the rows\n\n", ShortLabel(c.Column, listedName), predictedText(d, k))
	points := len(c.Rows)
	step := max(1, (points+7)/8)
	if c.Categories != nil {
		step = 1
	}
	from, to := 0.0, slices.Max(c.High[k])
	if d.Of != "probability" {
		from = slices.Min(c.Low[k])
	}
	table := [][]string{{"value", "mean", "10 %", "90 %", "rows"}}
	for p := 0; p < points; p += step {
		row := []string{pointText(c, p)}
		for _, v := range []float64{c.Mean[k][p], c.Low[k][p], c.High[k][p]} {
			row = append(row, short(v))
		}
		rows := 0
		for q := p; q < min(p+step, points); q++ {
			rows += c.Rows[q]
		}
		table = append(table, append(row, units.Count(rows), "  "+bar(c.Mean[k][p]-from, to-from)))
	}
	Columns(w, 1, table)
	if c.Left > 0 {
		fmt.Fprintf(w, "  %s have other values\n", units.Plural(c.Left, "row"))
	}
}

// pointText is the value at a point of a curve.
func pointText(c *eval.ColumnDependence, p int) string {
	if c.Categories != nil {
		return ShortLabel(c.Categories[p], listedName)
	}
	return Number(c.Values[p])
}

// predictedText says what partial dependences are means of.
func predictedText(d *eval.Dependences, output int) string {
	if d.Of == "value" && len(d.Outputs) == 1 {
		return "prediction"
	}
	return d.Of + " of " + ShortLabel(d.Outputs[output], listedName)
}

// steepest is the output whose mean changes most along a curve.
func steepest(c *eval.ColumnDependence) int {
	best, most := 0, -1.0
	for k, mean := range c.Mean {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, v := range mean {
			lo, hi = min(lo, v), max(hi, v)
		}
		if hi-lo > most {
			best, most = k, hi-lo
		}
	}
	return best
}

// bar is a bar as long as a value, the largest having 20 characters, in eighths of a character; "" below 0.
func bar(v, most float64) string {
	if !(v > 0 && v <= most) {
		return ""
	}
	eighths := int(math.Round(160 * v / most))
	text := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return text
}
