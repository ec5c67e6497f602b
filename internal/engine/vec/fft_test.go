package vec

import (
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// fftSizes has every path: each number of levels, one group and several, passes over all nodes
// and node by node, and lengths that are not powers of two.
var fftSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, 100, 101, 128, 256, 512, 1000, 1024, 2048, 4096}

// naiveDFT computes X_0, …, X_{n/2} by the definition.
func naiveDFT(x []float32) []complex128 {
	n := len(x)
	roots := make([]complex128, n)
	for j := range roots {
		roots[j] = cmplx.Exp(complex(0, -2*math.Pi*float64(j)/float64(n)))
	}
	out := make([]complex128, n/2+1)
	for k := range out {
		for j, v := range x {
			out[k] += complex(float64(v), 0) * roots[j*k%n]
		}
	}
	return out
}

// naiveConvolution computes z_k = Σ_j x_j·y_{k-j mod n}.
func naiveConvolution(x, y []float32) []float64 {
	n := len(x)
	z := make([]float64, n)
	for j, v := range x {
		for k, w := range y {
			z[(j+k)%n] += float64(v) * float64(w)
		}
	}
	return z
}

// fftBound is the promised bound of the relative error of a transform: a level's butterfly
// rounds each number a few times, by at most 2⁻²⁴ of its size, and is orthogonal but for a
// factor, so that errors of different levels add up like their norms, at most linearly.
func fftBound(n int) float64 { return 0x1p-24 * math.Log2(float64(max(n, 2))) }

// relative is ‖got - want‖/‖want‖.
func relative[T float32 | float64](got []float32, want []T) float64 {
	var off, norm float64
	for i, v := range want {
		d := float64(got[i]) - float64(v)
		off += d * d
		norm += float64(v) * float64(v)
	}
	return math.Sqrt(off / norm)
}

func relativeComplex(got []complex64, want []complex128) float64 {
	var off, norm float64
	for i, v := range want {
		d := cmplx.Abs(complex128(got[i]) - v)
		off += d * d
		norm += real(v)*real(v) + imag(v)*imag(v)
	}
	return math.Sqrt(off / norm)
}

// spectrum is X_0, …, X_{n/2} by f.
func spectrum(f *FFT, x []float32) []complex64 {
	s, natural := make([]float32, len(x)), make([]complex64, len(x)/2+1)
	f.Forward(s, x)
	f.Natural(natural, s)
	return natural
}

func TestFFTMatchesDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	inputs := make([][]float32, len(fftSizes))
	want := make([][]complex128, len(fftSizes))
	for i, n := range fftSizes {
		inputs[i] = numbers[float32](r, n)
		want[i] = naiveDFT(inputs[i])
	}
	everyLevel(t, func(t *testing.T) {
		for i, n := range fftSizes {
			if e := relativeComplex(spectrum(NewFFT(n), inputs[i]), want[i]); !(e < fftBound(n)) {
				t.Errorf("%d numbers: relative error %.2g, bound %.2g", n, e, fftBound(n))
			}
		}
	})
}

func TestFFTMatchesFloat64(t *testing.T) {
	step := 2
	if testing.Short() {
		step = 1 << 7 // the shortest and the longest
	}
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 2))
		for n := 1 << 13; n <= maxFFT; n *= step {
			x := numbers[float32](r, n)
			wide := make([]float64, n)
			for j, v := range x {
				wide[j] = float64(v)
			}
			want := fourier.NewFFT(n).Coefficients(nil, wide)
			f := NewFFT(n)
			if e := relativeComplex(spectrum(f, x), want); !(e < fftBound(n)) {
				t.Errorf("%d numbers: relative error %.2g, bound %.2g", n, e, fftBound(n))
			}
			s, y := make([]float32, n), make([]float32, n)
			f.Forward(s, x)
			f.Inverse(y, s)
			if e := relative(y, x); !(e < 2*fftBound(n)) {
				t.Errorf("%d numbers there and back: relative error %.2g", n, e)
			}
		}
	})
}

func TestFFTInverseIsTheInverse(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 3))
		for _, n := range fftSizes {
			f := NewFFT(n)
			x := numbers[float32](r, n)
			s, y := make([]float32, n), make([]float32, n)
			f.Forward(s, x)
			f.Inverse(y, s)
			if e := relative(y, x); !(e < 2*fftBound(n)) {
				t.Errorf("%d numbers: relative error %.2g", n, e)
			}
			z := append([]float32(nil), x...)
			f.Forward(z, z)
			same(t, fmt.Sprint(n, " numbers in place, spectrum"), z, s)
			f.Inverse(z, z)
			same(t, fmt.Sprint(n, " numbers in place, inverse"), z, y)
		}
	})
}

// same requires equality to the bit.
func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d of %d is %g, not %g", what, i, len(want), got[i], want[i])
		}
	}
}

func TestFFTProductsAreConvolutions(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 4))
		for _, n := range append(fftSizes[:len(fftSizes)-2:len(fftSizes)-2], 1<<14) {
			f := NewFFT(n)
			x, y := numbers[float32](r, n), numbers[float32](r, n)
			a, b, p, z := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
			f.Forward(a, x)
			f.Forward(b, y)
			copy(p, a)
			f.MulForward(p, y)
			f.Inverse(z, p)
			// Random signs: the norm of the convolution is about the product of the norms of x and
			// y, so that relative errors of the spectra add up.
			bound := 4 * fftBound(n)
			if n <= 1024 {
				if e := relative(z, naiveConvolution(x, y)); !(e < bound) {
					t.Errorf("%d numbers: relative error %.2g of the convolution, bound %.2g", n, e, bound)
				}
			}
			q := make([]float32, n)
			f.Mul(q, a, b)
			if e := relative(q, p); !(e < bound) {
				t.Errorf("%d numbers: Mul and MulForward differ by %.2g", n, e)
			}
			f.Mul(b, a, b)
			same(t, "Mul in place", b, q)
			f.Forward(b, y)
			f.InverseMul(q, a, b)
			if e := relative(q, z); !(e < bound) {
				t.Errorf("%d numbers: InverseMul and Inverse differ by %.2g", n, e)
			}
			f.InverseMul(b, a, b)
			same(t, "InverseMul in place", b, q)
		}
	})
}

func TestFFTOfImpulsesAndConstants(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, n := range fftSizes {
			f := NewFFT(n)
			x := make([]float32, n)
			x[0] = 1
			for k, v := range spectrum(f, x) {
				if v != 1 {
					t.Fatalf("%d numbers: X_%d of an impulse at 0 is %v", n, k, v)
				}
			}
			x[0] = 0
			x[n-1] = 1
			for k, v := range spectrum(f, x) {
				if d := cmplx.Abs(complex128(v) - cmplx.Exp(complex(0, 2*math.Pi*float64(k)/float64(n)))); d > 8*fftBound(n) {
					t.Fatalf("%d numbers: X_%d of an impulse at the end is off by %g", n, k, d)
				}
			}
			for j := range x {
				x[j] = 1
			}
			for k, v := range spectrum(f, x) {
				if want := complex(float32(n), 0); k == 0 && v != want || k > 0 && cmplx.Abs(complex128(v)) > float64(n)*fftBound(n) {
					t.Fatalf("%d numbers: X_%d of a constant is %v", n, k, v)
				}
			}
		}
	})
}

func TestFFTRefusesWrongLengths(t *testing.T) {
	f := NewFFT(8)
	s, short := make([]float32, 8), make([]float32, 7)
	for what, call := range map[string]func(){
		"NewFFT":     func() { NewFFT(0) },
		"Forward":    func() { f.Forward(s, short) },
		"MulForward": func() { f.MulForward(short, s) },
		"Mul":        func() { f.Mul(s, s, short) },
		"Inverse":    func() { f.Inverse(short, s) },
		"InverseMul": func() { f.InverseMul(s, s, short) },
		"Natural":    func() { f.Natural(make([]complex64, 4), s) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s takes a wrong length", what)
				}
			}()
			call()
		}()
	}
}

// Every leaf has a place of its own, and every frequency a leaf.
func TestFFTLeavesAreAllFrequencies(t *testing.T) {
	for _, n := range []int{8, 64, 1024} {
		seen := make([]bool, n)
		for k := 1; k < n/2; k++ {
			turns, b := nodeAngle(k)
			if b > bits.Len(uint(n))-1 {
				t.Fatalf("the leaf %d of %d lies between frequencies", k, n)
			}
			frequency := turns * (n >> b)
			if seen[frequency] || seen[n-frequency] {
				t.Fatalf("the leaf %d of %d repeats the frequency %d", k, n, frequency)
			}
			seen[frequency], seen[n-frequency] = true, true
		}
	}
}

func BenchmarkFFT(b *testing.B) {
	for _, n := range []int{1024, 4096, 16384} {
		f := NewFFT(n)
		x, s := numbers[float32](rand.New(rand.NewPCG(31, 8)), n), make([]float32, n)
		f.Forward(s, x)
		b.Run(fmt.Sprint("forward/", n), func(b *testing.B) {
			for b.Loop() {
				f.Forward(s, x)
			}
		})
		b.Run(fmt.Sprint("inverse/", n), func(b *testing.B) {
			for b.Loop() {
				f.Inverse(x, s)
			}
		})
	}
}

func TestFFTOfLargeNumbers(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 9))
		for _, n := range []int{8, 64, 1024, 1 << 15, maxFFT} {
			f := NewFFT(n)
			x := make([]float32, n)
			for j := range x {
				x[j] = float32(math.Copysign(math.Ldexp(1, 127)/float64(n)/float64(n), r.Float64()-0.5))
			}
			s, y := make([]float32, n), make([]float32, n)
			f.Forward(s, x)
			f.Inverse(y, s)
			if e := relative(y, x); !(e < 2*fftBound(n)) {
				t.Errorf("%d numbers there and back: relative error %.2g", n, e)
			}
		}
	})
}
