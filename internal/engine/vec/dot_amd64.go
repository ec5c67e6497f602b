//go:build amd64 && !purego

package vec

// longestDot is how many elements one call of a kernel gets, because it cannot be preempted.
// It determines the bits of longer dot products.
const longestDot = 1 << 15

// longestAxpy is the same for scaled sums. It is shorter, since untouched
// pages fault twice, on reading and on writing.
const longestAxpy = 1 << 13

// These process the first elements, as many as one call may and the block allows, and
// return their number.

func dotBlocks32(x, y []float32) (sum float32, n int) {
	n = min(len(x), longestDot) &^ 15
	switch {
	case n == 0 || level == generic:
		return 0, 0
	case level == avx512:
		return dot32_avx512(&x[0], &y[0], n), n
	}
	return dot32_avx2(&x[0], &y[0], n), n
}

func axpyBlocks32(alpha float32, x []float32, y []float32) (n int) {
	n = min(len(x), longestAxpy) &^ 15
	switch {
	case n == 0:
	case level == avx512:
		axpy32_avx512(alpha, &x[0], &y[0], n)
	default:
		axpy32_avx2(alpha, &x[0], &y[0], n)
	}
	return n
}

func dotBlocks64(x, y []float64) (sum float64, n int) {
	n = min(len(x), longestDot) &^ 7
	switch {
	case n == 0 || level == generic:
		return 0, 0
	case level == avx512:
		return dot64_avx512(&x[0], &y[0], n), n
	}
	return dot64_avx2(&x[0], &y[0], n), n
}

func axpyBlocks64(alpha float64, x []float64, y []float64) (n int) {
	n = min(len(x), longestAxpy) &^ 7
	switch {
	case n == 0:
	case level == avx512:
		axpy64_avx512(alpha, &x[0], &y[0], n)
	default:
		axpy64_avx2(alpha, &x[0], &y[0], n)
	}
	return n
}

func dotBlocksWide(x, y []float32) (sum float64, n int) {
	n = min(len(x), longestDot) &^ 7
	switch {
	case n == 0 || level == generic:
		return 0, 0
	case level == avx512:
		return dotWide64_avx512(&x[0], &y[0], n), n
	}
	return dotWide64_avx2(&x[0], &y[0], n), n
}

func dotBlocksMixed(x []float32, y []float64) (sum float64, n int) {
	n = min(len(x), longestDot) &^ 7
	switch {
	case n == 0 || level == generic:
		return 0, 0
	case level == avx512:
		return dotMixed64_avx512(&x[0], &y[0], n), n
	}
	return dotMixed64_avx2(&x[0], &y[0], n), n
}

func axpyBlocksWide(alpha float64, x []float32, y []float64) (n int) {
	n = min(len(x), longestAxpy) &^ 7
	switch {
	case n == 0:
	case level == avx512:
		axpyWide64_avx512(alpha, &x[0], &y[0], n)
	default:
		axpyWide64_avx2(alpha, &x[0], &y[0], n)
	}
	return n
}

func fetch64(x *float64, lines int) {
	switch level {
	case avx512:
		fetch64_avx512(x, lines)
	case avx2:
		fetch64_avx2(x, lines)
	}
}

// subtractRows subtracts from y the rows of x, each times its alpha: y -= Σ alpha[l·stride]·x[l·ldx:].
func subtractRows(rows int, alpha []float64, stride int, x []float64, ldx int, y []float64) {
	if rows == 0 || len(y) == 0 {
		return
	}
	_, _ = alpha[(rows-1)*stride], x[(rows-1)*ldx+len(y)-1]
	if level == generic {
		subtractRowsPlain(rows, alpha, stride, x, ldx, y)
		return
	}
	for lo := 0; lo < len(y); lo += longestAxpy {
		n := min(longestAxpy, len(y)-lo)
		if level == avx512 {
			subtractRows64_avx512(rows, &alpha[0], 8*stride, &x[lo], 8*ldx, &y[lo], n)
		} else {
			subtractRows64_avx2(rows, &alpha[0], 8*stride, &x[lo], 8*ldx, &y[lo], n)
		}
	}
}

// divide divides x by d.
func divide(x []float64, d float64) {
	n := len(x) &^ 7
	switch {
	case n == 0 || level == generic:
		n = 0
	case level == avx512:
		divide64_avx512(d, &x[0], n)
	default:
		divide64_avx2(d, &x[0], n)
	}
	for i := range x[n:] {
		x[n+i] /= d
	}
}
