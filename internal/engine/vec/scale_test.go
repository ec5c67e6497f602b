package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// equalBits tells zeros of different sign apart, but not what is no number.
func equalBits(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

// scaledLengths are lengths around those of vectors and of the calls of a kernel.
var scaledLengths = []int{0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 784, 1<<15 - 1, 1 << 15, 1<<15 + 33}

func TestScaledNumbersAreTheirDefinition(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(81, 1))
		for _, n := range scaledLengths {
			x, shift, factor := numbers[float32](r, n), numbers[float64](r, n), numbers[float64](r, n)
			for j := range x {
				switch r.IntN(8) {
				case 0:
					x[j], factor[j] = float32(math.Copysign(0, -1)), 0
				case 1:
					factor[j] *= 1e-40 // subnormal
				case 2:
					x[j] *= 1e30
					factor[j] *= 1e10 // overflows
				case 3:
					shift[j] = float64(x[j])
				}
			}
			for _, s := range [][]float64{nil, shift} {
				dst := make([]float32, n+1)
				dst[n] = 7
				Scale32(dst, x, s, factor)
				inPlace := append([]float32(nil), x...)
				Scale32(inPlace, inPlace, s, factor)
				for j, v := range x {
					u := float64(v)
					if s != nil {
						u -= s[j]
					}
					if want := float32(u * factor[j]); !equalBits(dst[j], want) || !equalBits(inPlace[j], want) {
						t.Fatalf("%d numbers: place %d is %g, in place %g, want %g", n, j, dst[j], inPlace[j], want)
					}
				}
				if dst[n] != 7 {
					t.Errorf("%d numbers: one more is written", n)
				}
			}
		}
	})
}

func TestRoundedNumbersAreThoseOfGo(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(82, 1))
		special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64, 3.4028235e38, 0x1.fffffefffffffp127,
			0x1.ffffffp127, 1e-40, -1e-46, 0x1p-60, -0x1.fffp-61, -0x1p-60, 0x1p-61, 1e-300, 1 + 0x1p-24, 1 + 0x1.8p-23, 1 + 0x1p-24 + 0x1p-50}
		for _, n := range scaledLengths {
			x := numbers[float64](r, n)
			for j := range x {
				if r.IntN(3) == 0 {
					x[j] = special[r.IntN(len(special))]
				}
			}
			dst := make([]float32, n+1)
			dst[n] = 7
			Round32(dst, x)
			for j, v := range x {
				if !equalBits(dst[j], float32(v)) {
					t.Fatalf("%d numbers: %g at %d is rounded to %g", n, v, j, dst[j])
				}
			}
			RoundValues(dst, x)
			for j, v := range x {
				want := float32(v)
				if math.Abs(v) < 0x1p-60 {
					want = 0
				}
				if !equalBits(dst[j], want) {
					t.Fatalf("%d values: %g at %d is rounded to %g", n, v, j, dst[j])
				}
			}
			if dst[n] != 7 {
				t.Errorf("%d numbers: one more is written", n)
			}
		}
		dst := make([]float32, 40)
		for _, rounds := range []func(dst []float32, x []float64){Round32, RoundValues} {
			for at := range dst {
				x := make([]float64, len(dst))
				x[at] = math.NaN()
				if rounds(dst, x); dst[at] == dst[at] {
					t.Errorf("no number is rounded to %g", dst[at])
				}
			}
		}
	})
}

// One number that is not finite is found wherever it is; the largest ones are finite, whatever they add up to.
func TestFiniteNumbers(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, n := range scaledLengths {
			x := make([]float32, n)
			for j := range x {
				x[j] = math.MaxFloat32
			}
			if !Finite32(x) {
				t.Errorf("%d numbers are said not to be finite", n)
			}
			for j := 0; j < n; j += 1 + n/200 {
				for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					x[j] = float32(v)
					if Finite32(x) {
						t.Errorf("%d numbers: %g at %d is said to be finite", n, v, j)
					}
				}
				x[j] = -math.MaxFloat32
			}
		}
	})
}

func TestDistancesAreTheirDefinition(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(84, 1))
		for _, n := range scaledLengths {
			s, norms := numbers[float64](r, n+1), numbers[float64](r, n+1)
			if n > 3 {
				s[1], norms[2], s[3] = math.NaN(), math.Inf(1), math.Copysign(0, -1)
			}
			want := make([]float64, n)
			for j := range want {
				want[j] = 0.3 * max(0, 1.7+norms[j]-2*s[j])
			}
			guard := s[n]
			Distances64(s[:n], norms, 1.7, 0.3)
			for j, w := range want {
				if !identical(s[j], w) {
					t.Fatalf("%d of %d numbers: %g, want %g", j, n, s[j], w)
				}
			}
			if s[n] != guard {
				t.Fatalf("%d numbers: the one behind is written", n)
			}
		}
	})
}

func TestExpandedNumbersAreTheSame(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(85, 1))
		for _, n := range scaledLengths {
			x, dst := numbers[float32](r, n), make([]float64, n+1)
			if n > 3 {
				x[0], x[1], x[2], x[3] = float32(math.Inf(-1)), 1e-45, float32(math.NaN()), float32(math.Copysign(0, -1))
			}
			dst[n] = 7
			Expand32(dst, x)
			for j, v := range x {
				if !identical(dst[j], float64(v)) {
					t.Fatalf("%d of %d numbers: %g, want %g", j, n, dst[j], v)
				}
			}
			if dst[n] != 7 {
				t.Fatalf("%d numbers: the one behind is written", n)
			}
		}
	})
}
