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
	var lengths []float64
	for i := range x.Rows {
		lengths = append(lengths, product(x.Row(i), x.Row(i)))
	}
	slices.Sort(l1)
	slices.Sort(l2)
	slices.Sort(lengths)
	want := map[string]float64{
		"rbf":       2 / (l2[104] + l2[105]),
		"laplacian": 2 / (l1[104] + l1[105]),
		"matern":    2 / (l2[104] + l2[105]),
		"cauchy":    math.Sqrt(2 / (l2[104] + l2[105])),
		"poly":      1 / lengths[10],
		"exp":       1 / lengths[10],
		"linear":    1,
		"arccos":    1,
	}
	for _, name := range []string{"hellinger", "chi2", "intersection", "jensen-shannon", "skewed-chi2", "skewed-intersection"} {
		want[name] = 1
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

func TestMedianGammaOfHistograms(t *testing.T) {
	x := histograms("few", 21, 6, 0.4)
	var distances []float64
	for i := range x.Rows {
		for j := range i {
			d := 0.0
			for k, v := range x.Row(i) {
				if v, w := float64(v), float64(x.Row(j)[k]); v != w {
					d += (v - w) * (v - w) / (v + w)
				}
			}
			distances = append(distances, d)
		}
	}
	slices.Sort(distances)
	want := 2 / (distances[104] + distances[105])
	for _, a := range both(x) {
		if got, err := MedianGamma(a, 1, "exp-chi2"); err != nil || !near(got, want, 1e-14) {
			t.Errorf("sparse %t: %g, %v, want %g", a.CSR != nil, got, err, want)
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

// Models depend on these bits.
func TestMedianGammaIsFrozen(t *testing.T) {
	for _, c := range []struct {
		n              int
		rbf, laplacian float64
	}{
		{40, 0x1.23ef42ae31aaap-04, 0x1.9697bbc19f2d6p-04},
		{500, 0x1.42db3d43a1d16p-04, 0x1.af599d6edfe93p-04},
	} {
		for _, a := range both(rows("golden", c.n, 17, 0.6)) {
			rbf, _ := MedianGamma(a, 3, "rbf")
			laplacian, _ := MedianGamma(a, 3, "laplacian")
			if rbf != c.rbf || laplacian != c.laplacian {
				t.Errorf("%d rows, sparse %t: %x and %x", c.n, a.CSR != nil, rbf, laplacian)
			}
		}
	}
}

func TestMedianGammaLooksPastRowsOfZeros(t *testing.T) {
	x := matrix.NewDense(20, 2)
	x.Row(7)[1], x.Row(8)[0], x.Row(9)[0] = 3, 2, -4
	for _, a := range both(x) {
		for _, name := range []string{"poly", "exp"} {
			if g, err := MedianGamma(a, 1, name); err != nil || g != 1.0/9 {
				t.Errorf("%s: %g, %v", name, g, err)
			}
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
		{one, "cauchy", "two rows"},
		{one, "exp-chi2", "two rows"},
		{equal, "exp-chi2", "all rows are equal"},
		{equal, "matern", "all rows are equal"},
		{equal, "poly", "all rows are 0"},
		{equal, "exp", "all rows are 0"},
		{matrix.Rows{Dense: matrix.NewDense(0, 3)}, "poly", "needs rows"},
		{equal, "sinc", `"sinc" is not a kernel`},
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
	if g, err := ScaleGamma(8, 0.5, "cauchy"); err != nil || g != 0.5 {
		t.Errorf("cauchy: %g, %v", g, err)
	}
	if g, err := ScaleGamma(8, 0.25, "exp-chi2"); err != nil || g != 0.25 {
		t.Errorf("exp-chi2: %g, %v", g, err)
	}
	for _, name := range []string{"arccos", "chi2", "skewed-chi2"} {
		if g, err := ScaleGamma(8, 0, name); err != nil || g != 1 {
			t.Errorf("%s: %g, %v", name, g, err)
		}
	}
	for _, variance := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if g, err := ScaleGamma(8, variance, "rbf"); err == nil {
			t.Errorf("variance %g gives %g", variance, g)
		}
	}
}
