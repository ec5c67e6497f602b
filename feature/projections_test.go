package feature

import (
	"math"
	"strings"
	"testing"

	"mercer/kernel"
)

var linear = kernel.Kernel{Name: "linear"}

func poly(gamma float64, degree int, coef0 float64) kernel.Kernel {
	return kernel.Kernel{Name: "poly", Gamma: gamma, Degree: degree, Coef0: coef0}
}

const proofFeatures = 16

// projectionCases has the random projections.
func projectionCases() []mapCase {
	var cases []mapCase
	for _, o := range []Options{{}, {Entries: "sparse"}, {Sparsity: 1}, {Entries: "sparse", Sparsity: 12}} {
		c := mapCase{Config: Config{Map: "rp", Kernel: linear, Options: o}}
		c.variance = func(x, y []float32) float64 {
			return variance4(lift(linear, x), lift(linear, y), kurtosis(o)) / proofFeatures
		}
		cases = append(cases, c)
	}
	for _, features := range []int{5, proofFeatures} { // fewer and more than dimensions
		c := mapCase{Config: Config{Map: "rp", Kernel: linear, Options: Options{Entries: "orthonormal"}}, proof: features}
		c.variance = func(x, y []float32) float64 {
			n, d, m := float64(features), float64(len(x)), float64(features%len(x))
			xy := dot(x, y)
			return d * m * (d - m) / (n * n * (d - 1) * (d + 2)) * (norm2(x)*norm2(y) + (1-2/d)*xy*xy)
		}
		cases = append(cases, c)
	}
	for _, cfg := range []Config{
		{Map: "explicit-rp", Kernel: poly(0.7, 2, 0)},
		{Map: "explicit-rp", Kernel: poly(1, 1, 0.5), Options: Options{Entries: "sparse"}},
	} {
		c := mapCase{Config: cfg, dim: 6}
		c.variance = func(x, y []float32) float64 {
			a, b := monomials(lift(cfg.Kernel, x), cfg.Kernel.Degree), monomials(lift(cfg.Kernel, y), cfg.Kernel.Degree)
			return variance4(a, b, kurtosis(cfg.Options)) / proofFeatures
		}
		cases = append(cases, c)
	}
	for _, cfg := range []Config{
		{Map: "pk-rp", Kernel: poly(0.7, 2, 0.3), Options: Options{Pool: 2 * 16}},
		{Map: "pk-rp", Kernel: poly(1, 3, 0), Options: Options{Pool: 3 * 2 * 16, T: 2, Entries: "sparse", Sparsity: 2}},
		{Map: "pk-rp", Kernel: poly(1, 1, 0.5), Options: Options{Pool: 3 * 16, T: 3}},
	} {
		c := mapCase{Config: cfg}
		c.variance = func(x, y []float32) float64 { return pkrpVariance(cfg, x, y) }
		cases = append(cases, c)
	}
	// Pools whose vectors are used often.
	cases = append(cases,
		mapCase{Config: Config{Map: "pk-rp", Kernel: poly(0.7, 2, 0.3)}},
		mapCase{Config: Config{Map: "pk-rp", Kernel: poly(1, 2, 0), Options: Options{Pool: 20, T: 3, Reuse: "random"}}},
		mapCase{Config: Config{Map: "pk-rp", Kernel: poly(1, 2, 0), Options: Options{Pool: 7, T: 3, Reuse: "even", Sparsity: 9}}},
		mapCase{Config: Config{Map: "reduced-poly", Kernel: poly(0.7, 2, 0.3)}, drawsNothing: true,
			want:     func(x, y []float32) float64 { return polyOfSparsity(poly(0.7, 2, 0.3), 1, x, y) },
			variance: func(x, y []float32) float64 { return 0 }},
	)
	for _, cfg := range []Config{
		{Map: "d2pk-rp", Kernel: poly(0.7, 2, 0)},
		{Map: "d2pk-rp", Kernel: poly(1, 2, 0.3), Options: Options{T: 4}},
		{Map: "d2pk-rp", Kernel: poly(1, 2, 0.3), Options: Options{Sparsity: 1, T: 2}},
		{Map: "d2pk-rp", Kernel: poly(1, 2, 0), Options: Options{Sparsity: 10, T: 2}},
		{Map: "d2pk-rp", Kernel: poly(1, 2, 0.3), Options: Options{T: 1}},
		{Map: "d2pk-rp", Kernel: poly(1, 2, 0), Options: Options{Sparsity: 1, T: 1}},
	} {
		c := mapCase{Config: cfg}
		c.want = func(x, y []float32) float64 { return d2pkMean(cfg, x, y) }
		c.variance = func(x, y []float32) float64 { return d2pkVariance(cfg, x, y) }
		cases = append(cases, c)
	}
	// Their means are proved for one sample, in kgrp_test.go.
	for _, cfg := range []Config{
		{Map: "kg-rp", Kernel: rbf},
		{Map: "kg-rp", Kernel: poly(1, 2, 0), Options: Options{Pool: 9, T: 3}},
		{Map: "korp", Kernel: kernel.Kernel{Name: "exp", Gamma: 0.05}},
		{Map: "kpca-rp", Kernel: laplacian},
		{Map: "kpca-rp", Kernel: rbf, Options: Options{Pool: 40, Rank: 11}},
	} {
		cases = append(cases, mapCase{Config: cfg, biased: true})
	}
	return cases
}

// kurtosis is the fourth moment of the entries of pk-rp, rp and explicit-rp.
func kurtosis(o Options) float64 {
	switch {
	case o.Sparsity != 0:
		return o.Sparsity
	case o.Entries == "sparse":
		return 3
	}
	return 3
}

// lift returns u = (√γ x, √c) in float64.
func lift(k kernel.Kernel, x []float32) []float64 {
	var u []float64
	for _, v := range x {
		if k.Name == "linear" {
			u = append(u, float64(v))
		} else {
			u = append(u, math.Sqrt(k.Gamma)*float64(v))
		}
	}
	if k.Coef0 > 0 {
		u = append(u, math.Sqrt(k.Coef0))
	}
	return u
}

func dot64(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// squares is Σu_i²v_i².
func squares(u, v []float64) float64 {
	sum := 0.0
	for i, a := range u {
		sum += (a * v[i]) * (a * v[i])
	}
	return sum
}

// moment4 is E[(u·r)²(v·r)²] for independent entries r of mean 0, variance 1 and fourth moment
// κ.
func moment4(u, v []float64, kappa float64) float64 {
	uv := dot64(u, v)
	return dot64(u, u)*dot64(v, v) + 2*uv*uv + (kappa-3)*squares(u, v)
}

// variance4 is the variance of (u·r)(v·r).
func variance4(u, v []float64, kappa float64) float64 {
	uv := dot64(u, v)
	return moment4(u, v, kappa) - uv*uv
}

// monomials are all d^p products of p coordinates, each as often as it comes, as sorted ones
// with their square roots: written to be clear.
func monomials(u []float64, p int) []float64 {
	sum := map[[4]int]float64{}
	var walk func(tuple []int, product float64)
	walk = func(tuple []int, product float64) {
		if len(tuple) == p {
			var key [4]int
			copy(key[:], tuple)
			for i := range p {
				for j := range i {
					if key[j] > key[i] {
						key[i], key[j] = key[j], key[i]
					}
				}
			}
			sum[key] += product * product
			return
		}
		for i, v := range u {
			walk(append(tuple[:len(tuple):len(tuple)], i), product*v)
		}
	}
	walk(nil, 1)
	var phi []float64
	var each func(tuple []int, product float64)
	each = func(tuple []int, product float64) {
		if len(tuple) == p {
			var key [4]int
			copy(key[:], tuple)
			phi = append(phi, math.Copysign(math.Sqrt(sum[key]), product))
			return
		}
		first := 0
		if len(tuple) > 0 {
			first = tuple[len(tuple)-1]
		}
		for i := first; i < len(u); i++ {
			each(append(tuple[:len(tuple):len(tuple)], i), product*u[i])
		}
	}
	each(nil, 1)
	return phi
}

// pkrpVariance is the closed form of pk-rp where no vector is used twice.
func pkrpVariance(cfg Config, x, y []float32) float64 {
	u, v := lift(cfg.Kernel, x), lift(cfg.Kernel, y)
	p, t := float64(cfg.Kernel.Degree), max(1, float64(cfg.T))
	q := math.Pow(moment4(u, v, kurtosis(cfg.Options)), p)
	kk := math.Pow(dot64(u, u)*dot64(v, v), p)
	k2 := math.Pow(dot64(u, v)*dot64(u, v), p)
	return (q/t + (1-1/t)*(kk+2*k2) - k2) / proofFeatures
}

// pkrpReuseVariance is that of outputs which draw their p vectors from a pool of m each on its
// own: given the pool, they are independent with a U-statistic of it as their mean.
func pkrpReuseVariance(cfg Config, x, y []float32) float64 {
	u, v := lift(cfg.Kernel, x), lift(cfg.Kernel, y)
	p, m := cfg.Kernel.Degree, cfg.Pool
	q, uv2 := moment4(u, v, kurtosis(cfg.Options)), dot64(u, v)*dot64(u, v)
	zeta := func(c int) float64 {
		return math.Pow(uv2, float64(p-c)) * (math.Pow(q, float64(c)) - math.Pow(uv2, float64(c)))
	}
	choose := func(n, k int) float64 {
		if k > n {
			return 0
		}
		c := 1.0
		for i := range k {
			c *= float64(n-i) / float64(i+1)
		}
		return c
	}
	statistic := 0.0
	for c := 1; c <= p; c++ {
		statistic += choose(p, c) * choose(m-p, p-c) / choose(m, p) * zeta(c)
	}
	return zeta(p)/proofFeatures + (1-1./proofFeatures)*statistic
}

// polyOfSparsity is what d2pk-rp estimates with an even t.
func polyOfSparsity(k kernel.Kernel, s float64, x, y []float32) float64 {
	u, v := lift(k, x), lift(k, y)
	uv := dot64(u, v)
	return uv*uv + (s-3)/2*squares(u, v)
}

func d2pkMean(cfg Config, x, y []float32) float64 {
	s := kurtosis(cfg.Options)
	mean := polyOfSparsity(cfg.Kernel, s, x, y)
	if cfg.T == 1 {
		u, v := lift(cfg.Kernel, x), lift(cfg.Kernel, y)
		mean += dot64(u, u) * dot64(v, v) / 2
	}
	return mean
}

// signMoments returns E[Xᵃ Yᵇ] for a, b ≤ 4, X = u·ρ and Y = v·ρ with Achlioptas's entries of
// sparsity s: one coordinate after the other by the binomial theorem.
func signMoments(u, v []float64, s float64) [5][5]float64 {
	var binomial [5][5]float64
	for n := range binomial {
		binomial[n][0] = 1
		for k := 1; k <= n; k++ {
			binomial[n][k] = binomial[n-1][k-1] + binomial[n-1][k]
		}
	}
	entry := func(n int) float64 { // E[ρⁿ]
		switch {
		case n == 0:
			return 1
		case n%2 == 1:
			return 0
		}
		return math.Pow(s, float64(n)/2-1)
	}
	m := [5][5]float64{0: {0: 1}}
	for i := range u {
		var next [5][5]float64
		for a := range next {
			for b := range next[a] {
				for k := range a + 1 {
					for l := range b + 1 {
						next[a][b] += binomial[a][k] * binomial[b][l] * m[a-k][b-l] *
							math.Pow(u[i], float64(k)) * math.Pow(v[i], float64(l)) * entry(k+l)
					}
				}
			}
		}
		m = next
	}
	return m
}

func d2pkVariance(cfg Config, x, y []float32) float64 {
	u, v := lift(cfg.Kernel, x), lift(cfg.Kernel, y)
	s, t := kurtosis(cfg.Options), float64(cfg.T)
	if t == 0 {
		t = 2
	}
	m := signMoments(u, v, s)
	if t == 1 {
		return (m[4][4] - m[2][2]*m[2][2]) / (4 * proofFeatures)
	}
	// E[b²b'²] with b = X² - E[X²], b' = Y² - E[Y²].
	ex, ey := m[2][0], m[0][2]
	bb := m[4][4] - 2*ey*m[4][2] + ey*ey*m[4][0] - 2*ex*(m[2][4]-2*ey*m[2][2]+ey*ey*m[2][0]) + ex*ex*(m[0][4]-2*ey*m[0][2]+ey*ey)
	k := polyOfSparsity(cfg.Kernel, s, x, y)
	kk := polyOfSparsity(cfg.Kernel, s, x, x) * polyOfSparsity(cfg.Kernel, s, y, y)
	variance := (bb/(4*t) + (1-1/t)*(kk+2*k*k) - k*k) / proofFeatures
	if variance < 1e-12*m[4][4] {
		return 0 // up to rounding
	}
	return variance
}

// Columns of a block are orthonormal times √(d/D), and of as many as dimensions all dot products are kept.
func TestOrthonormalProjections(t *testing.T) {
	const d = 9
	x, _ := someRows(20, d)
	for _, features := range []int{1, 4, d, 3 * d, 2*d + 4} {
		made, err := New(Config{Map: RP, Kernel: linear, Features: features, Seed: 7, Options: Options{Entries: "orthonormal"}}, d)
		if err != nil {
			t.Fatal(err)
		}
		m := made.(*rp)
		for a := range features {
			for b := a / d * d; b <= a; b++ {
				sum, want := 0.0, 0.0
				for i := range d {
					sum += float64(m.packed.At(i, a)) * float64(m.packed.At(i, b))
				}
				if a == b {
					want = d / float64(features)
				}
				if math.Abs(sum-want) > 1e-5 {
					t.Errorf("D = %d: columns %d and %d have the product %g, want %g", features, a, b, sum, want)
				}
			}
		}
		if features%d != 0 {
			continue
		}
		z := transform(m, x)
		for i := range z.Rows {
			if got, want := dot(z.Row(i), z.Row(0)), dot(x.Dense.Row(i), x.Dense.Row(0)); math.Abs(got-want) > 1e-5 {
				t.Errorf("D = %d, row %d: %g, want %g", features, i, got, want)
			}
		}
	}
	for want, cfg := range map[string]Config{
		"orthonormal entries have no sparsity":         {Map: RP, Kernel: linear, Features: 4, Options: Options{Entries: "orthonormal", Sparsity: 3}},
		"known are normal, sparse, orthonormal":        {Map: RP, Kernel: linear, Features: 4, Options: Options{Entries: "unit"}},
		`"orthonormal" are not entries; known are nor`: {Map: PKRP, Kernel: poly(1, 2, 0), Features: 4, Options: Options{Entries: "orthonormal"}},
	} {
		if _, err := New(cfg, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
}
