package papers

import (
	"context"
	"testing"
)

// What the pictures show: products with common factors depend on one another, the more the fewer
// are summed, and a sum of 30 is as good as independent.
func TestDependenceFadesWithTerms(t *testing.T) {
	for _, table := range lopezDependence() {
		r, err := Run(context.Background(), table, Options{Seeds: 2})
		if err != nil {
			t.Fatal(err)
		}
		last := len(r.Cells) - 1
		for i := 2; i <= last; i++ {
			if r.Cells[i][2].Mean > r.Cells[i-1][2].Mean+1 {
				t.Errorf("%s: %s has %.1f %%, %s %.1f %%", table.Name, r.Rows[i].Name, r.Cells[i][2].Mean, r.Rows[i-1].Name, r.Cells[i-1][2].Mean)
			}
		}
		if one, sums := r.Cells[1][2].Mean, r.Cells[last][2].Mean; one < 20 || sums > 10 {
			t.Errorf("%s: %.1f %% of single products, %.1f %% of sums", table.Name, one, sums)
		}
		for i := range r.Cells {
			if c := r.Cells[i]; c[0].Mean > 6 || c[1].Mean > 10 || c[0].Mark != NoFigure {
				t.Errorf("%s: %s: %+v", table.Name, r.Rows[i].Name, c)
			}
		}
	}
}
