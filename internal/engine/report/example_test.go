package report_test

import (
	"bytes"
	"fmt"
	"strings"

	"mercer/internal/engine/report"
)

// A page with a table and a picture. Page.Save writes it to a file, Page.SavePlots writes the
// pictures alone.
func Example() {
	page := &report.Page{Title: "Two maps", Subtitle: "rbf kernel, 1,000 pairs of rows"}
	s := page.Section("Error of the kernel")

	table := &report.Table{Caption: "Mean absolute error",
		Columns: []report.Column{{Name: "map"}, {Name: "D = 256", Number: true}, {Name: "D = 1,024", Number: true}},
		Rows:    [][]string{{"rff", "0.050", "0.025"}, {"orf", "0.031", "0.015"}}}
	table.MarkBest(1, 1)
	table.MarkBest(1, 2)
	s.Table(table)

	s.Figure(&report.Figure{Name: "error-against-d", Title: "Error against D", Caption: "Both fall like 1/√D.",
		Drawing: &report.Lines{
			X: report.Axis{Name: "features D", Log: true},
			Y: report.Axis{Name: "mean absolute error", Log: true},
			Curves: []report.Curve{
				{Name: "rff", X: []float64{256, 1024, 4096}, Y: []float64{0.050, 0.025, 0.0125}},
				{Name: "orf", X: []float64{256, 1024, 4096}, Y: []float64{0.031, 0.015, 0.0078}},
			}}})

	var html bytes.Buffer
	if err := page.Write(&html); err != nil {
		fmt.Println(err)
		return
	}
	text := html.String()
	for _, part := range []string{"<svg", "<script", "http-equiv", `<td class="number best">0.031<span class="said"> (best)</span></td>`} {
		fmt.Println(part, strings.Count(text, part))
	}
	// Output:
	// <svg 1
	// <script 0
	// http-equiv 0
	// <td class="number best">0.031<span class="said"> (best)</span></td> 1
}
