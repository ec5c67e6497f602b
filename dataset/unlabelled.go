package dataset

import (
	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// Rows without a label are left out before anything is taken from them, in every pass, if Options.DropUnlabelled says so: what is made of a
// table is then what is made of one without these rows.

// labelCells are the columns of the file whose cells are labels, if rows without one are left out.
func (t *table) labelCells() (at []int) {
	if !t.opt.DropUnlabelled || t.schema.LabelSeparator != "" { // an empty list of labels is one
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
	case p.schema.NA != nil && p.isMissing(cell):
		return !p.isClass(i, cell)
	case number:
		return false
	}
	return missing(cell) && !p.isClass(i, cell) || p.isMark(i, cell)
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
		c.floats, c.doubles, c.wholes = picked(c.floats, rows), picked(c.doubles, rows), picked(c.wholes, rows)
		c.valid, c.cells = picked(c.valid, rows), picked(c.cells, rows)
		c.kept = rows
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

// errUnlabelled says what to do about a row without a label.
func errUnlabelled(cell []byte) error {
	return option.Errorf("the label is missing (%q); give the row a label or remove it (a training and an evaluation leave out such rows of a table with %s)", cell, option.Ref("drop_unlabelled"))
}
