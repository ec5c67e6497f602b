// Package units writes numbers of bytes, seconds and things for people, and reads sizes from them.
//
// Memory is counted in powers of 1024 and says so (KiB, MiB, GiB); docs/design.md has the reason.
package units

import (
	"strconv"
	"strings"
)

// number is what counts bytes: a size that was measured, or an estimate.
type number interface {
	~int | ~int64 | ~uint64 | ~float64
}

// Count writes a whole number with a comma before every three digits: 1,234,567.
func Count[N ~int | ~int64 | ~uint64](n N) string {
	if n < 0 {
		return Commas(strconv.FormatInt(int64(n), 10))
	}
	return Commas(strconv.FormatUint(uint64(n), 10))
}

// Commas puts the commas of Count into a decimal number, which may have a sign and decimals. It
// leaves any other text as it is.
func Commas(decimal string) string {
	digits, negative := strings.CutPrefix(decimal, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if strings.Trim(whole, "0123456789") != "" {
		return decimal
	}
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	if point {
		b.WriteByte('.')
		b.WriteString(fraction)
	}
	return b.String()
}

// Plural counts things whose plural ends in s: "1 row", "2,000 rows".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Count(n) + " " + what + "s"
}
