//go:build amd64 && !purego

package vec

// sideTerms is how many terms a call of a kernel adds up, which cannot be interrupted.
const sideTerms = 1 << 16

// sideBlocks computes the first of dst, as many as kernels take, and returns the first that is left.
func sideBlocks(dst, u, c, z []float32, ldz int) int {
	dims := 2
	switch level {
	case generic:
		return 0
	case avx512:
		dims = 4
	}
	if len(c) > sideTerms {
		return 0
	}
	var below, above [4][Lanes]float32
	k := 0
	for ; k+dims <= len(u); k += dims {
		if level == avx512 {
			sides32_avx512(len(c), &c[0], &z[k*ldz], 4*ldz, &u[k], &below[0][0], &above[0][0])
		} else {
			sides32_avx2(len(c), &c[0], &z[k*ldz], 4*ldz, &u[k], &below[0][0], &above[0][0])
		}
		for i := range dims {
			dst[k+i] = lanesApart(&below[i], &above[i])
		}
	}
	return k
}
