package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mercer/matrix"
)

var againstKernels = []Kernel{
	{Name: "linear"},
	{Name: "poly", Gamma: 0.3, Degree: 3, Coef0: 0.5},
	{Name: "exp", Gamma: 0.1},
	{Name: "arccos"},
	{Name: "arccos", Degree: 1},
	{Name: "rbf", Gamma: 0.2},
	{Name: "laplacian", Gamma: 0.1},
	{Name: "cauchy", Gamma: 0.3},
	{Name: "matern", Gamma: 0.2, Nu: 0.5},
	{Name: "matern", Gamma: 0.2, Nu: 1.3},
	{Name: "matern", Gamma: 0.2, Nu: 1.5},
	{Name: "matern", Gamma: 0.2, Nu: 2.5},
	{Name: "matern", Gamma: 0.2, Nu: 3.5},
}

// Sums of 13 products in another order differ by some 10⁻¹⁵ of their size; at angles near 0 an
// error in the cosine becomes its root in the angle, and matern is as steep at 0.
func TestAgainstMatchesSingleValues(t *testing.T) {
	for _, k := range append(againstKernels, histogramKernels...) {
		rows := rows
		if k.Lowest() > -2 {
			rows = histograms
		}
		x, y := rows("x", 30, 13, 0.5), rows("y", 45, 13, 0.5)
		copy(y.Row(3), x.Row(5))
		clear(y.Row(4))
		for _, xs := range both(x) {
			for _, ys := range both(y) {
				a, err := NewAgainst(k, ys)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]float64, 30*45)
				a.Rows(xs, 0, 30, got, slices.Repeat([]float64{math.NaN()}, 30*a.Work()))
				for i := range 30 {
					for j := range 45 {
						want := k.Eval(x.Row(i), y.Row(j))
						if math.Abs(got[i*45+j]-want) > 1e-13*(1+math.Abs(want)) && !(i == 5 && j == 3 && math.Abs(got[i*45+j]-want) < 1e-7*(1+want)) {
							t.Errorf("%s: (%d, %d) is %v, want %v", k, i, j, got[i*45+j], want)
						}
					}
					alone := make([]float64, 45)
					a.Rows(xs, i, i+1, alone, make([]float64, a.Work()))
					if !slices.Equal(alone, got[i*45:][:45]) {
						t.Errorf("%s: row %d alone has other values", k, i)
					}
				}
			}
		}
	}
}

func TestAgainstAllocatesNothing(t *testing.T) {
	x, y := histograms("x", 3, 13, 0.5), histograms("y", 45, 13, 0.5)
	for _, k := range histogramKernels {
		for _, xs := range both(x) {
			a, err := NewAgainst(k, matrix.Rows{Dense: y})
			if err != nil {
				t.Fatal(err)
			}
			dst, work := make([]float64, 3*45), make([]float64, 3*a.Work())
			if n := testing.AllocsPerRun(5, func() { a.Rows(xs, 0, 3, dst, work) }); n != 0 {
				t.Errorf("%s, sparse %t: %g allocations", k, xs.CSR != nil, n)
			}
		}
	}
}

func TestAgainstRefuses(t *testing.T) {
	if _, err := NewAgainst(Kernel{Name: "rbf"}, matrix.Rows{Dense: matrix.NewDense(1, 1)}); err == nil {
		t.Error("a kernel without gamma went through")
	}
}

// Values of another γ come from the same sums or dot products, bit by bit, but for cauchy, whose sums depend on γ.
func TestAgainstWithGamma(t *testing.T) {
	x, y := matrix.NewDense(7, 33), matrix.NewDense(5, 33)
	random := rand.New(rand.NewPCG(5, 6))
	for _, m := range []*matrix.Dense{x, y} {
		for i := range m.Data {
			m.Data[i] = float32(random.NormFloat64())
		}
	}
	for _, name := range []string{"rbf", "matern", "laplacian", "cauchy"} {
		narrow := Kernel{Name: name, Gamma: 0.3}.WithDefaults()
		wide := narrow
		wide.Gamma = 0.02
		a, err := NewAgainst(narrow, matrix.Rows{Dense: y})
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.WithGamma(wide)
		if (err != nil) != (name == "cauchy") {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		direct, err := NewAgainst(wide, matrix.Rows{Dense: y})
		if err != nil {
			t.Fatal(err)
		}
		got, want, norms, work := make([]float64, 35), make([]float64, 35), make([]float64, 7), make([]float64, 7*a.Work())
		a.Raw(matrix.Rows{Dense: x}, 0, 7, got, norms, work)
		b.Finish(norms, got)
		direct.Rows(matrix.Rows{Dense: x}, 0, 7, want, work)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v by sums of another γ, %v", name, got, want)
		}
	}
}
