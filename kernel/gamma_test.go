package kernel

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/matrix"
)

func TestMedianGammaOfFewRowsIsExact(t *testing.T) {
	x := rows("few", 21, 6, 0.4) // 210 pairs
	var l1, l2 []float64
	for i := range x.Rows {
		for j := range i {
			a, b := 0.0, 0.0
			for k, v := range x.Row(i) {
				d := float64(v) - float64(x.Row(j)[k])
				a += math.Abs(d)
				b += d * d
			}
			l1, l2 = append(l1, a), append(l2, b)
		}
	}
	slices.Sort(l1)
	slices.Sort(l2)
	want := map[string]float64{
		"rbf":       2 / (l2[104] + l2[105]),
		"laplacian": 2 / (l1[104] + l1[105]),
	}
	for _, a := range both(x) {
		for name, w := range want {
			got, err := MedianGamma(a, 1, name)
			if err != nil || !near(got, w, 1e-12) {
				t.Errorf("%s, sparse %t: %g, %v, want %g", name, a.CSR != nil, got, err, w)
			}
		}
	}
}

// Between normal rows of d dimensions ‖Δ‖² is 2χ²_d, whose median is near 2d(1-2/(9d))³. The
// standard error over independent pairs is √(π/2)·√(8d/20000) at most; pairs that share a row
// of the 3000 add as much again, at most.
func TestMedianGammaOfManyRows(t *testing.T) {
	const d = 50
	x := matrix.Rows{Dense: rows("many", 3000, d, 0)}
	median := 2 * d * math.Pow(1-2.0/(9*d), 3)
	got, err := MedianGamma(x, 1, "rbf")
	if err != nil {
		t.Fatal(err)
	}
	se := math.Sqrt(math.Pi/2) * math.Sqrt(8.0*d/20000) * math.Sqrt2
	if m := 1 / got; math.Abs(m-median) > 4*se {
		t.Errorf("the median is %g, want %g ± %g", m, median, se)
	}
	again, _ := MedianGamma(x, 1, "rbf")
	other, _ := MedianGamma(x, 2, "rbf")
	if again != got || other == got {
		t.Errorf("seed 1 gives %g and %g, seed 2 %g", got, again, other)
	}
}

func TestMedianGammaLooksPastDuplicates(t *testing.T) {
	x := matrix.NewDense(20, 2)
	x.Row(7)[1] = 3 // 19 of 190 distances are 3
	for _, a := range both(x) {
		rbf, err := MedianGamma(a, 1, "rbf")
		if err != nil || rbf != 1.0/9 {
			t.Errorf("rbf: %g, %v", rbf, err)
		}
		laplacian, err := MedianGamma(a, 1, "laplacian")
		if err != nil || laplacian != 1.0/3 {
			t.Errorf("laplacian: %g, %v", laplacian, err)
		}
	}
}

func TestMedianGammaRefuses(t *testing.T) {
	one := matrix.Rows{Dense: matrix.NewDense(1, 3)}
	equal := matrix.Rows{Dense: matrix.NewDense(300, 3)}
	for _, c := range []struct {
		x          matrix.Rows
		name, want string
	}{
		{one, "rbf", "two rows"},
		{equal, "rbf", "all rows are equal"},
		{equal, "laplacian", "all rows are equal"},
		{equal, "poly", `not for "poly"`},
	} {
		if g, err := MedianGamma(c.x, 1, c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %d rows: %g, %v; want %q", c.name, c.x.Len(), g, err, c.want)
		}
	}
}

func TestScaleGamma(t *testing.T) {
	if g, err := ScaleGamma(8, 0.5, "rbf"); err != nil || g != 0.25 {
		t.Errorf("%g, %v", g, err)
	}
	for _, variance := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if g, err := ScaleGamma(8, variance, "rbf"); err == nil {
			t.Errorf("variance %g gives %g", variance, g)
		}
	}
}
