package present

import (
	"fmt"
	"io"

	"mercer/internal/units"
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
}

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

// DigitsHead writes what the comparison on digits is of, and the titles of its table.
func DigitsHead(w io.Writer, train, test int, lambda float64) {
	fmt.Fprintf(w, "\n1  Handwritten digits, real images of 8×8 pixels: %s to learn from, %s to be tested on\n\n", units.Count(train),
		units.Count(test))
	fmt.Fprintf(w, "     %-38s%8s%12s%14s\n", fmt.Sprintf("ridge regression, λ = %g", lambda), "error", "training", "predicting")
}

// DigitsLine writes a line of that table.
func DigitsLine(w io.Writer, d DigitsJSON) {
	fmt.Fprintf(w, "     %-38s%6.1f %%%12s%14s\n", d.Method, 100*d.Error, units.Seconds(d.Train), units.Seconds(d.Predict))
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
