package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	front "mercer"
	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/app/render"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/solve/learn"
	"mercer/train"
)

// onlineName is the learner that has a flag of its own.
var onlineName = train.Config{Learner: train.SGD{}}.LearnerName()

func (t *training) run(cmd *cobra.Command, path string) error {
	start := time.Now()
	ctx := cmd.Context()
	if t.online {
		if cmd.Flags().Changed("learner") && !t.cfg.Traits().Online() {
			return usagef("--%s and --learner %s are two learners; give one of them", onlineName, t.cfg.LearnerName())
		}
		t.cfg.SetLearner(onlineName)
	}
	if t.from != "" {
		return t.goOn(cmd, path)
	}
	unname(cmd, &t.cfg, t.auto)
	if err := settle(cmd, &t.cfg); err != nil {
		return err
	}
	if err := settleBags(cmd, path, &t.data, &t.cfg, &t.bag); err != nil {
		return err
	}
	if err := readLandmarks(ctx, &t.cfg, t.data); err != nil {
		return err
	}
	if err := t.check(); err != nil {
		return err
	}
	if err := t.checkAuto(cmd, path); err != nil {
		return err
	}
	if err := t.loadStatistics(cmd, path); err != nil {
		return err
	}
	if err := t.checkFiles(path); err != nil {
		return err
	}
	p, err := NewProgress(cmd, t.progress)
	if err != nil {
		return err
	}
	if err := writable(t.out, t.saveStats); err != nil {
		return err
	}
	if err := t.findTest(); err != nil {
		return err
	}
	memory := int64(t.memory)
	if memory == 0 {
		memory = availableMemory() / 5 * 4
	}
	switch {
	case t.plan && t.estimate:
		return usagef("--plan says what a training does, --estimate what it takes; give one of them")
	case t.plan:
		return t.printPlan(cmd, path, memory)
	case t.estimate:
		return t.printCost(cmd, path, memory)
	}
	t.announce(ctx, p, path, memory)
	// Statistics appear with the model: whoever adds rows to a file of statistics and is interrupted before
	// there is a model can do it again.
	defer func() {
		if t.kept != nil {
			t.kept.Close()
		}
	}()
	var data front.Data
	name, trained, advice := strings.Join(t.appendTo, " + "), filepath.Base(dataset.ShownPath(path)), "train with"
	if path != "" {
		data, name = front.File(path, t.data), filepath.Base(dataset.ShownPath(path))
	}
	if t.stats != nil {
		trained, advice = "the file of statistics", "make that with"
	}
	r, err := front.Train(ctx, data, t.config(cmd, p, memory))
	p.Done()
	var chosen *render.AutoJSON
	if r != nil && r.Auto != nil {
		chosen = &render.AutoJSON{AutoReport: r.Auto, Command: trainCommand(cmd, r.Auto.Config, path)}
	}
	return t.finish(cmd, r, tooWide(err, trained, advice), name, start, chosen)
}

// config is the training that the flags ask for.
func (t *training) config(cmd *cobra.Command, p *Progress, memory int64) front.Config {
	c := front.Config{
		Config: t.cfg, Holdout: t.holdout, HoldoutKind: t.divide, Test: t.testData(), Auto: t.auto, Statistics: t.stats,
		Training: train.Options{Progress: p.Report, Memory: memory, Validated: t.validated(p)},
		Metrics:  eval.Options{Curves: t.pages.Wanted(), Intervals: true},
	}
	if t.auto {
		c.Budget = t.budget
	}
	if t.unlabelled != "" {
		o := t.data
		o.LabelsFile, o.Dim = "", 0
		o.Columns.SplitGroup, o.Columns.SplitTime, o.Columns.SplitColumn = "", "", ""
		c.Unlabelled = front.File(t.unlabelled, o)
	}
	if t.saveStats != "" {
		c.Training.Keep = t.keep
	}
	return c
}

// validated shows what progressive validation tells.
func (t *training) validated(p *Progress) func(learn.OnlinePoint) {
	return func(v learn.OnlinePoint) { p.say("  " + v.String()) }
}

// keep writes statistics to the file that is to appear with the model.
func (t *training) keep(s *train.Statistics) (err error) {
	if t.kept, err = atomicfile.Create(t.saveStats); err != nil {
		return err
	}
	if err := s.Write(t.kept); err != nil {
		return fmt.Errorf("%s: %w", t.saveStats, err)
	}
	return nil
}

// testData are those of --test, read as the data of the training are.
func (t *training) testData() front.Data {
	if t.test == "" {
		return front.Data{}
	}
	o := t.data
	o.LabelsFile, o.LabelsOptional = t.testLabels, false
	o.Columns.SplitGroup, o.Columns.SplitTime, o.Columns.SplitColumn = "", "", ""
	if !dataset.Database(t.test) {
		o.Query, o.Table = "", ""
	}
	return front.File(t.test, o)
}

// findTest fails where a file of test data is not there.
func (t *training) findTest() error {
	for _, path := range []string{t.test, t.testLabels} {
		if _, err := os.Stat(path); path != "" && path != "-" && dataset.Local(path) && !strings.ContainsAny(path, "*?[") && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
	}
	return nil
}

// tooWide is an error that says, where test data have too many dimensions, by which flag other data can have
// as many.
func tooWide(err error, trained, advice string) error {
	var e *front.WiderError
	if !errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s: has %s dimensions, but %s has %s; %s --dim %d", e.Name, units.Count(e.Dim), trained, units.Count(e.Trained),
		advice, e.Dim)
}

// finish saves the model and tells what it is. failed, if not nil, is what went wrong: with a result, its test alone,
// which does not spoil the model.
func (t *training) finish(cmd *cobra.Command, r *front.Result, failed error, name string, start time.Time, chosen *render.AutoJSON) error {
	if r == nil {
		return failed
	}
	warnUnseen(cmd, r.Unseen)
	if failed != nil && cmd.Context().Err() != nil {
		return failed
	}
	if tested := t.tested(r); tested != nil {
		r.Model = r.Model.WithTested(t.record(tested))
	}
	if err := t.save(r); err != nil {
		return errors.Join(failed, err)
	}
	if failed != nil {
		return fmt.Errorf("%w (the model was trained before that; it is in %s)", failed, t.out)
	}
	r.Report.Total = time.Since(start).Seconds()
	tested := t.tested(r)
	var more []func(*report.Page)
	if chosen != nil {
		more = append(more, render.AutoSections(chosen))
	}
	out := cmd.OutOrStdout()
	if t.json {
		if err := t.writePages(cmd, r, tested, name, more...); err != nil {
			return err
		}
		result := render.NewTrainJSON(render.ModelOf(r.Model), r.Report, tested, t.out, peakRSS())
		result.Auto = chosen
		return render.JSON(out, result)
	}
	if chosen != nil {
		render.AutoText(out, chosen)
	}
	render.TrainText(out, render.ModelOf(r.Model), r.Report, name, peakRSS(), tested)
	render.SavedText(out, t.out, sizeOf(t.out))
	return t.writePages(cmd, r, tested, name, more...)
}

// save writes the model, and the statistics that are to be kept.
func (t *training) save(r *front.Result) error {
	if err := r.Save(t.out); err != nil || t.kept == nil {
		return err
	}
	return t.kept.Commit()
}

// tested are the metrics of a training, and on what they were measured; nil if there was no test.
func (t *training) tested(r *front.Result) *render.Tested {
	switch {
	case r.Test == nil:
		return nil
	case t.test != "":
		return &render.Tested{Metrics: r.Test, On: filepath.Base(dataset.ShownPath(t.test))}
	}
	return &render.Tested{Metrics: r.Test, On: t.heldBack(r)}
}

// writePages writes the page of a training, if one is wanted; name is that of the data. Others add sections after those of the
// evaluation.
func (t *training) writePages(cmd *cobra.Command, r *front.Result, tested *render.Tested, name string, more ...func(*report.Page)) error {
	if !t.pages.Wanted() {
		return nil
	}
	page := render.TrainPage(render.ModelOf(r.Model), r.Report, filepath.Base(t.out), name, tested, peakRSS(), more...)
	if tested != nil {
		tested.Metrics.Curves = nil // the page has them
	}
	if err := t.pages.Write(cmd, page, t.json); err != nil {
		return fmt.Errorf("%w (the model is in %s)", err, t.out)
	}
	return nil
}
