//go:build amd64 && !purego

package vec

import "unsafe"

// hadamardShape is the numbers of a block of the first pass, and the most rows of a later one.
func hadamardShape[T float32 | float64]() (block, radix int) {
	switch level {
	case avx512:
		return 1024 / int(unsafe.Sizeof(T(0))), 16
	case avx2:
		return 256 / int(unsafe.Sizeof(T(0))), 8
	}
	return portableBlock, portableRadix
}

// hadamardLanes is the numbers in a vector.
func hadamardLanes[T float32 | float64]() int {
	if level == generic {
		return 1
	}
	block, radix := hadamardShape[T]()
	return block / radix
}

// hadamardRows transforms rows of n numbers, 2 ≤ n ≤ block, stride apart.
func hadamardRows[T float32 | float64](x []T, n, stride, rows int) {
	if level == generic {
		portableRows(x, n, stride, rows)
		return
	}
	if lanes := hadamardLanes[T](); n < lanes { // whole vectors, and the rest in Go
		whole := 0
		if stride == n {
			whole = rows * n / lanes * (lanes / n)
		}
		if whole < rows {
			portableRows(x[whole*stride:], n, stride, rows-whole)
		}
		if rows = whole; rows == 0 {
			return
		}
	}
	switch x0 := any(&x[0]).(type) {
	case *float32:
		if level == avx512 {
			hadamardRows32_avx512(x0, n, stride*4, rows)
		} else {
			hadamardRows32_avx2(x0, n, stride*4, rows)
		}
	case *float64:
		if level == avx512 {
			hadamardRows64_avx512(x0, n, stride*8, rows)
		} else {
			hadamardRows64_avx2(x0, n, stride*8, rows)
		}
	}
}

// hadamardChain computes dst = s∘H(d_k∘…H(d_1∘src)) for count blocks that follow each other, in
// src every step numbers; d_i are round numbers apart. A block is n numbers, 2 ≤ n ≤ block,
// or a vector that holds several transforms of n.
func hadamardChain[T float32 | float64](dst, src, d, s []T, n, rounds, round, step, count int) {
	if level == generic {
		portableChain(dst, src, d, s, n, rounds, round, step, count)
		return
	}
	switch y := any(&dst[0]).(type) {
	case *float32:
		x, d, s := any(&src[0]).(*float32), any(&d[0]).(*float32), any(&s[0]).(*float32)
		if level == avx512 {
			hadamardChain32_avx512(y, x, d, s, n, rounds, 4*round, 4*step, count)
		} else {
			hadamardChain32_avx2(y, x, d, s, n, rounds, 4*round, 4*step, count)
		}
	case *float64:
		x, d, s := any(&src[0]).(*float64), any(&d[0]).(*float64), any(&s[0]).(*float64)
		if level == avx512 {
			hadamardChain64_avx512(y, x, d, s, n, rounds, 8*round, 8*step, count)
		} else {
			hadamardChain64_avx2(y, x, d, s, n, rounds, 8*round, 8*step, count)
		}
	}
}

// hadamardFirst computes dst = H(d∘src) for each block.
func hadamardFirst[T float32 | float64](dst, src, d []T) {
	if level == generic {
		portableFirst(dst, src, d)
		return
	}
	switch dst0 := any(&dst[0]).(type) {
	case *float32:
		if level == avx512 {
			hadamardFirst32_avx512(dst0, any(&src[0]).(*float32), any(&d[0]).(*float32), len(dst)/256)
		} else {
			hadamardFirst32_avx2(dst0, any(&src[0]).(*float32), any(&d[0]).(*float32), len(dst)/64)
		}
	case *float64:
		if level == avx512 {
			hadamardFirst64_avx512(dst0, any(&src[0]).(*float64), any(&d[0]).(*float64), len(dst)/128)
		} else {
			hadamardFirst64_avx2(dst0, any(&src[0]).(*float64), any(&d[0]).(*float64), len(dst)/32)
		}
	}
}

// hadamardGather computes dst = H(d∘x) for each block, with x_i = src[p_i mod len(src)].
func hadamardGather[T float32 | float64](dst, src []T, p []int32, d []T) {
	if level == generic {
		portableGather(dst, src, p, d)
		return
	}
	switch dst0 := any(&dst[0]).(type) {
	case *float32:
		if level == avx512 {
			hadamardGather32_avx512(dst0, any(&src[0]).(*float32), &p[0], any(&d[0]).(*float32), len(src)-1, len(dst)/256)
		} else {
			hadamardGather32_avx2(dst0, any(&src[0]).(*float32), &p[0], any(&d[0]).(*float32), len(src)-1, len(dst)/64)
		}
	case *float64:
		if level == avx512 {
			hadamardGather64_avx512(dst0, any(&src[0]).(*float64), &p[0], any(&d[0]).(*float64), len(src)-1, len(dst)/128)
		} else {
			hadamardGather64_avx2(dst0, any(&src[0]).(*float64), &p[0], any(&d[0]).(*float64), len(src)-1, len(dst)/32)
		}
	}
}

// hadamardRadix takes log₂ radix stages: butterflies between radix rows of columns numbers that
// are step apart, for groups of such rows that follow each other.
func hadamardRadix[T float32 | float64](x []T, radix, step, columns, groups int) {
	if level == generic {
		portableRadixPass(x, radix, step, columns, groups)
		return
	}
	switch x0 := any(&x[0]).(type) {
	case *float32:
		if level == avx512 {
			hadamardRadix32_avx512(x0, radix, step*4, columns/16, groups)
		} else {
			hadamardRadix32_avx2(x0, radix, step*4, columns/8, groups)
		}
	case *float64:
		if level == avx512 {
			hadamardRadix64_avx512(x0, radix, step*8, columns/8, groups)
		} else {
			hadamardRadix64_avx2(x0, radix, step*8, columns/4, groups)
		}
	}
}

// hadamardScaled is hadamardRadix for one group, and multiplies by s, which lies as x does.
func hadamardScaled[T float32 | float64](x, s []T, radix, step, columns int) {
	if level == generic {
		portableScaled(x, s, radix, step, columns)
		return
	}
	switch x0 := any(&x[0]).(type) {
	case *float32:
		if level == avx512 {
			hadamardScaled32_avx512(x0, any(&s[0]).(*float32), radix, step*4, columns/16)
		} else {
			hadamardScaled32_avx2(x0, any(&s[0]).(*float32), radix, step*4, columns/8)
		}
	case *float64:
		if level == avx512 {
			hadamardScaled64_avx512(x0, any(&s[0]).(*float64), radix, step*8, columns/8)
		} else {
			hadamardScaled64_avx2(x0, any(&s[0]).(*float64), radix, step*8, columns/4)
		}
	}
}

// hadamardPermute sets each n numbers of dst to those of src at p mod n.
func hadamardPermute[T float32 | float64](dst, src []T, p []int32, n int) {
	lanes := hadamardLanes[T]()
	if level == generic || n < lanes {
		portablePermute(dst, src, p, n)
		return
	}
	switch y := any(&dst[0]).(type) {
	case *float32:
		x := any(&src[0]).(*float32)
		if level == avx512 {
			hadamardPermute32_avx512(y, x, &p[0], n-1, n/lanes, len(dst)/n)
		} else {
			hadamardPermute32_avx2(y, x, &p[0], n-1, n/lanes, len(dst)/n)
		}
	case *float64:
		x := any(&src[0]).(*float64)
		if level == avx512 {
			hadamardPermute64_avx512(y, x, &p[0], n-1, n/lanes, len(dst)/n)
		} else {
			hadamardPermute64_avx2(y, x, &p[0], n-1, n/lanes, len(dst)/n)
		}
	}
}
