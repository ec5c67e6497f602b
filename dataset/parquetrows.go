package dataset

import (
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"sync/atomic"

	"mercer/internal/parquet"
)

// A pass over a Parquet file needs no text: one goroutine reads batches of columns, others make rows of them. Columns of numbers are
// taken as they are; other cells, and numbers that are missing or not finite, are written as text and taken as those of any table. Both
// give the same bits.

// batchParser makes rows of batches; the first is row number first of the file, from 0.
type batchParser interface {
	parseBatch(b *parquet.Batch, first int, rows *rowBuffer) error
}

// readParquet starts a pass.
func (t *table) readParquet(ctx context.Context, file *parquetTable, c *collector) *textReader {
	var done atomic.Int64
	reader := file.file.Read()
	r := newTextReader(ctx, t.opt.BatchRows, t.Name(), func() float64 { return file.share(done.Load()) })
	r.start(func() parser { return t.newParser(c) }, reader.Close, func(work chan<- *block) {
		for rows := int64(0); ; {
			b, ok := r.take()
			if !ok {
				return
			}
			b.first, b.columnar = int(rows), true
			err := reader.Next(&b.batch)
			if err == io.EOF {
				return
			} else if err != nil {
				b.err = file.damaged(rows, err)
			}
			if !r.give(b, work) || err != nil {
				return
			}
			rows += int64(b.batch.Rows)
			done.Store(rows)
		}
	})
	return r
}

// firstLine is the line of the first row, were the file text.
const firstLine = 2

// parseBatch implements batchParser.
func (p *tableParser) parseBatch(b *parquet.Batch, first int, rows *rowBuffer) error {
	p.unknown = nil
	file := p.in.(*parquetTable)
	var at int
	var err error
	if p.collector != nil {
		rows.shape(len(p.attributes), 0, false)
		at, err = p.collectBatch(file, b, rows)
		p.endCollecting()
	} else {
		rows.shape(len(p.schema.Labels), p.schema.Dim, p.sparse)
		at, err = p.takeBatch(file, b, first, rows)
	}
	p.noteUnseen()
	if err != nil {
		return p.atLine(first+at+firstLine, err)
	}
	return nil
}

// cellOf is the text of a cell, valid until the next.
func (p *tableParser) cellOf(file *parquetTable, c *parquet.Column, i, row int) (cell []byte, err error) {
	if c.Missing(row) {
		return nil, nil
	}
	p.text, err = file.columns[i].write(p.text[:0], c, row)
	if err != nil {
		return nil, p.wrong(i, nil, err)
	}
	return p.text, nil
}

// takeBatch appends the rows of a batch, and returns the row in which an error is. Rows before that are complete.
func (p *tableParser) takeBatch(file *parquetTable, b *parquet.Batch, first int, rows *rowBuffer) (int, error) {
	d, k, n := p.schema.Dim, rows.Outputs, b.Rows
	if !p.sparse {
		rows.dense.Data = slices.Grow(rows.dense.Data[:0], n*d)[:n*d]
		clear(rows.dense.Data)
	}
	rows.Y = slices.Grow(rows.Y[:0], n*k)[:n*k]
	// Columns of numbers first, one after the other; of their errors that of the first row counts.
	bad, badColumn, failed := n, 0, error(nil)
	p.byRow = p.byRow[:0]
	for i := range p.roles {
		if p.roles[i].kind == ignored {
			continue
		}
		column := p.numberTaker(&b.Columns[i], i, rows)
		if column == nil {
			p.byRow = append(p.byRow, i)
			continue
		}
		row, err := p.takeNumbers(file, &b.Columns[i], i, bad, column, rows)
		if err != nil {
			bad, badColumn, failed = row, i, err
		}
	}
	to := rowTo{rows: rows}
	for row := range n {
		if row > bad || row == bad && (len(p.byRow) == 0 || p.byRow[0] > badColumn) {
			break
		}
		to.targets, to.line, to.name = row*k, first+row+firstLine, ""
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
			cell, err := p.cellOf(file, &b.Columns[i], i, row)
			if err == nil {
				err = p.take(i, cell, &to)
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
			cell, err := p.cellOf(file, &b.Columns[place.At], place.At, row)
			if err != nil {
				rows.cut(row)
				return row, err
			}
			rows.carried = append(rows.carried, string(cell))
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

// numberTaker says where the numbers of a column go, without a look at their text; nil if they need that.
func (p *tableParser) numberTaker(c *parquet.Column, i int, rows *rowBuffer) func(row int, v float64) {
	switch c.Kind {
	case parquet.Float, parquet.Double, parquet.Int, parquet.Uint:
	default:
		return nil
	}
	r := &p.roles[i]
	switch {
	case r.kind == numeric && !p.sparse && p.means == nil && p.schema.NA == nil:
		data, at, d := rows.dense.Data, r.at, p.schema.Dim
		return func(row int, v float64) { data[row*d+at] = float32(v) }
	case r.kind == label && p.schema.LabelSeparator == "" && c.Kind != parquet.Float && !long(c): // the text of a float is another double
		y, at, k := rows.Y, r.at, rows.Outputs
		return func(row int, v float64) { y[row*k+at] = v }
	}
	return nil
}

// long says that some whole number has digits that float64 loses.
func long(c *parquet.Column) bool {
	for _, v := range c.Ints {
		if v >= 1<<53 || v <= -1<<53 {
			return true
		}
	}
	return false
}

// takeNumbers takes the numbers of a column in the rows before end, and returns the row of an error.
func (p *tableParser) takeNumbers(file *parquetTable, c *parquet.Column, i, end int, put func(row int, v float64), rows *rowBuffer) (int, error) {
	dense, at, d := []float32(nil), 0, p.schema.Dim
	if p.roles[i].kind == numeric {
		dense, at = rows.dense.Data, p.roles[i].at
	}
	for row := 0; row < end; row++ {
		if dense != nil {
			row = p.plainNumbers(c, row, end, dense, at, d)
		} else {
			for ; row < end && !c.Missing(row); row++ {
				v, ok := doubleOf(c, row)
				if !ok {
					break
				}
				put(row, v)
			}
		}
		if row == end {
			break
		}
		// A cell that is not plain.
		cell, err := p.cellOf(file, c, i, row)
		if err == nil {
			to := rowTo{rows: rows, targets: row * rows.Outputs}
			if dense != nil {
				to.dense = dense[row*d : (row+1)*d]
			}
			err = p.take(i, cell, &to)
		}
		if err != nil {
			return row, err
		}
	}
	return end, nil
}

// doubleOf is a number as a float64, if it is finite.
func doubleOf(c *parquet.Column, row int) (v float64, ok bool) {
	switch c.Kind {
	case parquet.Double:
		v = c.Doubles[row]
		return v, v-v == 0
	case parquet.Uint:
		return float64(uint64(c.Ints[row])), true
	}
	return float64(c.Ints[row]), true
}

// plainNumbers writes numbers from a row on to a column of dense, up to the first that is missing or not plain.
func (p *tableParser) plainNumbers(c *parquet.Column, row, end int, dense []float32, at, d int) int {
	whole := c.Whole()
	to := row*d + at
	switch c.Kind {
	case parquet.Float:
		for _, v := range c.Floats[row:end] {
			if v-v != 0 || !whole && c.Missing(row) {
				return row
			}
			dense[to] = v
			row, to = row+1, to+d
		}
	case parquet.Double:
		for _, v := range c.Doubles[row:end] {
			// Of a number half way between two float32 its text decides.
			if !(v <= maxValue && v >= -maxValue) || math.Float64bits(v)<<35 == 1<<63 || math.Abs(v) < leastNormal && v != 0 || !whole && c.Missing(row) {
				return row
			}
			dense[to] = float32(v)
			row, to = row+1, to+d
		}
	default:
		for ; row < end && (whole || !c.Missing(row)); row++ {
			v, _ := doubleOf(c, row)
			dense[to] = float32(v)
			to += d
		}
	}
	return row
}

// leastNormal is the least float32 that has all digits.
const leastNormal = 0x1p-126

// collectBatch is collectRow for a batch.
func (p *tableParser) collectBatch(file *parquetTable, b *parquet.Batch, rows *rowBuffer) (int, error) {
	k, n := len(p.attributes), b.Rows
	rows.Y = slices.Grow(rows.Y[:0], n*k)[:n*k]
	bad, failed := n, error(nil)
	for i := range p.attributes {
		c, a := &b.Columns[i], &p.attributes[i]
		if a.measure == measureNothing {
			for row := range bad {
				rows.Y[row*k+i] = math.NaN()
			}
			continue
		}
		plain := a.measure == measureNumber && p.schema.NA == nil
		for row := range bad {
			v, ok := 0.0, false
			if plain && !c.Missing(row) {
				v, ok = p.measured(c, row)
			}
			if !ok {
				cell, err := p.cellOf(file, c, i, row)
				if err == nil {
					if v, err = p.collectCell(i, cell); err != nil {
						err = p.wrong(i, cell, err)
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

// measuredFloat is the number that the text of a float32 stands for; 0 is none.
type measuredFloat struct {
	bits uint32
	v    float64
}

const measuredBits = 12

// measured is the number that the text of a cell stands for.
func (p *tableParser) measured(c *parquet.Column, row int) (v float64, ok bool) {
	switch c.Kind {
	case parquet.Double, parquet.Int, parquet.Uint:
		return doubleOf(c, row)
	case parquet.Float:
		f := c.Floats[row]
		if v = float64(f); v == math.Trunc(v) && v < 1<<24 && v > -1<<24 {
			return v, true
		}
		if f-f != 0 {
			return 0, false
		}
		// Values often come again, and a number by way of its text takes 80 ns.
		bits := math.Float32bits(f)
		if p.floats == nil {
			p.floats = make([]measuredFloat, 1<<measuredBits)
		}
		known := &p.floats[bits*0x9e3779b1>>(32-measuredBits)]
		if known.bits != bits || known.v == 0 {
			p.text = strconv.AppendFloat(p.text[:0], v, 'e', -1, 32)
			known.bits = bits
			known.v, _ = parseNumber(p.text)
		}
		return known.v, true
	}
	return 0, false
}

// noteUnseen adds what a block had to what all had.
func (p *tableParser) noteUnseen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, u := range p.unknown {
		if known := p.table.unseen[i]; known != nil {
			if known.Rows > 0 && (u.Rows == 0 || known.Value < u.Value) {
				u.Value = known.Value
			}
			u.Rows += known.Rows
			u.Missing += known.Missing
		}
		p.table.unseen[i] = u
	}
}

var _ batchParser = (*tableParser)(nil)
