package learn

import (
	"fmt"
	"math"
)

// Probabilities writes the classes' probabilities of a row into dst, given its scores by a model
// of logistic loss. A single score s is for two classes: dst gets 1 - σ(s) and σ(s),
// with σ(s) = 1/(1 + exp(-s)). Several scores are for as many classes: joint means that the
// model is multinomial, with probabilities softmax(s); otherwise each class was fitted against
// the rest, and its σ(s) is divided by the sum of all. They are at least 0 and add up to 1, however
// large the scores.
func Probabilities(dst []float64, scores []float32, joint bool) {
	if len(scores) == 1 && len(dst) == 2 {
		dst[0], dst[1] = math.Exp(logSigmoid(-float64(scores[0]))), math.Exp(logSigmoid(float64(scores[0])))
		return
	}
	if len(scores) < 2 || len(dst) != len(scores) {
		panic(fmt.Sprintf("learn: Probabilities of %d scores into %d numbers", len(scores), len(dst)))
	}
	Softmax(dst, func(k int) float64 {
		if joint {
			return float64(scores[k])
		}
		return logSigmoid(float64(scores[k])) // exp of it is σ: softmax divides by the sum
	})
}

// logSigmoid is ln σ(s), without overflow.
func logSigmoid(s float64) float64 {
	return min(s, 0) - math.Log1p(math.Exp(-math.Abs(s)))
}
