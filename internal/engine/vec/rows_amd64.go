//go:build amd64 && !purego

package vec

// longestRows is how many numbers one call of a kernel reads at most, since it cannot be preempted.
const longestRows = 1 << 17

// signedSums is SignedSums32, if there is a kernel for it.
func signedSums(dst, x []float32, width int, ptr []int32, list []uint32) bool {
	kernel := signedSums32_avx2
	switch level {
	case generic:
		return false
	case avx512:
		kernel = signedSums32_avx512
	}
	if len(list) == 0 {
		clear(dst)
		return true
	}
	for j := 0; j+1 < len(ptr); {
		end := j + 1
		for end+1 < len(ptr) && (int(ptr[end+1]-ptr[j])+end+1-j)*width <= longestRows {
			end++
		}
		kernel(&dst[j*width], &x[0], 4*width, end-j, &ptr[j], &list[0])
		j = end
	}
	return true
}

// pairDots is PairDots32, if there is a kernel for it.
func pairDots(y, k, h []float32, width int, a, b []int32) bool {
	kernel := pairDots32_avx2
	switch level {
	case generic:
		return false
	case avx512:
		kernel = pairDots32_avx512
	}
	step := max(1, longestRows/(2*width))
	for c := 0; c < len(a); c += step {
		kernel(&y[c], &k[0], &h[0], 4*width, min(step, len(a)-c), &a[c], &b[c])
	}
	return true
}

// transposeBlocks transposes the complete blocks of 8×8 numbers, and returns their rows and columns.
func transposeBlocks(dst []float32, ldd int, src []float32, lds, rows, cols int) (m, n int) {
	m, n = rows/8, cols/8
	if m == 0 || n == 0 || level == generic {
		return 0, 0
	}
	kernel := transpose32_avx2
	if level == avx512 {
		kernel = transpose32_avx512
	}
	const most = 1 << 11 // blocks
	step := max(1, most/n)
	for i := 0; i < m; i += step {
		kernel(&dst[8*i], 4*ldd, &src[8*i*lds], 4*lds, min(step, m-i), n)
	}
	return 8 * m, 8 * n
}

func signTables(table *signTable, x []float32) {
	switch level {
	case generic:
		signTablesPlain(table, x)
	case avx512:
		signTables32_avx512(&table[0], &x[0], len(x)/(4*16))
	default:
		signTables32_avx2(&table[0], &x[0], len(x)/(4*16))
	}
}

// signProducts calls its kernels by name: through a variable, table would escape to the heap.
func signProducts(dst []float32, table *signTable, codes []byte, stride, bytes, rows int, add bool) {
	if level == generic {
		signProductsPlain(dst, table, codes, stride, bytes, rows, add)
		return
	}
	more := 0
	if add {
		more = 1
	}
	const step = 1 << 11 // rows of one call
	for c := 0; c < rows; c += step {
		n := min(step, rows-c)
		if level == avx512 {
			signProducts32_avx512(&dst[16*c], &table[0], &codes[c*stride], stride, bytes/2, n, more)
		} else {
			signProducts32_avx2(&dst[16*c], &table[0], &codes[c*stride], stride, bytes/2, n, more)
		}
	}
}
