package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/search"
	"mercer/train"
)

// estimateRows are how many of the first rows a prediction of the cost looks at.
const estimateRows = 20_000

// estimable says why the cost of a training cannot be predicted, "" where it can.
func (t *training) estimable(path string) string {
	switch {
	case t.cfg.Bag != nil:
		return "bags"
	case t.appendTo != nil || t.like != "":
		return "statistics (--append, --like)"
	case t.from != "":
		return "a training that goes on (--continue)"
	case t.cfg.Traits().Online() || t.data.Stream:
		return "online learning"
	case t.cfg.Outliers():
		return "outliers"
	case t.cfg.Map.Given != nil:
		return "given landmarks"
	case path == "-":
		return "standard input"
	}
	if dataset.Database(path) || !dataset.Local(path) {
		return "a database, or an address"
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return "a pipe or a device" // what is read of it is gone
	}
	return ""
}

// predictCost predicts what the training takes, by trials of about so many seconds. It is nil where
// that is surely less than so many, or if least is given and a trial would take too long.
func (t *training) predictCost(ctx context.Context, src dataset.Source, memory int64, seconds, least float64) (*search.Prediction, error) {
	if t.holdout > 0 {
		src, _ = dataset.Split(src, t.holdout, max(t.cfg.Seed, 1))
	}
	s, err := search.DrawFirst(ctx, src, estimateRows, t.cfg.Task, max(t.cfg.Seed, 1))
	if err != nil {
		return nil, err
	}
	if short, err := search.Short(ctx, s, t.cfg, memory, least); short || err != nil {
		return nil, err
	}
	if least > 0 {
		plan, err := s.Plan(ctx, t.cfg, s.Rows(), memory)
		if err != nil || plan.Config.Traits().ChoosesKernels() { // a trial is a good part of the training
			return nil, err
		}
	}
	return search.Predict(ctx, s, t.cfg, search.PredictOptions{Memory: memory, Seconds: seconds})
}

// printCost is train --estimate: it predicts and stops.
func (t *training) printCost(cmd *cobra.Command, path string, memory int64) error {
	if what := t.estimable(path); what != "" {
		return usagef("--estimate predicts the cost of a training on a file of rows, not of %s", what)
	}
	src, err := dataset.Open(cmd.Context(), path, t.data)
	if err != nil {
		return err
	}
	defer src.Close()
	c, err := t.predictCost(cmd.Context(), src, memory, 3, 0)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if t.json {
		return render.JSON(w, c)
	}
	render.CostText(w, c)
	return nil
}

// printPlan is train --plan: it surveys the data, says what the training would do, and stops.
func (t *training) printPlan(cmd *cobra.Command, path string, memory int64) error {
	if t.cfg.Bag != nil || t.appendTo != nil || t.like != "" || t.from != "" || t.data.Stream {
		return usagef("--plan is for a training on a table of rows that begins with a survey of all: leave out --group, --append, --like, " +
			"--continue and --survey-rows")
	}
	opened, err := dataset.Open(cmd.Context(), path, t.data)
	if err != nil {
		return err
	}
	defer opened.Close()
	var src dataset.Source = opened
	if t.holdout > 0 {
		src, _ = dataset.Split(src, t.holdout, max(t.cfg.Seed, 1))
	}
	p, err := train.NewPlan(cmd.Context(), src, 0, t.cfg, train.Options{Memory: memory})
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if t.json {
		return render.JSON(w, p)
	}
	render.PlanText(w, filepath.Base(dataset.ShownPath(path)), p)
	return nil
}

// longWork is the number of seconds from which a work is announced. A test makes it 0.
var longWork = 10.0

// announce tells what a long training will take before it begins. Of a short one the
// first rows tell. That it cannot be predicted is no error here: the training will tell what is
// wrong.
func (t *training) announce(ctx context.Context, p *Progress, path string, memory int64) {
	if !p.tells() || t.auto || t.estimable(path) != "" {
		return
	}
	src, err := dataset.Open(ctx, path, t.data)
	if err != nil {
		return
	}
	defer src.Close()
	p.Report("estimate", 0, -1)
	if c, err := t.predictCost(ctx, src, memory, 1, longWork); err == nil && c != nil && c.Seconds >= longWork {
		p.note(c.Text())
	}
	p.Done()
}
