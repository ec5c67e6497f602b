package model

import (
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/learn"
)

// Online is the predictor of the online learner, with the state that it needs to continue.
type Online struct {
	Linear
	Loss         string
	Labels       bool // a row may have any number of the outputs
	State        learn.OnlineState
	ClassWeights []float64
}

// Tensors are those of Linear, and the state of the learner, from which training can continue.
func (o Online) Tensors() map[string]*safetensors.Tensor {
	t := o.Linear.Tensors()
	d, k := o.W.Rows, o.W.Cols
	s := &o.State
	t["online.counts"] = safetensors.Vector([]float64{float64(s.Rows), s.Weight, s.Wrong})
	t["online.losses"], t["online.shift"] = safetensors.Vector(s.Losses), safetensors.Vector(s.Shift)
	t["online.scale"], t["online.factors"] = safetensors.Vector(s.Scale), safetensors.Vector(s.Factors)
	t["online.first"] = &safetensors.Tensor{Shape: []int{k, d}, F32: s.First32, F64: s.First}
	t["online.second"] = &safetensors.Tensor{Shape: []int{k, d}, F64: s.Second}
	if o.ClassWeights != nil {
		t["online.class_weights"] = safetensors.Vector(o.ClassWeights)
	}
	return t
}

// restoreOnline makes the predictor of a model of the online learner.
func (m *Model) restoreOnline(t safetensors.Tensors, d int, linear Linear) (Predictor, error) {
	report, k := ReportOf[*learn.OnlineReport](&m.info.Training), m.info.Outputs
	o := Online{Linear: linear, Loss: report.Loss, Labels: m.info.Labels != nil}
	adagrad := report.Optimizer == "adagrad"
	var counts, first, second []float64
	for _, want := range []struct {
		name  string
		to    *[]float64
		shape []int
	}{
		{"counts", &counts, []int{3}}, {"losses", &o.State.Losses, []int{k}}, {"shift", &o.State.Shift, []int{k}},
		{"scale", &o.State.Scale, []int{k}}, {"factors", &o.State.Factors, []int{learn.OnlineFactors * k}},
		{"first", &first, []int{k, d}}, {"second", &second, []int{k, d}},
	} {
		x, err := t.Want("online."+want.name, want.name != "first" || adagrad, want.shape...)
		if err != nil {
			return nil, err
		}
		*want.to = x.F64
		if want.name == "first" {
			o.State.First32 = x.F32
		}
	}
	o.State.First, o.State.Second = first, second
	o.State.Rows, o.State.Weight, o.State.Wrong = int64(counts[0]), counts[1], counts[2]
	if t["online.class_weights"] != nil {
		x, err := t.Want("online.class_weights", true, len(m.info.Classes))
		if err != nil {
			return nil, err
		}
		o.ClassWeights = x.F64
	}
	if _, err := learn.ContinueOnline(report.Online, d, k, o.State); err != nil {
		return nil, err
	}
	return o, nil
}

// probabilities are those of the logistic loss.
func (o Online) probabilities(dst []float64, scores []float32) bool {
	if o.Loss != "logistic" {
		return false
	}
	learn.Sigmoids(dst, len(scores), o.Labels, func(t int) float64 { return float64(scores[t]) })
	return true
}
