package train

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"mercer/feature"
	"mercer/matrix"
)

// endsAfter is a context that ends when it was asked a number of times, and counts how often it is asked.
type endsAfter struct {
	context.Context
	times int64
	asked atomic.Int64
}

func (c *endsAfter) Err() error {
	if c.asked.Add(1) > c.times {
		return context.Canceled
	}
	return nil
}

// A training whose context ends gives up in the middle of whatever it solves, does next to nothing afterwards, and returns
// the context's error: no learner and no map that is fitted has work that cannot be ended.
func TestTrainingsEndWithTheirContextInEverySolve(t *testing.T) {
	x, y := waves(5, 600)
	numbers := make([]float64, x.Rows)
	for i := range numbers {
		numbers[i] = y[2*i]
	}
	_, names := rings(5, x.Rows, 3)
	of := func(m string, o feature.Options) Config {
		return Config{Learner: Ridge{Lambda: 1}, Kernel: Kernel{Name: "rbf"}, Map: Map{Name: m, Features: 64, Options: o}}
	}
	cases := []struct {
		name  string
		cfg   Config
		label []string
		least int64 // questions beyond the survey and the passes
	}{
		{"kernel-ridge", Config{Learner: KernelRidge{}}, nil, 300},
		{"kernel-ridge with λ", Config{Learner: KernelRidge{Lambda: 1}}, nil, 40},
		{"kernel-ridge by a tree", Config{Learner: KernelRidge{Lambda: 1, Product: "tree", Accuracy: 1e-3}}, nil, 40},
		{"kernel-ridge by a threshold", Config{Learner: KernelRidge{Lambda: 1, Product: "threshold", Accuracy: 1e-9}}, nil, 40},
		{"falkon", Config{Learner: Falkon{}, Map: Map{Features: 128, Options: feature.Options{Landmarks: "leverage"}}}, nil, 100},
		{"ridge by evidence", Config{Learner: Ridge{LambdaBy: "evidence"}, Map: Map{Features: 256}}, nil, 300},
		{"ridge by folds", Config{Learner: Ridge{LambdaBy: "folds"}, Map: Map{Features: 256}}, nil, 100},
		{"least squares", Config{Learner: Ridge{LambdaBy: "given"}, Map: Map{Features: 256}}, nil, 20},
		{"components", Config{Learner: Ridge{Lambda: 1}, Map: Map{Features: 256}, Reduce: Reduction{Share: 0.9}}, nil, 300},
		{"lda", Config{Learner: LDA{}, Map: Map{Features: 256}}, names, 15},
		{"lasso", Config{Learner: Lasso{}, Map: Map{Features: 128}}, nil, 40},
		{"svm", Config{Learner: SVM{}, Map: Map{Features: 128}}, names, 40},
		{"nystrom", of("nystrom", feature.Options{}), nil, 80},
		{"kmedoid", of("nystrom", feature.Options{Landmarks: "kmedoid"}), nil, 500},
		{"rpcholesky", of("nystrom", feature.Options{Landmarks: "rpcholesky"}), nil, 80},
		{"icholesky", of("icholesky", feature.Options{}), nil, 120},
		{"cksvd", of("cksvd", feature.Options{}), nil, 500},
		{"kg-rp", of("kg-rp", feature.Options{}), nil, 80},
		{"a learned metric", Config{Learner: Ridge{Lambda: 1}, Metric: Metric{Form: "full"}, Map: Map{Features: 64}}, nil, 40},
	}
	if testing.Short() {
		cases = cases[:4]
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := func(times int64) (int64, error) {
				ctx := &endsAfter{Context: t.Context(), times: times}
				src := source(t, matrix.Rows{Dense: x}, numbers, 1, nil)
				if c.label != nil {
					src = source(t, matrix.Rows{Dense: x}, nil, 0, c.label)
				}
				_, _, err := Fit(ctx, src, c.cfg, Options{})
				return ctx.asked.Load(), err
			}
			all, err := run(1 << 60)
			if err != nil || all < c.least {
				t.Fatalf("%v; asked %d times", err, all)
			}
			for _, share := range []float64{0.3, 0.95} {
				times := int64(share * float64(all))
				if asked, err := run(times); !errors.Is(err, context.Canceled) || asked-times > 300 {
					t.Errorf("ended after %d of %d questions: %v, asked %d times more", times, all, err, asked-times)
				}
			}
		})
	}
}
