package hypothesis

import "math"

// StudentizedRangeTail is P(Q > q) of the range Q of k ≥ 2 independent standard normal numbers, that is of the
// studentized range with infinitely many degrees of freedom:
//
//	P(Q > q) = k·∫φ(z)·(Φ(z)^(k-1) - (Φ(z) - Φ(z-q))^(k-1)) dz,
//
// z being the largest of the k. The trapezoidal rule converges exponentially on such integrands; what is
// returned is right to about 12 digits, in the tail too. It panics if k < 2.
func StudentizedRangeTail(q float64, k int) float64 {
	if k < 2 {
		panic("rank: a range takes two numbers or more")
	}
	if !(q > 0) {
		return 1
	}
	const step = 1.0 / 16
	sum := 0.0
	for i := -12 * 16; i <= 38*16; i++ {
		z := float64(i) * step
		all, below := normalCDF(z), normalCDF(z-q)
		if all == 0 {
			continue
		}
		// Φ^m - (Φ-c)^m without cancellation.
		m := float64(k - 1)
		difference := -math.Pow(all, m) * math.Expm1(m*math.Log1p(-below/all))
		sum += math.Exp(-z*z/2) * difference
	}
	return min(1, float64(k)*sum*step/math.Sqrt(2*math.Pi))
}

// StudentizedRangeQuantile is the q that the range of k ≥ 2 independent standard normal numbers exceeds with
// probability alpha, 0 < alpha < 1. It panics otherwise.
func StudentizedRangeQuantile(alpha float64, k int) float64 {
	if !(alpha > 0 && alpha < 1) {
		panic("rank: the level is not between 0 and 1")
	}
	lo, hi := 0.0, 1.0
	for StudentizedRangeTail(hi, k) > alpha && hi < 64 {
		lo, hi = hi, 2*hi
	}
	for {
		mid := lo + (hi-lo)/2
		if hi-lo < 1e-13*hi || mid <= lo || mid >= hi {
			return mid
		}
		if StudentizedRangeTail(mid, k) > alpha {
			lo = mid
		} else {
			hi = mid
		}
	}
}

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
