package cost

import (
	"context"
	"errors"
	"math"

	"mercer/internal/search/trial"
	"mercer/kernel"
	"mercer/train"
)

// ExactPrediction is the predicted cost of an exact kernel machine on all rows of a sample's source.
type ExactPrediction struct {
	// Rows is n; Bytes is the size of its Gram matrix, 4·n².
	Rows  int     `json:"rows"`
	Bytes float64 `json:"gram_bytes"`

	// Seconds is extrapolated to n rows as c·n^Exponent from Trials, which are trainings of an
	// exact support vector machine. C and γ are assumed to be known: a search for them
	// takes as long for every point.
	Seconds  float64        `json:"seconds_extrapolated"`
	Exponent float64        `json:"exponent"`
	Trials   []trial.Timing `json:"trials"`
}

// PredictExact extrapolates the cost of an exact support vector machine of the rbf kernel on as many
// rows as the source of the sample has, from trainings on growing subsamples that together take about
// the given number of seconds.
func PredictExact(ctx context.Context, s *trial.Sample, cfg train.Config, opt Options) (*ExactPrediction, error) {
	n := s.Rows()
	g := &ExactPrediction{Rows: n, Bytes: 4 * float64(n) * float64(n)}
	exact := train.Config{Task: s.Task, Learner: train.Named{Name: train.ExactSVM().Name(), Options: map[string]any{"c": 10}},
		Kernel: train.Kernel{Name: kernel.RBF.Name(), Gamma: cfg.Kernel.Gamma}, Scale: cfg.Scale, Seed: cfg.Seed}
	if cfg.KernelName() != exact.Kernel.Name {
		exact.Kernel.Gamma = "" // γ of another kernel says nothing about this one's
	}
	if s.Task == "multilabel" {
		return nil, errors.New("an exact support vector machine predicts one class, or one number")
	}
	plan := &train.Plan{Config: exact, Exact: true, Fixed: true}
	var err error
	if g.Trials, err = trials(ctx, s, plan, opt.filled()); err != nil {
		return nil, err
	}
	var rows, seconds []float64
	for _, t := range g.Trials[max(0, len(g.Trials)-3):] {
		rows, seconds = append(rows, float64(t.Rows)), append(seconds, t.Solve)
	}
	_, g.Exponent = powerLaw(rows, seconds)
	g.Exponent = min(max(g.Exponent, 1), 3)
	last := g.Trials[len(g.Trials)-1]
	g.Seconds = last.Solve * math.Pow(float64(n)/float64(last.Rows), g.Exponent)
	return g, nil
}
