package rfm

const (
	blendSteps  = 20
	leastWeight = 0.15 // of a member that is worth its time
)

// blend returns weights, adding up to 1, with which the mean of scores has a small squared error: greedily, as
// by Caruana, Niculescu-Mizil, Crew and Ksikes ("Ensemble selection from libraries of models", 2004), with repetitions. At most most
// have weights.
func blend(scores [][]float64, targets, weights []float64, outputs, most int) []float64 {
	// The squared error of a blend needs the inner products of the residuals alone.
	n := len(scores)
	inner := make([]float64, n*n)
	for a := range n {
		for b := range a + 1 {
			sum := 0.0
			for i, y := range targets {
				sum += float64(weights[i/outputs] * (scores[a][i] - y) * (scores[b][i] - y))
			}
			inner[a*n+b], inner[b*n+a] = sum, sum
		}
	}
	allowed := make([]bool, n)
	for i := range allowed {
		allowed[i] = true
	}
	for {
		counts := greedy(inner, allowed, n)
		used, least := 0, -1
		for i, c := range counts {
			if c > 0 {
				used++
				if least < 0 || c < counts[least] {
					least = i
				}
			}
		}
		if used <= 1 || used <= most && counts[least] >= leastWeight {
			return counts
		}
		allowed[least] = false
	}
}

// greedy adds one of the allowed after the other, always the one with which the mean has the smallest error, and
// returns the shares of each.
func greedy(inner []float64, allowed []bool, n int) []float64 {
	shares := make([]float64, n)
	for step := 1; step <= blendSteps; step++ {
		best, least := -1, 0.0
		for c := range n {
			if !allowed[c] {
				continue
			}
			shares[c]++
			e := 0.0
			for a, s := range shares {
				for b, r := range shares {
					e += float64(s * r * inner[a*n+b])
				}
			}
			e /= float64(step * step)
			shares[c]--
			if best < 0 || e < least {
				best, least = c, e
			}
		}
		shares[best]++
	}
	for i := range shares {
		shares[i] /= blendSteps
	}
	return shares
}
