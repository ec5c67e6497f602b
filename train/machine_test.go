package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/model"
)

// machineConfigs are the learners that take the kernel itself, in their ways.
var machineConfigs = []Config{
	{Learner: KernelRidge{}},
	{Learner: KernelRidge{Lambda: 0.1}},
	{Learner: KernelRidge{Product: "tree", Accuracy: 1e-6, Lambda: 0.1}},
	{Learner: KernelRidge{Product: "threshold", Lambda: 0.1}},
	{Learner: KernelRidge{Product: "gauss"}},
	{Learner: KNN{}},
	{Learner: Falkon{}, Map: Map{Features: 60}},
	{Learner: Falkon{Lambda: 0.1}, Map: Map{Features: 60, Options: options("kmeans")}},
}

// The rings that no linear model tells apart, and numbers that are no linear function, are learned
// in every way; loaded, the model gives the same bits.
func TestMachinesLearnAndLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := rings(1, 300, 3)
	xt, want := rings(2, 200, 3)
	y := make([]float64, 2*300)
	for i := range 300 {
		row := x.Row(i)
		y[2*i], y[2*i+1] = math.Hypot(float64(row[0]), float64(row[1])), float64(row[0]*row[1])
	}
	for _, cfg := range machineConfigs {
		for _, src := range []dataset.Source{source(t, matrix.Rows{Dense: x}, nil, 0, names), source(t, matrix.Rows{Dense: x}, y, 2, nil)} {
			m := fitted(t, src, cfg)
			scores := matrix.NewDense(200, m.Outputs())
			if err := m.Scores(scores, matrix.Rows{Dense: xt}); err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i := range 200 {
				if row := xt.Row(i); m.Classes() == nil {
					if math.Abs(float64(scores.Row(i)[0])-math.Hypot(float64(row[0]), float64(row[1]))) > 0.3 {
						wrong++
					}
				} else if m.Classes()[m.Class(scores.Row(i))] != want[i] {
					wrong++
				}
			}
			if wrong > 10 { // rings of deviation 0.2 at a distance of 1 overlap by 1 in 100
				t.Errorf("%+v: %d of 200 wrong", cfg, wrong)
			}
			if lines := m.Info().Training.Lines(); len(lines) == 0 || !strings.Contains(lines[0], "λ = ") && !strings.Contains(lines[0], " nearest rows, ") {
				t.Errorf("%+v: %q", cfg, lines)
			}
			loaded, err := read(fileOf(t, m))
			if err != nil {
				t.Fatal(err)
			}
			again := matrix.NewDense(200, m.Outputs())
			if err := loaded.Scores(again, matrix.Rows{Dense: xt}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(again.Data, scores.Data) {
				t.Errorf("%+v: the loaded model gives other scores", cfg)
			}
		}
	}
}

func TestMachineBytesDependOnDataConfigAndSeedAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := rings(3, 300, 2)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cfg := range machineConfigs {
		var want []byte
		for _, c := range []struct{ threads, batch int }{{1, 300}, {3, 7}} {
			runtime.GOMAXPROCS(c.threads)
			got := fileOf(t, fitted(t, &batched{src, c.batch}, cfg))
			if want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%+v: other bytes with %+v", cfg, c)
			}
		}
	}
}

// counts are sparse rows of counts of a few words, those of a class for every class.
func counts(seed uint64, n int) (*matrix.CSR, []string) {
	s := random.New(seed, "counts")
	m := &matrix.CSR{Cols: 40, Ptr: []int{0}}
	var names []string
	for range n {
		class := s.Intn(3)
		for j := range 40 {
			if s.Uniform() < 0.1+0.3*float64((j+class)%3/2) {
				m.Idx, m.Val = append(m.Idx, int32(j)), append(m.Val, float32(1+s.Intn(3)))
			}
		}
		m.Rows++
		m.Ptr = append(m.Ptr, len(m.Idx))
		names = append(names, fmt.Sprint(class))
	}
	return m, names
}

// Sparse rows stay sparse in the file, and a machine of the intersection kernel gives the same
// scores exactly and, nearly, from tables.
func TestSparseAndIntersectionMachines(t *testing.T) {
	x, names := counts(1, 300)
	src := source(t, matrix.Rows{CSR: x}, nil, 0, names)
	var exactly *matrix.Dense
	for _, cfg := range []Config{
		{Learner: KernelRidge{Lambda: 1}, Kernel: Kernel{Name: "rbf"}},
		{Learner: KernelRidge{Lambda: 1}, Kernel: Kernel{Name: "intersection"}},
		{Learner: KernelRidge{Lambda: 1, Predict: Prediction{Lookup: 1000}}, Kernel: Kernel{Name: "intersection"}},
		{Learner: Falkon{}, Kernel: Kernel{Name: "intersection"}},
	} {
		cfg.Scale = "none"
		m := fitted(t, src, cfg)
		if fast := m.Predictor().(model.Machine).Fast(); fast != (cfg.Kernel.Name == "intersection") {
			t.Errorf("%+v: fast prediction is %v", cfg, fast)
		}
		loaded, err := read(fileOf(t, m))
		if err != nil {
			t.Fatal(err)
		}
		a, b := matrix.NewDense(300, 3), matrix.NewDense(300, 3)
		if err := m.Scores(a, matrix.Rows{CSR: x}); err != nil {
			t.Fatal(err)
		}
		if err := loaded.Scores(b, matrix.Rows{CSR: x}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Data, b.Data) {
			t.Errorf("%+v: the loaded model gives other scores", cfg)
		}
		switch {
		case cfg.Kernel.Name == "intersection" && cfg.Get("lookup").(int) == 0 && exactly == nil:
			exactly = a
		case cfg.Get("lookup").(int) > 0:
			for i, v := range a.Data {
				if math.Abs(float64(v-exactly.Data[i])) > 5e-3 {
					t.Fatalf("score %d: %g from tables, %g exactly", i, v, exactly.Data[i])
				}
			}
		}
		rows := m.Predictor().(model.Machine).Rows()
		if (rows.CSR != nil) != (cfg.LearnerName() == "kernel-ridge") {
			t.Errorf("%+v: the machine's rows are sparse: %v", cfg, rows.CSR != nil)
		}
	}
}

// A machine keeps as many terms as are asked for, of all that it has, and predicts with them what it predicts with tables of lines or
// of middle values, up to their bounds. The model file says which.
func TestMachinesOfFewTermsAndTables(t *testing.T) {
	r := random.New(3, "train.tables")
	x, names := matrix.NewDense(200, 6), make([]string, 200)
	for i := range names {
		names[i] = []string{"a", "b", "c"}[i%3]
		for j := range x.Row(i) {
			x.Row(i)[j] = float32(math.Abs(r.Normal()))
			if j == i%3 {
				x.Row(i)[j] += 2
			}
		}
	}
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	for _, cfg := range []Config{
		{Learner: KernelRidge{Lambda: 0.1}}, {Learner: Falkon{Lambda: 0.1},
			Map: Map{Features: 120}}, {Learner: KernelSVM{Multiclass: "ovr"}}, {Learner: KernelSVM{}},
	} {
		cfg.Kernel.Name = "intersection"
		scored := func(cfg Config) (*model.Model, *matrix.Dense) {
			m := fitted(t, src, cfg)
			var file bytes.Buffer
			if err := m.Write(&file); err != nil {
				t.Fatal(err)
			}
			loaded, err := model.Read(&file, int64(file.Len()))
			if err != nil {
				t.Fatal(err)
			}
			scores, again := matrix.NewDense(200, m.Outputs()), matrix.NewDense(200, m.Outputs())
			if err := errors.Join(m.Scores(scores, matrix.Rows{Dense: x}), loaded.Scores(again, matrix.Rows{Dense: x})); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(scores.Data, again.Data) {
				t.Errorf("%+v: the loaded model has other scores", cfg)
			}
			return m, scores
		}
		distance := func(a, b *matrix.Dense) (most float64) {
			for i, v := range a.Data {
				most = max(most, math.Abs(float64(v-b.Data[i])))
			}
			return most
		}
		m, all := scored(cfg)
		lines, middles := cfg, cfg
		lines.Set("lookup", 50)
		middles.Set("lookup", 50)
		middles.Set("lookup_form", "constant")
		_, byLines := scored(lines)
		_, byMiddles := scored(middles)
		if votes := cfg.LearnerName() == "kernel-svm" && cfg.Get("multiclass").(string) == ""; !votes { // whose scores count
			if a, b := distance(all, byLines), distance(all, byMiddles); !(a > 0 && a < b && b < 0.5) {
				t.Errorf("%+v: tables of lines err by %g, of middle values by %g", cfg, a, b)
			}
		}
		rows := func(m *model.Model) int {
			switch p := m.Predictor().(type) {
			case model.Machine:
				return p.Rows().Len()
			case interface{ Machine() model.Machine }:
				return p.Machine().Rows().Len()
			}
			return -1
		}
		few := cfg
		few.Set("subsample", 30)
		m30, fewer := scored(few)
		if n := rows(m30); n != 30 && n != -1 || distance(all, fewer) == 0 {
			t.Errorf("%+v: %d terms, of %d", few, n, rows(m))
		}
		few.Set("subsample", 10_000)
		if _, same := scored(few); distance(all, same) != 0 {
			t.Errorf("%+v: more terms than there are change scores", few)
		}
	}
}

func TestMachineErrors(t *testing.T) {
	x, names := rings(1, 1000, 2)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	for _, c := range []struct {
		cfg    Config
		memory int64
		want   string
	}{
		{Config{Learner: KernelRidge{}}, 10 << 20, "learner=falkon"},
		{Config{Learner: KernelRidge{Lambda: 1}}, 1 << 20, "8·n²"},
		{Config{Learner: Falkon{}, Map: Map{Features: 900}}, 1 << 20, "16·m²"},
		{Config{Learner: KernelRidge{Product: "threshold", Lambda: 1}}, 200 << 10, "a higher threshold"},
		{Config{Learner: KernelRidge{}, Map: Map{Features: 5}}, 0, "leave out features"},
		{Config{Learner: KernelRidge{Predict: Prediction{Lookup: 8, Form: "cubic"}}, Kernel: Kernel{Name: "intersection"}}, 0,
			"known are linear, constant"},
		{Config{Learner: KernelRidge{Predict: Prediction{Form: "constant"}}, Kernel: Kernel{Name: "intersection"}}, 0, "there are none; give"},
		{Config{Learner: KernelSVM{Predict: Prediction{Subsample: -1}}}, 0, "give 1 or more terms to keep"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"subsample": 5}}}, 0, "no option subsample"},
		{Config{Learner: KernelRidge{}, Map: Map{Name: "rff"}}, 0, "leave out the map"},
		{Config{Learner: KernelRidge{}, Map: Map{Options: options("kmeans")}}, 0, "has no landmarks"},
		{Config{Learner: Falkon{}, Map: Map{Options: options("magic")}}, 0, "not known"},
		{Config{Learner: Falkon{}, Map: Map{Options: options("given")}}, 0, "there are none"},
		{Config{Learner: Named{Name: "falkon", Options: map[string]any{"product": "tree"}}}, 0, "no option product"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"lookup": 5}}}, 0, "no option lookup"},
		{Config{Learner: Falkon{Predict: Prediction{Lookup: 5}}}, 0, "lookup is for the intersection kernel"},
		{Config{Learner: KernelRidge{Product: "magic"}}, 0, `product "magic" is not known`},
		{Config{Learner: KernelRidge{Accuracy: 0.1}}, 0, "accuracy belongs to"},
		{Config{Learner: KernelRidge{Product: "gauss"}, Kernel: Kernel{Name: "laplacian"}}, 0, "takes the rbf kernel"},
		{Config{Learner: KernelRidge{Product: "tree", Accuracy: 2}}, 0, "accuracy 2"},
		{Config{Learner: Named{Name: "kernel-ridge", Options: map[string]any{"c": 1}}}, 0, "no option c"},
	} {
		if _, _, err := Fit(context.Background(), src, c.cfg, Options{Memory: c.memory}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

// A file whose numbers do not fit each other is refused.
func TestAlteredMachinesAreRefused(t *testing.T) {
	x, names := counts(2, 60)
	data := fileOf(t, fitted(t, source(t, matrix.Rows{CSR: x}, nil, 0, names), Config{Learner: KernelRidge{Lambda: 1}, Scale: "none"}))
	for _, c := range []struct {
		name string
		at   int
		v    float64
	}{
		{"machine.ptr", 0, 1}, {"machine.ptr", 1, 1e9}, {"machine.ptr", 1, -1}, {"machine.ptr", 1, 0.5},
		{"machine.ptr", 1, math.NaN()}, {"machine.ptr", 60, 3},
		{"machine.idx", 0, -1}, {"machine.idx", 0, 40}, {"machine.idx", 0, 0.5}, {"machine.idx", 0, math.NaN()},
		{"machine.val", 0, math.Inf(1)}, {"machine.alpha", 0, math.NaN()}, {"machine.b", 0, math.Inf(-1)},
		{"machine.alpha", 0, 77},
	} {
		if _, err := read(put(t, data, c.name, c.at, c.v)); err == nil {
			t.Errorf("%s has %g at %d, and the file loads", c.name, c.v, c.at)
		}
	}
}

func options(landmarks string) feature.Options { return feature.Options{Landmarks: landmarks} }
