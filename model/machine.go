package model

import (
	"encoding/json"
	"fmt"
	"math"

	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/exact"
	"mercer/matrix"
)

// Machine is the predictor of learners that use the kernel itself: a kernel expansion.
type Machine struct {
	*exact.Machine
	fast *exact.Intersection // used instead for the intersection kernel; nil for others
}

// NewMachine makes the predictor of a machine; lookup is how one of the intersection kernel finds its functions.
func NewMachine(m *exact.Machine, lookup exact.Lookup) (Machine, error) {
	p := Machine{Machine: m}
	if !exact.LooksUp(m.Kernel()) {
		return p, nil
	}
	var err error
	p.fast, err = exact.NewIntersection(m, lookup)
	return p, err
}

// Fast says whether the machine predicts by sums of functions of one variable each.
func (p Machine) Fast() bool { return p.fast != nil }

// Scores writes the scores of scaled rows into dst, rows×outputs.
func (p Machine) Scores(dst *matrix.Dense, z matrix.Rows) {
	score := p.Machine.Scores
	if p.fast != nil {
		score = p.fast.Scores
	}
	if err := score(dst, z); err != nil {
		panic("model: " + err.Error()) // the pipeline has checked the rows
	}
}

// The tensors are the rows, dense as machine.x, n×d, or compressed as machine.ptr, machine.idx
// (which are whole numbers in float64) and machine.val; machine.alpha, n×K; and machine.b, K.
func (p Machine) Tensors() map[string]*safetensors.Tensor {
	x, k := p.Rows(), len(p.Intercepts())
	t := map[string]*safetensors.Tensor{
		"machine.alpha": {Shape: []int{x.Len(), k}, F64: p.Alpha()},
		"machine.b":     {Shape: []int{k}, F64: p.Intercepts()},
	}
	if x.CSR == nil {
		t["machine.x"] = &safetensors.Tensor{Shape: []int{x.Len(), x.Dim()}, F32: x.Dense.Contiguous()}
		return t
	}
	ptr, idx := make([]float64, x.Len()+1), make([]float64, 0, x.CSR.NNZ())
	val := make([]float32, 0, x.CSR.NNZ())
	for i := range x.Len() {
		columns, values := x.CSR.Row(i)
		for _, j := range columns {
			idx = append(idx, float64(j))
		}
		val = append(val, values...)
		ptr[i+1] = float64(len(idx))
	}
	t["machine.ptr"] = &safetensors.Tensor{Shape: []int{len(ptr)}, F64: ptr}
	t["machine.idx"] = &safetensors.Tensor{Shape: []int{len(idx)}, F64: idx}
	t["machine.val"] = &safetensors.Tensor{Shape: []int{len(val)}, F32: val}
	return t
}

// restoreMachine makes the predictor of a model of d dimensions from the tensors of its file.
func (m *Model) restoreMachine(t safetensors.Tensors, d int) (Predictor, error) {
	if m.info.Kernel == nil {
		return nil, fmt.Errorf("the model is a kernel machine without a kernel")
	}
	weights := t["machine.alpha"]
	if weights == nil || len(weights.Shape) != 2 {
		return nil, fmt.Errorf("tensor %q is missing, or no matrix", "machine.alpha")
	}
	n, k := weights.Shape[0], m.machineOutputs()
	alpha, err := t.Want("machine.alpha", true, n, k)
	if err != nil {
		return nil, err
	}
	b, err := t.Want("machine.b", true, k)
	if err != nil {
		return nil, err
	}
	var x matrix.Rows
	if t["machine.x"] != nil {
		rows, err := t.Want("machine.x", false, n, d)
		if err != nil {
			return nil, err
		}
		x.Dense = &matrix.Dense{Rows: n, Cols: d, Stride: d, Data: rows.F32}
	} else if x.CSR, err = sparseRows(t, n, d); err != nil {
		return nil, err
	}
	machine, err := exact.NewMachine(*m.info.Kernel, x, alpha.F64, b.F64)
	if err != nil {
		return nil, err
	}
	if r := ReportOf[*exact.NearestReport](&m.info.Training); r != nil {
		return restoreNearest(machine, t, r)
	}
	var asked struct {
		Lookup int    `json:"lookup"`
		Form   string `json:"lookup_form"`
	}
	if err := json.Unmarshal(m.info.Config, &asked); err != nil {
		return nil, fmt.Errorf("the model's configuration: %w", err)
	}
	p, err := NewMachine(machine, exact.Lookup{Bins: asked.Lookup, Constant: asked.Form == "constant"})
	if err != nil || !Votes(&m.info) {
		return p, err
	}
	return NewVotes(p, len(m.info.Classes)), nil
}

// sparseRows reads the compressed rows of a file.
func sparseRows(s safetensors.Tensors, n, d int) (*matrix.CSR, error) {
	ptr, err := s.Want("machine.ptr", true, n+1)
	if err != nil {
		return nil, err
	}
	values := s["machine.val"]
	if values == nil || len(values.Shape) != 1 || values.F64 != nil {
		return nil, fmt.Errorf("tensor %q is missing, or no vector of float32", "machine.val")
	}
	count := values.Shape[0]
	m := &matrix.CSR{Rows: n, Cols: d, Ptr: make([]int, n+1), Idx: make([]int32, count), Val: values.F32}
	columns := []float64(nil)
	if count > 0 {
		idx, err := s.Want("machine.idx", true, count)
		if err != nil {
			return nil, err
		}
		columns = idx.F64
	}
	if ptr.F64[0] != 0 || ptr.F64[n] != float64(count) {
		return nil, fmt.Errorf("tensor %q goes from %g to %g; expected 0 to %d", "machine.ptr", ptr.F64[0], ptr.F64[n], count)
	}
	for i := range n {
		from, to := ptr.F64[i], ptr.F64[i+1]
		if !(from <= to && to <= float64(count)) || to != math.Trunc(to) {
			return nil, fmt.Errorf("tensor %q: row %d goes from %g to %g", "machine.ptr", i, from, to)
		}
		m.Ptr[i+1] = int(to)
		last := -1.0
		for e := m.Ptr[i]; e < m.Ptr[i+1]; e++ {
			if j := columns[e]; !(j > last && j < float64(d)) || j != math.Trunc(j) {
				return nil, fmt.Errorf("tensor %q: row %d has column %g after %g; expected rising whole numbers below %d", "machine.idx", i, j, last, d)
			}
			m.Idx[e], last = int32(columns[e]), columns[e]
		}
	}
	return m, nil
}
