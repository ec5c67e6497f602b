package mercer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"mercer/dataset"
	"mercer/lab"
	"mercer/train"
	"mercer/tune"
)

// Config says how to train; the zero value chooses by the data.
type Config struct {
	train.Config

	// Holdout is the share of the rows, in [0, 1), that is kept back to test the model on; they are
	// drawn by Seed. Test are other data to test it on. One of the two at most.
	Holdout float64
	Test    Data

	// Auto races candidates on growing samples of the rows and trains the best; what Config says holds
	// for all of them. Budget is the time that it may take with the training, 0 meaning no bound.
	Auto   bool
	Budget time.Duration

	// Training is what does not change the model: progress, memory.
	Training train.Options

	// Log, if not nil, is told what was found, chosen and trained.
	Log *slog.Logger
}

// Result is what comes of a training.
type Result struct {
	Model  *Model
	Report *Report

	// Auto says what was tried, nil without Config.Auto.
	Auto *tune.AutoReport

	// Test are the metrics of the rows that were held out, or of Config.Test; nil where there are none.
	Test *Metrics
}

// Save writes the model to a file that appears whole or not at all.
func (r *Result) Save(path string) error { return r.Model.Save(path) }

// Train trains a model on data, and tests it where Config asks for that. The data are streamed: with the
// ridge learner they need not fit into memory. With cfg.Bag (which may be empty) the data are bags, each
// of which has one label and becomes one row.
func Train(ctx context.Context, data Data, cfg Config) (*Result, error) {
	if cfg.Holdout < 0 || cfg.Holdout >= 1 || math.IsNaN(cfg.Holdout) {
		return nil, fmt.Errorf("holdout %g is not a share from 0 to below 1", cfg.Holdout)
	}
	if cfg.Holdout > 0 && cfg.Test.open != nil {
		return nil, errors.New("holdout and test both say what to test on; give one of them")
	}
	if err := cfg.Config.Check(); err != nil {
		return nil, err
	}
	o, err := data.opened(ctx, nil, cfg.Bag != nil)
	if err != nil {
		return nil, err
	}
	if o.close != nil {
		defer o.close()
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &Result{}
	held, err := r.fit(ctx, o, cfg)
	if err != nil {
		log.ErrorContext(ctx, "training failed", "error", err)
		return nil, err
	}
	r.log(ctx, log)
	switch {
	case cfg.Test.open != nil:
		r.Test, err = Evaluate(ctx, r.Model, cfg.Test)
	case held != nil:
		r.Test, err = lab.Evaluate(ctx, r.Model, held, lab.Options{})
	}
	if err != nil {
		return nil, fmt.Errorf("testing the model: %w", err)
	}
	if r.Test != nil {
		log.InfoContext(ctx, "tested", "rows", r.Test.N)
	}
	return r, nil
}

// fit trains on what was opened; held are the rows that were kept back.
func (r *Result) fit(ctx context.Context, o *opened, cfg Config) (held dataset.Source, err error) {
	seed := max(cfg.Seed, 1)
	if o.bags != nil {
		if cfg.Auto {
			return nil, errors.New("auto is for rows, not for bags")
		}
		bags, kept := o.bags, dataset.Bags(nil)
		if cfg.Holdout > 0 {
			bags, kept = dataset.SplitBags(o.bags, cfg.Holdout, seed)
		}
		if r.Model, r.Report, err = train.FitBags(ctx, bags, cfg.Config, cfg.Training); err == nil && kept != nil {
			held = r.Model.Bag().Source(kept)
		}
		return held, err
	}
	rows := o.rows
	if cfg.Holdout > 0 {
		rows, held = dataset.Split(rows, cfg.Holdout, seed)
	}
	if cfg.Auto {
		r.Model, r.Report, r.Auto, err = tune.Auto(ctx, rows, tune.AutoOptions{Config: cfg.Config, Budget: cfg.Budget, Training: cfg.Training})
	} else {
		r.Model, r.Report, err = train.Fit(ctx, rows, cfg.Config, cfg.Training)
	}
	return held, err
}

// log tells what was trained.
func (r *Result) log(ctx context.Context, log *slog.Logger) {
	info := r.Model.Info()
	log.InfoContext(ctx, "read", "rows", info.Training.Rows, "dimensions", info.Schema.Dim)
	chosen := []any{"task", info.Task, "scale", info.Scale, "learner", info.Training.Learner}
	if f := info.Feature; f != nil {
		chosen = append(chosen, "map", f.Map, "features", f.Features)
	}
	log.InfoContext(ctx, "chose", chosen...)
	for what, why := range info.Training.Why {
		log.DebugContext(ctx, "why", what, why)
	}
	log.InfoContext(ctx, "trained", "seconds", r.Report.Total, "read", r.Report.Read, "map", r.Report.Map, "solve", r.Report.Solve)
}
