package units

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// binary are the units of memory, each 1024 of the one before.
var binary = [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// Bytes writes a number of bytes with two digits or all before the point: 512 B, 1.5 KiB, 23 MiB.
func Bytes[N number](n N) string { return bytesText(float64(n), 1) }

// BytesApart writes two different numbers of bytes, such as what is needed and what there is, with
// as many decimals as tell them apart.
func BytesApart[N number](a, b N) (string, string) {
	for decimals := 1; ; decimals++ {
		x, y := bytesText(float64(a), decimals), bytesText(float64(b), decimals)
		if x != y || decimals == mostDecimals || float64(a) == float64(b) {
			return x, y
		}
	}
}

// mostDecimals tells apart any two numbers of bytes that a float64 does below 1 EiB.
const mostDecimals = 18

// bytesText writes v with one decimal below ten of a unit and none from there on, where decimals is
// 1, and with as many more as decimals has.
func bytesText(v float64, decimals int) string {
	switch {
	case math.IsInf(v, 1):
		return "infinitely many bytes"
	case v < 0:
		return "-" + bytesText(-v, decimals)
	case v < 1023.5:
		return strconv.FormatFloat(v, 'f', 0, 64) + " B"
	}
	for _, unit := range binary[1:] {
		v /= 1024
		// What rounds to ten has no decimal, as ten has none.
		places := decimals
		if v >= 10-0.5*math.Pow10(-decimals) {
			places--
		}
		if v < 1024-0.5*math.Pow10(-places) || unit == binary[len(binary)-1] {
			return Commas(strconv.FormatFloat(v, 'f', places, 64)) + " " + unit
		}
	}
	panic("unreachable")
}

// errSize says what a size looks like.
var errSize = errors.New("give a number of bytes such as 512MiB, 8GiB or 8GB (GiB is 1024³ bytes, GB 1000³)")

// ParseBytes reads a size: a number of bytes alone or with B; of 1000, 1000², 1000³ or 1000⁴ bytes with
// kB, MB, GB or TB; and of powers of 1024 with KiB, MiB, GiB or TiB, for which K, M, G and T are short.
// The number may have decimals, a blank may follow it, and capitals do not matter. It must be from 1
// byte to less than 2⁶² of them.
func ParseBytes(text string) (int64, error) {
	digits := strings.ToUpper(strings.TrimSpace(text))
	digits, bytes := strings.CutSuffix(digits, "B")
	digits, named := strings.CutSuffix(digits, "I")
	unit, base := 1.0, 1024.0
	if bytes && !named {
		base = 1000
	}
	power := 0
	if n := len(digits); n > 0 {
		if power = 1 + strings.IndexByte("KMGT", digits[n-1]); power > 0 {
			digits = digits[:n-1]
		}
	}
	if named && (power == 0 || !bytes) {
		return 0, errSize // "5i", "5iB", "5Mi"
	}
	for range power {
		unit *= base
	}
	digits = strings.TrimRight(digits, " ")
	if strings.Trim(digits, "0123456789.") != "" {
		return 0, errSize // ParseFloat takes more than decimals
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(v*unit >= 1 && v*unit < 1<<62) {
		return 0, errSize
	}
	return int64(v * unit), nil
}
