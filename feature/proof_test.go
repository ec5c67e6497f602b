package feature

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// What every map has to prove: on pairs of rows of all sorts, over many seeds, z(x)·z(y) is
// the kernel in the mean, and scatters by its closed-form variance.

// proofPairs returns rows 2i and 2i+1 of which are the pairs of the proofs: near, far, equal,
// opposite, orthogonal, with a zero row, sparse.
func proofPairs(d int, scale float64) *matrix.Dense {
	const pairs = 24
	r := random.New(7, "proof")
	m := matrix.NewDense(2*pairs, d)
	for i := range pairs {
		x, y := m.Row(2*i), m.Row(2*i+1)
		for j := range x {
			x[j] = float32(scale * r.Normal() / math.Sqrt(float64(d)))
		}
		distance := []float64{0.1, 0.3, 1, 2}[i%4] // of y from x, about
		for j := range y {
			y[j] = x[j] + float32(scale*distance*r.Normal()/math.Sqrt(float64(d)))
		}
		switch {
		case i == 16: // equal
			copy(y, x)
		case i == 17: // opposite
			for j := range y {
				y[j] = -x[j]
			}
		case i == 18: // a zero row
			clear(y)
		case i == 19: // orthogonal
			for j := range y {
				if j%2 == 0 {
					x[j] = 0
				} else {
					y[j] = 0
				}
			}
		case i == 20: // both zero
			clear(x)
			clear(y)
		case i > 20: // sparse: one in four
			for j := range y {
				if (j+i)%4 != 0 {
					x[j], y[j] = 0, 0
				}
			}
		}
	}
	return m
}

func TestEveryMapIsUnbiasedAndVariesAsItShould(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds; TestEveryMapIsUnbiasedInFewDimensions takes fewer seeds")
	}
	const seeds = 250
	for _, c := range slices.Concat(everyMap(), otherSketchCases(), otherTaylorCases()) {
		if c.biased && c.variance == nil {
			continue
		}
		d, features := c.dim, c.proof
		if d == 0 {
			d = 12
		}
		if features == 0 {
			features = 16
		}
		scale := c.scale
		if scale == 0 {
			scale = 1
		}
		x := c.rows(matrix.Rows{Dense: proofPairs(d, scale)}).Dense
		pairs := x.Rows / 2
		want := make([]float64, pairs)
		for i := range want {
			eval := c.want
			if eval == nil {
				eval = c.Kernel.Eval
			}
			want[i] = eval(x.Row(2*i), x.Row(2*i+1))
		}
		estimate := make([][]float64, pairs)
		var z matrix.Dense
		sample, _ := someRows(60, d)
		for seed := range seeds {
			c.Seed = uint64(seed + 1)
			c.wish(features)
			m, err := Fit(t.Context(), c.Config, c.rows(sample))
			if err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			_, out := m.Dims()
			z.Reshape(x.Rows, out)
			m.Transform(&z, matrix.Rows{Dense: x})
			for i := range pairs {
				estimate[i] = append(estimate[i], dot(z.Row(2*i), z.Row(2*i+1)))
			}
		}
		for i, sample := range estimate {
			mean, m2, m4 := moments(sample, want[i])
			n := float64(seeds)
			// Rounding of D float32 products leaves a millionth of the norms.
			rounding := 1e-6 * math.Sqrt(norm2(z.Row(2*i))*norm2(z.Row(2*i+1)))
			if se := math.Sqrt(m2 / n); !c.biased && math.Abs(mean-want[i]) > 4*se+rounding {
				t.Errorf("%s, pair %d: mean %.6g, want %.6g ± %.2g", c, i, mean, want[i], se)
			}
			if c.variance == nil {
				continue
			}
			v := c.variance(x.Row(2*i), x.Row(2*i+1))
			// m2 alone, where it is low by chance, would give a standard error as low.
			se := max(v, m2)*math.Sqrt(max(0, m4/max(m2*m2, math.SmallestNonzeroFloat64)-1)/n) + rounding*rounding
			if m2 > v+4*se+1e-6*v || !c.atMost && m2 < v-4*se-1e-6*v {
				t.Errorf("%s, pair %d: variance %.5g, want %.5g ± %.2g", c, i, m2, v, se)
			}
		}
	}
}

func norm2(x []float32) float64 { return dot(x, x) }

// Dense and sparse rows give the same features, to rounding.
func TestDenseAndSparseAgree(t *testing.T) {
	dense, sparse := someRows(30, 70)
	for _, c := range everyMap() {
		m := c.fit(t, 256, 70)
		a, b := transform(m, c.rows(dense)), transform(m, c.rows(sparse))
		for i := range a.Rows {
			bound := max(1e-5, c.agree) * math.Sqrt(norm2(a.Row(i)))
			for j, v := range a.Row(i) {
				if !(math.Abs(float64(v-b.Row(i)[j])) <= bound) {
					t.Fatalf("%s: feature %d of row %d is %g from a dense row, %g from a sparse one", c, j, i, v, b.Row(i)[j])
				}
			}
		}
	}
}

// Structured maps hold O(D) numbers, sketches O(pd), and Bytes tells the truth: it is about what
// the heap grows by.
func TestMapsHoldWhatTheySay(t *testing.T) {
	if testing.Short() {
		return // it takes seconds
	}
	const d, features = 1024, 4096
	linear, square := kernel.Kernel{Name: "linear"}, kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2}
	for _, c := range []struct {
		cfg  Config
		most int64
	}{
		{Config{Map: "rff", Kernel: rbf}, 4 * d * features / 2},
		{Config{Map: "orf", Kernel: rbf}, 4 * d * features / 2},
		{Config{Map: "sorf", Kernel: rbf}, 16 * features / 2},
		{Config{Map: "fastfood", Kernel: rbf}, 16 * features / 2},
		{Config{Map: "sorf", Kernel: rbf, Options: Options{Form: "phase"}}, 20 * features},
		{Config{Map: "countsketch", Kernel: linear}, 4 * d},
		{Config{Map: "tensorsketch", Kernel: square}, 2*4*d + 4*features}, // with the plan of its transforms
		{Config{Map: "tensorsrht", Kernel: square}, 2*4*features + 2*8*d},
		{Config{Map: "tensorsrht", Kernel: square, Options: Options{Complex: true}}, 2*4*features + 2*2*8*d},
		{Config{Map: "maclaurin", Kernel: square}, 4 * d * 2 * features},
		{Config{Map: "rp", Kernel: linear}, 4 * d * features},
		{Config{Map: "rp", Kernel: linear, Options: Options{Sparsity: 32}}, 9 * d * features / 32},
		{Config{Map: "pk-rp", Kernel: square, Options: Options{Pool: 488, Sparsity: 100}}, 10*d*488/100 + 2*4*features},
		{Config{Map: "explicit-poly", Kernel: square}, 24*d + 64},
	} {
		if c.cfg.Features = features; c.cfg.Decides() {
			c.cfg.Features = 0
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		m, err := New(c.cfg, d)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		said := m.Bytes()
		if said > c.most {
			t.Errorf("%s %v holds %d bytes, %d are enough", c.cfg.Map, c.cfg.Options, said, c.most)
		}
		// Plans of transforms and slices' headers come on top.
		if grown > said+said/4+1<<17 {
			t.Errorf("%s %v says that it holds %d bytes, but the heap grew by %d", c.cfg.Map, c.cfg.Options, said, grown)
		}
		runtime.KeepAlive(m)
	}
}

func TestBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, c := range everyMap() {
		if b := c.fit(t, 1024, 64).Bytes(); b <= 0 && !c.drawsNothing {
			t.Errorf("%s holds %d bytes", c, b)
		}
	}
}
