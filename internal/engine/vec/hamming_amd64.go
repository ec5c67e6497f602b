//go:build amd64 && !purego

package vec

// hammingBlocks counts for the first codes, as many as kernels take, and returns the first remaining one.
func hammingBlocks(dst []uint16, codes, code []uint64) (i int) {
	words := len(code)
	if level == generic || words == 0 || words%4 != 0 || words >= 1<<10 {
		return 0
	}
	count := hamming64_avx2
	if level == avx512 {
		count = hamming64_avx512
	}
	step := max(4, 1<<15/words/4*4) // codes of a call, which cannot be preempted
	for n := len(dst) / 4 * 4; i < n; i += step {
		count(&dst[i], &codes[i*words], &code[0], min(step, n-i)/4, 8*words)
	}
	return len(dst) / 4 * 4
}
