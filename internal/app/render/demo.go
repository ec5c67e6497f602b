package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"mercer/internal/engine/units"
)

// DemoJSON is what demo --json prints.
type DemoJSON struct {
	Digits []DigitsJSON `json:"digits,omitempty"`
	Stream *StreamJSON  `json:"stream,omitempty"`
}

// DigitsJSON is one line of the comparison of methods on digits.
type DigitsJSON struct {
	Method  string  `json:"method"`
	Error   float64 `json:"error"`
	Train   float64 `json:"train_seconds"`
	Predict float64 `json:"predict_seconds"`

	// What a training on ManyDigits rows takes, by how its time and memory grow.
	ManySeconds float64 `json:"million_rows_seconds"`
	ManyBytes   float64 `json:"million_rows_bytes"`
}

// ManyDigits is the number of rows for which time and memory are foretold.
const ManyDigits = 1_000_000

// StreamJSON is what became of the stream.
type StreamJSON struct {
	Rows       int     `json:"rows"`
	Dims       int     `json:"d"`
	Features   int     `json:"features"`
	LinearR2   float64 `json:"linear_r2"`
	R2         float64 `json:"r2"`
	Seconds    float64 `json:"seconds"`
	RowsPerSec float64 `json:"rows_per_second"`
	PeakRSS    int64   `json:"peak_rss_bytes"`
	ModelBytes int64   `json:"model_bytes"`
	Identical  bool    `json:"loaded_model_predicts_identically"`
}

// DigitsHead writes what the comparison on digits is of.
func DigitsHead(w io.Writer, train, test int) {
	fmt.Fprintf(w, "\n1  Handwritten digits, real images of 8×8 pixels: %s to learn from, %s to be tested on\n\n", units.Count(train),
		units.Count(test))
}

// Digit is an image of pixels from 0 to 16, and what it was read as.
type Digit struct {
	Pixels []float32
	Read   string
}

// digitSide is the height and the width of an image.
const digitSide = 8

// DigitsPicture draws digits beside each other, two pixels in a character, with what they were read as below.
func DigitsPicture(w io.Writer, digits []Digit) {
	line := func(of func(d Digit) string) {
		fmt.Fprint(w, "    ")
		for _, d := range digits {
			fmt.Fprintf(w, "  %s", of(d))
		}
		fmt.Fprintln(w)
	}
	for y := 0; y < digitSide; y += 2 {
		line(func(d Digit) string {
			row := make([]rune, digitSide)
			for x := range row {
				dark := func(y int) bool { return d.Pixels[y*digitSide+x] >= 8 }
				switch {
				case dark(y) && dark(y+1):
					row[x] = '█'
				case dark(y):
					row[x] = '▀'
				case dark(y + 1):
					row[x] = '▄'
				default:
					row[x] = ' '
				}
			}
			return string(row)
		})
	}
	line(func(d Digit) string {
		return fmt.Sprintf("%-*s", digitSide, strings.Repeat(" ", digitSide/2-1)+d.Read)
	})
	fmt.Fprintln(w)
}

// DigitsTitle writes the titles of the table of methods.
func DigitsTitle(w io.Writer, lambda float64) {
	fmt.Fprintf(w, "     %-32s%7s%11s%13s     %s rows would take\n", fmt.Sprintf("ridge regression, λ = %g", lambda), "error", "training",
		"predicting", units.Count(ManyDigits))
}

// DigitsLine writes a line of that table.
func DigitsLine(w io.Writer, d DigitsJSON) {
	fmt.Fprintf(w, "     %-32s%5.1f %%%11s%13s     %-10s %s\n", d.Method, 100*d.Error, units.Seconds(d.Train), units.Seconds(d.Predict),
		longTime(d.ManySeconds), units.Bytes(d.ManyBytes))
}

// longTime is a time that was foretold, and may be years.
func longTime(seconds float64) string {
	if years := seconds / (365.25 * 86400); years >= 2 {
		return units.Count(int64(math.Round(years))) + " years"
	}
	return units.Roughly(seconds)
}

// DigitsBars draws the time that many rows would take, each character 2.2 times as much.
func DigitsBars(w io.Writer, all []DigitsJSON) {
	fmt.Fprintln(w)
	for _, d := range all {
		name, _, _ := strings.Cut(d.Method, ",")
		name, _, _ = strings.Cut(name, " (")
		length := int(math.Round(math.Log(max(1, d.ManySeconds)) / math.Log(2.2)))
		fmt.Fprintf(w, "     %-22s%s %s\n", name, strings.Repeat("█", max(1, length)), longTime(d.ManySeconds))
	}
	fmt.Fprintf(w, "     %-22s(a logarithmic scale: time grows like n, n and n³, and the memory of the last like n²)\n", "")
}

// StreamHead writes what the stream is.
func StreamHead(w io.Writer, rows, dims int) {
	fmt.Fprintf(w, "\n2  A stream of %s rows × %d dimensions, generated as it is read, never in memory\n\n", units.Count(rows), dims)
}

// streamLine writes a line about the stream.
func streamLine(w io.Writer, name, format string, args ...any) {
	fmt.Fprintf(w, "     %-22s%s\n", name, fmt.Sprintf(format, args...))
}

// StreamTrained writes what learning the stream took: seconds for reading, mapping and solving, and memory.
func StreamTrained(w io.Writer, s *StreamJSON, read, mapped, solve float64) {
	streamLine(w, "trained in", "%s of two passes: %s rows/s (read %s, map %s, solve %s)", units.Seconds(s.Seconds),
		units.Count(int(s.RowsPerSec)),
		units.Seconds(read), units.Seconds(mapped), units.Seconds(solve))
	if s.PeakRSS > 0 {
		streamLine(w, "memory", "%s at its peak; the features alone would take %s", units.Bytes(s.PeakRSS),
			units.Bytes(4*int64(s.Rows)*int64(s.Features)))
	}
}

// StreamScores writes how good the models of the stream are.
func StreamScores(w io.Writer, s *StreamJSON) {
	streamLine(w, "variance explained", "%.1f %% by Mercer, %.1f %% by a linear model", 100*s.R2, 100*s.LinearR2)
}

// StreamSaved writes that a model that was loaded predicts so many rows as the one that was saved does.
func StreamSaved(w io.Writer, s *StreamJSON, rows int) {
	streamLine(w, "saved", "%s; loaded again it predicts %s fresh rows bit for bit the same", units.Bytes(s.ModelBytes), units.Count(rows))
}
