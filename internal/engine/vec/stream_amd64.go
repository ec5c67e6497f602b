//go:build amd64 && !purego

package vec

// Streamed ends a series of calls of functions that write past the caches: later writes of
// the goroutine become visible after their results.
func Streamed() {
	switch level {
	case avx512:
		fence_avx512()
	case avx2:
		fence_avx2()
	}
}

// stream32 is run32 for sines and cosines that are aligned to cache lines, past the caches.
func stream32(sin, cos, x []float32, scale float32) int {
	if level == avx512 {
		return sincosStream32_avx512(&sin[0], &cos[0], &x[0], len(x), scale)
	}
	return sincosStream32_avx2(&sin[0], &cos[0], &x[0], len(x), scale)
}
