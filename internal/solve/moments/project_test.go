package moments

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

func TestProjectIsTheStatisticsOfProjectedRows(t *testing.T) {
	const n, d, k = 600, 9, 4
	z, y := sample(12, n, d, 2, 6)
	s := random.New(12, "project")
	u, origin := make([]float64, k*d), make([]float64, d)
	for i := range u {
		u[i] = s.Normal()
	}
	for i := range origin {
		origin[i] = 6 + s.Normal()
	}
	w := make([]float64, n)
	for i := range w {
		w[i] = float64(i % 3)
	}
	projected := matrix.NewDense(n, k)
	for i := range n {
		for c := range k {
			x := 0.0
			for j, v := range z.Row(i) {
				x += u[c*d+j] * (float64(v) - origin[j])
			}
			projected.Row(i)[c] = float32(x)
		}
	}
	whole := New(d, 2)
	whole.Add(z.Slice(0, 400), y[:800], w[:400])
	p := whole.Project(k, u, origin)
	if p.Rows() != 400 {
		t.Errorf("%d rows", p.Rows())
	}
	// Projected rows are rounded to float32, the statistics' are not.
	agree(t, p, projected.Slice(0, 400), y[:800], w[:400], 1e-6)
	p.Add(projected.Slice(400, n), y[800:], w[400:])
	agree(t, p, projected, y, w, 1e-6)

	a, b := New(d, 2), New(d, 2)
	a.Add(z.Slice(0, 250), y[:500], nil)
	b.Add(z.Slice(250, n), y[500:], nil)
	pa, pb := a.Project(k, u, origin), b.Project(k, u, origin)
	pa.Merge(pb)
	agree(t, pa, projected, y, ones(n), 1e-6)

	if none := New(d, 2).Project(k, u, origin); none.Rows() != 0 || none.Moments().Weight != 0 {
		t.Errorf("of no rows: %+v", none.Moments())
	}
	if m := whole.Moments(); math.IsNaN(m.H[0]) {
		t.Error("the statistics were spoiled")
	}
}

func TestScaleIsTheStatisticsOfScaledRows(t *testing.T) {
	z, y := sample(5, 300, 6, 2, 3)
	s, w := New(6, 2), make([]float64, 300)
	for i := range w {
		w[i] = 1
	}
	s.Add(z, y, nil)
	by := []float64{2, 0.5, 1, 3, 0.25, 1.5}
	scaled := matrix.NewDense(z.Rows, 6)
	for i := range z.Rows {
		for j, v := range z.Row(i) {
			scaled.Row(i)[j] = v * float32(by[j])
		}
	}
	s.Scale(by)
	agree(t, s, scaled, y, w, 1e-6)
}
