package feature

import (
	"math"
	"slices"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

func draw(t testing.TB, cfg Config, d int) *fourier {
	t.Helper()
	m, err := New(cfg, d)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*fourier)
}

// fourierMaps has the maps of waves that hold their frequencies.
var fourierMaps = []Config{
	{Map: "rff", Kernel: rbf, Options: Options{Form: "pair"}},
	{Map: "rff", Kernel: rbf, Options: Options{Form: "phase"}},
	{Map: "orf", Kernel: rbf, Options: Options{Form: "pair"}},
	{Map: "orf", Kernel: rbf, Options: Options{Form: "phase"}},
	{Map: "orf", Kernel: rbf, Options: Options{Form: "pair", Radius: "coupled"}},
	{Map: "orf", Kernel: rbf, Options: Options{Form: "phase", Radius: "coupled"}},
	{Map: "orf", Kernel: matern(0.5), Options: Options{Form: "pair", Radius: "coupled"}},
	{Map: "orf", Kernel: matern(2.5), Options: Options{Form: "phase", Radius: "coupled"}},
	{Map: "rff", Kernel: laplacian, Options: Options{Form: "pair"}},
	{Map: "rff", Kernel: laplacian, Options: Options{Form: "phase"}},
	{Map: "rff", Kernel: cauchy, Options: Options{Form: "pair"}},
	{Map: "rff", Kernel: cauchy, Options: Options{Form: "phase"}},
	{Map: "rff", Kernel: matern(0.7), Options: Options{Form: "pair"}},
	{Map: "rff", Kernel: matern(2.5), Options: Options{Form: "phase"}},
	{Map: "orf", Kernel: matern(2.5), Options: Options{Form: "pair"}},
	{Map: "orf", Kernel: matern(1.5), Options: Options{Form: "phase"}},
	{Map: "qmc", Kernel: rbf, Options: Options{Form: "pair"}},
	{Map: "qmc", Kernel: rbf, Options: Options{Form: "phase"}},
	{Map: "qmc", Kernel: laplacian, Options: Options{Form: "pair"}},
	{Map: "qmc", Kernel: laplacian, Options: Options{Form: "phase"}},
	{Map: "qmc", Kernel: cauchy, Options: Options{Form: "pair"}},
	{Map: "qmc", Kernel: cauchy, Options: Options{Form: "phase"}},
	{Map: "qmc", Kernel: matern(2.2), Options: Options{Form: "pair"}},
	{Map: "qmc", Kernel: matern(2.2), Options: Options{Form: "phase"}},
}

// structuredMaps has those that do not, and otherMaps those of steps and ramps.
var structuredMaps = []Config{
	{Map: "sorf", Kernel: rbf, Options: Options{Form: "pair"}},
	{Map: "sorf", Kernel: rbf, Options: Options{Form: "phase"}},
	{Map: "sorf", Kernel: matern(0.7), Options: Options{Form: "pair", Radius: "chi"}},
	{Map: "sorf", Kernel: matern(2.5), Options: Options{Form: "phase"}},
	{Map: "sorf", Kernel: rbf, Options: Options{Radius: "fixed"}},
	{Map: "sorf", Kernel: rbf, Options: Options{Form: "pair", Radius: "coupled", Order: 32}},
	{Map: "sorf", Kernel: rbf, Options: Options{Form: "phase", Radius: "coupled", Order: 64}},
	{Map: "sorf", Kernel: matern(0.5), Options: Options{Form: "pair", Radius: "coupled", Order: 64}},
	{Map: "sorf", Kernel: matern(2.5), Options: Options{Form: "phase", Radius: "coupled", Order: 256}},
	{Map: "fastfood", Kernel: rbf, Options: Options{Form: "pair"}},
	{Map: "fastfood", Kernel: rbf, Options: Options{Form: "phase"}},
	{Map: "fastfood", Kernel: matern(1.5), Options: Options{Form: "pair"}},
	{Map: "fastfood", Kernel: matern(2.5), Options: Options{Form: "phase"}},
}

func arccosMaps() (maps []Config) {
	for _, name := range []string{"rff", "orf", "sorf", "qmc", "fastfood"} {
		for order := range 2 {
			maps = append(maps, Config{Map: name, Kernel: arccos(order)})
		}
	}
	return maps
}

func fourierCases() []mapCase {
	var cases []mapCase
	for _, cfg := range slices.Concat(fourierMaps, structuredMaps, arccosMaps()) {
		c := mapCase{Config: cfg, biased: cfg.Radius == "fixed"}
		if cfg.Kernel.Name == "laplacian" || cfg.Kernel.Nu > 0 && cfg.Kernel.Nu < 1 {
			c.agree = 1e-3
		}
		if cfg.Map == "sorf" {
			c.dim = 100 // where its bias is below what the proof sees; TestSORFBias looks closer
		}
		if cfg.Map == "rff" {
			c.variance = func(x, y []float32) float64 { cfg.Features = 16; return variance(cfg, x, y) }
		}
		cases = append(cases, c)
	}
	return cases
}

// The distances ‖Δ‖ of the pairs on which estimates are tested: near, middling and far.
var distances = []float64{0.3, 1, 2.5}

// pairs returns a matrix of 1+len(distances) rows: x, and x moved by each of the distances
// in a direction with all coordinates different from 0.
func pairs(d int) *matrix.Dense {
	m := matrix.NewDense(1+len(distances), d)
	norm := 0.0
	for j := range d {
		norm += 1 / float64(1+j)
	}
	for j := range d {
		m.Row(0)[j] = float32(math.Sin(float64(3 * j)))
		for i, r := range distances {
			m.Row(1 + i)[j] = m.Row(0)[j] + float32(r/math.Sqrt(norm*float64(1+j)))
		}
	}
	return m
}

// estimates returns, for each row i ≥ 1 of x, z(x_0)·z(x_i) by maps of the seeds 1 … n.
func estimates(t *testing.T, cfg Config, x *matrix.Dense, n int) [][]float64 {
	t.Helper()
	e := make([][]float64, x.Rows-1)
	z := matrix.NewDense(x.Rows, cfg.Features)
	for seed := range n {
		cfg.Seed = uint64(seed + 1)
		m, err := New(cfg, x.Cols)
		if err != nil {
			t.Fatal(err)
		}
		m.Transform(z, matrix.Rows{Dense: x})
		for i := range e {
			e[i] = append(e[i], dot(z.Row(0), z.Row(i+1)))
		}
	}
	return e
}

func dot(x, y []float32) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}

// moments returns the mean, and the second and fourth moments around centre.
func moments(sample []float64, centre float64) (mean, m2, m4 float64) {
	for _, v := range sample {
		d := v - centre
		mean += v
		m2 += d * d
		m4 += d * d * d * d
	}
	n := float64(len(sample))
	return mean / n, m2 / n, m4 / n
}

func TestFourierFeaturesUnbiased(t *testing.T) {
	n := 2000.0
	if testing.Short() {
		n = 200
	}
	const features = 16
	for _, cfg := range fourierMaps {
		if cfg.Map == "qmc" {
			continue // left to the proof that all maps share
		}
		cfg.Features = features
		for _, d := range []int{5, 20} { // fewer and more dimensions than frequencies
			x := pairs(d)
			for i, sample := range estimates(t, cfg, x, int(n)) {
				want := cfg.Kernel.Eval(x.Row(0), x.Row(i+1))
				mean, m2, _ := moments(sample, want)
				if se := math.Sqrt(m2 / n); math.Abs(mean-want) > 4*se {
					t.Errorf("%v, d=%d, ‖Δ‖=%g: mean %.5f, want %.5f ± %.5f", cfg, d, distances[i], mean, want, se)
				}
			}
		}
	}
}

// variance is that of z(x)·z(y) with independent frequencies.
func variance(cfg Config, x, y []float32) float64 {
	n := float64(cfg.Features)
	k := cfg.Kernel.Eval(x, y)
	xx, yy := norm2(x), norm2(y)
	switch {
	case cfg.Kernel.Name == "arccos" && cfg.Kernel.Degree == 0:
		// A feature of a row is √(2/D) with probability ½, and those of two rows are with
		// probability k/2; of a zero row it is half of √(2/D), always.
		switch {
		case xx == 0 && yy == 0:
			return 0
		case xx == 0 || yy == 0:
			return 1 / (4 * n)
		}
		if k < 1e-7 {
			k = 0 // opposite rows: the rounding of the cosine leaves 10⁻⁸
		}
		return k * (2 - k) / n
	case cfg.Kernel.Name == "arccos":
		// E max(0, ω·x)²·max(0, ω·y)² = ‖x‖²‖y‖²J_2(θ)/(2π) (Cho and Saul 2009).
		if xx == 0 || yy == 0 {
			return 0
		}
		cos := min(1, max(-1, dot(x, y)/math.Sqrt(xx*yy)))
		theta := math.Acos(cos)
		j2 := 3*math.Sin(theta)*cos + (math.Pi-theta)*(1+2*cos*cos)
		return (2/math.Pi*xx*yy*j2 - k*k) / n
	}
	double, zero := make([]float32, len(x)), make([]float32, len(x))
	for i := range x {
		double[i] = 2 * (x[i] - y[i])
	}
	k2 := cfg.Kernel.Eval(double, zero)
	if cfg.Form == "phase" {
		return (1 + k2/2 - k*k) / n
	}
	return (1 + k2 - 2*k*k) / n
}

// The mean of the squared errors has standard error √((m4 - m2²)/n).
func TestFourierFeaturesVariance(t *testing.T) {
	n, d := 4000.0, 7
	if testing.Short() {
		n = 400
	}
	for _, cfg := range fourierMaps {
		if cfg.Map != "rff" {
			continue
		}
		for _, features := range []int{2, 24} {
			cfg.Features = features
			x := pairs(d)
			for i, sample := range estimates(t, cfg, x, int(n)) {
				_, m2, m4 := moments(sample, cfg.Kernel.Eval(x.Row(0), x.Row(i+1)))
				want := variance(cfg, x.Row(0), x.Row(i+1))
				if se := math.Sqrt((m4 - m2*m2) / n); math.Abs(m2-want) > 4*se {
					t.Errorf("%v, D=%d, ‖Δ‖=%g: variance %.5f, want %.5f ± %.5f", cfg, features, distances[i], m2, want, se)
				}
			}
		}
	}
}

// Orthogonal frequencies, also those of sorf, make the estimate between near rows much better,
// and at no distance here worse, than the closed form of independent ones.
func TestOrthogonalFeaturesVaryLess(t *testing.T) {
	const n = 2000
	for _, c := range []struct {
		name string
		k    kernel.Kernel
		d    int
		near float64 // of the variance of independent ones, for the first two distances
	}{
		{"orf", rbf, 8, 0.5}, {"sorf", rbf, 16, 0.5}, {"sorf", rbf, 24, 0.5},
		{"orf", matern(2.5), 8, 0.9}, {"sorf", matern(2.5), 32, 0.9},
		{"orf", arccos(1), 8, 0.9}, {"sorf", arccos(1), 32, 0.9},
		// The signs of a row's projections on orthogonal frequencies are independent: steps
		// gain nothing.
		{"orf", arccos(0), 8, 2}, {"sorf", arccos(0), 32, 2},
	} {
		cfg := Config{Map: c.name, Kernel: c.k, Features: 2 * c.d}
		x := pairs(c.d)
		for i, sample := range estimates(t, cfg, x, n) {
			_, m2, m4 := moments(sample, c.k.Eval(x.Row(0), x.Row(i+1)))
			iid, se := variance(cfg, x.Row(0), x.Row(i+1)), math.Sqrt((m4-m2*m2)/n)
			if i < 2 && m2 > c.near*iid-4*se || m2 > iid+4*se {
				t.Errorf("%v, d=%d, ‖Δ‖=%g: variance %.5f ± %.5f, independent %.5f", cfg, c.d, distances[i], m2, se, iid)
			}
		}
	}
}

// The logarithm of a root mean square over n seeds has variance (m4/m2² - 1)/(4n); the line
// through its values at D = 64, 128, … 4096 has slope -½ within four standard errors. No form
// of any map has a floor below which its error does not fall.
func TestFourierFeaturesErrorFallsWithRootOfD(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	maps := []Config{
		{Map: "rff", Kernel: rbf}, {Map: "rff", Kernel: rbf, Options: Options{Form: "phase"}},
		{Map: "orf", Kernel: rbf}, {Map: "orf", Kernel: rbf, Options: Options{Form: "phase"}},
		{Map: "sorf", Kernel: rbf, Options: Options{Form: "phase"}},
		{Map: "fastfood", Kernel: rbf, Options: Options{Form: "phase"}},
		{Map: "rff", Kernel: arccos(1)},
	}
	const n = 150
	for _, cfg := range maps {
		d := 8
		if cfg.Map == "sorf" {
			d = 32 // with 8 its bias would show at the end
		}
		x := pairs(d).Slice(0, 3)
		want := cfg.Kernel.Eval(x.Row(0), x.Row(2))
		var slope, sxx, noise float64
		for e := 6; e <= 12; e++ {
			cfg.Features = 1 << e
			_, m2, m4 := moments(estimates(t, cfg, x, n)[1], want)
			dx := float64(e-9) * math.Ln2
			slope += dx * math.Log(m2) / 2
			sxx += dx * dx
			noise += dx * dx * (m4/(m2*m2) - 1) / (4 * n)
		}
		if se := math.Sqrt(noise) / sxx; math.Abs(slope/sxx+0.5) > 4*se || se > 0.02 {
			t.Errorf("%v: the error falls like D^%.3f ± %.3f", cfg, slope/sxx, se)
		}
	}
}

// In the pair form each cos² + sin² is 1. What is left is the rounding of √(2/D) and of the
// features to float32, 2·6·10⁻⁸ each.
func TestPairFeaturesHaveUnitLength(t *testing.T) {
	dense, _ := someRows(20, 30)
	for i, v := range dense.Dense.Data {
		dense.Dense.Data[i] = v * float32(math.Pow(10, float64(i%7-3)))
	}
	for _, cfg := range fourierMaps {
		if cfg.Form != "pair" {
			continue
		}
		for _, features := range []int{2, 100, 1000} {
			cfg.Features = features
			z := transform(draw(t, cfg, 30), dense)
			for i := range z.Rows {
				if s := dot(z.Row(i), z.Row(i)); math.Abs(s-1) > 3e-7 {
					t.Errorf("%v, D=%d: z·z = 1 %+.2g", cfg, features, s-1)
				}
			}
		}
	}
}

func TestFourierFeaturesAreTheFormula(t *testing.T) {
	dense, sparse := someRows(30, 40)
	for _, cfg := range fourierMaps {
		cfg.Features = 500
		m := draw(t, cfg, 40)
		for _, x := range []matrix.Rows{dense, sparse} {
			z := transform(m, x)
			for i := range z.Rows {
				_, frequencies := m.w.Dims()
				for j := range frequencies {
					projection, size := 0.0, 0.0
					for k, v := range dense.Dense.Row(i) {
						term := float64(v) * float64(m.w.At(k, j))
						projection += term
						size += math.Abs(term)
					}
					// 40 float32 additions, then cos and its scaling.
					scale := math.Sqrt(2.0 / 500)
					bound := scale * (40*6e-8*size + 2e-7)
					var got, want []float64
					if cfg.Form == "pair" {
						sin, cos := math.Sincos(projection)
						got = []float64{float64(z.Row(i)[j]), float64(z.Row(i)[250+j])}
						want = []float64{scale * cos, scale * sin}
					} else {
						b := float64(m.phases[j])
						bound += scale * 6e-8 * (size + 7)
						got, want = []float64{float64(z.Row(i)[j])}, []float64{scale * math.Cos(projection+b)}
					}
					for p := range got {
						if math.Abs(got[p]-want[p]) > bound {
							t.Fatalf("%v, sparse %t: feature %d of row %d is %g, want %g ± %g",
								cfg, x.CSR != nil, j, i, got[p], want[p], bound)
						}
					}
				}
			}
		}
	}
}

// γ reaches the frequencies as √(2γ) for rbf and as γ for laplacian: at another γ the same
// pair of rows estimates another kernel value.
func TestFourierFeaturesFollowGamma(t *testing.T) {
	x := pairs(6)
	for _, k := range []kernel.Kernel{{Name: "rbf", Gamma: 0.02}, {Name: "rbf", Gamma: 3},
		{Name: "laplacian", Gamma: 0.05}, {Name: "laplacian", Gamma: 2}} {
		cfg := Config{Kernel: k, Features: 1 << 16}
		z := transform(draw(t, cfg, 6), matrix.Rows{Dense: x})
		for i := 1; i < x.Rows; i++ {
			got, want := dot(z.Row(0), z.Row(i)), k.Eval(x.Row(0), x.Row(i))
			if se := math.Sqrt(variance(cfg, x.Row(0), x.Row(i))); math.Abs(got-want) > 4*se+1e-6 {
				t.Errorf("%+v: %g, want %g ± %g", k, got, want, se)
			}
		}
	}
}
