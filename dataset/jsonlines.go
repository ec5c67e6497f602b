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

// jsonTable is a file with a JSON object a line as a table of text: the columns are the names of all objects, in the order
// in which they are first seen. A string or a boolean makes its column one of texts; null, and a name that is not there, are missing.
type jsonTable struct {
	in    input
	names []string
	at    map[string]int
	texts map[string]bool
	head  []byte
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
	t := &jsonTable{in: in, at: map[string]int{}, texts: map[string]bool{}}
	p, _, err := t.pass()
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
			if _, known := t.at[name]; !known {
				if len(t.names) == mostColumns {
					return fmt.Errorf("there are more than %d names; is it data of another form?", mostColumns)
				}
				t.at[name] = len(t.names)
				t.names = append(t.names, name)
			}
			switch v.(type) {
			case string, bool:
				t.texts[name] = true
			}
			return nil
		})
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
	}
	t.head, err = headOf(t)
	return t, err
}

// mostColumns bounds the columns of JSON lines.
const mostColumns = 1 << 20

func (t *jsonTable) Name() string { return t.in.Name() }
func (t *jsonTable) Head() []byte { return t.head }

// jsonPass is one pass over the lines.
type jsonPass struct {
	t     *jsonTable
	lines *bufio.Scanner
	close func() error
	line  int

	text  []byte
	at    int
	cells []any
	err   error
}

func (t *jsonTable) pass() (*jsonPass, func() float64, error) {
	r, share, err := t.in.Open()
	if err != nil {
		return nil, nil, err
	}
	p := &jsonPass{t: t, lines: bufio.NewScanner(r), close: r.Close}
	p.lines.Buffer(make([]byte, 1<<16), longestObject)
	return p, share, nil
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

// Open implements input.
func (t *jsonTable) Open() (io.ReadCloser, func() float64, error) {
	p, share, err := t.pass()
	if err != nil {
		return nil, nil, err
	}
	p.cells = make([]any, len(t.names))
	for i, name := range t.names {
		if i > 0 {
			p.text = append(p.text, ',')
		}
		p.text = appendQuoted(p.text, name)
	}
	p.text = append(p.text, '\n')
	return p, share, nil
}

// Read implements io.Reader.
func (p *jsonPass) Read(dst []byte) (int, error) {
	if p.at == len(p.text) {
		p.text, p.at = p.text[:0], 0
		for len(p.text) < tableText && p.err == nil {
			p.err = p.next()
		}
		if len(p.text) == 0 {
			return 0, p.err
		}
	}
	n := copy(dst, p.text[p.at:])
	p.at += n
	return n, nil
}

// next appends the text of an object.
func (p *jsonPass) next() error {
	clear(p.cells)
	err := p.object(func(name string, v any) error {
		at, known := p.t.at[name]
		if !known {
			return errors.New("the file has changed while it is read")
		}
		p.cells[at] = v
		return nil
	})
	if err != nil {
		return err
	}
	for i, v := range p.cells {
		if i > 0 {
			p.text = append(p.text, ',')
		}
		switch x := v.(type) {
		case string:
			p.text = appendQuoted(p.text, x)
		case bool:
			p.text = fmt.Append(p.text, x)
		case json.Number:
			p.text = append(p.text, x...)
		}
	}
	if len(p.cells) == 1 && p.cells[0] == nil {
		p.text = append(p.text, `""`...) // or the line would be empty, and no row
	}
	p.text = append(p.text, '\n')
	return nil
}

// Close implements io.Closer.
func (p *jsonPass) Close() error { return p.close() }
