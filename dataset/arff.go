package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
)

// ARFF (Weka's format): a header of @attribute lines that name the columns and their types,
// then, after @data, a table separated by commas or by blanks, or sparse rows {index value, …} in
// which omitted values are 0 or the first declared value. % starts a comment line, ? is a
// missing value, names and texts may be in single or double quotes.

// looksLikeARFF reports whether the first line that is not a comment is @relation or @attribute.
func looksLikeARFF(head []byte) bool {
	for line := range bytes.Lines(bytes.TrimPrefix(head, byteOrderMark)) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '%' {
			continue
		}
		return keyword(line, "@relation") || keyword(line, "@attribute")
	}
	return false
}

// keyword reports whether a line starts with a keyword, in any case.
func keyword(line []byte, word string) bool {
	return len(line) >= len(word) && strings.EqualFold(string(line[:len(word)]), word)
}

// readARFFHeader reads the attributes and sets t.skip to the lines before the data.
func (t *table) readARFFHeader(head []byte) ([]attribute, error) {
	var list []attribute
	number := 0
	for line := range bytes.Lines(head) {
		number++
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0 || line[0] == '%' || keyword(line, "@relation"):
		case keyword(line, "@data"):
			if len(list) == 0 {
				return nil, atLine(t.Name(), number, errors.New("@data comes before any @attribute"))
			}
			t.skip, t.schema.Header = number, true
			t.declare(list)
			return list, nil
		case keyword(line, "@attribute"):
			a, err := parseAttribute(line[len("@attribute"):])
			if err != nil {
				return nil, atLine(t.Name(), number, err)
			}
			if slices.ContainsFunc(list, func(b attribute) bool { return b.name == a.name }) {
				return nil, atLine(t.Name(), number, fmt.Errorf("attribute %q is declared twice", a.name))
			}
			list = append(list, a)
		default:
			return nil, atLine(t.Name(), number, fmt.Errorf("%q is none of @relation, @attribute, @data", shorten(line)))
		}
	}
	return nil, fmt.Errorf("%s: no @data line in its first %d bytes", t.Name(), len(head))
}

// arffSeparator is what cuts the rows after a number of lines: a comma, or ' ' for blanks, tabs and commas alike, as
// WEKA has it, if that cuts more of the first 100 rows into the declared number of cells.
func arffSeparator(head []byte, skip, columns int) byte {
	separators := [2]byte{',', ' '}
	var fits [2]int
	n := 0
	for line := range bytes.Lines(head) {
		if skip--; skip >= 0 {
			continue
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '%' || line[0] == '{' {
			continue
		}
		if n++; n > 100 {
			break
		}
		for i, sep := range separators {
			c := cutter{sep: sep, arff: true}
			if cells, err := c.all(line, false, nil); err == nil && len(cells) == columns {
				fits[i]++
			}
		}
	}
	if fits[1] > fits[0] {
		return ' '
	}
	return ','
}

// parseAttribute parses what follows @attribute: a name and a type.
func parseAttribute(b []byte) (attribute, error) {
	name, rest, err := arffWord(bytes.TrimSpace(b), "")
	if err != nil || len(name) == 0 {
		return attribute{}, fmt.Errorf("an @attribute needs a name and a type")
	}
	a := attribute{name: string(name)}
	rest = bytes.TrimSpace(rest)
	if len(rest) > 0 && rest[0] == '{' {
		end := bytes.LastIndexByte(rest, '}')
		if end < 0 {
			return a, fmt.Errorf("the values of attribute %q have no closing brace", a.name)
		}
		if len(trim(rest[1:end])) == 0 {
			return a, fmt.Errorf("attribute %q declares no values", a.name)
		}
		c := cutter{sep: ',', arff: true}
		cells, err := c.all(rest[1:end], false, nil)
		if err != nil {
			return a, fmt.Errorf("attribute %q: %w", a.name, err)
		}
		for _, c := range cells {
			a.categories = append(a.categories, string(c))
		}
		return a, nil
	}
	kind, _, _ := bytes.Cut(rest, []byte{' '})
	kind, _, _ = bytes.Cut(kind, []byte{'\t'})
	switch strings.ToLower(string(kind)) {
	case "numeric", "real", "integer":
		return a, nil
	case "string":
		a.text = true
		return a, nil
	case "date":
		layout, _, err := arffWord(bytes.TrimSpace(rest[len(kind):]), "")
		if err != nil {
			return a, fmt.Errorf("attribute %q: %w", a.name, err)
		}
		if len(layout) == 0 {
			layout = []byte("yyyy-MM-dd'T'HH:mm:ss")
		}
		a.text, a.found, a.layouts = true, KindDate, []string{javaLayout.Replace(string(layout))}
		return a, nil
	case "relational":
		return a, fmt.Errorf("attribute %q is of type %s; turn it into numbers first", a.name, kind)
	}
	return a, fmt.Errorf("attribute %q has type %q; known are numeric, real, integer, string, date and {values}", a.name, shorten(kind))
}

// javaLayout makes a layout of package time of one of Java's SimpleDateFormat.
var javaLayout = strings.NewReplacer("yyyy", "2006", "yy", "06", "MMMM", "January", "MMM", "Jan", "MM", "01", "M", "1", "dd", "02", "d", "2", "HH", "15", "hh", "03",
	"h", "3", "mm", "04", "ss", "05", "SSS", "000", "a", "PM", "EEEE", "Monday", "EEE", "Mon", "XXX", "Z07:00", "X", "Z07", "Z", "-0700", "z", "MST", "''", "'", "'", "")

// arffWord cuts a word off b: quoted with ' or ", or up to a blank or one of stops.
func arffWord(b []byte, stops string) (word, rest []byte, err error) {
	if len(b) == 0 || b[0] != '\'' && b[0] != '"' {
		i := 0
		for i < len(b) && b[i] != ' ' && b[i] != '\t' && strings.IndexByte(stops, b[i]) < 0 {
			i++
		}
		return b[:i], b[i:], nil
	}
	end := 1
	escaped := false
	for end < len(b) && b[end] != b[0] {
		if b[end] == '\\' {
			end++
			escaped = true
		}
		end++
	}
	if end >= len(b) {
		return nil, nil, fmt.Errorf("the quote %c is not closed", b[0])
	}
	word, rest = b[1:end], b[end+1:]
	if escaped {
		var plain []byte
		for i := 0; i < len(word); i++ {
			if word[i] == '\\' && i+1 < len(word) {
				i++
			}
			plain = append(plain, word[i])
		}
		word = plain
	}
	return word, rest, nil
}

var errRowWeight = option.Errorf("row weights in braces are not read; put them into a column and name it with %s", option.Ref("weight"))

// sparseCells are the cells of a sparse row.
func (p *tableParser) sparseCells(line []byte) ([][]byte, error) {
	p.sparseRow = append(p.sparseRow[:0], p.declared...)
	rest := trim(bytes.TrimSuffix(line, []byte{'\r'}))[1:]
	last := -1
	for {
		rest = trim(rest)
		if bytes.HasPrefix(rest, []byte{'}'}) {
			break
		}
		word, after, _ := arffWord(rest, ",}")
		if len(after) == 0 {
			return nil, errors.New("the sparse row has no closing brace")
		}
		i, err := strconv.Atoi(string(word))
		switch {
		case err != nil || i < 0 || i >= len(p.roles):
			return nil, fmt.Errorf("%q is not an index from 0 to %d", shorten(word), len(p.roles)-1)
		case i == last:
			return nil, fmt.Errorf("index %d comes twice", i)
		case i < last:
			return nil, fmt.Errorf("index %d comes after %d; indices must increase within a row", i, last)
		}
		last = i
		value, after, err := arffWord(trim(after), ",}")
		if err != nil {
			return nil, p.wrong(i, value, err)
		}
		rest = trim(after)
		switch {
		case len(value) == 0 && len(rest) > 0:
			return nil, p.wrong(i, nil, fmt.Errorf("index %d has no value", i))
		case len(rest) == 0:
			return nil, errors.New("the sparse row has no closing brace")
		case rest[0] == ',':
			rest = rest[1:]
		case rest[0] != '}' && (len(rest) == len(after) || rest[0] < '0' || rest[0] > '9'): // else blanks, and another index
			return nil, p.wrong(i, value, fmt.Errorf("%q follows the value; a comma or a brace is expected", shorten(rest)))
		}
		p.sparseRow[i] = value
	}
	switch rest = trim(rest[1:]); {
	case bytes.HasPrefix(rest, []byte{','}):
		return nil, errRowWeight
	case len(rest) > 0:
		return nil, fmt.Errorf("%q follows the closing brace", shorten(rest))
	}
	return p.sparseRow, nil
}

// declare sorts the declared values of categorical columns, like the values of other
// tables, and keeps the value that sparse rows omit: the first declared value, or 0.
func (t *table) declare(columns []attribute) {
	for i, c := range columns {
		left := []byte{'0'}
		if c.categories != nil {
			left = []byte(c.categories[0])
			slices.Sort(c.categories)
			columns[i].categories = slices.Compact(c.categories)
		}
		t.declared = append(t.declared, left)
	}
}
