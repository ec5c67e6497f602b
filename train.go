package mercer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/search"
	"mercer/train"
)

// Config says how to train; the zero value chooses by the data.
type Config struct {
	train.Config

	// Holdout is the share of the rows, in [0, 1), that is kept back to test the model on, drawn by Seed; with the
	// options SplitGroup and SplitTime of the data it is a fifth where it is 0, and SplitColumn has no share.
	// HoldoutKind is random, stratified or, as by default, of classes stratified (dataset.Holdout). Test are other
	// data to test the model on. One of the two at most.
	Holdout     float64
	HoldoutKind string
	Test        Data

	// Auto races candidates on growing samples of the rows and trains the best; what Config says holds
	// for all of them. Budget is the time that it may take with the training, 0 meaning no bound.
	Auto   bool
	Budget time.Duration

	// Statistics, if not nil, are those of other rows, which the rows are added to (train.FitStatistics);
	// there need be no data then.
	Statistics *train.Statistics

	// Continue, if not nil, is a model of the online learner that goes on learning with the rows; Config
	// says nothing then. A model that cannot is a [ContinueError].
	Continue *Model

	// Unlabelled are more rows to find principal components with, and for nothing else.
	Unlabelled Data

	// Training is what does not change the model: progress, memory, what is to be kept.
	Training train.Options

	// Metrics say what the test tells beside its metrics.
	Metrics eval.Options

	// Log, if not nil, is told what was found, chosen and trained.
	Log *slog.Logger
}

// Result is what comes of a training.
type Result struct {
	Model  *Model
	Report *Report

	// Auto says what was tried, nil without Config.Auto.
	Auto *search.AutoReport

	// Test are the metrics of the rows that were held out, or of Config.Test; nil where there are none.
	Test *Metrics

	// Held says which rows were held out, nil where none were.
	Held *dataset.Held

	// Unseen are values of categorical columns that the model does not know: of the rows of the training,
	// where Config.Statistics or Config.Continue has the categories, and of the test data.
	Unseen []Unseen
}

// Save writes the model to a file that appears whole or not at all.
func (r *Result) Save(path string) error { return r.Model.Save(path) }

// Train trains a model on data, and tests it where Config asks for that. The data are streamed: with the
// ridge learner they need not fit into memory. With cfg.Bag (which may be empty) the data are bags, each
// of which has one label and becomes one row.
//
// A result beside an error is that of a training whose test failed: the model is good.
func Train(ctx context.Context, data Data, cfg Config) (*Result, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	j := &job{ctx: ctx, cfg: cfg, result: &Result{}, log: cfg.Log}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	defer j.close()
	var done func()
	j.ctx, done = dataset.Steady(ctx)
	defer done()
	if err := j.train(data); err != nil {
		j.log.ErrorContext(ctx, "training failed", "error", err)
		return nil, err
	}
	j.tell()
	if err := j.test(); err != nil {
		j.log.ErrorContext(ctx, "the test failed", "error", err)
		return j.result, err
	}
	return j.result, nil
}

// check finds what is wrong with the configuration itself.
func (c *Config) check() error {
	switch {
	case c.Holdout < 0 || c.Holdout >= 1 || math.IsNaN(c.Holdout):
		return fmt.Errorf("holdout %g is not a share from 0 to below 1", c.Holdout)
	case c.Holdout > 0 && c.Test.open != nil:
		return errors.New("holdout and test both say what to test on; give one of them")
	case c.Continue != nil && (c.Auto || c.Statistics != nil || c.Holdout > 0):
		return errors.New("a model that goes on learning takes neither auto nor statistics nor a holdout; give a test")
	case c.Auto && c.Statistics != nil:
		return errors.New("statistics have a scaling and a map already, so there is nothing for auto to choose")
	case c.Continue != nil:
		return nil
	}
	return c.Config.Check()
}
