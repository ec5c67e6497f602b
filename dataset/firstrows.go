package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// lookRows is how many rows of the head are used to determine a table's columns.
const lookRows = 2000

// look determines the columns of a table from its head: their names, and which hold text.
func (t *table) look(head []byte) ([]attribute, error) {
	var rows [][]string
	var lines []int // where each row ends
	c := cutter{sep: t.sep}
	line := 0
	for rest := head; len(rest) > 0 && len(rows) < lookRows; {
		var text []byte
		var n int
		text, rest, n = record(rest, true)
		line += n
		if isBlank(text, t.sep) {
			continue
		}
		cells, err := c.all(text, n > 1, nil)
		if err != nil {
			if len(rows) == 0 {
				return nil, atLine(t.Name(), line-n+1, inColumn(fmt.Sprintf("column %d", len(cells)), strconv.Itoa(len(cells)), -1, nil, err))
			}
			// Either the head ends within this row, or parsing will report what is wrong with it.
			break
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		rows, lines = append(rows, row), append(lines, line)
	}
	return t.lookAt(rows, lines)
}

// lookTyped is look for a typed table.
func (t *table) lookTyped(ctx context.Context) ([]attribute, error) {
	var rows [][]string
	if t.opt.Header == "yes" {
		var names []string
		for _, f := range t.typed.fields() {
			names = append(names, f.name)
		}
		rows = append(rows, names)
	}
	size := 0
	err := eachRow(ctx, t.typed, func(cells []string) error {
		for _, c := range cells {
			size += len(c) + 1
		}
		if len(rows) == lookRows || size > headSize && len(rows) > 1 {
			return errEnough
		}
		rows = append(rows, slices.Clone(cells))
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	lines := make([]int, len(rows))
	for i := range lines {
		lines[i] = i + 1
	}
	return t.lookAt(rows, lines)
}

// lookAt is look for rows that have been cut.
func (t *table) lookAt(rows [][]string, lines []int) ([]attribute, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	if t.opt.texts == nil {
		rows, lines = t.withoutPreamble(rows, lines)
	}
	if t.sep != ' ' && t.opt.texts == nil && endWithSeparator(rows) {
		t.ends = true
		cutEnds(rows)
		t.tellOfLines(option.Errorf("lines end with a separator, behind which there is nothing: that is no column"))
	}
	if n := usualWidth(rows[1:]); n > 0 && n != len(rows[0]) {
		if t.opt.Header != "no" && len(rows[0]) == n-1 && namesRows(rows) {
			rows[0], t.opt.Header = append([]string{""}, rows[0]...), "yes"
		}
	}
	if n := usualWidth(rows[1:]); n > 0 && n != len(rows[0]) {
		if len(rows[0]) > 1 && !slices.ContainsFunc(rows[0], func(cell string) bool { return cell == "" || isNumber(cell) }) {
			return nil, atLine(t.Name(), lines[0], fmt.Errorf("%s where the rows below have %d; give each column one name (those here are %s)",
				units.Plural(len(rows[0]), "name"), n, strings.Join(firsts(rows[0], 6), ", ")))
		}
		return nil, atLine(t.Name(), lines[0], fmt.Errorf("%s where the rows below have %d; remove the line if it is not part of the table "+
			"(it starts with %q)",
			units.Plural(len(rows[0]), "column"), n, shorten([]byte(rows[0][0]))))
	}
	if inApostrophes(rows) {
		t.tellOfLines(fmt.Errorf("cells are between apostrophes, such as %s, which are no quotes of CSV and count as parts of the cells; take them out: "+
			"sed \"s/'//g\" FILE > DATA", shorten([]byte(rows[0][0]))))
	}
	columns := make([]attribute, len(rows[0]))
	for j := range columns {
		columns[j].name = strconv.Itoa(j)
	}
	if t.opt.Header != "yes" && t.opt.Header != "no" && numbersAsNames(rows[0], rows[1:]) {
		t.opt.Header = "yes"
		t.tellOfLines(option.Errorf("the first line (%s) is taken for the names of the columns, as its whole numbers look like names; %s takes it for a row", strings.Join(firsts(rows[0], 3), ", "), option.Set("header", "no")))
	}
	if t.opt.Header == "yes" || t.opt.Header != "no" && t.hasHeader(rows) {
		t.schema.Header, t.skip = true, lines[0]
		names(rows[0], columns)
		t.tellNames(rows[0], columns)
		t.header = rows[0]
		rows, lines = rows[1:], lines[1:]
	} else if t.opt.Header != "no" && t.opt.Schema == nil {
		if onlyNames(rows) {
			return nil, option.Errorf("%s: has no rows: its only line (%s) looks like the names of columns; %s takes it for a row", t.Name(), strings.Join(firsts(rows[0], 3), ", "), option.Set("header", "no"))
		}
		if mayBeNames(rows[0], rows[1:]) {
			t.tellOfLines(option.Errorf("the first line (%s) is taken for a row, but may be the names of the columns; %s takes it for these, %s says that it is a row",
				strings.Join(firsts(rows[0], 3), ", "), option.Set("header", "yes"), option.Set("header", "no")))
		}
	}
	for j := range columns {
		columns[j].textual = t.opt.texts[columns[j].name]
		columns[j].text = columns[j].textual || isText(cellsOf(rows, j))
		columns[j].guess(rows, j, t.isMissing, t.decimals())
		if columns[j].found == KindCategory && !columns[j].code {
			columns[j].odd, columns[j].oddLine = odd(rows, lines, j, t.isMissing, t.decimals())
			if dates := oddDates(columns[j].cells); len(dates) > 0 {
				columns[j].oddDate = dates[0]
				at := slices.IndexFunc(rows, func(row []string) bool { return j < len(row) && row[j] == dates[0] })
				columns[j].odd, columns[j].oddLine = "", lines[at]
			}
		}
	}
	t.commas(columns)
	return columns, nil
}

// inApostrophes says that all cells are, but for empty ones.
func inApostrophes(rows [][]string) bool {
	for _, row := range rows {
		for _, cell := range row {
			if n := len(cell); n > 0 && (n == 1 || cell[0] != '\'' || cell[n-1] != '\'') {
				return false
			}
		}
	}
	return len(rows[0]) > 0 && rows[0][0] != ""
}

// decimals are the decimal separators that numbers may have, the usual one first.
func (t *table) decimals() string {
	if o := &t.opt.Columns; o.Decimal == "" && (o.Kinds == nil || o.Kinds.Decimal == "") {
		return ".,"
	}
	return t.decimal
}

// commas takes 1,234 for a number between 1 and 2 if numbers of other columns, or those that the model was trained on, have decimal commas.
func (t *table) commas(columns []attribute) {
	if t.decimals() != ".," {
		return
	}
	comma := slices.ContainsFunc(columns, func(a attribute) bool { return a.decimal == "," })
	if m := t.opt.Schema; m != nil {
		comma = comma || slices.ContainsFunc(m.Columns, func(c Column) bool { return c.Coding != nil && c.Coding.Decimal == "," })
	}
	if !comma {
		return
	}
	var names []string
	for j := range columns {
		a := &columns[j]
		if a.written && allWritten(a.cells, ',') && slices.ContainsFunc(a.cells, func(cell string) bool { return strings.Contains(cell, ",") }) {
			a.decimal = ","
			names = append(names, a.name)
		} else if a.found == KindNumber && !a.written && allWritten(a.cells, ',') {
			a.written, a.decimal = true, "," // a point separates thousands
		}
	}
	if t.opt.Schema == nil {
		err := option.Errorf("numbers have decimal commas in %s; %s takes a comma for what separates thousands", strings.Join(firsts(names, 6), ", "),
			option.Set("decimal", "."))
		t.notices = append(t.notices, Notice{Kind: "numbers", Text: err.Error(), Err: err})
	}
}

// Columns of at most fewCodes different values are codes, such as 0, 1 and 5+, where this share of the cells or more is no number, or where what is none
// comes again: typing errors are rarer, and seldom alike.
const (
	fewCodes   = 50
	codedShare = 0.01
)

// cellsOf are the cells of column j.
func cellsOf(rows [][]string, j int) (cells []string) {
	for _, row := range rows {
		if j < len(row) {
			cells = append(cells, row[j])
		}
	}
	return cells
}

// isText reports whether most of the values of a column are not numbers, or they are codes of which some are none.
func isText(cells []string) bool {
	texts, known, marks := 0, 0, 0
	codes, distinct := map[string]bool{}, map[string]bool{} // of these, the latter are no numbers
	for _, cell := range cells {
		switch {
		case missing([]byte(cell)):
		case noNumber([]byte(cell)):
			marks++
		default:
			known++
			if len(codes) <= fewCodes {
				codes[cell] = true
			}
			if !isNumber(cell) {
				texts++
				distinct[cell] = true
			}
		}
	}
	often := float64(texts) >= codedShare*float64(known) || 2*len(distinct) <= texts
	coded := texts > 1 && often && len(codes) <= min(fewCodes, known/4)
	return 2*texts > known || coded || known == 0 && marks > 0
}

// odd is the first cell of column j that is no number, with its line, if most of its cells are numbers as people write them, with one of
// the decimal separators.
func odd(rows [][]string, lines []int, j int, isMissing func([]byte) bool, decimals string) (cell string, line int) {
	for _, by := range []byte(decimals) {
		numbers, known := 0, 0
		cell, line = "", 0
		for r, row := range rows {
			if j >= len(row) || isMissing([]byte(row[j])) || noNumber([]byte(row[j])) {
				continue
			}
			known++
			if allWritten(row[j:j+1], by) {
				numbers++
			} else if line == 0 {
				cell, line = row[j], lines[r]
			}
		}
		if 2*numbers > known {
			return cell, line
		}
	}
	return "", 0
}

// isNumber reports whether a cell is a number, possibly an infinite one.
func isNumber(cell string) bool {
	_, ok := parseNumber(trim([]byte(cell)))
	return ok || notFinite([]byte(cell))
}
