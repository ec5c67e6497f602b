package train

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/option"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
)

// Statistics are what a ridge regression, or a discriminant analysis, keeps of its rows, with the scaling and the map that
// made their features. More rows can be added later, and statistics of other rows merged, as
// if all had been there at once. Only choosing λ and solving remain to be done.
type Statistics struct {
	file *moments.File
	made made
}

// made says how rows become features and targets: Info without the training.
type made struct {
	Task    string          `json:"task"`
	Classes []string        `json:"classes,omitempty"`
	Labels  []string        `json:"labels,omitempty"`
	Outputs int             `json:"outputs"`
	Schema  dataset.Schema  `json:"schema"`
	Scale   string          `json:"scale"`
	Densify bool            `json:"densify,omitempty"`
	Feature *feature.Config `json:"feature,omitempty"`
	Seed    uint64          `json:"seed"` // chooses the parts of the rows
	ByClass []float64       `json:"class_weights,omitempty"`
}

// statistics returns the statistics of a fit and shares its parts.
func (f *job) statistics(parts []*moments.Stats) (*Statistics, error) {
	info := f.info(&solution{})
	s := &Statistics{made: made{
		Task: info.Task, Classes: info.Classes, Labels: info.Labels, Outputs: info.Outputs,
		Schema: info.Schema, Scale: info.Scale, Densify: info.Densify,
		Feature: info.Feature, Seed: f.cfg.Seed, ByClass: f.classWeights,
	}}
	text, err := json.Marshal(s.made)
	if err != nil {
		return nil, err
	}
	x := f.golden
	tensors := map[string]*safetensors.Tensor{"golden.x": {Shape: []int{x.Rows, x.Cols}, F32: x.Data}}
	f.pipe.AddTensors(tensors, "")
	s.file = &moments.File{Pipeline: text, Tensors: tensors, Parts: parts}
	return s, nil
}

// Rows is the number of rows in the statistics.
func (s *Statistics) Rows() int {
	n := 0
	for _, p := range s.file.Parts {
		n += p.Rows()
	}
	return n
}

// Dims are the numbers of features and of targets.
func (s *Statistics) Dims() (features, targets int) { return s.file.Parts[0].Dims() }

// DataSchema is the schema for reading data whose rows are to be added.
func (s *Statistics) DataSchema() *dataset.Schema { return &s.made.Schema }

// Empty returns empty statistics with the same scaling and map.
func (s *Statistics) Empty() *Statistics {
	e := &Statistics{file: &moments.File{Pipeline: s.file.Pipeline, Tensors: s.file.Tensors}, made: s.made}
	d, k := s.Dims()
	for range s.file.Parts {
		e.file.Parts = append(e.file.Parts, moments.New(d, k))
	}
	return e
}

// Merge adds the rows of o. It fails if o has another scaling or map, or other
// columns or classes.
func (s *Statistics) Merge(o *Statistics) error { return s.file.Merge(o.file) }

// Save writes the statistics to a file that appears whole or not at all.
func (s *Statistics) Save(path string) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.Write(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Commit()
}

// Write writes the same bytes as Save.
func (s *Statistics) Write(w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 1<<20)
	return errors.Join(s.file.Write(buffered), buffered.Flush())
}

// LoadStatistics reads a file of statistics and checks it.
func LoadStatistics(path string) (*Statistics, error) {
	return safetensors.Load(path, "a file of statistics", ReadStatistics)
}

// ReadStatistics reads statistics of size bytes.
func ReadStatistics(r io.Reader, size int64) (*Statistics, error) {
	file, err := moments.ReadFile(r, size)
	if err != nil {
		return nil, err
	}
	s := &Statistics{file: file}
	if err := json.Unmarshal(file.Pipeline, &s.made); err != nil {
		return nil, fmt.Errorf("the pipeline's description: %w", err)
	}
	if _, _, err := s.restore(); err != nil {
		return nil, err
	}
	return s, nil
}

// restore recreates the pipeline and the made-up rows of a model from the statistics.
func (s *Statistics) restore() (pipe *pipeline.Pipeline, golden *matrix.Dense, err error) {
	d, k := s.Dims()
	in := s.made.Schema.Dim
	switch {
	case in < 1 || s.made.Outputs != k || len(s.made.ByClass) != 0 && len(s.made.ByClass) != len(s.made.Classes):
		return nil, nil, fmt.Errorf("statistics of %d targets of rows of %d inputs, for %d outputs, with %d weights of %d classes", k, in,
			s.made.Outputs, len(s.made.ByClass), len(s.made.Classes))
	case s.made.Task == "classify" && k == learn.TargetColumns(len(s.made.Classes)):
	case s.made.Task == "regress" && s.made.Classes == nil && s.made.Labels == nil:
	case s.made.Task == "multilabel" && s.made.Classes == nil && k == len(s.made.Labels):
	default:
		return nil, nil, fmt.Errorf("statistics to %s with %d targets and %d classes", s.made.Task, k, len(s.made.Classes))
	}
	if s.made.Feature == nil && d != in || s.made.Feature != nil && d != s.made.Feature.Features {
		return nil, nil, fmt.Errorf("statistics of %d features, which are not what the pipeline makes", d)
	}
	t := safetensors.Tensors(s.file.Tensors)
	x, err := t.Want("golden.x", false, model.GoldenRows, in)
	if err != nil {
		return nil, nil, err
	}
	golden = &matrix.Dense{Rows: model.GoldenRows, Cols: in, Stride: in, Data: x.F32}
	pipe, err = pipeline.Restore(pipeline.Description{In: in, Scale: s.made.Scale, Densify: s.made.Densify, Feature: s.made.Feature}, t)
	if err != nil {
		return nil, nil, err
	}
	if out := pipe.Features(); out != d {
		return nil, nil, fmt.Errorf("the map gives %d features, the model has weights for %d", out, d)
	}
	return pipe, golden, nil
}

// FitStatistics adds the rows of src to statistics, in one pass, and trains a ridge regression, or the learner lda,
// on all rows: the data choose nothing except λ or the shrinkage. src may be nil, to use only the rows that
// are already there. Of cfg only the learner, its settings and components count; everything else is as it was. cfg.Conformal
// and choosing λ by leave-one-out are not possible, because they need rows that are gone. The statistics
// take in the rows of src, and must not be used afterwards.
func FitStatistics(ctx context.Context, src dataset.Source, s *Statistics, cfg Config, opt Options) (*model.Model, *Report, error) {
	start := time.Now()
	if cfg.automatic() {
		cfg.SetLearner(ridgeLearner.name)
	}
	if src == nil {
		src = nothing{}
	}
	cfg.Seed = s.made.Seed
	t, err := begin(ctx, src, cfg, opt)
	if err == nil {
		t.stats = s
		err = t.take(ofStatistics)
	}
	return t.trained(start, err)
}

// resume continues a training from the point where the statistics were made.
func (s *Statistics) resume(r run, src dataset.Source) (*job, error) {
	c := &r.cfg
	ridge := As[Ridge](c.Learner)
	switch {
	case !c.Traits().kept:
		return nil, fmt.Errorf("statistics are for the learners %s, not for %s", strings.Join(statisticsLearners(), " and "), c.LearnerName())
	case ridge.Conformal != 0:
		return nil, errors.New("intervals take rows that were held back, which saved statistics do not have; train on all rows at once, " +
			"or ask for the variance")
	case c.Threshold != "":
		return nil, errors.New("a threshold takes rows that the learner has not seen, which a training on saved statistics does not have; give one to predict")
	case c.calibrates():
		return nil, errors.New("probabilities take rows that the learner has not seen, which saved statistics do not have; train on all rows at once")
	case c.Reduce.MapComponents > 0:
		return nil, errors.New("components of each map take all rows once more, which saved statistics do not have; " +
			"ask for components of all features")
	case ridge.LambdaBy == "loo":
		return nil, errors.New("leaving rows out takes all of them once more, which saved statistics do not have; choose λ by evidence")
	}
	pipe, golden, err := s.restore()
	if err != nil {
		return nil, err
	}
	for _, what := range []string{"task", "scale", "gamma", "map"} {
		r.why[what] = "as in the statistics"
	}
	made := &s.made
	j := &job{pipe: pipe, golden: golden, learner: c.Traits(), collected: s.file.Parts}
	j.surveyed = surveyed{run: r, src: src, schema: made.Schema, sum: &dataset.Summary{Rows: s.Rows(), Dim: made.Schema.Dim}}
	j.answers = answers{task: made.Task, outputs: made.Outputs, names: made.Classes, classWeights: made.ByClass}
	if made.Task == "classify" {
		j.classes = dataset.NewClasses(made.Classes)
	}
	if made.Labels != nil {
		j.labels = dataset.NewLabelSets(made.Labels, made.Schema.LabelSeparator == "")
	}
	r.report.Summary = j.sum
	return j, nil
}

// addRows adds the new rows to the statistics.
func (s *Statistics) addRows(f *job) error {
	if _, none := f.src.(nothing); none {
		return nil
	}
	some := false
	f.check = func(b *matrix.Batch) error {
		some = some || weighed(b)
		return f.checkRows(b)
	}
	if err := f.collect(f.collected, f.sum.Rows); err != nil {
		return err
	}
	if !some {
		return f.located(errWeightless)
	}
	f.sum.Rows = s.Rows()
	return nil
}

// keep passes the statistics to Options.Keep before they are used up.
func (f *job) keep(parts []*moments.Stats) error {
	if f.opt.Keep == nil {
		return nil
	}
	s, err := f.statistics(parts)
	if err != nil {
		return err
	}
	return f.opt.Keep(s)
}

// checkKeep fails if statistics are to be kept but there are none, or not of all rows.
func (f *job) checkKeep() error {
	switch {
	case f.opt.Keep == nil:
		return nil
	case !f.learner.kept:
		return option.Errorf("statistics are those of the learners %s, not of %s; choose %s", strings.Join(statisticsLearners(), " and "),
			f.learner.name, option.Set("learner", ridgeLearner.name))
	case f.bag != nil:
		return errors.New("statistics are kept of rows, not of bags; make rows of the bags first (transform) and train on these")
	case f.cfg.Reduce.MapComponents > 0:
		return errors.New("statistics are of features, not of the components of each map; leave map_components out")
	case As[Ridge](f.cfg.Learner).Conformal != 0:
		return errors.New("intervals hold rows back, so the statistics would lack them; leave out one of the two")
	}
	return nil
}

// checkRows checks rows that were not surveyed.
func (f *job) checkRows(b *matrix.Batch) error {
	if err := f.pipe.Check(b.X); err != nil {
		return dataset.Locate(err, f.src, b.First)
	}
	if err := dataset.CheckRowWeights(f.src, b); err != nil {
		return err
	}
	if f.labels != nil && b.Outputs > 0 {
		return nil // each row is checked when its targets are made
	}
	if f.classes != nil {
		if b.Outputs != 1 {
			return fmt.Errorf("%s: rows have %d labels; the statistics are of rows with a class each", f.src.Name(), b.Outputs)
		}
		return f.checkClasses(b)
	}
	if b.Outputs != f.outputs {
		return fmt.Errorf("%s: rows have %d targets, the statistics are of %d", f.src.Name(), b.Outputs, f.outputs)
	}
	if i := slices.IndexFunc(b.Y, func(v float64) bool { return v-v != 0 }); i >= 0 {
		return fmt.Errorf("%s: the label is not a number, but the statistics are of numbers to predict",
			dataset.RowPlace(f.src, b.First+i/b.Outputs))
	}
	return nil
}

// checkClasses checks that the statistics have the classes of rows.
func (f *job) checkClasses(b *matrix.Batch) error {
	for i := range b.X.Len() {
		if f.classes.Of(b, i) >= 0 {
			continue
		}
		label := "none"
		switch {
		case b.Names != nil && b.Names[i] != "":
			label = strconv.Quote(b.Names[i])
		case b.Outputs > 0:
			label = strconv.FormatFloat(b.Y[i*b.Outputs], 'g', -1, 64)
		}
		return fmt.Errorf("%s: the label is %s; the statistics have the classes %s", dataset.RowPlace(f.src, b.First+i), label,
			strings.Join(f.classes.Labels(), ", "))
	}
	return nil
}

// nothing is the source of a training without new rows.
type nothing struct{}

func (nothing) Name() string                                 { return "statistics" }
func (nothing) Schema() *dataset.Schema                      { return &dataset.Schema{} }
func (nothing) Open(context.Context) (dataset.Reader, error) { return nil, io.EOF }
