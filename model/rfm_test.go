package model

import (
	"testing"

	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/rfm"
	"mercer/internal/solve/trees"
	"mercer/kernel"
	"mercer/matrix"
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

// So are tensors of residuals.
func TestWrongSpreadIsRefused(t *testing.T) {
	rows := matrix.Rows{Dense: matrix.NewDense(1, 1)}
	one, err := exact.NewMachine(kernel.Kernel{Name: "rbf", Gamma: 1}, rows, []float64{1}, []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	machine, err := rfm.NewMachine(1, nil, []rfm.Leaf{{{Weight: 1, Machine: one}}}, rfm.Whole{}, rfm.Steps{})
	if err != nil {
		t.Fatal(err)
	}
	good := func() safetensors.Tensors {
		return safetensors.Tensors{
			"rfm.sizes":  {Shape: []int{1, 1}, F64: []float64{2}},
			"rfm.ratios": {Shape: []int{1, 3}, F64: []float64{0, 1, 1.5}},
		}
	}
	radius := matrix.NewDense(1, 1)
	if err := restoreSpread(machine, good(), 1, 1); err != nil || machine.Radii(radius, rows, 0.5) != nil || radius.Data[0] != 2 {
		t.Fatalf("%v, %g", err, radius.Data[0])
	}
	for name, spoil := range map[string]func(safetensors.Tensors){
		"no sizes":  func(t safetensors.Tensors) { delete(t, "rfm.sizes") },
		"no ratios": func(t safetensors.Tensors) { delete(t, "rfm.ratios") },
		"outputs":   func(t safetensors.Tensors) { t["rfm.ratios"].Shape = []int{3, 1} },
		"no size":   func(t safetensors.Tensors) { t["rfm.sizes"].F64[0] = 0 },
		"no order":  func(t safetensors.Tensors) { t["rfm.ratios"].F64[0] = 3 },
	} {
		bad := good()
		spoil(bad)
		if restoreSpread(machine, bad, 1, 1) == nil {
			t.Errorf("%s: wrong residuals were taken", name)
		}
	}
}
