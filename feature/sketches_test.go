package feature

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mercer/internal/app/digits"
	"mercer/kernel"
	"mercer/matrix"
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
	if k.Name != "poly" || c.Series != nil {
		return false
	}
	switch k {
	case polynomial(1, 0):
		return c.Map == "tensorsketch" && c.Hash != "" || c.Map == "explicit-poly"
	case polynomial(2, 1):
		return c.Map == "tensorsketch" && c.Hash == ""
	case polynomial(3, 0):
		return c.Map == "tensorsketch" && c.Hash != "" || c.Map == "explicit-poly"
	}
	return true
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
				// Rows of 3 dimensions have n = 4: 4 features per block, 16 per group.
				c := mapCase{Config: cfg, dim: 3, proof: 46}
				c.variance = srhtVariance(c, 3)
				add(c, nil)
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
	return float64(r*(q+1)*q+(n-r)*q*(q-1)) / float64(d*max(1, d-1))
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
	lambda := (n*rho - 1) / max(1, n-1) // of a single feature any will do
	g := 2 - math.Mod(n, 2)
	return (g*pow(a+b+c, p)+(n-g)*(pow(a+b+lambda*c, p)+pow(a+lambda*b+c, p))+(n*n-2*n+g)*pow(a+lambda*(b+c), p))/(n*n) - pow(a, p)
}

// agreements counts the ordered pairs of features with the same signs that agree in t of p places,
// and all of them.
func (t *tensorSRHT) agreements() (count []int, all int) {
	count = make([]int, t.degree+1)
	for lo := 0; lo < t.m; lo += t.n * t.n {
		hi := min(lo+t.n*t.n, t.m)
		for i := lo; i < hi; i++ {
			for j := lo; j < hi; j++ {
				same := 0
				for k := range t.degree {
					if t.places[k*t.m+i] == t.places[k*t.m+j] {
						same++
					}
				}
				count[same]++
				all++
			}
		}
	}
	return count, all
}

// srhtVariance is that of tensorSRHT for maps of m's kind.
func srhtVariance(m mapCase, dim int) func(x, y []float32) float64 {
	m.Features = m.proof
	made, err := New(m.Config, dim)
	if err != nil {
		panic(err)
	}
	t := made.(*tensorSRHT)
	count, all := t.agreements()
	return func(x, y []float32) float64 {
		a, b, c := moments4(m.Kernel, x, y)
		variance := func(v float64) float64 {
			sum := -float64(all) * pow(a, t.degree)
			for same, n := range count {
				sum += float64(n) * pow(a+v, same) * pow(a-v/float64(t.n-1), t.degree-same)
			}
			return sum / float64(t.m*t.m)
		}
		if t.complex {
			return (variance(b) + variance(c)) / 2
		}
		return variance(b + c)
	}
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

// someDigits returns n images of handwritten digits, as rows of length 1.
func someDigits(t *testing.T, n int) *matrix.Dense {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(digits.CSVGz))
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(unzipped).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	m := matrix.NewDense(n, 64)
	for i := range n {
		row := m.Row(i)
		for j := range row {
			v, err := strconv.ParseFloat(records[i][j], 32)
			if err != nil {
				t.Fatal(err)
			}
			row[j] = float32(v)
		}
		length := float32(math.Sqrt(norm2(row)))
		for j := range row {
			row[j] /= length
		}
	}
	return m
}

// gramVariance sums the variance over pairs of different rows: the mean squared error of the
// Gram matrix.
func gramVariance(x *matrix.Dense, variance func(x, y []float32) float64) float64 {
	sum := 0.0
	for i := range x.Rows {
		for j := range i {
			sum += variance(x.Row(i), x.Row(j))
		}
	}
	return sum
}

// The line through the logarithms of errors at D = 32, 64, … 512 has slope -½ within four
// standard errors. Rows have so many dimensions that buckets collide at all D, but for
// tensorsrht: at n = 4, all D are whole groups.
func TestSketchErrorFallsWithRootOfD(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	const seeds = 300
	for _, cfg := range []Config{
		{Map: "countsketch", Kernel: kernel.Kernel{Name: "linear"}},
		{Map: "tensorsketch", Kernel: polynomial(2, 1)},
		{Map: "tensorsketch", Kernel: polynomial(3, 1)},
		{Map: "tensorsrht", Kernel: polynomial(3, 1), Options: Options{Complex: true}},
		{Map: "maclaurin", Kernel: polynomial(2, 1), Options: Options{Complex: true}},
		{Map: "maclaurin", Kernel: kernel.Kernel{Name: "exp", Gamma: 0.3}},
	} {
		d := 100
		if cfg.Map == "tensorsrht" {
			d = 3
		}
		x := proofPairs(d, 1).Slice(2, 4) // near each other
		want := cfg.Kernel.Eval(x.Row(0), x.Row(1))
		var slope, sxx, noise float64
		for e := 5; e <= 9; e++ {
			cfg.Features = 1 << e
			z := matrix.NewDense(2, cfg.Features)
			var sample []float64
			for seed := range seeds {
				cfg.Seed = uint64(seed + 1)
				m, err := New(cfg, d)
				if err != nil {
					t.Fatal(err)
				}
				m.Transform(z, matrix.Rows{Dense: x})
				sample = append(sample, dot(z.Row(0), z.Row(1)))
			}
			_, m2, m4 := moments(sample, want)
			dx := float64(e-7) * math.Ln2
			slope += dx * math.Log(m2) / 2
			sxx += dx * dx
			noise += dx * dx * (m4/(m2*m2) - 1) / (4 * seeds)
		}
		if se := math.Sqrt(noise) / sxx; math.Abs(slope/sxx+0.5) > 4*se || se > 0.04 {
			t.Errorf("%+v: the error falls like D^%.3f ± %.3f", cfg, slope/sxx, se)
		}
	}
}

// With one dimension and c = 0 there is nothing to sketch, and all maps are exact: but for the
// powers of random degree.
func TestSketchesOfOneDimensionAreExact(t *testing.T) {
	x := matrix.Rows{Dense: &matrix.Dense{Rows: 3, Cols: 1, Stride: 1, Data: []float32{2, -1.5, 0}}}
	for _, c := range allSketches() {
		if c.Kernel.Coef0 != 0 || c.Series != nil || c.Kernel.Name == "exp" {
			continue
		}
		for _, features := range []int{2, 16, 30} {
			c.wish(features)
			m, err := New(c.Config, 1)
			if err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			z := transform(m, x)
			for i := range 3 {
				for j := range 3 {
					want := c.Kernel.Eval(x.Dense.Row(i), x.Dense.Row(j))
					if got := dot(z.Row(i), z.Row(j)); math.Abs(got-want) > 1e-5*math.Abs(want) {
						t.Errorf("%s, rows %d and %d: %g, want %g", c, i, j, got, want)
					}
				}
			}
		}
	}
}

// A series of power 0 is a constant; and every map takes no rows.
func TestSketchesOfLittle(t *testing.T) {
	x, sparse := someRows(20, 5)
	constant := Config{Map: "maclaurin", Kernel: kernel.Kernel{Name: "exp", Gamma: 1}, Features: 6, Options: Options{Series: []float64{2}}}
	for _, isComplex := range []bool{false, true} {
		constant.Complex = isComplex
		m, err := New(constant, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []matrix.Rows{x, sparse} {
			z := transform(m, x)
			for i := range z.Rows {
				if got := dot(z.Row(i), z.Row(0)); math.Abs(got-2) > 1e-6 {
					t.Errorf("complex %t, row %d: %g, want 2", isComplex, i, got)
				}
			}
		}
	}
	for _, c := range allSketches() {
		m := c.fit(t, 8, 5)
		transform(m, x.Slice(0, 0))
		transform(m, sparse.Slice(0, 0))
	}
}

// What maps draw is frozen: these values were recorded when the maps were first written.
func TestSketchesAreFrozen(t *testing.T) {
	for name, want := range map[string]uint64{
		"countsketch":           0x20d188a2480bb187,
		"countsketch balanced":  0x153e27c451bc8300,
		"maclaurin":             0x71a8540d1ec457fd,
		"maclaurin complex":     0x950b0cc34a42e9d1,
		"maclaurin exp":         0x8c0ffa6cfdbe123c,
		"tensorsketch":          0x3c160bd786b75fd8,
		"tensorsketch balanced": 0xe95e64a2de86e44e,
		"tensorsrht":            0x98b992224245c73f,
		"tensorsrht complex":    0x1503d91bcb332ace,
	} {
		name, option, _ := strings.Cut(name, " ")
		cfg := Config{Map: name, Kernel: polynomial(3, 1), Features: 100, Seed: 1}
		switch option {
		case "balanced":
			cfg.Hash = option
		case "complex":
			cfg.Complex = true
		case "exp":
			cfg.Kernel = kernel.Kernel{Name: "exp", Gamma: 0.7}
		}
		if name == "countsketch" {
			cfg.Kernel.Name = "linear"
		}
		made, err := New(cfg, 10)
		if err != nil {
			t.Fatal(err)
		}
		sum := fnv.New64a()
		add := func(v any) {
			if err := binary.Write(sum, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
		switch m := made.(type) {
		case *countSketch:
			add(m.table)
		case *tensorSketch:
			for _, table := range m.tables {
				add(table)
			}
		case *tensorSRHT:
			add(m.signs)
			add(m.places)
		case *maclaurin:
			d, columns := m.w.Dims()
			for i := range d {
				for j := range columns {
					add(m.w.At(i, j))
				}
			}
			add(m.shift)
			add(m.first)
		}
		if got := sum.Sum64(); got != want {
			t.Errorf("%s %s draws other numbers: %#x, want %#x", name, option, got, want)
		}
	}
}

func TestSketchesSayWhatIsWrong(t *testing.T) {
	exp := kernel.Kernel{Name: "exp", Gamma: 1}
	poly := polynomial(2, 1)
	with := func(change func(*kernel.Kernel)) kernel.Kernel { k := poly; change(&k); return k }
	for _, c := range []struct {
		cfg  Config
		dim  int
		want string
	}{
		{Config{Map: "countsketch", Kernel: poly, Features: 8}, 3, "poly is approximated by tensorsketch"},
		{Config{Map: "countsketch", Kernel: kernel.Kernel{Name: "linear"}, Features: 8, Options: Options{Hash: "md5"}}, 3,
			"known are pairwise, balanced"},
		{Config{Map: "tensorsketch", Kernel: rbf, Features: 8}, 3, "does not approximate the rbf kernel"},
		{Config{Map: "tensorsketch", Kernel: poly, Features: 8, Options: Options{Hash: "md5"}}, 3, "known are pairwise, balanced"},
		{Config{Map: "tensorsketch", Kernel: poly, Features: 8, Options: Options{Complex: true}}, 3, "no option complex"},
		{Config{Map: "tensorsketch", Kernel: with(func(k *kernel.Kernel) { k.Gamma = 1e300 }), Features: 8}, 3, "gamma = 1e+300 is no float32"},
		{Config{Map: "tensorsketch", Kernel: with(func(k *kernel.Kernel) { k.Gamma = 1e-300 }), Features: 8}, 3, "gamma = 1e-300 is no float32"},
		{Config{Map: "tensorsketch", Kernel: with(func(k *kernel.Kernel) { k.Coef0 = 1e300 }), Features: 8}, 3, "coef0 = 1e+300 is no float32"},
		{Config{Map: "tensorsketch", Kernel: with(func(k *kernel.Kernel) { k.Degree = 1 << 30 }), Features: 8}, 1 << 20,
			"GiB at most; use fewer"},
		{Config{Map: "tensorsketch", Kernel: poly, Features: 1<<30 + 1}, 3, "67108864 at most"},
		{Config{Map: "tensorsrht", Kernel: exp, Features: 8}, 3, "exp is approximated by maclaurin"},
		{Config{Map: "tensorsrht", Kernel: poly, Features: 7, Options: Options{Complex: true}}, 3, "use 8"},
		{Config{Map: "tensorsrht", Kernel: poly, Features: 8}, 1 << 20, "tensorsketch any number"},
		{Config{Map: "maclaurin", Kernel: rbf, Features: 8}, 3, "does not approximate the rbf kernel"},
		{Config{Map: "maclaurin", Kernel: exp, Features: 7, Options: Options{Complex: true}}, 3, "use 8"},
		{Config{Map: "maclaurin", Kernel: exp, Features: 8, Options: Options{Series: []float64{1, -1}}}, 3, "-1 at power 1"},
		{Config{Map: "maclaurin", Kernel: exp, Features: 8, Options: Options{Series: []float64{1, math.NaN()}}}, 3, "NaN at power 1"},
		{Config{Map: "maclaurin", Kernel: exp, Features: 8, Options: Options{Series: []float64{0}}}, 3, "no coefficient above 0"},
		{Config{Map: "maclaurin", Kernel: exp, Features: 8, Options: Options{Series: append(make([]float64, 52), 1, 1)}}, 3, ""},
		{Config{Map: "maclaurin", Kernel: exp, Features: 8,
			Options: Options{Series: append([]float64{1}, append(make([]float64, 50), 1)...)}}, 3, "may go to 50"},
		{Config{Map: "maclaurin", Kernel: exp, Features: 8, Options: Options{Series: []float64{1e200}}}, 3, "no float32"},
		{Config{Map: "maclaurin", Kernel: with(func(k *kernel.Kernel) { k.Gamma = 1e100 }), Features: 8}, 3, "no float32"},
		{Config{Map: "maclaurin", Kernel: poly, Features: 1 << 22}, 1 << 20, "GiB at most; use fewer"},
		{Config{Map: "explicit-poly", Kernel: exp}, 3, "does not approximate the exp kernel"},
		{Config{Map: "explicit-poly", Kernel: poly, Features: 9}, 3, "10 features here, not 9"},
		{Config{Map: "explicit-poly", Kernel: poly, Features: 10}, 3, ""},
		{Config{Map: "explicit-poly", Kernel: polynomial(3, 0)}, 1000, "1.672e+08 monomials of degree 3, 6.69e+11 bytes"},
		{Config{Map: "explicit-poly", Kernel: with(func(k *kernel.Kernel) { k.Gamma = 1e100 })}, 3, "no float32"},
		{Config{Map: "explicit-poly", Kernel: with(func(k *kernel.Kernel) { k.Degree = 1 << 30 })}, 3, "monomials of degree"},
	} {
		_, err := New(c.cfg, c.dim)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v of %d dimensions: %v, want %q", c.cfg, c.dim, err, c.want)
		}
	}
}
