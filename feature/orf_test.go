package feature

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"mercer/kernel"
)

// column is ω_j.
func (f *fourier) column(j int) []float64 {
	d, _ := f.w.Dims()
	c := make([]float64, d)
	for i := range c {
		c[i] = float64(f.w.At(i, j))
	}
	return c
}

// numbers are the elements of W, row by row.
func (f *fourier) numbers() []float32 {
	var w []float32
	d, m := f.w.Dims()
	for i := range d {
		for j := range m {
			w = append(w, f.w.At(i, j))
		}
	}
	return w
}

func product(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// The float32 of W leave cosines of 10⁻⁷ between orthogonal columns.
func TestOrthogonalFrequenciesAreOrthogonalWithinBlocks(t *testing.T) {
	for _, c := range []struct{ d, m int }{{1, 5}, {2, 5}, {7, 30}, {50, 20}, {30, 30}, {65, 130}} {
		f := draw(t, Config{Map: "orf", Kernel: rbf, Features: 2 * c.m}, c.d)
		crossing := 0
		for i := range c.m {
			for j := range i {
				a, b := f.column(i), f.column(j)
				cos := product(a, b) / math.Sqrt(product(a, a)*product(b, b))
				if i/c.d == j/c.d && math.Abs(cos) > 5e-7 {
					t.Errorf("d=%d: frequencies %d and %d have cosine %g", c.d, i, j, cos)
				}
				if i/c.d != j/c.d && math.Abs(cos) < 1e-6 {
					crossing++
				}
			}
		}
		if crossing > 0 {
			t.Errorf("d=%d: %d pairs of different blocks are orthogonal", c.d, crossing)
		}
	}
}

// ks is √n times the largest distance between a sample's distribution function and cdf. It
// exceeds 2.2 with probability 1.3·10⁻⁴.
func ks(sample []float64, cdf func(float64) float64) float64 {
	slices.Sort(sample)
	n, worst := float64(len(sample)), 0.0
	for i, x := range sample {
		p := cdf(x)
		worst = max(worst, p-float64(i)/n, float64(i+1)/n-p)
	}
	return worst * math.Sqrt(n)
}

func TestFrequencyLengthsFollowChi(t *testing.T) {
	const m = 3000
	for _, name := range []string{"rff", "orf"} {
		for _, d := range []int{1, 6, 40} {
			f := draw(t, Config{Map: name, Kernel: rbf, Features: 2 * m}, d)
			var squares []float64
			for j := range m {
				squares = append(squares, product(f.column(j), f.column(j))/(2*rbf.Gamma))
			}
			if k := ks(squares, (distuv.ChiSquared{K: float64(d)}).CDF); !(k < 2.2) {
				t.Errorf("%s, d=%d: √n·D = %g", name, d, k)
			}
		}
	}
}

// Each coordinate of each frequency has the kernel's spectral law. Within a block of
// orthogonal ones the numbers depend on each other, so each sample has one from each block.
// Points of qmc depend on each other all over: theirs are of as many seeds.
func TestFrequencyCoordinatesFollowTheSpectralLaw(t *testing.T) {
	const d, blocks = 3, 2000
	normal := distuv.Normal{Sigma: math.Sqrt(2 * rbf.Gamma)}.CDF
	student := func(nu float64) func(float64) float64 {
		return distuv.StudentsT{Sigma: math.Sqrt(2 * matern(nu).Gamma), Nu: 2 * nu}.CDF
	}
	for _, c := range []struct {
		kernel kernel.Kernel
		maps   []string
		cdf    func(float64) float64
	}{
		{rbf, []string{"rff", "orf", "qmc"}, normal},
		{laplacian, []string{"rff", "qmc"}, func(x float64) float64 { return 0.5 + math.Atan(x/laplacian.Gamma)/math.Pi }},
		{cauchy, []string{"rff", "qmc"}, distuv.Laplace{Scale: cauchy.Gamma}.CDF},
		{matern(0.5), []string{"rff", "orf"}, student(0.5)},
		{matern(2.2), []string{"rff", "orf", "qmc"}, student(2.2)},
		{arccos(0), []string{"rff", "orf"}, distuv.UnitNormal.CDF},
		{arccos(1), []string{"rff", "orf"}, distuv.UnitNormal.CDF},
	} {
		for _, name := range c.maps {
			var sample [d][d][]float64
			collect := func(f *fourier, first int) {
				for i := range d {
					for column := range d {
						sample[i][column] = append(sample[i][column], float64(f.w.At(i, first+column)))
					}
				}
			}
			cfg := Config{Map: name, Kernel: c.kernel, Features: 2 * d}
			if name == "qmc" {
				for cfg.Seed = range blocks {
					collect(draw(t, cfg, d), 0)
				}
			} else {
				cfg.Features *= blocks
				f := draw(t, cfg, d)
				for b := range blocks {
					collect(f, b*d)
				}
			}
			for i := range d {
				for column := range d {
					if k := ks(sample[i][column], c.cdf); !(k < 2.2) {
						t.Errorf("%v: coordinate %d of column %d: √n·D = %g", cfg, i, column, k)
					}
				}
			}
		}
	}
}

// The coordinates of a frequency of matern share their stretch: ‖ω‖²·χ²_2ν/(2ν·2γ) is χ²_d, so
// that ‖ω‖²/(2γd) has the law F(d, 2ν).
func TestMaternFrequenciesShareTheirStretch(t *testing.T) {
	const d, n = 4, 2000
	k := matern(1.5)
	for _, name := range []string{"rff", "orf", "qmc"} {
		var sample []float64
		for seed := range n {
			f := draw(t, Config{Map: name, Kernel: k, Features: 2, Seed: uint64(seed)}, d)
			sample = append(sample, product(f.column(0), f.column(0))/(2*k.Gamma*d))
		}
		if s := ks(sample, (distuv.F{D1: d, D2: 2 * k.Nu}).CDF); !(s < 2.2) {
			t.Errorf("%s: √n·D = %g", name, s)
		}
	}
}

// Haar's measure on the orthogonal matrices of order 3 or more has E tr Q = 0,
// E (tr Q)² = 1, E tr Q² = 1 and both signs of the determinant equally often. The Q of a QR
// factorisation without correction of its signs fails.
func TestOrthogonalDirectionsAreHaar(t *testing.T) {
	const d, blocks = 3, 3000
	f := draw(t, Config{Map: "orf", Kernel: rbf, Features: 2 * d * blocks}, d)
	var trace, traceSquared, traceOfSquare, determinant []float64
	for b := range blocks {
		var q [d][d]float64 // columns
		for j := range q {
			copy(q[j][:], f.column(b*d+j))
			length := math.Sqrt(product(q[j][:], q[j][:]))
			for i := range q[j] {
				q[j][i] /= length
			}
		}
		tr := q[0][0] + q[1][1] + q[2][2]
		square := 0.0
		for i := range d {
			for j := range d {
				square += q[i][j] * q[j][i]
			}
		}
		det := q[0][0]*(q[1][1]*q[2][2]-q[1][2]*q[2][1]) -
			q[0][1]*(q[1][0]*q[2][2]-q[1][2]*q[2][0]) +
			q[0][2]*(q[1][0]*q[2][1]-q[1][1]*q[2][0])
		trace, traceSquared = append(trace, tr), append(traceSquared, tr*tr)
		traceOfSquare, determinant = append(traceOfSquare, square), append(determinant, det)
	}
	for _, c := range []struct {
		name   string
		sample []float64
		want   float64
	}{{"tr Q", trace, 0}, {"(tr Q)²", traceSquared, 1}, {"tr Q²", traceOfSquare, 1}, {"det Q", determinant, 0}} {
		mean, m2, _ := moments(c.sample, c.want)
		if se := math.Sqrt(m2 / blocks); math.Abs(mean-c.want) > 4*se {
			t.Errorf("E %s = %g ± %g, want %g", c.name, mean, se, c.want)
		}
	}
}

func TestMoreFeaturesBeginWithTheSameFrequencies(t *testing.T) {
	for _, cfg := range fourierMaps {
		cfg.Features, cfg.Form = 30, "phase"
		few := draw(t, cfg, 9)
		cfg.Features = 99
		many := draw(t, cfg, 9)
		for j := range 30 {
			if !slices.Equal(few.column(j), many.column(j)) || few.phases[j] != many.phases[j] {
				t.Errorf("%v: frequency %d changes with the number of features", cfg, j)
			}
		}
	}
}

// The maps are frozen: a model file keeps a seed, not the frequencies. These are FNV-1a of the
// bytes of W and b, little-endian, recorded on amd64; they must never be edited.
func TestFrequenciesAreFrozen(t *testing.T) {
	recorded := map[string]uint64{
		"rff rbf pair":             0x568112ae1f9e96de,
		"rff rbf phase":            0x1ac1cfff04428803,
		"orf rbf pair":             0x44adb9ff3ce5d07d,
		"orf rbf phase":            0xffc7b23c2e484573,
		"orf rbf pair coupled":     0x77a759dbf452579d,
		"orf rbf phase coupled":    0xa112c2968514f842,
		"orf matern pair coupled":  0xad5c936cfd2b9e24,
		"orf matern phase coupled": 0xdb5a94f325ba25df,
		"rff laplacian pair":       0x673ec6d858260f0f,
		"rff laplacian phase":      0x708e6cefdb41e9ca,
		"rff cauchy pair":          0x55892e0dec36b942,
		"rff cauchy phase":         0x1f98fa7fc2b2bff0,
		"rff matern pair":          0x122367318a8d83ec,
		"rff matern phase":         0x3d7c89226c07b304,
		"orf matern pair":          0x527cd5af3bbed1d8,
		"orf matern phase":         0x19022e52ed67c15b,
		"qmc rbf pair":             0xe48d77e2c79e07f5,
		"qmc rbf phase":            0x94d4ced5f565e29e,
		"qmc laplacian pair":       0xc8f212150af23008,
		"qmc laplacian phase":      0x6af150e4bdb3bdb2,
		"qmc cauchy pair":          0xea13de0c4cb6cefe,
		"qmc cauchy phase":         0x25b6f093c1889ad6,
		"qmc matern pair":          0xa51451e5a57292d3,
		"qmc matern phase":         0xc6049c447cc77004,
	}
	for _, cfg := range fourierMaps {
		cfg.Features, cfg.Seed = 150, 1
		f := draw(t, cfg, 33)
		h := fnv.New64a()
		for _, numbers := range [][]float32{f.numbers(), f.phases} {
			if err := binary.Write(h, binary.LittleEndian, numbers); err != nil {
				t.Fatal(err)
			}
		}
		name := strings.TrimSpace(cfg.Map + " " + cfg.Kernel.Name + " " + cfg.Form + " " + cfg.Radius)
		if got := h.Sum64(); got != recorded[name] {
			t.Errorf("%q: %#x,", name, got)
		}
	}
}
