package dataset

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
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

// sumShare is how far the sum of a column may be from what a row of totals has.
const sumShare = 1e-5

// tellOfSums tells of a last or first row, whatever its name, that has the sum of all others in several columns.
func (t *table) tellOfSums(c *collected) (told bool) {
	if !t.schema.Header || c.rows < fewIndices {
		return false
	}
	for _, row := range []string{"last", "first"} {
		var names []string
		for i := range c.columns {
			total := c.columns[i].last
			if row == "first" {
				total = c.columns[i].first
			}
			if m := t.attributes[i].measure; (m == measureNumber || m == measureWritten) && c.isSum(i, total) {
				names = append(names, t.names[i])
			}
		}
		if len(names) > 1 {
			err := option.Errorf("the %s row has the sums of the others in %s columns (%s); if it is no row of the data, remove it", row,
				units.Count(len(names)), strings.Join(firsts(names, 3), ", "))
			t.notices, told = append(t.notices, Notice{Kind: "total", Text: err.Error(), Err: err}), true
		}
	}
	return told
}

// isSum says that a value of a column is the sum of its others, several of which are not 0 and none of which is more than half of it.
func (c *collected) isSum(i int, total float64) bool {
	if col := &c.columns[i]; total == 0 || col.wrong > 0 || !(math.Abs(col.sum-2*total) <= sumShare*math.Abs(total)) {
		return false
	}
	others, itself := 0, false
	for _, row := range c.sample {
		switch v := row.values[i]; {
		case v == total && !itself:
			itself = true
		case math.Abs(v) > math.Abs(total)/2:
			return false
		case v != 0 && v == v:
			others++
		}
	}
	return others >= fewBelow
}

// tellOfUnits tells of numbers with several units, such as kg and g, which are categories.
func (t *table) tellOfUnits(i int) {
	a := &t.attributes[i]
	if a.found != KindCategory || a.kind != "" {
		return
	}
	var found []string
	for _, cell := range a.cells {
		number, unit := splitUnit(trimWide([]byte(cell)))
		if _, ok := parseWritten(number, a.decimal[0]); !ok || len(unit) > mostUnit || strings.Contains(unit, " ") || !strings.ContainsAny(cell, " °") {
			return
		}
		if unit = singular(unit); unit != "" && !slices.Contains(found, unit) && len(found) < 8 {
			found = append(found, unit)
		}
	}
	if len(found) > 1 && len(found) < 8 {
		t.notice(i, "units", "has numbers with several units (%s), and is taken for text; convert them to one and give %s", strings.Join(found, ", "),
			option.Set("numeric", a.name))
	}
}
