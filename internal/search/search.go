// Package search trains on few rows to decide about all of them: it chooses a configuration, and predicts what its
// training takes.
//
// Tune judges the configurations of a Space, its candidates, by cross-validation and picks one; Auto chooses one of several
// contenders for data of which little is known, and trains it. Both race them on growing samples of the rows; in a race they
// are racers. Predict tells the seconds
// and bytes of a training before it begins: bytes follow from its plan (train.Resolve), seconds from trainings on few
// rows by the laws of their stages. LearningCurve says how much more rows or features would help.
package search

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/model"
	"mercer/train"
)

// lab is where trials are made. The zero value is the real one; tests have another clock, and trainings that cost nothing.
type lab struct {
	clock func() time.Time
	fit   fitter
}

type fitter func(ctx context.Context, src dataset.Source, cfg train.Config, opt train.Options) (*model.Model, *train.Report, error)

func (l lab) now() time.Time {
	if l.clock != nil {
		return l.clock()
	}
	return time.Now()
}

func (l lab) train(ctx context.Context, src dataset.Source, cfg train.Config, opt train.Options) (*model.Model, *train.Report, error) {
	if l.fit != nil {
		return l.fit(ctx, src, cfg, opt)
	}
	return train.Fit(ctx, src, cfg, opt)
}

// meanError returns the mean of numbers and its standard error.
func meanError(v []float64) (mean, se float64) {
	for _, x := range v {
		mean += x
	}
	n := float64(len(v))
	mean /= n
	if n < 2 {
		return mean, 0
	}
	for _, x := range v {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// Describe describes a configuration in a few words that tell it from others: kernel, its parameters,
// learner and everything else that is not automatic.
func Describe(c train.Config) string {
	words := []string{c.KernelName()}
	if chooser := train.Chooser(); c.LearnerName() == chooser.Name() && c.Kernel.Name == "" {
		words = nil
	}
	add := func(format string, v any) { words = append(words, fmt.Sprintf(format, v)) }
	if c.Kernel.Degree != 0 {
		add("%d", c.Kernel.Degree)
	}
	if c.Kernel.Gamma != "" && c.Kernel.Gamma != "median" {
		add("γ %s", c.Kernel.Gamma)
	}
	if c.Kernel.Sigma != 0 {
		add("σ %g", c.Kernel.Sigma)
	}
	if c.Map.Name != "" {
		add("%s", c.Map.Name)
	}
	if c.Map.Features != 0 {
		add("D %d", c.Map.Features)
	}
	if c.Scale != "" && c.Scale != "auto" {
		add("%s", c.Scale)
	}
	if c.LearnerName() != "" && c.LearnerName() != "auto" {
		add("%s", c.LearnerName())
	}
	if weight := train.As[train.SVM](c.Learner).C; weight != 0 {
		add("C %g", weight)
	}
	switch ridge := train.As[train.Ridge](c.Learner); {
	case ridge.LambdaBy == "trace":
		add("λ trace*%g", ridge.Lambda)
	case ridge.Lambda != 0:
		add("λ %g", ridge.Lambda)
	}
	return strings.Join(words, " ")
}

// Timing is the time of a training on few rows: n rows, D features, and seconds.
type Timing struct {
	Rows     int     `json:"rows"`
	Features int     `json:"features"`
	Read     float64 `json:"read_seconds"`
	Map      float64 `json:"map_seconds"`
	Solve    float64 `json:"solve_seconds"`

	// Metric is that of learning a metric, or choosing a scaling by held-out rows.
	Metric float64 `json:"metric_seconds,omitempty"`

	// Collect is the part of Solve that added rows to statistics, if known.
	Collect float64 `json:"collect_seconds,omitempty"`

	// Choose is the part of Solve that chose C, for learners that go through rows.
	Choose float64 `json:"choose_seconds,omitempty"`
}

// add adds a share of the seconds of another training on as many rows.
func (t *Timing) add(o Timing, share float64) {
	t.Features = o.Features
	t.Read, t.Map, t.Solve = t.Read+share*o.Read, t.Map+share*o.Map, t.Solve+share*o.Solve
	t.Metric, t.Collect, t.Choose = t.Metric+share*o.Metric, t.Collect+share*o.Collect, t.Choose+share*o.Choose
}

// timingOf extracts the timing from the report of a training.
func timingOf(rows, features int, r *train.Report) Timing {
	t := Timing{Rows: rows, Features: features, Read: r.Read, Map: r.Map, Metric: r.Metric, Solve: r.Solve, Collect: r.Collect}
	if r.Collect == 0 {
		t.Choose = r.Choose
	}
	return t
}
