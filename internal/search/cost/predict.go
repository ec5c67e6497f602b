package cost

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/units"
	"mercer/internal/search/trial"
	"mercer/train"
)

// Prediction is the predicted cost of a training.
type Prediction struct {
	// Rows is n, the number of rows; RowsGuessed says that it is an estimate from the share of the
	// source that was read.
	Rows        int  `json:"rows"`
	RowsGuessed bool `json:"rows_guessed,omitempty"`

	// Plan says what the training would do, and its Bytes how much memory it would hold.
	Plan *train.Plan `json:"plan"`

	// Read, Metric, Map and Solve are seconds as in train.Report, Seconds their sum.
	Read    float64 `json:"read_seconds"`
	Metric  float64 `json:"metric_seconds"`
	Map     float64 `json:"map_seconds"`
	Solve   float64 `json:"solve_seconds"`
	Seconds float64 `json:"seconds"`

	// Trials are the small trainings that the prediction is based on.
	Trials []trial.Timing `json:"trials"`

	model *costModel
}

// Options say how a cost is predicted.
type Options struct {
	// Memory is the number of bytes that the training may hold; 0 means no limit.
	Memory int64

	// Seconds is about how long the trials may take, twice that if they need many features; 0 means 3.
	Seconds float64

	// Known are existing trials; Quick makes no others if there are any.
	Known []trial.Timing
	Quick bool

	// Now is the clock, and Fit runs a trial; nil means the real clock, and train.Fit.
	Now func() time.Time
	Fit func(ctx context.Context, src dataset.Source, cfg train.Config, opt train.Options) (*train.Report, error)
}

// filled fills in the defaults.
func (o Options) filled() Options {
	o.Seconds = cmp.Or(o.Seconds, 3)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fit == nil {
		o.Fit = func(ctx context.Context, src dataset.Source, cfg train.Config, opt train.Options) (*train.Report, error) {
			_, report, err := train.Fit(ctx, src, cfg, opt)
			return report, err
		}
	}
	return o
}

// Predict predicts the time and the memory of training cfg on as many rows as the source of the sample
// has, by trials on a few of them.
//
// Memory follows from the learners' own formulas. Time is the sum of the stages: reading and mapping, which
// grow like n and n·D; and solving. For statistics, solving takes a·n·D² + b·D^2.5 with a and b from the
// trials, those with the most features if they can tell both apart. For learners that go through rows it takes
// c·n^p·D with p ∈ [1, 3/2] from the trials, and as much again for the choice of C on a part of them;
// for those that use the kernel itself c·n^p with p ∈ [1, 3], and c·n from the rows on that bring no more centres. A metric of m rows and l landmarks
// takes c·(m·l² + l³), from one trial on few rows.
func Predict(ctx context.Context, s *trial.Sample, cfg train.Config, opt Options) (*Prediction, error) {
	opt = opt.filled()
	cfg.Task = s.Task
	n := s.Rows()
	plan, err := train.NewPlan(ctx, s.Train(0, s.TrainRows()), n, cfg, train.Options{Memory: opt.Memory})
	if err != nil {
		return nil, err
	}
	c := &Prediction{Rows: n, RowsGuessed: s.Guessed(), Plan: plan}
	if c.Trials, err = trials(ctx, s, plan, opt); err != nil {
		return nil, err
	}
	runtime.GC() // memory of the trials is not counted in what follows
	c.model = newCostModel(plan, c.Trials)
	c.Read, c.Map, c.Solve = c.model.seconds(n, plan.Features)
	c.Read += readSeconds(s, n, cfg)
	c.Metric = c.model.metric * metricWork(plan, n)
	c.Seconds = c.Read + c.Metric + c.Map + c.Solve
	return c, nil
}

// slowest is the number of operations per second that any machine can do.
const slowest = 4e9

// Short says whether the training of cfg on all rows of a sample's source takes less than the given number of
// seconds, without a trial: by a generous count of its operations. If it is false the
// training may still be short.
func Short(ctx context.Context, s *trial.Sample, cfg train.Config, memory int64, seconds float64) (bool, error) {
	cfg.Task = s.Task
	p, err := train.NewPlan(ctx, s.Train(0, min(trialRows, s.TrainRows())), s.Rows(), cfg, train.Options{Memory: memory})
	if err != nil {
		return false, err
	}
	n, d, k := float64(s.Rows()), float64(p.Features), float64(p.Outputs)
	work := n*float64(s.Summary.Dim)*d + metricRounds*metricWork(p, s.Rows()) // the map, and a metric
	switch {
	case p.Exact:
		work += n * n * n
	case p.Statistics:
		work += n*d*d + 12*d*d*d // a few λ in a few folds
	default:
		work += 200 * n * d * k
	}
	return work < seconds*slowest, nil
}

// WithFeatures is the predicted number of seconds with d features instead of those of the plan.
func (c *Prediction) WithFeatures(d int) float64 {
	old, oldMap, oldSolve := c.model.seconds(c.Rows, c.Plan.Features)
	read, mapping, solve := c.model.seconds(c.Rows, d)
	return c.Seconds - old - oldMap - oldSolve + read + mapping + solve
}

// readSeconds is the time spent waiting for the source in a training on n rows, from the time
// it took to draw the sample: the source is read once to survey it and once to train, and once more to
// choose λ by leave-one-out.
func readSeconds(s *trial.Sample, n int, cfg train.Config) float64 {
	passes := 2.0
	if train.As[train.Ridge](cfg.Learner).LambdaBy == "loo" {
		passes++
	}
	return passes * s.SecondsPerRow() * float64(n)
}

// Stages returns the seconds of reading, mapping and solving n rows of d features, without the time spent
// waiting for the source.
func (c *Prediction) Stages(n, d int) (read, mapping, solve float64) { return c.model.seconds(n, d) }

// Resize changes the prediction to d features, as in the plan.
func (c *Prediction) Resize(plan *train.Plan, d int) {
	oldMap, oldSolve := c.Map, c.Solve
	_, c.Map, c.Solve = c.model.seconds(c.Rows, d)
	c.Seconds += c.Map - oldMap + c.Solve - oldSolve
	c.Plan = plan
}

// Text is the cost in one line, such as "about 3 min and 1.2 GB for 10,000,000 rows".
func (c *Prediction) Text() string {
	return fmt.Sprintf("about %s and %s for %s rows", units.Roughly(c.Seconds), units.Bytes(c.Plan.Bytes), units.Count(c.Rows))
}
