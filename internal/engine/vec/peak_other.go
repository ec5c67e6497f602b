//go:build !amd64 || purego

package vec

func multiplyAddsOnce(turns, float int) int {
	if float == 4 {
		return fourChains[float32](turns)
	}
	return fourChains[float64](turns)
}

func readOnce([]float32) (sum float32, n int)       { return 0, 0 }
func triadOnce([]float32, []float32, []float32) int { return 0 }
