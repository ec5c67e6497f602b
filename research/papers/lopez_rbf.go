package papers

import (
	"context"

	"mercer/internal/engine/random"
	"mercer/internal/solve/exact"
	"mercer/kernel"
	"mercer/matrix"
)

// rbfRows bounds the training rows of the machines of the rbf kernel in LS19's table 3.6: all of
// MNIST's 3 and 8.
const rbfRows = 12_000

// rbfTuning bounds the rows for choosing its γ and C, the held-out quarter included.
const rbfTuning = 4000

// rbfMachine is the accuracy in percent of the support vector machine of the rbf kernel with the
// hinge. trial numbers a choice of γ and C from 1 on; 0 uses the best on held-out training rows.
func rbfMachine(ctx context.Context, _ twoClasses, s split, trial float64, seed uint64) (percent, used float64, err error) {
	train := s.train.pick(random.New(seed, "papers.rbf").Perm(s.train.x.Len()), rbfRows)
	median, err := kernel.MedianGamma(train.x, 1, "rbf")
	if err != nil {
		return 0, 0, err
	}
	var gammas, cs []float64
	for _, factor := range []float64{1, 4, 16} {
		for _, c := range []float64{1, 10, 100} {
			gammas, cs = append(gammas, median*factor), append(cs, c)
		}
	}
	if trial == 0 {
		some := train.first(rbfTuning)
		n := some.x.Len() * 3 / 4
		held := labelled{some.x.Slice(n, some.x.Len()), some.class[n:]}
		best := -1.0
		for t := range cs {
			p, err := rbfAccuracy(ctx, gammas[t], cs[t], some.first(n), held, s.classes)
			if err != nil {
				return 0, 0, err
			}
			if p > best {
				best, trial = p, float64(t+1)
			}
		}
	}
	t := int(trial) - 1
	percent, err = rbfAccuracy(ctx, gammas[t], cs[t], train, s.test, s.classes)
	return percent, trial, err
}

// rbfAccuracy trains on one part and returns the share of the other's rows in percent whose class it
// predicts.
func rbfAccuracy(ctx context.Context, gamma, c float64, train, test labelled, classes int) (float64, error) {
	m, _, err := exact.FitSVC(ctx, kernel.Kernel{Name: "rbf", Gamma: gamma}, train.x, train.class, classes, exact.SVM{C: c})
	if err != nil {
		return 0, err
	}
	return predictedRight(m, test)
}

// predictedRight is the share of rows in percent whose class a machine predicts.
func predictedRight(m *exact.Classifier, test labelled) (float64, error) {
	predicted := make([]int, test.x.Len())
	if err := m.Predict(predicted, test.x); err != nil {
		return 0, err
	}
	right := 0
	for i, p := range predicted {
		if p == test.class[i] {
			right++
		}
	}
	return 100 * float64(right) / float64(max(1, len(predicted))), nil
}

// pick are the rows of a list, at most n.
func (l labelled) pick(rows []int, n int) labelled {
	rows = rows[:min(n, len(rows))]
	out := labelled{x: matrix.Pick(l.x, rows)}
	for _, i := range rows {
		out.class = append(out.class, l.class[i])
	}
	return out
}
