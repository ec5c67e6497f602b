package model

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/reduce"
	"mercer/matrix"
)

// Ridge is the predictor of a ridge regression with the variance of its predictions.
type Ridge struct {
	Linear
	Variance *learn.Variance
}

// Tensors are those of Linear, and the variance in "variance.factor" and others.
func (r Ridge) Tensors() map[string]*safetensors.Tensor {
	all := r.Linear.Tensors()
	v := r.Variance
	all["variance.factor"] = &safetensors.Tensor{Shape: []int{v.Factor.Rows, v.Factor.Cols}, F32: v.Factor.Data}
	all["variance.shift"] = &safetensors.Tensor{Shape: []int{len(v.Shift)}, F32: v.Shift}
	all["variance.noise"] = &safetensors.Tensor{Shape: []int{len(v.Noise)}, F64: v.Noise}
	all["variance.mean"] = &safetensors.Tensor{Shape: []int{1}, F64: []float64{v.Mean}}
	return all
}

// restoreRidge reads the variance, if the file has it, and checks the intervals.
func (m *Model) restoreRidge(l Linear, t safetensors.Tensors, d int) (Predictor, error) {
	k := m.info.Outputs
	if c := ReportOf[*learn.RidgeReport](&m.info.Training).Conformal; c != nil {
		if len(c.Radius) != k || learn.CheckLevel(c.Level) != nil ||
			slices.ContainsFunc(c.Radius, func(v float64) bool { return !(v >= 0) }) ||
			c.Scaled && t["variance.factor"] == nil {
			return nil, fmt.Errorf("intervals of level %g and half widths %v for %d outputs", c.Level, c.Radius, k)
		}
	}
	if t["variance.factor"] == nil {
		return l, nil
	}
	r := d // fewer if the regression was on principal components
	if shape := t["variance.factor"].Shape; len(shape) == 2 && shape[1] >= 1 {
		r = min(d, shape[1])
	}
	factor, err := t.Want("variance.factor", false, d, r)
	if err != nil {
		return nil, err
	}
	shift, err := t.Want("variance.shift", false, r)
	if err != nil {
		return nil, err
	}
	noise, err := t.Want("variance.noise", true, k)
	if err != nil {
		return nil, err
	}
	mean, err := t.Want("variance.mean", true, 1)
	if err != nil {
		return nil, err
	}
	for name, x := range map[string][]float64{"variance.noise": noise.F64, "variance.mean": mean.F64} {
		if slices.ContainsFunc(x, func(v float64) bool { return !(v >= 0) || math.IsInf(v, 0) }) {
			return nil, fmt.Errorf("tensor %q has a number that is not 0 or more", name)
		}
	}
	for name, x := range map[string][]float32{"variance.factor": factor.F32, "variance.shift": shift.F32} {
		if slices.ContainsFunc(x, func(v float32) bool { return v-v != 0 }) {
			return nil, fmt.Errorf("tensor %q has a number that is not finite", name)
		}
	}
	return Ridge{l, &learn.Variance{Factor: &matrix.Dense{Rows: d, Cols: r, Stride: r, Data: factor.F32},
		Shift: shift.F32, Noise: noise.F64, Mean: mean.F64[0]}}, nil
}

// Folded is the predictor of the features before the projection p, with its variance.
func (r Ridge) Folded(p *reduce.Projection) Predictor {
	minus := make([]float64, len(r.Variance.Shift))
	for i, v := range r.Variance.Shift {
		minus[i] = -float64(v)
	}
	v := *r.Variance
	v.Factor, minus = p.Fold(v.Factor, minus)
	v.Shift = make([]float32, len(minus))
	for i, x := range minus {
		v.Shift[i] = float32(-x)
	}
	return Ridge{r.Linear.Folded(p).(Linear), &v}
}
