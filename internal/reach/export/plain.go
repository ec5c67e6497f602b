package export

import (
	"fmt"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
)

// program is what a pipeline does to scaled rows: the map, and the projection onto principal components. nil is nothing.
func program(p *pipeline.Pipeline) (*feature.Program, error) {
	var all *feature.Program
	if m := p.Map(); m != nil {
		var err error
		if all, err = feature.ProgramOf(m); err != nil {
			return nil, err
		}
	}
	to := p.Projection()
	if to == nil {
		return all, nil
	}
	if all == nil {
		all = &feature.Program{Dim: p.Width()}
	}
	d, k := to.Dims()
	w, mean := matrix.NewDense(d, k), make([]float32, d)
	for j, v := range to.Mean() {
		mean[j] = float32(-v)
	}
	for c := range k {
		for j, v := range to.Component(c) {
			w.Row(j)[c] = float32(v)
		}
	}
	last := len(all.Steps)
	all.Steps = append(all.Steps, feature.Step{Op: feature.OpShift, From: []int{last}, Width: d, V: mean},
		feature.Step{Op: feature.OpProduct, From: []int{last + 1}, Width: k, W: w})
	return all, nil
}

// kernels are those that readers of matrices know.
var kernels = []string{"linear", "rbf", "laplacian", "cauchy", "matern", "poly", "exp"}

// plain adds what the readers of matrices want, who know no programs: the matrix of frequencies. It fails for a model that they
// cannot read.
func (x *matrices) plain(m *model.Model) error {
	for _, c := range x.Columns {
		if c.Coding != nil && c.Coding.Kind == dataset.CodedOffset {
			return errOffset(&c)
		}
		if c.Coding != nil {
			return fmt.Errorf("the column %q is coded as a %s, which matrices do not say; the target onnx may know it", c.Name, c.Coding.Kind)
		}
	}
	for _, one := range x.Members {
		if !slices.Contains(kernels, one.Kernel) {
			return fmt.Errorf("the kernel %s cannot be exported; those that can are %s", one.Kernel, strings.Join(kernels, ", "))
		}
	}
	if x.Learner == "linear" && x.program != nil {
		folded, err := x.fold(m)
		if folded || err != nil {
			return err
		}
	}
	p := m.Pipeline()
	if p.Map() == nil && p.Projection() == nil {
		return nil
	}
	var f *feature.Frequencies
	if p.Map() != nil {
		f = feature.FrequenciesOf(p.Map())
	}
	if f == nil || p.Projection() != nil && x.Learner != "linear" {
		return fmt.Errorf("the map %s cannot be exported: it is neither linear nor a sum of kernels, and has no matrix of frequencies; rff, orf, sorf, qmc "+
			"and fastfood have one; the target onnx knows all maps", m.Info().Feature.Map)
	}
	x.Map, x.Factor = f.Form, float64(f.Scale)
	x.tensors["map.w"] = &safetensors.Tensor{Shape: []int{f.W.Rows, f.W.Cols}, F32: f.W.Contiguous()}
	if f.Phases != nil {
		x.tensors["map.phases"] = &safetensors.Tensor{Shape: []int{len(f.Phases)}, F32: f.Phases}
	}
	return nil
}

// fold makes the linear last steps of a program part of the weights of a linear learner, back to the features of a map with
// frequencies. It says whether nothing but a linear learner is left, or a kernel machine, for a map of kernels.
func (x *matrices) fold(m *model.Model) (bool, error) {
	t, b := x.tensors["linear.w"], x.tensors["linear.b"].F64
	w := weights{make([]float64, len(t.F32)), t.Shape[1]}
	for i, v := range t.F32 {
		w.w[i] = float64(v)
	}
	b = slices.Clone(b)
	value := len(x.program.Steps)
	stop := -1 // the features of a map with frequencies
	if p := m.Pipeline(); p.Map() != nil && feature.FrequenciesOf(p.Map()) != nil {
		if stop = value; p.Projection() != nil {
			stop -= 2
		}
	}
	for value > 0 && value != stop {
		s := &x.program.Steps[value-1]
		switch {
		case s.Op == feature.OpProduct:
			w = product(s, w)
		case s.Op == feature.OpShift:
			for i, v := range w.w {
				b[i%w.outs] += v * float64(s.V[i/w.outs%len(s.V)])
			}
		case s.Op == feature.OpScale && len(w.w)/w.outs == widthOf(x.program, s.From[0]):
			for i := range w.w {
				w.w[i] *= float64(s.V[i/w.outs%len(s.V)])
			}
		case s.Op == feature.OpKernel && s.From[0] == 0:
			return true, x.foldKernel(s, w, b)
		default:
			return false, nil
		}
		value = s.From[0]
	}
	x.tensors["linear.w"] = &safetensors.Tensor{Shape: []int{len(w.w) / w.outs, w.outs}, F64: w.w}
	x.tensors["linear.b"] = safetensors.Vector(b)
	return value == 0, nil
}

// foldKernel makes a map of kernels and a linear learner a kernel machine.
func (x *matrices) foldKernel(s *feature.Step, w weights, b []float64) error {
	if !slices.Contains(kernels, s.Kernel.Name) {
		return fmt.Errorf("the kernel %s cannot be exported; those that can are %s", s.Kernel.Name, strings.Join(kernels, ", "))
	}
	if s.Weights != nil {
		w = turned(s, w)
	}
	delete(x.tensors, "linear.w")
	delete(x.tensors, "linear.b")
	x.Learner, x.Leaves = "machines", 1
	rows := &safetensors.Tensor{Shape: []int{s.W.Rows, s.W.Cols}, F32: s.W.Contiguous()}
	return x.add(member{Weight: 1, Metric: "none"}, s.Kernel, rows, w.w, b)
}

// widthOf is the number of columns of a value of a program.
func widthOf(p *feature.Program, value int) int {
	if value == 0 {
		return p.Dim
	}
	return p.Steps[value-1].Width
}
