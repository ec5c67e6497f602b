package feature

import (
	"math"
	"slices"
	"testing"

	"mercer/kernel"
)

// sketchCases has the maps of dot-product kernels, those for polynomials at degrees 1 to 3.
func sketchCases() []mapCase {
	return slices.DeleteFunc(allSketches(), furtherPolynomial)
}

// otherSketchCases has those for further polynomials, which differ in mean and variance alone.
func otherSketchCases() []mapCase {
	return slices.DeleteFunc(allSketches(), func(c mapCase) bool { return !furtherPolynomial(c) })
}

func furtherPolynomial(c mapCase) bool {
	k := c.Kernel
	return k.Name == "poly" && c.Series == nil && k != polynomial(1, 0) && k != polynomial(2, 1) && (k != polynomial(3, 0) || c.Map == "explicit-poly")
}

func allSketches() []mapCase {
	var cases []mapCase
	add := func(c mapCase, variance func(c mapCase, x, y []float32) float64) {
		if variance != nil {
			own := c
			c.variance = func(x, y []float32) float64 { return variance(own, x, y) }
		}
		cases = append(cases, c)
	}
	for _, hash := range []string{"", "balanced"} {
		cfg := Config{Map: "countsketch", Kernel: kernel.Kernel{Name: "linear"}, Options: Options{Hash: hash}}
		for _, features := range []int{5, 20} { // fewer and more than dimensions
			add(mapCase{Config: cfg, proof: features}, sketchVariance)
		}
	}
	for degree := 1; degree <= 4; degree++ {
		for _, coef0 := range []float64{0, 1} {
			k := polynomial(degree, coef0)
			for _, hash := range []string{"", "balanced"} {
				cfg := Config{Map: "tensorsketch", Kernel: k, Options: Options{Hash: hash}}
				features := []int{16, 15, 256, 256}[degree-1]
				add(mapCase{Config: cfg, proof: features}, sketchVariance)
			}
			for _, isComplex := range []bool{false, true} {
				cfg := Config{Map: "tensorsrht", Kernel: k, Options: Options{Complex: isComplex}}
				// Rows of 3 dimensions have n = 4: 4 features a block, 16 a group.
				add(mapCase{Config: cfg, dim: 3, proof: 46}, srhtVariance)
				cfg.Map = "maclaurin"
				add(mapCase{Config: cfg, proof: []int{16, 32, 128, 256}[degree-1]}, maclaurinVariance)
			}
			cfg := Config{Map: "explicit-poly", Kernel: k}
			add(mapCase{Config: cfg, drawsNothing: true}, func(mapCase, []float32, []float32) float64 { return 0 })
		}
	}
	for _, isComplex := range []bool{false, true} {
		exp := Config{Map: "maclaurin", Kernel: kernel.Kernel{Name: "exp", Gamma: 0.7}, Options: Options{Complex: isComplex}}
		add(mapCase{Config: exp, proof: 256}, maclaurinVariance)
		series := Config{Map: "maclaurin", Kernel: polynomial(3, 0), Options: Options{Complex: isComplex, Series: []float64{0, 2, 0, 1}}}
		want := func(x, y []float32) float64 {
			t := 0.7 * dot(x, y)
			return 2*t + t*t*t
		}
		add(mapCase{Config: series, proof: 256, want: want}, maclaurinVariance)
	}
	return cases
}

func polynomial(degree int, coef0 float64) kernel.Kernel {
	return kernel.Kernel{Name: "poly", Gamma: 0.7, Degree: degree, Coef0: coef0}
}

// moments4 returns the three parts of the second moment of products of sketches of x̃ and ỹ: a sum
// over four indices that are equal in pairs, in one of three ways.
func moments4(k kernel.Kernel, x, y []float32) (a, b, c float64) {
	gamma := k.Gamma
	if k.Name == "linear" {
		gamma = 1
	}
	xy, xx, yy, both := gamma*dot(x, y), gamma*norm2(x), gamma*norm2(y), 0.0
	for i, v := range x {
		p := gamma * float64(v) * float64(y[i])
		both += p * p
	}
	if k.Name == "poly" {
		xy, xx, yy, both = xy+k.Coef0, xx+k.Coef0, yy+k.Coef0, both+k.Coef0*k.Coef0
	}
	return xy * xy, xx*yy - both, xy*xy - both
}

func pow(x float64, n int) float64 { return math.Pow(x, float64(n)) }

// collisions is the probability that two of d coordinates have the same of n buckets.
func collisions(hash string, n, d int) float64 {
	if hash != "balanced" {
		return 1 / float64(n)
	}
	q, r := d/n, d%n
	return float64(r*(q+1)*q+(n-r)*q*(q-1)) / float64(d*(d-1))
}

// sketchVariance is that of count and tensor sketches.
func sketchVariance(m mapCase, x, y []float32) float64 {
	a, b, c := moments4(m.Kernel, x, y)
	width, p := len(x), 1
	if m.Kernel.Name == "poly" {
		p = m.Kernel.Degree
		if m.Kernel.Coef0 > 0 {
			width++
		}
	}
	n := float64(m.proof)
	rho := collisions(m.Hash, m.proof, width)
	if p == 1 {
		return rho * (b + c)
	}
	lambda := (n*rho - 1) / (n - 1)
	g := 2 - math.Mod(n, 2)
	return (g*pow(a+b+c, p)+(n-g)*(pow(a+b+lambda*c, p)+pow(a+lambda*b+c, p))+(n*n-2*n+g)*pow(a+lambda*(b+c), p))/(n*n) - pow(a, p)
}

// srhtVariance counts how often features have the same places.
func srhtVariance(m mapCase, x, y []float32) float64 {
	m.Features = m.proof
	made, err := New(m.Config, len(x))
	if err != nil {
		panic(err)
	}
	t := made.(*tensorSRHT)
	a, b, c := moments4(m.Kernel, x, y)
	second := func(v float64) float64 { // of the mean of the features' products
		sum := 0.0
		for i := range t.m {
			for j := range t.m {
				if i/(t.n*t.n) != j/(t.n*t.n) {
					sum += pow(a, t.degree)
					continue
				}
				term := 1.0
				for k := range t.degree {
					if t.places[k*t.m+i] == t.places[k*t.m+j] {
						term *= a + v
					} else {
						term *= a - v/float64(t.n-1)
					}
				}
				sum += term
			}
		}
		return sum / float64(t.m*t.m)
	}
	if t.complex {
		return (second(b)+second(c))/2 - pow(a, t.degree)
	}
	return second(b+c) - pow(a, t.degree)
}

// maclaurinVariance goes through the parts of the law of N.
func maclaurinVariance(m mapCase, x, y []float32) float64 {
	list, err := terms(m.Config)
	if err != nil {
		panic(err)
	}
	p := powerLaw(list)
	if m.Series != nil {
		m.Kernel.Coef0 = 0
	}
	a, b, c := moments4(m.Kernel, x, y)
	t := m.Kernel.Gamma * dot(x, y)
	if m.Kernel.Name == "poly" {
		t += m.Kernel.Coef0
	}
	features := m.proof
	if m.Complex {
		features /= 2
	}
	sum := 0.0
	for j := range features {
		lo, hi := float64(j)/float64(features), float64(j+1)/float64(features)
		mean, second, below := 0.0, 0.0, 0.0
		for i, term := range list {
			q := max(0, min(hi, below+p[i])-max(lo, below)) * float64(features)
			below += p[i]
			moment := pow(a+b+c, term.n)
			if m.Complex {
				moment = (pow(a+b, term.n) + pow(a+c, term.n)) / 2
			}
			weight := term.a / p[i]
			mean += q * weight * pow(t, term.n)
			second += q * weight * weight * moment
		}
		sum += second - mean*mean
	}
	return sum / float64(features*features)
}

var _ = testing.Short
