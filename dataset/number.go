package dataset

import (
	"math"
	"strconv"
)

// tens are the powers of ten that float64 holds exactly.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseNumber parses a decimal number, all of b: sign, digits with a point, exponent. The
// result is the float64 nearest to it. Spellings of NaN and infinity are no numbers here.
//
// Most numbers in files take Clinger's fast path: a mantissa below 2⁵³ and a power of ten
// that float64 holds exactly, so that one multiplication or division rounds once.
func parseNumber(b []byte) (v float64, ok bool) {
	i, n := 0, len(b)
	negative := false
	if i < n && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	mantissa := uint64(0)
	digits, exponent := 0, 0
	start := i
	for i < n && b[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		i++
	}
	digits = i - start
	if i < n && b[i] == '.' {
		i++
		start = i
		for i < n && b[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			i++
		}
		exponent = start - i
		digits += i - start
	}
	if digits == 0 {
		return 0, false
	}
	if i < n && b[i]|0x20 == 'e' {
		i++
		minus := false
		if i < n && (b[i] == '-' || b[i] == '+') {
			minus = b[i] == '-'
			i++
		}
		start = i
		e := 0
		for i < n && b[i]-'0' <= 9 {
			if e < 100000 {
				e = e*10 + int(b[i]-'0')
			}
			i++
		}
		if i == start {
			return 0, false
		}
		if minus {
			e = -e
		}
		exponent += e
	}
	if i != n {
		return 0, false
	}
	if digits > 19 || mantissa > 1<<53 || exponent < -22 || exponent > 22 {
		// The text has been checked: no hexadecimal, underscore or word gets here.
		v, err := strconv.ParseFloat(string(b), 64)
		if err != nil && !math.IsInf(v, 0) {
			return 0, false
		}
		return v, true
	}
	v = float64(mantissa)
	if exponent < 0 {
		v /= tens[-exponent]
	} else {
		v *= tens[exponent]
	}
	if negative {
		v = -v
	}
	return v, true
}

// notFinite says whether a word spells NaN or an infinity.
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

// lower is a short word in lower case.
func lower(b []byte) string {
	if len(b) > 16 {
		return ""
	}
	var w [16]byte
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		w[i] = c
	}
	return string(w[:len(b)])
}

// maxValue is the largest float32; larger values would become infinite.
const maxValue = math.MaxFloat32
