package dataset

import (
	"math"
	"math/bits"
	"strconv"
)

// tens are the powers of ten that float64 holds exactly, wholeTens those that uint64 holds.
var (
	tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}
	wholeTens = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}
)

// maxValue is the largest number that rounds to the largest float32, which is often written
// as 3.4028235e38; larger ones would become infinite.
const maxValue = 0x1.fffffefffffffp127

// parseNumber parses a decimal number, all of b: sign, digits with a point, exponent. The
// result is the float64 nearest to it, infinite if it is beyond all of them. Spellings of
// NaN and infinity, hexadecimal digits and underscores are not accepted.
func parseNumber(b []byte) (v float64, ok bool) {
	v, end := scanNumber(b, 0)
	return v, end == len(b) && end > 0
}

// parseBool is 1 of true and 0 of false: the number of a boolean in a column of numbers, of whatever data.
func parseBool(b []byte) (v float64, ok bool) {
	if string(b) == "true" {
		return 1, true
	}
	return 0, string(b) == "false"
}

// parseOther parses what else may be in a column of plain numbers: a boolean, or a number with separators of thousands where the first
// rows had none.
func parseOther(b []byte, decimal byte) (v float64, ok bool) {
	if v, ok = parseBool(b); ok {
		return v, true
	}
	b, negative := cutSign(b, false)
	plain, ok := withoutGroups(b, decimal)
	if ok {
		v, ok = parseNumber(plain)
	}
	if negative {
		v = -v
	}
	return v, ok
}

// decimal is the decimal separator of the columns of plain numbers: a comma if other columns have one.
func (s *Schema) decimal() byte {
	for i := range s.Columns {
		if c := s.Columns[i].Coding; c != nil && c.Decimal == "," {
			return ','
		}
	}
	return '.'
}

// scanNumber parses the number that starts at b[i], as parseNumber does, and returns where
// it ends: i if there is none.
//
// Most numbers in files take one of two fast paths, which round once. If the digits
// are an integer below 2⁵³ and the power of ten is exact in float64, it is one multiplication
// or division (Clinger 1990, "How to read floating point numbers accurately"). If
// they are an integer below 2⁶⁴, to be divided by a power of ten below 2⁶⁴, it is an integer
// division.
func scanNumber(b []byte, i int) (v float64, end int) {
	begin := i
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	mantissa := uint64(0)
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		i++
	}
	digits, exponent := i-start, 0
	if i < len(b) && b[i] == '.' {
		i++
		start = i
		for i < len(b) && b[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			i++
		}
		exponent = start - i
		digits += i - start
	}
	if digits == 0 {
		return 0, begin
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		e, after := scanExponent(b, i+1)
		if after == i+1 {
			return 0, begin
		}
		exponent += e
		i = after
	}
	switch {
	case digits > 19 || exponent < -22 || exponent > 22:
		return parseSlowly(b[begin:i]), i
	case mantissa <= 1<<53 && exponent >= 0:
		v = float64(mantissa) * tens[exponent]
	case mantissa <= 1<<53:
		v = float64(mantissa) / tens[-exponent]
	case exponent <= 0 && exponent >= -19:
		v = quotient(mantissa, wholeTens[-exponent])
	default:
		return parseSlowly(b[begin:i]), i
	}
	if negative {
		v = -v
	}
	return v, i
}

// scanExponent parses the digits after an e, with their sign. Exponents beyond
// any number's range are clamped.
func scanExponent(b []byte, i int) (e, end int) {
	begin := i
	minus := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		minus = b[i] == '-'
		i++
	}
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		if e < 100_000 {
			e = e*10 + int(b[i]-'0')
		}
		i++
	}
	if i == start {
		return 0, begin
	}
	if minus {
		e = -e
	}
	return e, i
}

// quotient is m/d rounded once, for m > 0 and d > 0.
func quotient(m, d uint64) float64 {
	// With both shifted up to 64 bits, the quotient m·2⁶³/d has 63 or 64 bits. Its last bit
	// stands for all that follow: conversion rounds at the 53rd and only asks whether they are 0.
	up, down := bits.LeadingZeros64(m), bits.LeadingZeros64(d)
	m, d = m<<up, d<<down
	q, rest := bits.Div64(m>>1, m<<63, d)
	if rest != 0 {
		q |= 1
	}
	return float64(q) * math.Float64frombits(uint64(1023-63+down-up)<<52)
}

// parseSlowly parses a text that is known to be a decimal number.
func parseSlowly(b []byte) float64 {
	// The only error left is that of range, for which the result is an infinity.
	v, _ := strconv.ParseFloat(string(b), 64)
	return v
}

// notFinite reports whether a word spells NaN or an infinity.
func notFinite(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	switch lower(b) {
	case "nan", "inf", "infinity":
		return true
	}
	return false
}

// lower is a short word in lower case, "" for a long one.
func lower(b []byte) string {
	var w [8]byte
	if len(b) > len(w) {
		return ""
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		w[i] = c
	}
	return string(w[:len(b)])
}
