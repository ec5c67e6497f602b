package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
)

// FromRecords makes a source that can be read any number of times from records that can be
// read only once: their values are kept with their types, in memory or, if they are many, in a temporary file, which Close removes. A record is a
// map[string]any, a struct or a pointer to one (with fields as in [Encoder.Struct]), or a []any of values in
// the order of names, which may be nil for the other two. name is the name of the data in messages.
//
// The columns are those of all records together; a field that a record lacks is a missing value.
// A column with a string in it is categorical, even if all of its strings are numbers; so is
// one of booleans. opt is as in Open: the label, a weight, how to treat missing values.
func FromRecords(ctx context.Context, name string, names []string, records iter.Seq2[any, error], opt Options) (*File, error) {
	s, r := &cellSpool{name: name}, newRecordCells(name, names)
	err := r.all(ctx, records, s.add)
	if err == nil {
		err = s.flush()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.columns = r.columns
	return open(ctx, &packed{name: name, file: s, typed: s}, opt)
}

// FromList is FromRecords for n records that are in memory: at gives each of them, as often as it is asked to. Nothing is copied.
func FromList(ctx context.Context, name string, names []string, n int, at func(i int) any, opt Options) (*File, error) {
	l := &recordList{cells: newRecordCells(name, names), n: n, at: at}
	records := func(yield func(any, error) bool) {
		for i := 0; i < n && yield(at(i), nil); i++ {
		}
	}
	if err := l.cells.all(ctx, records, func([]cell) error { return nil }); err != nil {
		return nil, err
	}
	return open(ctx, &packed{name: name, file: bytesFile{}, typed: l}, opt)
}

// recordList is records in memory as a typed table.
type recordList struct {
	cells *recordCells
	n     int
	at    func(i int) any
}

// Name implements typedTable.
func (l *recordList) Name() string { return l.cells.name }

func (l *recordList) fields() []field { return l.cells.columns }

func (l *recordList) pass() (columnPass, error) {
	own := *l.cells
	own.rows, own.row, own.text, own.fixed = 0, slices.Clone(own.row), nil, true
	return &recordPass{of: l, cells: own}, nil
}

// recordPass is one pass over records in memory.
type recordPass struct {
	of    *recordList
	cells recordCells
	read  atomic.Int64
}

func (p *recordPass) share() float64 { return float64(p.read.Load()) / float64(max(1, p.of.n)) }

func (p *recordPass) Close() error { return nil }

// next implements columnPass.
func (p *recordPass) next(b *columnBatch) error {
	end := min(p.of.n, p.cells.rows+batchRows(len(p.cells.columns)))
	b.reset(len(p.cells.columns), end-p.cells.rows)
	if p.cells.rows == end {
		return io.EOF
	}
	p.cells.text = b.text
	for p.cells.rows < end {
		if err := p.cells.take(p.of.at(p.cells.rows)); err != nil {
			return p.cells.wrong(err)
		}
		b.add(p.cells.row)
		p.cells.rows++
	}
	b.text = p.cells.text
	p.read.Store(int64(end))
	return nil
}

// recordCells makes cells of records, in the order in which their columns were first seen.
type recordCells struct {
	name    string
	columns []field
	at      map[string]int
	plans   map[reflect.Type][]int // of struct types
	fixed   bool                   // the columns are those of all records

	row  []cell
	text []byte // of row
	rows int
}

func newRecordCells(name string, names []string) *recordCells {
	s := &recordCells{name: name, at: map[string]int{}, plans: map[reflect.Type][]int{}}
	for _, n := range names {
		s.column(n)
	}
	return s
}

// all calls body with the cells of each record, valid until it returns.
func (s *recordCells) all(ctx context.Context, records iter.Seq2[any, error], body func(row []cell) error) error {
	for record, err := range records {
		if err == nil {
			err = ctx.Err()
		}
		if s.text = s.text[:0]; err == nil {
			err = s.take(record)
		}
		if err != nil {
			return s.wrong(err)
		}
		s.rows++
		if err := body(s.row); err != nil {
			return err
		}
	}
	if s.rows == 0 {
		return fmt.Errorf("%s: there are no records", s.name)
	}
	return nil
}

// column is the place of a column.
func (s *recordCells) column(name string) int {
	at, known := s.at[name]
	if !known && s.fixed {
		return -1
	} else if !known {
		at = len(s.columns)
		s.at[name], s.columns, s.row = at, append(s.columns, field{name: name}), append(s.row, cell{})
	}
	return at
}

// wrong is an error about the record that comes next.
func (s *recordCells) wrong(err error) error {
	e := &RowError{Source: s.name, Row: s.rows, Dim: -1, Err: err, place: fmt.Sprintf("%s: record %d", s.name, s.rows+1)}
	var field *FieldError
	if errors.As(err, &field) {
		e.Column = field.Field
	}
	return e
}

// take makes the cells of a record.
func (s *recordCells) take(record any) error {
	clear(s.row)
	switch x := record.(type) {
	case map[string]any:
		if s.fixed {
			for name, v := range x {
				if err := s.put(name, s.column(name), v); err != nil {
					return err
				}
			}
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if err := s.put(name, s.column(name), x[name]); err != nil {
				return err
			}
		}
	case []any:
		if len(x) != len(s.columns) {
			return fmt.Errorf("%d values for %d columns", len(x), len(s.columns))
		}
		for i, v := range x {
			if err := s.put(s.columns[i].name, i, v); err != nil {
				return err
			}
		}
	default:
		r := reflect.ValueOf(record)
		for r.Kind() == reflect.Pointer && !r.IsNil() {
			r = r.Elem()
		}
		if r.Kind() != reflect.Struct {
			return fmt.Errorf("a %T is not a record; give a map[string]any, a struct, or values", record)
		}
		plan, known := s.plans[r.Type()]
		if !known && s.fixed {
			return errors.New("it has another type than before; the records have changed while they are read")
		} else if !known {
			plan = s.plan(r.Type())
		}
		for f, at := range plan {
			if at < 0 {
				continue
			}
			name := s.columns[at].name
			if !s.row[at].setReflect(r.Field(f), &s.text) {
				return &FieldError{name, nil, fmt.Sprintf("%v is neither a number nor a text", r.Field(f))}
			}
			if err := s.check(name, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// plan finds the column of each field of a struct type, -1 for none.
func (s *recordCells) plan(t reflect.Type) []int {
	plan := make([]int, t.NumField())
	for f := range plan {
		plan[f] = -1
		if name := fieldName(t.Field(f)); name != "" {
			plan[f] = s.column(name)
		}
	}
	s.plans[t] = plan
	return plan
}

// put makes the cell of a field.
func (s *recordCells) put(name string, at int, v any) error {
	if at >= 0 && !s.row[at].set(v, &s.text) {
		return &FieldError{name, v, fmt.Sprintf("%v is neither a number nor a text", v)}
	}
	return s.check(name, at)
}

// check finds what is wrong with a cell.
func (s *recordCells) check(name string, at int) error {
	if at < 0 {
		return &FieldError{name, nil, "the field was not there before; the records have changed while they are read"}
	}
	c := &s.row[at]
	if err := checkText(c.text); err != nil {
		return &FieldError{name, string(c.text), err.Error()}
	}
	switch {
	case c.kind == cellNumber && math.IsInf(c.number, 0):
		return &FieldError{name, c.number, fmt.Sprintf("%g is not a finite number", c.number)}
	case c.kind == cellText && bytes.IndexByte(c.text, 0) >= 0:
		return &FieldError{name, string(c.text), "the text holds a zero byte"}
	case c.textual() && !s.fixed:
		s.columns[at].text = true
	}
	return nil
}
