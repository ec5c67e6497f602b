package train

import (
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// Every way to train linear classifiers is there, by every solver, and they agree where they
// minimise the same.
func TestSolversOfLinearClassifiersAgree(t *testing.T) {
	src := threeClasses(t, 400, 6)
	weights := func(cfg Config) []float32 {
		cfg.Kernel.Name = "linear"
		cfg.Set("c", 0.5)
		cfg.Set("tolerance", 1e-4)
		m := fitted(t, src, cfg)
		if l, ok := m.Predictor().(model.Logistic); ok {
			return l.W.Data
		}
		return m.Predictor().(model.Linear).W.Data
	}
	for _, c := range []struct{ a, b Config }{
		{Config{Learner: SVM{}}, Config{Learner: SVM{Solver: "primal"}}},
		{Config{Learner: Logistic{Multiclass: "ovr"}}, Config{Learner: Logistic{Solver: "dual"}}},
	} {
		a, b := weights(c.a), weights(c.b)
		for i, v := range a {
			if d := v - b[i]; d > 2e-3 || d < -2e-3 {
				t.Errorf("%s, %s: weight %d is %g, in the other solver %g", c.a.LearnerName(), c.b.Get("solver").(string), i, v, b[i])
			}
		}
	}
	// Both losses leave weights at 0 under an L1 penalty.
	for _, learner := range []string{"svm", "logistic"} {
		m := fitted(t, src, Config{Kernel: Kernel{Name: "linear"}, Learner: Named{Name: learner,
			Options: map[string]any{"penalty": "l1", "c": 0.01}}})
		if r := model.ReportOf[*learn.L1Report](&m.Info().Training); r == nil || r.NonZero == r.Weights || r.NonZero == 0 {
			t.Errorf("%s with an L1 penalty: %+v", learner, r)
		}
		if (learner == "logistic") != m.HasProbabilities() {
			t.Errorf("%s has probabilities: %v", learner, m.HasProbabilities())
		}
	}
	if m := fitted(t, src, Config{Kernel: Kernel{Name: "linear"}, Learner: Logistic{Solver: "dual", C: 1}}); !m.HasProbabilities() {
		t.Error("logistic by its dual has no probabilities")
	}
}

// threeClasses are rows around three centres.
func threeClasses(t *testing.T, n, d int) dataset.Source {
	r := random.New(1, "three classes")
	x, y := matrix.NewDense(n, d), make([]float64, n)
	for i := range y {
		y[i] = float64(i % 3)
		for j := range d {
			x.Row(i)[j] = float32(r.Normal())
		}
		x.Row(i)[i%3] += 1.5
	}
	return source(t, matrix.Rows{Dense: x}, y, 1, nil)
}

func TestWaysThatDoNotGoTogether(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Learner: SVM{Penalty: "l3"}}, `the learner svm has no penalty "l3"; it has l2, l1`},
		{Config{Learner: SVM{Solver: "newton"}}, `no solver "newton"; it has auto, dual, primal`},
		{Config{Learner: SVM{Penalty: "l1", Solver: "dual"}}, "leave out solver dual"},
		{Config{Learner: SVM{Penalty: "l1", Loss: "hinge"}}, "for the loss squared_hinge, not for hinge"},
		{Config{Learner: SVM{Solver: "primal", Multiclass: "crammer-singer"}}, "hinge"},
		{Config{Learner: SVM{Multiclass: "crammer-singer", Loss: "squared_hinge"}}, "has its own loss, hinge"},
		{Config{Learner: Logistic{Solver: "dual", Multiclass: "multinomial"}}, "leave out multiclass multinomial, or solver dual"},
		{Config{Learner: Logistic{Solver: "dual", Penalty: "l1"}}, "leave out solver dual"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"penalty": "l1"}}}, "the learner ridge has no option penalty"},
		{Config{Learner: SVM{}, Task: "outliers"}, "the learner svm does not detect outliers; use one-class or kernel-svm"},
	} {
		if err := c.cfg.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	if err := (Config{Learner: Named{Options: map[string]any{"penalty": "l1"}}}).Check(); err != nil {
		t.Errorf("an L1 penalty with the learner by the data: %v", err)
	}
}

// What is wrong with options is found also where only the data tell the task.
func TestOptionsThatTheTaskForbids(t *testing.T) {
	x := matrix.NewDense(6, 2)
	for i := range x.Data {
		x.Data[i] = float32(i * i % 7)
	}
	labels := source(t, matrix.Rows{Dense: x}, []float64{1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 1}, 2, nil)
	numbers := source(t, matrix.Rows{Dense: x}, []float64{1.5, 2, 3, 4.25, 5, 6}, 1, nil)
	for _, c := range []struct {
		src  dataset.Source
		cfg  Config
		want string
	}{
		{labels, Config{Task: "multilabel", Learner: SVM{Solver: "primal"}, Kernel: Kernel{Name: "linear"}}, "labels of any number"},
		{labels, Config{Task: "multilabel", Kernel: Kernel{Name: "linear"},
			Learner: Named{Options: map[string]any{"multiclass": "crammer-singer"}}}, "several labels a row"},
		{numbers, Config{Learner: KernelSVM{Multiclass: "ovr"}}, "multiclass is for classes"},
	} {
		if _, _, err := Fit(t.Context(), c.src, c.cfg, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Learner: KernelSVM{}, Map: Map{Options: feature.Options{Rank: 10}}}, "leave out the options of maps"},
		{Config{Kernel: Kernel{Name: "linear"}, Map: Map{Options: feature.Options{Terms: 3}}}, "leave out the options of maps"},
		{Config{Learner: KernelSVM{C: 3}, Task: "outliers"}, "leave out c, epsilon and multiclass"},
		{Config{Learner: KernelSVM{Epsilon: 0.5}, Task: "classify"}, "epsilon is for numbers"},
	} {
		if err := c.cfg.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

// Calibration trains without a fold with what was chosen on all rows, and chooses nothing again.
func TestCalibrationOfEveryKindOfLearner(t *testing.T) {
	src := threeClasses(t, 300, 6)
	for _, cfg := range []Config{
		{Kernel: Kernel{Name: "linear"}, Learner: SVM{}},
		{Kernel: Kernel{Name: "linear"}, Learner: SVM{Solver: "primal"}},
		{Kernel: Kernel{Name: "linear"}, Learner: SVM{Penalty: "l1"}},
		{Learner: KernelRidge{}},
		{Learner: Falkon{}, Map: Map{Features: 40}},
	} {
		f, solved := beforeFold(t, src, cfg)
		_, other, err := f.without(solved.report, src, 300)
		if err != nil {
			t.Fatal(err)
		}
		// Of the same rows, the learner without a search is that with one.
		a, b := strings.Join(solved.report.Lines(), "\n"), strings.Join(other.report.Lines(), "\n")
		if !strings.Contains(a, "best of") || strings.Contains(b, "best of") {
			t.Errorf("%+v: chosen as\n%s\nand without a fold as\n%s", cfg, a, b)
		}
		cfg.Calibrate.Method = "platt"
		if m := fitted(t, src, cfg); !m.HasProbabilities() {
			t.Errorf("%+v: no probabilities", cfg)
		}
	}
}
