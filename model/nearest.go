package model

import (
	"fmt"

	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/exact"
	"mercer/matrix"
)

// Nearest is the predictor of nearest neighbours.
type Nearest struct{ Of *exact.Nearest }

// Scores writes the scores of scaled rows into dst, rows×outputs.
func (p Nearest) Scores(dst *matrix.Dense, z matrix.Rows) {
	if err := p.Of.Scores(dst, z); err != nil {
		panic("model: " + err.Error()) // the pipeline has checked the rows
	}
}

// The tensors are those of a machine whose weights are the targets, and machine.weights, n, where rows have weights.
func (p Nearest) Tensors() map[string]*safetensors.Tensor {
	t := Machine{Machine: p.Of.Machine()}.Tensors()
	if w := p.Of.Weights(); w != nil {
		t["machine.weights"] = safetensors.Vector(w)
	}
	return t
}

// restoreNearest makes the predictor from a machine and the tensors of its file.
func restoreNearest(m *exact.Machine, t safetensors.Tensors, report *exact.NearestReport) (Predictor, error) {
	for k, b := range m.Intercepts() {
		if b != 0 {
			return nil, fmt.Errorf("output %d of nearest neighbours has the intercept %g; expected 0", k+1, b)
		}
	}
	var weights []float64
	if t["machine.weights"] != nil {
		w, err := t.Want("machine.weights", true, m.Rows().Len())
		if err != nil {
			return nil, err
		}
		weights = w.F64
	}
	p, err := exact.NewNearest(m, weights, report.NearestOptions)
	if err != nil {
		return nil, err
	}
	return Nearest{p}, nil
}
