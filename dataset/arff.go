package dataset

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ARFF (Weka's format): a header of @attribute lines that name the columns and their types,
// then after @data a table separated by commas, or sparse rows {index value, …} in which
// what is left out is 0 or the first declared value. % starts a comment line, ? is a missing
// value, names and texts may stand in single or double quotes.

// looksLikeARFF says whether the first line that is no comment is @relation or @attribute.
func looksLikeARFF(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '%' {
			continue
		}
		return keyword(line, "@relation") || keyword(line, "@attribute")
	}
	return false
}

// keyword says whether a line starts with a keyword in any case.
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
				return nil, fmt.Errorf("%s:%d: @data comes before any @attribute", t.Name(), number)
			}
			t.skip = number
			return list, nil
		case keyword(line, "@attribute"):
			a, err := parseAttribute(line[len("@attribute"):])
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", t.Name(), number, err)
			}
			list = append(list, a)
		default:
			return nil, fmt.Errorf("%s:%d: %q is none of @relation, @attribute, @data", t.Name(), number, shorten(line))
		}
	}
	return nil, fmt.Errorf("%s: no @data line in its first %d bytes", t.Name(), len(head))
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
		cells, err := arffCells(rest[1:end], nil)
		if err != nil {
			return a, fmt.Errorf("attribute %q: %w", a.name, err)
		}
		a.categories = []string{}
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
	case "date", "relational":
		return a, fmt.Errorf("attribute %q is of type %s; turn it into numbers first", a.name, kind)
	}
	return a, fmt.Errorf("attribute %q has type %q; known are numeric, real, integer, string and {values}", a.name, shorten(kind))
}

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

// arffCells cuts a line at commas; blanks inside an unquoted cell are kept.
func arffCells(line []byte, cells [][]byte) ([][]byte, error) {
	for {
		line = trim(line)
		var cell []byte
		if len(line) > 0 && (line[0] == '\'' || line[0] == '"') {
			var err error
			if cell, line, err = arffWord(line, ","); err != nil {
				return nil, err
			}
			line = trim(line)
			if len(line) > 0 && line[0] != ',' {
				return nil, fmt.Errorf("%q after a quoted value; expected a comma", shorten(line))
			}
		} else {
			i := bytes.IndexByte(line, ',')
			if i < 0 {
				i = len(line)
			}
			cell, line = trim(line[:i]), line[i:]
		}
		cells = append(cells, cell)
		if len(line) == 0 {
			return cells, nil
		}
		line = line[1:]
	}
}

// arffRow cuts a data line into p.cells; done says that the line holds no row.
func (p *tableParser) arffRow(line []byte) (done bool, err error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '%' {
		return true, nil
	}
	if line[0] != '{' {
		p.cells, err = arffCells(line, p.cells[:0])
		// A weight in braces may follow the values.
		if n := len(p.cells); err == nil && n == len(p.roles)+1 && bytes.HasPrefix(p.cells[n-1], []byte{'{'}) {
			return false, fmt.Errorf("row weights in braces (%s) are not read; put them into a column and name it with --weight", shorten(p.cells[n-1]))
		}
		return false, err
	}
	if line[len(line)-1] != '}' {
		return false, fmt.Errorf("a sparse row has no closing brace")
	}
	p.cells = p.cells[:0]
	for i := range p.roles {
		zero := zeroCell
		if first := p.declared[i]; first != "" {
			zero = []byte(first)
		}
		p.cells = append(p.cells, zero)
	}
	body := trim(line[1 : len(line)-1])
	last := -1
	for len(body) > 0 {
		word, rest, _ := arffWord(body, ",")
		i, err := strconv.Atoi(string(word))
		if err != nil || i < 0 || i >= len(p.cells) {
			return false, fmt.Errorf("%q is not an index from 0 to %d", shorten(word), len(p.cells)-1)
		}
		if i <= last {
			return false, fmt.Errorf("index %d comes after %d; indices must increase within a row", i, last)
		}
		last = i
		value, rest, err := arffWord(trim(rest), ",")
		if err != nil {
			return false, err
		}
		if len(value) == 0 {
			return false, fmt.Errorf("index %d has no value", i)
		}
		p.cells[i] = value
		rest = trim(rest)
		if len(rest) > 0 && rest[0] != ',' {
			return false, fmt.Errorf("%q after the value of index %d; expected a comma", shorten(rest), i)
		}
		body = trim(bytes.TrimPrefix(rest, []byte{','}))
	}
	return false, nil
}

var zeroCell = []byte{'0'}

// sortDeclared puts the declared values of categorical columns into order, as the values of
// other tables are, and keeps the first of each for sparse rows.
func (t *table) sortDeclared(columns []attribute) error {
	t.declared = make([]string, len(columns))
	for i := range columns {
		c := columns[i].categories
		if c == nil {
			continue
		}
		if len(c) == 0 {
			return fmt.Errorf("%s: attribute %q declares no values", t.Name(), columns[i].name)
		}
		t.declared[i] = c[0]
		slices.Sort(c)
		columns[i].categories = slices.Compact(c)
	}
	return nil
}
