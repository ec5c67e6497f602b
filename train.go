package mercer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"time"

	"mercer/auto"
	"mercer/dataset"
	"mercer/lab"
	"mercer/train"
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

	// Statistics, if not nil, are those of other rows, which the rows are added to (train.FitStatistics);
	// there need be no data then.
	Statistics *train.Statistics

	// Continue, if not nil, is a model of the online learner that goes on learning with the rows; Config
	// says nothing then.
	Continue *Model

	// Unlabelled are more rows to find principal components with, and for nothing else.
	Unlabelled Data

	// Training is what does not change the model: progress, memory, what is to be kept.
	Training train.Options

	// Metrics say what the test tells beside its metrics.
	Metrics lab.Options

	// Log, if not nil, is told what was found, chosen and trained.
	Log *slog.Logger
}

// Result is what comes of a training.
type Result struct {
	Model  *Model
	Report *Report

	// Auto says what was tried, nil without Config.Auto.
	Auto *auto.Report

	// Test are the metrics of the rows that were held out, or of Config.Test; nil where there are none.
	Test *Metrics

	// Unseen are values of categorical columns in the test data that the model does not know.
	Unseen []dataset.Unseen
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

// job is a training and its test.
type job struct {
	ctx    context.Context
	cfg    Config
	log    *slog.Logger
	result *Result
	held   dataset.Source // rows that were kept back
	open   []func() error
}

func (j *job) close() {
	for _, c := range slices.Backward(j.open) {
		c()
	}
}

// data opens data until the job ends.
func (j *job) data(d Data, asked *dataset.Schema, bags bool) (*opened, error) {
	o, err := d.opened(j.ctx, asked, bags)
	if err == nil && o.close != nil {
		j.open = append(j.open, o.close)
	}
	return o, err
}

// train opens the data and trains.
func (j *job) train(data Data) (err error) {
	c, r := &j.cfg, j.result
	opt := c.Training
	if c.Unlabelled.open != nil {
		opt.Unlabelled = func(read dataset.Schema) (dataset.Source, error) {
			o, err := j.data(c.Unlabelled, &read, false)
			if err != nil {
				return nil, err
			}
			return o.rows, nil
		}
	}
	if told := opt.Surveyed; c.Test.open != nil {
		opt.Surveyed = func(read dataset.Schema) error {
			if told != nil {
				if err := told(read); err != nil {
					return err
				}
			}
			return c.Test.fits(j.ctx, read)
		}
	}
	switch {
	case c.Continue != nil:
		return j.goOn(data)
	case c.Statistics != nil && data.open == nil:
		r.Model, r.Report, err = train.FitStatistics(j.ctx, nil, c.Statistics, c.Config, opt)
		return err
	case c.Statistics != nil:
		if err := c.Test.fits(j.ctx, *c.Statistics.DataSchema()); err != nil {
			return err
		}
		o, err := j.data(data, c.Statistics.DataSchema(), false)
		if err != nil {
			return err
		}
		r.Model, r.Report, err = train.FitStatistics(j.ctx, j.holdOut(o.rows), c.Statistics, c.Config, opt)
		return err
	}
	o, err := j.data(data, nil, c.Bag != nil)
	switch {
	case err != nil:
		return err
	case o.bags != nil:
		return j.fitBags(o.bags, opt)
	case c.Auto:
		r.Model, r.Report, r.Auto, err = auto.Train(j.ctx, j.holdOut(o.rows), auto.Options{Config: c.Config, Budget: c.Budget, Training: opt})
	default:
		r.Model, r.Report, err = train.Fit(j.ctx, j.holdOut(o.rows), c.Config, opt)
	}
	return err
}

// seed draws the rows that are held out.
func (j *job) seed() uint64 { return max(j.cfg.Seed, 1) }

// holdOut keeps rows back for the test and gives the others.
func (j *job) holdOut(rows dataset.Source) dataset.Source {
	if j.cfg.Holdout > 0 {
		rows, j.held = dataset.Split(rows, j.cfg.Holdout, j.seed())
	}
	return rows
}

func (j *job) fitBags(bags dataset.Bags, opt train.Options) (err error) {
	c, r := &j.cfg, j.result
	if c.Auto {
		return errors.New("auto is for rows, not for bags")
	}
	var kept dataset.Bags
	if c.Holdout > 0 {
		bags, kept = dataset.SplitBags(bags, c.Holdout, j.seed())
	}
	if c.Test.path != "" { // another reader than that of rows
		schema := bags.Schema()
		if o, err := c.Test.opened(j.ctx, schema, true); err != nil {
			return err
		} else if o.close != nil {
			o.close()
		}
	}
	if r.Model, r.Report, err = train.FitBags(j.ctx, bags, c.Config, opt); err == nil && kept != nil {
		j.held = r.Model.Bag().Source(kept)
	}
	return err
}

// goOn lets a model of the online learner learn the rows.
func (j *job) goOn(data Data) error {
	c, r := &j.cfg, j.result
	online, err := train.Continue(c.Continue)
	if err != nil {
		return err
	}
	online.Validated(c.Training.Validated)
	if err := c.Test.fits(j.ctx, c.Continue.Info().Schema); err != nil {
		return err
	}
	src, done, err := rowsFor(j.ctx, c.Continue, data)
	if err != nil {
		return err
	}
	defer done()
	if s, ok := src.(interface{ LastPass() }); ok {
		s.LastPass()
	}
	start := time.Now()
	err = online.PartialFitSource(j.ctx, src, func(rows int, share float64) {
		if c.Training.Progress != nil {
			c.Training.Progress("train", rows, share)
		}
	})
	if err != nil {
		return err
	}
	r.Report = &Report{Total: time.Since(start).Seconds()}
	r.Model, err = online.Model()
	return err
}

// test measures the model on the rows that were held out, or on other data.
func (j *job) test() (err error) {
	r, opt := j.result, j.cfg.Metrics
	if told := j.cfg.Training.Progress; opt.Progress == nil && told != nil {
		opt.Progress = func(rows int, share float64) { told("test", rows, share) }
	}
	switch {
	case j.cfg.Test.open != nil:
		src, done, err := rowsFor(j.ctx, r.Model, j.cfg.Test)
		if err != nil {
			return err
		}
		defer done()
		if r.Test, err = lab.Evaluate(j.ctx, r.Model, src, opt); err != nil {
			return err
		}
		if f, ok := src.(interface{ UnseenCategories() []dataset.Unseen }); ok {
			r.Unseen = f.UnseenCategories()
		}
	case j.held != nil:
		if r.Test, err = lab.Evaluate(j.ctx, r.Model, j.held, opt); err != nil {
			return err
		}
	default:
		return nil
	}
	j.log.InfoContext(j.ctx, "tested", "rows", r.Test.N)
	return nil
}

// tell logs what was trained.
func (j *job) tell() {
	ctx, r := j.ctx, j.result
	info := r.Model.Info()
	j.log.InfoContext(ctx, "read", "rows", info.Training.Rows, "dimensions", info.Schema.Dim)
	chosen := []any{"task", info.Task, "scale", info.Scale, "learner", info.Training.Learner}
	if f := info.Feature; f != nil {
		chosen = append(chosen, "map", f.Map, "features", f.Features)
	}
	j.log.InfoContext(ctx, "chose", chosen...)
	for _, what := range slices.Sorted(maps.Keys(info.Training.Why)) {
		j.log.DebugContext(ctx, "why", what, info.Training.Why[what])
	}
	j.log.InfoContext(ctx, "trained", "seconds", r.Report.Total, "read", r.Report.Read, "map", r.Report.Map, "solve", r.Report.Solve)
}
