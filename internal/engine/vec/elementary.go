package vec

import "math"

// Elementary functions over slices. At the levels with assembly, an element outside the
// range of the method (a huge argument of cos, say) is computed by the portable function, so that
// every argument gets an accurate result; no result depends on the elements around it.
//
// Every dst may be x itself, otherwise they must not overlap; it has x's length.

// Cos32 computes dst = scale·cos(x). The absolute error is at most 2.5·10⁻⁷·scale for
// every finite x; of a NaN or an infinity, the result is NaN.
func Cos32(dst, x []float32, scale float32) { apply32(cosine, dst[:len(x)], nil, x, scale) }

// Sin32 computes dst = scale·sin(x), as Cos32 does.
func Sin32(dst, x []float32, scale float32) { apply32(sine, dst[:len(x)], nil, x, scale) }

// SinCos32 computes sin = scale·sin(x) and cos = scale·cos(x), as Cos32 does. One of sin and
// cos may be x.
func SinCos32(sin, cos, x []float32, scale float32) {
	apply32(sineCosine, sin[:len(x)], cos[:len(x)], x, scale)
}

// Exp32 computes dst = exp(x) within 2 units in the last place.
func Exp32(dst, x []float32) { apply32(exponential, dst[:len(x)], nil, x, 0) }

// Log32 computes dst = log(x), the natural logarithm, within 2 units in the last place: -Inf
// of 0, NaN of negative numbers.
func Log32(dst, x []float32) { apply32(logarithm, dst[:len(x)], nil, x, 0) }

// SignedRoot32 computes the square root of |x| with the sign of x, correctly rounded.
func SignedRoot32(dst, x []float32) { apply32(signedRoot, dst[:len(x)], nil, x, 0) }

// Cos64 computes dst = scale·cos(x). The absolute error is at most 8·10⁻¹⁶·scale for |x| ≤
// 10⁹ and that of math.Cos beyond; of a NaN or an infinity, the result is NaN.
func Cos64(dst, x []float64, scale float64) { apply64(cosine, dst[:len(x)], nil, x, scale) }

// Sin64 computes dst = scale·sin(x), as Cos64 does.
func Sin64(dst, x []float64, scale float64) { apply64(sine, dst[:len(x)], nil, x, scale) }

// SinCos64 computes sin = scale·sin(x) and cos = scale·cos(x), as Cos64 does. One of sin and
// cos may be x.
func SinCos64(sin, cos, x []float64, scale float64) {
	apply64(sineCosine, sin[:len(x)], cos[:len(x)], x, scale)
}

// Exp64 computes dst = exp(x) within 2 units in the last place.
func Exp64(dst, x []float64) { apply64(exponential, dst[:len(x)], nil, x, 0) }

// Log64 computes dst = log(x), the natural logarithm, within 2 units in the last place: -Inf
// of 0, NaN of negative numbers.
func Log64(dst, x []float64) { apply64(logarithm, dst[:len(x)], nil, x, 0) }

// SignedRoot64 computes the square root of |x| with the sign of x, correctly rounded.
func SignedRoot64(dst, x []float64) { apply64(signedRoot, dst[:len(x)], nil, x, 0) }

// Decay64 computes dst = p(z)·exp(-z) of z = √x, x ≥ 0, where p is 1, 1+z or 1+z+z²/3 for degree 0, 1 or 2. The relative
// error is at most (6+z)·1.2·10⁻¹⁶: that of z and those of its functions.
func Decay64(dst, x []float64, degree int) {
	apply64([...]function{decay0, decay1, decay2}[degree], dst[:len(x)], nil, x, 0)
}

type function int

const (
	cosine function = iota
	sine
	sineCosine
	exponential
	logarithm
	signedRoot
	decay0 // of 64 bits only, as the following
	decay1
	decay2
)

// mostDecay is a z at which the results of Decay64 are 0.
const mostDecay = 1000

// group is a multiple of the elements that any kernel processes together.
const group = 64

// mostAtOnce is how many elements one call of a kernel gets: assembly cannot be preempted,
// and most of the time of a call may go into first touching pages.
const mostAtOnce = 1 << 13

// apply32 computes a function over x; dst2 is for cosines in addition to sines.
func apply32(f function, dst, dst2, x []float32, scale float32) {
	if level == generic {
		for i, v := range x {
			if y, y2 := single32(f, v, scale); f == sineCosine {
				dst[i], dst2[i] = y, y2
			} else {
				dst[i] = y
			}
		}
		return
	}
	for len(x) > 0 {
		done := run32(f, dst, dst2, x[:min(len(x), mostAtOnce)/group*group], scale)
		if done == 0 {
			done = min(len(x), group)
			group32(f, dst, dst2, x[:done], scale)
		}
		dst, x = dst[done:], x[done:]
		if f == sineCosine {
			dst2 = dst2[done:]
		}
	}
}

// group32 is apply32 for a group that is short, or that has elements for the portable
// function.
func group32(f function, dst, dst2, x []float32, scale float32) {
	var in, out, out2 [group]float32
	for i := range in {
		in[i] = 1
	}
	copy(in[:], x)
	if run32(f, out[:], out2[:], in[:], scale) == group {
		copy(dst[:len(x)], out[:])
		if f == sineCosine {
			copy(dst2[:len(x)], out2[:])
		}
		return
	}
	for i, v := range x {
		for k := range in {
			in[k] = v
		}
		if run32(f, out[:], out2[:], in[:], scale) == 0 {
			out[0], out2[0] = single32(f, v, scale)
		}
		dst[i] = out[0]
		if f == sineCosine {
			dst2[i] = out2[0]
		}
	}
}

// single32 is the portable function of one number.
func single32(f function, x, scale float32) (y, y2 float32) {
	switch f {
	case exponential:
		return float32(math.Exp(float64(x))), 0
	case logarithm:
		return float32(math.Log(float64(x))), 0
	case signedRoot:
		return float32(math.Copysign(math.Sqrt(math.Abs(float64(x))), float64(x))), 0
	}
	y, y2 = sinCos32(x, scale)
	if f == cosine {
		return y2, 0
	}
	return y, y2
}

// apply64 computes a function over x; dst2 is for cosines in addition to sines.
func apply64(f function, dst, dst2, x []float64, scale float64) {
	if level == generic {
		for i, v := range x {
			if y, y2 := single64(f, v, scale); f == sineCosine {
				dst[i], dst2[i] = y, y2
			} else {
				dst[i] = y
			}
		}
		return
	}
	for len(x) > 0 {
		done := run64(f, dst, dst2, x[:min(len(x), mostAtOnce)/group*group], scale)
		if done == 0 {
			done = min(len(x), group)
			group64(f, dst, dst2, x[:done], scale)
		}
		dst, x = dst[done:], x[done:]
		if f == sineCosine {
			dst2 = dst2[done:]
		}
	}
}

// group64 is apply64 for a group that is short, or that has elements for the portable
// function.
func group64(f function, dst, dst2, x []float64, scale float64) {
	var in, out, out2 [group]float64
	for i := range in {
		in[i] = 1
	}
	copy(in[:], x)
	if run64(f, out[:], out2[:], in[:], scale) == group {
		copy(dst[:len(x)], out[:])
		if f == sineCosine {
			copy(dst2[:len(x)], out2[:])
		}
		return
	}
	for i, v := range x {
		for k := range in {
			in[k] = v
		}
		if run64(f, out[:], out2[:], in[:], scale) == 0 {
			out[0], out2[0] = single64(f, v, scale)
		}
		dst[i] = out[0]
		if f == sineCosine {
			dst2[i] = out2[0]
		}
	}
}

// single64 is the portable function of one number.
func single64(f function, x, scale float64) (y, y2 float64) {
	switch f {
	case exponential:
		return math.Exp(x), 0
	case logarithm:
		return math.Log(x), 0
	case signedRoot:
		return math.Copysign(math.Sqrt(math.Abs(x)), x), 0
	case decay0, decay1, decay2:
		z := min(math.Sqrt(x), mostDecay)
		p := [...]float64{1, 1 + z, 1 + z + float64(z*z/3)}
		root := math.Exp(-z / 2) // so that small results are rounded once
		return p[f-decay0] * root * root, 0
	}
	y, y2 = math.Sincos(x)
	if f == cosine {
		y = y2
	}
	return scale * y, scale * y2
}
