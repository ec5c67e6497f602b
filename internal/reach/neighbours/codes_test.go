package neighbours

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/matrix"
)

// differ is the mean share of bits in which the codes of two rows differ, over seeds, and its standard error.
func differ(t *testing.T, p *pipeline.Pipeline, kind string, x *matrix.Dense) (mean, deviation float64) {
	t.Helper()
	const seeds, length = 200, 256
	var sum, squares float64
	for seed := range uint64(seeds) {
		c, err := newCoder(Config{Codes: kind, Bits: length, Seed: seed + 1}, p)
		if err != nil {
			t.Fatal(err)
		}
		code := c.encode(nil, matrix.Rows{Dense: x}, x)
		n := 0
		for j := range length / 64 {
			n += bits.OnesCount64(code[j] ^ code[length/64+j])
		}
		s := float64(n) / length
		sum, squares = sum+s, squares+s*s
	}
	mean = sum / seeds
	return mean, math.Sqrt(max(squares/seeds-mean*mean, 0.25/length/4) / seeds)
}

// P[bits differ] = θ/π for signs of Gaussian projections.
func TestSignsFollowTheAngle(t *testing.T) {
	for _, theta := range []float64{0.2, 1, math.Pi / 2, 2.5} {
		x := matrix.NewDense(2, 6)
		x.Row(0)[1] = 2
		x.Row(1)[1], x.Row(1)[4] = float32(3*math.Cos(theta)), float32(3*math.Sin(theta))
		mean, e := differ(t, pipeline.Identity(6), Signs, x)
		if want := theta / math.Pi; math.Abs(mean-want) > 4*e {
			t.Errorf("angle %g: %g of the bits differ, want %g ± %g", theta, mean, want, e)
		}
	}
}

// Achlioptas's projections of dense rows come close to Gaussian ones.
func TestSparseSignsFollowTheAngle(t *testing.T) {
	x := normal(2, 400, 8).Dense
	var xy, xx, yy float64
	for j, v := range x.Row(0) {
		w := float64(x.Row(1)[j]) + float64(v)
		x.Row(1)[j] = float32(w)
		xy, xx, yy = xy+float64(v)*w, xx+float64(v)*float64(v), yy+w*w
	}
	mean, e := differ(t, pipeline.Identity(400), SparseSigns, x)
	if want := math.Acos(xy/math.Sqrt(xx*yy)) / math.Pi; math.Abs(mean-want) > 4*e+0.003 {
		t.Errorf("%g of the bits differ, want %g ± %g", mean, want, e)
	}
}

// The expected share is 8/π² Σ_m (1 − k(mx, my))/(4m² − 1) (Raginsky and Lazebnik 2009, lemma 2.3).
func TestCosinesFollowTheKernel(t *testing.T) {
	const gamma = 0.5
	p := mapping(t, 5, feature.Config{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: gamma}, Features: 8})
	for _, far := range []float64{0.1, 0.5, 1, 2, 5} {
		x := matrix.NewDense(2, 5)
		x.Row(1)[3] = float32(far)
		var want float64
		for m := 1.0; m < 2000; m++ {
			want += (1 - math.Exp(-gamma*m*m*far*far)) / (4*m*m - 1)
		}
		want *= 8 / (math.Pi * math.Pi)
		mean, e := differ(t, p, Cosines, x)
		t.Logf("distance %g: %g, formula %g ± %g", far, mean, want, e)
		if math.Abs(mean-want) > 4*e {
			t.Errorf("distance %g: %g of the bits differ, want %g ± %g", far, mean, want, e)
		}
	}
}

func TestNearIsASort(t *testing.T) {
	stream := random.New(1, "test")
	for _, c := range []struct{ words, rows int }{{1, 200}, {3, 200}, {4, 200}, {8, 200}, {2, 6000}} {
		words, rows := c.words, c.rows
		codes := make([]uint64, rows*words)
		for i := range codes {
			codes[i] = stream.Uint64()
			if i >= rows/2*words {
				codes[i] = codes[i-rows/2*words] // ties
			}
		}
		code := codes[5*words : 6*words]
		for i := 0; i < rows && rows > 1000; i += sampled { // those that a limit is found by are nearer than all others
			copy(codes[i*words:], code[:words-1])
		}
		count := func(i int32) (n int) {
			for j, w := range code {
				n += bits.OnesCount64(w ^ codes[int(i)*words+j])
			}
			return n
		}
		for _, n := range []int{1, 2, 77, min(rows, 500), rows, rows + 5} {
			var want []int32
			for i := range int32(rows) {
				want = append(want, i)
			}
			slices.SortStableFunc(want, func(a, b int32) int { return count(a) - count(b) })
			want = want[:min(n, rows)]
			slices.Sort(want)
			if got := (&nearest{counts: make([]uint16, rows)}).near(nil, codes, code, n); !slices.Equal(got, want) {
				t.Errorf("%d words, %d of %d: %v, want %v", words, n, rows, got, want)
			}
		}
	}
}
