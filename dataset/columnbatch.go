package dataset

import (
	"context"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// typedTable is a table whose cells come with types, from anything but text: its rows come in batches of columns.
type typedTable interface {
	// Name is what messages call the table.
	Name() string

	// fields are its columns.
	fields() []field

	// pass starts a pass over the rows.
	pass() (columnPass, error)
}

// field is a column of a typed table.
type field struct {
	name string
	text bool // no number, even if all of it looks like one
}

// checkFields returns an error if a name is not UTF-8: two such names would be one in the JSON of a model.
func checkFields(t typedTable) error {
	for i, f := range t.fields() {
		if !utf8.ValidString(f.name) {
			return fmt.Errorf("%s: the name of column %d (from 0), %.40q, is not UTF-8; rename the column", t.Name(), i, f.name)
		}
	}
	return nil
}

// columnPass is one pass over a typed table, by one goroutine.
type columnPass interface {
	// next fills a batch, which may be one that was filled before; io.EOF after the last.
	next(b *columnBatch) error

	// share is how much has been read, in [0, 1], or -1; any goroutine may call it.
	share() float64

	Close() error
}

// A batch has about cellsOfBatch cells, and at most rowsOfBatch rows.
const (
	cellsOfBatch = 1 << 15
	rowsOfBatch  = 4096
	mostCells    = 1 << 20
)

// batchRows is how many rows a batch of so many columns has: 64 at least, unless these are very many.
func batchRows(columns int) int {
	return max(1, min(rowsOfBatch, max(64, cellsOfBatch/max(1, columns)), mostCells/max(1, columns)))
}

// columnBatch is some rows of a typed table.
type columnBatch struct {
	rows    int
	columns []column
	numbers []int // of the rows in what was read; nil: from 0
	lines   []int // where each row is, if it is in a file of text; nil: nowhere
	text    []byte
	held    any  // what the pass that fills it keeps with it
	array   bool // of an array of numbers
}

// reset gives a batch columns with room for rows, but without any.
func (b *columnBatch) reset(columns, room int) {
	if len(b.columns) != columns {
		b.columns = make([]column, columns)
	}
	for i := range b.columns {
		c := &b.columns[i]
		c.kind, c.room, c.floats, c.doubles, c.wholes, c.valid, c.cells = columnCells, room, c.floats[:0], c.doubles[:0], c.wholes[:0], c.valid[:0], c.cells[:0]
	}
	b.rows, b.lines, b.text = 0, b.lines[:0], b.text[:0]
}

// add adds a row of cells.
func (b *columnBatch) add(row []cell) {
	for i := range b.columns {
		b.columns[i].add(&row[i], b.rows)
	}
	b.rows++
}

// columnKind says where the cells of a column are.
type columnKind uint8

const (
	columnCells columnKind = iota
	columnFloats
	columnDoubles
	columnWholes
	columnLazy
)

// column is a column of a batch: numbers of one type, or cells of any.
type column struct {
	kind    columnKind
	floats  []float32
	doubles []float64
	wholes  []int64
	valid   []bool // of numbers: whether a row has one; empty: all have
	cells   []cell
	lazy    func(row int, to *cell, text *[]byte) error
	kept    []int // of a column that is lazy, the rows that were kept; nil: all
	room    int   // rows to come
}

// add adds a cell after n others. A column that begins with a number is one of such numbers, some of them missing, until another kind of
// cell comes.
func (c *column) add(v *cell, n int) {
	if n == 0 {
		switch v.kind {
		case cellNumber:
			c.kind, c.doubles = columnDoubles, slices.Grow(c.doubles, c.room)
		case cellWhole:
			c.kind, c.wholes = columnWholes, slices.Grow(c.wholes, c.room)
		}
	}
	there := v.kind != cellMissing
	switch {
	case c.kind == columnCells:
	case c.kind == columnDoubles && (v.kind == cellNumber || !there):
		c.doubles = append(c.doubles, v.number)
	case c.kind == columnWholes && (v.kind == cellWhole || !there):
		c.wholes = append(c.wholes, v.whole)
	default:
		c.cells = slices.Grow(c.cells, c.room)[:n]
		for i := range c.cells {
			_ = c.cell(i, &c.cells[i], nil)
		}
		c.kind = columnCells
	}
	if c.kind == columnCells {
		c.cells = append(c.cells, *v)
		return
	}
	for !there && len(c.valid) < n {
		c.valid = append(c.valid, true)
	}
	if !there || len(c.valid) > 0 {
		c.valid = append(c.valid, there)
	}
}

// missing says that a row has no number.
func (c *column) missing(row int) bool { return len(c.valid) > 0 && !c.valid[row] }

// cell is the cell of a row. What of it is text may be in scratch, and is valid until the next.
func (c *column) cell(row int, to *cell, scratch *[]byte) error {
	switch {
	case c.kind == columnLazy:
		*scratch = (*scratch)[:0]
		if c.kept != nil {
			row = c.kept[row]
		}
		return c.lazy(row, to, scratch)
	case c.kind == columnCells:
		*to = c.cells[row]
	case c.missing(row):
		*to = cell{}
	case c.kind == columnFloats:
		*to = cell{kind: cellNumber, number: shortest(c.floats[row], scratch)}
	case c.kind == columnDoubles:
		*to = cell{kind: cellNumber, number: c.doubles[row]}
	default:
		*to = cell{kind: cellWhole, whole: c.wholes[row]}
	}
	return nil
}

// eachRow calls body with the cells of each row as text; they are valid until it returns.
func eachRow(ctx context.Context, t typedTable, body func(cells []string) error) error {
	if err := checkFields(t); err != nil {
		return err
	}
	p, err := t.pass()
	if err != nil {
		return err
	}
	defer p.Close()
	fields := t.fields()
	cells, ends := make([]string, len(fields)), make([]int, len(fields))
	var b columnBatch
	var c cell
	var line, scratch []byte
	for rows := 0; ; rows += b.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.next(&b); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for row := range b.rows {
			line = line[:0]
			for i := range b.columns {
				if err := b.columns[i].cell(row, &c, &scratch); err != nil {
					return b.wrong(t.Name(), rows, row, inColumn(columnQuoted(fields[i].name), fields[i].name, -1, nil, err))
				}
				line = c.append(line)
				ends[i] = len(line)
			}
			text, from := string(line), 0
			for i, end := range ends {
				cells[i], from = text[from:end], end
			}
			if err := body(cells); err != nil {
				return err
			}
		}
	}
}

// wrong is an error about a row of the batch, of which first is the first row.
func (b *columnBatch) wrong(name string, first, row int, err error) error {
	if len(b.lines) > 0 {
		return atLine(name, b.lines[row], err)
	}
	if b.array {
		return atIndex(name, first+b.number(row), err)
	}
	return atNumber(name, first+b.number(row), err)
}

// number is that of a row in what was read.
func (b *columnBatch) number(row int) int {
	if b.numbers != nil {
		return b.numbers[row]
	}
	return row
}
