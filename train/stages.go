// Package train turns data and a configuration into a model.
//
// A training is a list of steps (steps.go): a survey of the rows, what follows from it, what held-out rows decide, the map, the
// learner, probabilities. Fit takes all of them; every other entry takes some, in the same order. Resolve takes those that look at
// no rows, and tells the others: that is a Plan. What the default is stands in default.go alone. A learner is one file and one row of
// a table (learners.go). A model is a function of data, Config and seed: the same bytes for
// any number of threads and any batch size. Options.Memory decides only whether the learner rfm is the default, which
// holds all rows, and whether an svm has memory for Newton's steps after its passes.
//
// Programs use [Config] with its parts ([Metric], [Kernel], [Map], [Reduction], [Shrinkage], [Calibration]) and a [Learner] with its options,
// such as [SVM]; [Options] and [Fit] with its variants; [Statistics] for rows that come in parts; [Online] for a model that keeps learning; and
// [Resolve] and [NewPlan] for a [Plan]. The rest is for the packages that compare trainings (trial, cost, tune, auto) and changes with
// them: [Traits] of learners and the functions that find them ([LearnerOf], [ExactSVM], [OnePass], [Chooser], [Data]), [Size],
// [Config.BeforeLearner], what trainings on the same features share ([Prepared], [MappedRows], [PathRows], [PartsFit]), and [Settings], the values
// of a configuration by name.
package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
)

// begin checks a configuration and begins a training on the rows of src.
func begin(ctx context.Context, src dataset.Source, cfg Config, opt Options) (*fit, error) {
	f := &fit{ctx: ctx, src: src, asked: cfg, opt: opt, report: &Report{}}
	if f.asked.own() && cfg.Kernel.Name == "" {
		f.asked = f.asked.withoutKernel()
	}
	var err error
	f.cfg, err = cfg.withDefaults()
	return f, err
}

// beginRows is begin for data that are rows.
func beginRows(ctx context.Context, src dataset.Source, cfg Config, opt Options) (*fit, error) {
	if cfg.Bag != nil {
		return nil, errRows
	}
	return begin(ctx, src, cfg, opt)
}

var errRows = option.Errorf("the configuration is for bags, the data are rows; read them as bags (%s)", option.Ref("group"))

// Fit trains a model on the rows of src, which is read twice: once to survey the data,
// once to train.
//
// Memory, besides the model: ridge takes 16 to 56·D² bytes depending on how λ is chosen, whatever the
// number of rows; svm, svr and one-class take (9·K + 28)·n + 8·D·K, and the features, 4·n·D, if
// Options.Memory has room for them; otherwise these are in a temporary file. Online takes 36·D·K for K
// outputs.
func Fit(ctx context.Context, src dataset.Source, cfg Config, opt Options) (*model.Model, *Report, error) {
	start := time.Now()
	f, err := beginRows(ctx, src, cfg, opt)
	if err == nil {
		err = f.run(ofRows)
	}
	return f.trained(start, err)
}

// trained returns the result of a training that began at start.
func (f *fit) trained(start time.Time, err error) (*model.Model, *Report, error) {
	if err != nil {
		return nil, nil, err
	}
	f.report.Total = time.Since(start).Seconds()
	f.report.Read = max(0, f.report.Total-f.report.Map-f.report.Solve-f.report.Metric)
	return f.m, f.report, nil
}

// FitPipeline fits the part of a model before the learner on the rows of src, which is read
// once; the learner's settings play no part, and labels only with discriminants. why gives the reasons for what was chosen.
func FitPipeline(ctx context.Context, src dataset.Source, cfg Config, opt Options) (p *pipeline.Pipeline,
	why map[string]string, err error) {
	f, err := beginRows(ctx, src, cfg, opt)
	if err == nil {
		err = f.run(ofPipeline)
	}
	if err != nil {
		return nil, nil, err
	}
	return f.pipe, f.info.Training.Why, nil
}

// fit is the state of one training.
type fit struct {
	ctx    context.Context
	src    dataset.Source
	cfg    Config
	asked  Config // as it was given
	opt    Options
	report *Report

	// The results.
	sum         *dataset.Summary
	seen        []dataset.Column // what the rows of a table had in its columns
	info        model.Info
	metric      *metric.Metric // nil: plain distances
	pipe        *pipeline.Pipeline
	solved      solution
	calibration *learn.Calibration
	golden      *matrix.Dense // made-up rows that the model file keeps, with their scores
	m           *model.Model

	classes *dataset.Classes   // nil: no classes
	labels  *dataset.LabelSets // nil: a row has one label, or numbers

	learner *Traits

	// classWeights are factors of the weights of rows by class, nil if all are 1.
	classWeights []float64

	weighed bool // of rows that were not surveyed, one has a weight above 0

	lacking string // why the default learner was not taken, if memory is the reason

	reduced    bool // the principal components of all features are found
	unlabelled int  // rows used to find them besides those of the training

	bag  *bags // nil: the rows were no bags
	kept int64 // bytes of rows that were bags and are kept

	planned int // rows that a plan is for

	collected []*moments.Stats // of parts of all rows; nil: they are yet to be collected

	stats *Statistics // to which rows are added without a survey; nil: they were surveyed
}

func (f *fit) progress(stage string, rows int, share float64) {
	if f.opt.Progress != nil {
		f.opt.Progress(stage, rows, share)
	}
}

// solving adds the time until the returned function is called to the time spent solving.
func (f *fit) solving() func() {
	start := time.Now()
	return func() { f.report.Solve += time.Since(start).Seconds() }
}

// located is an error with the name of the data.
func (f *fit) located(err error) error { return fmt.Errorf("%s: %w", f.src.Name(), err) }

// survey makes the first pass, for what only a pass over all rows can tell.
func (f *fit) survey() error {
	reading := "read"
	if f.bag != nil {
		reading = "pool"
	}
	p := f.cfg.pipeline()
	sum, err := dataset.Survey(f.ctx, f.src, dataset.SurveyOptions{
		Seed:     f.cfg.Seed,
		Sample:   f.sampleRows(p),
		Rows:     f.cfg.surveyRows(),
		Progress: func(rows int, share float64) { f.progress(reading, rows, share) },
	})
	if err != nil {
		return err
	}
	return f.surveyed(sum)
}

// surveyed goes on from the summary of all rows.
func (f *fit) surveyed(sum *dataset.Summary) error {
	asked, err := f.asked.text()
	if err != nil {
		return err
	}
	f.report.Summary, f.sum = sum, sum
	f.info = model.Info{Schema: *f.src.Schema(), Config: asked, Training: model.Training{Rows: sum.Rows, Why: map[string]string{}}}
	f.info.Schema.Dim = sum.Dim
	if f.bag != nil {
		f.info.Bag = f.bag.info
	} else {
		f.seen = dataset.SeenColumns(f.info.Schema.Columns, sum)
	}
	return nil
}

// agree rejects options that do not go with the task or the rows.
func (f *fit) agree() error {
	if f.opt.Unlabelled != nil && (!f.cfg.reduces() || f.cfg.discriminates() || f.bag != nil) {
		return errUnlabelled
	}
	if err := f.needClasses(); err != nil {
		return err
	}
	if err := f.checkThreshold(); err != nil {
		return err
	}
	return f.checkCalibration()
}

// settle fixes the scaling, the kernel and the map.
func (f *fit) settle() error {
	p, why, err := pipeline.Settle(f.ctx, *f.cfg.pipeline(), f.rows())
	if err != nil {
		return err
	}
	f.pipe = p
	for what, text := range why {
		f.info.Training.Why[what] = text
	}
	f.info.Scale, f.info.Densify = p.Scaler().Kind, p.Scaler().Densify
	f.info.Kernel, f.info.Feature = p.Kernel(), p.Feature()
	return nil
}

// rows are the rows that a pipeline is settled for.
func (f *fit) rows() pipeline.Rows {
	r := pipeline.Rows{Name: f.src.Name(), Schema: &f.info.Schema, Summary: f.sum, Memory: f.opt.Memory, Metric: f.metric, Find: f.findOutside}
	if _, is := f.src.(unread); is && f.planned > 0 {
		r.Find = nil
	}
	return r
}

// admit rejects early what would stop the training later.
func (f *fit) admit() error {
	if err := f.checkKeep(); err != nil {
		return f.located(err)
	}
	if err := f.affordable(); err != nil {
		return err
	}
	if f.opt.Surveyed != nil && f.bag == nil {
		if err := f.opt.Surveyed(f.info.Schema); err != nil {
			return err
		}
	}
	return f.drawGolden()
}

// solution is what a learner made of the rows.
type solution struct {
	predictor model.Predictor
	report    model.Report
	rows      int    // that it learned from; 0: those of the survey
	unseen    unseen // none if it held out no rows
	judged    unseen // those that chose C, scored by the machine of fewer rows that they judged; none if they chose nothing
}

// solve trains the learner.
func (f *fit) solve() error {
	if f.learner.solver == nil {
		return f.take(f.learner.train(f))
	}
	solve, err := f.learner.solver(f)
	if err != nil {
		return err
	}
	parts := f.collected
	if f.collected = nil; parts == nil {
		parts = f.newParts(f.learner.parts(f))
		if err := f.collect(parts, 0); err != nil {
			return err
		}
	}
	if err := f.keep(parts); err != nil {
		return err
	}
	if err := f.reduceStatistics(parts); err != nil {
		return err
	}
	return f.take(solve(parts))
}

// take goes on from what the learner came to.
func (f *fit) take(s *solution, err error) error {
	if err != nil {
		return err
	}
	f.solved, f.info.Training.Report = *s, s.report
	if s.rows > 0 {
		f.info.Training.Rows = s.rows
	}
	return nil
}

// judge assembles the model and checks that it scores.
func (f *fit) judge() (err error) {
	if err := f.fold(); err != nil {
		return err
	}
	parts := f.parts()
	parts.Golden = f.golden
	if f.bag != nil {
		parts.Members = f.bag.golden
	}
	if f.m, err = model.New(parts); errors.Is(err, model.ErrScores) {
		return option.Errorf("%s: the model came out with scores that are not finite; scale the inputs (%s)", f.src.Name(),
			option.Set("scale", "standard"))
	}
	return err
}

// parts are the parts of the model as it is now.
func (f *fit) parts() model.Parts {
	p := model.Parts{Info: f.info, Pipeline: f.pipe, Predictor: f.solved.predictor, Calibration: f.calibration}
	if f.bag != nil {
		p.Bag = f.bag.mapping
	}
	return p
}
