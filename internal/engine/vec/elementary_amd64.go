//go:build amd64 && !purego

package vec

// run32 computes a function over x, whose length is a multiple of group, up to the first group
// with an element outside the kernel's range. It returns how many are done.
func run32(f function, dst, dst2, x []float32, scale float32) int {
	n := len(x)
	if n == 0 {
		return 0
	}
	y := &dst[:n][0]
	if level == avx512 {
		switch f {
		case cosine:
			return cos32_avx512(y, &x[0], n, scale)
		case sine:
			return sin32_avx512(y, &x[0], n, scale)
		case sineCosine:
			return sincos32_avx512(y, &dst2[:n][0], &x[0], n, scale)
		case exponential:
			return exp32_avx512(y, &x[0], n)
		case logarithm:
			return log32_avx512(y, &x[0], n)
		}
		return signedRoot32_avx512(y, &x[0], n)
	}
	switch f {
	case cosine:
		return cos32_avx2(y, &x[0], n, scale)
	case sine:
		return sin32_avx2(y, &x[0], n, scale)
	case sineCosine:
		return sincos32_avx2(y, &dst2[:n][0], &x[0], n, scale)
	case exponential:
		return exp32_avx2(y, &x[0], n)
	case logarithm:
		return log32_avx2(y, &x[0], n)
	}
	return signedRoot32_avx2(y, &x[0], n)
}

// run64 computes a function over x, whose length is a multiple of group, up to the first group
// with an element outside the kernel's range. It returns how many are done.
func run64(f function, dst, dst2, x []float64, scale float64) int {
	n := len(x)
	if n == 0 {
		return 0
	}
	y := &dst[:n][0]
	if level == avx512 {
		switch f {
		case cosine:
			return cos64_avx512(y, &x[0], n, scale)
		case sine:
			return sin64_avx512(y, &x[0], n, scale)
		case sineCosine:
			return sincos64_avx512(y, &dst2[:n][0], &x[0], n, scale)
		case exponential:
			return exp64_avx512(y, &x[0], n)
		case logarithm:
			return log64_avx512(y, &x[0], n)
		case decay0:
			return decay0of64_avx512(y, &x[0], n)
		case decay1:
			return decay1of64_avx512(y, &x[0], n)
		case decay2:
			return decay2of64_avx512(y, &x[0], n)
		}
		return signedRoot64_avx512(y, &x[0], n)
	}
	switch f {
	case cosine:
		return cos64_avx2(y, &x[0], n, scale)
	case sine:
		return sin64_avx2(y, &x[0], n, scale)
	case sineCosine:
		return sincos64_avx2(y, &dst2[:n][0], &x[0], n, scale)
	case exponential:
		return exp64_avx2(y, &x[0], n)
	case logarithm:
		return log64_avx2(y, &x[0], n)
	case decay0:
		return decay0of64_avx2(y, &x[0], n)
	case decay1:
		return decay1of64_avx2(y, &x[0], n)
	case decay2:
		return decay2of64_avx2(y, &x[0], n)
	}
	return signedRoot64_avx2(y, &x[0], n)
}
