package random

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestLogExpTanAgreeWithMath(t *testing.T) {
	r := New(1, "elementary")
	ulps := func(got, want float64) float64 {
		return math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
	}
	for range 100_000 {
		u := r.UniformOpen()
		for _, x := range []float64{u, 1 - u*0x1p-20, 1 + u*0x1p-20, 1 / u, u * 0x1p-60, u * 0x1p900} {
			if got, want := log(x), math.Log(x); ulps(got, want) > 4 {
				t.Fatalf("log(%g) = %g, want %g", x, got, want)
			}
		}
		for _, x := range []float64{u, -u, 100 * u, -699 * u} {
			if got, want := exp(x), math.Exp(x); ulps(got, want) > 3 {
				t.Fatalf("exp(%g) = %g, want %g", x, got, want)
			}
		}
		if got, want := tan(u/4), math.Tan(math.Pi*(u/4)); ulps(got, want) > 4 {
			t.Fatalf("tan(π·%g) = %g, want %g", u/4, got, want)
		}
	}
	if log(1) != 0 || exp(0) != 1 {
		t.Errorf("log 1 = %g, exp 0 = %g", log(1), exp(0))
	}
}

// The quantile inverts Φ(x) = ½ erfc(-x/√2), found by bisection, to the accuracy that AS 241
// promises, far into the tail, so that all three of its ranges are covered.
func TestNormalQuantileInvertsErfc(t *testing.T) {
	check := func(p float64) {
		lo, hi := -40.0, 0.0
		for range 200 {
			mid := (lo + hi) / 2
			if math.Erfc(-mid/math.Sqrt2)/2 < p {
				lo = mid
			} else {
				hi = mid
			}
		}
		if got := NormalQuantile(p); math.Abs(got-lo) > 4e-15*math.Abs(lo) {
			t.Errorf("the quantile of %g is %.17g, want %.17g", p, got, lo)
		}
	}
	for i := 1; i < 500; i++ {
		check(float64(i) / 1024)
	}
	for e := 2; e <= 1000; e++ {
		check(math.Ldexp(1, -e))
		check(math.Ldexp(1.37, -e-1))
	}
	if NormalQuantile(0.5) != 0 {
		t.Error("the median is not 0")
	}
	for _, p := range []float64{0.25, 0x1p-10, 0x1p-30, 0x1p-53} {
		if NormalQuantile(p) != -NormalQuantile(1-p) {
			t.Errorf("the quantiles of %g and of 1 minus it are not opposite", p)
		}
	}
}

// ks is √n times the largest distance between a sample's distribution function and cdf.
// It exceeds 2.2 with probability 1.3·10⁻⁴.
func ks(sample []float64, cdf func(float64) float64) float64 {
	slices.Sort(sample)
	n := float64(len(sample))
	worst := 0.0
	for i, x := range sample {
		p := cdf(x)
		worst = max(worst, p-float64(i)/n, float64(i+1)/n-p)
	}
	return worst * math.Sqrt(n)
}

func TestSamplersFollowTheirLaws(t *testing.T) {
	cases := []struct {
		name string
		draw func(r *Stream) float64
		cdf  func(float64) float64
	}{
		{"uniform", (*Stream).Uniform, distuv.UnitUniform.CDF},
		{"uniform open", (*Stream).UniformOpen, distuv.UnitUniform.CDF},
		{"normal", (*Stream).Normal, distuv.UnitNormal.CDF},
		{"exponential", (*Stream).Exponential, distuv.Exponential{Rate: 1}.CDF},
		{"gamma 0.1", gamma(0.1), distuv.Gamma{Alpha: 0.1, Beta: 1}.CDF},
		{"gamma 0.7", gamma(0.7), distuv.Gamma{Alpha: 0.7, Beta: 1}.CDF},
		{"gamma 1", gamma(1), distuv.Gamma{Alpha: 1, Beta: 1}.CDF},
		{"gamma 3.3", gamma(3.3), distuv.Gamma{Alpha: 3.3, Beta: 1}.CDF},
		{"gamma 400", gamma(400), distuv.Gamma{Alpha: 400, Beta: 1}.CDF},
		{"chi squared 5", func(r *Stream) float64 { return r.ChiSquared(5) }, distuv.ChiSquared{K: 5}.CDF},
		{"chi 1", func(r *Stream) float64 { return r.Chi(1) }, func(x float64) float64 { return math.Erf(x / math.Sqrt2) }},
		{"chi 784", func(r *Stream) float64 { return r.Chi(784) }, func(x float64) float64 { return distuv.ChiSquared{K: 784}.CDF(x * x) }},
		{"cauchy", (*Stream).Cauchy, func(x float64) float64 { return 0.5 + math.Atan(x)/math.Pi }},
		{"laplace", (*Stream).Laplace, distuv.Laplace{Scale: 1}.CDF},
		{"sech", (*Stream).Sech, func(x float64) float64 { return 2 / math.Pi * math.Atan(math.Exp(math.Pi*x)) }},
		{"student 3", func(r *Stream) float64 { return r.StudentT(3) }, distuv.StudentsT{Sigma: 1, Nu: 3}.CDF},
	}
	for _, c := range cases {
		r := New(1, c.name)
		sample := make([]float64, 40_000)
		for i := range sample {
			sample[i] = c.draw(r)
		}
		if d := ks(sample, c.cdf); !(d < 2.2) {
			t.Errorf("%s: √n·D = %g", c.name, d)
		}
	}
}

func gamma(shape float64) func(*Stream) float64 {
	return func(r *Stream) float64 { return r.Gamma(shape) }
}

// The mean of x_i·x_{i+1} over n pairs has deviation 1/√n.
func TestNormalsAreUncorrelated(t *testing.T) {
	r := New(2, "serial")
	const n = 100_000
	sum, across := 0.0, 0.0
	last := r.Normal()
	for i := range uint64(n) {
		x := r.Normal()
		sum += last * x
		across += x * New(2, "serial", i).Normal()
		last = x
	}
	for _, mean := range []float64{sum / n, across / n} {
		if math.Abs(mean) > 4/math.Sqrt(n) {
			t.Errorf("correlation %g", mean)
		}
	}
}

func TestFillNormalIsNormal(t *testing.T) {
	one, filled := New(1, "fill"), make([]float32, 100)
	New(1, "fill").FillNormal(filled)
	for i, f := range filled {
		if want := float32(one.Normal()); f != want {
			t.Fatalf("number %d is %g, want %g", i, f, want)
		}
	}
}

func TestGammaPanicsOnImpossibleShape(t *testing.T) {
	for _, shape := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Gamma(%g) gave a number", shape)
				}
			}()
			New(1, "gamma").Gamma(shape)
		}()
	}
}

func BenchmarkFillNormal(b *testing.B) {
	r := New(1, "bench")
	dst := make([]float32, 1000)
	for range b.N {
		r.FillNormal(dst)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/number")
}

func BenchmarkChi(b *testing.B) {
	r := New(1, "bench")
	for range b.N {
		sink = r.Chi(784)
	}
}
