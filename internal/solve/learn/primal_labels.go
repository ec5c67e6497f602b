package learn

import (
	"context"
	"fmt"
	"math"
)

// FitPrimalLabels trains a logistic regression of labels, of which a row may have any number: y,
// row-major Len×labels, is 1 where a row has a label and -1 otherwise, and every label is
// an output as for two classes, with σ of the score as its probability. All labels share the passes
// over the rows.
//
// If all rows with a weight above 0 have a label, or none has it, features do not matter
// and the intercept would be unbounded: then w = 0 and b = ±ln(1 + Σ weights), which gives the observed
// value the probability of Laplace's rule of succession, 1 - 1/(2 + Σ weights).
func FitPrimalLabels(ctx context.Context, z Features, y []float64, labels int, weights []float64, opt Primal) (*Linear, *PrimalReport,
	error) {
	if labels < 1 || len(y) != z.Len()*labels || weights != nil && len(weights) != z.Len() {
		panic(fmt.Sprintf("learn: FitPrimalLabels of %d rows given %d targets for %d labels and %d weights", z.Len(), len(y), labels,
			len(weights)))
	}
	if opt.Loss != "" && opt.Loss != "logistic" {
		return nil, nil, fmt.Errorf("the loss of labels is logistic, not %s", opt.Loss)
	}
	opt.Loss, opt.ClassWeights = "logistic", nil
	return (&primalFit{z: z, k: labels, y: y, labels: true, loss: logisticLoss}).fit(ctx, weights, opt)
}

// labelSides is smallestSides for labels, and, for each, whether all rows have it (1), none (-1),
// or some (0).
func (f *primalFit) labelSides() (share, decided []float64) {
	share, decided = make([]float64, f.k), make([]float64, f.k)
	total := 0.0
	for i, c := range f.cost {
		if c == 0 {
			continue
		}
		total++
		for t, v := range f.y[i*f.k:][:f.k] {
			if v > 0 {
				share[t]++
			}
		}
	}
	for t, positive := range share {
		switch positive {
		case 0:
			decided[t] = -1
		case total:
			decided[t] = 1
		}
		share[t] = max(min(positive, total-positive), 1) / total
	}
	return share, decided
}

// settle finishes the machines of labels that do not depend on features.
func (f *primalFit) settle(decided []float64, c float64) {
	sum := 0.0
	for _, cost := range f.cost {
		sum += cost
	}
	for t, m := range f.machines {
		if decided[t] == 0 {
			continue
		}
		b := UnanimousScore(sum / c)
		m.end = true
		m.w[f.z.Dim()] = decided[t] * b
		m.f = sum * math.Log1p(math.Exp(-b))
	}
}

// UnanimousScore is the score whose probability is that of Laplace's rule of succession
// after rows of total weight sum that all agree: σ(s) = (sum + 1)/(sum + 2).
func UnanimousScore(sum float64) float64 { return math.Log1p(sum) }
