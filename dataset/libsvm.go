package dataset

import (
	"bytes"
	"context"
	"fmt"
	"math"
)

// LIBSVM text: one row a line,
//
//	label [qid:number] index:value index:value … [# comment]
//
// with indices that increase and start at 1 (Options.Base 0: at 0). A file without any
// labels is allowed, for prediction.

// libsvm is such a file.
type libsvm struct {
	in       input
	schema   Schema
	batch    int
	labelled bool // the first row has a label, so all must
	limit    int  // width that rows may have, 0: any
	limitWhy string
}

// looksLikeLIBSVM says whether the first line that is not blank or a comment has the form
// of a LIBSVM row.
func looksLikeLIBSVM(head []byte) bool {
	for line := range bytes.Lines(head) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		fields := bytes.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if bytes.ContainsAny(fields[0], ":") {
			return isPair(fields[0])
		}
		for _, f := range fields[1:] {
			if !isPair(f) {
				return false
			}
		}
		if len(fields) > 1 {
			return true
		}
		// A label alone is a row of zeros; the next line tells.
		if _, ok := parseNumber(fields[0]); !ok {
			return false
		}
	}
	return false
}

// isPair says whether a word is index:value or qid:number.
func isPair(word []byte) bool {
	i := bytes.IndexByte(word, ':')
	if i <= 0 {
		return false
	}
	for _, c := range word[:i] {
		if (c < '0' || c > '9') && c != '-' && string(word[:i]) != "qid" {
			return false
		}
	}
	return true
}

func newLIBSVM(in input, opt Options) (Source, error) {
	l := &libsvm{in: in, batch: opt.BatchRows, labelled: true}
	l.schema = Schema{Format: "libsvm", Base: 1, Dim: opt.Dim}
	if opt.Base == "0" {
		l.schema.Base = 0
	}
	l.limit, l.limitWhy = opt.Dim, "--dim says %d"
	if m := opt.Schema; m != nil {
		if m.Format == "libsvm" && opt.Base == "" {
			l.schema.Base = m.Base
		}
		l.limit, l.limitWhy = m.Dim, "the model was trained on %d"
		l.schema.Dim = m.Dim
	}
	for line := range bytes.Lines(in.Head()) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if f := bytes.Fields(line); len(f) > 0 {
			l.labelled = bytes.IndexByte(f[0], ':') < 0
			break
		}
	}
	return l, nil
}

func (l *libsvm) Name() string    { return l.in.Name() }
func (l *libsvm) Schema() *Schema { return &l.schema }

func (l *libsvm) Open(ctx context.Context) (Reader, error) {
	return readText(ctx, l.in, textFormat{
		name: l.Name(), batch: l.batch,
		newParser: func() parser { return &libsvmParser{libsvm: l, interned: map[string]string{}} },
	})
}

// libsvmParser parses blocks of a file.
type libsvmParser struct {
	*libsvm
	interned map[string]string // labels that are text, each kept once
}

func (p *libsvmParser) parse(text []byte, line int, rows *rowBuffer) error {
	x := &rows.csr
	x.Cols = p.schema.Dim
	rows.Outputs = 0
	if p.labelled {
		rows.Outputs = 1
	}
	for ; len(text) > 0; line++ {
		end := bytes.IndexByte(text, '\n')
		row := text
		if end >= 0 {
			row, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if err := p.row(row, rows); err != nil {
			// The rows before this one stay.
			x.Idx, x.Val = x.Idx[:x.Ptr[x.Rows]], x.Val[:x.Ptr[x.Rows]]
			rows.Y = rows.Y[:x.Rows*rows.Outputs]
			return fmt.Errorf("%s:%d: %w", p.Name(), line, err)
		}
	}
	return nil
}

// row parses one line.
func (p *libsvmParser) row(b []byte, rows *rowBuffer) error {
	x := &rows.csr
	i, n := 0, len(b)
	for i < n && b[i] <= ' ' {
		i++
	}
	if i == n || b[i] == '#' {
		return nil
	}
	name := ""
	if p.labelled {
		start := i
		for i < n && b[i] > ' ' && b[i] != ':' {
			i++
		}
		if i < n && b[i] == ':' {
			return fmt.Errorf("%q where the label should be; the rows before have labels", word(b, start))
		}
		y, text, err := p.label(b[start:i])
		if err != nil {
			return err
		}
		rows.Y = append(rows.Y, y)
		name = text
	}
	last := int64(p.schema.Base) - 1
	for {
		for i < n && b[i] <= ' ' {
			i++
		}
		if i == n || b[i] == '#' {
			break
		}
		start := i
		index := int64(0)
		for i < n && b[i]-'0' <= 9 {
			if index < 1<<50 {
				index = index*10 + int64(b[i]-'0')
			}
			i++
		}
		if i == start || i == n || b[i] != ':' {
			if i == start && bytes.HasPrefix(b[i:], []byte("qid:")) {
				for i < n && b[i] > ' ' {
					i++
				}
				continue
			}
			return fmt.Errorf("%q is not index:value", word(b, start))
		}
		i++
		from := i
		for i < n && b[i] > ' ' {
			i++
		}
		v, ok := parseNumber(b[from:i])
		switch {
		case !ok && notFinite(b[from:i]):
			return fmt.Errorf("index %d: %s is not allowed; leave the value out or replace it", index, b[from:i])
		case !ok:
			return fmt.Errorf("index %d: %q is not a number", index, word(b, from))
		case v > maxValue || v < -maxValue:
			return fmt.Errorf("index %d: %s is larger than float32 holds (3.4e38)", index, b[from:i])
		case index <= last:
			return p.order(index, last)
		case index-int64(p.schema.Base) >= math.MaxInt32:
			return fmt.Errorf("index %s is larger than the largest that is possible, %d", word(b, start)[:from-start-1], math.MaxInt32)
		case p.limit > 0 && index-int64(p.schema.Base) >= int64(p.limit):
			return fmt.Errorf("index %d, but "+p.limitWhy+" dimensions%s", index, p.limit, p.baseHint())
		}
		last = index
		if v == 0 {
			continue
		}
		x.Idx = append(x.Idx, int32(index)-int32(p.schema.Base))
		x.Val = append(x.Val, float32(v))
	}
	x.Rows++
	x.Ptr = append(x.Ptr, len(x.Idx))
	if width := int(last) - p.schema.Base + 1; width > x.Cols {
		x.Cols = width
	}
	rows.addName(name, x.Rows)
	return nil
}

func (p *libsvmParser) baseHint() string {
	if p.schema.Base == 0 {
		return " (from 0)"
	}
	return ""
}

// order says what is wrong with an index that does not come after the last one.
func (p *libsvmParser) order(index, last int64) error {
	switch {
	case index == 0 && p.schema.Base == 1:
		return fmt.Errorf("index 0, but indices start at 1; if they start at 0 in this file, use --base 0")
	case index == last:
		return fmt.Errorf("index %d comes twice", index)
	}
	return fmt.Errorf("index %d comes after %d; indices must increase within a row", index, last)
}

// label parses a label: a number, or else text.
func (p *libsvmParser) label(b []byte) (y float64, text string, err error) {
	if v, ok := parseNumber(b); ok {
		if math.IsInf(v, 0) {
			return 0, "", fmt.Errorf("the label %s is too large", b)
		}
		return v, "", nil
	}
	if notFinite(b) {
		return 0, "", fmt.Errorf("the label %s is not allowed; remove the row or give it a label", b)
	}
	if bytes.IndexByte(b, ',') >= 0 {
		return 0, "", fmt.Errorf("%q are several labels; a row must have one", word(b, 0))
	}
	return math.NaN(), intern(p.interned, b), nil
}

// intern returns b as a string, the same one every time.
func intern(known map[string]string, b []byte) string {
	if s, ok := known[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(known) < maxDistinct {
		known[s] = s
	}
	return s
}

// word is the word at b[i:], shortened, for a message.
func word(b []byte, i int) string {
	end := i
	for end < len(b) && b[end] > ' ' {
		end++
	}
	return shorten(b[i:end])
}

// shorten is a piece of text of bounded length, for a message.
func shorten(b []byte) string {
	if len(b) > 40 {
		return string(b[:37]) + "..."
	}
	return string(b)
}
