package learn

import (
	"math"
	"slices"

	"mercer/internal/engine/vec"
)

// pointLoss is a loss ℓ of a score and a target. For a few rows, it turns the scores s into
// c·ℓ′, writes c·ℓ″ into h, and returns Σ c·ℓ. y are the targets (±1, or numbers) and c the
// rows' costs; work has as many numbers.
type pointLoss func(s, y, c, h, work []float64) float64

// logisticLoss is ln(1 + exp(-ys)).
func logisticLoss(s, y, c, h, work []float64) float64 {
	for i, v := range s {
		work[i] = -math.Abs(v)
	}
	vec.Exp64(work, work)
	for i, e := range work {
		h[i] = 1 + e
	}
	logs := h
	loss := 0.0
	vec.Log64(logs, logs)
	for i, l := range logs {
		margin, e := y[i]*s[i], work[i]
		loss += c[i] * (l + max(0, -margin))
		// The probability of the other class, 1/(1 + exp(margin)).
		q := e / (1 + e)
		h[i] = c[i] * q / (1 + e)
		if margin < 0 {
			q = 1 / (1 + e)
		}
		s[i] = -c[i] * y[i] * q
	}
	return loss
}

// squaredHingeLoss is max(0, 1 - ys)².
func squaredHingeLoss(s, y, c, h, _ []float64) float64 {
	loss := 0.0
	for i, v := range s {
		xi := 1 - float64(y[i]*v)
		if xi <= 0 {
			s[i], h[i] = 0, 0
			continue
		}
		loss += c[i] * xi * xi
		s[i], h[i] = -2*c[i]*y[i]*xi, 2*c[i]
	}
	return loss
}

// squaredEpsilonLoss is max(0, |s - y| - epsilon)².
func squaredEpsilonLoss(epsilon float64) pointLoss {
	return func(s, y, c, h, _ []float64) float64 {
		loss := 0.0
		for i, v := range s {
			e := v - y[i]
			over := math.Abs(e) - epsilon
			if over <= 0 {
				s[i], h[i] = 0, 0
				continue
			}
			loss += c[i] * over * over
			s[i], h[i] = 2*c[i]*math.Copysign(over, e), 2*c[i]
		}
		return loss
	}
}

// softmaxLoss turns the scores of some rows, k each, into the classes' probabilities p, and
// returns Σ -c·ln p of the rows' classes.
func softmaxLoss(s []float64, k int, class []int, cost []float64) float64 {
	loss := 0.0
	for i, own := range class {
		row := s[i*k : (i+1)*k]
		top := slices.Max(row)
		loss -= cost[i] * (row[own] - top)
		for t := range row {
			row[t] -= top
		}
	}
	vec.Exp64(s, s)
	for i := range class {
		row := s[i*k : (i+1)*k]
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		loss += cost[i] * math.Log(sum)
		for t := range row {
			row[t] /= sum
		}
	}
	return loss
}
