package feature

import (
	"math"
	"slices"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

func TestMonomials(t *testing.T) {
	r2, r3, r6 := math.Sqrt(2), math.Sqrt(3), math.Sqrt(6)
	x := &matrix.Dense{Rows: 1, Cols: 3, Stride: 3, Data: []float32{2, 3, 5}}
	for _, c := range []struct {
		kernel kernel.Kernel
		want   []float64
	}{
		{kernel.Kernel{Name: "poly", Gamma: 1, Degree: 1}, []float64{2, 3, 5}},
		{kernel.Kernel{Name: "poly", Gamma: 4, Degree: 1, Coef0: 9}, []float64{4, 6, 10, 3}},
		{kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2}, []float64{4, 6 * r2, 10 * r2, 9, 15 * r2, 25}},
		{kernel.Kernel{Name: "poly", Gamma: 1, Degree: 3},
			[]float64{8, 12 * r3, 20 * r3, 18 * r3, 30 * r6, 50 * r3, 27, 45 * r3, 75 * r3, 125}},
	} {
		m, err := New(Config{Map: "explicit-poly", Kernel: c.kernel}, 3)
		if err != nil {
			t.Fatal(err)
		}
		z := transform(m, matrix.Rows{Dense: x}).Row(0)
		if !slices.EqualFunc(z, c.want, func(got float32, want float64) bool { return math.Abs(float64(got)-want) < 1e-6*want }) {
			t.Errorf("%v: %v, want %v", c.kernel, z, c.want)
		}
	}
}

// The dot product is the kernel but for the rounding of each feature to float32.
func TestMonomialsAreTheKernel(t *testing.T) {
	x := proofPairs(8, 1.5)
	for degree := 1; degree <= 7; degree++ {
		for _, coef0 := range []float64{0, 0.5} {
			k := kernel.Kernel{Name: "poly", Gamma: 0.3, Degree: degree, Coef0: coef0}
			m, err := New(Config{Map: "explicit-poly", Kernel: k}, 8)
			if err != nil {
				t.Fatal(err)
			}
			width, want := 8, 1.0
			if coef0 > 0 {
				width++
			}
			for i := range degree {
				want = want * float64(width+i) / float64(i+1)
			}
			if _, out := m.Dims(); float64(out) != math.Round(want) {
				t.Errorf("%v: %d features, want %g", k, out, want)
			}
			z := transform(m, matrix.Rows{Dense: x})
			for i := range x.Rows {
				for j := range x.Rows {
					want := k.Eval(x.Row(i), x.Row(j))
					bound := 1.2e-7 * math.Sqrt(norm2(z.Row(i))*norm2(z.Row(j)))
					if got := dot(z.Row(i), z.Row(j)); math.Abs(got-want) > bound {
						t.Fatalf("%v, rows %d and %d: %g, want %g ± %g", k, i, j, got, want, bound)
					}
				}
			}
		}
	}
}
