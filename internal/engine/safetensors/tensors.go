package safetensors

import (
	"fmt"
	"slices"
)

// Tensors are those of a file, by name.
type Tensors map[string]*Tensor

// Want returns the tensor of a name, which must be of the given shape, and of float64 or float32.
func (s Tensors) Want(name string, f64 bool, shape ...int) (*Tensor, error) {
	t := s[name]
	if t == nil {
		return nil, fmt.Errorf("tensor %q is missing", name)
	}
	if !slices.Equal(t.Shape, shape) || (t.F64 != nil) != f64 {
		return nil, fmt.Errorf("tensor %q has shape %v; expected %v", name, t.Shape, shape)
	}
	return t, nil
}

// Vector is a tensor of one dimension that holds v.
func Vector(v []float64) *Tensor { return &Tensor{Shape: []int{len(v)}, F64: v} }
