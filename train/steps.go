package train

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/metric"
	"mercer/model"
)

// entry is one of the ways into a training, each of which takes its steps from the one list.
type entry uint

const (
	ofRows       entry = 1 << iota // Fit
	ofBags                         // FitBags
	ofPipeline                     // FitPipeline: the part before the learner
	ofPrepared                     // Prepare: everything before the learner
	ofPlan                         // Resolve: what is decided without a look at the rows
	ofStatistics                   // FitStatistics: rows are added to those of another training
	ofPieces                       // NewSharded
	ofPasses                       // NewSharded of a learner that goes through the pieces several times
	ofSums                         // Sharded.Fit, from the sums of the pieces
	ofSolution                     // Sharded.Passed, from what the passes came to
)

// inOnePlace are the entries that go from data to a model in one place.
const inOnePlace = ofRows | ofBags

// training is what its steps pass to one another. Nothing but the entries and the list of steps sees it.
type training struct {
	problem        // as far as it is known
	lacking string // why the default learner was not taken, as the end of a reason
	metric  *metric.Learned
	job     *job
	solved  *solution
	m       *model.Model

	bags    dataset.Bags // that become the rows
	stats   *Statistics  // to which rows are added
	planned int          // rows that a plan is for
}

// step is one step of a training.
type step struct {
	do func(*training) error
	in entry

	// tell, if not nil, adds to a plan what the step will do.
	tell func(*job, *Plan)
}

// steps are those of all trainings, in their order, which nothing else knows.
var steps []step

func init() { // not a value of steps: some of them train again
	steps = []step{
		{func(t *training) (err error) { t.bag, t.src, err = t.pool(t.bags); return err }, ofBags, nil},
		{func(t *training) error { return t.bag.labelled(t.cfg.Task) }, ofBags, nil},
		{func(t *training) (err error) { t.job, err = t.stats.resume(t.run, t.src); return err }, ofStatistics, nil},
		{func(t *training) (err error) { t.surveyed, err = t.survey(t.src, t.bag); return err }, inOnePlace | ofPipeline | ofPrepared, tellSurvey},
		{func(t *training) (err error) { t.answers, err = t.findTask(); return err }, inOnePlace | ofPrepared | ofPlan | ofPieces | ofPasses, tellTask},
		{func(t *training) error { t.extrapolate(t.planned); return nil }, ofPlan, nil},
		{func(t *training) (err error) { t.cfg, t.lacking, err = t.chooseDefault(); return err }, inOnePlace | ofPlan | ofPieces | ofPasses, nil},
		{func(t *training) error { return t.agree() }, inOnePlace | ofPieces | ofPasses, nil},
		{func(t *training) error { return t.cfg.noMetric() }, ofPipeline, nil},
		{func(t *training) (err error) { t.answers, err = t.classesFor(); return err }, ofPipeline, nil},
		{func(t *training) (err error) { t.surveyed, err = t.learnMeans(); return err }, inOnePlace, tellMeans},
		{func(t *training) (err error) { t.cfg.Scale, err = t.learnScale(); return err }, inOnePlace | ofPrepared, tellScale},
		{func(t *training) (err error) { t.metric, err = t.learnMetric(); return err }, inOnePlace | ofPrepared, tellMetric},
		{func(t *training) (err error) { t.metric, err = t.planMetric(); return err }, ofPlan, nil},
		{func(t *training) (err error) { t.job, err = t.settle(t.metric, t.planned > 0); return err },
			inOnePlace | ofPipeline | ofPrepared | ofPlan | ofPieces | ofPasses, tellMap},
		{func(t *training) error { return t.cfg.noWeights() }, ofPipeline | ofPrepared | ofPieces | ofPasses, nil},
		{func(t *training) error { return t.job.reduceApart() }, ofPipeline | ofPrepared, nil},
		{func(t *training) error { return t.job.choose(t.lacking) }, inOnePlace | ofPrepared | ofPlan | ofPieces | ofPasses, nil},
		{func(t *training) error { return t.job.affordable() }, ofStatistics, nil},
		{func(t *training) error { return t.job.admit() }, inOnePlace | ofPieces, nil},
		{func(t *training) error { return t.job.drawGolden() }, ofPasses, nil}, // its memory is not that of a training in one place
		{func(t *training) error { return t.stats.addRows(t.job) }, ofStatistics, nil},
		{func(t *training) error { return t.job.weigh() }, inOnePlace, nil},
		{func(t *training) error { return t.job.reduce() }, inOnePlace | ofSums, tellComponents},
		{func(t *training) (err error) { t.solved, err = t.job.solve(); return err }, inOnePlace | ofSums | ofStatistics, tellLearner},
		{func(t *training) error { return t.job.calibrate(t.solved) }, inOnePlace | ofSums | ofSolution, tellCalibration},
		{func(t *training) error { return t.job.divide(t.solved) }, inOnePlace, tellThreshold},
		{func(t *training) error { t.job.oneAnswer(t.solved); return nil }, inOnePlace, nil},
		{func(t *training) (err error) { t.m, err = t.job.judge(t.solved); return err }, inOnePlace | ofStatistics | ofSums | ofSolution, nil},
	}
}

// begin checks a configuration and begins a training on the rows of src.
func begin(ctx context.Context, src dataset.Source, cfg Config, opt Options) (*training, error) {
	t := &training{}
	t.run = run{ctx: ctx, asked: cfg, opt: opt, report: &Report{}, why: map[string]string{}}
	t.src = src
	if t.asked.own() && cfg.Kernel.Name == "" {
		t.asked = t.asked.withoutKernel()
	}
	var err error
	if t.cfg, err = cfg.withDefaults(); err == nil {
		t.text, err = json.Marshal(t.asked)
	}
	if err == nil && src != nil && cfg.Precomputed() {
		err = asWritten(src)
	}
	return t, err
}

// asWritten is an error if kernel values of a source are not as they were written: less the smallest of each column they are of no kernel.
func asWritten(src dataset.Source) error {
	for _, c := range src.Schema().Columns {
		if c.Coding != nil && c.Coding.Kind == dataset.CodedOffset {
			return fmt.Errorf("%s: from column %q its smallest number was subtracted, which leaves no values of a kernel; open the data with "+
				"dataset.Options{AsWritten: true}", src.Name(), c.Name)
		}
	}
	return nil
}

// beginRows is begin for data that are rows.
func beginRows(ctx context.Context, src dataset.Source, cfg Config, opt Options) (*training, error) {
	if cfg.Bag != nil {
		return nil, errRows
	}
	return begin(ctx, src, cfg, opt)
}

var errRows = option.Errorf("the configuration is for bags, the data are rows; read them as bags (%s)", option.Ref("group"))

// take takes the steps of an entry in order, until the context ends.
func (t *training) take(e entry) error {
	for _, s := range steps {
		if s.in&e == 0 {
			continue
		}
		if err := s.do(t); err != nil {
			return err
		}
		if err := t.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// trained returns the result of a training that began at start.
func (t *training) trained(start time.Time, err error) (*model.Model, *Report, error) {
	if err != nil {
		return nil, nil, err
	}
	r := t.report
	r.Total = time.Since(start).Seconds()
	r.Read = max(0, r.Total-r.Map-r.Solve-r.Metric)
	return t.m, r, nil
}
