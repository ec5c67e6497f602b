package present

import (
	"strings"
	"testing"

	"mercer/internal/papers"
)

// Times stand beside the paper's without a mark, and figures without one of theirs have four digits.
func TestReproducedCells(t *testing.T) {
	for _, c := range []struct {
		cell   papers.Cell
		theirs papers.Figure
		want   string
	}{
		{papers.Cell{Mean: 0.012341}, papers.Figure{}, "0.01234"},
		{papers.Cell{Mean: 9.43567e-15}, papers.Figure{}, "9.436e-15"},
		{papers.Cell{Mean: 25.829}, papers.Figure{}, "25.83"},
		{papers.Cell{Mean: 71234}, papers.Figure{}, "71234"},
		{papers.Cell{Mean: 0.5, SD: 0.1}, papers.Figure{Text: "?"}, "0.5000 ± 0.1000"},
		{papers.Cell{Mean: 1.234, Mark: papers.Within}, papers.Figure{Text: "1.2±0.3"}, "1.23 within"},
		{papers.Cell{Mean: 16.71}, papers.Figure{Text: "509"}, "16.7"},
		{papers.Cell{Mean: 6.7953462e-6, Mark: papers.Within}, papers.Figure{Text: "6.79534e-6"}, "6.795346e-06 within"},
		{papers.Cell{Mark: papers.NotRun}, papers.Figure{Text: "509"}, "not run"},
	} {
		if got := cellText(c.cell, c.theirs); got != c.want {
			t.Errorf("%+v beside %q: %q, want %q", c.cell, c.theirs.Text, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	if got := strings.Join(wrap("one  two three", 7), "|"); got != "one two|three" {
		t.Error(got)
	}
}
