package hypothesis

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// distorted are distortions of López-Sánchez et al. (2018), of two data sets.
var distorted = Table{
	Methods: []string{"explicit", "P-RP 1", "P-RP 30", "KG-RP"},
	Scores: [][]float64{
		{0.177, 0.386, 0.188, 0.438}, {0.122, 0.277, 0.132, 0.431}, {0.103, 0.239, 0.109, 0.430}, {0.090, 0.239, 0.091, 0.424},
		{0.174, 0.361, 0.181, 0.344}, {0.123, 0.245, 0.132, 0.349}, {0.102, 0.215, 0.107, 0.348}, {0.089, 0.179, 0.092, 0.335},
	},
}

func comparison(t *testing.T, table Table, opt CompareOptions) *Comparison {
	t.Helper()
	c, err := Compare(table, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompareAllPairs(t *testing.T) {
	c := comparison(t, distorted, CompareOptions{Lower: true})
	// The rank sums are 8, 25, 16 and 31: Σ(R - 20)² = 306, χ² = 12·306/(8·4·5) = 22.95.
	if math.Abs(c.Friedman.ChiSquare-22.95) > 1e-9 || c.Friedman.DF != 3 {
		t.Errorf("χ² = %g of %d", c.Friedman.ChiSquare, c.Friedman.DF)
	}
	var order []string
	for _, m := range c.Methods {
		order = append(order, m.Method)
	}
	if want := []string{"explicit", "P-RP 30", "P-RP 1", "KG-RP"}; !slices.Equal(order, want) {
		t.Errorf("the methods in order: %q", order)
	}
	if m := c.Methods[0]; m.MeanRank != 1 || math.Abs(m.MeanScore-0.1225) > 1e-12 {
		t.Errorf("the best is %+v", m)
	}
	// q₀.₀₅ of 4 is 2.569 (Demšar 2006, table 5): 2.569·√(4·5/48) = 1.658.
	if math.Abs(c.CriticalDifference-1.658) > 1e-3 || c.Alpha != 0.05 {
		t.Errorf("critical difference %g at %g", c.CriticalDifference, c.Alpha)
	}
	if len(c.Comparisons) != 6 || c.Two != nil {
		t.Errorf("%d pairs of 4 methods, and of two alone %v", len(c.Comparisons), c.Two)
	}
	for _, p := range c.Comparisons {
		if p.Nemenyi == nil || p.Shaffer == nil || p.Dunn != nil || p.Hochberg != nil || !(p.P <= *p.Shaffer && *p.Shaffer <= p.Holm) {
			t.Errorf("%s and %s: %+v", p.A, p.B, p)
		}
	}
	// Mean ranks 1, 2, 3.125 and 3.875: neighbours are nearer than 1.658, and all others further apart.
	want := [][]string{{"explicit", "P-RP 30"}, {"P-RP 30", "P-RP 1"}, {"P-RP 1", "KG-RP"}}
	if !slices.EqualFunc(c.Groups, want, slices.Equal) {
		t.Errorf("groups %q", c.Groups)
	}
}

func TestCompareOfHigherIsThatOfLowerTurned(t *testing.T) {
	lower, higher := comparison(t, distorted, CompareOptions{Lower: true}), comparison(t, distorted, CompareOptions{})
	if lower.Better != "lower" || higher.Better != "higher" {
		t.Errorf("better is %s, and %s", lower.Better, higher.Better)
	}
	for i, a := range lower.Methods {
		if b := higher.Methods[len(higher.Methods)-1-i]; a.Method != b.Method || a.MeanRank+b.MeanRank != 5 {
			t.Errorf("%v from the best by lower, %v from the worst by higher", a, b)
		}
	}
}

func TestCompareWithAControl(t *testing.T) {
	c := comparison(t, distorted, CompareOptions{Lower: true, Control: "P-RP 30"})
	if c.Control != "P-RP 30" || c.Groups != nil || len(c.Comparisons) != 3 {
		t.Errorf("control %q, groups %v, %d comparisons", c.Control, c.Groups, len(c.Comparisons))
	}
	if all := comparison(t, distorted, CompareOptions{Lower: true}); !(c.CriticalDifference < all.CriticalDifference) {
		t.Errorf("three comparisons need %g, six %g", c.CriticalDifference, all.CriticalDifference)
	}
	for _, p := range c.Comparisons {
		if p.A != "P-RP 30" || p.Nemenyi != nil || !(p.P <= *p.Hochberg && *p.Hochberg <= p.Holm && p.Holm <= *p.Dunn) {
			t.Errorf("%+v", p)
		}
	}
}

// Four differences of one sign and a tie: p of the sign test is 2/2⁴.
func TestCompareTwoMethods(t *testing.T) {
	two := Table{Methods: []string{"a", "b"}, Scores: [][]float64{{3, 1}, {4, 1.5}, {5, 2}, {9, 1}, {7, 7}}}
	for _, lower := range []bool{false, true} {
		c := comparison(t, two, CompareOptions{Lower: lower})
		if first := map[bool]string{false: "a", true: "b"}[lower]; c.Methods[0].Method != first {
			t.Errorf("lower %t: the better is %s", lower, c.Methods[0].Method)
		}
		if two := c.Two; two == nil || two.Wins != 4 || two.Losses != 0 || two.Ties != 1 || math.Abs(two.Sign-0.125) > 1e-12 {
			t.Errorf("lower %t: %+v", lower, two)
		}
		if p := c.Comparisons[0].Wilcoxon; p != c.Comparisons[0].WilcoxonHolm || p <= 0.05 || p >= 0.3 {
			t.Errorf("Wilcoxon p = %g", p)
		}
	}
}

func TestCompareErrors(t *testing.T) {
	for want, c := range map[string]struct {
		table Table
		opt   CompareOptions
	}{
		`the control "svm" is no method`: {distorted, CompareOptions{Control: "svm"}},
		"alpha is 5":                     {distorted, CompareOptions{Alpha: 5}},
		"alpha is NaN":                   {distorted, CompareOptions{Alpha: math.NaN()}},
		"names of methods":               {Table{[]string{"a"}, distorted.Scores}, CompareOptions{}},
		"no scores":                      {Table{}, CompareOptions{}},
	} {
		if out, err := Compare(c.table, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want %q", out, err, want)
		}
	}
}
