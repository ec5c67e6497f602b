package feature

import (
	"math"
	"slices"
	"testing"

	"mercer/matrix"
)

// The features are the formula, computed in float64 from the map's own pool: at any degree, with
// indices of 16 bits or not.
func TestPolynomialProjectionIsTheFormula(t *testing.T) {
	dense, _ := someRows(20, 9)
	for _, cfg := range []Config{
		{Map: "pk-rp", Kernel: poly(0.5, 1, 0.3), Options: Options{T: 3}},
		{Map: "pk-rp", Kernel: poly(0.5, 2, 0.3), Options: Options{T: 3, Sparsity: 2}},
		{Map: "pk-rp", Kernel: poly(0.5, 2, 0.3), Options: Options{T: 2, Pool: 1<<16 + 1}},
		{Map: "pk-rp", Kernel: poly(0.5, 3, 0), Options: Options{T: 3, Reuse: "random"}},
		{Map: "pk-rp", Kernel: poly(0.5, 7, 0.1)},
	} {
		cfg.Features = 50
		m, err := New(cfg, 9)
		if err != nil {
			t.Fatal(err)
		}
		f := m.(*pkrp)
		p := cfg.Kernel.Degree
		index := f.index
		for _, l := range f.short {
			index = append(index, int32(l))
		}
		pool := f.pool.matrixOf()
		z := transform(f, dense)
		for i := range z.Rows {
			for c, got := range z.Row(i) {
				want, size := 0.0, 0.0
				for at := c; at < len(index); at += 50 * p {
					product, bound := 1.0, 1.0
					for j := range p {
						l := int(index[at+50*j])
						k, s := 0.0, 0.0
						for a, v := range dense.Dense.Row(i) {
							k += float64(v) * pool[a*f.pool.m+l]
							s += math.Abs(float64(v) * pool[a*f.pool.m+l])
						}
						if f.pool.shift != nil {
							k += float64(f.pool.shift[l])
							s += math.Abs(float64(f.pool.shift[l]))
						}
						product *= k
						bound *= s
					}
					want += float64(f.scale) * product
					size += float64(f.scale) * bound
				}
				// 10 roundings of each projection, and a few of products and sums.
				if math.Abs(float64(got)-want) > float64(p)*20*6e-8*size {
					t.Fatalf("%+v: feature %d of row %d is %g, want %g", cfg, c, i, got, want)
				}
			}
		}
	}
}

// With signs in four dimensions: products of normal numbers have such long tails that the
// variance of thousands of them is too low as a rule.
func TestVarianceOfASmallPool(t *testing.T) {
	n := 8000
	if testing.Short() {
		n = 1000
	}
	rows, _ := someRows(12, 4)
	x := rows.Dense.Slice(2, 5)
	for _, cfg := range []Config{
		{Map: "pk-rp", Kernel: poly(0.7, 2, 0.3), Options: Options{Pool: 9, Reuse: "random", Sparsity: 1}},
		{Map: "pk-rp", Kernel: poly(1, 3, 0), Options: Options{Pool: 7, Reuse: "random", Sparsity: 1}},
	} {
		cfg.Features = proofFeatures
		z := matrix.NewDense(3, proofFeatures)
		var estimate [3][]float64
		for seed := range n {
			cfg.Seed = uint64(seed)
			m, err := New(cfg, 4)
			if err != nil {
				t.Fatal(err)
			}
			m.Transform(z, matrix.Rows{Dense: x})
			for i := range 3 {
				estimate[i] = append(estimate[i], dot(z.Row(0), z.Row(i)))
			}
		}
		for i, sample := range estimate {
			_, m2, m4 := moments(sample, cfg.Kernel.Eval(x.Row(0), x.Row(i)))
			want := pkrpReuseVariance(cfg, x.Row(0), x.Row(i))
			if se := math.Sqrt((m4 - m2*m2) / float64(n)); math.Abs(m2-want) > 4*se {
				t.Errorf("%+v: rows 0 and %d: variance %g, want %g ± %.2g", cfg, i, m2, want, se)
			}
		}
	}
}

// The logarithm of a root mean square over n seeds has variance (m4/m2² - 1)/(4n); the line
// through its values at D = 32 … 512 has slope -½ within four standard errors, as the pool
// grows with D.
func TestProjectionErrorsFallWithRootOfD(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of maps are drawn")
	}
	x := pairs(8).Slice(0, 3)
	for _, cfg := range []Config{
		{Map: "rp", Kernel: linear},
		{Map: "rp", Kernel: linear, Options: Options{Sparsity: 3}},
		{Map: "d2pk-rp", Kernel: poly(1, 2, 0.5)},
		{Map: "pk-rp", Kernel: poly(1, 2, 0.5)},
		{Map: "pk-rp", Kernel: poly(1, 2, 0.5), Options: Options{Sparsity: 2}},
		{Map: "pk-rp", Kernel: poly(1, 3, 0.5), Options: Options{T: 3}},
	} {
		want := cfg.Kernel.Eval(x.Row(0), x.Row(2))
		const n = 150
		var slope, sxx, noise float64
		for e := 5; e <= 9; e++ {
			cfg.Features = 1 << e
			var sample []float64
			z := matrix.NewDense(3, cfg.Features)
			for seed := range n {
				cfg.Seed = uint64(seed)
				m, err := New(cfg, 8)
				if err != nil {
					t.Fatal(err)
				}
				m.Transform(z, matrix.Rows{Dense: x})
				sample = append(sample, dot(z.Row(0), z.Row(2)))
			}
			_, m2, m4 := moments(sample, want)
			dx := (float64(e) - 7) * math.Ln2
			slope += dx * math.Log(m2) / 2
			sxx += dx * dx
			noise += dx * dx * (m4/(m2*m2) - 1) / (4 * n)
		}
		if se := math.Sqrt(noise) / sxx; math.Abs(slope/sxx+0.5) > 4*se || se > 0.1 {
			t.Errorf("%+v: the error falls like D^%.3f ± %.3f", cfg, slope/sxx, se)
		}
	}
}

// Rows go through the pool and the products side by side, in tens and hundreds: the bits are
// those of a row alone, whether the pool is a matrix or lists.
func TestPoolsOfManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const d, n = 600, 470
	dense, sparse := someRows(n, d)
	for _, cfg := range []Config{
		{Kernel: poly(0.5, 2, 0.3), Features: 33, Options: Options{Pool: 500, Sparsity: 30}},
		{Kernel: poly(0.5, 3, 0), Features: 50, Options: Options{Pool: 500, Sparsity: 30, T: 2}},
		{Kernel: poly(0.5, 2, 0.3), Features: 70, Options: Options{Pool: 90, T: 2}},
		{Kernel: poly(0.5, 4, 0), Features: 9, Options: Options{Pool: 40}},
		{Kernel: poly(0.5, 2, 0.3), Features: 40, Options: Options{Pool: 2000}},
	} {
		cfg.Map = "pk-rp"
		m, err := New(cfg, d)
		if err != nil {
			t.Fatal(err)
		}
		if listed := m.(*pkrp).pool.table != nil; listed != (cfg.Sparsity != 0) {
			t.Fatalf("%+v: lists: %t", cfg, listed)
		}
		for _, x := range []matrix.Rows{dense, sparse} {
			want := matrix.NewDense(n, cfg.Features)
			for i := range n {
				copy(want.Row(i), transform(m, x.Slice(i, i+1)).Row(0))
			}
			for _, step := range []int{9, 16, 17, 64, 225, n} {
				for i := 0; i < n; i += step {
					j := min(i+step, n)
					if got := transform(m, x.Slice(i, j)); !slices.Equal(got.Data, want.Data[i*cfg.Features:j*cfg.Features]) {
						t.Fatalf("%+v, sparse %t: rows [%d, %d) have other features than alone", cfg, x.CSR != nil, i, j)
					}
				}
			}
		}
	}
}
