package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// fewBelow are the rows below a line that tell that it is none of them.
const fewBelow = 5

// withoutPreamble leaves out lines above the table that are no rows: comments, and texts of one cell, which a spreadsheet fills up with empty ones.
func (t *table) withoutPreamble(rows [][]string, lines []int) ([][]string, []int) {
	width, n := usualWidth(rows), 0
	for before := -1; n != before; {
		before = n
		n += titles(rows[n:])
		n = t.comments(rows, n, width)
	}
	if n > 0 {
		t.tellOfLines(fmt.Errorf("what is above the table is left out (%s, such as %q)", units.Plural(lines[n-1], "line"), shorten([]byte(strings.Join(rows[0], string(t.sep))))))
		t.skip = lines[n-1]
	}
	return rows[n:], lines[n:]
}

// comments is the first row from n on that is no comment and no text of one cell.
func (t *table) comments(rows [][]string, n, width int) int {
	for n < len(rows)-fewBelow && width > 1 && len(rows[n]) != width {
		cells := slices.DeleteFunc(slices.Clone(rows[n]), func(cell string) bool { return cell == "" })
		comment := len(cells) > 0 && strings.ContainsAny(cells[0][:1], "#%")
		if comment && len(cells) == width+1 && len(cells[0]) == 1 && len(rows[n+1]) == width { // names, as numpy writes them
			rows[n], t.opt.Header = cells[1:], "yes"
			break
		}
		if !comment && (len(cells) > 1 || t.sep == ' ') {
			break
		}
		n++
	}
	return n
}

// titles counts lines of a text and empty cells above one of names: texts in every column, below one of which there are only numbers. Merged cells
// of a spreadsheet are such a line too: it has two empty cells or more, and perhaps years.
func titles(rows [][]string) (n int) {
	text := func(cell string) bool { return !missing([]byte(cell)) && !isNumber(cell) }
	if merged := rows[0]; len(merged) > 3 {
		if empty := len(slices.DeleteFunc(slices.Clone(merged), func(cell string) bool { return cell != "" })); empty >= 2 && empty < len(merged) {
			n = 1
		}
	}
	for n < len(rows) && len(rows[n]) > 2 && !slices.ContainsFunc(rows[n][1:], func(cell string) bool { return cell != "" }) && !isNumber(rows[n][0]) {
		n++
	}
	if n == 0 || n >= len(rows)-fewBelow || len(rows[n]) != len(rows[0]) || len(slices.Compact(slices.Sorted(slices.Values(rows[n])))) < len(rows[n]) || slices.ContainsFunc(rows[n], func(cell string) bool { return !text(cell) }) {
		return 0
	}
	for j := range rows[n] {
		if !slices.ContainsFunc(rows[n+1:], func(row []string) bool { return j >= len(row) || !isNumber(row[j]) }) {
			return n
		}
	}
	return 0
}

// namesRows reports whether the first row has names of all columns but the first, whose cells differ in all rows, as R and pandas write the names
// of rows.
func namesRows(rows [][]string) bool {
	if slices.ContainsFunc(rows[0], func(cell string) bool { return cell == "" || isNumber(cell) }) {
		return false
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		v, isNumber := parseNumber([]byte(row[0]))
		if seen[row[0]] || row[0] == "" || isNumber && v != math.Trunc(v) {
			return false
		}
		seen[row[0]] = true
	}
	return len(seen) >= fewBelow
}

// endWithSeparator reports whether lines end with a separator, behind which there is never anything: most rows, or
// the header alone.
func endWithSeparator(rows [][]string) bool {
	width, ends, header := 0, 0, false
	for _, row := range rows {
		width = max(width, len(row))
	}
	for i, row := range rows {
		switch empty := row[len(row)-1] == ""; {
		case len(row) == width && empty && i == 0:
			header = true
		case len(row) == width && empty:
			ends++
		case len(row) != width-1:
			return false
		}
	}
	return width > 1 && (2*ends > len(rows)-1 || header && ends == 0)
}

// cutEnds takes the cell behind the last separator off rows.
func cutEnds(rows [][]string) {
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	for i, row := range rows {
		if len(row) == width {
			rows[i] = row[:width-1]
		}
	}
}

// usualWidth is the most frequent number of cells, if at least two rows have it;
// otherwise 0.
func usualWidth(rows [][]string) int {
	counts := map[int]int{}
	for _, row := range rows {
		if counts[len(row)]++; counts[len(row)] > max(1, len(rows)/2) {
			return len(row)
		}
	}
	return 0
}

// names gives columns the names in a header. A column without a name is called
// by its number, and a repeated name gets a number appended.
func names(header []string, columns []attribute) {
	taken := map[string]bool{}
	for j, name := range header {
		if name == "" {
			name = strconv.Itoa(j)
		}
		unique := name
		for n := 1; taken[unique]; n++ {
			unique = fmt.Sprintf("%s.%d", name, n)
		}
		taken[unique] = true
		columns[j].name = unique
	}
}

// tellOfLines tells how lines are taken.
func (t *table) tellOfLines(err error) {
	if t.opt.Schema == nil {
		t.notices = append(t.notices, Notice{Kind: "header", Text: err.Error(), Err: err})
	}
}

// tellNames tells of columns whose name another has before them.
func (t *table) tellNames(header []string, columns []attribute) {
	if t.opt.Schema != nil {
		return
	}
	for j, name := range header {
		if name != "" && columns[j].name != name {
			err := option.Errorf("column %d has the name %q, which another has before it; it is called %q here, and %s leaves it out", j, name, columns[j].name,
				option.Set("ignore", columns[j].name))
			t.notices = append(t.notices, Notice{Column: columns[j].name, Kind: "header", Text: err.Error(), Err: err})
		}
	}
}

// hasHeader reports whether the first row holds names. It does
//   - if it has those of all inputs of the model, or
//   - if, above columns of numbers, it has more texts than numbers, or
//   - if it has only texts, or texts and column numbers 0, 1, …, all its cells
//     differ, and none occurs again in its column.
func (t *table) hasHeader(rows [][]string) bool {
	first, below := rows[0], rows[1:]
	if m := t.opt.Schema; m != nil && m.Header && len(m.Columns) > 0 {
		missing := func(c Column) bool { return !slices.Contains(first, c.Name) }
		if !slices.ContainsFunc(m.Columns, missing) {
			return true
		}
	}
	if len(below) == 0 {
		return false
	}
	overText, overNumber, numbers, positions := 0, 0, 0, 0
	for j, cell := range first {
		isNumber := isNumber(cell)
		if isNumber {
			numbers++
		}
		if cell == strconv.Itoa(j) {
			positions++
		}
		switch {
		case missing([]byte(cell)) || isText(cellsOf(below, j)) || !hasValue(below, j):
		case isNumber:
			overNumber++
		default:
			overText++
		}
	}
	if overText > overNumber {
		return true
	}
	if numbers > 0 && (positions != numbers || numbers < 3 || numbers == len(first)) {
		return false
	}
	seen := map[string]bool{}
	for j, cell := range first {
		if cell == "" || seen[cell] {
			return false
		}
		seen[cell] = true
		if isNumber(cell) {
			continue
		}
		for _, row := range below {
			if j < len(row) && row[j] == cell {
				return false
			}
		}
	}
	return true
}

// countsUp reports whether whole numbers of a row, three at least, are each by one more, or less, than that before. all says that they are the
// positions of all its cells, four at least, from 0 or 1.
func countsUp(row []string) (steps, all bool) {
	var numbers []float64
	for _, cell := range row {
		if v, ok := parseNumber(trim([]byte(cell))); ok {
			numbers = append(numbers, v)
		}
	}
	for i := 1; i < len(numbers); i++ {
		if step := numbers[i] - numbers[i-1]; step != numbers[1]-numbers[0] || math.Abs(step) != 1 {
			return false, false
		}
	}
	n := len(numbers)
	return n >= 3 && numbers[0] == math.Trunc(numbers[0]), n >= 4 && n == len(row) && numbers[n-1] > numbers[0] && (numbers[0] == 0 || numbers[0] == 1)
}

// counted reports whether the first row alone counts: all positions, or beside texts that do not occur below.
func counted(first []string, below [][]string) bool {
	steps, all := countsUp(first)
	if !steps || len(below) < fewBelow || slices.ContainsFunc(below, func(row []string) bool { s, _ := countsUp(row); return s }) {
		return false
	}
	for j, cell := range first {
		if !isNumber(cell) && (cell == "" && hasValue(below, j) && j > 0 || cell != "" && slices.ContainsFunc(below, func(row []string) bool { return j < len(row) && row[j] == cell })) {
			return false
		}
	}
	return all || !isNumber(first[0]) || !isNumber(first[len(first)-1])
}

// numbersAsNames reports whether the first row has whole numbers for names: it alone counts, or has rising or falling ones, such as years, above
// columns of numbers that are all far from them and of which most have fractions. Its other cells are texts that do not occur below.
func numbersAsNames(first []string, below [][]string) bool {
	if counted(first, below) {
		return true
	}
	before, names, fractions, falling := math.NaN(), 0, 0, false
	for j, cell := range first {
		name, ok := parseNumber(trim([]byte(cell)))
		low, high, fraction := math.Inf(1), math.Inf(-1), false
		for _, row := range below {
			if j >= len(row) {
				continue
			}
			if v, isNumber := parseNumber(trim([]byte(row[j]))); isNumber {
				low, high, fraction = min(low, v), max(high, v), fraction || v != math.Trunc(v)
			}
			if !ok && row[j] == cell {
				return false
			}
		}
		if !ok {
			continue
		}
		if names == 1 {
			falling = name < before
		}
		if name != math.Trunc(name) || name == before || names > 0 && (name < before) != falling || low > high || name >= low-(high-low) && name <= high+(high-low) {
			return false
		}
		before = name
		names++
		if fraction {
			fractions++
		}
	}
	return len(below) >= fewBelow && names > 1 && 2*fractions >= names
}

// onlyNames reports whether there is but one row, of different words.
func onlyNames(rows [][]string) bool {
	if len(rows) != 1 || len(rows[0]) < 2 {
		return false
	}
	seen := map[string]bool{}
	for _, cell := range rows[0] {
		if seen[cell] || missing([]byte(cell)) || isNumber(cell) {
			return false
		}
		seen[cell] = true
	}
	return true
}

// mayBeNames reports whether the first row, which is taken for a row, could be names: the positions of three columns, two years or more that
// follow each other, or a word above words all of which occur twice or more.
func mayBeNames(first []string, below [][]string) bool {
	if len(below) < 2*fewBelow {
		return false
	}
	last, steps, year := math.NaN(), 0, true
	positions := len(first) > 2
	for j, cell := range first {
		v, ok := parseNumber(trim([]byte(cell)))
		positions = positions && ok && v == float64(j)
		if !ok {
			if above(cell, below, j) {
				return true
			}
			continue
		}
		if year = year && v == math.Trunc(v) && v >= 1900 && v < 2100; v == last+1 {
			steps++
		} else if last == last {
			year = false
		}
		last = v
	}
	repeated := slices.ContainsFunc(below, func(row []string) bool { return slices.Equal(row, first) })
	return !repeated && (positions || year && steps > 0)
}

// above reports whether a word stands above other words, of which there are two or more of each.
func above(word string, below [][]string, j int) bool {
	if missing([]byte(word)) || !isText(cellsOf(below, j)) {
		return false
	}
	counts := map[string]int{}
	for _, row := range below {
		if j < len(row) {
			counts[row[j]]++
		}
	}
	for _, n := range counts {
		if n < 2 {
			return false
		}
	}
	return counts[word] == 0
}

// hasValue reports whether column j has any value that is not missing.
func hasValue(rows [][]string, j int) bool {
	return slices.ContainsFunc(rows, func(row []string) bool { return j < len(row) && !missing([]byte(row[j])) })
}
