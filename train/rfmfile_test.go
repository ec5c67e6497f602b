package train

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/rfm"
	"mercer/matrix"
	"mercer/model"
)

// A file of a machine whose parts do not fit each other is refused.
func TestAlteredRFMIsRefused(t *testing.T) {
	x, names := rings(2, 260, 3)
	m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names),
		Config{Learner: RFM{Leaf: 120, Members: 2}, Map: Map{Features: 12}, Kernel: Kernel{Name: "matern"}, Seed: 4})
	report := model.ReportOf[*rfm.Report](&m.Info().Training)
	kinds, leaves := len(report.Chosen()), report.Leaves
	data := fileOf(t, m)
	if leaves < 3 || report.Whole == 0 {
		t.Fatalf("%d leaves, %d kinds, machines for all rows with the share %g", leaves, kinds, report.Whole)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		at   int
		v    []float64
	}{
		{"rfm.members", 0, []float64{0, -1, nan, inf, 1e300}},                // weight
		{"rfm.members", 1, []float64{0, -1, nan, inf}},                       // γ
		{"rfm.members", 2, []float64{0, -1, 1.5, 11, 13, 1e9, 1e300, nan}},   // landmarks
		{"rfm.members", 3, []float64{-2, 0.5, 1, 3, 1e9, -1e300, nan, -inf}}, // axes
		{"rfm.nodes", 0, []float64{nan, inf, 1e300}},                         // where the ramp begins
		{"rfm.nodes", 1, []float64{nan, -inf, -1e300}},
		{"rfm.nodes", 2, []float64{0, 0.5, nan, 1e300, -1e9, 99, -99}},
		{"rfm.nodes", 3, []float64{0, 0.5, nan, -1e300, 1e9, 99, -99}},
		{"rfm.directions", 0, []float64{nan, inf}},
		{"rfm.metrics", 0, []float64{nan, -inf}},
		{"rfm.x", 0, []float64{nan, inf}},
		{"rfm.alpha", 0, []float64{nan, inf, 77}},
		{"rfm.b", 0, []float64{nan, -inf, 77}},
		{"rfm.whole", 0, []float64{0, 1, -1, 2, nan, inf}},
	} {
		for _, v := range c.v {
			if _, err := read(put(t, data, c.name, c.at, v)); err == nil {
				t.Errorf("%s has %g at %d, and the file loads", c.name, v, c.at)
			}
		}
	}
	meta, tensors, err := safetensors.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	// Each tensor, missing, too short and too long, and in the other type.
	for name, x := range tensors {
		if !strings.HasPrefix(name, "rfm.") {
			continue
		}
		other := map[string]*safetensors.Tensor{"missing": nil}
		with := func(what string, shape []int, f32 []float32, f64 []float64) {
			other[what] = &safetensors.Tensor{Shape: shape, F32: f32, F64: f64}
		}
		n := len(x.F32) + len(x.F64)
		flat := len(x.Shape) == 1
		if x.F32 != nil {
			with("short", []int{n - 1}, x.F32[:n-1], nil)
			with("long", []int{n + 1}, append(slices.Clone(x.F32), 1), nil)
			with("of doubles", x.Shape, nil, make([]float64, n))
			with("of another shape", []int{1, n}, x.F32, nil)
		} else {
			with("short", []int{n - 1}, nil, x.F64[:n-1])
			with("long", []int{n + 1}, nil, append(slices.Clone(x.F64), 1))
			with("of floats", x.Shape, make([]float32, n), nil)
			with("of another shape", []int{1, n}, nil, x.F64)
		}
		for what, tensor := range other {
			if what == "of another shape" && flat {
				continue
			}
			all := map[string]*safetensors.Tensor{}
			for k, v := range tensors {
				all[k] = v
			}
			if all[name] = tensor; tensor == nil {
				delete(all, name)
			}
			if _, err := read(built(t, meta, all)); err == nil {
				t.Errorf("%s is %s, and the file loads", name, what)
			}
		}
	}
	// Kinds that are not those of the machines.
	for what, change := range map[string]func(all []any){
		"none is chosen": func(all []any) { set(all, "weight", 0.0) },
		"there is no such kernel": func(all []any) {
			all[0].(map[string]any)["kernel"].(map[string]any)["name"] = "magic"
			set(all, "weight", 1.0)
		},
		"no function of distance": func(all []any) {
			all[0].(map[string]any)["kernel"].(map[string]any)["name"] = "linear"
			set(all, "weight", 1.0)
		},
		"another form": func(all []any) {
			for _, c := range all {
				form := c.(map[string]any)["metric"].(string)
				c.(map[string]any)["metric"] = map[string]string{"diagonal": "full", "full": "diagonal"}[form]
			}
		},
	} {
		changed := describedAs(t, data, func(info map[string]any) {
			change(info["training"].(map[string]any)["rfm"].(map[string]any)["candidates"].([]any))
		})
		if _, err := read(changed); err == nil {
			t.Errorf("%s, and the file loads", what)
		}
	}
}

// describedAs is a model file with another description.
func describedAs(t *testing.T, data []byte, edit func(info map[string]any)) []byte {
	t.Helper()
	return rewritten(t, data, func(header map[string]any) {
		meta := header["__metadata__"].(map[string]any)
		var info map[string]any
		if err := json.Unmarshal([]byte(meta["model"].(string)), &info); err != nil {
			t.Fatal(err)
		}
		edit(info)
		text, err := json.Marshal(info)
		if err != nil {
			t.Fatal(err)
		}
		meta["model"] = string(text)
	})
}

func set(all []any, name string, v any) {
	for _, c := range all {
		c.(map[string]any)[name] = v
	}
}
