//go:build !amd64 || purego

package vec

// Streamed ends a series of calls of functions that write past the caches: later writes of
// the goroutine become visible after their results.
func Streamed() {}

func stream32(sin, cos, x []float32, scale float32) int { return 0 }
