package main

import (
	"encoding/xml"
	"strings"
	"testing"

	"mercer/research/papers"
)

var made = []papers.ErrorFigure{{Set: "words", Kernel: "chi2", Curves: []papers.ErrorCurve{
	{Name: "homogeneous", Features: []int{1, 3}, Errors: []float64{0.1, 0.00123}},
	{Name: "chebyshev, not stretched", Features: []int{1, 2}, Errors: []float64{0.5, 0}}}},
	{Set: "words", Kernel: "exp-chi2", Total: true, Curves: []papers.ErrorCurve{
		{Name: "elementary", Features: []int{256, 4096}, Errors: []float64{0.1, 0.025}}}},
	{Set: "words", Kernel: "chi2, h = 2", Curves: []papers.ErrorCurve{
		{Name: "elementary", Features: []int{1, 2}, Errors: []float64{0.1, 0.025}}}}}

func TestTableHasEveryErrorInItsColumn(t *testing.T) {
	for _, want := range []string{"## chi2, words", "| map | 1 | 2 | 3 |",
		"| homogeneous | 0.1 | | 0.0012 |", "| chebyshev, not stretched | 0.5 | 0 | |",
		"## exp-chi2 by D, words", "## chi2, h = 2, words", "| map, by D | 256 | 4096 |"} {
		if got := markdown(made); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestPlotIsXMLWithEveryCurve(t *testing.T) {
	text := svg(made)
	d := xml.NewDecoder(strings.NewReader(text))
	curves := 0
	for {
		token, err := d.Token()
		if token == nil {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "polyline" {
			curves++
		}
	}
	if curves != 3 || strings.Contains(text, "h = 2") || strings.Contains(text, "NaN") || strings.Contains(text, "%!") {
		t.Errorf("%d curves in\n%s", curves, text)
	}
}
