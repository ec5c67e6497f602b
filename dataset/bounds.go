package dataset

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// Laboratories write <0.01 for what is below the least that they measure, and >100 for what is above the most; ages are 90+ or 90 or more. In a column of numbers such a cell is
// its bound. Where most cells are such, or the numbers are few and whole, as in 0, 1, 2, >2, they are categories.

// mostLevels is how many whole numbers are levels, of which >5 is one more.
const mostLevels = 10

// boundCount counts the bounds among the numbers of a column.
type boundCount struct {
	rows  int
	line  int // of the first, 0: unknown
	first string
}

const boundSigns = "<>≤≥≦≧⩽⩾"

// boundBefore and boundBehind match the words of a bound: over 90, 90 or more.
var (
	boundBefore = regexp.MustCompile(`(?i)^(over|above|more than|greater than|at least|under|below|less than|fewer than|at most|up to)\s+`)
	boundBehind = regexp.MustCompile(`(?i)\s+(or|and) (more|over|above|older|greater|higher|up|less|under|below|younger|fewer|lower)$`)
)

// cutBound cuts what makes a number a bound off it: a sign such as < or ≥ before it, a + behind it, or words.
func cutBound(cell []byte) (rest []byte, ok bool) {
	cell = trimWide(cell)
	if len(cell) == 0 {
		return cell, false
	}
	letter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
	r, size := utf8.DecodeRune(cell)
	switch last := cell[len(cell)-1]; {
	case strings.ContainsRune(boundSigns, r):
		rest = trimWide(bytes.TrimPrefix(cell[size:], []byte("=")))
	case last == '+' && !notDigit(rune(cell[0])):
		rest = trimWide(cell[:len(cell)-1])
	case letter(cell[0]) && bytes.IndexByte(cell, ' ') > 0:
		rest = cell[len(boundBefore.Find(cell)):]
	case letter(last) && (bytes.Contains(cell, []byte(" or ")) || bytes.Contains(cell, []byte(" and "))):
		rest = cell[:len(cell)-len(boundBehind.Find(cell))]
	}
	if len(rest) == 0 || len(rest) == len(cell) {
		return cell, false
	}
	return rest, true
}

// withoutBounds takes bounds among the cells for the numbers that they have.
func (a *attribute) withoutBounds(decimals string) {
	if !slices.ContainsFunc(a.cells, func(cell string) bool { _, ok := cutBound([]byte(cell)); return ok }) {
		return
	}
	for _, by := range []byte(decimals) {
		n := &numberCoder{decimal: by, scales: true}
		cells, first, bounds, levels := slices.Clone(a.cells), "", 0, map[string]bool{}
		for i, cell := range cells {
			b, isBound := cutBound([]byte(cell))
			number, _ := splitUnit(b)
			if _, ok := n.value(number); isBound && ok {
				bounds, first, cells[i] = bounds+1, cmp.Or(first, cell), string(b)
			} else if len(levels) <= mostLevels && !noNumber(b) {
				levels[cell] = true
			}
		}
		whole := !slices.ContainsFunc(cells, func(cell string) bool { return strings.ContainsAny(cell, ".,") })
		if bounds == 0 || 2*bounds > len(cells) || whole && len(levels) <= mostLevels {
			continue
		}
		right := *a
		right.cells, right.bounds, right.bound, right.text, right.found = cells, true, first, isText(cells), KindNumber
		if right.guessNumbers(decimals); right.found == KindNumber {
			*a = right
			return
		}
	}
}

// takeBounds tells of the bounds that the pass over all rows found in a column of numbers, and has them read as numbers.
func (t *table) takeBounds(by *collector, i int) {
	a, r, b := &t.attributes[i], &t.roles[i], &by.bounds[i]
	if b.rows == 0 || a.measure != measureNumber && a.measure != measureWritten {
		return
	}
	t.notice(i, "bounds", "has bounds such as %q in %s%s, which count as their numbers; %s takes the column as text", shorten([]byte(b.first)),
		units.Plural(b.rows, "row"), b.where(), option.Set("categorical", a.name))
	if r.kind == numeric {
		t.schema.Columns[r.input].Coding = &Coding{Kind: CodedNumber, Decimal: string(t.schema.decimal()), Sign: noSign}
		r.kind, a.coding = coded, t.schema.Columns[r.input].Coding
	}
	if a.coding != nil {
		a.coding.Bounds = true
	}
}

// note counts a bound, or another cell that is told of.
func (b *boundCount) note(line int, cell []byte) {
	if b.rows == 0 || line < b.line {
		b.line, b.first = line, string(cell)
	}
	b.rows++
}

// add adds bounds of other rows.
func (b *boundCount) add(o *boundCount) {
	if o.rows > 0 && (b.rows == 0 || o.line < b.line) {
		b.line, b.first = o.line, o.first
	}
	b.rows += o.rows
}
