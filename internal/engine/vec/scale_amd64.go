//go:build amd64 && !purego

package vec

// scaleStep is how many numbers a call of a kernel takes, which cannot be interrupted; a multiple of any
// two vectors.
const scaleStep = 1 << 15

// vectorsOf is how many of n numbers kernels take that take a multiple of twice the lanes, lanes at AVX2.
func vectorsOf(n, lanes int) int {
	switch level {
	case generic:
		return 0
	case avx512:
		lanes *= 2
	}
	return n &^ (2*lanes - 1)
}

// scaleVectors scales the first numbers, as many as kernels take, and returns how many.
func scaleVectors(dst, x []float32, shift, factor []float64) int {
	n := vectorsOf(len(x), 4)
	for j := 0; j < n; j += scaleStep {
		step := min(scaleStep, n-j)
		switch {
		case level == avx512 && shift != nil:
			shiftScale64_avx512(step, &dst[j], &x[j], &shift[j], &factor[j])
		case level == avx512:
			scale64_avx512(step, &dst[j], &x[j], nil, &factor[j])
		case shift != nil:
			shiftScale64_avx2(step, &dst[j], &x[j], &shift[j], &factor[j])
		default:
			scale64_avx2(step, &dst[j], &x[j], nil, &factor[j])
		}
	}
	return n
}

// roundVectors rounds the first numbers, as many as kernels take, and returns how many.
func roundVectors(dst []float32, x []float64, least float64) int {
	n := vectorsOf(len(x), 4)
	for j := 0; j < n; j += scaleStep {
		if step := min(scaleStep, n-j); level == avx512 {
			round64_avx512(step, &dst[j], &x[j], least)
		} else {
			round64_avx2(step, &dst[j], &x[j], least)
		}
	}
	return n
}

// expandVectors converts the first numbers, as many as kernels take, and returns how many.
func expandVectors(dst []float64, x []float32) int {
	n := vectorsOf(len(x), 4)
	for j := 0; j < n; j += scaleStep {
		if step := min(scaleStep, n-j); level == avx512 {
			expand64_avx512(step, &dst[j], &x[j])
		} else {
			expand64_avx2(step, &dst[j], &x[j])
		}
	}
	return n
}

// distanceVectors turns the first products into distances, as many as kernels take, and returns how many.
func distanceVectors(s, norms []float64, norm, factor float64) int {
	n := vectorsOf(len(s), 4)
	for j := 0; j < n; j += scaleStep {
		if step := min(scaleStep, n-j); level == avx512 {
			distances64_avx512(step, &s[j], &norms[j], norm, factor)
		} else {
			distances64_avx2(step, &s[j], &norms[j], norm, factor)
		}
	}
	return n
}

// finiteVectors reports whether the first n numbers, as many as kernels take, are finite.
func finiteVectors(x []float32) (n int, ok bool) {
	n = vectorsOf(len(x), 8)
	for j := 0; j < n; j += scaleStep {
		found := 0
		if step := min(scaleStep, n-j); level == avx512 {
			found = finite32_avx512(step, &x[j])
		} else {
			found = finite32_avx2(step, &x[j])
		}
		if found != 0 {
			return n, false
		}
	}
	return n, true
}
