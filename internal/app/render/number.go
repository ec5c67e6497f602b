package render

import (
	"fmt"
	"math"
	"strconv"

	"mercer/eval"
	"mercer/internal/engine/units"
)

// Number writes a number with five digits, large ones as they are read.
func Number(v float64) string {
	if a := math.Abs(v); a >= 10_000 && a < 1e15 {
		return wholeText(v)
	}
	return fmt.Sprintf("%.5g", v)
}

// short writes a number with three digits.
func short(v float64) string {
	switch a := math.Abs(v); {
	case v == 0:
		return "0"
	case a >= 999.5 && a < 1e15:
		return wholeText(v)
	case a >= 99.95 && a < 1e15:
		return fmt.Sprintf("%.0f", v)
	case a >= 9.995 && a < 1e15:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// amount writes a number of rows, or a sum of their weights.
func amount(v float64) string {
	if a := math.Abs(v); a < 1e15 && v == math.Trunc(v) || a >= 10_000 && a < 1e15 {
		return wholeText(v)
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}

// wholeText writes a number without decimals, and with commas.
func wholeText(v float64) string { return units.Count(int64(math.Round(v))) }

// percentText writes a share in percent.
func percentText(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

// areaText writes an area under a curve or R², which may not be defined.
func areaText(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *v)
}

// PValue writes a p-value as a person would.
func PValue(p float64) string {
	switch {
	case p < 0.0001:
		return fmt.Sprintf("%.1e", p)
	case p < 0.0995:
		return fmt.Sprintf("%.4f", p)
	}
	return fmt.Sprintf("%.2f", p)
}

// scoreText is a score for a person: shares in percent.
func scoreText(m *eval.Metric, v float64) string {
	if m.Percent {
		return percentText(v)
	}
	return Number(v)
}

// spreadText is a deviation of scores around a mean, to the places of the mean.
func spreadText(m *eval.Metric, mean, sd float64) string {
	switch {
	case m.Percent:
		return percentText(sd)
	case math.Abs(mean) >= 10_000 && math.Abs(sd) < 1e15:
		return wholeText(sd)
	}
	return fmt.Sprintf("%.3g", sd)
}
