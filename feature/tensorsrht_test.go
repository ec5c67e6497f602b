package feature

import (
	"math"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

func TestPolynomialsOfTheFieldsArePrimitive(t *testing.T) {
	for e := 1; e < len(primitive); e++ {
		n, order := 1<<e, 1
		for v := timesX(1, n); v != 1; v = timesX(v, n) {
			order++
		}
		if order != n-1 {
			t.Errorf("X has order %d in the field of 2^%d elements", order, e)
		}
	}
}

// Any two places of two factors meet in at most one feature of a group, and a block has all
// places of each factor.
func TestPlacesAreAnOrthogonalArray(t *testing.T) {
	for _, d := range []int{2, 3, 6, 12, 60} {
		for _, degree := range []int{2, 3, 4} {
			made, err := New(Config{Map: "tensorsrht", Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: degree}, Features: 5000}, d)
			if err != nil {
				t.Fatal(err)
			}
			m := made.(*tensorSRHT)
			if degree > m.n { // more factors than the array has columns
				continue
			}
			for lo := 0; lo < m.m; lo += m.n * m.n {
				hi := min(lo+m.n*m.n, m.m)
				for k := range degree {
					for j := range k {
						met := map[[2]int32]bool{}
						for f := lo; f < hi; f++ {
							met[[2]int32{m.places[j*m.m+f], m.places[k*m.m+f]}] = true
						}
						if len(met) != hi-lo {
							t.Errorf("n = %d: factors %d and %d of %d features have %d pairs of places", m.n, j, k, hi-lo, len(met))
						}
					}
					for b := lo; b+m.n <= hi; b += m.n {
						seen := map[int32]bool{}
						for f := b; f < b+m.n; f++ {
							seen[m.places[k*m.m+f]] = true
						}
						if len(seen) != m.n {
							t.Errorf("n = %d: factor %d of block %d has %d places", m.n, k, b/m.n, len(seen))
						}
					}
				}
			}
		}
	}
}

// A whole group of degree 2 has all pairs of projections, so that the kernel is exact.
func TestGroupOfDegreeTwoIsExact(t *testing.T) {
	x := proofPairs(12, 1)
	for _, isComplex := range []bool{false, true} {
		cfg := Config{Map: "tensorsrht", Kernel: polynomial(2, 1), Features: 256, Options: Options{Complex: isComplex}}
		if isComplex {
			cfg.Features = 512
		}
		m, err := New(cfg, 12)
		if err != nil {
			t.Fatal(err)
		}
		z := transform(m, matrix.Rows{Dense: x})
		for i := 0; i < x.Rows; i += 2 {
			want := cfg.Kernel.Eval(x.Row(i), x.Row(i+1))
			bound := 1e-6 * math.Sqrt(norm2(z.Row(i))*norm2(z.Row(i+1)))
			if got := dot(z.Row(i), z.Row(i+1)); math.Abs(got-want) > bound {
				t.Errorf("complex %t, pair %d: %g, want %g ± %g", isComplex, i/2, got, want, bound)
			}
		}
	}
}

// On images, at the same size of output, complex Hadamard products are better than tensor
// sketches, more so the more features of the array there are; beside the closed form, over all pairs of
// rows, what ten seeds give.
func TestComplexTensorSRHTBeatsTensorSketch(t *testing.T) {
	if testing.Short() {
		return // it takes seconds
	}
	x := someDigits(t, 60)
	for _, c := range []struct {
		features int
		ratio    float64
	}{{1024, 0.85}, {4096, 0.75}, {8192, 0.7}} {
		k := kernel.Kernel{Name: "poly", Gamma: 1, Degree: 3}
		sketch := mapCase{Config: Config{Map: "tensorsketch", Kernel: k}, proof: c.features}
		srht := mapCase{Config: Config{Map: "tensorsrht", Kernel: k, Options: Options{Complex: true}}, proof: c.features}
		theory := math.Sqrt(gramVariance(x, srhtVariance(srht, 64)) / gramVariance(x,
			func(x, y []float32) float64 { return sketchVariance(sketch, x, y) }))
		if theory > c.ratio {
			t.Errorf("D = %d: error %.3f times that of tensorsketch, want %g", c.features, theory, c.ratio)
		}
		if testing.Verbose() {
			t.Logf("D = %d: %.3f by formula, %.3f over ten seeds", c.features, theory, gramError(t, srht, x)/gramError(t, sketch, x))
		}
	}
}

// gramError is the root mean square over ten seeds of the relative Frobenius error.
func gramError(t *testing.T, c mapCase, x *matrix.Dense) float64 {
	sum := 0.0
	for seed := range 10 {
		c.Seed, c.Features = uint64(seed+1), c.proof
		m, err := New(c.Config, x.Cols)
		if err != nil {
			t.Fatal(err)
		}
		z := transform(m, matrix.Rows{Dense: x})
		errors, values := 0.0, 0.0
		for i := range x.Rows {
			for j := range x.Rows {
				k := c.Kernel.Eval(x.Row(i), x.Row(j))
				e := dot(z.Row(i), z.Row(j)) - k
				errors += e * e
				values += k * k
			}
		}
		sum += errors / values
	}
	return math.Sqrt(sum / 10)
}
