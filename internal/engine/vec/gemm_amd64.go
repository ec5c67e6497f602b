//go:build amd64 && !purego

package vec

// chooseKernels picks the micro-kernels of the level in use.
func chooseKernels() {
	switch level {
	case generic:
		portableKernels()
	case avx512:
		micro32.use(14, 32, tile32_avx512, row32_avx512, strip32_avx512, panel32_avx512, sparse32_avx512, sparseOne32_avx512)
		micro64.use(14, 16, tile64_avx512, row64_avx512, strip64_avx512, panel64_avx512, sparse64_avx512, sparseOne64_avx512)
		micro32.widen, micro32.expect = widen32_avx512, expect32_avx512
		micro32.blocks = [2][2]blocksKernel[float32]{{row1x1x32_avx512, row1x2x32_avx512}, {row4x1x32_avx512, row4x2x32_avx512}}
		micro32.nonzeros, micro64.nonzeros = nonzeros32_avx512, nonzeros64_avx512
	case avx2:
		micro32.use(6, 16, tile32_avx2, row32_avx2, strip32_avx2, panel32_avx2, sparse32_avx2, sparseOne32_avx2)
		micro64.use(6, 8, tile64_avx2, row64_avx2, strip64_avx2, panel64_avx2, sparse64_avx2, sparseOne64_avx2)
		micro32.widen, micro32.expect = widen32_avx2, expect32_avx2
		micro32.blocks = [2][2]blocksKernel[float32]{{row1x1x32_avx2, row1x2x32_avx2}, {row4x1x32_avx2, row4x2x32_avx2}}
	}
}
