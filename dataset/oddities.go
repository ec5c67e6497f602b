package dataset

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"mercer/internal/engine/option"
)

// totals match what stands before the sums below a table.
var totals = regexp.MustCompile(`(?i)^(grand[ -]?|sub[ -]?)?(totals?|sum|summe|gesamt|insgesamt|gesamtsumme|somme|totale|suma|summa|totaal|итого|всего|合计|总计|合計)\s*:?$`)

// mostUnit is how long the abbreviation of a unit is.
const mostUnit = 6

// tellOfTotals tells of a row that seems to be the sum of the others.
func (t *table) tellOfTotals(c *collected, i int) {
	a, col := &t.attributes[i], &c.columns[i]
	if a.measure != measureText || c.rows < fewRows {
		return
	}
	for k, v := range col.values {
		if col.counts[k] == 1 && totals.MatchString(v) {
			t.notice(i, "total", "has %q in one row, which may be the sum of the others; if it is, remove the row", v)
		}
	}
}

// tellOfUnits tells of numbers that are not of one unit: those in several currencies are taken without conversion, and those with several units, such
// as kg and g, are categories.
func (t *table) tellOfUnits(i int) {
	a := &t.attributes[i]
	var found []string
	numbers := 0
	for _, cell := range a.cells {
		unit := ""
		if at := strings.IndexFunc(cell, func(r rune) bool { return unicode.Is(unicode.Sc, r) }); at >= 0 {
			unit = string([]rune(cell[at:])[:1])
		} else if at := slices.IndexFunc(currencies, func(c string) bool { return strings.HasPrefix(cell, c) || strings.HasSuffix(cell, c) }); at >= 0 {
			unit = currencies[at]
		} else if a.found == KindCategory {
			number, u := splitUnit(trimWide([]byte(cell)))
			if _, ok := parseWritten(number, a.decimal[0]); ok && len(u) <= mostUnit && !strings.Contains(u, " ") && strings.Contains(cell, " ") {
				unit = singular(u)
				numbers++
			}
		}
		if unit != "" && !slices.Contains(found, unit) && len(found) < 8 {
			found = append(found, unit)
		}
	}
	switch {
	case len(found) < 2 || a.kind != "":
	case a.found == KindNumber && a.written:
		t.notice(i, "units", "has amounts in %s, which are taken as they are written; convert them to one currency", strings.Join(found, " and "))
	case a.found == KindCategory && numbers == len(a.cells) && len(found) < 8:
		t.notice(i, "units", "has numbers with several units (%s), and is taken for text; convert them to one and give %s", strings.Join(found, ", "),
			option.Set("numeric", a.name))
	}
}
