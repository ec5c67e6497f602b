package model

import (
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/reduce"
)

// Linear is the predictor of all learners that are linear in the features.
type Linear struct{ *learn.Linear }

// Tensors are the weights "linear.w", D×outputs, and the intercepts "linear.b".
func (l Linear) Tensors() map[string]*safetensors.Tensor {
	return map[string]*safetensors.Tensor{
		"linear.w": {Shape: []int{l.W.Rows, l.W.Cols}, F32: l.W.Data},
		"linear.b": {Shape: []int{len(l.B)}, F64: l.B},
	}
}

// Folded is the predictor of the features before the projection p.
func (l Linear) Folded(p *reduce.Projection) Predictor {
	w, b := p.Fold(l.W, l.B)
	return Linear{&learn.Linear{W: w, B: b}}
}

// Single is the predictor laid out for single rows, with the same scores to the bit.
func (l Linear) Single() Scorer { return l.Packed() }
