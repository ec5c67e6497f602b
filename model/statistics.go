package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/safetensors"
	"mercer/internal/whole"
	"mercer/learn"
	"mercer/matrix"
	"mercer/moments"
)

// Statistics are what a ridge regression keeps of its rows, with the scaling and the map that
// made their features: more rows can be added later, and statistics of other rows merged, as
// if all had been there at once. Only the choice of λ and the solution are left to do.
type Statistics struct {
	file *moments.File
	made pipeline
}

// pipeline says how rows become features and targets: what Info says, without the training.
type pipeline struct {
	Task    string          `json:"task"`
	Classes []string        `json:"classes,omitempty"`
	Labels  []string        `json:"labels,omitempty"`
	Outputs int             `json:"outputs"`
	Schema  dataset.Schema  `json:"schema"`
	Scale   string          `json:"scale"`
	Densify bool            `json:"densify,omitempty"`
	Feature *feature.Config `json:"feature,omitempty"`
	Seed    uint64          `json:"seed"` // of the parts that rows belong to
	ByClass []float64       `json:"class_weights,omitempty"`
}

// statistics are those of a fit, whose parts they share.
func (f *fit) statistics(parts []*moments.Stats) (*Statistics, error) {
	info := &f.m.info
	s := &Statistics{made: pipeline{
		Task: info.Task, Classes: info.Classes, Labels: info.Labels, Outputs: info.Outputs, Schema: info.Schema, Scale: info.Scale, Densify: info.Densify,
		Feature: info.Feature, Seed: f.cfg.Seed, ByClass: f.classWeights,
	}}
	text, err := json.Marshal(s.made)
	if err != nil {
		return nil, err
	}
	x := f.m.golden.x
	tensors := map[string]*safetensors.Tensor{"golden.x": {Shape: []int{x.Rows, x.Cols}, F32: x.Data}}
	f.m.mapping.tensors(tensors)
	s.file = &moments.File{Pipeline: text, Tensors: tensors, Parts: parts}
	return s, nil
}

// tensors adds what is known of the scaling and the map.
func (p *Mapping) tensors(to map[string]*safetensors.Tensor) {
	for name, v := range map[string][]float64{"scale.shift": p.scaler.Shift, "scale.factor": p.scaler.Factor} {
		if v != nil {
			to[name] = &safetensors.Tensor{Shape: []int{len(v)}, F64: v}
		}
	}
	if fitted, ok := p.fmap.(feature.Fitted); ok {
		for name, t := range fitted.State() {
			to[mapPrefix+name] = &safetensors.Tensor{Shape: []int{t.Rows, t.Cols}, F32: contiguous(t)}
		}
	}
}

// Rows is the number of rows that the statistics are of.
func (s *Statistics) Rows() int {
	n := 0
	for _, p := range s.file.Parts {
		n += p.Rows()
	}
	return n
}

// Dims are the numbers of features and of targets.
func (s *Statistics) Dims() (features, targets int) { return s.file.Parts[0].Dims() }

// DataSchema says how data are to be read whose rows are to be added.
func (s *Statistics) DataSchema() *dataset.Schema { return &s.made.Schema }

// Empty are statistics of no rows, by the same scaling and map.
func (s *Statistics) Empty() *Statistics {
	e := &Statistics{file: &moments.File{Pipeline: s.file.Pipeline, Tensors: s.file.Tensors}, made: s.made}
	d, k := s.Dims()
	for range s.file.Parts {
		e.file.Parts = append(e.file.Parts, moments.New(d, k))
	}
	return e
}

// Merge adds the rows of o. It fails where o was made by another scaling or map, or of other
// columns or classes.
func (s *Statistics) Merge(o *Statistics) error { return s.file.Merge(o.file) }

// Save writes the statistics to a file that appears whole or not at all.
func (s *Statistics) Save(path string) error {
	f, err := whole.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.Write(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Commit()
}

// Write writes what Save writes.
func (s *Statistics) Write(w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 1<<20)
	return errors.Join(s.file.Write(buffered), buffered.Flush())
}

// LoadStatistics reads a file of statistics and checks it.
func LoadStatistics(path string) (*Statistics, error) {
	return load(path, "a file of statistics", ReadStatistics)
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
	if _, err := s.model(); err != nil {
		return nil, err
	}
	return s, nil
}

// model is a model without a predictor, which the pipeline describes.
func (s *Statistics) model() (*Model, error) {
	d, k := s.Dims()
	m := &Model{info: Info{
		Task: s.made.Task, Classes: s.made.Classes, Labels: s.made.Labels, Outputs: s.made.Outputs, Schema: s.made.Schema, Scale: s.made.Scale, Densify: s.made.Densify, Feature: s.made.Feature,
		Training: Training{Why: map[string]string{}, Learner: "ridge"},
	}}
	in := s.made.Schema.Dim
	switch {
	case in < 1 || s.made.Outputs != k || len(s.made.ByClass) != 0 && len(s.made.ByClass) != len(s.made.Classes):
		return nil, fmt.Errorf("statistics of %d targets of rows of %d inputs, for %d outputs, with %d weights of %d classes", k, in, s.made.Outputs, len(s.made.ByClass), len(s.made.Classes))
	case s.made.Task == "classify" && k == learn.TargetColumns(len(s.made.Classes)):
	case s.made.Task == "regress" && s.made.Classes == nil && s.made.Labels == nil:
	case s.made.Task == "multilabel" && s.made.Classes == nil && k == len(s.made.Labels):
	default:
		return nil, fmt.Errorf("statistics to %s with %d targets and %d classes", s.made.Task, k, len(s.made.Classes))
	}
	if s.made.Feature == nil && d != in || s.made.Feature != nil && d != s.made.Feature.Features {
		return nil, fmt.Errorf("statistics of %d features, which are not what the pipeline makes", d)
	}
	t := stored(s.file.Tensors)
	x, err := t.want("golden.x", false, goldenRows, in)
	if err != nil {
		return nil, err
	}
	m.golden.x = &matrix.Dense{Rows: goldenRows, Cols: in, Stride: in, Data: x.F32}
	return m, m.restoreMapping(t, d)
}

// FitStatistics adds the rows of src to statistics, in one pass, and trains a ridge regression
// on all rows: nothing is chosen by the data but λ. src may be nil, for the rows that are there
// already. Of cfg, what is about λ and Variance counts; all else is as it was. cfg.Conformal
// and the choice of λ by leave-one-out take rows that are gone. The statistics take in the rows
// of src, and are used up.
func FitStatistics(ctx context.Context, src dataset.Source, s *Statistics, cfg Config, opt Options) (*Model, *Report, error) {
	start := time.Now()
	if cfg.Learner == "" || cfg.Learner == "auto" {
		cfg.Learner = "ridge"
	}
	asked := cfg
	cfg, err := cfg.withDefaults()
	switch {
	case err != nil:
		return nil, nil, err
	case cfg.Learner != "ridge":
		return nil, nil, fmt.Errorf("statistics are for the learner ridge, not for %s", cfg.Learner)
	case cfg.Conformal != 0:
		return nil, nil, errors.New("intervals take rows that were held back, which saved statistics do not have; train on all rows at once, or ask for the variance")
	case cfg.calibrates():
		return nil, nil, errors.New("probabilities take rows that the learner has not seen, which saved statistics do not have; train on all rows at once")
	case cfg.MapComponents > 0:
		return nil, nil, errors.New("components of each map take all rows once more, which saved statistics do not have; ask for components of all features")
	case cfg.LambdaBy == "loo":
		return nil, nil, errors.New("leaving rows out takes all of them once more, which saved statistics do not have; choose λ by evidence")
	}
	cfg.Seed = s.made.Seed
	f := &fit{ctx: ctx, src: src, cfg: cfg, opt: opt, report: &Report{Summary: &dataset.Summary{}}, classWeights: s.made.ByClass, stats: s, learner: learnerOf("ridge")}
	if src == nil {
		f.src = nothing{}
	}
	if f.m, err = s.model(); err != nil {
		return nil, nil, err
	}
	if s.made.Task == "classify" {
		f.classes = dataset.NewClasses(s.made.Classes)
	}
	f.labels = f.m.LabelSets()
	asked.Seed = cfg.Seed
	f.m.info.Config = asked
	for _, what := range []string{"task", "scale", "gamma", "map"} {
		f.m.info.Training.Why[what] = "as in the statistics"
	}
	if err := f.checkMemory(&dataset.Summary{Rows: s.Rows()}); err != nil {
		return nil, nil, err
	}
	if src != nil {
		if err := f.collect(s.file.Parts, s.Rows()); err != nil {
			return nil, nil, err
		}
	}
	f.m.info.Training.Rows = s.Rows()
	f.report.Summary.Rows, f.report.Summary.Dim = s.Rows(), s.made.Schema.Dim
	if err := f.keep(s.file.Parts); err != nil {
		return nil, nil, err
	}
	if err := f.reduceStatistics(s.file.Parts); err != nil {
		return nil, nil, err
	}
	if err := f.solveRidge(s.file.Parts, cfg.LambdaBy, nil); err != nil {
		return nil, nil, err
	}
	if err := f.fold(); err != nil {
		return nil, nil, err
	}
	if err := f.scoreGolden(f.m.golden.x); err != nil {
		return nil, nil, err
	}
	f.report.end(start)
	return f.m, f.report, nil
}

// keep hands the statistics to whoever wants to keep them, before they are used up.
func (f *fit) keep(parts []*moments.Stats) error {
	if f.opt.Keep == nil {
		return nil
	}
	s, err := f.statistics(parts)
	if err != nil {
		return err
	}
	return f.opt.Keep(s)
}

// checkKeep fails where statistics are to be kept that there are none of, or not of all rows.
func (f *fit) checkKeep() error {
	switch {
	case f.opt.Keep == nil:
		return nil
	case f.learner.name != "ridge":
		return fmt.Errorf("statistics are those of the learner ridge, not of %s; choose --learner ridge", f.learner.name)
	case f.bag != nil:
		return errors.New("statistics are kept of rows, not of bags; make rows of the bags first (transform) and train on these")
	case f.cfg.MapComponents > 0:
		return errors.New("statistics are of features, not of the components of each map; leave map_components out")
	case f.cfg.Conformal != 0:
		return errors.New("intervals hold rows back, which the statistics would be without; leave one of both out")
	}
	return nil
}

// checkRows finds what is wrong with rows that were not surveyed.
func (f *fit) checkRows(b *matrix.Batch) error {
	if err := f.m.mapping.check(b.X); err != nil {
		return Located(err, f.src, b.First)
	}
	if f.labels != nil && b.Outputs > 0 {
		return nil // each row is checked when its targets are made
	}
	if f.classes != nil {
		if b.Outputs != 1 {
			return fmt.Errorf("%s: rows have %d labels; the statistics are of rows with a class each", f.src.Name(), b.Outputs)
		}
		return nil
	}
	if b.Outputs != f.m.info.Outputs {
		return fmt.Errorf("%s: rows have %d targets, the statistics are of %d", f.src.Name(), b.Outputs, f.m.info.Outputs)
	}
	if i := slices.IndexFunc(b.Y, func(v float64) bool { return v-v != 0 }); i >= 0 {
		return fmt.Errorf("%s: the label is not a number, but the statistics are of numbers to predict", Place(f.src, b.First+i/b.Outputs))
	}
	return nil
}

// nothing is the source of a training without new rows.
type nothing struct{}

func (nothing) Name() string                                 { return "statistics" }
func (nothing) Schema() *dataset.Schema                      { return &dataset.Schema{} }
func (nothing) Open(context.Context) (dataset.Reader, error) { return nil, io.EOF }
