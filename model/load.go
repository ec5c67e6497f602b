package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// Load reads a model file and checks it: the checksum of its bytes, that its parts are consistent,
// and that it still predicts what it predicted when it was trained.
func Load(path string) (*Model, error) { return Options{}.Load(path) }

// Read reads a model of size bytes, with the checks of Load.
func Read(r io.Reader, size int64) (*Model, error) { return Options{}.Read(r, size) }

// Options are how models are loaded. The zero value is that of Load and Read.
type Options struct {
	// MaxMemory bounds the bytes that the map of a model may hold besides what is in the file: maps are made again from their seed, so that
	// a small file may ask for much. 0 means what the environment variable MERCER_MAX_MEMORY says, such as 4GiB, or 1 GiB without it.
	MaxMemory int64
}

// Load reads a model file as the function Load does.
func (o Options) Load(path string) (*Model, error) {
	return safetensors.Load(path, "a model file", o.Read)
}

// Read reads a model as the function Read does.
func (o Options) Read(r io.Reader, size int64) (*Model, error) {
	most, err := pipeline.MaxMemory(o.MaxMemory)
	if err != nil {
		return nil, err
	}
	meta, tensors, err := safetensors.Read(r, size)
	if err != nil {
		return nil, err
	}
	if meta["format"] == "mercer-statistics" {
		return nil, option.Errorf("statistics of rows, not a model; training with %s makes a model of them", option.Ref("statistics"))
	}
	if meta["format"] != "mercer" {
		return nil, fmt.Errorf("a safetensors file, but not a model of this program")
	}
	v, err := strconv.Atoi(meta["version"])
	if err != nil || v < 1 {
		return nil, fmt.Errorf("version %q of the format is no number", meta["version"])
	}
	if v > version {
		return nil, fmt.Errorf("the file has version %d of the format, this program reads up to %d; use a newer program", v, version)
	}
	m := &Model{}
	if err := json.Unmarshal([]byte(meta["model"]), &m.info); err != nil {
		return nil, fmt.Errorf("the model's description: %w", err)
	}
	if t := &m.info.Training; t.Learner == "" { // a file of an older program
		t.Learner = "ridge"
		if ReportOf[*learn.SVMReport](t) != nil {
			t.Learner = "svm"
		}
	}
	if err := m.assemble(tensors, most); err != nil {
		return nil, err
	}
	if err := m.golden.verify(m); err != nil {
		return nil, err
	}
	return m, nil
}

// assemble builds the parts of a model that m.info describes and checks that they fit.
func (m *Model) assemble(tensors map[string]*safetensors.Tensor, most int64) error {
	t := safetensors.Tensors(tensors)
	in := m.info.Schema.Dim
	if err := m.info.Schema.Check(); err != nil {
		return err
	}
	if err := m.info.checkNames(); err != nil {
		return err
	}
	if err := m.info.checkOffset(); err != nil {
		return err
	}
	if err := m.info.checkThreshold(); err != nil {
		return err
	}
	if in < 1 || m.info.Outputs < 1 {
		return fmt.Errorf("the model has %d inputs and %d outputs", in, m.info.Outputs)
	}
	switch {
	case m.info.Task == "classify" && len(m.info.Classes) >= 2 && m.info.Labels == nil &&
		m.info.Outputs == learn.TargetColumns(len(m.info.Classes)):
	case m.info.Task == "outliers" && slices.Equal(m.info.Classes, OutlierClasses) && m.info.Labels == nil && m.info.Outputs == 1:
	case m.info.Task == "regress" && m.info.Classes == nil && m.info.Labels == nil:
	case m.info.Task == "multilabel" && m.info.Classes == nil && m.info.Outputs == len(m.info.Labels):
	default:
		return fmt.Errorf("a model to %s with %d outputs and %d classes", m.info.Task, m.info.Outputs, len(m.info.Classes))
	}
	machine := t["machine.alpha"] != nil
	_, ridge := m.info.Training.Report.(*learn.RidgeReport)
	switch online := ReportOf[*learn.OnlineReport](&m.info.Training); {
	case machine != (m.info.Kernel != nil) || machine && m.info.Feature != nil && m.info.Feature.Map != feature.Precomputed:
		return errors.New("the model is half a kernel machine and half a map")
	case machine && ridge:
		return errors.New("a kernel machine has the report of a ridge regression")
	case online != nil && online.Numbers != (m.info.Task == "regress"):
		return fmt.Errorf("the online learner of a model to %s was trained for another task", m.info.Task)
	}
	// The required tensors confirm the sizes in the description, so nothing large is allocated because of a
	// number alone.
	gx, err := t.Want("golden.x", false, goldenRows, in)
	if err != nil {
		return err
	}
	gs, err := t.Want("golden.scores", false, goldenRows, m.info.Outputs)
	if err != nil {
		return err
	}
	m.golden = &golden{
		x:      &matrix.Dense{Rows: goldenRows, Cols: in, Stride: in, Data: gx.F32},
		scores: &matrix.Dense{Rows: goldenRows, Cols: m.info.Outputs, Stride: m.info.Outputs, Data: gs.F32},
	}
	if m.info.Bag != nil {
		if err := m.assembleBag(t, most); err != nil {
			return err
		}
	}
	d := pipeline.MetricDims(t, in)
	if m.info.Feature != nil {
		d = m.info.Feature.Features
	}
	if m.predictor, err = m.restorePredictor(t, d); err != nil {
		return err
	}
	if err := m.restoreCalibration(t); err != nil {
		return err
	}
	m.pipeline, err = pipeline.Restore(pipeline.Description{In: in, Scale: m.info.Scale,
		Densify: m.info.Densify, Kernel: m.info.Kernel, Feature: m.info.Feature, MaxMemory: most}, t)
	if err != nil {
		return err
	}
	if out := m.pipeline.Features(); out != d {
		return fmt.Errorf("the map gives %d features, the model has weights for %d", out, d)
	}
	return nil
}

// assembleBag builds the part of a model that turns bags into rows.
func (m *Model) assembleBag(t safetensors.Tensors, most int64) (err error) {
	channels := m.info.Bag.Schema.Dim
	if channels < 1 {
		return fmt.Errorf("the members of bags have %d dimensions", channels)
	}
	n := GoldenBags[goldenRows]
	members, err := t.Want(bagPrefix+"golden", false, n, channels)
	if err != nil {
		return err
	}
	m.golden.members = &matrix.Dense{Rows: n, Cols: channels, Stride: channels, Data: members.F32}
	m.bag, err = pipeline.RestoreBags(m.info.Bag, m.info.Schema.Dim, t, bagPrefix, most)
	return err
}
