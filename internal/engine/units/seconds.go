package units

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Seconds writes a time that was measured: 12 ms, 1.5 s, 83 s, and from ten minutes on 1h2m3s.
func Seconds(s float64) string {
	switch {
	case s < 0.0995:
		return fmt.Sprintf("%.0f ms", 1000*s)
	case s < 9.95:
		return fmt.Sprintf("%.2g s", s)
	case s < 600:
		return fmt.Sprintf("%.0f s", s)
	case s < math.MaxInt64/float64(time.Second):
		return time.Duration(s * float64(time.Second)).Round(time.Second).String()
	default:
		return Roughly(s)
	}
}

// Roughly writes a time that was predicted, with two digits: 0.3 s, 40 s, 12 min, 2.5 h, 4 days.
func Roughly(s float64) string {
	switch {
	case s < 0.095:
		return fmt.Sprintf("%.1g s", max(s, 0.01))
	case s < 9.5:
		return fmt.Sprintf("%.2g s", s)
	case s < 99.5:
		return fmt.Sprintf("%.0f s", s)
	case s < 90*60:
		return fmt.Sprintf("%.0f min", s/60)
	case s < 36*3600:
		return fmt.Sprintf("%.2g h", s/3600)
	}
	return Commas(strconv.FormatFloat(s/86400, 'f', 0, 64)) + " days"
}
