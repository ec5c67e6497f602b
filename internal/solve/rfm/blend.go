package rfm

import (
	"math"
	"slices"
)

const (
	blendSteps  = 20
	leastWeight = 0.15 // of a member that is worth its time
	memberGain  = 0.99 // what it must make of the squared error
)

// blend returns weights, adding up to 1, with which the mean of scores has a small squared error: greedily, as
// by Caruana, Niculescu-Mizil, Crew and Ksikes ("Ensemble selection from libraries of models", 2004), with repetitions. Only
// those that are allowed have weights, and at most most.
func blend(scores [][]float64, allowed []bool, targets, weights []float64, outputs, most int) []float64 {
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
	allowed = slices.Clone(allowed)
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
		if used <= 1 {
			return counts
		}
		if used <= most && counts[least] >= leastWeight {
			fewer := slices.Clone(allowed)
			fewer[least] = false
			if squared(inner, counts) <= memberGain*squared(inner, greedy(inner, fewer, n)) {
				return counts
			}
		}
		allowed[least] = false
	}
}

// squared is the squared error of a mean by its shares.
func squared(inner, shares []float64) (e float64) {
	for a, s := range shares {
		for b, r := range shares {
			e += float64(s * r * inner[a*len(shares)+b])
		}
	}
	return e
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
			e := squared(inner, shares) / float64(step*step)
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

// A full metric that has a number for fewer than rowsPerNumber rows must be better than the best diagonal one by surely
// standard errors.
const (
	rowsPerNumber = 10
	surely        = 3
)

// earned says which members may be averaged. A full metric has so many numbers that with few rows it does well on those
// that choose metrics, widths and λ, and not on others; so it must be better than the best diagonal one by more than chance:
// by a margin in standard errors, 0 meaning that any may be averaged.
func earned(forms []string, scores [][]float64, targets, weights []float64, outputs int, margin float64) []bool {
	if margin == 0 {
		return slices.Repeat([]bool{true}, len(forms))
	}
	allowed, best := make([]bool, len(forms)), -1
	for i, form := range forms {
		allowed[i] = form != "full"
		if allowed[i] && (best < 0 || better(scores[i], scores[best], targets, weights, outputs, 0)) {
			best = i
		}
	}
	for i := range forms {
		if !allowed[i] {
			allowed[i] = best < 0 || better(scores[i], scores[best], targets, weights, outputs, margin)
		}
	}
	return allowed
}

// better says whether scores a have a smaller squared error than b, by more than errors standard errors of the mean
// difference of a row.
func better(a, b, targets, weights []float64, outputs int, errors float64) bool {
	n := len(targets) / outputs
	gains := make([]float64, n)
	for i, y := range targets {
		e, f := a[i]-y, b[i]-y
		gains[i/outputs] += float64(weights[i/outputs] * (float64(f*f) - float64(e*e)))
	}
	sum, deviation := total(gains)
	return sum > errors*deviation
}

// total is the sum of numbers and its standard error.
func total(numbers []float64) (sum, deviation float64) {
	for _, v := range numbers {
		sum += v
	}
	n, squares := float64(len(numbers)), 0.0
	for _, v := range numbers {
		squares += float64((v - sum/n) * (v - sum/n))
	}
	return sum, math.Sqrt(squares * n / max(1, n-1))
}
