package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mercer/lab"
	"strings"
	"time"

	humanize "github.com/dustin/go-humanize"
)

// comma writes 1234567 as 1,234,567.
func comma(n int) string { return humanize.Comma(int64(n)) }

// bytesText writes a number of bytes as a person would: 1.5 GB.
func bytesText(n int64) string { return humanize.IBytes(uint64(n)) }

// secondsText writes a duration with about three digits.
func secondsText(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 0.0995:
		return fmt.Sprintf("%.0f ms", 1000*s)
	case s < 9.95:
		return fmt.Sprintf("%.2g s", s)
	case s < 600:
		return fmt.Sprintf("%.0f s", s)
	default:
		return d.Round(time.Second).String()
	}
}

// printJSON writes v as one JSON object on one line.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printColumns prints rows in columns, of which the first few are words and the others numbers; the
// first row is the titles.
func printColumns(w io.Writer, words int, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], len([]rune(row[i])))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i < len(widths) {
				room := strings.Repeat(" ", widths[i]-len([]rune(cell)))
				if i < words {
					cell = "  " + cell + room
				} else {
					cell = "  " + room + cell
				}
			}
			b.WriteString(cell)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// scoreText is a score for a person: shares in percent.
func scoreText(m *lab.Metric, v float64) string {
	if m.Percent {
		return fmt.Sprintf("%.2f %%", 100*v)
	}
	return numberText(v)
}

// spreadText is a deviation of scores around a mean, to the places of the mean.
func spreadText(m *lab.Metric, mean, sd float64) string {
	switch {
	case m.Percent:
		return fmt.Sprintf("%.2f %%", 100*sd)
	case math.Abs(mean) >= 10_000:
		return comma(int(math.Round(sd)))
	}
	return fmt.Sprintf("%.3g", sd)
}
