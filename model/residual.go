package model

import (
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/reduce"
)

// Residual is the predictor by the residuals of principal components.
type Residual struct{ *reduce.Residual }

// The tensors are the components residual.u, K×D, their mean residual.mean, D, and residual.limit.
func (p Residual) Tensors() map[string]*safetensors.Tensor {
	d, k := p.Dims()
	u := make([]float64, 0, k*d)
	for c := range k {
		u = append(u, p.Component(c)...)
	}
	return map[string]*safetensors.Tensor{
		"residual.u":     {Shape: []int{k, d}, F64: u},
		"residual.mean":  safetensors.Vector(p.Mean()),
		"residual.limit": safetensors.Vector([]float64{p.Limit}),
	}
}

// restoreResidual makes the predictor of a model of d features from the tensors of its file.
func restoreResidual(t safetensors.Tensors, components, d int) (Predictor, error) {
	u, err := t.Want("residual.u", true, components, d)
	if err != nil {
		return nil, err
	}
	mean, err := t.Want("residual.mean", true, d)
	if err != nil {
		return nil, err
	}
	limit, err := t.Want("residual.limit", true, 1)
	if err != nil {
		return nil, err
	}
	r, err := reduce.NewResidual(u.F64, mean.F64, limit.F64[0])
	if err != nil {
		return nil, err
	}
	return Residual{r}, nil
}
