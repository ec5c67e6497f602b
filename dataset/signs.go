package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mercer/internal/engine/units"
)

// Numbers of a column may come with another sign than most have: €5 among dollars, or 50 among per cent. They are taken as they are written, and told of,
// and so are bounds, currencies and units among rows to predict, where the training had none.

// noSign is the sign of a column of written numbers without one.
const noSign = "-"

// sameCurrency are abbreviations of currencies that have a sign of their own.
var sameCurrency = map[string]string{"USD": "$", "EUR": "€", "GBP": "£"}

// signOf is the currency of a number, or % or ‰; "" if it has none.
func signOf(cell []byte) string {
	cell = trimWide(cell)
	if len(cell) == 0 || !notDigit(rune(cell[0])) && !notDigit(rune(cell[len(cell)-1])) {
		return ""
	}
	if at := bytes.IndexFunc(cell, func(r rune) bool { return r == '%' || r == '‰' || unicode.Is(unicode.Sc, r) }); at >= 0 {
		_, size := utf8.DecodeRune(cell[at:])
		return string(cell[at : at+size])
	}
	for _, c := range currencies {
		if bytes.HasPrefix(cell, []byte(c)) || bytes.HasSuffix(cell, []byte(c)) {
			return cmp.Or(sameCurrency[c], c)
		}
	}
	return ""
}

func perCent(sign string) bool { return sign == "%" || sign == "‰" }

// usualSign is the currency of most cells that have one, or the sign of per cent if half of all have it, or noSign.
func usualSign(cells []string) string {
	counts, usual := map[string]int{}, noSign
	for _, cell := range cells {
		s := signOf([]byte(cell))
		if counts[s]++; s != "" && counts[s] > counts[usual] && (!perCent(s) || 2*counts[s] >= len(cells)) {
			usual = s
		}
	}
	return usual
}

// otherSign says how a number is not written as those of the column are, "" if it is.
func (n *numberCoder) otherSign(cell []byte, v float64) string {
	if n.sign == "" || bytes.Contains(cell, []byte(n.sign)) && n.sign != noSign {
		return ""
	}
	switch s := signOf(cell); {
	case s == n.sign || s == "" && (!perCent(n.sign) || v == 0):
		return ""
	case s == "":
		return fmt.Sprintf("has no %s, as others have, and is taken as it is written: 50 is 5,000%%", n.sign)
	case perCent(s):
		return fmt.Sprintf("has a %s, which others lack, and is taken as it is written: 50%% is 0.5", s)
	case n.sign == noSign || perCent(n.sign):
		return fmt.Sprintf("is in %s, which others lack, and is taken as it is written", s)
	default:
		return fmt.Sprintf("is in %s, others are in %s, and is taken as it is written", s, n.sign)
	}
}

// foreignValue is the number in a cell to predict that has what no number of the training had: a bound, a currency, or a unit behind a blank or
// a degree.
func (n *numberCoder) foreignValue(cell []byte) (v float64, how string, ok bool) {
	b, isBound := cutBound(cell)
	if v, ok = n.value(b); ok && isBound {
		return v, "is a bound, of which the training had none, and counts as its number", true
	}
	digits, unit := splitUnit(b)
	if unit == "" || n.unit != "" || n.scales || !bytes.ContainsAny(b, " °") || strings.Contains(unit, " ") {
		return 0, "", false
	}
	if _, ok = unitOf([]string{string(b)}, n.decimal); !ok {
		return 0, "", false
	}
	v, ok = parseWritten(digits, n.decimal)
	return v, "has a unit, of which the training had none, and counts as its number", ok
}

// foreignNumber is the number in a cell to predict of a column whose training had plain numbers alone.
func foreignNumber(cell []byte, decimal byte) (v float64, how string, ok bool) {
	n := &numberCoder{decimal: decimal, sign: noSign}
	if v, ok = n.value(cell); ok {
		how = n.otherSign(cell, v)
		return v, how, how != ""
	}
	return n.foreignValue(cell)
}

// allForeign says that cells are such numbers, or plain ones.
func allForeign(cells []string, decimal byte) bool {
	return len(cells) > 0 && !slices.ContainsFunc(cells, func(cell string) bool {
		_, _, ok := foreignNumber([]byte(cell), decimal)
		return !ok && !isNumber(cell)
	})
}

// tellOfSigns tells of the numbers with another sign that the pass over all rows found.
func (t *table) tellOfSigns(by *collector, i int) {
	a, b := &t.attributes[i], &by.signs[i]
	if b.rows == 0 || a.measure != measureWritten {
		return
	}
	sign, other := a.coding.Sign, signOf([]byte(b.first))
	place := fmt.Sprintf("%q in %s%s", shorten([]byte(b.first)), units.Plural(b.rows, "row"), b.where())
	switch {
	case perCent(sign) || perCent(other):
		with := strings.TrimPrefix(cmp.Or(other, sign), noSign)
		t.notice(i, "units", "has numbers with %s and without (%s), and these count as they are written: 50%% is 0.5, and 50 is 5,000%%; write all alike", with, place)
	default:
		t.notice(i, "units", "has amounts in %s and %s, which are taken as they are written (%s); convert them to one currency", sign, other, place)
	}
}

// where is the place of the first, for a message.
func (b *boundCount) where() string {
	if b.line == 0 {
		return ""
	}
	return ", first in line " + units.Count(b.line)
}
