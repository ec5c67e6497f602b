package model

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/safetensors"
	"mercer/internal/whole"
	"mercer/learn"
	"mercer/matrix"
	"mercer/pool"
)

// version is that of the model file's format. A program reads its own and all older ones.
const version = 1

// Save writes the model to a file that appears whole or not at all.
func (m *Model) Save(path string) error {
	f, err := whole.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := m.Write(w); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Commit()
}

// Write writes the model in the format of a model file.
func (m *Model) Write(w io.Writer) error {
	info, err := json.Marshal(m.info)
	if err != nil {
		return err
	}
	meta := map[string]string{
		"format":  "mercer",
		"version": strconv.Itoa(version),
		"model":   string(info),
	}
	tensors := map[string]*safetensors.Tensor{
		"golden.x":      {Shape: []int{m.golden.x.Rows, m.golden.x.Cols}, F32: m.golden.x.Data},
		"golden.scores": {Shape: []int{m.golden.scores.Rows, m.golden.scores.Cols}, F32: m.golden.scores.Data},
	}
	maps.Copy(tensors, m.learned.tensors())
	m.saveCalibration(tensors)
	scale := func(prefix string, s *dataset.Scaler) {
		for name, v := range map[string][]float64{"scale.shift": s.Shift, "scale.factor": s.Factor} {
			if v != nil {
				tensors[prefix+name] = &safetensors.Tensor{Shape: []int{len(v)}, F64: v}
			}
		}
	}
	matrices := func(prefix string, state map[string]*matrix.Dense) {
		for name, t := range state {
			tensors[prefix+name] = &safetensors.Tensor{Shape: []int{t.Rows, t.Cols}, F32: contiguous(t)}
		}
	}
	scale("", m.mapping.scaler)
	if fitted, ok := m.mapping.fmap.(feature.Fitted); ok {
		matrices(mapPrefix, fitted.State())
	}
	if m.bag != nil {
		scale(bagPrefix, m.bag.members.scaler)
		matrices(bagPrefix+mapPrefix, m.bag.pooling.State())
		matrices(bagPrefix, map[string]*matrix.Dense{"golden": m.golden.members})
	}
	return safetensors.Write(w, meta, tensors)
}

// mapPrefix is what the names of a map's tensors begin with, bagPrefix that of all that belongs
// to the members of bags.
const mapPrefix, bagPrefix = "map.", "bag."

// contiguous is the matrix without gaps between its rows.
func contiguous(m *matrix.Dense) []float32 {
	if m.Stride == m.Cols {
		return m.Data[:m.Rows*m.Cols]
	}
	data := make([]float32, 0, m.Rows*m.Cols)
	for i := range m.Rows {
		data = append(data, m.Row(i)...)
	}
	return data
}

// Load reads a model file and checks it: the checksum of its bytes, that its parts fit each
// other, and that it still predicts what it predicted when it was trained.
func Load(path string) (*Model, error) { return load(path, "a model file", Read) }

// load reads a file of one kind.
func load[T any](path, kind string, read func(io.Reader, int64) (T, error)) (none T, err error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return none, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		return none, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return none, err
	}
	if st.IsDir() {
		return none, fmt.Errorf("%s: is a directory, not %s", path, kind)
	}
	v, err := read(bufio.NewReaderSize(f, 1<<20), st.Size())
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// Read reads a model of size bytes, with the checks of Load.
func Read(r io.Reader, size int64) (*Model, error) {
	meta, tensors, err := safetensors.Read(r, size)
	if err != nil {
		return nil, err
	}
	if meta["format"] == "mercer-statistics" {
		return nil, fmt.Errorf("statistics of rows, not a model; train --append makes a model of them")
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
		if t.SVM != nil {
			t.Learner = "svm"
		}
	}
	if err := m.assemble(tensors); err != nil {
		return nil, err
	}
	if err := m.golden.verify(m); err != nil {
		return nil, err
	}
	return m, nil
}

// assemble builds the parts of a model that m.info describes and checks that they fit.
func (m *Model) assemble(tensors map[string]*safetensors.Tensor) error {
	t := stored(tensors)
	in := m.info.Schema.Dim
	if in < 1 || m.info.Outputs < 1 {
		return fmt.Errorf("the model has %d inputs and %d outputs", in, m.info.Outputs)
	}
	switch {
	case m.info.Task == "classify" && len(m.info.Classes) >= 2 && m.info.Labels == nil && m.info.Outputs == learn.TargetColumns(len(m.info.Classes)):
	case m.info.Task == "outliers" && slices.Equal(m.info.Classes, outlierClasses) && m.info.Labels == nil && m.info.Outputs == 1:
	case m.info.Task == "regress" && m.info.Classes == nil && m.info.Labels == nil:
	case m.info.Task == "multilabel" && m.info.Classes == nil && m.info.Outputs == len(m.info.Labels):
	default:
		return fmt.Errorf("a model to %s with %d outputs and %d classes", m.info.Task, m.info.Outputs, len(m.info.Classes))
	}
	machine := t["machine.alpha"] != nil
	switch online := m.info.Training.Online; {
	case machine != (m.info.Kernel != nil) || machine && m.info.Feature != nil:
		return errors.New("the model is half a kernel machine and half a map")
	case machine && m.info.Training.Ridge != nil:
		return errors.New("a kernel machine has the report of a ridge regression")
	case online != nil && online.Numbers != (m.info.Task == "regress"):
		return fmt.Errorf("an online learner of a model to %s says that it learned otherwise", m.info.Task)
	}
	// The tensors that have to be there vouch for the sizes in the description, so nothing
	// large is built from a number alone.
	gx, err := t.want("golden.x", false, goldenRows, in)
	if err != nil {
		return err
	}
	gs, err := t.want("golden.scores", false, goldenRows, m.info.Outputs)
	if err != nil {
		return err
	}
	m.golden = golden{
		x:      &matrix.Dense{Rows: goldenRows, Cols: in, Stride: in, Data: gx.F32},
		scores: &matrix.Dense{Rows: goldenRows, Cols: m.info.Outputs, Stride: m.info.Outputs, Data: gs.F32},
	}
	if m.info.Bag != nil {
		if err := m.assembleBag(t); err != nil {
			return err
		}
	}
	if m.info.Kernel != nil {
		m.mapping.domain = *m.info.Kernel
	}
	d := in
	if m.info.Feature != nil {
		d = m.info.Feature.Features
	}
	if m.learned, err = m.restorePredictor(t, d); err != nil {
		return err
	}
	if err := m.restoreCalibration(t); err != nil {
		return err
	}
	return m.restoreMapping(t, d)
}

// restoreMapping builds the scaling and the map, which has to give d features.
func (m *Model) restoreMapping(t stored, d int) (err error) {
	in := m.info.Schema.Dim
	m.mapping.in = in
	if m.mapping.scaler, err = t.scaler("", m.info.Scale, m.info.Densify, in); err != nil {
		return err
	}
	if m.info.Feature == nil {
		return nil
	}
	state, err := t.state(mapPrefix)
	if err != nil {
		return err
	}
	if m.mapping.fmap, err = feature.Restore(*m.info.Feature, in, state); err != nil {
		return err
	}
	m.mapping.made, m.mapping.domain = m.info.Feature, feature.Domain(*m.info.Feature)
	if _, out := m.mapping.fmap.Dims(); out != d {
		return fmt.Errorf("the map gives %d features, the model has weights for %d", out, d)
	}
	return nil
}

// assembleBag builds the part of a model that turns bags into rows.
func (m *Model) assembleBag(t stored) error {
	info := m.info.Bag
	b := &BagMapping{schema: &info.Schema}
	channels := info.Schema.Dim
	if channels < 1 {
		return fmt.Errorf("the members of bags have %d dimensions", channels)
	}
	members, err := t.want(bagPrefix+"golden", false, goldenEnds[goldenRows], channels)
	if err != nil {
		return err
	}
	m.golden.members = &matrix.Dense{Rows: goldenEnds[goldenRows], Cols: channels, Stride: channels, Data: members.F32}
	b.members.in = channels
	if b.members.scaler, err = t.scaler(bagPrefix, info.Scale, info.Densify, channels); err != nil {
		return fmt.Errorf("bags: %w", err)
	}
	if info.Pooling.Map != nil {
		b.members.domain = feature.Domain(*info.Pooling.Map)
	}
	// Again, tensors vouch for what is about to be built.
	d := info.Pooling.Features
	if info.Pooling.Map != nil {
		d = info.Pooling.Map.Features
	}
	if d != 0 && d != m.info.Schema.Dim {
		return fmt.Errorf("pooling gives rows of %d numbers, the model takes %d", d, m.info.Schema.Dim)
	}
	state, err := t.state(bagPrefix + mapPrefix)
	if err != nil {
		return err
	}
	if b.pooling, err = pool.Restore(info.Pooling, channels, state); err != nil {
		return err
	}
	if _, d := b.pooling.Dims(); d != m.info.Schema.Dim {
		return fmt.Errorf("pooling gives rows of %d numbers, the model takes %d", d, m.info.Schema.Dim)
	}
	m.bag = b
	return nil
}

// stored are the tensors of a file.
type stored map[string]*safetensors.Tensor

// want is a tensor of the given shape.
func (s stored) want(name string, f64 bool, shape ...int) (*safetensors.Tensor, error) {
	t := s[name]
	if t == nil {
		return nil, fmt.Errorf("tensor %q is missing", name)
	}
	if !slices.Equal(t.Shape, shape) || (t.F64 != nil) != f64 {
		return nil, fmt.Errorf("tensor %q has shape %v; expected %v", name, t.Shape, shape)
	}
	return t, nil
}

// scaler builds a scaler of rows of dim dimensions.
func (s stored) scaler(prefix, kind string, densify bool, dim int) (*dataset.Scaler, error) {
	sc := &dataset.Scaler{Kind: kind, Densify: densify}
	for name, v := range map[string]*[]float64{"scale.shift": &sc.Shift, "scale.factor": &sc.Factor} {
		if s[prefix+name] == nil {
			continue
		}
		t, err := s.want(prefix+name, true, dim)
		if err != nil {
			return nil, err
		}
		*v = t.F64
	}
	if sc.Shift != nil && sc.Factor == nil {
		return nil, fmt.Errorf("tensor %q is missing beside %q", prefix+"scale.factor", prefix+"scale.shift")
	}
	return sc, sc.Check(dim)
}

// state is what a map was fitted to: the matrices whose names begin with prefix.
func (s stored) state(prefix string) (map[string]*matrix.Dense, error) {
	state := map[string]*matrix.Dense{}
	for name, t := range s {
		short, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if len(t.Shape) != 2 || t.F32 == nil {
			return nil, fmt.Errorf("tensor %q has shape %v; expected a matrix of float32", name, t.Shape)
		}
		for i, v := range t.F32 {
			if v-v != 0 {
				return nil, fmt.Errorf("tensor %q: element %d is %g", name, i, v)
			}
		}
		state[short] = &matrix.Dense{Rows: t.Shape[0], Cols: t.Shape[1], Stride: t.Shape[1], Data: t.F32}
	}
	return state, nil
}
