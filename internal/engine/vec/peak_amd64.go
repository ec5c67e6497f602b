//go:build amd64 && !purego

package vec

// multiplyAddsOnce calls a kernel once and returns how many multiply-adds it did.
func multiplyAddsOnce(turns, float int) int {
	const vectors = 48 // a turn
	switch {
	case level == generic && float == 4:
		return fourChains[float32](turns)
	case level == generic:
		return fourChains[float64](turns)
	case level == avx512 && float == 4:
		multiplyAdds32_avx512(turns)
	case level == avx512:
		multiplyAdds64_avx512(turns)
	case float == 4:
		multiplyAdds32_avx2(turns)
	default:
		multiplyAdds64_avx2(turns)
	}
	return turns * vectors * lanes(float)
}

// lanes is how many numbers a vector holds.
func lanes(float int) int {
	if level == avx512 {
		return 64 / float
	}
	return 32 / float
}

// readOnce reads the first elements of x and returns how many.
func readOnce(x []float32) (sum float32, n int) {
	turn := 8 * lanes(4)
	turns := min(len(x)/turn, memoryTurns)
	switch {
	case turns == 0 || level == generic:
		return 0, 0
	case level == avx512:
		sum = read32_avx512(&x[0], turns)
	default:
		sum = read32_avx2(&x[0], turns)
	}
	return sum, turns * turn
}

// triadOnce treats the first elements and returns how many.
func triadOnce(dst, x, y []float32) int {
	turn := 8 * lanes(4)
	turns := min(len(dst)/turn, memoryTurns)
	switch {
	case turns == 0 || level == generic:
		return 0
	case level == avx512:
		triad32_avx512(&dst[0], &x[0], &y[0], turns)
	default:
		triad32_avx2(&dst[0], &x[0], &y[0], turns)
	}
	return turns * turn
}
