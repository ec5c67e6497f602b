package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// numberCoder codes CodedNumber and CodedOffset.
type numberCoder struct {
	decimal byte
	mean    float64
	offset  float64
}

func (n *numberCoder) code(to []pair, cell []byte) ([]pair, bool, error) {
	v, ok := n.value(cell)
	switch {
	case !ok:
		return to, true, fmt.Errorf("%q is not a number (with decimals after %q)", shorten(cell), string(n.decimal))
	case !(v <= maxValue && v >= -maxValue):
		return to, true, errors.New("the number is out of float32's range (3.4e38)")
	}
	return append(to, pair{0, float32(v - n.offset)}), true, nil
}

// value is the number in a cell of the column, in which true and false are 1 and 0.
func (n *numberCoder) value(cell []byte) (v float64, ok bool) {
	if v, ok = parseWritten(cell, n.decimal); !ok {
		v, ok = parseBool(trimWide(cell))
	}
	return v, ok
}

// codeCell implements cellCoder.
func (n *numberCoder) codeCell(to []pair, c *cell) ([]pair, bool) {
	v, ok := c.float()
	if !ok || math.Abs(v) > maxValue {
		return to, false
	}
	return append(to, pair{0, float32(v - n.offset)}), true
}

func (n *numberCoder) fill(to []pair) []pair { return append(to, pair{0, float32(n.mean - n.offset)}) }

// currencies may stand before or after a number. Codes of three letters are matched in upper case.
var currencies = []string{"$", "€", "£", "¥", "₹", "US$", "USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "INR", "CNY", "SEK", "NOK",
	"DKK", "PLN", "Fr.", "kr"}

// parseWritten parses a number as people write it: with a currency, thousands separators, a percent sign
// or parentheses for a negative one. Separators of thousands must be between groups of three digits; in India commas before the last such
// group are between groups of two (12,34,567).
func parseWritten(cell []byte, decimal byte) (v float64, ok bool) {
	b := trimWide(cell)
	if decimal == '.' {
		if v, ok := parseNumber(b); ok {
			return v, true
		}
	}
	if v, ok := parseClock(b); ok {
		return v, true
	}
	b = withExponent(b)
	scale, negative := 1.0, false
	if len(b) > 2 && b[0] == '(' && b[len(b)-1] == ')' {
		negative, b = true, trimWide(b[1:len(b)-1])
	}
	b, negative = cutSign(b, negative)
	for _, c := range currencies {
		if rest, found := bytes.CutPrefix(b, []byte(c)); found {
			b = trimWide(rest)
			break
		}
		if rest, found := bytes.CutSuffix(b, []byte(c)); found {
			b = trimWide(rest)
			break
		}
	}
	b, negative = cutSign(b, negative)
	if rest, found := bytes.CutSuffix(b, []byte("%")); found {
		scale, b = 100, trimWide(rest)
	}
	plain, ok := withoutGroups(b, decimal)
	if !ok {
		return 0, false
	}
	v, ok = parseNumber(plain)
	if v /= scale; negative {
		v = -v
	}
	return v, ok
}

// parseClock parses a time of the day or a duration, in hours.
func parseClock(b []byte) (hours float64, ok bool) {
	half := -1.0
	for at, suffix := range []string{"AM", "PM"} {
		if n := len(b) - len(suffix); n > 0 && strings.EqualFold(string(b[n:]), suffix) {
			half, b = float64(12*at), trimWide(b[:n])
		}
	}
	parts := bytes.SplitN(b, []byte{':'}, 4)
	if len(parts) < 2 || len(parts) > 3 || len(parts[0]) > 6 {
		return 0, false
	}
	for i, unit := range []float64{1, 60, 3600}[:len(parts)] {
		part, fraction, has := bytes.Cut(parts[i], []byte{'.'})
		if len(part) == 0 || i > 0 && len(part) != 2 || has && i < 2 || bytes.ContainsFunc(append(part[:len(part):len(part)], fraction...), notDigit) {
			return 0, false
		}
		v, ok := parseNumber(parts[i])
		if !ok || i > 0 && v >= 60 {
			return 0, false
		}
		hours += v / unit
	}
	if half < 0 {
		return hours, true
	}
	if hours < 1 || hours >= 13 {
		return 0, false
	}
	return math.Mod(hours, 12) + half, true
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

func cutSign(b []byte, negative bool) ([]byte, bool) {
	if rest, found := bytes.CutPrefix(b, []byte("\u2212")); found { // the minus sign
		return trimWide(rest), !negative
	}
	if len(b) > 1 && (b[0] == '-' || b[0] == '+') {
		return trimWide(b[1:]), negative != (b[0] == '-')
	}
	return b, negative
}

// trimWide removes blanks of all widths on both sides.
func trimWide(b []byte) []byte {
	return bytes.TrimFunc(b, func(r rune) bool { return strings.ContainsRune(" \t\u00a0\u202f\u2009", r) })
}

// withExponent writes 1.5D+03, as Fortran does, with an e.
func withExponent(b []byte) []byte {
	at := bytes.IndexAny(b, "dD")
	if at < 1 || at+2 >= len(b) || b[at+1] != '+' && b[at+1] != '-' || b[at-1] != '.' && (b[at-1] < '0' || b[at-1] > '9') {
		return b
	}
	for _, digit := range b[at+2:] {
		if digit < '0' || digit > '9' {
			return b
		}
	}
	return append(append(bytes.Clone(b[:at]), 'e'), b[at+1:]...)
}

// withoutGroups is an unsigned number with a point and without separators of thousands. ok is false unless these are of
// one kind and between groups of three digits, or commas as in India.
func withoutGroups(b []byte, decimal byte) (plain []byte, ok bool) {
	whole, fraction, hasFraction := bytes.Cut(b, []byte{decimal})
	separator, digits, groups := rune(0), 0, 0
	first, between := 0, 0 // digits of the first group, and of those between it and the last
	for len(whole) > 0 {
		r, size := utf8.DecodeRune(whole)
		whole = whole[size:]
		if r >= '0' && r <= '9' {
			plain = append(plain, byte(r))
			digits++
			continue
		}
		if !strings.ContainsRune(",.'_ \u2019\u00a0\u202f\u2009", r) || r == rune(decimal) {
			if groups == 0 && (r == 'e' || r == 'E') && !hasFraction {
				return append(append(plain, 'e'), whole...), digits > 0
			}
			return nil, false
		}
		switch {
		case groups == 0 && (digits < 1 || digits > 3 || plain[0] == '0'), groups > 0 && r != separator:
			return nil, false
		case groups == 0:
			first = digits
		case groups > 1 && digits != between, digits != 3 && (digits != 2 || first > 2 || r != ','):
			return nil, false
		default:
			between = digits
		}
		separator, digits, groups = r, 0, groups+1
	}
	if groups > 0 && digits != 3 {
		return nil, false
	}
	if hasFraction {
		plain = append(append(plain, '.'), fraction...)
	}
	return plain, len(plain) > 0
}
