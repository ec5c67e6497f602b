package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/safetensors"
	"mercer/matrix"
	"mercer/model"
)

// put is a model file with other numbers in one of its tensors, and a right checksum.
func put(t *testing.T, data []byte, name string, at int, v float64) []byte {
	t.Helper()
	data = bytes.Clone(data)
	n := int(binary.LittleEndian.Uint64(data))
	var header map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	var e struct {
		DType   string   `json:"dtype"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(header[name], &e); err != nil {
		t.Fatal(err)
	}
	from := data[8+n+int(e.Offsets[0]):]
	if e.DType == "F64" {
		binary.LittleEndian.PutUint64(from[8*at:], math.Float64bits(v))
	} else {
		binary.LittleEndian.PutUint32(from[4*at:], math.Float32bits(float32(v)))
	}
	return sealed(data)
}

func TestNumbersThatAreNotFiniteAreRefused(t *testing.T) {
	data := fileOf(t, small(t))
	for _, name := range []string{"golden.x", "golden.scores", "linear.w", "linear.b", "scale.shift", "scale.factor"} {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if _, err := read(put(t, data, name, 0, v)); err == nil {
				t.Errorf("%s begins with %g, and the file loads", name, v)
			}
		}
	}
}

func TestAlteredNumbersAreRefused(t *testing.T) {
	data := fileOf(t, small(t))
	for _, name := range []string{"golden.x", "golden.scores", "linear.b", "scale.shift", "scale.factor"} {
		_, err := read(put(t, data, name, 0, 7))
		if err == nil || !strings.HasPrefix(err.Error(), "the model predicts ") {
			t.Errorf("%s begins with 7: %v", name, err)
		}
	}
}

func TestTensorsTileTheData(t *testing.T) {
	data := fileOf(t, small(t))
	at := func(h map[string]any, name string) (from, to float64) {
		o := h[name].(map[string]any)["data_offsets"].([]any)
		return o[0].(float64), o[1].(float64)
	}
	for name, c := range map[string]struct {
		edit func(h map[string]any)
		want string
	}{
		"a tensor over another": {func(h map[string]any) {
			// shift and factor are of one size: with factor's offsets for both, the sum of
			// the sizes is still that of the data.
			h["scale.shift"].(map[string]any)["data_offsets"] = h["scale.factor"].(map[string]any)["data_offsets"]
		}, "a tensor begins at byte"},
		"a gap at the end": {func(h map[string]any) {
			delete(h, "scale.shift")
		}, "its tensors end at byte"},
		"a gap at the beginning": {func(h map[string]any) {
			delete(h, "golden.scores")
		}, "a tensor begins at byte"},
		"an empty tensor in the middle of one": {func(h map[string]any) {
			from, _ := at(h, "linear.w")
			h["more"] = map[string]any{"dtype": "F32", "shape": []int{0}, "data_offsets": []float64{from + 4, from + 4}}
		}, "a tensor begins at byte"},
	} {
		if _, err := read(rewritten(t, data, c.edit)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// built is a model file of the given description and tensors.
func built(t *testing.T, meta map[string]string, tensors map[string]*safetensors.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, meta, tensors); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func numbers(shape ...int) *safetensors.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return &safetensors.Tensor{Shape: shape, F32: make([]float32, n)}
}

func TestFilesOfOthersAreRefused(t *testing.T) {
	info := `{"task":"regress","outputs":1,"schema":{"format":"rows","dim":20000},"scale":"none",` +
		`"feature":{"map":"rff","kernel":{"name":"rbf","gamma":1},"features":400000,"seed":1}}`
	doubles := func(n int) *safetensors.Tensor { return &safetensors.Tensor{Shape: []int{n}, F64: make([]float64, n)} }
	shifted := `{"task":"regress","outputs":1,"schema":{"format":"rows","dim":2},"scale":"standard"}`
	small := map[string]*safetensors.Tensor{
		"golden.x": numbers(model.GoldenRows, 2), "golden.scores": numbers(model.GoldenRows, 1),
		"linear.w": numbers(2, 1), "linear.b": doubles(1), "scale.shift": doubles(2),
	}
	fitted := `{"task":"regress","outputs":1,"schema":{"format":"rows","dim":2},"scale":"none",` +
		`"feature":{"map":"kg-rp","kernel":{"name":"rbf","gamma":1},"features":2,"seed":1}}`
	fittedTensors := func(more map[string]*safetensors.Tensor) map[string]*safetensors.Tensor {
		all := map[string]*safetensors.Tensor{
			"golden.x": numbers(model.GoldenRows, 2), "golden.scores": numbers(model.GoldenRows, 1),
			"linear.w": numbers(2, 1), "linear.b": doubles(1),
		}
		maps.Copy(all, more)
		return all
	}
	mercer := func(model string) map[string]string {
		return map[string]string{"format": "mercer", "version": "1", "model": model}
	}
	for _, c := range []struct {
		name    string
		meta    map[string]string
		tensors map[string]*safetensors.Tensor
		want    string
	}{
		{"another safetensors file", map[string]string{"format": "pt"}, map[string]*safetensors.Tensor{"weight": numbers(3, 2)},
			"a safetensors file, but not a model of this program"},
		{"a newer version", map[string]string{"format": "mercer", "version": "4"}, nil,
			"the file has version 4 of the format, this program reads up to 3; use a newer program"},
		{"version 0", map[string]string{"format": "mercer", "version": "0"}, nil,
			`version "0" of the format is no number`},
		{"a huge map in a small file", mercer(info), map[string]*safetensors.Tensor{
			"golden.x": numbers(model.GoldenRows, 20000), "golden.scores": numbers(model.GoldenRows, 1),
			"linear.w": numbers(400000, 1), "linear.b": doubles(1),
		}, "the file is small and asks for much memory (feature: rff: a map of 20000 dimensions to 400000 features takes 30 GiB, " +
			"of 1.0 GiB at most; use fewer features, or a map that holds less); if you trust it, set the environment variable MERCER_MAX_MEMORY to more"},
		{"a fitted map without what it holds", mercer(fitted), fittedTensors(nil),
			"feature: kg-rp: the state is not that of 2 features of 2 dimensions"},
		{"a fitted map of other rows", mercer(fitted), fittedTensors(map[string]*safetensors.Tensor{"map.rows": numbers(5, 3),
			"map.weights": numbers(5, 2), "map.weights.low": numbers(5, 2), "map.rank": numbers(1, 1)}),
			"feature: kg-rp: the state is not that of 2 features of 2 dimensions"},
		{"a fitted map with a vector", mercer(fitted), fittedTensors(map[string]*safetensors.Tensor{"map.rows": doubles(3)}),
			`tensor "map.rows" has shape [3]; expected a matrix of float32`},
		{"a fitted map with NaN", mercer(fitted),
			fittedTensors(map[string]*safetensors.Tensor{"map.rows": {Shape: []int{1, 2}, F32: []float32{0, float32(math.NaN())}}}),
			`tensor "map.rows": element 1 is NaN`},
		{"a chain of nothing", mercer(strings.Replace(fitted, `"map":"kg-rp"`, `"map":"chain"`, 1)), fittedTensors(nil),
			"feature: chain: no steps are given"},
		{"a map of another size than its weights",
			mercer(strings.Replace(fitted, `"map":"kg-rp","kernel":{"name":"rbf","gamma":1}`,
				`"map":"sum","kernel":{"name":""},"steps":[{"map":"rff","kernel":{"name":"rbf","gamma":1},"features":4}]`, 1)), fittedTensors(nil),
			"feature: sum: features is 2, but the map gives 4; leave it out"},
		{"a machine behind a map", mercer(`{"task":"regress","outputs":1,"schema":{"format":"rows","dim":2},"scale":"none",` +
			`"kernel":{"name":"rbf","gamma":1},"feature":{"map":"rff","kernel":{"name":"rbf","gamma":1},"features":2,"seed":1}}`),
			fittedTensors(map[string]*safetensors.Tensor{"machine.alpha": {Shape: []int{1, 1}, F64: []float64{1}},
				"machine.b": doubles(1), "machine.x": numbers(1, 2)}),
			"the model is half a kernel machine and half a map"},
		{"a machine without its rows",
			mercer(`{"task":"regress","outputs":1,"schema":{"format":"rows","dim":2},"scale":"none","kernel":{"name":"rbf","gamma":1}}`),
			fittedTensors(nil),
			"the model is half a kernel machine and half a map"},
		{"tables that fill a machine's memory",
			mercer(`{"task":"regress","outputs":1,"schema":{"format":"rows","dim":20000},` +
				`"scale":"none","kernel":{"name":"intersection"},"config":{"lookup":1048576}}`),
			map[string]*safetensors.Tensor{"golden.x": numbers(model.GoldenRows, 20000), "golden.scores": numbers(model.GoldenRows, 1),
				"machine.alpha": {Shape: []int{1, 1}, F64: []float64{1}}, "machine.b": doubles(1), "machine.x": numbers(1, 20000)},
			"exact: tables of 1048576 bins for 20000 dimensions and 1 outputs take 156 GiB, of 16 GiB at most; take fewer bins, or none"},
		{"a single class",
			mercer(`{"task":"classify","classes":["a"],"outputs":1,"schema":{"format":"rows","dim":2},"scale":"none"}`), fittedTensors(nil),
			"a model to classify with 1 outputs and 1 classes"},
		{"a shift without a factor", mercer(shifted), small,
			`tensor "scale.factor" is missing beside "scale.shift"`},
	} {
		if _, err := read(built(t, c.meta, c.tensors)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Rows that come as sparse ones but are nearly full are handled as dense ones, by a loaded
// model too.
func TestLoadedModelOfFullSparseRows(t *testing.T) {
	src := dataset.Generate(dataset.Synthetic{Rows: 200, Dim: 40, Seed: 3})
	all, err := dataset.Collect(context.Background(), src, 40)
	if err != nil {
		t.Fatal(err)
	}
	rows := matrix.Rows{CSR: sparse(all.X.Dense)}
	for _, cfg := range []Config{
		{Scale: "maxabs", Map: Map{Features: 64}}, {Scale: "none", Map: Map{Features: 64}}, {Scale: "l2",
			Kernel: Kernel{Name: "linear"}}, {Scale: "standard", Kernel: Kernel{Name: "linear"}},
	} {
		m := fitted(t, source(t, rows, all.Y, 1, nil), cfg)
		loaded, err := read(fileOf(t, m))
		if err != nil {
			t.Fatal(err)
		}
		a, b := matrix.NewDense(200, 1), matrix.NewDense(200, 1)
		if err := m.Scores(a, rows); err != nil {
			t.Fatal(err)
		}
		if err := loaded.Scores(b, rows); err != nil {
			t.Fatal(err)
		}
		for i, v := range a.Data {
			if b.Data[i] != v {
				t.Errorf("%+v: row %d: %g trained, %g loaded", cfg, i, v, b.Data[i])
				break
			}
		}
	}
}

func TestMemoryIsCheckedBeforeTheMapIsDrawn(t *testing.T) {
	src := dataset.Generate(dataset.Synthetic{Rows: 100, Dim: 80, Seed: 1})
	for _, c := range []struct {
		memory int64
		want   string
	}{
		{1 << 30, "of 1.0 GiB at most; use fewer features"},
		{0, "takes 20 GiB, of 16 GiB at most; use fewer features"},
	} {
		// The map alone would take 20 GiB.
		_, _, err := Fit(context.Background(), src, Config{Map: Map{Features: 1 << 26, Name: "rff"}}, Options{Memory: c.memory})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A map that can do without what it would keep leaves room for the learner, and is the same.
func TestMapLeavesMemoryForTheLearner(t *testing.T) {
	src := dataset.Generate(dataset.Synthetic{Rows: 100, Dim: 200, Seed: 1})
	cfg := Config{Map: Map{Name: "explicit-rp", Features: 128}, Kernel: Kernel{Name: "poly", Degree: 2}, Learner: Ridge{Lambda: 1}}
	plan, err := NewPlan(context.Background(), src, 100, cfg, Options{})
	if err != nil || plan.Bytes-plan.MapBytes > plan.MapBytes {
		t.Fatalf("%v, %+v", err, plan)
	}
	var files [2]bytes.Buffer
	for i, memory := range []int64{2 * plan.Bytes, plan.Bytes - 1} {
		m, _, err := Fit(context.Background(), src, cfg, Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Write(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("with less memory it is another model")
	}
}
