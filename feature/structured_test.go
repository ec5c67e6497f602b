package feature

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"mercer/kernel"
	"mercer/matrix"
)

func drawStructured(t testing.TB, cfg Config, d int) *structured {
	t.Helper()
	m, err := New(cfg, d)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*structured)
}

// hadamard replaces x by H·x, by the definition.
func hadamard(x []float64) {
	y := make([]float64, len(x))
	for i := range y {
		for j, v := range x {
			if bits.OnesCount(uint(i&j))%2 == 1 {
				v = -v
			}
			y[i] += v
		}
	}
	copy(x, y)
}

func times(x []float64, diagonal []float32) {
	for i, v := range diagonal {
		x[i] *= float64(v)
	}
}

// project returns V·x by the formulas of the papers.
func (f *structured) project(x []float32) []float64 {
	var all []float64
	for _, p := range f.stacks {
		for b := 0; b < p.size; b += f.n {
			y := make([]float64, f.n)
			for i, v := range x {
				y[i] = float64(v)
			}
			end := b + f.n
			switch h := p.blocks.(type) {
			case *chains:
				for i := range 3 {
					times(y, h.d[i*h.size+b:i*h.size+end])
					hadamard(y)
				}
				times(y, h.s[b:end])
			case *shuffles:
				times(y, h.b[b:end])
				hadamard(y)
				permuted := make([]float64, f.n)
				for i, from := range h.p[b:end] {
					permuted[i] = y[from]
				}
				y = permuted
				times(y, h.g[b:end])
				hadamard(y)
				times(y, h.s[b:end])
			}
			all = append(all, y...)
		}
	}
	return all[:f.m]
}

// frequencies are the ω_j, the columns of V found one by one.
func (f *structured) frequencies() [][]float64 {
	w := make([][]float64, f.m)
	for j := range w {
		w[j] = make([]float64, f.n)
	}
	dim := f.dim
	f.dim = f.n
	defer func() { f.dim = dim }()
	for i := range f.n {
		unit := make([]float32, f.n)
		unit[i] = 1
		for j, v := range f.project(unit) {
			w[j][i] = v
		}
	}
	return w
}

func TestStructuredFeaturesAreTheFormula(t *testing.T) {
	for _, cfg := range append(slices.Clone(structuredMaps), arccosMaps()...) {
		if cfg.Map != "sorf" && cfg.Map != "fastfood" {
			continue
		}
		for _, shape := range [][2]int{{1, 6}, {2, 30}, {5, 64}, {16, 512}, {20, 500}, {33, 34}, {300, 1100}} { // d, D
			if shape[0] == 300 && (cfg.Form == "phase" || testing.Short()) {
				continue // the slow definition once
			}
			cfg.Features, cfg.Seed = shape[1], 3
			f := drawStructured(t, cfg, shape[0])
			dense, sparse := someRows(6, shape[0])
			// The sums that are rounded are about as large as a projection on ω_j ever is.
			projections, largest := make([][]float64, 6), make([]float64, f.m)
			for i := range projections {
				projections[i] = f.project(dense.Dense.Row(i))
				for j, v := range projections[i] {
					largest[j] = max(largest[j], math.Abs(v))
				}
			}
			scale := math.Sqrt(2 / float64(shape[1]))
			for _, x := range []matrix.Rows{dense, sparse} {
				z := transform(f, x)
				for i := range z.Rows {
					for j, v := range projections[i] {
						bound := scale * (2e-6*largest[j] + 2e-7)
						got, want := float64(z.Row(i)[j]), 0.0
						switch f.form {
						case "pair":
							want = scale * math.Cos(v)
							if sin := float64(z.Row(i)[f.m+j]); math.Abs(sin-scale*math.Sin(v)) > bound {
								t.Fatalf("%v, d=%d: sine %d of row %d is %g, want %g ± %g", cfg, shape[0], j, i, sin, scale*math.Sin(v), bound)
							}
						case "phase":
							want = scale * math.Cos(v+float64(f.phases[j]))
							bound += scale * 8e-7 // b ≤ 2π is rounded, and the sum with it
						case "step":
							if math.Abs(v) < 2e-6*largest[j]+1e-9 {
								continue // rounding decides, or a zero row, of which TestStepsAndRamps
							}
							want = scale * max(0, math.Copysign(1, v))
						case "ramp":
							want = scale * max(0, v)
						}
						if math.Abs(got-want) > bound {
							t.Fatalf("%v, d=%d, sparse %t: feature %d of row %d is %g, want %g ± %g", cfg, shape[0], x.CSR != nil, j, i, got, want, bound)
						}
					}
				}
			}
		}
	}
}

func TestStepsAndRamps(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	minusNaN := math.Float32frombits(math.Float32bits(nan) | 1<<31)
	tiny := math.Float32frombits(1)
	x := []float32{3, -3, 0, float32(math.Copysign(0, -1)), inf, -inf, tiny, -tiny, nan, minusNaN}
	for i, want := range []float32{2, 0, 1, 1, 2, 0, 2, 0, nan, nan} {
		got := []float32{x[i]}
		steps(got, 2)
		if got[0] != want && !(got[0] != got[0] && want != want) {
			t.Errorf("2Θ(%g) = %g, want %g", x[i], got[0], want)
		}
	}
	for i, want := range []float32{6, 0, 0, 0, inf, 0, 2 * tiny, 0, nan, nan} {
		got := []float32{x[i]}
		ramps(got, 2)
		if got[0] != want && !(got[0] != got[0] && want != want) {
			t.Errorf("2max(0, %g) = %g, want %g", x[i], got[0], want)
		}
	}
}

// Both maps have rows whose lengths follow the law: squared and over 2γ they are χ²_n.
func TestStructuredLengthsFollowTheirLaw(t *testing.T) {
	for _, name := range []string{"sorf", "fastfood"} {
		for _, d := range []int{1, 2, 7, 16} {
			f := drawStructured(t, Config{Map: name, Kernel: rbf, Features: 6000}, d)
			var squares []float64
			for _, w := range f.frequencies() {
				squares = append(squares, product(w, w)/(2*rbf.Gamma))
			}
			if k := ks(squares, (distuv.ChiSquared{K: float64(f.n)}).CDF); !(k < 2.2) {
				t.Errorf("%s, d=%d: √n·D = %g", name, d, k)
			}
		}
	}
	f := drawStructured(t, Config{Map: "sorf", Kernel: rbf, Features: 60, Options: Options{Radius: "fixed"}}, 13)
	for j, w := range f.frequencies() {
		if l := math.Sqrt(product(w, w) / (2 * rbf.Gamma)); math.Abs(l-4) > 1e-6 {
			t.Errorf("frequency %d of fixed radius has length %g, want √16", j, l)
		}
	}
}

func TestSORFIsOrthogonalWithinBlocks(t *testing.T) {
	for _, d := range []int{2, 8, 64} {
		f := drawStructured(t, Config{Map: "sorf", Kernel: rbf, Features: 2 * 3 * d}, d)
		w := f.frequencies()
		for i := range w {
			for j := range i {
				cos := product(w[i], w[j]) / math.Sqrt(product(w[i], w[i])*product(w[j], w[j]))
				if i/d == j/d && math.Abs(cos) > 1e-12 {
					t.Errorf("d=%d: frequencies %d and %d have cosine %g", d, i, j, cos)
				}
			}
		}
	}
}

// Each frequency of fastfood alone has the kernel's law: one of each block is taken.
func TestFastfoodCoordinatesAreNormal(t *testing.T) {
	const d, blocks = 4, 2000
	f := drawStructured(t, Config{Map: "fastfood", Kernel: rbf, Features: 2 * d * blocks}, d)
	w := f.frequencies()
	for i := range d {
		for row := range d {
			var sample []float64
			for b := range blocks {
				sample = append(sample, w[b*d+row][i])
			}
			if k := ks(sample, distuv.Normal{Sigma: math.Sqrt(2 * rbf.Gamma)}.CDF); !(k < 2.2) {
				t.Errorf("coordinate %d of row %d: √n·D = %g", i, row, k)
			}
		}
	}
}

// directions calls f with the direction of each row of H·D_3·H·D_2·H·D_1/n^(3/2) for all signs.
func allDirections(n int, f func(u []float64)) {
	u := make([]float64, n)
	for signs := range 1 << (3 * n) {
		for row := range n {
			// The row's transpose: D_1·H·D_2·H·D_3·H·e_row.
			clear(u)
			u[row] = 1
			for k := 2; k >= 0; k-- {
				hadamard(u)
				for j := range u {
					if signs>>(k*n+j)&1 == 1 {
						u[j] = -u[j]
					}
				}
			}
			for j := range u {
				u[j] /= math.Pow(float64(n), 1.5)
			}
			f(u)
		}
	}
}

// cosChi returns E cos(a·χ_n) = e^(-a²/2)·₁F₁((1-n)/2; ½; a²/2), Kummer's function.
func cosChi(a float64, n int) float64 {
	z := a * a / 2
	sum, term := 0.0, 1.0
	for k := 0.0; math.Abs(term) > 1e-17 || k < 5; k++ {
		sum += term
		term *= (float64(1-n)/2 + k) / ((0.5 + k) * (k + 1)) * z
	}
	return math.Exp(-z) * sum
}

// sorfMean returns the exact mean of sorf's estimate, for rows x and y of n = 2 or 4 dimensions.
func sorfMean(k kernel.Kernel, radius string, x, y []float32) float64 {
	n, sum, count := len(x), 0.0, 0.0
	allDirections(n, func(u []float64) {
		p := 0.0
		for j, v := range u {
			p += v * float64(x[j]-y[j])
		}
		p *= math.Sqrt(2 * k.Gamma)
		if radius == "fixed" {
			sum += math.Cos(math.Sqrt(float64(n)) * p)
		} else {
			sum += cosChi(p, n)
		}
		count++
	})
	return sum / count
}

// mean returns the mean of z(x)·z(y) over maps of the seeds 1 … n, and its standard error.
func mean(t *testing.T, cfg Config, x *matrix.Dense, n int) (mean, se float64) {
	sample := estimates(t, cfg, x, n)[0]
	mean, _, _ = moments(sample, 0)
	_, m2, _ := moments(sample, mean)
	return mean, math.Sqrt(m2 / float64(n-1))
}

// apart returns a zero row and one that differs from it by distance along the first axes.
func apart(d, axes int, distance float64) *matrix.Dense {
	x := matrix.NewDense(2, d)
	for j := range axes {
		x.Row(1)[j] = float32(distance / math.Sqrt(float64(axes)))
	}
	return x
}

// The bias of sorf, whose directions are not uniform: in 2 and 4 dimensions it is what all
// signs give, in 16 small, in 32 gone; with lengths of √n it is larger and falls like 1/n only.
func TestSORFBias(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many seeds")
	}
	const seeds = 24
	for _, c := range []struct {
		d, axes int
		radius  string
		bias    float64 // at ‖x-y‖ = 2σ; documented
		within  float64
	}{
		{2, 1, "", -0.2115, 0.0001},
		{4, 1, "", -0.1389, 0.0001},
		{16, 1, "", -0.0055, 0.001},
		{16, 16, "", 0, 0.001},
		{32, 1, "", 0, 0.001},
		{64, 1, "", 0, 0.001},
		{16, 16, "fixed", -0.036, 0.001},
		{64, 64, "fixed", -0.0085, 0.001},
		{256, 256, "fixed", -0.002, 0.001},
	} {
		cfg := Config{Map: "sorf", Kernel: rbf, Features: 1 << 16, Options: Options{Radius: c.radius}}
		x := apart(c.d, c.axes, 2)
		got, se := mean(t, cfg, x, seeds)
		want := rbf.Eval(x.Row(0), x.Row(1))
		if c.d <= 4 {
			exact := sorfMean(rbf, c.radius, x.Row(0), x.Row(1))
			if math.Abs(got-exact) > 4*se {
				t.Errorf("d=%d: mean %.5f, but over all signs %.5f ± %.5f", c.d, got, exact, se)
			}
			got, se = exact, 0
		}
		if b := got - want; math.Abs(b-c.bias) > 4*se+c.within {
			t.Errorf("d=%d, %d axes, radius %q: bias %.5f ± %.5f, want %.5f", c.d, c.axes, c.radius, b, se, c.bias)
		}
	}
	// In one dimension there is nothing to be uneven.
	if got, se := mean(t, Config{Map: "sorf", Kernel: rbf, Features: 1 << 14}, apart(1, 1, 2), seeds); math.Abs(got-math.Exp(-2)) > 4*se {
		t.Errorf("d=1: mean %.5f ± %.5f", got, se)
	}
}

// E u_j⁴ = 3/n² - 6/n³ + 4/n⁴ for the directions of sorf, and E u_j²u_k² is the same for all
// j ≠ k, since Σu_j² = 1.
func TestSORFDirectionsHaveTheirFourthMoments(t *testing.T) {
	fourth := func(n float64) float64 { return 3/(n*n) - 6/(n*n*n) + 4/(n*n*n*n) }
	for _, n := range []int{2, 4} {
		sums, count := make([]float64, n), 0.0
		allDirections(n, func(u []float64) {
			for j := range u {
				sums[j] += math.Pow(u[0]*u[j], 2)
			}
			count++
		})
		f := fourth(float64(n))
		for j, s := range sums {
			want := f
			if j > 0 {
				want = (1/float64(n) - f) / float64(n-1)
			}
			if math.Abs(s/count-want) > 1e-12 {
				t.Errorf("n=%d: E u_0²u_%d² = %g, want %g", n, j, s/count, want)
			}
		}
	}
	const n = 16
	var sample []float64 // one for each block, which are independent
	f := drawStructured(t, Config{Map: "sorf", Kernel: rbf, Features: 2 * n * 4000}, n)
	w := f.frequencies()
	for b := 0; b < len(w); b += n {
		sum := 0.0
		for _, u := range w[b : b+n] {
			sum += math.Pow(u[0]*u[0]/product(u, u), 2) / n
		}
		sample = append(sample, sum)
	}
	m, m2, _ := moments(sample, fourth(n))
	if se := math.Sqrt(m2 / float64(len(sample))); math.Abs(m-fourth(n)) > 4*se || se > 0.01*fourth(n) {
		t.Errorf("E u_j⁴ = %g ± %g, want %g", m, se, fourth(n))
	}
}

// The maps take memory by the frequency, not by the frequency and dimension.
func TestStructuredMapsAreSmall(t *testing.T) {
	for _, name := range []string{"sorf", "fastfood"} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		m := drawStructured(t, Config{Map: name, Kernel: rbf, Features: 1 << 17}, 1<<14)
		runtime.GC()
		runtime.ReadMemStats(&after)
		held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		if m.Bytes() != 16<<16 || held > m.Bytes()*5/4 {
			t.Errorf("%s says that it holds %d bytes, and holds %d", name, m.Bytes(), held)
		}
		runtime.KeepAlive(m)
	}
}

// Frequencies beyond those wanted are no features, and those wanted do not depend on them.
func TestMoreStructuredFeaturesBeginWithTheSame(t *testing.T) {
	dense, _ := someRows(10, 20)
	for _, name := range []string{"sorf", "fastfood"} {
		cfg := Config{Map: name, Kernel: rbf, Features: 100, Options: Options{Form: "phase"}}
		few := transform(drawStructured(t, cfg, 20), dense)
		cfg.Features = 3001
		many := transform(drawStructured(t, cfg, 20), dense)
		for i := range few.Rows {
			for j, v := range few.Row(i) {
				if w := many.Row(i)[j] * float32(math.Sqrt(3001.0/100)); math.Abs(float64(v-w)) > 1e-7 {
					t.Fatalf("%s: feature %d of row %d is %g, of more %g", name, j, i, v, w)
				}
			}
		}
	}
}

// The maps are frozen: FNV-1a of their factors, recorded on amd64, which must never be edited.
func TestStructuredMapsAreFrozen(t *testing.T) {
	recorded := map[string]uint64{
		"sorf rbf":                0x10fd54824c899ef4,
		"sorf matern":             0xdd68f8e6db83447a,
		"sorf fixed":              0x4c67e329602f540f,
		"sorf arccos":             0x2af510310cba02af,
		"sorf coupled":            0x191b2ffd33c5a674,
		"sorf matern coupled 128": 0xde7922a532eb961e,
		"fastfood rbf":            0x5fb8e6eee418f240,
		"fastfood matern":         0x3080dfdcb0a4c5d3,
	}
	for _, c := range []struct {
		name string
		cfg  Config
	}{
		{"sorf rbf", Config{Map: "sorf", Kernel: rbf}},
		{"sorf matern", Config{Map: "sorf", Kernel: matern(1.5)}},
		{"sorf fixed", Config{Map: "sorf", Kernel: matern(1.5), Options: Options{Radius: "fixed"}}},
		{"sorf arccos", Config{Map: "sorf", Kernel: arccos(1)}},
		{"sorf coupled", Config{Map: "sorf", Kernel: rbf, Options: Options{Radius: "coupled"}}},
		{"sorf matern coupled 128", Config{Map: "sorf", Kernel: matern(1.5), Options: Options{Radius: "coupled", Order: 128}}},
		{"fastfood rbf", Config{Map: "fastfood", Kernel: rbf}},
		{"fastfood matern", Config{Map: "fastfood", Kernel: matern(1.5)}},
	} {
		c.cfg.Features, c.cfg.Seed = 6000, 1
		h := fnv.New64a()
		for _, p := range drawStructured(t, c.cfg, 33).stacks {
			var numbers []any
			switch b := p.blocks.(type) {
			case *chains:
				numbers = []any{b.d, b.s}
			case *shuffles:
				numbers = []any{b.b, b.p, b.g, b.s}
			}
			for _, n := range numbers {
				if err := binary.Write(h, binary.LittleEndian, n); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := h.Sum64(); got != recorded[c.name] {
			t.Errorf("%q: %#x,", c.name, got)
		}
	}
}

// On images, orthogonal and structured frequencies need an eighth of the features of independent ones
// with phases, which is what scikit-learn's RBFSampler draws: σ at the median distance.
func TestFewOrthogonalFeaturesAreAsGoodAsManyIndependent(t *testing.T) {
	if testing.Short() {
		return // it takes seconds
	}
	x := someDigits(t, 150)
	gamma, err := kernel.MedianGamma(matrix.Rows{Dense: x}, 1, "rbf")
	if err != nil {
		t.Fatal(err)
	}
	k := kernel.Kernel{Name: "rbf", Gamma: gamma / 2} // 1/(2σ²)
	phase := gramError(t, mapCase{Config: Config{Map: "rff", Kernel: k, Options: Options{Form: "phase"}}, proof: 1024}, x)
	for _, name := range []string{"orf", "sorf"} {
		e := gramError(t, mapCase{Config: Config{Map: name, Kernel: k}, proof: 128}, x)
		if testing.Verbose() {
			t.Logf("%s with 128 features %.4f, rff in the phase form with 1024 %.4f", name, e, phase)
		}
		if e > phase {
			t.Errorf("%s has an error of %.4f with 128 features, rff in the phase form %.4f with 1024", name, e, phase)
		}
	}
}

// Outputs that do not fit the caches are written past them: with the same bits, also of a view
// and where the last block is cut.
func TestFeaturesPastTheCachesAreTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const d = 20
	for _, c := range []struct {
		name            string
		features, first int
	}{{"sorf", 4096, 0}, {"sorf", 5006, 3}, {"fastfood", 4100, 1}} {
		n := mostCached/4/c.features + 37
		dense, sparse := someRows(n, d)
		f, err := New(Config{Map: c.name, Kernel: rbf, Features: c.features, Seed: 1}, d)
		if err != nil {
			t.Fatal(err)
		}
		z := matrix.NewDense(n, c.first+c.features).Columns(c.first, c.first+c.features)
		if !f.(*structured).streams(z) {
			t.Fatalf("%d rows of %d features are not streamed", n, c.features)
		}
		for _, x := range []matrix.Rows{dense, sparse} {
			f.Transform(z, x)
			for i := 0; i < n; i += 300 {
				j := min(i+300, n)
				few := transform(f, x.Slice(i, j))
				for r := i; r < j; r++ {
					if !slices.Equal(z.Row(r), few.Row(r-i)) {
						t.Fatalf("%s, %d features, sparse %t: row %d has others among many", c.name, c.features, x.CSR != nil, r)
					}
				}
			}
		}
	}
}
