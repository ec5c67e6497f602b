package train

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// TestModelsDoNotDependOnWhereFeaturesAre trains with features in memory, in a file, and made
// anew, which the memory allowed and the directory for temporary files decide.
func TestModelsDoNotDependOnWhereFeaturesAre(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const n = 900
	x, names, numbers, sets := drawn(5, n, 6, 3)
	for _, c := range []struct {
		name    string
		cfg     Config
		y       []float64
		outputs int
		names   []string
		csr     bool
		memory  int64
	}{
		{"svm", Config{Learner: SVM{}, Map: Map{Features: 256}}, nil, 1, names, false, 1_200_000},
		{"svm of sparse rows", Config{Learner: SVM{C: 1}, Kernel: Kernel{Name: "linear"}, Scale: "none"}, nil, 1, names, true, 55_000},
		{"crammer-singer", Config{Learner: SVM{Multiclass: "crammer-singer", C: 0.3}, Map: Map{Features: 256}}, nil, 1, names, true, 300_000},
		{"svm of labels", Config{Learner: SVM{C: 1}, Task: "multilabel", Map: Map{Features: 256}}, sets, 3, nil, false, 300_000},
		{"svr", Config{Learner: SVR{C: 1, Epsilon: 0.1}, Task: "regress", Map: Map{Features: 256}}, numbers, 1, nil, false, 300_000},
		{"one-class", Config{Learner: OneClass{}, Map: Map{Features: 256}}, nil, 0, nil, true, 300_000},
	} {
		rows := matrix.Rows{Dense: x}
		if c.csr {
			rows = matrix.Rows{CSR: sparse(x)}
		}
		var first []byte
		for _, place := range []struct {
			memory    int64
			directory string
			want      string
		}{
			{0, "", inMemory}, {1 << 30, "", inMemory}, {c.memory, "", inFile}, {c.memory, "nowhere", recomputed},
		} {
			t.Setenv("TMPDIR", filepath.Join(t.TempDir(), place.directory))
			m, report, err := Fit(context.Background(), source(t, rows, c.y, c.outputs, c.names), c.cfg, Options{Memory: place.memory})
			if c.cfg.Kernel.Name == "linear" && place.want == recomputed {
				// The rows are the features, and have no room either.
				if err == nil || !strings.Contains(err.Error(), "TMPDIR") {
					t.Errorf("%s: %v", c.name, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if report.Features != place.want {
				t.Errorf("%s with %d bytes: features are %s, want %s", c.name, place.memory, report.Features, place.want)
			}
			file := fileOf(t, m)
			if first == nil {
				first = file
			}
			if !bytes.Equal(file, first) {
				t.Errorf("%s: with features %s the model is another", c.name, report.Features)
			}
		}
		// Too little even for the solver.
		if _, _, err := Fit(context.Background(), source(t, rows, c.y, c.outputs, c.names), c.cfg,
			Options{Memory: 10_000}); err == nil || !strings.Contains(err.Error(), "but memory allows") {
			t.Errorf("%s with 10,000 bytes: %v", c.name, err)
		}
	}
}

func TestSVRPredictsACurve(t *testing.T) {
	const n = 600
	x, y := curves(3, n)
	for _, loss := range []string{"", "epsilon"} {
		m, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, y, 2, nil),
			Config{Learner: SVR{Loss: loss, C: 1, Epsilon: 0.05}, Map: Map{Features: 200}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := model.ReportOf[*learn.SVRReport](&m.Info().Training)
		if r == nil || !r.Converged || r.Gap > 1e-3 || len(m.Info().Training.Lines()) != 2 {
			t.Fatalf("%q: %+v", loss, r)
		}
		if m, err = read(fileOf(t, m)); err != nil {
			t.Fatal(err)
		}
		scores := matrix.NewDense(n, 2)
		if err := m.Scores(scores, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		square := [2]float64{}
		for e, v := range scores.Data {
			square[e%2] += (float64(v) - y[e]) * (float64(v) - y[e]) / n
		}
		if square[0] > 0.01 || square[1] > 0.01 {
			t.Errorf("%q: mean squares %.3g", loss, square)
		}
	}
}

// curves are n numbers, and two targets of each: a sine with noise, and a line far from 0.
func curves(seed uint64, n int) (*matrix.Dense, []float64) {
	s := random.New(seed, "curve")
	x, y := matrix.NewDense(n, 1), make([]float64, 2*n)
	for i := range n {
		x.Data[i] = float32(6 * s.Uniform())
		y[2*i] = math.Sin(float64(x.Data[i])) + 0.05*s.Normal()
		y[2*i+1] = 100 + 0.5*float64(x.Data[i])
	}
	return x, y
}

// Both solvers of the svr come to the same machine, with C given or chosen.
func TestSVRInThePrimalIsThatOfTheDual(t *testing.T) {
	const n = 500
	x, y := curves(5, n)
	src := source(t, matrix.Rows{Dense: x}, y, 2, nil)
	for _, c := range []float64{1, 0} {
		var objective [2]float64
		for i, solver := range []string{"dual", "primal"} {
			cfg := Config{Learner: SVR{Solver: solver, C: c, Epsilon: 0.05, Tolerance: 1e-4, MaxIter: 5000}, Map: Map{Features: 100}}
			if solver == "primal" {
				cfg.Set("tolerance", 1e-6) // of a gradient, which tells less of the objective
			}
			m, _, err := Fit(context.Background(), src, cfg, Options{})
			if err != nil {
				t.Fatal(err)
			}
			training := m.Info().Training
			if (model.ReportOf[*learn.SVRReport](&training) != nil) != (solver == "dual") ||
				(model.ReportOf[*learn.PrimalReport](&training) != nil) != (solver == "primal") {
				t.Fatalf("%s: %+v", solver, training)
			}
			if r := model.ReportOf[*learn.SVRReport](&training); r != nil {
				objective[i] = r.Objective
			}
			if p := model.ReportOf[*learn.PrimalReport](&training); p != nil {
				if !p.Converged || len(p.Objective) != 2 || (c == 0) != (training.Why["c"] != "") {
					t.Fatalf("%+v, %v", p, training.Why)
				}
				objective[i] = p.Objective[0] + p.Objective[1]
			}
			if m, err = read(fileOf(t, m)); err != nil {
				t.Fatal(err)
			}
			scores, square := matrix.NewDense(n, 2), 0.0
			if err := m.Scores(scores, matrix.Rows{Dense: x}); err != nil {
				t.Fatal(err)
			}
			for e, v := range scores.Data {
				square += (float64(v) - y[e]) * (float64(v) - y[e]) / (2 * n)
			}
			if square > 0.01 {
				t.Errorf("%s, C = %g: mean square %.3g", solver, c, square)
			}
		}
		if math.Abs(objective[0]/objective[1]-1) > 1e-3 {
			t.Errorf("C = %g: objective %.8g by the dual, %.8g by the primal", c, objective[0], objective[1])
		}
	}
}

// TestOneClassTellsOutliers trains without labels, and with some that are to play no part.
func TestOneClassTellsOutliers(t *testing.T) {
	x, names, _, _ := drawn(7, 1000, 3, 1)
	far := matrix.NewDense(2, 3)
	copy(far.Data, []float32{40, -40, 30, 1, 0.5, 1})
	var first []float32
	for _, labels := range [][]string{nil, names} {
		outputs := 0
		if labels != nil {
			outputs = 1
		}
		cfg := Config{Task: "outliers", Learner: Named{Options: map[string]any{"outliers": 0.05, "tolerance": 1e-3}}, Map: Map{Features: 256}}
		m, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, nil, outputs, labels), cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := model.ReportOf[*learn.OneClassReport](&m.Info().Training)
		if r == nil || math.Abs(r.Outside-0.05) > 0.03 || r.Outliers != 0.05 {
			t.Fatalf("%+v", r)
		}
		w := m.Predictor().Tensors()["linear.w"].F32
		if first == nil {
			first = w
		}
		if !slices.Equal(first, w) {
			t.Error("labels have changed the model")
		}
		if m, err = read(fileOf(t, m)); err != nil {
			t.Fatal(err)
		}
		got, err := m.Predict(far.Row(0), far.Row(1))
		if err != nil || got[0].Label != "-1" || got[1].Label != "1" {
			t.Errorf("far and near: %+v, %v", got, err)
		}
		scores, count := matrix.NewDense(1000, 1), 0.0
		if err := m.Scores(scores, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		for i := range scores.Rows {
			if m.Classes()[m.Class(scores.Row(i))] == "-1" {
				count++
			}
		}
		if math.Abs(count/1000-r.Outside) > 0.002 {
			t.Errorf("%g rows come out as outliers, reported %g of 1000", count, r.Outside)
		}
	}
}

func TestCrammerSingerOfTwoClassesIsOneScore(t *testing.T) {
	x, names, _, _ := drawn(9, 500, 4, 2)
	cfg := Config{Learner: SVM{C: 0.5, Multiclass: "crammer-singer", Tolerance: 1e-3}, Kernel: Kernel{Name: "linear"}, Scale: "none"}
	both, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, nil, 1, names), cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// w₁ = -w₀ = v/2, so that it is the machine of one class against the other with half the
	// penalty: ½‖w₀‖² + ½‖w₁‖² = ¼‖v‖².
	cfg.Set("multiclass", "ovr")
	cfg.Set("c", 1)
	cfg.Set("loss", "hinge")
	one, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, nil, 1, names), cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := matrix.NewDense(500, 1), matrix.NewDense(500, 1)
	if err := both.Scores(a, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	if err := one.Scores(b, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	for i, v := range a.Data {
		if math.Abs(float64(v-b.Data[i])) > 0.02 {
			t.Fatalf("row %d: %g of both classes at once, %g of one against the other", i, v, b.Data[i])
		}
	}
}

func TestDualLearnersRefuseOptions(t *testing.T) {
	for want, cfg := range map[string]Config{
		"multiclass":       {Learner: SVM{Multiclass: "all"}},
		"own loss":         {Learner: SVM{Multiclass: "crammer-singer", Loss: "squared_hinge"}},
		"no option multi":  {Learner: Named{Name: "ridge", Options: map[string]any{"multiclass": "ovr"}}},
		"share of":         {Learner: OneClass{Outliers: 1.2}},
		"no option outl":   {Learner: Named{Name: "svm", Options: map[string]any{"outliers": 0.2}}},
		"does not detect":  {Learner: SVM{}, Task: "outliers"},
		"no probabilities": {Learner: OneClass{}, Calibrate: Calibration{Method: "platt"}},
		"cannot classify":  {Learner: SVR{}, Task: "classify"},
		"has no loss":      {Learner: SVR{Loss: "hinge"}},
		"not for epsilon":  {Learner: SVR{Loss: "epsilon", Solver: "primal"}},
		"has no solver":    {Learner: SVR{Solver: "newton"}},
		"no option c":      {Learner: Named{Name: "one-class", Options: map[string]any{"c": 1}}},
		"of its own":       {Learner: SVM{Multiclass: "crammer-singer"}, Task: "multilabel"},
	} {
		if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
}

// TestNewtonStepsNeedRoom: the steps that end a training on collinear columns are left out where --memory has no room
// for their system, and the report says so; with room and without a bound the model is the same.
func TestNewtonStepsNeedRoom(t *testing.T) {
	const n, d = 300, 40
	s := random.New(31, "collinear")
	x, y := matrix.NewDense(n, d), make([]float64, n)
	for i := range n {
		row, base := x.Row(i), s.Normal()
		for j := range row {
			e := s.Normal()
			row[j] = float32(base + 1e-3*e)
			y[i] += e
		}
	}
	src := source(t, matrix.Rows{Dense: x}, y, 1, nil)
	cfg := Config{Kernel: Kernel{Name: "linear"}, Scale: "none", Learner: SVR{Loss: "epsilon", C: 1e5}}
	var files [][]byte
	for _, memory := range []int64{0, 1 << 30, 100_000} {
		m, report, err := Fit(context.Background(), src, cfg, Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		r := m.Info().Training.Report.(*learn.SVRReport)
		if ended := memory != 100_000; r.Converged != ended || (r.Newton > 0) != ended ||
			strings.Contains(report.Features, "no room for Newton's steps (193 KiB)") == ended {
			t.Errorf("with %d bytes: %s; features are %s", memory, r.Text(), report.Features)
		}
		files = append(files, fileOf(t, m))
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("room for Newton's steps changes the model")
	}
}

// TestLabelsTakeNewtonStepsInTurn: the machines of labels are trained at the same time, the steps of one after those of
// another, to the same bits on any number of threads.
func TestLabelsTakeNewtonStepsInTurn(t *testing.T) {
	const n, d, k = 200, 10, 5
	s := random.New(33, "labels")
	x, y := matrix.NewDense(n, d), make([]float64, n*k)
	for i := range n {
		row, base := x.Row(i), s.Normal()
		for j := range row {
			row[j] = float32(base + 1e-3*s.Normal())
		}
		for l := range k {
			if 1e3*float64(row[l]-row[l+1])+s.Normal() > 0 {
				y[i*k+l] = 1
			}
		}
	}
	src := source(t, matrix.Rows{Dense: x}, y, k, nil)
	var first []byte
	for _, threads := range []int{1, 4} {
		before := runtime.GOMAXPROCS(threads)
		m, _, err := Fit(context.Background(), src,
			Config{Task: "multilabel", Kernel: Kernel{Name: "linear"}, Scale: "none", Learner: SVM{Loss: "hinge", C: 1e5}}, Options{})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if r := m.Info().Training.Report.(*learn.SVMReport); !r.Converged || r.Newton == 0 {
			t.Errorf("%d threads: %s", threads, r.Text())
		}
		if first == nil {
			first = fileOf(t, m)
		} else if !bytes.Equal(first, fileOf(t, m)) {
			t.Errorf("%d threads give another model", threads)
		}
	}
}
