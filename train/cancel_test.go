package train

import (
	"context"
	"errors"
	"testing"

	"mercer/matrix"
)

// A context that ends in a solve, which does not look at it, ends the training all the same.
func TestEndOfContextInSolveIsAnError(t *testing.T) {
	x, names := rings(3, 300, 2)
	for _, learner := range []string{"ridge", "kernel-ridge"} {
		ctx, cancel := context.WithCancel(context.Background())
		cfg := Config{Learner: Named{Name: learner}}
		if learner == "ridge" {
			cfg.Map.Features = 64
		}
		m, _, err := Fit(ctx, source(t, matrix.Rows{Dense: x}, nil, 1, names), cfg, Options{Progress: func(stage string, _ int, _ float64) {
			if stage == "solve" {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) || m != nil {
			t.Errorf("%s: model %v, %v", learner, m != nil, err)
		}
	}
}
