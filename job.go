package mercer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/search"
	"mercer/train"
)

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
	o, err := d.opened(j.ctx, purpose{asked, bags, j.cfg.Precomputed()})
	if err == nil {
		j.open = append(j.open, o.close)
	}
	return o, err
}

// rows is data of rows, as what names it takes no bags.
func (j *job) rows(d Data, asked *dataset.Schema, what string) (*opened, error) {
	o, err := j.data(d, asked, false)
	if err == nil && o.rows == nil {
		return nil, fmt.Errorf("%s takes rows, but the data are bags", what)
	}
	return o, err
}

// train opens the data and trains.
func (j *job) train(data Data) (err error) {
	c, r := &j.cfg, j.result
	if err := c.Test.missing(); err != nil {
		return err
	}
	opt := c.Training
	opt.Probabilities = true
	if c.Unlabelled.open != nil {
		opt.Unlabelled = func(read dataset.Schema) (dataset.Source, error) {
			read.Unlabelled = true
			o, err := j.rows(c.Unlabelled, &read, "a search for principal components")
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
			return c.Test.Fits(j.ctx, read)
		}
	}
	switch {
	case c.Continue != nil:
		return j.goOn(data)
	case c.Statistics != nil:
		return j.addTo(c.Statistics, data, opt)
	}
	o, err := j.data(data, nil, c.Bag != nil)
	switch {
	case err != nil:
		return err
	case o.bags != nil:
		return j.fitBags(o.bags, opt)
	case c.Auto:
		choice := search.AutoOptions{Config: c.Config, Budget: c.Budget, Training: opt}
		if told := opt.Progress; told != nil {
			choice.Progress = func(what string) { told("auto: "+what, 0, -1) }
		}
		rows, err := j.holdOut(o.rows)
		if err != nil {
			return err
		}
		r.Model, r.Report, r.Auto, err = search.Auto(j.ctx, rows, choice)
		return err
	}
	rows, err := j.holdOut(o.rows)
	if err != nil {
		return err
	}
	r.Model, r.Report, err = train.Fit(j.ctx, rows, c.Config, opt)
	return err
}

// addTo adds the rows to statistics, if there are any, and trains on all.
func (j *job) addTo(s *train.Statistics, data Data, opt train.Options) (err error) {
	c, r := &j.cfg, j.result
	if err := c.Test.Fits(j.ctx, *s.DataSchema()); err != nil {
		return err
	}
	if data.open == nil {
		r.Model, r.Report, err = train.FitStatistics(j.ctx, nil, s, c.Config, opt)
		return err
	}
	o, err := j.rows(data, s.DataSchema(), "a training with statistics")
	if err != nil {
		return err
	}
	rows, err := j.holdOut(o.rows)
	if err != nil {
		return err
	}
	r.Model, r.Report, err = train.FitStatistics(j.ctx, rows, s, c.Config, opt)
	r.Unseen = o.unseen()
	return err
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
	if err := c.Test.fitsBags(j.ctx, bags.Schema()); err != nil {
		return err
	}
	if r.Model, r.Report, err = train.FitBags(j.ctx, bags, c.Config, opt); err == nil && kept != nil {
		j.held = r.Model.Bag().Source(kept)
	}
	return err
}

// seed draws the rows that are held out.
func (j *job) seed() uint64 { return max(j.cfg.Seed, 1) }

// holdOut keeps rows back for the test and gives the others.
func (j *job) holdOut(rows dataset.Source) (rest dataset.Source, err error) {
	h := dataset.Holdout{Share: j.cfg.Holdout, Kind: j.cfg.HoldoutKind, Task: j.cfg.Task, Seed: j.seed()}
	kind, _ := dataset.SplitBy(rows)
	switch {
	case kind != "" && j.cfg.Test.open != nil:
		return nil, errors.New("a column to divide the rows by and test data both say what to test on; give one of them")
	case kind == "" && h.Share == 0:
		return rows, nil
	case kind == "column" && h.Share > 0:
		return nil, errors.New("the column says which rows to test on, so a share of them says nothing; leave out the holdout")
	case kind != "column" && h.Share == 0:
		h.Share = defaultShare
	}
	var told func(rows int, share float64)
	if p := j.cfg.Training.Progress; p != nil {
		told = func(rows int, share float64) { p("hold out", rows, share) }
	}
	rest, j.held, j.result.Held, err = h.HoldOut(j.ctx, rows, told)
	return rest, err
}

// defaultShare is the share held out by groups or time.
const defaultShare = 0.2

// test measures the model on the rows that were held out, or on other data.
func (j *job) test() (err error) {
	r, opt := j.result, j.cfg.Metrics
	if told := j.cfg.Training.Progress; opt.Progress == nil && told != nil {
		opt.Progress = func(rows int, share float64) { told("test", rows, share) }
	}
	switch {
	case j.cfg.Test.open != nil:
		src, o, err := rowsFor(j.ctx, r.Model, j.cfg.Test, false)
		if err != nil {
			return err
		}
		defer o.close()
		if r.Test, err = eval.Evaluate(j.ctx, r.Model, src, opt); err != nil {
			return err
		}
		r.Unseen = append(r.Unseen, o.unseen()...)
	case j.held != nil:
		if r.Test, err = eval.Evaluate(j.ctx, r.Model, j.held, opt); err != nil {
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
