package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// numberCoder codes CodedNumber and CodedOffset.
type numberCoder struct {
	decimal byte
	unit    string
	scales  bool
	bounds  bool
	sign    string
	foreign bool   // what the training did not have is taken too
	odd     string // how the last cell was not written as those of the training
	mean    float64
	offset  float64
}

func newNumberCoder(c *Coding, mean float64) *numberCoder {
	return &numberCoder{decimal: c.Decimal[0], unit: c.Unit, scales: c.Scales, bounds: c.Bounds, sign: c.Sign, mean: mean, offset: c.Offset}
}

func (n *numberCoder) code(to []pair, cell []byte) ([]pair, bool, error) {
	v, ok := n.value(cell)
	if n.odd = ""; ok && n.foreign {
		n.odd = n.otherSign(cell, v)
	} else if n.foreign {
		v, n.odd, ok = n.foreignValue(cell)
	}
	switch {
	case !ok:
		what := fmt.Sprintf("decimals after %q", string(n.decimal))
		if n.unit != "" {
			what += fmt.Sprintf(" and the unit %q", n.unit)
		}
		return to, true, fmt.Errorf("%q is not a number with %s", shorten(cell), what)
	case !(v <= maxValue && v >= -maxValue):
		return to, true, errors.New("the number is out of float32's range (3.4e38)")
	}
	return append(to, pair{0, float32(v - n.offset)}), n.odd == "", nil
}

// value is the number in a cell of the column, in which true and false are 1 and 0.
func (n *numberCoder) value(cell []byte) (v float64, ok bool) {
	if n.bounds {
		cell, _ = cutBound(cell)
	}
	if v, ok = parseWritten(cell, n.decimal); ok {
		return v, true
	}
	if n.unit != "" || n.scales {
		number, unit := splitUnit(cell)
		scale, isScale := scales[unit]
		if !isScale || !n.scales {
			scale = 1
		}
		if scale != 1 || n.unit != "" && singular(unit) == n.unit {
			v, ok = parseWritten(number, n.decimal)
			return scale * v, ok
		}
	}
	return parseBool(trimWide(cell))
}

// scales are what may follow a number and multiplies it.
var scales = map[string]float64{"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "mn": 1e6, "Mn": 1e6, "MM": 1e6, "Mio": 1e6, "Mio.": 1e6, "million": 1e6, "B": 1e9, "bn": 1e9,
	"Bn": 1e9, "Mrd": 1e9, "Mrd.": 1e9, "billion": 1e9, "T": 1e12, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// splitUnit cuts a cell behind the digits with which it begins, perhaps after signs: 12.5 kg.
func splitUnit(cell []byte) (number []byte, unit string) {
	at := bytes.IndexAny(cell, "0123456789")
	if at < 0 {
		return cell, ""
	}
	n := bytes.IndexFunc(cell[at:], func(r rune) bool { return notDigit(r) && !strings.ContainsRune(".,'_ \u2019\u00a0\u202f\u2009", r) })
	if n < 0 {
		return cell, ""
	}
	return trimWide(cell[:at+n]), string(trimWide(cell[at+n:]))
}

// singular is a unit without what tells its plural or an abbreviation.
func singular(unit string) string {
	if short := strings.TrimSuffix(strings.TrimSuffix(unit, "."), "s"); short != "" {
		return short
	}
	return unit
}

// unitOf finds the unit that follows the numbers of a column; ok is false if not all cells are such.
func unitOf(cells []string, decimal byte) (unit string, ok bool) {
	with, code := 0, true
	for _, cell := range cells {
		number, u := splitUnit(trimWide([]byte(cell)))
		if _, isNumber := parseWritten(number, decimal); !isNumber {
			return "", false
		}
		if u == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(u)
		if u = singular(u); !unicode.IsLetter(first) && !strings.ContainsRune("°‰", first) || len(u) > 16 || unit != "" && unit != u {
			return "", false
		}
		unit, with = u, with+1
		code = code && len(u) == 1 && unicode.IsUpper(first) && !strings.ContainsAny(cell, "., ")
	}
	return unit, 2*with > len(cells) && !code
}

// scaled says that all cells are numbers, some of them with thousands, millions and the like behind them.
func scaled(cells []string, decimal byte) bool {
	n, some := &numberCoder{decimal: decimal, scales: true}, false
	for _, cell := range cells {
		if _, ok := n.value([]byte(cell)); !ok {
			return false
		}
		_, unit := splitUnit([]byte(cell))
		some = some || scales[unit] > 0
	}
	return some
}

// codeCell implements cellCoder.
func (n *numberCoder) codeCell(to []pair, c *cell) ([]pair, bool) {
	v, ok := c.float()
	if !ok || math.Abs(v) > maxValue || perCent(n.sign) && n.foreign {
		return to, false
	}
	return append(to, pair{0, float32(v - n.offset)}), true
}

func (n *numberCoder) fill(to []pair) []pair { return append(to, pair{0, float32(n.mean - n.offset)}) }

// currencies may stand before or after a number, as may all signs of currencies, such as R$.
var currencies = []string{"USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "NZD", "INR", "CNY", "RMB", "HKD", "SGD", "KRW", "BRL", "MXN", "ZAR", "SEK", "NOK", "DKK",
	"PLN", "CZK", "HUF", "RON", "TRY", "RUB", "UAH", "ILS", "AED", "SAR", "THB", "IDR", "MYR", "PHP", "SFr.", "Fr.", "kr.", "kr", "Rs.", "Rs", "zł", "Kč", "Ft", "RM", "Rp",
	"руб.", "р."}

// currencyEnds says of a byte whether a currency that is written in letters begins (1) or ends (2) with it.
var currencyEnds = func() (ends [256]byte) {
	for _, c := range currencies {
		ends[c[0]] |= 1
		ends[c[len(c)-1]] |= 2
	}
	return ends
}()

// cutCurrency removes a currency before or after a number.
func cutCurrency(b []byte) []byte {
	if len(b) == 0 || !notDigit(rune(b[0])) && !notDigit(rune(b[len(b)-1])) {
		return b // most cells
	}
	if at := bytes.IndexFunc(b, func(r rune) bool { return unicode.Is(unicode.Sc, r) }); at >= 0 {
		_, size := utf8.DecodeRune(b[at:])
		before, after := b[:at], b[at+size:]
		if len(trimWide(after)) == 0 {
			return trimWide(before)
		}
		if at <= 3 && !bytes.ContainsFunc(before, func(r rune) bool { return r < 'A' || r > 'Z' }) {
			return trimWide(after)
		}
		return b
	}
	if currencyEnds[b[0]]&1 == 0 && currencyEnds[b[len(b)-1]]&2 == 0 {
		return b
	}
	for _, c := range currencies {
		if rest, found := bytes.CutPrefix(b, []byte(c)); found {
			return trimWide(rest)
		}
		if rest, found := bytes.CutSuffix(b, []byte(c)); found {
			return trimWide(rest)
		}
	}
	return b
}

// parseWritten parses a number as people write it: with a currency, thousands separators, a percent sign,
// a minus behind it or parentheses for a negative one. Separators of thousands must be between groups of three digits; in India commas before
// the last such group are between groups of two (12,34,567).
func parseWritten(cell []byte, decimal byte) (v float64, ok bool) {
	b := trimWide(cell)
	if decimal == '.' {
		if v, ok := parseNumber(b); ok {
			return v, true
		}
	}
	if !bytes.ContainsAny(b, "0123456789") {
		return parseNumber(b) // a word, in most cells
	}
	if v, ok := parseClock(b); ok {
		return v, true
	}
	if v, ok := parseDuration(b); ok {
		return v, true
	}
	b = withExponent(b)
	b, negative := cutSign(b, false)
	for range 2 { // ($5) and $(5)
		if len(b) > 2 && b[0] == '(' && b[len(b)-1] == ')' && !negative {
			negative, b = true, trimWide(b[1:len(b)-1])
		}
		b = cutCurrency(b)
	}
	if rest, found := bytes.CutSuffix(b, []byte("-")); found && !negative {
		negative, b = true, trimWide(rest)
	}
	b, negative = cutSign(b, negative)
	scale := 1.0
	if rest, found := bytes.CutSuffix(b, []byte("%")); found {
		scale, b = 100, trimWide(rest)
	}
	if rest, found := bytes.CutSuffix(b, []byte("‰")); found {
		scale, b = 1000, trimWide(rest)
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
	if bytes.IndexByte(b, ':') < 0 {
		return 0, false
	}
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

// durationUnits are the units of a duration in hours, the longest first, and how they are written.
var durationUnits = []struct {
	hours float64
	names []string
}{
	{24, []string{"d", "day", "days"}},
	{1, []string{"h", "hr", "hrs", "hour", "hours"}},
	{1. / 60, []string{"m", "min", "mins", "minute", "minutes"}},
	{1. / 3600, []string{"s", "sec", "secs", "second", "seconds"}},
}

// parseDuration parses a duration of several units (2h 17m, 1 day 3 hours), or in the notation of ISO 8601 (PT90M), in hours. One unit alone may as well
// be metres.
func parseDuration(b []byte) (hours float64, ok bool) {
	iso := len(b) > 2 && b[0] == 'P' && !notDigit(rune(b[len(b)-2]))
	if !iso && (len(b) < 4 || notDigit(rune(b[0])) || b[len(b)-1] < 'a' || b[len(b)-1] > 'z') {
		return 0, false // most cells
	}
	text := string(b)
	if iso {
		days, times, _ := strings.Cut(text[1:], "T")
		if days != "" && !strings.HasSuffix(days, "D") { // months, or no duration
			return 0, false
		}
		text = strings.ToLower(days + times)
	}
	units, at := 0, 0
	for text = strings.TrimSpace(text); text != ""; units++ {
		digits := strings.IndexFunc(text, func(r rune) bool { return notDigit(r) && r != '.' })
		if digits < 1 {
			return 0, false
		}
		v, isNumber := parseNumber([]byte(text[:digits]))
		text = strings.TrimSpace(text[digits:])
		letters := strings.IndexFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
		if letters < 0 {
			letters = len(text)
		}
		for at < len(durationUnits) && !slices.Contains(durationUnits[at].names, text[:letters]) {
			at++
		}
		if at == len(durationUnits) || !isNumber {
			return 0, false
		}
		hours += v * durationUnits[at].hours
		text = strings.TrimLeft(text[letters:], " ,")
		at++
	}
	return hours, units > 1 || iso
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

// withExponent writes 1.5D+03, as Fortran does, with an e. Without a sign it takes a point: 3D0 may be a code.
func withExponent(b []byte) []byte {
	at := bytes.IndexAny(b, "dD")
	if at < 1 || at+1 >= len(b) || b[at-1] != '.' && (b[at-1] < '0' || b[at-1] > '9') {
		return b
	}
	digits := bytes.TrimLeft(b[at+1:], "+-")
	if signs := len(b) - at - 1 - len(digits); len(digits) == 0 || signs > 1 || signs == 0 && bytes.IndexByte(b[:at], '.') < 0 {
		return b
	}
	for _, digit := range digits {
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
		case groups == 0 && (digits < 1 || digits > 3), groups > 0 && r != separator:
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
	if groups > 0 && plain[0] == '0' && !hasFraction && (groups == 1 || first > 1) { // 0,475 and 012.345.678 are codes, 0,475,591 is filled up
		return nil, false
	}
	if hasFraction {
		plain = append(append(plain, '.'), fraction...)
	}
	return plain, len(plain) > 0
}
