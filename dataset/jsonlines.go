package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"mercer/internal/engine/units"
)

// jsonTable is a file with a JSON object a line as a typed table: the columns are the names of all objects, in the order in which they are first
// seen, but that a new one stands beside its neighbour, as if no earlier object had lacked it. A string or a boolean
// makes its column one of texts, but for strings of numbers and of missing values among numbers; null, and a name that is not there, are missing.
type jsonTable struct {
	in      input
	columns []field
	at      map[string]int
}

// longestObject bounds a line.
const longestObject = 64 << 20

// looksLikeJSONLines says whether text begins with an object.
func looksLikeJSONLines(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) < 2 || head[0] != '{' {
		return false
	}
	rest := bytes.TrimLeft(head[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '"' || rest[0] == '}')
}

// newJSONTable reads the file once for the names of its columns.
func newJSONTable(ctx context.Context, in input) (typedTable, error) {
	t := &jsonTable{in: in, at: map[string]int{}}
	p, err := t.begin()
	if err != nil {
		return nil, err
	}
	defer p.Close()
	rows, values, header := 0, 0, 0
	written, numbers := map[int]bool{}, map[int]bool{} // columns with numbers in quotes, and without
	order := columnOrder{after: map[int]int{-1: -1}, before: map[int]int{-1: -1}}
	for ; ; rows++ {
		if p.line%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		err := p.object(func(name, value []byte) error {
			values++
			at, known := t.at[string(name)]
			if !known {
				if header += len(name) + 1; header > headSize {
					return fmt.Errorf("the names of the columns so far, %s, are longer than %s, too long for a table; give rows the same names, or "+
						"write rows of numbers as LIBSVM text", units.Count(len(t.columns)), units.Bytes(headSize))
				}
				at = len(t.columns)
				t.at[string(name)], t.columns = at, append(t.columns, field{name: string(name)})
			}
			order.add(at)
			switch c := value[0]; {
			case c == 'n':
			case c == '"' && !t.columns[at].text && isWrittenInJSON(value):
				written[at] = true
			case c == '"' || c == 't' || c == 'f':
				t.columns[at].text = true
			default:
				numbers[at] = true
			}
			return nil
		})
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		order.end()
	}
	if cells := rows * len(t.columns); cells > sparseCells && values < cells/mostEmpty {
		return nil, fmt.Errorf("%s: the %s rows have %s names in all, but one row only %.3g of them on average, too few for a table; give rows the "+
			"same names, or write rows of numbers as LIBSVM text", in.Name(), units.Count(rows), units.Count(len(t.columns)), float64(values)/float64(rows))
	}
	for at := range written {
		t.columns[at].text = t.columns[at].text || !numbers[at]
	}
	sorted := make([]field, 0, len(t.columns))
	for at := order.after[-1]; at >= 0; at = order.after[at] {
		t.at[t.columns[at].name] = len(sorted)
		sorted = append(sorted, t.columns[at])
	}
	t.columns = sorted
	return t, nil
}

// isWrittenInJSON says that a string is a number, or stands for a missing value.
func isWrittenInJSON(value []byte) bool {
	text := value[1 : len(value)-1]
	_, number := parseNumber(trim(text))
	return number || missing(text) || len(text) == 0
}

// columnOrder puts columns that are first seen late behind the one before them in their object, or else before the one after them.
type columnOrder struct {
	after, before map[int]int // a ring, in which -1 is before the first and after the last
	last          int         // 1 more than the column before in the object; 0: none that has a place
	leading       []int       // columns without a place at the start of the object
}

func (o *columnOrder) add(at int) {
	_, placed := o.after[at]
	switch {
	case !placed && o.last == 0:
		if _, waits := o.before[at]; !waits { // a name may be there twice
			o.leading, o.before[at] = append(o.leading, at), -1
		}
		return
	case !placed:
		o.put(o.last-1, at)
	case o.last == 0:
		o.put(o.before[at], o.leading...)
		o.leading = o.leading[:0]
	}
	o.last = at + 1
}

// put puts columns behind another.
func (o *columnOrder) put(behind int, columns ...int) {
	next := o.after[behind]
	for _, at := range columns {
		o.after[behind], o.before[at] = at, behind
		behind = at
	}
	o.after[behind], o.before[next] = next, behind
}

// end ends an object.
func (o *columnOrder) end() {
	o.put(o.before[-1], o.leading...)
	o.leading, o.last = o.leading[:0], 0
}

// A table of more than sparseCells cells has at least one value in mostEmpty of them: names that few rows have, or rows that have none,
// would take time by rows × columns, whatever the size of the file. Text cannot: its empty cells are separators.
const (
	sparseCells = 1 << 26
	mostEmpty   = 1000
)

func (t *jsonTable) Name() string    { return t.in.Name() }
func (t *jsonTable) fields() []field { return t.columns }

// jsonPass is one pass over the lines.
type jsonPass struct {
	t     *jsonTable
	lines *bufio.Scanner
	close func() error
	read  func() float64
	line  int
	row   []cell
}

func (t *jsonTable) pass() (columnPass, error) { return t.begin() }

func (t *jsonTable) begin() (*jsonPass, error) {
	r, share, err := t.in.Open()
	if err != nil {
		return nil, err
	}
	p := &jsonPass{t: t, lines: bufio.NewScanner(r), close: r.Close, read: share, row: make([]cell, len(t.columns))}
	p.lines.Buffer(make([]byte, 1<<16), longestObject)
	return p, nil
}

func (p *jsonPass) share() float64 { return p.read() }
func (p *jsonPass) Close() error   { return p.close() }

// next implements columnPass.
func (p *jsonPass) next(b *columnBatch) error {
	most := batchRows(len(p.row))
	b.reset(len(p.row), most)
	for b.rows < most && len(b.text) < blockSize {
		clear(p.row)
		err := p.object(func(name, value []byte) error {
			at, known := p.t.at[string(name)]
			if !known {
				return errors.New("the file has changed while it is read")
			}
			switch c := &p.row[at]; value[0] {
			case 'n':
				*c = cell{}
			case 't', 'f':
				c.setBool(value[0] == 't')
			case '"':
				text, err := unquoted(value)
				setText(c, text, &b.text)
				return err
			default:
				setText(c, value, &b.text)
				c.kind = cellWritten
			}
			return nil
		})
		if err == io.EOF && b.rows > 0 {
			return nil
		} else if err != nil {
			return err
		}
		b.add(p.row)
		b.lines = append(b.lines, p.line)
	}
	return nil
}

// object calls field with the names and values of the next object, as they are written but for the quotes of names; io.EOF after the last.
func (p *jsonPass) object(field func(name, value []byte) error) error {
	for p.lines.Scan() {
		p.line++
		text := bytes.TrimSpace(p.lines.Bytes())
		if p.line == 1 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		if len(text) == 0 {
			continue
		}
		if err := eachField(text, field); err != nil {
			return fmt.Errorf("%s:%d: %w", p.t.in.Name(), p.line, err)
		}
		return nil
	}
	if err := p.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: the line has more than %d bytes", p.t.in.Name(), p.line+1, longestObject)
	} else if err != nil {
		return err
	}
	return io.EOF
}

// eachField reads an object with single values.
func eachField(text []byte, field func(name, value []byte) error) error {
	s := jsonScanner{text: text}
	if !s.byte('{') {
		return errors.New("expected a JSON object")
	}
	for more := !s.byte('}'); more; {
		quoted := s.string()
		if quoted == nil || !s.byte(':') {
			return s.wrong()
		}
		name, err := unquoted(quoted)
		if err != nil {
			return err
		}
		s.blanks()
		from := s.at
		switch s.peek() {
		case '"':
			if s.string() == nil {
				return s.wrong()
			}
		case '{', '[':
			return fmt.Errorf("%q is nested; only single values are read, so write its parts as fields of their own", name)
		default:
			for s.at < len(text) && bytes.IndexByte(endsOfValue, text[s.at]) < 0 {
				s.at++
			}
		}
		value := text[from:s.at]
		switch {
		case string(value) == "NaN": // Python's json writes it and infinities
			value = null
		case string(value) == "Infinity" || string(value) == "-Infinity":
		case len(value) == 0 || !plain(value) && !json.Valid(value):
			return s.wrong()
		}
		if err := field(name, value); err != nil {
			return err
		}
		if more = s.byte(','); !more && !s.byte('}') {
			return s.wrong()
		}
	}
	if s.blanks(); s.at < len(text) {
		if text[s.at] == ',' && len(trim(text[s.at+1:])) == 0 {
			return errors.New("the line ends with a comma; take them out: sed 's/,$//' FILE > DATA")
		}
		return errors.New("more than one value in a line")
	}
	return nil
}

var null = []byte("null")

var endsOfValue = []byte(" \t\r,}")

// jsonScanner goes over the text of an object.
type jsonScanner struct {
	text []byte
	at   int
}

// wrong is what is wrong with a text that is no object.
func (s *jsonScanner) wrong() error {
	var v any
	err := json.Unmarshal(s.text, &v)
	if err == nil {
		err = fmt.Errorf("byte %d is not expected", s.at)
	}
	return fmt.Errorf("not a JSON object: %w", err)
}

func (s *jsonScanner) blanks() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// peek is the next byte, 0 at the end.
func (s *jsonScanner) peek() byte {
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// byte passes over blanks and a byte, if that is there.
func (s *jsonScanner) byte(c byte) bool {
	s.blanks()
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// string takes a string with its quotes; nil if there is none.
func (s *jsonScanner) string() []byte {
	if s.blanks(); s.peek() != '"' {
		return nil
	}
	for i := s.at + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '"':
			from := s.at
			s.at = i + 1
			return s.text[from:s.at]
		}
	}
	return nil
}

// unquoted is a string without its quotes and escapes.
func unquoted(quoted []byte) ([]byte, error) {
	if plain(quoted) {
		return quoted[1 : len(quoted)-1], nil
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return nil, err
	}
	if half := halfPair(quoted); half != nil {
		return nil, fmt.Errorf("%s in %.40s is half of a pair of surrogates and no character; write the whole pair, or the character itself", half, quoted)
	}
	return []byte(s), nil
}

// halfPair is an escape of a valid string that is half of a surrogate pair: decoded, all of them are one character. nil: there is none.
func halfPair(text []byte) []byte {
	escape := func(i int) rune { // the unit at i, or -1
		if i+6 > len(text) || text[i] != '\\' || text[i+1] != 'u' {
			return -1
		}
		u, _ := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
		return rune(u)
	}
	for i := 0; i < len(text); i++ {
		switch u := escape(i); {
		case text[i] != '\\':
		case !utf16.IsSurrogate(u): // \n, \\ and the like, and single units
			i++
		case utf16.DecodeRune(u, escape(i+6)) == utf8.RuneError:
			return text[i : i+6]
		default:
			i += 11
		}
	}
	return nil
}

// plain says that a value is a string without escapes.
func plain(value []byte) bool {
	if value[0] != '"' {
		return false
	}
	for _, c := range value {
		if c == '\\' || c < ' ' {
			return false
		}
	}
	return true
}
