package dataset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// FromRecords makes a source that can be read any number of times from records that can be
// read only once: they are copied to a table in a temporary file, which Close removes. A record is a
// map[string]any, a struct or a pointer to one (with fields as in [Encoder.Struct]), or a []any of values in
// the order of names, which may be nil for the other two. name is the name of the data in messages.
//
// The columns are those of all records together; a field that a record lacks is a missing value.
// A column with a string in it is categorical, even if all of its strings are numbers; so is
// one of booleans. opt is as in Open: the label, a weight, how to treat missing values.
func FromRecords(ctx context.Context, name string, names []string, records iter.Seq2[any, error], opt Options) (*File, error) {
	s := &recordSpool{name: name, at: map[string]int{}, text: map[string]bool{}}
	for _, n := range names {
		s.column(n)
	}
	file, err := s.write(ctx, records)
	if err != nil {
		return nil, err
	}
	opt.Format, opt.Header, opt.texts = "csv", "yes", s.text
	in, err := newPacked(name, file, file.size)
	if err != nil {
		file.Close()
		return nil, err
	}
	return open(ctx, in, opt)
}

// recordSpool writes records as a table: values in the order in which their columns were first seen.
type recordSpool struct {
	name  string
	names []string
	at    map[string]int
	text  map[string]bool

	cells   []cell
	present []bool
	line    []byte
	rows    int
	widths  bool // a column was first seen after the first record
}

// column is the place of a column.
func (s *recordSpool) column(name string) int {
	at, known := s.at[name]
	if !known {
		at = len(s.names)
		s.at[name], s.names = at, append(s.names, name)
		s.cells, s.present = append(s.cells, cell{}), append(s.present, false)
		s.widths = s.widths || s.rows > 0
	}
	return at
}

// write copies all records to an unlinked file.
func (s *recordSpool) write(ctx context.Context, records iter.Seq2[any, error]) (*unnamed, error) {
	body, err := newUnnamed()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	w := bufio.NewWriterSize(body, 1<<16)
	for record, err := range records {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = s.take(record)
		}
		if err != nil {
			return nil, s.wrong(err)
		}
		s.rows++
		if _, err := w.Write(s.line); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if s.rows == 0 {
		return nil, fmt.Errorf("%s: there are no records", s.name)
	}
	return s.table(body)
}

// wrong is an error about the record that comes next.
func (s *recordSpool) wrong(err error) error {
	e := &RowError{Source: s.name, Row: s.rows, Dim: -1, Err: err, place: fmt.Sprintf("%s: record %d", s.name, s.rows+1)}
	var field *FieldError
	if errors.As(err, &field) {
		e.Column = field.Field
	}
	return e
}

// table is the header and the rows, all of the same length.
func (s *recordSpool) table(body *unnamed) (*unnamed, error) {
	out, err := newUnnamed()
	if err != nil {
		return nil, err
	}
	if err := s.fill(out, body); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

func (s *recordSpool) fill(out, body *unnamed) error {
	w := bufio.NewWriterSize(out, 1<<16)
	var header []byte
	for i, name := range s.names {
		if i > 0 {
			header = append(header, ',')
		}
		header = appendQuoted(header, name)
	}
	w.Write(append(header, '\n'))
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if !s.widths {
		if _, err := io.Copy(w, body); err != nil {
			return err
		}
	} else if err := s.pad(w, bufio.NewReaderSize(body, 1<<16)); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	size, err := out.Seek(0, io.SeekEnd)
	out.size = size
	return err
}

// pad extends rows that were written before all columns were known. A row is one line, as newlines
// within cells are quoted.
func (s *recordSpool) pad(w *bufio.Writer, r *bufio.Reader) error {
	quoted, commas := false, 0
	for {
		c, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			commas++
		case c == '\n' && !quoted:
			for ; commas < len(s.names)-1; commas++ {
				if err := w.WriteByte(','); err != nil {
					return err
				}
			}
			commas = 0
		}
		if err := w.WriteByte(c); err != nil {
			return err
		}
	}
}

// take turns a record into a line.
func (s *recordSpool) take(record any) error {
	clear(s.present)
	switch x := record.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if err := s.put(s.column(name), x[name]); err != nil {
				return err
			}
		}
	case []any:
		if len(x) != len(s.names) {
			return fmt.Errorf("%d values for %d columns", len(x), len(s.names))
		}
		for i, v := range x {
			if err := s.put(i, v); err != nil {
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
		for f := range r.NumField() {
			name := fieldName(r.Type().Field(f))
			if name == "" {
				continue
			}
			c, ok := cellOfReflect(r.Field(f))
			if !ok {
				return &FieldError{name, nil, fmt.Sprintf("%v is neither a number nor a text", r.Field(f))}
			}
			if err := s.set(s.column(name), c); err != nil {
				return err
			}
		}
	}
	s.line = s.line[:0]
	for i := range s.names {
		if i > 0 {
			s.line = append(s.line, ',')
		}
		switch c := &s.cells[i]; {
		case !s.present[i] || c.kind == cellMissing:
		case c.kind == cellNumber:
			s.line = strconv.AppendFloat(s.line, c.number, 'g', -1, 64)
		default:
			s.line = appendQuoted(s.line, c.text)
		}
	}
	if len(s.names) == 1 && len(s.line) == 0 {
		s.line = append(s.line, `""`...) // a blank line would be no row
	}
	s.line = append(s.line, '\n')
	return nil
}

func (s *recordSpool) put(i int, v any) error {
	c, ok := cellOf(v)
	if !ok {
		return &FieldError{s.names[i], v, fmt.Sprintf("%v is neither a number nor a text", v)}
	}
	return s.set(i, c)
}

func (s *recordSpool) set(i int, c cell) error {
	if c.kind == cellNumber && math.IsInf(c.number, 0) {
		return &FieldError{s.names[i], c.number, fmt.Sprintf("%g is not a finite number", c.number)}
	}
	if c.kind == cellText {
		if strings.ContainsRune(c.text, 0) {
			return &FieldError{s.names[i], c.text, "the text holds a zero byte"}
		}
		s.text[s.names[i]] = true
	}
	s.cells[i], s.present[i] = c, true
	return nil
}

// appendQuoted appends a cell in double quotes.
func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			break
		}
		dst = append(append(dst, text[:i]...), `""`...)
		text = text[i+1:]
	}
	return append(append(dst, text...), '"')
}

// unnamed is a temporary file that is unlinked, or will be when it is closed.
type unnamed struct {
	*os.File
	size int64
}

func newUnnamed() (*unnamed, error) {
	f, err := os.CreateTemp("", "mercer-records-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // if that is possible while it is open
	return &unnamed{File: f}, nil
}

func (u *unnamed) Close() error {
	err := u.File.Close()
	os.Remove(u.File.Name())
	return err
}
