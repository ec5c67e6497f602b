package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/hypothesis"
	"mercer/matrix"
	"mercer/train"
)

// NamedConfig is a configuration that takes part in a comparison.
type NamedConfig struct {
	Name   string
	Config train.Config
}

// FoldOptions are the options of the trainings of CompareConfigs.
type FoldOptions struct {
	CompareOptions

	// Folds is k, where 0 means 5, and Repeats how often the rows are divided into folds, where 0 means once.
	Folds   int
	Repeats int

	// Test is "t", the corrected resampled t-test, or "mcnemar"; "" means "t".
	Test string

	// Memory is that of train.Options.
	Memory int64
}

// ConfigComparison is the result of CompareConfigs.
type ConfigComparison struct {
	N       int `json:"n"`
	Folds   int `json:"folds"`
	Repeats int `json:"repeats"`

	Metric string  `json:"metric"`
	Better string  `json:"better"`
	Level  float64 `json:"level"`

	// Reference is the number, from 0, of the configuration that the others are compared with; Chosen means that it is
	// the best on these folds, not a control.
	Reference int  `json:"reference"`
	Chosen    bool `json:"chosen_by_these_rows"`

	// Test is "corrected_t" or "mcnemar".
	Test string `json:"test"`

	Configs []ComparedConfig `json:"configs"`
}

// ComparedConfig is one configuration of a comparison.
type ComparedConfig struct {
	Name string `json:"name"`

	// Mean and SD are those of the metric over the folds, which are in FoldValues.
	Mean       float64   `json:"mean"`
	SD         float64   `json:"sd"`
	FoldValues []float64 `json:"fold_values"`

	// Difference is the comparison with the reference, its interval that of the corrected t-test; nil for the reference.
	Difference *Difference `json:"difference,omitempty"`

	// Seconds is the mean time of a training, MicrosPerRow that of a prediction.
	Seconds      float64 `json:"train_seconds"`
	MicrosPerRow float64 `json:"us_per_row"`
}

// CompareConfigs trains each configuration on all folds of src but one and tests it on that one, for every fold, with the
// same folds for all, and compares the metric over the folds. The p-values of the differences are those of the corrected resampled
// t-test (hypothesis.CorrectedT), or of McNemar's exact test of the out-of-fold predictions of one repeat, which ignores the variation
// between trainings; they are adjusted by Holm's procedure. Folds are those of dataset.DealFolds, stratified for classes.
//
// It trains len(configs)·Folds·Repeats models, one at a time. Memory beside that of a training: as Compare, for n·Repeats rows.
func CompareConfigs(ctx context.Context, configs []NamedConfig, src dataset.Source, opt FoldOptions) (*ConfigComparison, error) {
	if err := opt.settle(len(configs)); err != nil {
		return nil, err
	}
	all, n, err := commonTask(ctx, configs, src, opt.Progress)
	if err != nil {
		return nil, err
	}
	if n < opt.Folds {
		return nil, fmt.Errorf("%s: %d rows are fewer than the %d folds; give fewer folds", src.Name(), n, opt.Folds)
	}
	if configs, err = withLearners(ctx, configs, src, all.Task, opt.Memory); err != nil {
		return nil, err
	}
	r, err := newRecord(opt.Metric, all, len(configs))
	if err != nil {
		return nil, err
	}
	if opt.Test == "mcnemar" && r.metric.Name != "accuracy" && r.metric.Name != "error" {
		return nil, fmt.Errorf("McNemar's test is for accuracy and error, and the metric is %s; take the test t", r.metric.Name)
	}
	out := &ConfigComparison{Folds: opt.Folds, Repeats: opt.Repeats, Metric: r.metric.Name, Better: "lower", Level: opt.Level,
		Test: "corrected_t", Configs: make([]ComparedConfig, len(configs))}
	if r.metric.LargerIsBetter {
		out.Better = "higher"
	}
	if opt.Test == "mcnemar" {
		out.Test = opt.Test
	}
	class, err := classOfRows(ctx, src, all.Classes)
	if err != nil {
		return nil, err
	}
	var ends []int // of the folds' rows
	var part []uint16
	for f := range opt.Folds * opt.Repeats {
		if f%opt.Folds == 0 {
			part = dataset.DealFolds(n, class, len(all.Classes), opt.Folds, opt.Seed, uint64(f/opt.Folds))
		}
		rest := dataset.Keep(src, func(row int) bool { return int(part[row]) != f%opt.Folds })
		held := dataset.Keep(src, func(row int) bool { return int(part[row]) == f%opt.Folds })
		models, err := out.trainFold(ctx, configs, f, rest, held, opt)
		if err != nil {
			return nil, err
		}
		if err := r.pass(ctx, models, held, func(string, int, float64) {}); err != nil {
			return nil, err
		}
		if opt.Test == "mcnemar" && r.weights != nil {
			return nil, errors.New("McNemar's test counts rows, and these have weights; take the test t")
		}
		ends = append(ends, r.rows)
	}
	out.N = ends[opt.Folds-1]
	r.prepare()
	if err := r.judgeFolds(out, configs, ends); err != nil {
		return nil, err
	}
	return out, r.compareFolds(out, opt)
}

// settle sets the defaults, and finds what cannot be.
func (opt *FoldOptions) settle(configs int) error {
	if err := opt.withDefaults(configs); err != nil {
		return err
	}
	if opt.Folds == 0 {
		opt.Folds = 5
	}
	opt.Repeats = max(opt.Repeats, 1)
	switch {
	case opt.Folds < 2:
		return fmt.Errorf("%d folds; give 2 or more", opt.Folds)
	case opt.Test != "" && opt.Test != "t" && opt.Test != "mcnemar":
		return fmt.Errorf("the test %q is not known; known are t, mcnemar", opt.Test)
	case opt.Test == "mcnemar" && opt.Repeats > 1:
		return fmt.Errorf("McNemar's test takes one prediction of a row, but with %d repeats there are as many; take the test t", opt.Repeats)
	}
	return nil
}

// withLearners are the configurations with the learner that each would have for all rows, so that each fold has it, and the common task.
func withLearners(ctx context.Context, configs []NamedConfig, src dataset.Source, task string, memory int64) ([]NamedConfig, error) {
	configs = slices.Clone(configs)
	for j := range configs {
		c := &configs[j].Config
		if name := c.LearnerName(); name == "" || name == "auto" {
			p, err := train.NewPlan(ctx, src, 0, *c, train.Options{Memory: memory})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", configs[j].Name, err)
			}
			c.SetLearner(p.Config.LearnerName())
		}
		if c.Task == "" || c.Task == "auto" {
			c.Task = task
		}
	}
	return configs, nil
}

// trainFold trains all configurations on the rows outside of fold f, counted over the repeats, and makes the models ready to predict the
// rows that are held out.
func (out *ConfigComparison) trainFold(ctx context.Context, configs []NamedConfig, f int, rest, held dataset.Source,
	opt FoldOptions) ([]*Predictor, error) {
	folds := out.Folds * out.Repeats
	models := make([]*Predictor, len(configs))
	for j, c := range configs {
		opt.Progress(fmt.Sprintf("fold %d", f+1), -1, float64(f*len(configs)+j)/float64(len(configs)*folds))
		runtime.GC() // the memory of the last training is free for this one
		start := time.Now()
		m, _, err := train.Fit(ctx, rest, c.Config, train.Options{Memory: opt.Memory})
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%s, fold %d: %w", c.Name, f%out.Folds+1, err)
		}
		out.Configs[j].Seconds += time.Since(start).Seconds() / float64(folds)
		models[j] = PredictorOf(c.Name, m)
		if err := models[j].withMeans(ctx, held, &m.Info().Schema); err != nil {
			return nil, err
		}
	}
	return models, nil
}

// withMeans lets a model whose schema has means of targets predict the rows of src with those, which it keeps, in their order.
func (p *Predictor) withMeans(ctx context.Context, src dataset.Source, model *dataset.Schema) error {
	with := dataset.WithMeans(src, model)
	if with == src {
		return nil
	}
	all, err := dataset.Collect(ctx, with, model.Dim)
	if err != nil {
		return err
	}
	predict, at := p.Predict, 0
	p.Predict = func(x matrix.Rows, proba bool, each func(int, *Said) error) error {
		at += x.Len()
		return predict(all.X.Slice(at-x.Len(), at), proba, each)
	}
	return nil
}

// commonTask is what the models of all configurations will predict, and the number of rows.
func commonTask(ctx context.Context, configs []NamedConfig, src dataset.Source, progress func(string, int, float64)) (*Predictor, int,
	error) {
	sum, err := dataset.Survey(ctx, src, dataset.SurveyOptions{Seed: 1,
		Progress: func(rows int, share float64) { progress("read", rows, share) }})
	if err != nil {
		return nil, 0, err
	}
	all := &Predictor{Name: configs[0].Name, Outputs: sum.Outputs}
	for _, c := range configs {
		asked := c.Config.Task
		if asked == "" {
			asked = "auto"
		}
		if asked == "outliers" {
			return nil, 0, fmt.Errorf("%s: outliers are told without labels, so there is nothing to judge configurations by", c.Name)
		}
		task, _, err := sum.Task(asked)
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("%s: %w", src.Name(), err)
		case all.Task == "":
			all.Task = task
		case all.Task != task:
			return nil, 0, fmt.Errorf("%s is for the task %s, %s for %s; configurations of one task can be compared", configs[0].Name, all.Task,
				c.Name, task)
		}
	}
	switch all.Task {
	case "classify":
		classes, err := sum.Classes()
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", src.Name(), err)
		}
		all.Classes = classes.Labels()
	case "multilabel":
		sets, err := sum.LabelSets(src.Schema())
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", src.Name(), err)
		}
		all.Labels = sets.Labels()
	}
	return all, sum.Rows, nil
}

// classOfRows is the class of each row, nil if labels are not classes.
func classOfRows(ctx context.Context, src dataset.Source, labels []string) ([]int32, error) {
	if labels == nil {
		return nil, nil
	}
	classes := dataset.NewClasses(labels)
	var all []int32
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		for i := range b.X.Len() {
			all = append(all, int32(classes.Of(b.Batch, i)))
		}
	}
	return all, nil
}

// judgeFolds computes the metric on each fold.
func (r *record) judgeFolds(out *ConfigComparison, configs []NamedConfig, ends []int) error {
	times := make([]int32, r.rows)
	values := make([]float64, len(configs))
	lo := 0
	for f, hi := range ends {
		clear(times)
		for i := lo; i < hi; i++ {
			times[i] = 1
		}
		lo = hi
		r.values(times, values)
		for j, v := range values {
			if v-v != 0 {
				return fmt.Errorf("fold %d: %s has no value on its %d rows; take fewer folds or another metric", f%out.Folds+1, r.metric.Name, hi-lo)
			}
			out.Configs[j].FoldValues = append(out.Configs[j].FoldValues, v)
		}
	}
	for j := range out.Configs {
		c := &out.Configs[j]
		c.Name = configs[j].Name
		c.MicrosPerRow = 1e6 * r.models[j].seconds / float64(r.rows)
		for _, v := range c.FoldValues {
			c.Mean += v / float64(len(ends))
		}
		for _, v := range c.FoldValues {
			c.SD += (v - c.Mean) * (v - c.Mean) / float64(len(ends)-1)
		}
		c.SD = math.Sqrt(c.SD)
	}
	return nil
}

// compareFolds compares each configuration with the reference.
func (r *record) compareFolds(out *ConfigComparison, opt FoldOptions) error {
	out.Reference, out.Chosen = opt.Control-1, opt.Control == 0
	if out.Chosen {
		out.Reference = 0
		for j := range out.Configs {
			if r.metric.Better(out.Configs[j].Mean, out.Configs[out.Reference].Mean) {
				out.Reference = j
			}
		}
	}
	reference := &out.Configs[out.Reference]
	var p []float64
	for j := range out.Configs {
		c := &out.Configs[j]
		if j == out.Reference {
			continue
		}
		gaps := make([]float64, len(c.FoldValues))
		for f, v := range c.FoldValues {
			gaps[f] = v - reference.FoldValues[f]
		}
		t, err := hypothesis.CorrectedT(gaps, 1/float64(out.Folds-1))
		if err != nil {
			return err
		}
		c.Difference = &Difference{Value: t.Mean, P: t.P}
		c.Difference.Low, c.Difference.High = t.Interval(opt.Level)
		if out.Test == "mcnemar" {
			m := r.mcNemar(j, out.Reference, 0, r.rows)
			c.Difference.P, c.Difference.OnlyModel, c.Difference.OnlyReference = m.P, &m.OnlyA, &m.OnlyB
		}
		p = append(p, c.Difference.P)
	}
	adjusted := hypothesis.Holm(p)
	for j := range out.Configs {
		if d := out.Configs[j].Difference; d != nil {
			d.Holm, adjusted = adjusted[0], adjusted[1:]
		}
	}
	return nil
}
