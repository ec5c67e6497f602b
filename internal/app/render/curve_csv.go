package render

import (
	"encoding/csv"
	"io"
	"strconv"

	"mercer/internal/search"
)

// CurveCSV writes the points of learning curves, a line each; by says what grows, or that a point is extrapolated.
func CurveCSV(w io.Writer, c *search.Curve) error {
	rows := [][]string{{"by", "rows", "features", "training", "training_sd", "test", "test_sd", "seconds", "bytes"}}
	for _, part := range []struct {
		by     string
		points []search.CurvePoint
	}{{"rows", c.ByRows}, {"features", c.ByFeatures}} {
		for _, p := range part.points {
			row := []string{part.by, strconv.Itoa(p.Rows), strconv.Itoa(p.Features)}
			for _, v := range []float64{p.Train, p.TrainSD, p.Test, p.TestSD, p.Seconds} {
				row = append(row, exactNumber(&v))
			}
			rows = append(rows, append(row, strconv.FormatInt(p.Bytes, 10)))
		}
	}
	for _, e := range c.Extrapolated {
		rows = append(rows, []string{"extrapolated", strconv.Itoa(e.Rows), "", "", "", exactNumber(&e.Test), "", exactNumber(&e.Seconds),
			strconv.FormatInt(e.Bytes, 10)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}
