package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonTable is a file with a JSON object a line as a typed table: the columns are the names of all objects, in the order
// in which they are first seen. A string or a boolean makes its column one of texts; null, and a name that is not there, are missing.
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
func newJSONTable(ctx context.Context, in input) (*jsonTable, error) {
	t := &jsonTable{in: in, at: map[string]int{}}
	p, err := t.begin()
	if err != nil {
		return nil, err
	}
	defer p.Close()
	for {
		if p.line%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		err := p.object(func(name string, v any) error {
			at, known := t.at[name]
			if !known {
				if len(t.columns) == mostColumns {
					return fmt.Errorf("there are more than %d names; is it data of another form?", mostColumns)
				}
				at = len(t.columns)
				t.at[name], t.columns = at, append(t.columns, field{name: name})
			}
			switch v.(type) {
			case string, bool:
				t.columns[at].text = true
			}
			return nil
		})
		if err == io.EOF {
			return t, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// mostColumns bounds the columns of JSON lines.
const mostColumns = 1 << 20

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
	b.reset(len(p.row))
	for b.rows < batchRows(len(p.row)) && len(b.text) < blockSize {
		clear(p.row)
		err := p.object(func(name string, v any) error {
			at, known := p.t.at[name]
			if !known {
				return errors.New("the file has changed while it is read")
			}
			switch c := &p.row[at]; x := v.(type) {
			case string:
				setText(c, x, &b.text)
			case bool:
				c.set(x, &b.text)
			case json.Number:
				setText(c, []byte(x), &b.text)
				c.kind = cellWritten
			default:
				*c = cell{}
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

// object calls field with what the next object holds; io.EOF after the last.
func (p *jsonPass) object(field func(name string, v any) error) error {
	for p.lines.Scan() {
		p.line++
		text := bytes.TrimSpace(p.lines.Bytes())
		if p.line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
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

// eachField reads an object with single values, numbers as they are written.
func eachField(text []byte, field func(name string, v any) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("expected a JSON object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("not a JSON object: %w", err)
		}
		v, err := d.Token()
		if err != nil {
			return fmt.Errorf("not a JSON object: %w", err)
		}
		key, ok := name.(string)
		if _, nested := v.(json.Delim); nested || !ok {
			return fmt.Errorf("%q is nested; only single values are read, so write its parts as fields of their own", key)
		}
		if err := field(key, v); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("not a JSON object: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value in a line")
	}
	return nil
}
