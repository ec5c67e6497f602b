//go:build amd64 && !purego

package vec

// chooseKernels picks the micro-kernels of the level in use.
func chooseKernels() {
	switch level {
	case generic:
		portableKernels()
	case avx512:
		micro32.mr, micro32.nr, micro32.tile, micro32.row = 14, 32, tile32_avx512, row32_avx512
		micro64.mr, micro64.nr, micro64.tile, micro64.row = 14, 16, tile64_avx512, row64_avx512
	case avx2:
		micro32.mr, micro32.nr, micro32.tile, micro32.row = 6, 16, tile32_avx2, row32_avx2
		micro64.mr, micro64.nr, micro64.tile, micro64.row = 6, 8, tile64_avx2, row64_avx2
	}
}
