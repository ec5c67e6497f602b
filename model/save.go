package model

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/safetensors"
	"mercer/matrix"
)

// version is the version of the model file's format. A program reads its own and all older ones.
const version = 3

// fileVersion is the version of a model's file. An offset came with version 2, a threshold with version 3; files of models
// without them are the same as ever, and older programs read them.
func (i *Info) fileVersion() int {
	switch {
	case i.Threshold != nil:
		return 3
	case i.Offset != nil:
		return 2
	}
	return 1
}

// Save writes the model to a file that appears whole or not at all.
func (m *Model) Save(path string) error {
	f, err := atomicfile.Create(path)
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
	if err := m.info.checkNames(); err != nil {
		return err
	}
	if err := m.info.Schema.Check(); err != nil { // as loading does
		return err
	}
	if m.golden == nil {
		return errors.New("the model has no golden rows, without which it cannot be checked when it is loaded")
	}
	info, err := json.Marshal(m.info)
	if err != nil {
		return err
	}
	meta := map[string]string{
		"format":  "mercer",
		"version": strconv.Itoa(m.info.fileVersion()),
		"model":   string(info),
	}
	tensors := map[string]*safetensors.Tensor{
		"golden.x":      floats(m.golden.x),
		"golden.scores": floats(m.golden.scores),
	}
	maps.Copy(tensors, m.predictor.Tensors())
	m.saveCalibration(tensors)
	m.pipeline.AddTensors(tensors, "")
	if m.bag != nil {
		m.bag.AddTensors(tensors, bagPrefix)
		tensors[bagPrefix+"golden"] = floats(m.golden.members)
	}
	return safetensors.Write(w, meta, tensors)
}

// bagPrefix begins the names of the tensors of the members of bags.
const bagPrefix = "bag."

func floats(x *matrix.Dense) *safetensors.Tensor {
	return &safetensors.Tensor{Shape: []int{x.Rows, x.Cols}, F32: x.Contiguous()}
}
