//go:build !amd64 || purego

package vec

func run32(function, []float32, []float32, []float32, float32) int { return 0 }
func run64(function, []float64, []float64, []float64, float64) int { return 0 }
