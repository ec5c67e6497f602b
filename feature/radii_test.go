package feature

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
	"mercer/kernel"
	"mercer/matrix"
)

// Points that are skipped to are those that are gone through.
func TestSobolSkips(t *testing.T) {
	for _, j := range []int{0, 1, 2, 7, 64, 100, 4095, 4096, 70001} {
		there, on := newSobol(3, 5), newSobol(3, 5)
		there.skip(uint32(j))
		for range j {
			on.next()
		}
		for range 3 {
			if a, b := there.next(), on.next(); a != b {
				t.Errorf("point %d is %g, of those that are skipped to %g", j, b, a)
			}
		}
	}
}

// Each length alone has the law, whatever its place: one of each seed is taken.
func TestCoupledLengthsHaveTheLaw(t *testing.T) {
	seeds := 2000
	if testing.Short() {
		seeds = 300
	}
	for _, n := range []int{1, 3, 16, 32} {
		for _, k := range []kernel.Kernel{rbf, matern(1.5)} {
			var cdf func(float64) float64 = distuv.ChiSquared{K: float64(n)}.CDF
			if k.Nu > 0 {
				law := distuv.F{D1: float64(n), D2: 2 * k.Nu}
				cdf = func(x float64) float64 { return law.CDF(x / float64(n)) }
			}
			l := newLaw(k)
			var samples [3][]float64
			for seed := range seeds {
				r := l.coupled(uint64(seed), n, 70)
				for i, j := range []int{0, 5, 69} {
					samples[i] = append(samples[i], r[j]*r[j]/(2*k.Gamma))
				}
			}
			for i, sample := range samples {
				if d := ks(sample, cdf); !(d < 2.2) {
					t.Errorf("%s, n=%d, place %d: √n·D = %g", k.Name, n, i, d)
				}
			}
		}
	}
}

// Of 2^k consecutive lengths each 2^-k of the law has one, and where they begin makes no difference to what they are.
func TestCoupledLengthsAreEven(t *testing.T) {
	l := newLaw(rbf)
	law := distuv.ChiSquared{K: 32}
	all := l.coupled(5, 32, 1000)
	for _, size := range []int{32, 256} {
		for lo := 0; lo+size <= len(all); lo += size {
			seen := make([]bool, size)
			for _, r := range all[lo : lo+size] {
				seen[int(law.CDF(r*r/(2*rbf.Gamma))*float64(size))] = true
			}
			if slices.Contains(seen, false) {
				t.Fatalf("lengths %d … %d leave a part without one", lo, lo+size-1)
			}
		}
	}
	if few := l.coupled(5, 32, 100); !slices.Equal(few, all[:100]) {
		t.Error("lengths change with their number")
	}
}

// Lengths of orf and of sorf are what the law says, directions those of chi.
func TestCoupledMapsDifferInLengthsAlone(t *testing.T) {
	const d, m = 6, 40
	coupled := Options{Radius: "coupled"}
	a, b := draw(t, Config{Map: "orf", Kernel: rbf, Features: 2 * m}, d), draw(t, Config{Map: "orf", Kernel: rbf, Features: 2 * m, Options: coupled}, d)
	want := newLaw(rbf).coupled(0, d, m)
	for j := range m {
		x, y := a.column(j), b.column(j)
		lx, ly := math.Sqrt(product(x, x)), math.Sqrt(product(y, y))
		if math.Abs(product(x, y)/(lx*ly)-1) > 1e-6 {
			t.Errorf("orf: the direction of frequency %d changes", j)
		}
		if math.Abs(ly/want[j]-1) > 1e-6 {
			t.Errorf("orf: frequency %d has the length %g, want %g", j, ly, want[j])
		}
	}
	f := drawStructured(t, Config{Map: "sorf", Kernel: rbf, Features: 2 * m, Options: Options{Radius: "coupled", Order: 32}}, d)
	want = newLaw(rbf).coupled(0, 32, m)
	if f.n != 32 {
		t.Fatalf("the order is %d", f.n)
	}
	for j, w := range f.frequencies() {
		if l := math.Sqrt(product(w, w)); math.Abs(l/want[j]-1) > 1e-6 {
			t.Errorf("sorf: frequency %d has the length %g, want %g", j, l, want[j])
		}
	}
}

// A larger order makes of rows what zeros behind them make.
func TestOrderIsThatOfRowsWithZeros(t *testing.T) {
	x, _ := someRows(9, 5)
	wide := matrix.NewDense(9, 64)
	for i := range wide.Rows {
		copy(wide.Row(i), x.Dense.Row(i))
	}
	cfg := Config{Map: "sorf", Kernel: rbf, Features: 100}
	want := transform(drawStructured(t, cfg, 64), matrix.Rows{Dense: wide})
	cfg.Order = 64
	if got := transform(drawStructured(t, cfg, 5), x); !slices.Equal(got.Data, want.Data) {
		t.Error("features of order 64 are not those of 64 dimensions")
	}
	for _, bad := range []int{-1, 3, 33, 1 << 21} {
		cfg.Order = bad
		if _, err := New(cfg, 5); err == nil {
			t.Errorf("order %d is taken", bad)
		}
	}
}

// gaussianRows are n rows of d independent normal numbers.
func gaussianRows(n, d int) *matrix.Dense {
	r := random.New(7, "feature.radii")
	x := matrix.NewDense(n, d)
	for i := range x.Data {
		x.Data[i] = float32(r.Normal())
	}
	return x
}

// squaredErrors are ‖K̃-K‖²/‖K‖² by maps of so many seeds.
func squaredErrors(t *testing.T, cfg Config, x *matrix.Dense, seeds int) (mean, se float64) {
	t.Helper()
	var all []float64
	for seed := range seeds {
		cfg.Seed = uint64(seed + 1)
		m, err := New(cfg, x.Cols)
		if err != nil {
			t.Fatal(err)
		}
		z := transform(m, matrix.Rows{Dense: x})
		num, den := 0.0, 0.0
		for i := range x.Rows {
			for j := range i {
				k := cfg.Kernel.Eval(x.Row(i), x.Row(j))
				e := dot(z.Row(i), z.Row(j)) - k
				num, den = num+2*e*e, den+2*k*k
			}
			den++
		}
		all = append(all, num/den)
	}
	mean, _, _ = moments(all, 0)
	_, m2, _ := moments(all, mean)
	return mean, math.Sqrt(m2 / float64(seeds-1))
}

// Coupled lengths have less variance than independent ones, by these shares of the squared error of normal rows at the median γ,
// 512 features.
func TestCoupledLengthsVaryLess(t *testing.T) {
	const seeds, rows = 40, 30
	for _, c := range []struct {
		name string
		k    kernel.Kernel
		d    int
		want float64 // of chi's squared error, over 800 seeds and accurate to a hundredth
	}{
		{"orf", rbf, 3, 0.573},
		{"orf", rbf, 8, 0.788},
		{"orf", matern(1.5), 8, 0.775},
		{"sorf", matern(1.5), 24, 0.811},
	} {
		x := gaussianRows(rows, c.d)
		gamma, err := kernel.MedianGamma(matrix.Rows{Dense: x}, 1, c.k.Name)
		if err != nil {
			t.Fatal(err)
		}
		c.k.Gamma = gamma
		cfg := Config{Map: c.name, Kernel: c.k, Features: 512, Options: Options{Radius: "chi"}}
		if c.name == "sorf" {
			cfg.Order = 32
		}
		chi, seChi := squaredErrors(t, cfg, x, seeds)
		cfg.Radius = "coupled"
		coupled, se := squaredErrors(t, cfg, x, seeds)
		if bound := 4 * math.Hypot(se, c.want*seChi); math.Abs(coupled-c.want*chi) > bound {
			t.Errorf("%s, %s, d=%d: squared error %.3g, of independent lengths %.3g; want %.2f ± %.2f of that", c.name, c.k.Name, c.d, coupled, chi, c.want, bound/chi)
		}
		t.Logf("%s, %s, d=%d: %.3f ± %.3f", c.name, c.k.Name, c.d, coupled/chi, math.Hypot(se, c.want*seChi)/chi)
	}
}

// The bias of sorf is gone at the order that Choose sets: rows that differ in one element, where it is largest.
func TestSORFIsUnbiasedAtTheOrderOfChoose(t *testing.T) {
	testenv.Long(t, "a bias of 0.005 of sorf in few dimensions")
	for _, k := range []kernel.Kernel{rbf, matern(0.5), matern(1.5), arccos(0), arccos(1)} {
		for _, distance := range []float64{0.5, 2, 4} {
			if k.Name == "arccos" && distance != 2 {
				continue // it is of the angle
			}
			x := apart(3, 1, distance)
			if k.Name == "arccos" { // of rows with an angle
				x.Row(0)[1] = 1
			}
			cfg := Choose(Config{Map: "sorf", Kernel: k, Features: 1 << 16}, 3)
			got, se := mean(t, cfg, x, 24)
			want := k.Eval(x.Row(0), x.Row(1))
			scale := math.Sqrt(k.Eval(x.Row(0), x.Row(0)) * k.Eval(x.Row(1), x.Row(1)))
			if math.Abs(got-want) > 4*se+0.005*scale {
				t.Errorf("%s %g, order %d, %g apart: %.5f, want %.5f ± %.5f", k.Name, k.Nu, cfg.Order, distance, got, want, se)
			}
			t.Logf("%s nu %g degree %d, order %d, %g apart: bias %.5f ± %.5f", k.Name, k.Nu, k.Degree, cfg.Order, distance, got-want, se)
		}
	}
}
