package feature

import (
	"math"
	"testing"

	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// permutations lists those of 0 … n-1.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			q := append(append(append([]int{}, p[:i]...), n-1), p[i:]...)
			all = append(all, q)
		}
	}
	return all
}

// tables lists all hash tables of d coordinates and n buckets, as often as they are likely.
func tables(hash string, n, d int) []hashTable {
	var buckets [][]int
	if hash == "balanced" {
		for _, bucket := range permutations(n) {
			for _, place := range permutations(d) {
				b := make([]int, d)
				for i := range b {
					b[i] = bucket[place[i]%n]
				}
				buckets = append(buckets, b)
			}
		}
	} else {
		for code := range int(pow(float64(n), d)) {
			b := make([]int, d)
			for i := range b {
				b[i] = code % n
				code /= n
			}
			buckets = append(buckets, b)
		}
	}
	var all []hashTable
	for _, b := range buckets {
		for signs := range 1 << d {
			t := make(hashTable, d)
			for i := range t {
				t[i] = uint32(b[i]) | uint32(signs>>i&1)<<31
			}
			all = append(all, t)
		}
	}
	return all
}

// Mean and variance over all hash functions and signs that there are, without chance.
func TestTensorSketchVarianceByEnumeration(t *testing.T) {
	rows := &matrix.Dense{Rows: 2, Cols: 3, Stride: 3, Data: []float32{1, -2, 0.5, 0.75, 1, 3}}
	for _, c := range []struct {
		hash              string
		buckets, d, power int
	}{
		{"", 1, 2, 2}, {"", 2, 2, 2}, {"", 2, 2, 3}, {"", 3, 2, 2}, {"", 3, 2, 3}, {"", 4, 2, 2}, {"", 2, 3, 2},
		{"balanced", 2, 2, 2}, {"balanced", 2, 3, 2}, {"balanced", 3, 2, 2}, {"balanced", 4, 2, 2},
	} {
		if testing.Short() && c.power > 2 {
			continue
		}
		all := tables(c.hash, c.buckets, c.d)
		sketch := &tensorSketch{augmented: augmented{degree: c.power, scale: 1, dim: c.d}, features: c.buckets,
			tables: make([]hashTable, c.power), fft: vec.NewFFT(c.buckets)}
		x := matrix.Rows{Dense: rows.Columns(0, c.d)}
		z := matrix.NewDense(2, c.buckets)
		sum, sum2, n := 0.0, 0.0, int(pow(float64(len(all)), c.power))
		for code := range n {
			for k := range sketch.tables {
				sketch.tables[k] = all[code%len(all)]
				code /= len(all)
			}
			sketch.Transform(z, x)
			v := dot(z.Row(0), z.Row(1))
			sum += v
			sum2 += v * v
		}
		m := mapCase{proof: c.buckets}
		m.Hash, m.Kernel = c.hash, kernel.Kernel{Name: "poly", Gamma: 1, Degree: c.power}
		mean := sum / float64(n)
		if want := m.Kernel.Eval(x.Dense.Row(0), x.Dense.Row(1)); math.Abs(mean-want) > 1e-5 {
			t.Errorf("%+v: the mean is %g, want %g", c, mean, want)
		}
		if got, want := sum2/float64(n)-mean*mean, sketchVariance(m, x.Dense.Row(0), x.Dense.Row(1)); math.Abs(got-want) > 1e-5*(1+want) {
			t.Errorf("%+v: the variance is %.8g, want %.8g", c, got, want)
		}
	}
}

// Balanced buckets are worth most where D is no less than d, at low degrees, and on rows that
// are alike; with the linear kernel they then leave no error.
func TestBalancedHashingGains(t *testing.T) {
	x := someDigits(t, 150)
	for _, c := range []struct {
		degree, features int
		gain             float64
	}{{2, 16, 1.1}, {2, 32, 1.2}, {2, 64, 2}, {2, 1024, 2}, {3, 16, 1.05}, {3, 32, 1.1}, {3, 64, 1.3}, {3, 1024, 1.3}} {
		m := mapCase{proof: c.features}
		m.Kernel = kernel.Kernel{Name: "poly", Gamma: 1, Degree: c.degree}
		variance := func(x, y []float32) float64 { return sketchVariance(m, x, y) }
		pairwise := gramVariance(x, variance)
		m.Hash = "balanced"
		gain := pairwise / gramVariance(x, variance)
		t.Logf("degree %d, D = %d, d = 64: the mean squared error of pairwise is %.2f times that of balanced", c.degree, c.features, gain)
		if gain < c.gain {
			t.Errorf("degree %d, D = %d: balanced hashing gains a factor of %.2f, want %g", c.degree, c.features, gain, c.gain)
		}
	}
	linear := Config{Map: "countsketch", Kernel: kernel.Kernel{Name: "linear"}, Features: 64, Options: Options{Hash: "balanced"}}
	m, err := New(linear, 64)
	if err != nil {
		t.Fatal(err)
	}
	z := transform(m, matrix.Rows{Dense: x})
	for i := range x.Rows {
		if got, want := dot(z.Row(0), z.Row(i)), dot(x.Row(0), x.Row(i)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("row %d: %g, want %g", i, got, want)
		}
	}
}

// The formula's leading terms, and the bound that grows like 3^p only in D².
func TestTensorSketchVarianceBound(t *testing.T) {
	x := proofPairs(12, 1)
	for _, degree := range []int{1, 2, 3, 4, 6} {
		for _, features := range []int{8, 64, 4096} {
			m := mapCase{proof: features}
			m.Kernel = kernel.Kernel{Name: "poly", Gamma: 1, Degree: degree}
			n := float64(features)
			for i := 0; i < x.Rows; i += 2 {
				a, b := x.Row(i), x.Row(i+1)
				bound := ((pow(2, degree+1)-2)/n + 2*pow(3, degree)/(n*n)) * pow(norm2(a)*norm2(b), degree)
				if v := sketchVariance(m, a, b); v > bound*(1+1e-12) {
					t.Errorf("degree %d, D = %d, pair %d: variance %g, bound %g", degree, features, i/2, v, bound)
				}
			}
		}
	}
}
