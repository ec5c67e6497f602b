package vec

import "math"

// Scale32 writes (x_j - shift_j)·factor_j, computed in float64, into dst, which may be x; a nil shift is none.
// It panics if dst, shift or factor is shorter than x.
func Scale32(dst, x []float32, shift, factor []float64) {
	dst, factor = dst[:len(x)], factor[:len(x)]
	if shift == nil {
		for j := scaleVectors(dst, x, nil, factor); j < len(x); j++ {
			dst[j] = float32(float64(x[j]) * factor[j])
		}
		return
	}
	shift = shift[:len(x)]
	for j := scaleVectors(dst, x, shift, factor); j < len(x); j++ {
		dst[j] = float32((float64(x[j]) - shift[j]) * factor[j])
	}
}

// Round32 rounds numbers to float32: dst_j = float32(x_j). It panics if dst is shorter than x.
func Round32(dst []float32, x []float64) {
	dst = dst[:len(x)]
	for j := roundVectors(dst, x, 0); j < len(x); j++ {
		dst[j] = float32(x[j])
	}
}

// negligible is a value of a kernel, of at most about 1, that is lost beside any other in float32, as are products of two of them.
const negligible = 0x1p-60

// RoundValues rounds values of a kernel to float32. Those below 2⁻⁶⁰ in absolute value become 0: machines take a hundred times as
// long for products of numbers near the smallest that there are, and a narrow kernel has many. It panics if dst is shorter than x.
func RoundValues(dst []float32, x []float64) {
	dst = dst[:len(x)]
	for j := roundVectors(dst, x, negligible); j < len(x); j++ {
		if v := x[j]; math.Abs(v) < negligible {
			dst[j] = 0
		} else {
			dst[j] = float32(v)
		}
	}
}

// Expand32 converts numbers to float64: dst_j = float64(x_j). It panics if dst is shorter than x.
func Expand32(dst []float64, x []float32) {
	dst = dst[:len(x)]
	for j := expandVectors(dst, x); j < len(x); j++ {
		dst[j] = float64(x[j])
	}
}

// Distances64 turns products s_j = x·y_j into squared distances times a factor, from the squared lengths of x and y_j:
// s_j = factor·max(0, norm + norms_j - 2s_j). It panics if norms is shorter than s.
func Distances64(s, norms []float64, norm, factor float64) {
	norms = norms[:len(s)]
	for j := distanceVectors(s, norms, norm, factor); j < len(s); j++ {
		s[j] = factor * max(0, norm+norms[j]-2*s[j])
	}
}

// Finite32 reports whether all numbers of x are finite.
func Finite32(x []float32) bool {
	n, ok := finiteVectors(x)
	if !ok {
		return false
	}
	for _, v := range x[n:] {
		if v-v != 0 {
			return false
		}
	}
	return true
}
