package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// predictionTable writes predictions as a table with names: columns of the input, the prediction, and what else was
// asked for, as CSV, JSON lines, Parquet or Arrow.
type predictionTable struct {
	w     *bufio.Writer
	lines bool // JSON lines
	sep   rune

	m       *model.Model
	carried []string        // names of the columns of the input
	numbers map[string]bool // those that are plain numbers to the model
	names   []string        // of all columns
	proba   []float64
	top     int
	scores  bool
	records *csv.Writer
	columns *dataset.TableFile // Parquet or Arrow, nil otherwise
	record  []string
}

// tabular says whether predictions are a table with names: the file's name or a flag asks for that.
func (p *predict) tabular() bool {
	_, table := p.out.table()
	return p.withInput || p.data.Columns.ID != "" || p.top > 0 || table
}

// runTable predicts rows into a table with names.
func (p *predict) runTable(cmd *cobra.Command, m *model.Model, src *rows, bars *Progress) error {
	format, table := p.out.table()
	t := &predictionTable{m: m, lines: p.json || format.Objects, sep: cmp.Or(format.Comma, ','), top: p.top, scores: p.scores}
	if f, ok := src.file.(*dataset.File); ok {
		t.carried = f.CarriedColumns()
	}
	if p.withInput && t.carried == nil {
		return usagef("--with-input is for tables, whose columns have names")
	}
	if m.HasProbabilities() {
		t.proba = make([]float64, max(len(m.Classes()), len(m.Labels())))
	} else if p.top > 0 {
		return fmt.Errorf("--top-k names the most probable classes: %w", m.NoProbabilities())
	}
	t.numbers = map[string]bool{}
	for _, c := range m.Info().Schema.Columns {
		t.numbers[c.Name] = c.Categories == nil && c.Coding == nil
	}
	t.top = min(p.top, len(t.proba)) // no more classes than there are
	t.head(p)
	work := func(w *bufio.Writer) error {
		t.w = w
		if err := t.begin(); err != nil {
			return err
		}
		err := p.eachScored(cmd, m, src, bars, func(b dataset.Step, scores *matrix.Dense, extra spread) error {
			return t.rows(scores, extra, dataset.Carried(b.Pass))
		})
		if err != nil {
			return err
		}
		if t.records != nil {
			t.records.Flush()
			return t.records.Error()
		}
		return nil
	}
	if table && format.Typed() {
		var texts []bool
		if f, ok := src.file.(*dataset.File); ok {
			texts = f.CarriedTexts()
		}
		var err error
		if t.columns, err = dataset.CreateTable(cmp.Or(p.out.path, "/dev/stdout"), format.Name, t.typed(texts)); err != nil {
			return err
		}
		defer t.columns.Close()
		if err := work(nil); err != nil {
			return err
		}
		bars.Done()
		return t.columns.Commit()
	}
	return p.output(cmd, bars, work)
}

// typed are the columns with their kinds; texts are those of the input that are texts.
func (t *predictionTable) typed(texts []bool) []dataset.TableColumn {
	all := make([]dataset.TableColumn, len(t.names))
	for i, name := range t.names {
		all[i] = dataset.TableColumn{Name: name, Kind: dataset.KindNumber}
		switch {
		case i < len(t.carried) && !texts[i]:
			all[i].Kind = ""
		case t.isText(i):
			all[i].Kind = dataset.KindText
		}
	}
	return all
}

// isText says whether a column has texts, or cells of the input.
func (t *predictionTable) isText(i int) bool {
	return i < len(t.carried) || i == len(t.carried) && (t.m.Classes() != nil || t.m.Labels() != nil) || strings.HasPrefix(t.names[i], "class_")
}

// head settles the names of the columns. A name that the input has already gets a number.
func (t *predictionTable) head(p *predict) {
	t.names = append(t.names, t.carried...)
	add := func(name string) {
		unique := name
		for n := 2; contained(t.names, unique); n++ {
			unique = fmt.Sprintf("%s_%d", name, n)
		}
		t.names = append(t.names, unique)
	}
	outputs := []string{""}
	if t.m.Classes() == nil && t.m.Labels() == nil && t.m.Outputs() > 1 {
		outputs = outputs[:0]
		for i := range t.m.Outputs() {
			name := strconv.Itoa(i)
			if l := t.m.Info().Schema.Labels; len(l) == t.m.Outputs() {
				name = l[i].Name
			}
			outputs = append(outputs, "_"+name)
		}
	}
	each := func(what string) {
		for _, o := range outputs {
			add(what + o)
		}
	}
	each("prediction")
	for k := range t.top {
		add(fmt.Sprintf("class_%d", k+1))
		add(fmt.Sprintf("p_%d", k+1))
	}
	if t.proba != nil && t.top == 0 {
		for _, class := range append(t.m.Classes(), t.m.Labels()...) {
			add("p_" + class)
		}
	}
	if p.scores {
		for i := range t.m.Outputs() {
			switch c := t.m.Classes(); {
			case len(c) == t.m.Outputs():
				add("score_" + c[i])
			case t.m.Outputs() == 1:
				add("score")
			default:
				add(fmt.Sprintf("score_%d", i))
			}
		}
	}
	if p.variance {
		each("deviation")
	}
	if p.interval != "" {
		for _, o := range outputs {
			add("lower" + o)
			add("upper" + o)
		}
	}
}

func contained(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// begin writes the header.
func (t *predictionTable) begin() error {
	if t.lines || t.columns != nil {
		return nil
	}
	t.records = csv.NewWriter(t.w)
	t.records.Comma = t.sep
	return t.records.Write(t.names)
}

// rows writes the rows of a batch; carried are the cells of their input.
func (t *predictionTable) rows(scores *matrix.Dense, extra spread, carried []string) error {
	number := func(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }
	value := func(k int, v float32) string { return strconv.FormatFloat(t.m.Value(k, v), 'g', -1, t.m.ValueBits()) }
	for i := range scores.Rows {
		row := scores.Row(i)
		r := append(t.record[:0], carried[min(len(carried), i*len(t.carried)):min(len(carried), (i+1)*len(t.carried))]...)
		switch {
		case t.m.Classes() != nil:
			r = append(r, t.m.Classes()[t.m.Class(row)])
		case t.m.Labels() != nil:
			r = append(r, strings.Join(t.m.Predicted(row), ","))
		default:
			for k, v := range row {
				r = append(r, value(k, v))
			}
		}
		if t.proba != nil {
			if err := t.m.Probabilities(t.proba, row); err != nil {
				return err
			}
			r = t.appendProbabilities(r)
		}
		if t.scores {
			for k, v := range row {
				r = append(r, value(k, v))
			}
		}
		if extra.deviations != nil {
			for _, v := range extra.deviations.Row(i) {
				r = append(r, number(v))
			}
		}
		if extra.lower != nil {
			for o, v := range extra.lower.Row(i) {
				r = append(r, value(o, v), value(o, extra.upper.Row(i)[o]))
			}
		}
		t.record = r
		if err := t.write(); err != nil {
			return err
		}
	}
	return nil
}

// appendProbabilities appends those of all classes, or the classes with the largest.
func (t *predictionTable) appendProbabilities(r []string) []string {
	if t.top == 0 {
		for _, v := range t.proba {
			r = append(r, strconv.FormatFloat(v, 'g', 6, 64))
		}
		return r
	}
	names := append(t.m.Classes(), t.m.Labels()...)
	used := make([]bool, len(names))
	for range t.top {
		best := -1
		for k, v := range t.proba {
			if !used[k] && (best < 0 || v > t.proba[best]) {
				best = k
			}
		}
		used[best] = true
		r = append(r, names[best], strconv.FormatFloat(t.proba[best], 'g', 6, 64))
	}
	return r
}

// write writes t.record.
func (t *predictionTable) write() error {
	if t.columns != nil {
		return t.columns.Write(t.record)
	}
	if !t.lines {
		return t.records.Write(t.record)
	}
	var line bytes.Buffer
	out := json.NewEncoder(&line)
	out.SetEscapeHTML(false)
	line.WriteByte('{')
	for i, name := range t.names {
		if i > 0 {
			line.WriteByte(',')
		}
		if err := out.Encode(name); err != nil {
			return err
		}
		line.Truncate(line.Len() - 1)
		line.WriteByte(':')
		value := t.record[i]
		if (!t.isText(i) || i < len(t.carried) && t.numbers[t.carried[i]]) && json.Valid([]byte(value)) {
			line.WriteString(value)
			continue
		}
		if err := out.Encode(value); err != nil {
			return err
		}
		line.Truncate(line.Len() - 1)
	}
	line.WriteString("}\n")
	_, err := t.w.Write(line.Bytes())
	return err
}
