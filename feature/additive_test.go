package feature

import (
	"math"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

var chi2 = kernel.Kernel{Name: "chi2"}
var intersection = kernel.Kernel{Name: "intersection"}

// additiveCases has the maps of kernels of histograms.
func additiveCases() []mapCase {
	var cases []mapCase
	for _, k := range []kernel.Kernel{chi2, intersection, {Name: "jensen-shannon"}, {Name: "chi2", Homogeneity: 0.5}} {
		for _, window := range []string{"", "uniform"} {
			cases = append(cases, mapCase{Config: Config{Map: "homogeneous", Kernel: k, Options: Options{Window: window}}})
		}
	}
	period := Options{Terms: 7, Period: 0.5}
	cases = append(cases,
		mapCase{Config: Config{Map: "homogeneous", Kernel: chi2, Options: period}},
		mapCase{Config: Config{Map: "homogeneous", Kernel: kernel.Kernel{Name: "hellinger"}}},
		mapCase{Config: Config{Map: "homogeneous", Kernel: kernel.Kernel{Name: "hellinger", Homogeneity: 2}}})
	for _, name := range []string{"chebyshev", "elementary"} {
		for _, o := range []Options{{}, {Terms: 1}, {Terms: 2, Stretch: 3}} {
			cases = append(cases, mapCase{Config: Config{Map: name, Kernel: chi2, Options: o}})
		}
		cases = append(cases, mapCase{Config: Config{Map: name, Kernel: kernel.Kernel{Name: "chi2", Homogeneity: 1.5}}})
	}
	for _, o := range []Options{{}, {Form: "step"}, {Terms: 3, Stretch: 0.5}} {
		cases = append(cases, mapCase{Config: Config{Map: "unary", Kernel: intersection, Options: o}})
	}
	cases = append(cases, mapCase{Config: Config{Map: "unary", Kernel: kernel.Kernel{Name: "intersection", Homogeneity: 0.7}}})
	for i := range cases {
		cases[i].proof, cases[i].biased, cases[i].drawsNothing = -1, true, true
	}
	for _, name := range []string{"skewed-chi2", "skewed-intersection"} {
		for _, form := range []string{"pair", "phase"} {
			c := mapCase{Config: Config{Map: "skewed", Kernel: kernel.Kernel{Name: name, Coef0: 0.3}, Options: Options{Form: form}}, agree: 1e-3}
			k := c.Kernel
			c.variance = func(x, y []float32) float64 {
				v, double := k.Eval(x, y), doubled(k, x, y)
				if form == "pair" {
					return (1 + double - 2*v*v) / 16
				}
				return (1 + double/2 - v*v) / 16
			}
			cases = append(cases, c)
		}
	}
	for i := range cases {
		cases[i].histograms = true
	}
	return cases
}

// doubled is a skewed kernel at twice the differences of log(x+c).
func doubled(k kernel.Kernel, x, y []float32) float64 {
	product := 1.0
	for j, v := range x {
		delta := math.Log((float64(v) + k.Coef0) / (float64(y[j]) + k.Coef0))
		if k.Name == "skewed-chi2" {
			product /= math.Cosh(delta)
		} else {
			product *= math.Exp(-math.Abs(delta))
		}
	}
	return product
}

// oneByOne maps numbers as rows of one dimension.
func oneByOne(t *testing.T, cfg Config, x []float32) *matrix.Dense {
	t.Helper()
	m, err := New(cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	return transform(m, matrix.Rows{Dense: &matrix.Dense{Rows: len(x), Cols: 1, Stride: 1, Data: x}})
}

// worst is the largest |z(x)·z(y) - k(x, y)|·scale(x, y) of all pairs of numbers.
func worst(z *matrix.Dense, k kernel.Kernel, x []float32, scale func(x, y float64) float64) (most float64) {
	for i, u := range x {
		for j, v := range x {
			e := dot(z.Row(i), z.Row(j)) - k.Eval([]float32{u}, []float32{v})
			most = max(most, math.Abs(e)*scale(float64(u), float64(v)))
		}
	}
	return most
}

func one(x, y float64) float64 { return 1 }

// spread is n numbers from low to high whose logarithms are in even steps.
func spread(low, high float64, n int) (x []float32) {
	for i := range n {
		x = append(x, float32(low*math.Pow(high/low, float64(i)/float64(n-1))))
	}
	return x
}

// The largest errors on [10⁻³, 1] of equation 12 in float64, to the digits given.
func TestChebyshevConvergesAsLi2012Says(t *testing.T) {
	x := spread(1e-3, 1, 200)
	for m, want := range map[int]float64{5: 0.0087, 10: 0.0048, 20: 0.0022} {
		z := oneByOne(t, Config{Map: "chebyshev", Kernel: chi2, Options: Options{Terms: m, Stretch: 1}}, x)
		if got := worst(z, chi2, x, one); math.Abs(got-want) > 0.00006 {
			t.Errorf("%d terms: the largest error is %.5f, want %.4f", m, got, want)
		}
	}
	// Theorem 1: |error| ≤ (C/m)·√(xy). The constants do not grow with m.
	for _, m := range []int{5, 10, 20, 40, 80} {
		z := oneByOne(t, Config{Map: "chebyshev", Kernel: chi2, Options: Options{Terms: m, Stretch: 1}}, x)
		c := worst(z, chi2, x, func(x, y float64) float64 { return float64(m) / math.Sqrt(x*y) })
		if c > 4 {
			t.Errorf("%d terms: C is %.3g", m, c)
		}
	}
}

func TestElementaryConvergesGeometrically(t *testing.T) {
	x := spread(1e-3, 1e3, 100)
	for _, m := range []int{1, 2, 5, 30} {
		z := oneByOne(t, Config{Map: "elementary", Kernel: chi2, Options: Options{Terms: m, Stretch: 1}}, x)
		for i, u := range x {
			for j, v := range x {
				u, v := float64(u), float64(v)
				k := 2 * u * v / (u + v)
				want := k * (1 - math.Pow((u-1)/(u+1)*(v-1)/(v+1), float64(m)))
				if got := dot(z.Row(i), z.Row(j)); math.Abs(got-want) > 4e-6*math.Sqrt(u*v) {
					t.Fatalf("%d terms: k(%g, %g) is %g, want %g", m, u, v, got, want)
				}
			}
		}
	}
	// 20 terms on [½, 2] have nothing left but the rounding of float32.
	x = spread(0.5, 2, 50)
	z := oneByOne(t, Config{Map: "elementary", Kernel: chi2, Options: Options{Terms: 20, Stretch: 1}}, x)
	if got := worst(z, chi2, x, one); got > 5e-7 {
		t.Errorf("20 terms on [0.5, 2]: the largest error is %g", got)
	}
}
