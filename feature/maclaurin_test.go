package feature

import (
	"math"
	"testing"

	"mercer/kernel"
)

// N falls, and each part of its law has one: of 64 features 32 have N = 0, 16 have 1, 8 have 2.
func TestDegreesComeOneFromEachPartOfTheirLaw(t *testing.T) {
	list, err := terms(Config{Kernel: kernel.Kernel{Name: "exp", Gamma: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(100) {
		_, n := degrees(seed, list, 64)
		counts := make([]int, mostTerms+1)
		for f, v := range n {
			counts[v]++
			if f > 0 && v > n[f-1] {
				t.Fatalf("feature %d has N = %d after %d", f, v, n[f-1])
			}
		}
		for v, want := range []int{32, 16, 8, 4, 2, 1} {
			if counts[v] != want {
				t.Errorf("seed %d: %d features have N = %d, want %d", seed, counts[v], v, want)
			}
		}
	}
}

// The part that holds all the large N is drawn by its law.
func TestLastDegreeFollowsItsLaw(t *testing.T) {
	list, err := terms(Config{Kernel: kernel.Kernel{Name: "exp", Gamma: 1}})
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 4000
	counts := make([]float64, mostTerms+1)
	for seed := range uint64(seeds) {
		coefficients, n := degrees(seed, list, 4)
		counts[n[0]]++
		a := 1.0
		for i := range n[0] {
			a /= float64(i + 1)
		}
		if want := math.Sqrt(a * math.Ldexp(1, n[0]+1) / 4); math.Abs(coefficients[0]-want) > 1e-12*want {
			t.Fatalf("N = %d: coefficient %g, want %g", n[0], coefficients[0], want)
		}
	}
	// The last quarter: N = 2 with ½, 3 with ¼, …
	for v := 2; v < 8; v++ {
		p := math.Ldexp(1, 1-v)
		if se := math.Sqrt(seeds * p * (1 - p)); math.Abs(counts[v]-seeds*p) > 4*se {
			t.Errorf("N = %d came %g times, want %g ± %.1f", v, counts[v], seeds*p, se)
		}
	}
}

// What complex signs gain grows with the degree, on rows whose products agree in sign: there
// c > 0.
func TestMaclaurinVariancesCompared(t *testing.T) {
	x := someDigits(t, 40)
	of := func(c mapCase) float64 {
		c.proof = 256
		return gramVariance(x, func(x, y []float32) float64 { return maclaurinVariance(c, x, y) })
	}
	last := 1.0
	for degree := 1; degree <= 5; degree++ {
		plain := mapCase{Config: Config{Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: degree}}}
		isComplex := plain
		isComplex.Complex = true
		ratio := of(isComplex) / of(plain)
		t.Logf("degree %d: the variance of complex is %.3f times that of real", degree, ratio)
		if degree == 1 && math.Abs(ratio-1) > 1e-9 || degree > 1 && ratio > 0.95*last {
			t.Errorf("degree %d: the variance of complex is %.3f times that of real, after %.3f", degree, ratio, last)
		}
		last = ratio
	}
	// (t+1)² as the monomial of rows with one more coordinate, or as powers of t, where 1 has
	// no variance: that is better for short rows, and worse for long ones.
	monomial := mapCase{Config: Config{Kernel: kernel.Kernel{Name: "poly", Gamma: 0.1, Degree: 2, Coef0: 1}}}
	powers := mapCase{Config: Config{Kernel: kernel.Kernel{Name: "exp", Gamma: 0.1}, Options: Options{Series: []float64{1, 2, 1}}}}
	for _, c := range []struct{ gamma, least, most float64 }{{0.1, 0, 0.4}, {1, 0.5, 2}, {10, 3, 10}} {
		monomial.Kernel.Gamma, powers.Kernel.Gamma = c.gamma, c.gamma
		ratio := of(powers) / of(monomial)
		t.Logf("γ‖x‖² = %g: the variance of powers is %.3f times that of the monomial", c.gamma, ratio)
		if ratio < c.least || ratio > c.most {
			t.Errorf("γ‖x‖² = %g: the variance of powers is %.3f times that of the monomial, want %g to %g", c.gamma, ratio, c.least, c.most)
		}
	}
}
