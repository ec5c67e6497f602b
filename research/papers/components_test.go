package papers

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/reduce"
	"mercer/kernel"
	"mercer/matrix"
)

// madeSplit is a split of rows around centres of their classes, without negative numbers.
func madeSplit(train, test, d int) split {
	r := random.New(1, "papers.test")
	s := split{classes: 3}
	for i, n := range []int{train, test} {
		part := []*labelled{&s.train, &s.test}[i]
		x := matrix.NewDense(n, d)
		for i := range n {
			class := i % s.classes
			for j := range d {
				x.Row(i)[j] = float32(math.Exp(0.5*r.Normal())) * float32(1+(j+class)%3)
			}
			part.class = append(part.class, class)
		}
		part.x = matrix.Rows{Dense: x}
	}
	return s
}

// The components by products of rows are those by products of features, but for their signs.
func TestComponentsAreThoseOfTheStatistics(t *testing.T) {
	const features, d = 90, 20
	s := madeSplit(70, 30, features)
	stats := moments.New(features, 1)
	stats.Add(s.train.x.Dense, make([]float64, 70), nil)
	p, _, err := reduce.PCA{Components: d}.Fit(t.Context(), stats.Moments())
	if err != nil {
		t.Fatal(err)
	}
	z, err := components(s, d)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range []labelled{z.train, z.test} {
		from := []labelled{s.train, s.test}[i].x
		want := matrix.NewDense(from.Len(), d)
		p.Transform(want, from, &matrix.Dense{})
		got := part.x.Dense
		if got.Rows != want.Rows || got.Cols != d {
			t.Fatalf("%d×%d components", got.Rows, got.Cols)
		}
		for c := range d {
			sign := float32(1)
			if z.train.x.Dense.Row(0)[c]*firstOf(p, s.train.x)[c] < 0 {
				sign = -1
			}
			for r := range got.Rows {
				if a, b := got.Row(r)[c], want.Row(r)[c]; math.Abs(float64(sign*a-b)) > 1e-3 {
					t.Fatalf("part %d, row %d: component %d is %g, want %g", i, r, c, sign*a, b)
				}
			}
		}
	}
	// Of as many directions as there are, nothing is left out, and nothing is done.
	if all, err := components(s, 69); err != nil || !slices.Equal(all.train.x.Dense.Data, s.train.x.Dense.Data) {
		t.Error("69 components of 70 rows are other rows", err)
	}
}

// firstOf are the components of the first row.
func firstOf(p *reduce.Projection, x matrix.Rows) []float32 {
	_, k := p.Dims()
	z := matrix.NewDense(1, k)
	p.Transform(z, x.Slice(0, 1), &matrix.Dense{})
	return z.Row(0)
}

// A row that says PCA of 3D trains on D components, and gets about as many rows right as one without: here, where
// classes are well apart, all but a few.
func TestRowsOfComponentsTellClasses(t *testing.T) {
	s := madeSplit(150, 60, 12)
	cfg := feature.Config{Map: "elementary", Kernel: kernel.Kernel{Name: "exp-chi2"}}
	z, err := mapHistograms(cfg, s, 0.1, 32, 3)
	if err != nil || z.train.x.Dim() != 32 || z.test.x.Dim() != 32 {
		t.Errorf("%d and %d components of 96 features, %v", z.train.x.Dim(), z.test.x.Dim(), err)
	}
	seen := 0
	for _, m := range histogramMethods() {
		if !strings.Contains(m.name, "PCA of 3D") {
			continue
		}
		seen++
		percent, c, err := m.run(t.Context(), s, 0.1, 32, 0, 1)
		if err != nil || percent < 90 || !(c > 0) {
			t.Errorf("%s: %.1f %%, C = %g, %v", m.name, percent, c, err)
		}
	}
	if seen != 3 {
		t.Errorf("%d rows, want chebyshev, elementary and homogeneous", seen)
	}
}

// L12's other D have a table each, of the rows that depend on it.
func TestHistogramTablesByD(t *testing.T) {
	for name, rows := range map[string]int{"L12-1": 11, "L12-1-3000": 7, "L12-1-5000": 7} {
		table, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(table.Rows) != rows {
			t.Errorf("%s has %d rows, want %d", name, len(table.Rows), rows)
		}
	}
}
