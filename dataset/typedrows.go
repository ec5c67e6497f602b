package dataset

import (
	"context"
	"io"
	"math"
	"slices"
)

// A pass over a typed table needs no text: one goroutine reads batches of columns, others make rows of them. Columns of numbers are
// taken as they are, and cells one by one: as text only where text is wanted, such as the name of a category, or where text decides, such as
// whether a number stands for a missing value. The rows have the bits that a table of text would give.

// batchParser makes rows of batches; the first is row number first of the table, from 0.
type batchParser interface {
	parseBatch(b *columnBatch, first int, rows *rowBuffer) error
}

// readTyped starts a pass.
func (t *table) readTyped(ctx context.Context, newParser func() parser) (*textReader, error) {
	pass, err := t.typed.pass()
	if err != nil {
		return nil, err
	}
	r := newTextReader(ctx, t.opt.BatchRows, t.Name(), pass.share)
	r.start(newParser, func() { pass.Close() }, func(work chan<- *block) {
		for first := 0; ; {
			b, ok := r.take()
			if !ok {
				return
			}
			b.first, b.columnar = first, true
			if b.err = pass.next(&b.batch); b.err == io.EOF {
				return
			}
			failed := b.err != nil
			first += b.batch.rows
			if !r.give(b, work) || failed {
				return
			}
		}
	})
	return r, nil
}

// firstLine is the line of the first row, were the table text.
const firstLine = 2

// parseBatch implements batchParser.
func (p *tableParser) parseBatch(b *columnBatch, first int, rows *rowBuffer) error {
	p.unknown = nil
	p.labelledOnly(b)
	var at int
	var err error
	if p.collector != nil {
		rows.shape(len(p.attributes), 0, false)
		at, err = p.collectBatch(b, first, rows)
		p.endCollecting()
	} else {
		rows.shape(len(p.schema.Labels), p.schema.Dim, p.sparse)
		at, err = p.takeBatch(b, first, rows)
	}
	p.noteUnseen()
	if err != nil {
		return b.wrong(p.Name(), first, at, err)
	}
	return nil
}

// line is that of a row of a batch whose first row is a number of the table.
func (b *columnBatch) line(first, row int) int {
	if len(b.lines) > 0 {
		return b.lines[row]
	}
	return first + b.number(row) + firstLine
}

// atRow says which row comes: its line, if the table has lines.
func (p *tableParser) atRow(b *columnBatch, row int) {
	if p.line = 0; len(b.lines) > 0 {
		p.line = b.lines[row]
	}
}

// cellAt is a cell of column i, valid until the next.
func (p *tableParser) cellAt(b *columnBatch, i, row int) (*cell, error) {
	if err := b.columns[i].cell(row, &p.typedCell, &p.text); err != nil {
		return nil, p.wrong(i, nil, err)
	}
	return &p.typedCell, nil
}

// takeBatch appends the rows of a batch, and returns the row in which an error is. Rows before that are complete.
func (p *tableParser) takeBatch(b *columnBatch, first int, rows *rowBuffer) (int, error) {
	d, k, n := p.schema.Dim, rows.Outputs, b.rows
	if !p.sparse {
		rows.dense.Data = slices.Grow(rows.dense.Data[:0], n*d)[:n*d]
		clear(rows.dense.Data)
	}
	rows.Y = slices.Grow(rows.Y[:0], n*k)[:n*k]
	// Columns of numbers first, one after the other; of their errors that of the first row counts.
	bad, badColumn, failed := n, 0, error(nil)
	p.byRow = p.byRow[:0]
	for i := range p.roles {
		switch r := &p.roles[i]; {
		case r.kind == ignored:
		case r.kind != numeric || p.sparse || p.means != nil || p.schema.NA != nil || r.gaps != nil || b.columns[i].kind == columnCells || b.columns[i].kind == columnLazy:
			p.byRow = append(p.byRow, i)
		default:
			if row, err := p.takeNumbers(b, i, bad, rows); err != nil {
				bad, badColumn, failed = row, i, err
			}
		}
	}
	to := rowTo{rows: rows}
	for row := range n {
		if row > bad || row == bad && (len(p.byRow) == 0 || p.byRow[0] > badColumn) {
			break
		}
		to.targets, to.line, to.name = row*k, b.line(first, row), ""
		p.atRow(b, row)
		p.pairs = p.pairs[:0]
		var out []float32
		if !p.sparse {
			out = rows.dense.Data[row*d : (row+1)*d]
		}
		if p.means == nil {
			to.dense = out
		}
		for _, i := range p.byRow {
			if row == bad && i > badColumn {
				break
			}
			c, err := p.cellAt(b, i, row)
			if err == nil {
				err = p.takeCell(i, c, &to)
			}
			if err != nil {
				rows.cut(row)
				return row, err
			}
		}
		if row == bad {
			break
		}
		p.endPairs(out, rows)
		for _, place := range p.carry {
			c, err := p.cellAt(b, place.At, row)
			if err != nil {
				rows.cut(row)
				return row, err
			}
			rows.carried = append(rows.carried, string(c.bytes(&p.text)))
		}
		rows.endRow(to.name)
	}
	if failed != nil {
		rows.cut(bad)
	}
	return bad, failed
}

// cut leaves rows out from one on, of which only part was written.
func (r *rowBuffer) cut(row int) {
	r.Y = r.Y[:row*r.Outputs]
	if !r.sparse {
		r.dense.Data = r.dense.Data[:row*r.dense.Cols]
	}
}

// takeCell takes the cell of a column.
func (p *tableParser) takeCell(i int, c *cell, to *rowTo) error {
	r := &p.roles[i]
	if v, ok := c.float(); ok && p.schema.NA == nil && r.gaps == nil {
		switch {
		case r.kind == numeric && math.Abs(v) <= maxValue:
			p.put(to.dense, r.at, float32(v))
			return nil
		case r.kind == weight && v >= 0:
			to.rows.Weights = append(to.rows.Weights, v)
			return nil
		case r.kind == label && p.schema.LabelSeparator == "" && (c.kind == cellNumber || math.Abs(v) < 1<<53): // float64 has all its digits
			to.rows.Y[to.targets+r.at] = v
			return nil
		case r.kind == categorical:
			if code, known := c.category(r.codes, &p.text); known {
				p.put(to.dense, r.at+int(code), 1)
				return nil
			}
		}
	}
	if r.kind == coded && p.schema.NA == nil && r.gaps == nil {
		if coder, ok := p.coders[r.input].(cellCoder); ok {
			if p.values, ok = coder.codeCell(p.values[:0], c); ok {
				p.putValues(r, to.dense)
				return nil
			}
		}
	}
	return p.take(i, c.bytes(&p.text), to)
}

// takeNumbers takes the numbers of a column in the rows before end, and returns the row of an error.
func (p *tableParser) takeNumbers(b *columnBatch, i, end int, rows *rowBuffer) (int, error) {
	d, c := p.schema.Dim, &b.columns[i]
	for row := 0; row < end; row++ {
		if row = c.plainNumbers(row, end, rows.dense.Data[p.roles[i].at:], d); row == end {
			break
		}
		p.atRow(b, row)
		to := rowTo{rows: rows, targets: row * rows.Outputs, dense: rows.dense.Data[row*d : (row+1)*d]}
		at, err := p.cellAt(b, i, row)
		if err == nil {
			err = p.takeCell(i, at, &to)
		}
		if err != nil {
			return row, err
		}
	}
	return end, nil
}

// plainNumbers writes numbers from a row on to each d-th place of dense, up to the first that is missing or out of float32's range.
func (c *column) plainNumbers(row, end int, dense []float32, d int) int {
	all, to := len(c.valid) == 0, row*d
	switch c.kind {
	case columnFloats:
		for _, v := range c.floats[row:end] {
			if v-v != 0 || !all && !c.valid[row] {
				return row
			}
			dense[to] = v
			row, to = row+1, to+d
		}
	case columnDoubles:
		for _, v := range c.doubles[row:end] {
			if !(v <= maxValue && v >= -maxValue) || !all && !c.valid[row] {
				return row
			}
			dense[to] = float32(v)
			row, to = row+1, to+d
		}
	default:
		for _, v := range c.wholes[row:end] {
			if !all && !c.valid[row] {
				return row
			}
			dense[to] = float32(float64(v))
			row, to = row+1, to+d
		}
	}
	return row
}

// collectBatch is collectRow for a batch.
func (p *tableParser) collectBatch(b *columnBatch, first int, rows *rowBuffer) (int, error) {
	k, n := len(p.attributes), b.rows
	rows.Y = slices.Grow(rows.Y[:0], n*k)[:n*k]
	bad, failed := n, error(nil)
	for i := range p.attributes {
		a, col := &p.attributes[i], &b.columns[i]
		if a.measure == measureNothing {
			for row := range bad {
				rows.Y[row*k+i] = math.NaN()
			}
			continue
		}
		plain := a.measure == measureNumber && p.schema.NA == nil && p.gaps[i] == nil
		for row := range bad {
			v, ok := 0.0, false
			if plain {
				v, ok = p.measured(col, row)
			}
			if !ok {
				p.line = b.line(first, row)
				c, err := p.cellAt(b, i, row)
				if err == nil {
					if v, err = p.collectTyped(i, c); err != nil {
						err = p.wrong(i, c.bytes(&p.text), err)
					}
				}
				if err != nil {
					bad, failed = row, err
					break
				}
			}
			rows.Y[row*k+i] = v
		}
	}
	for range bad {
		rows.dense.Rows++
		rows.endRow("")
	}
	rows.cut(bad)
	return bad, failed
}

// collectTyped is collectCell for a cell that has a type.
func (p *tableParser) collectTyped(i int, c *cell) (float64, error) {
	if p.schema.NA == nil && p.gaps[i] == nil {
		switch p.attributes[i].measure {
		case measureNumber, measureWritten:
			n, _ := p.measures[i].(*numberCoder)
			if v, ok := c.float(); ok && (n == nil || !perCent(n.sign)) {
				return v, nil
			}
		case measureDate:
			if _, days, ok := p.measures[i].(*dateCoder).clock(c); ok {
				return days, nil
			}
		}
	}
	return p.collectCell(i, c.bytes(&p.text))
}

// measuredFloat is the number that the text of a float32 stands for; 0 is none.
type measuredFloat struct {
	bits uint32
	v    float64
}

const measuredBits = 12

// measured is the number of a row in a column of numbers, if it is there and finite.
func (p *tableParser) measured(c *column, row int) (v float64, ok bool) {
	if c.missing(row) {
		return 0, false
	}
	switch c.kind {
	case columnDoubles:
		v = c.doubles[row]
		return v, v-v == 0
	case columnWholes:
		return float64(c.wholes[row]), true
	case columnFloats:
		f := c.floats[row]
		if v = float64(f); v-v != 0 || v == math.Trunc(v) && v < 1<<24 && v > -1<<24 {
			return v, v-v == 0
		}
		// Values often come again, and a number by way of its text takes 80 ns.
		bits := math.Float32bits(f)
		if p.floats == nil {
			p.floats = make([]measuredFloat, 1<<measuredBits)
		}
		known := &p.floats[bits*0x9e3779b1>>(32-measuredBits)]
		if known.bits != bits || known.v == 0 {
			known.bits, known.v = bits, shortest(f, &p.text)
		}
		return known.v, true
	}
	return 0, false
}

var _ batchParser = (*tableParser)(nil)
