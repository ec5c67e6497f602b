package main

import (
	"encoding/json"
	"fmt"
	"io"
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
