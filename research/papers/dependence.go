package papers

import (
	"context"

	"mercer/internal/search/approx"
)

// lopezDependence are the figures of LS19 that show the dependence between coordinates of
// projection vectors as pictures of matrices; here they are means of the matrices' elements.
func lopezDependence() []*Table {
	const samples, d = 500, 5
	table := func(t Table, rows []string, draw func(row, n int, seed uint64) approx.ProjectionVectors) *Table {
		t.Corner, t.Cost = "mean over pairs, %", 3
		t.Columns = []string{"|correlation|", "dCor, no factor in common", "dCor, common factors"}
		for _, r := range rows {
			t.Rows = append(t.Rows, Row{Name: r})
		}
		t.open = func(_ context.Context, _ string, quick bool) (run, error) {
			n := samples
			if quick {
				n = 100
			}
			return func(seed uint64) (experiment, error) {
				return func(i int) ([]float64, error) {
					v := draw(i, n, seed).Dependence()
					return []float64{100 * v.Correlation, 100 * v.Disjoint, 100 * v.Common}, nil
				}, nil
			}, nil
		}
		return &t
	}
	terms := []int{0, 1, 2, 4, 10, 30}
	const protocol = "The pictures have no numbers. What they show: no correlation by any method; distance " +
		"correlation (Székely) between products with common " +
		"factors, which a sum of t = 30 of them hides. 500 independent pairs of normal numbers have 8 % in the mean."
	return []*Table{
		table(Table{
			Name:     "LS19-F3.2",
			Title:    "Dependence of the coordinates of D2PK-RP's projection vectors",
			Source:   "López-Sánchez 2019, figures 3.1, 3.2 and 3.3: 500 vectors Σφ(r_i) of 15 dimensions, d = 5, s = 3",
			Protocol: protocol,
		}, []string{"Achlioptas's entries", "φ(r), t = 1", "t = 2", "t = 4", "t = 10", "t = 30"},
			func(row, n int, seed uint64) approx.ProjectionVectors {
				return approx.QuadraticVectors(n, d, terms[row], 3, seed)
			}),
		table(Table{
			Name:     "LS19-F4.2",
			Title:    "Dependence of the coordinates of PK-RP's projection vectors",
			Source:   "López-Sánchez 2019, figures 4.1, 4.2 and 4.3: 500 vectors Σ r_1⊗r_2 of 25 dimensions, d = 5, normal entries",
			Protocol: protocol,
		}, []string{"N(0, I)", "r ⊗ r', t = 1", "t = 2", "t = 4", "t = 10", "t = 30"},
			func(row, n int, seed uint64) approx.ProjectionVectors {
				return approx.TensorVectors(n, d, 2, terms[row], 0, seed)
			}),
	}
}
