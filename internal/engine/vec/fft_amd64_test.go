//go:build amd64 && !purego

package vec

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// The levels do the same butterflies; an odd node's twiddle is rounded by itself in some, as i
// times its sibling's in others.
func TestFFTLevelsAgree(t *testing.T) {
	defer setLevel(level)
	r := rand.New(rand.NewPCG(32, 1))
	for n := 8; n <= 1<<16; n *= 2 {
		x := numbers[float32](r, n)
		var want []complex128
		for l := generic; l <= best(); l++ {
			setLevel(l)
			got := spectrum(NewFFT(n), x)
			if l == generic {
				for _, v := range got {
					want = append(want, complex128(v))
				}
			}
			if e := relativeComplex(got, want); !(e < fftBound(n)) {
				t.Errorf("%d numbers: %s differs from %s by %.2g", n, names[l], names[generic], e)
			}
		}
	}
}

// FuzzFFTLevels takes the convolution of the data with itself, of lengths from 8 to 2¹⁴, at
// every level of instructions.
func FuzzFFTLevels(f *testing.F) {
	f.Add(uint8(0), []byte{0, 0, 128, 63})
	f.Add(uint8(7), []byte{0, 0, 128, 63, 0, 0, 0, 192, 255, 255, 127, 127})
	f.Add(uint8(11), []byte{1, 0, 0, 0, 0, 0, 192, 127, 0, 0, 128, 255})
	f.Fuzz(func(t *testing.T, size uint8, data []byte) {
		n := 8 << (size % 12)
		x := make([]float32, n)
		finite := true
		for i := 0; i+4 <= len(data) && i/4 < n; i += 4 {
			v := math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))
			// Others overflow or underflow here and there, which rounding may decide.
			if a := math.Abs(float64(v)); v != 0 && v == v && (a < 1e-12 || a > 1e12) {
				v = float32(math.Copysign(1, float64(v)))
			}
			x[i/4] = v
			finite = finite && v == v
		}
		defer setLevel(level)
		var first []float32
		for l := generic; l <= best(); l++ {
			setLevel(l)
			plan := NewFFT(n)
			z := make([]float32, n)
			plan.Forward(z, x)
			plan.MulForward(z, x)
			plan.Inverse(z, z)
			if l == generic {
				first = z
				continue
			}
			var size, off float64
			for i, v := range x {
				size += float64(v) * float64(v)
				off = max(off, math.Abs(float64(z[i])-float64(first[i])))
			}
			// A convolution is at most the product of the norms.
			if finite && !(off <= 8*fftBound(n)*size) {
				t.Fatalf("%d numbers: %s and %s differ by %g; ‖x‖² = %g", n, names[generic], names[l], off, size)
			}
			if !finite && (z[0] == z[0] || first[0] == first[0]) {
				t.Fatalf("%d numbers: a NaN gives %g and %g", n, z[0], first[0])
			}
		}
	})
}
