package dataset

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// cutter cuts a record, a row of a table, into cells. Blanks around cells are removed. A
// cell in double quotes may contain separators, newlines and doubled double quotes (RFC 4180); in
// ARFF a cell in single or double quotes may contain separators and quotes escaped by a backslash.
type cutter struct {
	sep  byte // ' ' stands for runs of blanks and tabs; in ARFF a comma may be among them
	arff bool

	trailing bool // lines end with a separator, behind which there is no cell

	line    []byte
	at      int    // where the next cell starts, -1 after the last
	spans   bool   // the record spans several lines
	scratch []byte // unquoted cells that differ from their text in line
}

// start begins a record, which must not be blank. Cells of the previous record become invalid.
func (c *cutter) start(line []byte, spans bool) {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if c.trailing {
		if end := bytes.TrimRight(line, " "); len(end) > 0 && end[len(end)-1] == c.sep {
			line = end[:len(end)-1]
		}
	}
	c.line, c.at, c.spans, c.scratch = line, 0, spans, c.scratch[:0]
}

// skip is the first position from i on that is not a blank.
func (c *cutter) skip(i int) int {
	for i < len(c.line) && (c.line[i] == ' ' || c.line[i] == '\t' && c.sep != '\t') {
		i++
	}
	return i
}

// after moves past a cell that ended at i; ok is false if neither a blank
// nor a separator follows.
func (c *cutter) after(i int) (ok bool) {
	j := c.skip(i)
	switch {
	case j == len(c.line):
		c.at = -1
	case c.sep == ' ' && c.arff && c.line[j] == ',':
		c.at = j + 1
	case c.sep == ' ':
		c.at = j
		return j > i
	case c.line[j] != c.sep:
		return false
	default:
		c.at = j + 1
	}
	return true
}

// number takes the next cell if it is a plain number. Otherwise the caller has to restore c.at.
func (c *cutter) number() (v float64, ok bool) {
	// Short integers are common enough for a shortcut.
	line, whole, i := c.line, uint32(0), c.at
	for i < len(line) && line[i]-'0' <= 9 {
		whole = whole*10 + uint32(line[i]-'0')
		i++
	}
	if n := i - c.at; n > 0 && n <= 9 && i < len(line) && line[i] == c.sep && c.sep != ' ' {
		c.at = i + 1
		return float64(whole), true
	}
	start := c.skip(c.at)
	v, end := scanNumber(c.line, start)
	if end == start {
		return 0, false
	}
	if end < len(c.line) && c.line[end] == c.sep && c.sep != ' ' {
		c.at = end + 1
		return v, true
	}
	return v, c.after(end)
}

var (
	errOpenQuote = errors.New("a quote opens the cell and nothing closes it")
	errAfterCell = errors.New("text follows the closing quote of the cell; a quote inside a quoted cell must be doubled")
	errLoneQuote = errors.New("the cell has a double quote inside and so the row goes on in the next line; put the cell in double quotes " +
		"and double the one inside")
)

// next takes the next cell.
func (c *cutter) next() ([]byte, error) {
	start := c.skip(c.at)
	if start < len(c.line) && (c.line[start] == '"' || c.arff && c.line[start] == '\'') {
		return c.quoted(start)
	}
	i := start
	if c.sep == ' ' {
		for i < len(c.line) && c.line[i] != ' ' && c.line[i] != '\t' && !(c.arff && c.line[i] == ',') {
			i++
		}
	} else {
		for i < len(c.line) && c.line[i] != c.sep {
			i++
		}
	}
	cell := trim(c.line[start:i])
	if c.spans && bytes.IndexByte(cell, '"') >= 0 {
		return nil, errLoneQuote
	}
	c.after(i)
	return cell, nil
}

// quoted takes a cell in quotes.
func (c *cutter) quoted(start int) ([]byte, error) {
	quote := c.line[start]
	from := len(c.scratch)
	plain := start + 1 // not copied to scratch yet
	for i := start + 1; i < len(c.line); i++ {
		switch {
		case c.arff && c.line[i] == '\\' && i+1 < len(c.line):
			c.scratch = append(c.scratch, c.line[plain:i]...)
			i++
			plain = i
		case c.line[i] != quote:
		case !c.arff && i+1 < len(c.line) && c.line[i+1] == quote:
			i++
			c.scratch = append(c.scratch, c.line[plain:i]...)
			plain = i + 1
		default:
			cell := c.line[plain:i]
			if len(c.scratch) > from {
				c.scratch = append(c.scratch, cell...)
				cell = c.scratch[from:]
			}
			if !c.after(i + 1) {
				return nil, errAfterCell
			}
			return cell, nil
		}
	}
	return nil, errOpenQuote
}

// all appends the cells of a record to cells, up to the first that is wrong.
func (c *cutter) all(line []byte, spans bool, cells [][]byte) ([][]byte, error) {
	for c.start(line, spans); c.at >= 0; {
		cell, err := c.next()
		if err != nil {
			return cells, err
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

// record cuts the first record off a text: up to a newline, or, if quoted is set, up to one that is
// not inside double quotes. lines is its number of lines.
func record(text []byte, quoted bool) (line, rest []byte, lines int) {
	at, odd := 0, false
	for {
		i := bytes.IndexByte(text[at:], '\n')
		lines++
		if i < 0 {
			return text, nil, lines
		}
		i += at
		if quoted && bytes.Count(text[at:i], quote)%2 == 1 {
			odd = !odd
		}
		if !odd {
			return text[:i], text[i+1:], lines
		}
		at = i + 1
	}
}

// separator picks the candidate that cuts most of the first lines into the same
// number of cells, more than one; the earlier one if two do equally well, and a
// comma if none does.
func separator(head []byte, candidates string) byte {
	best, bestShare := candidates[0], 0.0
	if strings.IndexByte(candidates, ',') >= 0 {
		best = ','
	}
	var cells [][]byte
	tabbed := true // the first line has tabs
	for i := range len(candidates) {
		c := cutter{sep: candidates[i]}
		counts := map[int]int{}
		lines, most := 0, 0
		for rest := head; len(rest) > 0 && lines < 100; {
			var line []byte
			var n int
			line, rest, n = record(rest, true)
			if isBlank(line, c.sep) {
				continue
			}
			cells, _ = c.all(line, n > 1, cells[:0])
			if lines++; lines == 1 && c.sep == '\t' {
				tabbed = len(cells) > 1
			}
			if counts[len(cells)]++; len(cells) > 1 {
				most = max(most, counts[len(cells)])
			}
		}
		if share := float64(most) / float64(max(1, lines)); share > bestShare+0.05 || c.sep == ' ' && best == '\t' && !tabbed && share > bestShare {
			best, bestShare = c.sep, share
		}
	}
	return best
}

// isBlank reports whether a line is empty. A tab is not blank if it separates cells.
func isBlank(line []byte, sep byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\r' && (c != '\t' || sep == '\t') {
			return false
		}
	}
	return true
}

// trim removes blanks on both sides.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// missing reports whether a cell stands for a missing value in a column of any kind.
func missing(cell []byte) bool {
	switch lower(cell) {
	case "":
		return len(cell) == 0
	case "?", "na", "n/a", "nan", "-nan", "null", "none", "<na>", `\n`, "#na", "#n/a", "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan":
		return true
	}
	return false
}

// noNumber reports whether a cell is a mark that stands for a missing value among numbers and dates, but may be a category.
func noNumber(cell []byte) bool {
	if len(cell) > len("0000-00-00 00:00:00") {
		return false
	}
	switch strings.ToLower(string(trim(cell))) {
	case "-", "--", "–", "—", ".", "..", "...", "_", "*", "nat", "nil", "nd", "n.a.", "n.a", "n/d", "(null)", "[null]", "missing", "unknown", "undefined",
		"not available", "not applicable", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!",
		"0000-00-00", "0000-00-00 00:00:00":
		return true
	}
	return false
}

// gapsAmong are the numbers among texts that stand for a missing value: -999 does as -999.0 too, and as a number of data with types.
func gapsAmong(lists ...[]string) (gaps []float64) {
	for _, text := range slices.Concat(lists...) {
		if v, ok := parseNumber([]byte(text)); ok {
			gaps = append(gaps, v)
		}
	}
	return gaps
}

// absent reports whether a cell stands for a missing number or date.
func absent(cell []byte) bool { return missing(cell) || noNumber(cell) }
