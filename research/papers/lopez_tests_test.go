package papers

import (
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/hypothesis"
)

// Ours are the paper's p-values but for three: Friedman's, a Bonferroni value above 1, and a Hochberg value
// above Holm's, which cannot be.
func TestLopezTests(t *testing.T) {
	r, err := Run(t.Context(), lopezTests(), Options{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	var differ []string
	for i, row := range r.Cells {
		for j, c := range row {
			switch want := r.Rows[i].Theirs[j]; {
			case want.Text == "" && c.Mark != NoFigure, want.Text != "" && c.Mark != Within && c.Mark != Differs:
				t.Errorf("%s, %s: %q beside %q", r.Rows[i].Name, r.Columns[j], c.Mark, want.Text)
			case c.Mark == Differs:
				differ = append(differ, r.Rows[i].Name+", "+r.Columns[j])
			}
		}
	}
	if want := []string{"all methods alike (Friedman), unadjusted", "KG-RP, m = 6√n, Hochberg",
		"D2PK-RP, t = 30, Bonferroni-Dunn"}; !slices.Equal(differ, want) {
		t.Errorf("%q differ, want %q", differ, want)
	}
	// The protocol's χ².
	f, err := hypothesis.Friedman(lopezDistortions(), false)
	if err != nil || f.DataSets != 12 || f.Methods != 8 || math.Abs(f.ChiSquare-80.806) > 0.0005 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestDigitsMark(t *testing.T) {
	printed := figures("0.00204 5.43308e-9 ?")
	for _, c := range []struct {
		theirs Figure
		value  float64
		want   Mark
	}{
		{printed[0], 0.0020469, Within}, // cut
		{printed[0], 0.0020361, Within}, // rounded
		{printed[0], 0.0020511, Differs},
		{printed[1], 5.433087e-9, Within},
		{printed[1], 5.433097e-9, Differs},
		{printed[2], 1, Unreadable},
		{Figure{}, 1, NoFigure},
	} {
		if got := digitsMark(c.theirs, c.value); got != c.want {
			t.Errorf("%g beside %s: %s, want %s", c.value, c.theirs.Text, got, c.want)
		}
	}
}
