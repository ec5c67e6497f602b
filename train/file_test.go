package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/safetensors"
	"mercer/internal/engine/testenv"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
)

// small trains a small model on generated rows.
func small(t testing.TB) *model.Model {
	t.Helper()
	src := dataset.Generate(dataset.Synthetic{Rows: 300, Dim: 5, Seed: 1})
	m, _, err := Fit(context.Background(), src, Config{Map: Map{Features: 16}, Scale: "standard"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fileOf(t testing.TB, m *model.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte) (*model.Model, error) {
	return model.Read(bytes.NewReader(data), int64(len(data)))
}

// sealed corrects the checksum of an altered file.
func sealed(data []byte) []byte {
	out := bytes.Clone(data)
	safetensors.Seal(out)
	return out
}

// rewritten is a model file whose header was changed by edit, with a right checksum.
func rewritten(t testing.TB, data []byte, edit func(header map[string]any)) []byte {
	t.Helper()
	n := int(binary.LittleEndian.Uint64(data))
	var header map[string]any
	if err := json.Unmarshal(data[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	edit(header)
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	out = append(append(out, text...), data[8+n:]...)
	return sealed(out)
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	data := fileOf(t, small(t))
	if _, err := read(data); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			if _, err := read(data); err == nil {
				t.Fatalf("bit %d of byte %d of %d was flipped, and the file still loads", bit, i, len(data))
			}
			data[i] ^= 1 << bit
		}
	}
	testenv.Tried(t, "bits of a model flipped, and cuts", 8*len(data), 0)
}

func TestEveryCutIsFound(t *testing.T) {
	data := fileOf(t, small(t))
	for n := range data {
		if _, err := read(data[:n]); err == nil {
			t.Fatalf("cut to %d of %d bytes, the file still loads", n, len(data))
		}
	}
	if _, err := read(append(data, 0)); err == nil {
		t.Error("a byte more at the end, and the file still loads")
	}
	testenv.Tried(t, "bits of a model flipped, and cuts", len(data)+1, 0)
}

func TestHeaderLengthIsBounded(t *testing.T) {
	data := fileOf(t, small(t))
	for _, n := range []uint64{0, 1, uint64(len(data)), 1 << 40, 1 << 63, 1<<64 - 1} {
		binary.LittleEndian.PutUint64(data, n)
		if _, err := read(data); err == nil {
			t.Errorf("header length %d was accepted", n)
		}
	}
}

// Files whose checksum is right but whose parts do not fit each other.
func TestInconsistentFilesAreRefused(t *testing.T) {
	data := fileOf(t, small(t))
	model := func(edit func(info map[string]any)) func(map[string]any) {
		return func(header map[string]any) {
			meta := header["__metadata__"].(map[string]any)
			var info map[string]any
			if err := json.Unmarshal([]byte(meta["model"].(string)), &info); err != nil {
				t.Fatal(err)
			}
			edit(info)
			text, _ := json.Marshal(info)
			meta["model"] = string(text)
		}
	}
	tensor := func(name, key string, v any) func(map[string]any) {
		return func(header map[string]any) { header[name].(map[string]any)[key] = v }
	}
	for name, edit := range map[string]func(map[string]any){
		"nothing missing but a tensor": func(h map[string]any) { delete(h, "linear.w") },
		"no golden rows":               func(h map[string]any) { delete(h, "golden.x") },
		"another tensor":               func(h map[string]any) { h["more"] = h["linear.w"] },
		"dtype":                        tensor("linear.w", "dtype", "I8"),
		"shape":                        tensor("linear.w", "shape", []int{1, 16}),
		"negative shape":               tensor("linear.w", "shape", []int{-16, -1}),
		"huge shape":                   tensor("linear.w", "shape", []int64{1 << 62, 4}),
		"offsets":                      tensor("linear.w", "data_offsets", []int64{0, 1 << 40}),
		"offsets backwards":            tensor("linear.w", "data_offsets", []int{64, 0}),
		"negative offsets":             tensor("linear.w", "data_offsets", []int{-64, 0}),
		"newer version":                func(h map[string]any) { h["__metadata__"].(map[string]any)["version"] = "4" },
		"no version":                   func(h map[string]any) { h["__metadata__"].(map[string]any)["version"] = "one" },
		"other format":                 func(h map[string]any) { h["__metadata__"].(map[string]any)["format"] = "pt" },
		"not JSON":                     func(h map[string]any) { h["__metadata__"].(map[string]any)["model"] = "{" },
		"no outputs":                   model(func(i map[string]any) { i["outputs"] = 0 }),
		"huge outputs":                 model(func(i map[string]any) { i["outputs"] = int64(1 << 40) }),
		"other task":                   model(func(i map[string]any) { i["task"] = "dream" }),
		"classes of a regression":      model(func(i map[string]any) { i["classes"] = []string{"a", "b"} }),
		"other scaling":                model(func(i map[string]any) { i["scale"] = "log" }),
		"dimensions":                   model(func(i map[string]any) { i["schema"].(map[string]any)["dim"] = 6 }),
		"huge dimensions":              model(func(i map[string]any) { i["schema"].(map[string]any)["dim"] = int64(1 << 50) }),
		"features":                     model(func(i map[string]any) { i["feature"].(map[string]any)["features"] = int64(1 << 40) }),
		"other map":                    model(func(i map[string]any) { i["feature"].(map[string]any)["map"] = "magic" }),
		"other seed":                   model(func(i map[string]any) { i["feature"].(map[string]any)["seed"] = 2 }),
		"other gamma": model(func(i map[string]any) {
			i["feature"].(map[string]any)["kernel"].(map[string]any)["gamma"] = 5.0
		}),
	} {
		if _, err := read(rewritten(t, data, edit)); err == nil {
			t.Errorf("%s: the file loads", name)
		} else if strings.Contains(err.Error(), "checksum is wrong") {
			t.Errorf("%s: the test's checksum is wrong", name)
		}
	}
	if _, err := read(rewritten(t, data, func(map[string]any) {})); err != nil {
		t.Errorf("the file rewritten as it was: %v", err)
	}
}

func TestGoldenPairsAreChecked(t *testing.T) {
	meta, tensors, err := safetensors.Read(bytes.NewReader(fileOf(t, small(t))), int64(len(fileOf(t, small(t)))))
	if err != nil {
		t.Fatal(err)
	}
	tensors["golden.scores"].F32[1] += 0.01
	var file bytes.Buffer
	if err := safetensors.Write(&file, meta, tensors); err != nil {
		t.Fatal(err)
	}
	if _, err := read(file.Bytes()); err == nil || !strings.Contains(err.Error(), "predict") {
		t.Errorf("a golden score that is off by 0.01: %v", err)
	}
}

// A file of version 1 that an early version wrote stays readable, and predicts the same.
func TestVersion1StaysReadable(t *testing.T) {
	const path, scores = "testdata/v1.mercer", "testdata/v1.scores.json"
	if os.Getenv("MERCER_WRITE_TESTDATA") != "" {
		m := small(t)
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(versionRows...)
		if err != nil {
			t.Fatal(err)
		}
		var values []float32
		for _, x := range p {
			values = append(values, float32(x.Values[0]))
		}
		text, _ := json.Marshal(values)
		if err := os.WriteFile(scores, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(scores)
	if err != nil {
		t.Fatal(err)
	}
	var want []float32
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(versionRows...)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if d := p[i].Values[0] - float64(w); d > 1e-5 || d < -1e-5 {
			t.Errorf("row %d: %g, was %g", i, p[i].Values[0], w)
		}
	}
}

var versionRows = [][]float32{{0, 0, 0, 0, 0}, {1, -1, 0.5, 0.25, -0.75}, {0.1, 0.2, 0.3, 0.4, 0.5}}

func TestSaveLeavesNothingHalfWritten(t *testing.T) {
	dir := t.TempDir()
	m := small(t)
	if err := m.Save(filepath.Join(dir, "no", "m.mercer")); err == nil {
		t.Error("saved into a directory that does not exist")
	}
	if err := m.Save(dir); err == nil {
		t.Error("saved over a directory")
	}
	path := filepath.Join(dir, "m.mercer")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	list, _ := os.ReadDir(dir)
	if len(list) != 1 {
		t.Errorf("the directory holds %v", list)
	}
	if _, err := model.Load(path); err != nil {
		t.Error(err)
	}
	if _, err := model.Load(filepath.Join(dir, "other")); err == nil || !os.IsNotExist(err) && !strings.Contains(err.Error(), "not exist") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := model.Load(dir); err == nil {
		t.Error("a directory was loaded")
	}
}

// Fuzz with -fuzzminimizetime 1x: maps are ranged over in any order, so coverage varies and the
// fuzzer would spend its time on making inputs smaller.
func FuzzRead(f *testing.F) {
	data := fileOf(f, small(f))
	f.Add(data)
	f.Add(data[:200])
	f.Add(fileOf(f, fittedBags(f, spreadBags(f, 1, 30, 2), Config{Bag: &pipeline.BagConfig{Pooling: "cbp-krp", Features: 8,
		Scale: "standard"}})))
	f.Add(fileOf(f, fittedBags(f, spreadBags(f, 1, 30, 2), Config{Bag: &pipeline.BagConfig{Map: "kpca-rp", Features: 8}})))
	x, names := rings(1, 200, 3)
	f.Add(fileOf(f, fitted(f, source(f, matrix.Rows{Dense: x}, nil, 0, names), Config{Learner: RFM{Leaf: 120}, Map: Map{Features: 8}})))
	for _, cfg := range []Config{
		{Map: Map{Name: "rff", Features: 8}, Learner: LDA{}}, {Map: Map{Name: "rff", Features: 8}, Reduce: Reduction{Method: "lda"},
			Learner: Ridge{}}, {Map: Map{Name: "words", Features: 6}, Learner: Ridge{}},
		{Kernel: Kernel{Name: "exp"}, Map: Map{Name: "taylorsketch", Features: 12},
			Learner: Ridge{}}, {Map: Map{Name: "wavelets", Options: feature.Options{Terms: 6}}, Learner: Ridge{}},
		{Map: Map{Name: "rbf-network", Features: 6, Options: feature.Options{Landmarks: "projected", Widths: "own"}}, Learner: Ridge{}},
	} {
		f.Add(fileOf(f, fitted(f, source(f, matrix.Rows{Dense: x}, nil, 0, names), cfg)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		// With a right checksum the fuzzer gets to what comes after it.
		data = sealed(data)
		m, err := read(data)
		if err == nil {
			if _, err := m.Predict(make([]float32, m.Dim())); err != nil {
				t.Errorf("a model that loads does not predict: %v", err)
			}
			if m.Bag() != nil {
				in, _ := m.Bag().Dims()
				if _, err := m.PredictBags([][]float32{make([]float32, in), make([]float32, in)}); err != nil {
					t.Errorf("a model that loads does not predict bags: %v", err)
				}
			}
		}
	})
}

// A model file holds a map's configuration and seed, not its numbers, unless the map was
// fitted to data.
func TestModelFilesHoldNoFrequencies(t *testing.T) {
	src := dataset.Generate(dataset.Synthetic{Rows: 300, Dim: 100, Seed: 1})
	size := func(cfg Config) int {
		cfg.Map.Features = 512
		cfg.Set("lambda", 1)
		cfg.SetLearner("ridge")
		m, _, err := Fit(context.Background(), src, cfg, Options{})
		if err != nil {
			t.Fatalf("%+v: %v", cfg, err)
		}
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Len()
	}
	// The weights, the golden rows and the scaling's 2·8·100 bytes, and the description.
	const most = 4*512 + 4*4*100 + 2*8*100 + 8<<10
	for _, cfg := range []Config{
		{Map: Map{Name: "rff"}}, {Map: Map{Name: "sorf"}}, {Map: Map{Name: "fastfood"}}, {Map: Map{Name: "qmc"}},
		{Kernel: Kernel{Name: "poly"}, Map: Map{Name: "tensorsketch"}}, {Kernel: Kernel{Name: "poly"},
			Map: Map{Name: "pk-rp"}}, {Kernel: Kernel{Name: "linear"}, Map: Map{Name: "rp"}},
	} {
		if n := size(cfg); n > most {
			t.Errorf("a model of %s takes %d bytes, %d are enough", cfg.Map.Name, n, most)
		}
	}
	if n := size(Config{Map: Map{Name: "kg-rp", Options: feature.Options{Pool: 50}}}); n < most+4*50*100 || n > most+4*50*100+2*4*50*512 {
		t.Errorf("a model of kg-rp takes %d bytes", n)
	}
}

// TestModelsWithoutARuleForGapsAreRead: until tables without gaps had one, their models had no means.
func TestModelsWithoutARuleForGapsAreRead(t *testing.T) {
	data, err := os.ReadFile("testdata/no-rule.mercer")
	if err != nil {
		t.Fatal(err)
	}
	m, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Info().Schema; s.Missing != "" || s.Columns[0].Mean != 0 {
		t.Errorf("the schema has a rule: %+v", s)
	}
	if !bytes.Equal(fileOf(t, m), data) {
		t.Error("written again, it has other bytes")
	}
}
