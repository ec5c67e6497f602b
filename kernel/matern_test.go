package kernel

import (
	"math"
	"testing"
)

// For half-integer ν the integrals must give the closed forms.
func TestMaternIntegralsMatchClosedForms(t *testing.T) {
	for n := range closedForms {
		nu := float64(n) + 0.5
		for _, x := range []float64{1e-12, 1e-6, 1e-3, 0.03, 0.4, 0.6, 1.1, 7, 60, 500} {
			want := matern(nu, x)
			if got := math.Exp(-maternLog(nu, x)); relative(got, want) > 1e-13*(1+math.Abs(math.Log(want))) {
				t.Errorf("ν = %g, x = %g: k = %g, want %g", nu, x, got, want)
			}
			if got := maternGap(nu, x); math.Abs(got-(1-want)) > 2e-15 {
				t.Errorf("ν = %g, x = %g: 1-k = %g, want %g", nu, x, got, 1-want)
			}
		}
	}
	// ν = 1/2 is the exponential of the distance itself.
	k := Kernel{Name: "matern", Nu: 0.5, Gamma: 0.125}
	if got, want := k.Eval([]float32{0, 3}, []float32{4, 0}), math.Exp(-2.5); relative(got, want) > 1e-15 {
		t.Errorf("k = %g, want %g", got, want)
	}
}

// matern - rbf is x(x-2)e^-x/(2ν) to first order in 1/ν, whose next term is below 1.5/ν²: E
// exp(-x/w) over a Gamma variable w of mean 1 and variance 1/ν.
func TestMaternTendsToRBF(t *testing.T) {
	for _, nu := range []float64{10, 31.5, 60, 100} {
		worst := 0.0
		for x := 0.01; x < 30; x *= 1.1 {
			difference := matern(nu, x) - math.Exp(-x)
			worst = max(worst, math.Abs(difference))
			if e := math.Abs(difference - x*(x-2)*math.Exp(-x)/(2*nu)); e > 1.5/(nu*nu) {
				t.Errorf("ν = %g, x = %g: matern - rbf = %g, off by %g", nu, x, difference, e)
			}
		}
		if worst > 0.27/nu {
			t.Errorf("ν = %g: matern and rbf differ by %g/ν", nu, worst*nu)
		}
	}
}

// The table's -log k is as good as the integral, from the smallest x to where k is 0.
func TestMaternTable(t *testing.T) {
	for _, nu := range []float64{minNu, 0.3, 1, 1.2, 4.6, 17, maxNu} {
		table := newMaternTable(nu)
		worst := 0.0
		for x := 1.7e-12; ; x *= 3.937 {
			s := []float64{x}
			table.log(s)
			want := maternLog(nu, x)
			if want > 800 {
				break
			}
			worst = max(worst, relative(s[0], want))
		}
		if worst > 5e-14 {
			t.Errorf("ν = %g: relative error %.2g", nu, worst)
		}
		ends := []float64{0, 5e-324, 1e-310, 1e-300, 1e300, math.Inf(1), math.NaN()}
		got := append([]float64{}, ends...)
		table.log(got)
		for i, x := range ends {
			want := maternLog(nu, x)
			if x == 0 {
				want = 0
			}
			if relative(got[i], want) > 3e-13 || math.IsNaN(got[i]) != math.IsNaN(want) {
				t.Errorf("ν = %g, x = %g: %g, want %g", nu, x, got[i], want)
			}
		}
	}
	if first, second := newMaternTable(3.3), newMaternTable(3.3); first != second {
		t.Error("a table is computed twice")
	}
}

// Exponents of every size, and arguments so small that the sum for small ν is long.
func TestMaternOfExtremeArguments(t *testing.T) {
	for _, nu := range []float64{minNu, 0.3, 0.5, 1, 1.5, 3, maxNu} {
		last := 1.0
		for x := 5e-324; x < 1e300; x *= 1e4 {
			k, gap := matern(nu, x), maternGap(nu, x)
			if !(k >= 0 && k <= last*(1+1e-15)) || !(gap >= 0 && math.Abs(1-k-gap) < 1e-14) {
				t.Errorf("ν = %g, x = %g: k = %g, 1-k = %g; before %g", nu, x, k, gap, last)
			}
			last = k
		}
		if last != 0 {
			t.Errorf("ν = %g: k = %g far away", nu, last)
		}
		if matern(nu, 0) != 1 || maternGap(nu, 0) != 0 {
			t.Errorf("ν = %g: k(0) is %g", nu, matern(nu, 0))
		}
	}
}
