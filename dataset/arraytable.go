package dataset

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"
)

// arrayTable is an array of numbers as a table without names, in which NaN is a missing value.
type arrayTable struct{ *array }

// fields implements typedTable.
func (t *arrayTable) fields() []field {
	list := make([]field, t.cols)
	for j := range list {
		list[j].name = strconv.Itoa(j)
	}
	return list
}

// pass implements typedTable.
func (t *arrayTable) pass() (columnPass, error) {
	r, err := t.array.read(context.Background(), batchRows(t.cols))
	if err != nil {
		return nil, err
	}
	return &arrayPass{r}, nil
}

// arrayPass is a pass over an array as a table.
type arrayPass struct{ *arrayReader }

// next implements columnPass.
func (p *arrayPass) next(b *columnBatch) error {
	n, err := p.fill()
	if err != nil {
		return err
	}
	b.reset(p.cols, 0)
	for j := range b.columns {
		c := &b.columns[j]
		if p.kind.kind == 'f' && p.kind.size == 4 { // a number by its shortest decimal text, as in other tables
			c.kind, c.floats = columnFloats, slices.Grow(c.floats, n)[:n]
			for i := range n {
				c.floats[i] = float32(p.kind.value(p.element(i, j, n)))
			}
			continue
		}
		c.kind, c.doubles = columnDoubles, slices.Grow(c.doubles, n)[:n]
		for i := range n {
			c.doubles[i] = p.kind.value(p.element(i, j, n))
		}
	}
	b.rows, b.array = n, true
	p.row += n
	return nil
}

// share implements columnPass.
func (p *arrayPass) share() float64 { return p.Progress() }

// hasGaps says whether an input is NaN. Whatever else is wrong with the array, the next pass says.
func (a *array) hasGaps(ctx context.Context) bool {
	if a.kind.kind != 'f' {
		return false
	}
	roles := *a
	if a.opt.Schema == nil && roles.assign() != nil {
		return false
	}
	r, err := roles.read(ctx, 0)
	if err != nil {
		return false
	}
	defer r.Close()
	for told := a.opt.Columns.Progress; ; {
		n, err := r.fill()
		if err != nil {
			return false // io.EOF: there is none
		}
		if r.kind.anyNaN(r.buf) && r.gapAmong(n) {
			return true
		}
		if r.row += n; told != nil {
			told(r.row, r.Progress())
		}
	}
}

// gapAmong says whether an input of n rows that were read is NaN.
func (r *arrayReader) gapAmong(n int) bool {
	for i := range n {
		for j := range r.cols {
			if r.inputs != nil && !slices.Contains(r.inputs, j) {
				continue
			}
			if v := r.kind.value(r.element(i, j, n)); v != v {
				return true
			}
		}
	}
	return false
}

// anyNaN says whether one of some numbers is none.
func (e element) anyNaN(b []byte) bool {
	switch {
	case e.size == 4 && !e.big:
		for ; len(b) >= 4; b = b[4:] {
			if binary.LittleEndian.Uint32(b)&(1<<31-1) > 0xff<<23 {
				return true
			}
		}
	case e.size == 8 && !e.big:
		for ; len(b) >= 8; b = b[8:] {
			if binary.LittleEndian.Uint64(b)&(1<<63-1) > 0x7ff<<52 {
				return true
			}
		}
	default:
		for ; len(b) >= e.size; b = b[e.size:] {
			if v := e.value(b); v != v {
				return true
			}
		}
	}
	return false
}

var _ typedTable = (*arrayTable)(nil)
