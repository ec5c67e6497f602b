//go:build amd64 && !purego

package vec

// fastfoodQuads computes as many rows of Fastfood32 as it can, four at a time, and returns
// how many. The four are interleaved as quads, 16 bytes for each column, so that the
// permutation moves quads and not single numbers, whose loads would cost as much as
// both transforms. The sums are those of fastfood, in the same order.
func fastfoodQuads(rows, n, m, width int, b []float32, p []int32, g, s []float32, src []float32, lds int, dst []float32,
	ldd int, work []float32) int {
	if block, _ := hadamardShape[float32](); n <= block || level == generic {
		return 0
	}
	x, mixed, permuted := work[:4*n], work[4*n:8*n], work[8*n:12*n]
	i := 0
	for ; i+4 <= rows; i += 4 {
		zip(x, src[i*lds:i*lds+3*lds+width], lds, width)
		for c := 0; c < m; c += n {
			r := round[float32]{dst: mixed, src: x, d: b[c : c+n], quads: true}
			r.run(0, 4*n)
			r = round[float32]{dst: permuted, src: mixed, p: p[c : c+n], d: g[c : c+n], quads: true}
			r.run(0, 4*n)
			for j := 0; j < n; j += hadamardCall / 4 {
				k := min(j+hadamardCall/4, n)
				quadsUnzip(dst[i*ldd+c+j:(i+3)*ldd+c+k], permuted[4*j:4*k], s[c+j:c+k], ldd)
			}
		}
	}
	return i
}

// zip sets quads to four rows of width numbers, lds apart, followed by zeros.
func zip(quads, rows []float32, lds, width int) {
	whole := width / 4 * 4
	for j := 0; j < whole; j += hadamardCall / 4 {
		k := min(j+hadamardCall/4, whole)
		quadsZip(quads[4*j:4*k], rows[j:3*lds+k], lds)
	}
	for j := whole; j < width; j++ {
		for i := range 4 {
			quads[4*j+i] = rows[i*lds+j]
		}
	}
	clear(quads[4*width:])
}

// quadsZip interleaves four rows of len(dst)/4 numbers, a multiple of 4, stride apart.
func quadsZip(dst, rows []float32, stride int) {
	switch level {
	case avx512:
		quadsZip32_avx512(&dst[0], &rows[0], 4*stride, len(dst)/16)
	case avx2:
		quadsZip32_avx2(&dst[0], &rows[0], 4*stride, len(dst)/16)
	}
}

// quadsFirst computes dst = H(d∘src) for the quads of each block. T is float32.
func quadsFirst[T float32 | float64](dst, src, d []T) {
	y, x, f := any(&dst[0]).(*float32), any(&src[0]).(*float32), any(&d[0]).(*float32)
	switch level {
	case avx512:
		quadsFirst32_avx512(y, x, f, len(dst)/256)
	case avx2:
		quadsFirst32_avx2(y, x, f, len(dst)/64)
	}
}

// quadsGather computes dst = H(d∘x) with x_i = src[p_i mod len(src)/4] for the quads of each
// block. T is float32. quadsUnzip knows the order it leaves them in.
func quadsGather[T float32 | float64](dst, src []T, p []int32, d []T) {
	y, x, f := any(&dst[0]).(*float32), any(&src[0]).(*float32), any(&d[0]).(*float32)
	switch level {
	case avx512:
		quadsGather32_avx512(y, x, &p[0], f, len(src)/4-1, len(dst)/256)
	case avx2:
		quadsGather32_avx2(y, x, &p[0], f, len(src)/4-1, len(dst)/64)
	}
}

// quadsUnzip sets four rows, stride apart, to the quads of quadsGather times s.
func quadsUnzip(rows, src, s []float32, stride int) {
	switch level {
	case avx512:
		quadsUnzip32_avx512(&rows[0], &src[0], &s[0], 4*stride, len(s)/16)
	case avx2:
		quadsUnzip32_avx2(&rows[0], &src[0], &s[0], 4*stride, len(s)/8)
	}
}
