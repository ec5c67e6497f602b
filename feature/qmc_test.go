package feature

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// The first lines of Joe and Kuo's table: degree, coefficients, m_1, m_2, …
func TestSobolTableIsThatOfJoeAndKuo(t *testing.T) {
	for dim, want := range map[int]struct {
		a uint32
		m []uint32
	}{
		1: {0, []uint32{1}},
		2: {1, []uint32{1, 3}},
		3: {1, []uint32{1, 3, 1}},
		4: {2, []uint32{1, 1, 1}},
		5: {1, []uint32{1, 1, 3, 3}},
		6: {4, []uint32{1, 3, 5, 13}},
		7: {2, []uint32{1, 1, 5, 5, 17}},
		8: {4, []uint32{1, 1, 5, 5, 5}},
		9: {7, []uint32{1, 1, 7, 11, 19}},
	} {
		start := sobolStarts()[dim]
		r := bitReader(start.bit)
		if a := r.read(start.degree - 1); start.degree != len(want.m) || a != want.a {
			t.Errorf("dimension %d has degree %d and coefficients %d", dim, start.degree, a)
		}
		v := directions(dim)
		for k, m := range want.m {
			if v[k] != m<<(31-k) {
				t.Errorf("dimension %d: direction %d is %#x, want %d/2^%d", dim, k, v[k], m, k+1)
			}
		}
	}
	h := fnv.New64a()
	fmt.Fprint(h, sobolTable)
	if got := h.Sum64(); got != 0x79e87cf23912b80c {
		t.Errorf("the table has the hash %#x", got)
	}
	if last := sobolStarts()[sobolDims-1]; last.bit+last.degree-1+last.degree*(last.degree-1)/2 > 8*len(sobolTable) {
		t.Error("the table is cut")
	}
}

// All polynomials are primitive and different: the order of x modulo each is 2^s - 1.
func TestSobolPolynomialsArePrimitive(t *testing.T) {
	seen := map[uint32]bool{}
	for dim := 1; dim < sobolDims; dim++ {
		start := sobolStarts()[dim]
		s := start.degree
		r := bitReader(start.bit)
		p := 1<<s | r.read(s-1)<<1 | 1
		if seen[p] {
			t.Fatalf("dimension %d has a polynomial for the second time", dim)
		}
		seen[p] = true
		multiply := func(a, b uint32) (c uint32) {
			for ; b > 0; b >>= 1 {
				c ^= a * (b & 1)
				if a <<= 1; a>>s&1 == 1 {
					a ^= p
				}
			}
			return c
		}
		power := func(e int) uint32 {
			result, x := uint32(1), uint32(2)
			if s == 1 {
				x = 1
			}
			for ; e > 0; e >>= 1 {
				if e&1 == 1 {
					result = multiply(result, x)
				}
				x = multiply(x, x)
			}
			return result
		}
		order := 1<<s - 1
		if power(order) != 1 {
			t.Fatalf("dimension %d: x^%d is not 1", dim, order)
		}
		rest := order
		for q := 2; rest > 1; q++ {
			if rest%q == 0 {
				if power(order/q) == 1 {
					t.Fatalf("dimension %d: the order of x divides %d", dim, order/q)
				}
				for rest%q == 0 {
					rest /= q
				}
			}
		}
	}
}

// Scrambled or not, of the first 2^k points each interval of length 2^-k has one, and in the
// first two dimensions each rectangle of area 2^-k.
func TestSobolPointsAreEven(t *testing.T) {
	const k = 10
	for _, dim := range []int{0, 1, 2, 17, 500, sobolDims - 1} {
		s := newSobol(9, dim)
		plain := directions(dim)
		x := uint32(0)
		var seen, seenPlain [1 << k]bool
		for j := range uint32(1 << k) {
			seen[int(s.next()*(1<<k))] = true
			seenPlain[x>>(32-k)] = true
			x ^= plain[bits.TrailingZeros32(j+1)]
		}
		for i := range seen {
			if !seen[i] || !seenPlain[i] {
				t.Fatalf("dimension %d: no point in interval %d", dim, i)
			}
		}
	}
	for a := range k + 1 {
		first, second := newSobol(4, 0), newSobol(4, 1)
		seen := map[[2]int]bool{}
		for range 1 << k {
			u, v := first.next(), second.next()
			seen[[2]int{int(math.Ldexp(u, a)), int(math.Ldexp(v, k-a))}] = true
		}
		if len(seen) != 1<<k {
			t.Errorf("%d of %d rectangles 2^-%d × 2^-%d have points", len(seen), 1<<k, a, k-a)
		}
	}
}

// Each point alone is uniform over the seeds, and two points of a dimension, or two dimensions
// of a point, are pairwise uniform where the sequence leaves it to the scrambling.
func TestSobolPointsAreUniformOverSeeds(t *testing.T) {
	const n = 4000
	for _, dim := range []int{0, 3, 1000} {
		for _, point := range []int{0, 1, 6, 37} {
			var sample, across []float64
			for seed := range uint64(n) {
				s := newSobol(seed, dim)
				u := s.next()
				for range point {
					u = s.next()
				}
				sample = append(sample, u)
				across = append(across, math.Mod(u+newSobol(seed, dim+1).next(), 1))
			}
			for _, sample := range [][]float64{sample, across} {
				if k := ks(sample, func(u float64) float64 { return u }); !(k < 2.2) {
					t.Errorf("dimension %d, point %d: √n·D = %g", dim, point, k)
				}
			}
		}
	}
}

// In the pair form the error falls faster than D^(-1/2) between near rows of up to 10
// dimensions, and never is above that of independent frequencies. The logarithm of a root
// mean square over n seeds has variance (m4/m2² - 1)/(4n).
func TestQuasiRandomErrorFallsFaster(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many seeds")
	}
	const n = 100
	for _, k := range []kernel.Kernel{rbf, matern(2.5), cauchy, arccos(1)} {
		for _, d := range []int{2, 5, 10} {
			x := pairs(d)
			var log, noise [3][2]float64 // of each distance, for few and many features
			for many, features := range []int{64, 1024} {
				cfg := Config{Map: "qmc", Kernel: k, Features: features}
				for i, sample := range estimates(t, cfg, x, n) {
					_, m2, m4 := moments(sample, k.Eval(x.Row(0), x.Row(i+1)))
					log[i][many], noise[i][many] = math.Log(m2)/2, (m4/(m2*m2)-1)/(4*n)
					iid := math.Log(variance(cfg, x.Row(0), x.Row(i+1))) / 2
					if log[i][many] > iid+4*math.Sqrt(noise[i][many]) {
						t.Errorf("%v, d=%d, D=%d, ‖Δ‖=%g: error %.3g, independent %.3g", k, d, features, distances[i],
							math.Exp(log[i][many]), math.Exp(iid))
					}
				}
			}
			for i := range 2 {
				if k.Name == "matern" && i == 1 {
					continue // D^-0.6: too little for the seeds
				}
				slope := (log[i][1] - log[i][0]) / math.Log(16)
				if se := math.Sqrt(noise[i][0]+noise[i][1]) / math.Log(16); slope > -0.5-4*se {
					t.Errorf("%v, d=%d, ‖Δ‖=%g: the error falls like D^%.2f ± %.2f", k, d, distances[i], slope, se)
				}
			}
		}
	}
}

// The points take a dimension for each coordinate, one for matern's stretch, one for phases:
// at the largest width all are there.
func TestQMCOfTheLargestWidth(t *testing.T) {
	cfg := Config{Map: "qmc", Kernel: matern(1.5), Features: 4, Options: Options{Form: "phase"}}
	x := matrix.NewDense(1, 4096)
	for j := range x.Row(0) {
		x.Row(0)[j] = 1e-3
	}
	for _, v := range transform(draw(t, cfg, 4096), matrix.Rows{Dense: x}).Data {
		if !(math.Abs(float64(v)) <= 1) {
			t.Errorf("a feature is %g", v)
		}
	}
}
