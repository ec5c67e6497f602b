package liblinear

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// CrossValidate predicts every row with a model of the other folds, which are drawn at random.
func CrossValidate(ctx context.Context, data *Data, folds int, opt Options) ([]float64, error) {
	n := data.X.Rows
	if folds < 2 {
		return nil, fmt.Errorf("%d folds; two or more are needed", folds)
	}
	if n < 2 {
		return nil, fmt.Errorf("%d rows cannot be divided into folds", n)
	}
	folds = min(folds, n)
	order := random.New(opt.Seed, "liblinear.folds").Perm(n)
	predicted := make([]float64, n)
	for f := range folds {
		lo, hi := f*n/folds, (f+1)*n/folds
		part, opt := data.Subset(slices.Concat(order[:lo], order[hi:])), opt
		opt.Weights = maps.Clone(opt.Weights)
		maps.DeleteFunc(opt.Weights, func(label int, _ float64) bool { // a rare class may be missing
			return slices.Contains(data.Y, float64(label)) && !slices.Contains(part.Y, float64(label))
		})
		m, _, err := Train(ctx, part, opt)
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, folds, err)
		}
		values := make([]float64, m.Outputs)
		for _, i := range order[lo:hi] {
			m.Values(values, matrix.Rows{CSR: data.X}, i)
			predicted[i] = m.Predict(values)
		}
	}
	return predicted, nil
}

// Choice is a C that was tried and, for regressions, a p.
type Choice struct {
	C, P float64

	// Rate is the cross-validation accuracy in percent, or the mean squared error.
	Rate float64
}

// Choose tries C = 2^k from one that is too small for the data, or from start if that is not 0,
// up to 1024, and with solver 11 also p = 19/20, 18/20, …, 0 of the largest |y|. It calls visit with each and
// returns the best one, the smallest C if several are equal.
func Choose(ctx context.Context, data *Data, folds int, start float64, opt Options, visit func(Choice)) (Choice, error) {
	var best Choice
	switch opt.Solver {
	case L2RLR, L2RL2LossSVC:
		best.Rate = -1
		err := chooseC(ctx, data, folds, start, opt, func(predicted []float64, c Choice) {
			for i, p := range predicted {
				if p == data.Y[i] {
					c.Rate += 100 / float64(len(predicted))
				}
			}
			visit(c)
			if c.Rate > best.Rate {
				best = c
			}
		})
		return best, err
	case L2RL2LossSVR:
		best.Rate = math.Inf(1)
		largest := 0.0
		for _, y := range data.Y {
			largest = max(largest, math.Abs(y))
		}
		const steps = 20
		for i := steps - 1; i >= 0; i-- {
			opt.Epsilon = float64(i) * largest / steps
			err := chooseC(ctx, data, folds, start, opt, func(predicted []float64, c Choice) {
				for i, p := range predicted {
					c.Rate += (p - data.Y[i]) * (p - data.Y[i]) / float64(len(predicted))
				}
				visit(c)
				if c.Rate < best.Rate {
					best = c
				}
			})
			if err != nil {
				return best, err
			}
		}
		return best, nil
	}
	return best, errors.New("parameters are found for the solvers 0, 2 and 11 only")
}

// largestC is the last C that is tried.
const largestC = 1024

func chooseC(ctx context.Context, data *Data, folds int, c float64, opt Options, judge func(predicted []float64, c Choice)) error {
	if c <= 0 {
		c = smallC(data, opt)
	}
	for ; c <= largestC; c *= 2 {
		opt.C = c
		predicted, err := CrossValidate(ctx, data, folds, opt)
		if err != nil {
			return err
		}
		judge(predicted, Choice{C: c, P: opt.Epsilon})
	}
	return nil
}

// smallC is a power of two at which the losses hardly move w away from 0. By D. Chu, C.-J. Lin
// et al. (Warm start for parameter selection of linear classifiers, 2015) this holds for 1/(l·max‖x‖²)
// with logistic regression and half of it with the squared hinge.
func smallC(data *Data, opt Options) float64 {
	largest := 0.0
	for i := range data.X.Rows {
		sum := 0.0
		_, val := data.X.Row(i)
		for _, v := range val {
			sum += float64(v) * float64(v)
		}
		if opt.Bias >= 0 {
			sum += opt.Bias * opt.Bias
		}
		largest = max(largest, sum)
	}
	c := 1.0
	switch {
	case largest == 0:
	case opt.Solver == L2RLR:
		c = 1 / (float64(data.X.Rows) * largest)
	case opt.Solver == L2RL2LossSVC:
		c = 1 / (2 * float64(data.X.Rows) * largest)
	default:
		// For a regression what counts is the part of the targets that the tube leaves.
		loss, slope := 0.0, 0.0
		for i, y := range data.Y {
			e := max(0, math.Abs(y)-opt.Epsilon)
			loss += e * e
			_, val := data.X.Row(i)
			norm := 0.0
			for _, v := range val {
				norm += float64(v) * float64(v)
			}
			slope += 2 * e * math.Sqrt(norm)
		}
		if slope > 0 {
			const delta = 0.1
			c = delta * delta * loss / (slope * slope)
		}
	}
	return math.Pow(2, math.Floor(math.Log2(c)))
}
