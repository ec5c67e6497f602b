package approx

import (
	"context"
	"math"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

var rbf = kernel.Kernel{Name: "rbf", Gamma: 0.1}

func poly(degree int) kernel.Kernel { return kernel.Kernel{Name: "poly", Gamma: 1, Degree: degree} }

func normal(n, d int, seed uint64) matrix.Rows {
	x := matrix.NewDense(n, d)
	random.New(seed, "approx.test").FillNormal(x.Data)
	return matrix.Rows{Dense: x}
}

// measure measures one map on x at some D.
func measure(t *testing.T, x matrix.Rows, cfg feature.Config, opt Options, dims ...int) *Curve {
	t.Helper()
	r, err := Measure(context.Background(), Rows{Judge: x, Fit: x}, []Candidate{{cfg, dims}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return &r.Curves[0]
}

func TestCompareIsEquations42And43(t *testing.T) {
	// Errors 0.1, -0.2, 0.3, 0.5, 0: the third is 150 % of its k, the fourth has k = 0.
	exact := []float64{1, -0.5, 0.2, 0, 2}
	e := Compare(exact, []float64{1.1, -0.7, 0.5, 0.5, 2})
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-15 {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	near("mean abs", e.MeanAbs, 1.1/5)
	near("max abs", e.MaxAbs, 0.5)
	near("mean signed", e.MeanSigned, 0.7/5)
	near("mean rel", *e.MeanRel, (0.1+0.4+0)/3)
	if math.Abs(*e.MaxRel-1.5) > 1e-12 {
		t.Errorf("max rel is %g", *e.MaxRel)
	}
	near("within", e.Within, 3.0/5)

	if e := Compare([]float64{0, 0}, []float64{0, 1}); e.MeanRel != nil || e.MaxRel != nil || e.Within != 0 {
		t.Errorf("relative errors of k = 0: %+v", e)
	}
	if e := Compare([]float64{1e-310}, []float64{1}); e.MeanRel != nil || e.MaxRel != nil {
		t.Errorf("a relative error beyond float64: %+v", e)
	}
}

// Features of a kernel's whole feature space have no error by any measure: the identity for the
// linear kernel, all monomials, chains and sums of these.
func TestPerfectMapsHaveNoErrors(t *testing.T) {
	x := normal(40, 4, 1)
	for i, v := range x.Dense.Data { // k far from 0, or relative errors are those of rounding
		x.Dense.Data[i] = float32(math.Abs(float64(v))) + 0.1
	}
	explicit := func(degree int) feature.Config {
		return feature.Config{Map: "explicit-poly", Kernel: poly(degree)}
	}
	shifted := explicit(3)
	shifted.Kernel.Coef0, shifted.Kernel.Gamma = 0.5, 0.3
	for _, cfg := range []feature.Config{
		explicit(1), explicit(2), shifted,
		{Map: "chain", Steps: []feature.Config{explicit(2), shifted}},
		{Map: "chain", Steps: []feature.Config{explicit(1), explicit(2)}},
		{Map: "sum", Steps: []feature.Config{explicit(1), explicit(2)}, Weights: []float64{2, 0.5}},
	} {
		c := measure(t, x, cfg, Options{Seeds: 2})
		p := c.Points[0]
		scale := 0.0
		g, err := gramOf(cfg, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			scale = max(scale, g[i*40+i])
		}
		for name, v := range map[string]float64{
			"mean abs": p.MeanAbs.Mean / scale, "max abs": p.MaxAbs.Mean / scale, "mean rel": p.MeanRel.Mean, "signed": p.MeanSigned.Mean / scale,
			"rms": p.RMS / scale, "Frobenius": p.RelFrobenius.Mean, "distortion": p.Distortion.Mean,
			"delta1": p.Delta1.Mean, "delta2": p.Delta2.Mean,
			"dimension": p.Dimension.Mean/c.Exact.Dimension - 1,
		} {
			if !(math.Abs(v) < 1e-4) {
				t.Errorf("%s: %s is %g", c.Map, name, v)
			}
		}
		if p.Within.Mean != 1 {
			t.Errorf("%s: %g of the pairs are within 100 %%", c.Map, p.Within.Mean)
		}
	}
}

// The errors of rff are those of its closed-form variance, [1 + k(2Δ) - 2k(Δ)²]/D.
func TestErrorsAgreeWithTheClosedFormVariance(t *testing.T) {
	const n, dim, seeds = 60, 32, 60
	x := normal(n, 5, 2)
	want, norm2 := 0.0, 0.0 // means over all n² pairs
	for i := range n {
		for j := range n {
			k := rbf.Eval(x.Dense.Row(i), x.Dense.Row(j))
			want += (1 + k*k*k*k - 2*k*k) / dim / (n * n)
			norm2 += k * k / (n * n)
		}
	}
	c := measure(t, x, feature.Config{Map: "rff", Kernel: rbf}, Options{Seeds: seeds}, dim)
	p := c.Points[0]
	mean, square := 0.0, 0.0
	for _, r := range p.runs {
		v := *r.frobenius * *r.frobenius * norm2
		mean += v / seeds
		square += v * v / seeds
	}
	se := math.Sqrt((square - mean*mean) / (seeds - 1))
	if math.Abs(mean-want) > 4*se {
		t.Errorf("mean square error %.5f ± %.5f, want %.5f", mean, se, want)
	}
	if rms := math.Sqrt(mean * n / (n - 1)); math.Abs(p.RMS-rms) > 1e-6 { // the diagonal has no error
		t.Errorf("RMS %.6f, by the Frobenius norm %.6f", p.RMS, rms)
	}
	if math.Abs(p.MeanSigned.Mean) > 4*p.MeanSigned.SD/math.Sqrt(seeds) {
		t.Errorf("mean signed error %.5f ± %.5f of an unbiased map", p.MeanSigned.Mean, p.MeanSigned.SD/math.Sqrt(seeds))
	}
	if d := p.RMS*p.RMS - p.Spread*p.Spread; math.Abs(d) > 4*p.RMS*p.RMS/seeds || p.Bias > p.Spread/4 {
		t.Errorf("RMS %.4f, of which bias %.4f and spread %.4f", p.RMS, p.Bias, p.Spread)
	}
}

func TestScatterTellsBiasFromSpread(t *testing.T) {
	var p Point
	// Two pairs and three seeds: errors 0.3 always, and -1, 0, 1.
	p.scatter([]float64{0.9, 0}, []float64{0.27, 2}, 3)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"rms", p.RMS, math.Sqrt((0.09 + 2.0/3) / 2)},
		{"spread", p.Spread, math.Sqrt(0.5)},
		{"bias", p.Bias, 0}, // (0.09 - 1/3)/2 < 0
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s is %g, want %g", c.name, c.got, c.want)
		}
	}
	p.scatter([]float64{0.9}, []float64{0.27}, 3)
	if math.Abs(p.Bias-0.3) > 1e-12 || p.Spread > 1e-7 {
		t.Errorf("a constant error of 0.3: bias %g, spread %g", p.Bias, p.Spread)
	}
}

// Rows i of x and y are compared one by one, in as many blocks as it takes.
func TestValues(t *testing.T) {
	x, y := normal(300, 3, 3).Dense, normal(300, 3, 4).Dense
	m, err := feature.New(feature.Config{Map: "explicit-poly", Kernel: poly(2)}, 3)
	if err != nil {
		t.Fatal(err)
	}
	exact, estimates := Values(poly(2), m, x, y)
	for i := range 300 {
		want := poly(2).Eval(x.Row(i), y.Row(i))
		if exact[i] != want || math.Abs(estimates[i]-want) > 1e-5*(1+want) {
			t.Fatalf("pair %d: %g and %g, want %g", i, exact[i], estimates[i], want)
		}
	}
}
