//go:build !amd64 || purego

package vec

// Quads pay on machines with an instruction for their 16 bytes.

func fastfoodQuads(rows, n, m, width int, b []float32, p []int32, g, s []float32, src []float32, lds int, dst []float32,
	ldd int, work []float32) int {
	return 0
}

func quadsFirst[T float32 | float64](dst, src, d []T) {}

func quadsGather[T float32 | float64](dst, src []T, p []int32, d []T) {}
