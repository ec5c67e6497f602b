package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// Rows without a label are left out before anything is taken from them, in every pass, if Options.DropUnlabelled says so: what is made of a
// table is then what is made of one without these rows.

// labelCells are the columns of the file whose cells are labels that may be missing.
func (t *table) labelCells() (at []int) {
	if t.schema.LabelSeparator != "" { // an empty list of labels is one
		return nil
	}
	for i, r := range t.roles {
		if r.kind == label {
			at = append(at, i)
		}
	}
	return at
}

// unlabelledCell is noLabel for a cell that nobody has read.
func (p *tableParser) unlabelledCell(i int, cell []byte) bool {
	_, number := parseNumber(trim(cell))
	return p.noLabel(i, cell, number)
}

// noLabel says that the cell of a label, which is a number or not, has none.
func (p *tableParser) noLabel(i int, cell []byte, number bool) bool {
	switch {
	case p.schema.NA != nil && (p.isMissing(cell) || number && p.isLabelGap(cell)):
		return !p.isClass(i, cell)
	case number:
		return false
	}
	return missing(cell) && !p.isClass(i, cell) || p.isMark(i, cell)
}

// isLabelGap says that a label is one of the numbers that stand for a missing value.
func (p *tableParser) isLabelGap(cell []byte) bool {
	v, _ := parseNumber(trim(cell))
	return slices.Contains(gapsAmong(p.schema.NA), v)
}

// unlabelled says that a record is to be left out.
func (p *tableParser) unlabelled(line []byte, spans bool) bool {
	if p.labels == nil {
		return false
	}
	cells := p.given
	if cells == nil {
		var err error
		if p.again, err = p.second.all(line, spans, p.again[:0]); err != nil {
			return false // which is told when the row is taken
		}
		cells = p.again
	}
	for _, i := range p.labels {
		if i < len(cells) && p.unlabelledCell(i, cells[i]) {
			p.dropped.Add(1)
			return true
		}
	}
	return false
}

// labelledOnly leaves rows out of a batch.
func (p *tableParser) labelledOnly(b *columnBatch) {
	if p.labels == nil {
		return
	}
	b.numbers = nil
	for i := range b.columns {
		b.columns[i].kept = nil
	}
	kept := make([]int, 0, b.rows)
	for row := range b.rows {
		has := true
		for _, i := range p.labels {
			if c, err := p.cellAt(b, i, row); err == nil { // errors are told when the row is taken
				has = has && !p.unlabelledCell(i, c.bytes(&p.text))
			}
		}
		if has {
			kept = append(kept, row)
		}
	}
	if len(kept) < b.rows {
		p.dropped.Add(int64(b.rows - len(kept)))
		b.keep(kept)
	}
}

// keep leaves out all rows but some, in their order.
func (b *columnBatch) keep(rows []int) {
	for i := range b.columns {
		c := &b.columns[i]
		switch c.kept = rows; c.kind {
		case columnLazy:
			continue
		case columnCells: // which may have begun as numbers
			c.cells = picked(c.cells, rows)
			continue
		case columnFloats:
			c.floats = picked(c.floats, rows)
		case columnDoubles:
			c.doubles = picked(c.doubles, rows)
		default:
			c.wholes = picked(c.wholes, rows)
		}
		c.valid = picked(c.valid, rows)
	}
	b.lines = picked(b.lines, rows)
	b.rows, b.numbers = len(rows), rows
}

// picked are some of the values, none if there are none. What values are in may be read again for another batch.
func picked[T any](values []T, at []int) []T {
	if len(values) == 0 {
		return values
	}
	some := make([]T, len(at))
	for to, i := range at {
		some[to] = values[i]
	}
	return some
}

// warnOfUnlabelled tells how many rows were left out.
func (t *table) warnOfUnlabelled() {
	if n := t.dropped.Load(); n > 0 {
		t.notice(t.schema.Labels[0].At, "label", "has no value in %s of %s, which are left out", units.Count(int(n)), units.Plural(t.profile.Rows+int(n), "row"))
	}
}

// mayLackLabels says that rows are taken without their label: what is done needs none. Rows of a bag say what its label is.
func (t *table) mayLackLabels() bool { return t.opt.LabelsOptional && t.schema.Group == nil }

// unlabelledError is the error of a row without a label.
type unlabelledError struct {
	error
	cell string
}

func (e *unlabelledError) Unwrap() error { return e.error }

// missingLabel says what to do about a row without a label.
func missingLabel(cell []byte) error {
	return &unlabelledError{option.Errorf("the label is missing (%q); give the row a label, or leave such rows out with %s", cell,
		option.Ref("drop_unlabelled")), string(cell)}
}

// counted tells how many rows have no label, if err is about one that has none.
func (t *table) counted(ctx context.Context, err error) error {
	var missed *unlabelledError
	if !errors.As(err, &missed) || streamed(t.in) {
		return err
	}
	all := 0
	r, failed := t.readBy(ctx, func() parser {
		p := t.newParser(nil)
		p.labels = t.labelCells()
		return &labelCounter{p}
	})
	if failed != nil {
		return err
	}
	defer r.Close()
	for b, failed := range restOf(r) {
		if failed != nil {
			return err
		}
		all += b.X.Len()
		if told := t.opt.Columns.Progress; told != nil {
			told(all, r.Progress())
		}
	}
	missed.error = option.Errorf("the label is missing (%q), as in %s of %s; give these rows labels, or leave them out with %s", missed.cell,
		units.Count(int(t.dropped.Load())), units.Plural(all, "row"), option.Ref("drop_unlabelled"))
	return err
}

// labelCounter makes rows of nothing, and counts those without a label.
type labelCounter struct{ *tableParser }

func (c *labelCounter) parse(text []byte, line int, rows *rowBuffer) error {
	rows.shape(0, 0, false)
	quoted := !c.arff && bytes.IndexByte(text, '"') >= 0
	for len(text) > 0 {
		row, rest, lines := record(text, quoted)
		some, err := c.begin(row)
		if err != nil {
			return c.atLine(line, err)
		}
		if some {
			c.unlabelled(row, lines > 1)
			rows.endRow("")
		}
		text, line = rest, line+lines
	}
	return nil
}

func (c *labelCounter) parseBatch(b *columnBatch, _ int, rows *rowBuffer) error {
	rows.shape(0, 0, false)
	for range b.rows {
		rows.endRow("")
	}
	c.labelledOnly(b)
	return nil
}

// tellOfLabels tells of classes that are written like a missing value.
func (t *table) tellOfLabels(c *collected, by *collector) {
	if len(t.schema.Labels) != 1 || t.schema.LabelSeparator != "" {
		return
	}
	at := t.schema.Labels[0].At
	a, col, marked := &t.attributes[at], &c.columns[at], 0
	for _, n := range by.marked {
		marked += n
	}
	if len(a.cells) == 0 && col.wrong == marked && !math.IsInf(col.max, 0) { // numbers behind rows without
		a.cells, by.marked = []string{number(col.max)}, nil
		col.missing += marked
	}
	t.tellOfMarked(at, by.marked, c.rows)
}

// tellOfMarked tells of classes that are written like a missing value, with their rows if these are known.
func (t *table) tellOfMarked(at int, marked map[string]int, rows int) {
	names := slices.Sorted(maps.Keys(marked))
	if len(names) == 0 {
		return
	}
	var list []string
	for _, name := range names {
		if n := marked[name]; n > 0 {
			name += fmt.Sprintf(" (%s of %s)", units.Count(n), units.Plural(rows, "row"))
		}
		list = append(list, name)
	}
	what := "class %s, which elsewhere stands for a missing value"
	if len(list) > 1 {
		what = "classes %s, which elsewhere stand for a missing value"
	}
	t.notice(at, "label", "has the "+what+"; %s says that such labels are missing", strings.Join(list, " and "),
		option.Set("na", option.Listed(names)))
}
