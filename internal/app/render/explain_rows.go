package render

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"mercer/internal/engine/units"
)

// Contributions are those of the columns to the scores of rows.
type Contributions struct {
	// Model and Data name the files.
	Model string `json:"-"`
	Data  string `json:"-"`

	// Background is how many rows the base is the mean of, BackgroundData where these are from.
	Background     int    `json:"background"`
	BackgroundData string `json:"background_data"`

	// Outputs name the scores: classes (of two, the second alone), labels or targets. Columns name the columns.
	Outputs []string `json:"outputs"`
	Columns []string `json:"columns"`

	// Rows are the rows explained.
	Rows []RowContributions `json:"rows"`
}

// RowContributions are those to the scores of one row.
type RowContributions struct {
	// Row is the number of the row in its file, from 1.
	Row int `json:"row"`

	// Prediction is what the model predicts, Inputs what the row has in each column.
	Prediction string   `json:"prediction"`
	Inputs     []string `json:"inputs"`

	// Output is the one that text and page show, by its place in Outputs. Negated means that they show it for the first
	// of two classes, whose score and contributions are those of the second with the other sign.
	Output  int  `json:"-"`
	Negated bool `json:"-"`

	// Class names what is shown.
	Class string `json:"-"`

	Base   []float64   `json:"base"`
	Score  []float64   `json:"score"`
	Values [][]float64 `json:"values"`
	SE     [][]float64 `json:"se"`
	Exact  bool        `json:"exact"`
}

// part is the contribution of a column to the score that is shown.
type part struct {
	name, input string
	value, se   float64
}

// shown are the parts of the score that is shown, the largest first: the first top of them, and the sum of the others.
func (c *Contributions) shown(r *RowContributions, top int) (base, score float64, parts []part, others float64, left int) {
	sign := 1.0
	if r.Negated {
		sign = -1
	}
	for j, v := range r.Values[r.Output] {
		parts = append(parts, part{c.Columns[j], r.Inputs[j], sign * v, r.SE[r.Output][j]})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(math.Abs(b.value), math.Abs(a.value)) })
	if left = max(0, len(parts)-top); left > 0 {
		for _, p := range parts[top:] {
			others += p.value
		}
		parts = parts[:top]
	}
	return sign * r.Base[r.Output], sign * r.Score[r.Output], parts, others, left
}

// of names a score.
func (r *RowContributions) of() string {
	if r.Class == "" {
		return "score"
	}
	return "score of " + ShortLabel(r.Class, listedName)
}

// Text writes one row; top bounds the columns.
func (c *Contributions) Text(w io.Writer, r *RowContributions, top int) {
	base, score, parts, others, left := c.shown(r, top)
	above := "above"
	if score < base {
		above = "below"
	}
	fmt.Fprintf(w, "row %s: predicted %s, %s %s, %s %s the base %s\n\n", units.Count(r.Row), ShortLabel(r.Prediction, listedName), r.of(),
		Number(score), Number(math.Abs(score-base)), above, Number(base))
	table := [][]string{{"column", "value", "contribution"}}
	if !r.Exact {
		table[0] = append(table[0], "±")
	}
	most := 0.0
	for _, p := range parts {
		most = max(most, math.Abs(p.value))
	}
	add := func(name, input string, v, se float64, last string) {
		row := []string{name, input, fixed(v, most, "+")}
		if !r.Exact {
			row = append(row, fixed(se, most, ""))
		}
		table = append(table, append(row, last))
	}
	for _, p := range parts {
		add(ShortLabel(p.name, listedName), ShortLabel(p.input, listedName), p.value, p.se, "  "+bar(math.Abs(p.value), most))
	}
	if left > 0 {
		add(fmt.Sprintf("… %s more", units.Count(left)), " ", others, 0, "")
		if !r.Exact {
			table[len(table)-1][3] = ""
		}
	}
	Columns(w, 2, table)
	fmt.Fprintln(w)
}

// fixed is a number with as many decimals as give another, the largest of a column, four digits. flag is that of fmt.
func fixed(v, most float64, flag string) string {
	decimals := 0
	if most > 0 && most < 1000 {
		decimals = min(12, 3-int(math.Floor(math.Log10(most))))
	}
	return fmt.Sprintf("%"+flag+".*f", decimals, v)
}

// CSVHeader writes the first line of a table of contributions.
func (c *Contributions) CSVHeader(w *csv.Writer) error {
	return w.Write(append([]string{"row", "output", "base", "score"}, c.Columns...))
}

// CSVRow writes a line for each score of a row.
func (c *Contributions) CSVRow(w *csv.Writer, r *RowContributions) error {
	for k, name := range c.Outputs {
		line := []string{strconv.Itoa(r.Row), name, exactNumber(&r.Base[k]), exactNumber(&r.Score[k])}
		for j := range r.Values[k] {
			line = append(line, exactNumber(&r.Values[k][j]))
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// ExplainCSV writes importances, a line for each column and measure.
func ExplainCSV(w io.Writer, e *Explanation) error {
	rows := [][]string{{"column", "measure", "rise", "se", "repeat_se"}}
	for _, c := range e.Importance.Columns {
		for k, measure := range e.Importance.Measures {
			r := &c.Rises[k]
			rows = append(rows, []string{c.Column, measure, exactNumber(&r.Mean), exactNumber(&r.SE), exactNumber(&r.RepeatSE)})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}
