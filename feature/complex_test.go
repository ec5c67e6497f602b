package feature

import (
	"math"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// z'(x)·conj(z'(y)) is the kernel in the mean over seeds: its real part is the dot product of the pairs, and its imaginary part has no mean.
func TestComplexFormIsUnbiased(t *testing.T) {
	x := proofPairs(6, 1)
	pairs := x.Rows / 2
	const m, seeds = 8, 400
	sums := make([][4]float64, pairs) // of real and imaginary parts, and of their squares
	a, b := make([]complex64, m), make([]complex64, m)
	for seed := range uint64(seeds) {
		z := transform(draw(t, Config{Map: RFF, Kernel: rbf, Features: 2 * m, Seed: seed + 1}, 6), matrix.Rows{Dense: x})
		for i := range pairs {
			Complex(a, z.Row(2*i))
			Complex(b, z.Row(2*i+1))
			v := complex128(0)
			for j, u := range a {
				w := complex128(b[j])
				v += complex128(u) * complex(real(w), -imag(w))
			}
			if want := dot(z.Row(2*i), z.Row(2*i+1)); math.Abs(real(v)-want) > 1e-6 {
				t.Fatalf("pair %d: the real part is %g, that of the pairs %g", i, real(v), want)
			}
			d := real(v) - rbf.Eval(x.Row(2*i), x.Row(2*i+1))
			sums[i] = [4]float64{sums[i][0] + d, sums[i][1] + imag(v), sums[i][2] + d*d, sums[i][3] + imag(v)*imag(v)}
		}
	}
	for i, s := range sums {
		for part := range 2 {
			if se := math.Sqrt(s[2+part]) / seeds; math.Abs(s[part]/seeds) > 4.5*se+1e-6 {
				t.Errorf("pair %d, part %d: the mean error is %g ± %g", i, part, s[part]/seeds, se)
			}
		}
	}
}

func TestPairs(t *testing.T) {
	linear := kernel.Kernel{Name: "linear"}
	for _, c := range []struct {
		cfg  Config
		want bool
	}{
		{Config{Kernel: rbf}, true},
		{Config{Map: SORF, Kernel: rbf, Options: Options{Form: "pair"}}, true},
		{Config{Map: SORF, Kernel: rbf, Options: Options{Form: "phase"}}, false},
		{Config{Map: ORF, Kernel: arccos(1)}, false},
		{Config{Map: SORF, Kernel: kernel.Kernel{Name: "exp-chi2"}}, true},
		{Config{Map: Skewed, Kernel: kernel.Kernel{Name: "skewed-chi2"}}, true},
		{Config{Map: Nystrom, Kernel: rbf}, false},
		{Config{Map: Unary, Kernel: kernel.Kernel{Name: "intersection"}}, false},
		{Config{Map: Chain, Steps: []Config{{Map: CountSketch, Kernel: linear}, {Map: RFF, Kernel: rbf}}}, true},
		{Config{Map: Sum, Steps: []Config{{Map: RFF, Kernel: rbf}}}, false},
		{Config{Map: "magic", Kernel: rbf}, false},
	} {
		if got := Pairs(c.cfg); got != c.want {
			t.Errorf("%+v: %t", c.cfg, got)
		}
	}
}
