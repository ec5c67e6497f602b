package vec

import (
	"math"
	"math/bits"
)

// sinCos32 returns scale·sin x and scale·cos x with absolute errors below 10⁻⁷·scale, for every
// finite x; of a NaN or an infinity, NaN.
func sinCos32(x, scale float32) (sin, cos float32) {
	n, f := halfTurns(x)
	if !(x <= reducible && x >= -reducible) {
		n, f = halfTurnsOfHuge(x)
	}
	signed := flip(float64(scale), n)
	return float32(float64(signed * sinPi(f))), float32(float64(signed * cosPi(f)))
}

// In the following, every product that enters a sum is converted explicitly, so that
// no machine fuses the two and all give the same bits.

// reducible is the largest |x| whose half-turns one float64 product determines well enough: the
// error in x - πn is 2²⁸·2⁻⁵³ = 3·10⁻⁸.
const reducible = 1 << 28

// toInt is 1.5·2⁵²: added to a float64 below 2⁵¹, it leaves the nearest integer in the low
// bits of the sum.
const toInt = 0x1.8p52

// halfTurns returns f in [-½, ½] and n with x = π(n + f), up to whole turns: of n, only the
// lowest bit counts. |x| is at most reducible.
func halfTurns(x float32) (n uint64, f float64) {
	t := float64(float64(x) * (1 / math.Pi))
	shifted := t + toInt
	return math.Float64bits(shifted), t - (shifted - toInt)
}

// flip changes the sign of s if n is odd: cos(π(n+f)) = (-1)ⁿ cos(πf), and sin likewise.
func flip(s float64, n uint64) float64 {
	return math.Float64frombits(math.Float64bits(s) ^ n<<63)
}

// sinPi returns sin(πf) for |f| ≤ ½ by the polynomial that minimises the largest relative
// error (Remez), 5·10⁻⁹.
func sinPi(f float64) float64 {
	z := float64(f * f)
	p := float64(z*0.07756038701576529) - 0.598242126574501
	p = float64(z*p) + 2.5500697263927234
	p = float64(z*p) - 5.167709684805174
	p = float64(z*p) + 3.1415926368955622
	return float64(f * p)
}

// cosPi returns cos(πf) for |f| ≤ ½ by the polynomial that minimises the largest absolute
// error (Remez), 2·10⁻¹⁰.
func cosPi(f float64) float64 {
	z := float64(f * f)
	p := float64(z*-0.024396716647926198) + 0.23493755902070812
	p = float64(z*p) - 1.3352120566941559
	p = float64(z*p) + 4.058709164346715
	p = float64(z*p) - 4.9348021372285835
	return float64(z*p) + 0.9999999997806543
}

// invPi holds the first 256 bits of 1/π after the binary point, highest first.
var invPi = [4]uint64{0x517cc1b727220a94, 0xfe13abe8fa9a6ee0, 0x6db14acc9e21c820, 0xff28b1d5ef5de2b0}

// halfTurnsOfHuge is halfTurns for |x| > 2²⁸ (Payne and Hanek 1983). x is m·2^e with an
// integer m < 2²⁴ and 5 ≤ e ≤ 104. The bits of 1/π before the (e-1)-th contribute whole turns
// to m·2^e/π and drop out; of the rest 128 suffice.
func halfTurnsOfHuge(x float32) (n uint64, f float64) {
	pattern := math.Float32bits(x)
	e := int(pattern>>23&0xff) - 150
	if e > 104 {
		return 0, math.NaN()
	}
	m := uint64(pattern&(1<<23-1) | 1<<23)
	word, shift := (e-1)/64, uint(e-1)%64
	w := func(i int) uint64 {
		if i == len(invPi)-1 {
			return invPi[i] << shift
		}
		return invPi[i]<<shift | invPi[i+1]>>(64-shift)
	}
	// The high half of m times the window, modulo 2¹²⁸: t = turns/2⁶³ lies in [0, 2).
	carry, _ := bits.Mul64(m, w(word+1))
	turns := m*w(word) + carry
	n = (turns + 1<<62) >> 63
	f = float64(int64(turns-n<<63)) * 0x1p-63
	if x < 0 {
		f = -f
	}
	return n, f
}
