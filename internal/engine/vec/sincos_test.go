package vec

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/big"
	"testing"
)

// pi to 400 bits, by Machin's formula π = 16 arctan(1/5) - 4 arctan(1/239).
func bigPi() *big.Float {
	arctan := func(n int64) *big.Float { // of 1/n
		sum, power := newBig(0), new(big.Float).Quo(newBig(1), newBig(n))
		for k := int64(0); power.MantExp(nil) > -450; k++ {
			term := newBig(0).Quo(power, newBig(2*k+1))
			if k%2 == 0 {
				sum.Add(sum, term)
			} else {
				sum.Sub(sum, term)
			}
			power.Quo(power, newBig(n*n))
		}
		return sum
	}
	a, b := arctan(5), arctan(239)
	return a.Sub(a.Mul(a, newBig(16)), b.Mul(b, newBig(4)))
}

func newBig(n int64) *big.Float { return new(big.Float).SetPrec(450).SetInt64(n) }

func TestInvPiHoldsTheBitsOfOneOverPi(t *testing.T) {
	x := newBig(0).Quo(newBig(1), bigPi())
	for i, want := range invPi {
		x.SetMantExp(x, 64)
		word, _ := x.Uint64()
		if word != want {
			t.Errorf("word %d is %#x, want %#x", i, want, word)
		}
		x.Sub(x, new(big.Float).SetPrec(450).SetUint64(word))
	}
}

// exactly returns sin x and cos x with x reduced in 450 bits.
func exactly[T float32 | float64](x T, pi *big.Float) (sin, cos float64) {
	turn := newBig(0).Mul(pi, newBig(2))
	r := new(big.Float).SetPrec(450).SetFloat64(float64(x))
	n, _ := newBig(0).Quo(r, turn).Int(nil)
	r.Sub(r, turn.Mul(turn, new(big.Float).SetPrec(450).SetInt(n)))
	y, _ := r.Float64()
	return math.Sincos(y)
}

// arguments are float32 numbers of every size, with all that is special about them.
func arguments() []float32 {
	x := []float32{
		0, float32(math.Copysign(0, -1)), 1e-45, -1e-45, 1e-40, math.MaxFloat32, -math.MaxFloat32,
		reducible, -reducible, math.Nextafter32(reducible, math.MaxFloat32),
		-math.Nextafter32(reducible, math.MaxFloat32),
		// Nearest to a multiple of π/2 of all float32.
		16367173 * 0x1p72, -16367173 * 0x1p72, 0x1.921fb6p+0, 0x1.921fb6p+1,
	}
	state := uint32(1)
	for e := range 255 {
		for range 200 {
			state = state*1664525 + 1013904223
			x = append(x, math.Float32frombits(state&(1<<31|1<<23-1)|uint32(e)<<23))
		}
	}
	for k := float32(-400); k < 400; k++ { // where the quadrants meet
		y := k * (math.Pi / 4)
		x = append(x, y, math.Nextafter32(y, 1e9), math.Nextafter32(y, -1e9))
	}
	return x
}

func TestPortableSinCosIsAccurateEverywhere(t *testing.T) {
	pi := bigPi()
	const scale = 0.125
	for _, v := range arguments() {
		sin, cos := sinCos32(v, scale)
		wantSin, wantCos := exactly(v, pi)
		if e := math.Abs(float64(sin)/scale - wantSin); !(e < 1e-7) {
			t.Errorf("sin %g = %g, want %g, error %g", v, sin/scale, wantSin, e)
		}
		if e := math.Abs(float64(cos)/scale - wantCos); !(e < 1e-7) {
			t.Errorf("cos %g = %g, want %g, error %g", v, cos/scale, wantCos, e)
		}
		if math.Abs(float64(v)) < 1e-3 {
			if e := math.Abs(float64(sin) - scale*wantSin); e > 1e-7*scale*math.Abs(wantSin)+1e-45 {
				t.Errorf("sin %g = %g: relative error %g", v, sin/scale, e/math.Abs(scale*wantSin))
			}
		}
	}
}

// The same bits on every architecture: FNV-1a of the results, recorded on amd64.
func TestPortableSinCosHasTheSameBitsEverywhere(t *testing.T) {
	x := arguments()
	sin, cos := make([]float32, len(x)), make([]float32, len(x))
	for i, v := range x {
		sin[i], cos[i] = sinCos32(v, 0.1)
	}
	h := fnv.New64a()
	for _, result := range [][]float32{sin, cos} {
		if err := binary.Write(h, binary.LittleEndian, result); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.Sum64(); got != 0x1b87f015eb7d9b0d {
		t.Errorf("hash %#x", got)
	}
}
