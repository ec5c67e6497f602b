package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func picturesOf(t *testing.T, d Drawing) string {
	t.Helper()
	p, err := (&Figure{Title: "t", Caption: "c", Drawing: d}).lay()
	if err != nil {
		t.Fatal(err)
	}
	return p.svg("t", "x", "", "")
}

// Error bars are drawn where a band would be: three lines for a point, and none where an end cannot be shown.
func TestErrorBars(t *testing.T) {
	curve := Curve{Name: "c", X: []float64{1, 2, 3}, Y: []float64{2, 3, 4},
		Low: []float64{1, 2, math.NaN()}, High: []float64{3, 4, math.Inf(1)}}
	band := picturesOf(t, &Lines{Y: Axis{From: 0, To: 5}, Curves: []Curve{curve}})
	curve.Bars = true
	bars := picturesOf(t, &Lines{Y: Axis{From: 0, To: 5}, Curves: []Curve{curve}})
	curve.Low, curve.High = nil, nil
	none := picturesOf(t, &Lines{Y: Axis{From: 0, To: 5}, Curves: []Curve{curve}})
	if got := strings.Count(bars, "<path") - strings.Count(none, "<path"); got != 6 {
		t.Errorf("two error bars are %d lines", got)
	}
	if strings.Count(band, "<path")-strings.Count(none, "<path") != 1 {
		t.Error("a band is not one area")
	}
	// The ends of a bar that leaves the picture are left out, and so is a bar beyond it.
	curve.Low, curve.High = []float64{-9, 2, 7}, []float64{99, 4, 8}
	cut := picturesOf(t, &Lines{Y: Axis{From: 0, To: 5}, Curves: []Curve{curve}})
	if got := strings.Count(cut, "<path") - strings.Count(none, "<path"); got != 4 {
		t.Errorf("an error bar and one without ends are %d lines", got)
	}
}

func TestTicksAtGivenPlaces(t *testing.T) {
	axis := Axis{Log: true, From: 50, To: 5000, At: []float64{1024, 64, 256, 64, 9999, 1, math.NaN()}}
	var labels []string
	for _, v := range axis.ticks(5) {
		labels = append(labels, v.label)
	}
	if got := strings.Join(labels, " "); got != "64 256 1,024" {
		t.Errorf("ticks %s", got)
	}
	percent := Axis{From: 0, To: 1, Percent: true, At: []float64{0.25}}
	if got := percent.ticks(5); len(got) != 1 || got[0].label != "25 %" {
		t.Errorf("%+v", got)
	}
}

// Counts are bars at the foot of a picture, one for each cell with data, whose areas are in proportion; edges that do not
// fit are an error.
func TestCountsAtTheFoot(t *testing.T) {
	lines := Lines{X: Axis{From: 0, To: 8}, Curves: []Curve{{X: []float64{0, 8}, Y: []float64{0, 1}}}}
	none := picturesOf(t, &lines)
	lines.Edges, lines.Counts = []float64{0, 2, 4, 8}, []float64{10, 0, 10}
	if got := strings.Count(picturesOf(t, &lines), "<path") - strings.Count(none, "<path"); got != 2 {
		t.Errorf("two cells with data are %d bars", got)
	}
	p, err := lines.layout()
	if err != nil {
		t.Fatal(err)
	}
	c := newSVGCanvas(p.height)
	f := newFrame(&pen{Canvas: c, width: p.width, height: p.height}, lines.X, Axis{From: 0, To: 1}, 0, 0)
	c.b.Reset()
	lines.foot(f)
	var areas []float64
	for _, path := range strings.Split(c.b.String(), ` d="M`)[1:] {
		var x0, x1, y0, y1, x, y float64
		if _, err := fmt.Sscanf(path, "%f %fL%f %fL%f %fL", &x0, &y0, &x, &y, &x1, &y1); err != nil {
			t.Fatal(path, err)
		}
		areas = append(areas, (x1-x0)*(y0-y1))
	}
	if len(areas) != 2 || math.Abs(areas[0]/areas[1]-1) > 0.02 { // bars are a little narrower than cells
		t.Errorf("the areas of two cells with 10 rows each are %v", areas)
	}
	lines.Edges = lines.Edges[:2]
	if _, err := lines.layout(); err == nil {
		t.Error("two edges for three counts are no error")
	}
}
