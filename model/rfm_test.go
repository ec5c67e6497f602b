package model

import (
	"testing"

	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/trees"
)

// Tensors of boosted trees that do not go together are refused, each part of them.
func TestWrongStepsAreRefused(t *testing.T) {
	good := func() safetensors.Tensors {
		return safetensors.Tensors{
			"rfm.trees":     safetensors.Vector([]float64{.5, 1}),
			"rfm.questions": {Shape: []int{1, trees.Levels, 2}, F64: make([]float64, 2*trees.Levels)},
			"rfm.values":    {Shape: []int{1, trees.Leaves, 1}, F32: make([]float32, trees.Leaves)},
		}
	}
	if steps, err := restoreSteps(good(), 3, 1); err != nil || steps.Trees.Check() != nil || steps.Share != .5 {
		t.Fatalf("%+v, %v", steps, err)
	}
	for name, spoil := range map[string]func(safetensors.Tensors){
		"no share":     func(t safetensors.Tensors) { delete(t, "rfm.trees") },
		"no questions": func(t safetensors.Tensors) { delete(t, "rfm.questions") },
		"no values":    func(t safetensors.Tensors) { delete(t, "rfm.values") },
		"a column":     func(t safetensors.Tensors) { t["rfm.questions"].F64[2] = 3 },
		"half of one":  func(t safetensors.Tensors) { t["rfm.questions"].F64[2] = .5 },
		"outputs":      func(t safetensors.Tensors) { t["rfm.trees"] = safetensors.Vector([]float64{.5, 1, 2}) },
		"more values":  func(t safetensors.Tensors) { t["rfm.values"].Shape[0] = 2 },
	} {
		bad := good()
		spoil(bad)
		if _, err := restoreSteps(bad, 3, 1); err == nil {
			t.Errorf("%s: wrong trees were taken", name)
		}
	}
}
