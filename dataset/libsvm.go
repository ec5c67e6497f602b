package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// LIBSVM text: one row per line,
//
//	label [qid:number] index:value index:value … [# comment]
//
// or label,label,… instead of the label, and nothing for none, with indices that increase and
// start at 1 (Options.Base 0: at 0). A file without any labels is allowed, for prediction.

// libsvm is such a file.
type libsvm struct {
	in       input
	schema   Schema
	batch    int
	labelled bool   // the first row has a label, so all must
	grouped  bool   // qid identifies a row's bag, so all must have one
	divided  bool   // by groups, which are no bags
	limit    int    // width that rows may have, 0: any
	limitOf  string // what sets the limit, "" for the options
	trained  bool   // the limit is the width of the LIBSVM text that a model was trained on
	memory   int64  // that columns may take, if that sets the limit; otherwise 0
	byFile   bool   // the size of the file sets it
}

// looksLikeLIBSVM reports whether the first line that is not blank or a comment has the
// form of a LIBSVM row.
func looksLikeLIBSVM(head []byte) bool {
	for line := range bytes.Lines(bytes.TrimPrefix(head, byteOrderMark)) {
		cut := len(head) == headSize && line[len(line)-1] != '\n'
		line, _, _ = bytes.Cut(line, []byte{'#'})
		fields := bytes.Fields(line)
		if cut && len(fields) > 0 {
			fields = fields[:len(fields)-1]
		}
		if len(fields) == 0 {
			continue
		}
		if bytes.IndexByte(fields[0], ':') >= 0 {
			// Times of day and the like have colons too.
			return !slices.ContainsFunc(fields, func(f []byte) bool {
				_, ok := parseNumber(f[bytes.IndexByte(f, ':')+1:])
				return !ok || !isPair(f)
			})
		}
		if slices.ContainsFunc(fields[1:], func(f []byte) bool { return !isPair(f) }) {
			return false
		}
		if len(fields) > 1 {
			return true
		}
		// A label alone is a row of zeros; the next line decides.
		if _, ok := parseNumber(fields[0]); !ok {
			return false
		}
	}
	return false
}

// isPair reports whether a word is index:value or qid:number.
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
	if opt.Group != "" && opt.Group != "qid" {
		return nil, option.Errorf("%s: is LIBSVM text, in which rows are grouped by qid:NUMBER after the label; use %s", in.Name(),
			option.Set("group", "qid"))
	}
	if opt.Group != "" || opt.Schema != nil && opt.Schema.Group != nil {
		l.grouped, l.schema.Group = true, &Place{Name: "qid"}
	}
	if kind, column := opt.Columns.split(); kind != "" && opt.Schema == nil {
		if kind != "group" || column != "qid" {
			return nil, option.Errorf("%s: is LIBSVM text, whose rows can be divided by %s alone", in.Name(), option.Set("split_group", "qid"))
		}
		l.grouped, l.divided = true, true
	}
	l.limit = opt.Dim
	if m := opt.Schema; m != nil {
		if m.Format == "libsvm" {
			if opt.Base == strconv.Itoa(1-m.Base) {
				return nil, option.Errorf("%s: %s, but %s LIBSVM text whose indices start at %d; leave it out", in.Name(),
					option.Set("base", opt.Base), opt.trainedOn(), m.Base)
			}
			l.schema.Base = m.Base
		}
		l.limit, l.limitOf, l.trained = m.Dim, "the model", m.Format == "libsvm" && opt.like == ""
		if opt.like != "" {
			l.limitOf = "the first file (" + opt.like + ")"
		}
		l.schema.Dim = m.Dim
	} else if opt.Memory > 0 {
		if err := tooWide(int64(opt.Dim), opt.Memory); err != nil {
			return nil, option.Errorf("%s: %s %d: %w", in.Name(), option.Ref("dim"), opt.Dim, err)
		}
		if l.limit == 0 {
			l.memory = opt.Memory
			if most := ofFile(in); most > 0 && most < l.memory {
				l.memory, l.byFile = most, true
			}
			l.limit = int(min(l.memory/columnBytes, math.MaxInt32))
		}
	}
	if opt.LabelSeparator != "" && opt.LabelSeparator != "," {
		return nil, fmt.Errorf("%s: is LIBSVM text, in which labels are separated by commas, not by %q", in.Name(), opt.LabelSeparator)
	}
	if opt.LabelSeparator != "" || opt.Schema != nil && opt.Schema.LabelSeparator != "" || opt.Schema == nil && multiLabelled(in.Head()) {
		l.schema.LabelSeparator = ","
	}
	for line := range bytes.Lines(in.Head()) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if f := bytes.Fields(line); len(f) > 0 {
			if l.labelled = bytes.IndexByte(f[0], ':') < 0; l.labelled || l.schema.LabelSeparator == "" {
				break // otherwise the row may have no label; the next one decides
			}
		}
	}
	return l, nil
}

func (l *libsvm) Name() string    { return l.in.Name() }
func (l *libsvm) Schema() *Schema { return &l.schema }

func (l *libsvm) Open(ctx context.Context) (Reader, error) {
	return readText(ctx, l.in, textFormat{
		name: l.Name(), batch: l.batch,
		newParser: l.newParser,
	})
}

func (l *libsvm) newParser() parser {
	return &libsvmParser{libsvm: l, interned: map[string]string{}}
}

// libsvmParser parses blocks of a file.
type libsvmParser struct {
	*libsvm
	interned map[string]string // labels that are text, each kept once
	key      string            // the bag of the previous row
}

func (p *libsvmParser) parse(text []byte, line int, rows *rowBuffer) error {
	outputs := 0
	if p.labelled {
		outputs = 1
	}
	rows.shape(outputs, p.schema.Dim, true)
	for ; len(text) > 0; line++ {
		row, rest, _ := record(text, false)
		if err := p.row(row, line, rows); err != nil {
			return atLine(p.Name(), line, err)
		}
		text = rest
	}
	return nil
}

// row parses one line.
func (p *libsvmParser) row(b []byte, line int, rows *rowBuffer) error {
	i := skipBlanks(b, 0)
	if i == len(b) || b[i] == '#' {
		return nil
	}
	name := ""
	if p.labelled {
		end := wordEnd(b, i)
		if p.schema.LabelSeparator != "" && bytes.IndexByte(b[i:end], ':') >= 0 {
			end = i // no label
		}
		y, text, err := p.label(b[i:end])
		if err != nil {
			return err
		}
		rows.Y, name = append(rows.Y, y), text
		i = skipBlanks(b, end)
	}
	qid := hasQID(b[i:])
	switch {
	case p.grouped && !qid:
		return errNoQID
	case p.grouped:
		value := b[i+len(qidPrefix) : wordEnd(b, i)]
		if len(value) == 0 {
			return errors.New("qid: has no number after the colon")
		}
		if string(value) != p.key {
			p.key = string(value)
		}
		rows.keys, rows.lines = append(rows.keys, p.key), append(rows.lines, line)
	}
	if qid {
		i = skipBlanks(b, wordEnd(b, i))
	}
	x := &rows.csr
	base := int64(p.schema.Base)
	last := base - 1
	for i < len(b) && b[i] != '#' {
		start := i
		index := int64(0)
		for i < len(b) && b[i]-'0' <= 9 {
			if index < 1<<50 {
				index = index*10 + int64(b[i]-'0')
			}
			i++
		}
		if i == start || i == len(b) || b[i] != ':' {
			return p.noPair(b, start)
		}
		v, end := scanNumber(b, i+1)
		if end == i+1 || end < len(b) && b[end] > ' ' && b[end] != '#' || v > maxValue || v < -maxValue {
			return p.badValue(b, start, i+1)
		}
		if index <= last || index-base >= math.MaxInt32 || p.limit > 0 && index-base >= int64(p.limit) {
			return p.badIndex(b[start:i], index, last)
		}
		last = index
		i = skipBlanks(b, end)
		if value := float32(v); value != 0 {
			x.Idx = append(x.Idx, int32(index-base))
			x.Val = append(x.Val, value)
		}
	}
	x.Cols = max(x.Cols, int(last-base)+1)
	rows.endRow(name)
	return nil
}

// skipBlanks is the first position from i on that is not a blank.
func skipBlanks(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	return i
}

// wordEnd is where the word at b[i:] ends.
func wordEnd(b []byte, i int) int {
	for i < len(b) && b[i] > ' ' {
		i++
	}
	return i
}

// hasQID reports whether b starts with a query number, which ranking uses and which groups rows.
func hasQID(b []byte) bool { return bytes.HasPrefix(b, []byte(qidPrefix)) }

const qidPrefix = "qid:"

var errNoQID = errors.New("the row has no qid:NUMBER behind its label to say which group it is of")

// noPair is the error for a word at b[i:] that is not index:value.
func (p *libsvmParser) noPair(b []byte, i int) error {
	w := b[i:wordEnd(b, i)]
	switch at := bytes.IndexByte(w, ':'); {
	case hasQID(w):
		return fmt.Errorf("%q may only follow the label", shorten(w))
	case at < 0 && !p.labelled && i == skipBlanks(b, 0):
		return fmt.Errorf("%q looks like a label, but the first row has none", shorten(w))
	case at > 0 && w[0] == '-':
		return fmt.Errorf("index %s is negative; indices start at %d", shorten(w[:at]), p.schema.Base)
	}
	return fmt.Errorf("%q is not index:value", shorten(w))
}

// badValue is the error for the value at b[from:] of the pair at b[start:].
func (p *libsvmParser) badValue(b []byte, start, from int) error {
	index, value := b[start:from-1], b[from:wordEnd(b, from)]
	_, ok := parseNumber(value)
	switch {
	case ok:
		return p.wrong(index, value, fmt.Errorf("%s is out of float32's range (3.4e38)", shorten(value)))
	case notFinite(value):
		return p.wrong(index, value, fmt.Errorf("%s is not allowed; leave the value out or replace it", value))
	case len(value) == 0:
		return fmt.Errorf("index %s has no value after the colon", shorten(index))
	}
	return p.wrong(index, value, fmt.Errorf("%q is not a number", shorten(value)))
}

// wrong is an error about the value with an index.
func (p *libsvmParser) wrong(index, value []byte, err error) error {
	dim := -1
	if v, err := strconv.Atoi(string(index)); err == nil {
		dim = max(-1, v-p.schema.Base)
	}
	return inColumn("index "+shorten(index), shorten(index), dim, value, err)
}

// badIndex is the error for an index.
func (p *libsvmParser) badIndex(word []byte, index, last int64) error {
	base := int64(p.schema.Base)
	switch {
	case index == 0 && base == 1:
		return option.Errorf("index 0, but indices start at 1; if they start at 0 in this file, use %s", option.Set("base", "0"))
	case index-base >= math.MaxInt32:
		return fmt.Errorf("index %s is larger than any this program handles (%d)", shorten(word), math.MaxInt32-1+base)
	case index == last:
		return fmt.Errorf("index %d comes twice", index)
	case index < last:
		return fmt.Errorf("index %d comes after %d; indices must increase within a row", index, last)
	}
	if p.byFile {
		return option.Errorf("index %d: training on so many columns takes %s, out of proportion to the size of the file; correct the number if it is wrong, "+
			"or say that there are so many: %s", index, units.Bytes((index-base+1)*columnBytes), option.Set("dim", strconv.FormatInt(index-base+1, 10)))
	}
	if p.memory > 0 {
		return fmt.Errorf("index %d: %w", index, tooWide(index-base+1, p.memory))
	}
	from := ""
	if base == 0 {
		from = " (from 0)"
	}
	switch {
	case p.limitOf == "":
		return option.Errorf("index %d, but %s says %d dimensions%s", index, option.Ref("dim"), p.limit, from)
	case p.trained: // on LIBSVM text in which no row had so many dimensions
		return option.Errorf("index %d, but %s has %d dimensions%s; train it with %s or more, the largest number that any file has", index,
			p.limitOf, p.limit, from,
			option.Set("dim", strconv.FormatInt(index-base+1, 10)))
	}
	return fmt.Errorf("index %d, but %s has %d dimensions%s", index, p.limitOf, p.limit, from)
}

// label parses a label: a number, otherwise text.
func (p *libsvmParser) label(b []byte) (y float64, text string, err error) {
	if p.schema.LabelSeparator != "" {
		return labelList(p.interned, b, ",")
	}
	v, ok := parseNumber(b)
	switch {
	case ok && math.IsInf(v, 0):
		return 0, "", fmt.Errorf("the label %s is out of float64's range", shorten(b))
	case ok && spelled(b, v):
		return v, intern(p.interned, b), nil
	case ok:
		return v, "", nil
	case bytes.IndexByte(b, ':') >= 0:
		return 0, "", fmt.Errorf("%q where the label should be; either all rows have one or none has", shorten(b))
	case notFinite(b):
		return 0, "", fmt.Errorf("the label %s is not allowed; remove the row or give it a label", b)
	case bytes.IndexByte(b, ',') >= 0:
		return 0, "", option.Errorf("%q are several labels; a row must have one, unless lists are asked for with %s", shorten(b),
			option.Set("label_separator", ","))
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

// shorten is a piece of text of bounded length, for a message.
func shorten(b []byte) string {
	if len(b) > 40 {
		return string(b[:37]) + "..."
	}
	return string(b)
}
