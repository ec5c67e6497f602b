//go:build !amd64 || purego

package vec

func hadamardShape[T float32 | float64]() (block, radix int) { return portableBlock, portableRadix }

func hadamardLanes[T float32 | float64]() int { return 1 }

func hadamardRows[T float32 | float64](x []T, n, stride, rows int) { portableRows(x, n, stride, rows) }

func hadamardChain[T float32 | float64](dst, src, d, s []T, n, rounds, round, step, count int) {
	portableChain(dst, src, d, s, n, rounds, round, step, count)
}

func hadamardFirst[T float32 | float64](dst, src, d []T) { portableFirst(dst, src, d) }

func hadamardGather[T float32 | float64](dst, src []T, p []int32, d []T) {
	portableGather(dst, src, p, d)
}

func hadamardRadix[T float32 | float64](x []T, radix, step, columns, groups int) {
	portableRadixPass(x, radix, step, columns, groups)
}

func hadamardScaled[T float32 | float64](x, s []T, radix, step, columns int) {
	portableScaled(x, s, radix, step, columns)
}

func hadamardPermute[T float32 | float64](dst, src []T, p []int32, n int) {
	portablePermute(dst, src, p, n)
}
