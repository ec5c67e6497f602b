//go:build !amd64 || purego

package vec

// Streamed ends a series of calls of functions that write past the caches: what the goroutine
// writes from here on is seen after their results.
func Streamed() {}

func stream32(sin, cos, x []float32, scale float32) int { return 0 }
