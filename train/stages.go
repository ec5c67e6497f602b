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
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// Fit trains a model on the rows of src, which is read twice: once to survey the data,
// once to train.
//
// Memory, besides the model: ridge takes 16 to 56·D² bytes depending on how λ is chosen, whatever the
// number of rows; svm, svr and one-class take (9·K + 28)·n + 8·D·K, and the features, 4·n·D, if
// Options.Memory has room for them; otherwise these are in a temporary file. Online takes 36·D·K for K
// outputs.
func Fit(ctx context.Context, src dataset.Source, cfg Config, opt Options) (*model.Model, *Report, error) {
	start := time.Now()
	t, err := beginRows(ctx, src, cfg, opt)
	if err == nil {
		err = t.take(ofRows)
	}
	return t.trained(start, err)
}

// FitPipeline fits the part of a model before the learner on the rows of src, which is read
// once; the learner's settings play no part, and labels only with discriminants. why gives the reasons for what was chosen.
func FitPipeline(ctx context.Context, src dataset.Source, cfg Config, opt Options) (p *pipeline.Pipeline,
	why map[string]string, err error) {
	t, err := beginRows(ctx, src, cfg, opt)
	if err == nil {
		err = t.take(ofPipeline)
	}
	if err != nil {
		return nil, nil, err
	}
	return t.job.pipe, t.why, nil
}

// run is how a training was called, and where its steps note what they took and why they chose what they did.
type run struct {
	ctx    context.Context
	asked  Config          // as it was given
	text   json.RawMessage // the same, as stored in a model
	cfg    Config          // with defaults and what has been decided
	opt    Options
	report *Report
	why    map[string]string
}

// surveyed are rows and what a first pass has found.
type surveyed struct {
	run
	src    dataset.Source
	schema dataset.Schema
	sum    *dataset.Summary
	seen   []dataset.Column // what the rows of a table had in its columns
	bag    *bags            // nil: the rows were no bags
}

// answers are what is to be predicted.
type answers struct {
	task         string
	outputs      int
	names        []string           // of classes
	classes      *dataset.Classes   // nil: no classes
	classWeights []float64          // factors of the weights of rows by class; nil if all are 1
	labels       *dataset.LabelSets // nil: a row has one label, or numbers
	offset       []float64          // of numbers, which the learner does not see; nil: 0
}

// problem is what is decided upon: rows with answers.
type problem struct {
	surveyed
	answers
}

// job is what a learner does: a problem whose rows become features.
type job struct {
	problem
	metric  *metric.Report // nil: plain distances
	pipe    *pipeline.Pipeline
	reduced bool // to the principal components of all features
	learner *Traits
	golden  *matrix.Dense // made-up rows that the model file keeps, with their scores

	collected []*moments.Stats            // of parts of all rows, by steps before the learner; nil: they are yet to be collected
	check     func(b *matrix.Batch) error // of rows that were not surveyed; nil: they were
}

func (r *run) progress(stage string, rows int, share float64) {
	if r.opt.Progress != nil {
		r.opt.Progress(stage, rows, share)
	}
}

// timed adds the time until the returned function is called to seconds.
func timed(seconds *float64) func() {
	start := time.Now()
	return func() { *seconds += time.Since(start).Seconds() }
}

// located is an error with the name of the data.
func (f *surveyed) located(err error) error { return fmt.Errorf("%s: %w", f.src.Name(), err) }

// survey makes the first pass over rows, or those that bags became, for what only a pass over all of them can tell.
func (r *run) survey(src dataset.Source, bag *bags) (surveyed, error) {
	reading := "read"
	if bag != nil {
		reading = "pool"
	}
	o := r.surveyOptions()
	o.Progress = func(rows int, share float64) { r.progress(reading, rows, share) }
	sum, err := dataset.Survey(r.ctx, src, o)
	if err != nil {
		return surveyed{}, err
	}
	return r.surveyed(src, bag, sum), nil
}

// surveyOptions are those of the survey of rows.
func (r *run) surveyOptions() dataset.SurveyOptions {
	sample := r.cfg.pipeline().SampleRows()
	if (r.cfg.own() || r.asked.open()) && r.cfg.Scale == "auto" {
		sample = max(sample, dataset.ScaleSample("quantile"))
	}
	return dataset.SurveyOptions{Seed: r.cfg.Seed, Sample: sample, Rows: r.cfg.surveyRows()}
}

// surveyed goes on from the summary of all rows.
func (r *run) surveyed(src dataset.Source, bag *bags, sum *dataset.Summary) surveyed {
	s := surveyed{run: *r, src: src, bag: bag, schema: *src.Schema(), sum: sum}
	r.report.Summary, s.schema.Dim = sum, sum.Dim
	if bag == nil {
		s.seen = dataset.SeenColumns(s.schema.Columns, sum)
	}
	return s
}

// agree rejects options that do not go with the task or the rows.
func (f *problem) agree() error {
	if f.opt.Unlabelled != nil && (!f.cfg.reduces() || f.cfg.discriminates() || f.bag != nil) {
		return errUnlabelled
	}
	if err := f.needClasses(&f.answers); err != nil {
		return err
	}
	if err := f.checkThreshold(); err != nil {
		return err
	}
	return f.checkCalibration()
}

// settle fixes the scaling, the kernel and the map, with distances as they were learned, if they were. A plan looks at no rows.
func (f *problem) settle(learned *metric.Learned, plan bool) (j *job, err error) {
	j = &job{problem: *f}
	rows := f.rows()
	if _, is := f.src.(unread); is && plan {
		rows.Find = nil
	}
	if learned != nil {
		rows.Metric, j.metric = learned.Metric, learned.Report
		if r := learned.Report; r != nil && f.cfg.freeGamma() {
			j.cfg.Kernel.Gamma = fmt.Sprintf("median*%g", r.Rounds[r.Best].Gamma)
		}
	}
	var why map[string]string
	j.pipe, why, err = pipeline.Settle(f.ctx, *j.cfg.pipeline(), rows)
	maps.Copy(f.why, why)
	return j, err
}

// rows are the rows that a pipeline is settled for.
func (f *problem) rows() pipeline.Rows {
	rows := pipeline.Rows{Name: f.src.Name(), Schema: &f.schema, Summary: f.sum, Memory: f.opt.Memory, Find: f.findOutside}
	if r, ok := f.src.(dataset.Renumbered); ok {
		rows.Origin = r.Origin
	}
	return rows
}

// admit rejects early what would stop the training later.
func (f *job) admit() error {
	if err := f.checkKeep(); err != nil {
		return f.located(err)
	}
	if err := f.affordable(); err != nil {
		return err
	}
	if f.opt.Surveyed != nil && f.bag == nil {
		if err := f.opt.Surveyed(f.schema); err != nil {
			return err
		}
	}
	return f.drawGolden()
}

// solution is what a learner made of the rows, and what their scores say.
type solution struct {
	predictor model.Predictor
	report    model.Report
	rows      int    // that it learned from; 0: those of the survey
	unseen    unseen // none if it held out no rows and no others were scored
	judged    unseen // those that chose C, scored by the machine of fewer rows that they judged; none if they chose nothing

	calibration *learn.Calibration // nil: none
	calibrated  *model.CalibrationInfo
	threshold   *model.Threshold // nil: the usual one
}

// solve trains the learner.
func (f *job) solve() (*solution, error) {
	if f.learner.solver == nil {
		return f.learner.train(f)
	}
	solve, err := f.learner.solver(f)
	if err != nil {
		return nil, err
	}
	parts := f.collected
	if f.collected = nil; parts == nil {
		parts = f.newParts(f.learner.parts(f))
		if err := f.collect(parts, 0); err != nil {
			return nil, err
		}
	}
	if err := f.keep(parts); err != nil {
		return nil, err
	}
	if err := f.reduceStatistics(parts); err != nil {
		return nil, err
	}
	return solve(parts)
}

// judge assembles the model and checks that it scores.
func (f *job) judge(s *solution) (*model.Model, error) {
	parts, err := f.folded(s)
	if err != nil {
		return nil, err
	}
	parts.Golden = f.golden
	if f.bag != nil {
		parts.Members = f.bag.golden
	}
	m, err := model.New(parts)
	if errors.Is(err, model.ErrScores) {
		return nil, option.Errorf("%s: the model came out with scores that are not finite; scale the inputs (%s)", f.src.Name(),
			option.Set("scale", "standard"))
	}
	return m, err
}

// unjudged is the model as it is now.
func (f *job) unjudged(s *solution) (*model.Model, error) { return model.New(f.parts(s)) }

// parts are the parts of the model as it is now.
func (f *job) parts(s *solution) model.Parts {
	p := model.Parts{Info: f.info(s), Pipeline: f.pipe, Predictor: s.predictor, Calibration: s.calibration}
	if f.bag != nil {
		p.Bag = f.bag.mapping
	}
	return p
}

// info describes the model.
func (f *job) info(s *solution) model.Info {
	info, scaler := f.answers.info(), f.pipe.Scaler()
	info.Threshold, info.Schema, info.Scale, info.Densify = s.threshold, f.schema, scaler.Kind, scaler.Densify
	info.Kernel, info.Feature, info.Config = f.pipe.Kernel(), f.pipe.Feature(), f.text
	info.Training = model.Training{Rows: cmp.Or(s.rows, f.sum.Rows), Why: f.why, Metric: f.metric, Learner: f.learner.name, Report: s.report,
		Calibration: s.calibrated}
	if f.bag != nil {
		info.Bag = f.bag.info
	}
	return info
}

// info describes the answers of a model.
func (a *answers) info() model.Info {
	info := model.Info{Task: a.task, Classes: a.names, Outputs: a.outputs, Offset: a.offset}
	if a.labels != nil {
		info.Labels = a.labels.Labels()
	}
	return info
}
