package train

import (
	"slices"
	"testing"
)

// A row of the table says what it can keep to: a setting is an option of the learner, and trainings share
// either statistics or features.
func TestRowsOfLearnersAreWhole(t *testing.T) {
	for _, l := range learners() {
		s := l.sharing
		if s.setting != "" && !l.has(s.setting) {
			t.Errorf("%s: searches over %s, which it does not have", l.name, s.setting)
		}
		if s.setting != "" {
			if off, value := l.OffPath(Config{Learner: Named{Options: map[string]any{"lambda": 2, "lambda_by": "trace", "c": 2}}}); value != 2 || off.Get("lambda").(float64) != 0 && off.Get("c").(float64) != 0 {
				t.Errorf("%s: the path has the value %g and leaves %+v", l.name, value, off)
			}
		}
		ways := 0
		if s.parts != nil {
			ways++
		}
		if s.path != nil {
			ways++
		}
		if s.able != nil && (ways != 1 || s.setting == "") || s.able == nil && ways != 0 {
			t.Errorf("%s: shares in %d ways, over the setting %q", l.name, ways, s.setting)
		}
		if l.keeps != nil && !l.exact {
			t.Errorf("%s: keeps rows and takes a map", l.name)
		}
	}
}

func TestSharingKeepsToPlainTrainings(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		task string
		want bool
	}{
		{Config{Learner: Ridge{Lambda: 1}}, "regress", true},
		{Config{Learner: Ridge{}}, "regress", false}, // it chooses λ itself
		{Config{Learner: Ridge{Lambda: 1, Variance: true}}, "regress", false},
		{Config{Learner: SVM{C: 1}}, "classify", true},
		{Config{Learner: SVM{C: 1}, Calibrate: Calibration{Method: "platt"}}, "classify", false},
		{Config{Learner: SVM{C: 1}, Calibrate: Calibration{Method: "none"}}, "classify", true},
		{Config{Learner: SVM{C: 1}}, "multilabel", false},
		{Config{Learner: SVM{C: 1, Penalty: "l1"}}, "classify", false},
		{Config{Learner: SVR{C: 1}}, "regress", true},
		{Config{Learner: SVR{C: 1, Solver: "primal"}}, "regress", false},
		{Config{Learner: Logistic{C: 1}}, "classify", true},
		{Config{Learner: Logistic{C: 1, Solver: "dual"}}, "classify", false},
		{Config{Learner: KernelSVM{C: 1}}, "classify", false},
		{Config{Learner: Named{Name: "auto", Options: map[string]any{"c": 1}}}, "classify", false},
	} {
		if got := LearnerOf(c.cfg.LearnerName()).Shares(&c.cfg, c.task); got != c.want {
			t.Errorf("%+v to %s: shares is %v", c.cfg, c.task, got)
		}
	}
}

func TestTriedLearnersAreForTheData(t *testing.T) {
	base := Config{Kernel: Kernel{Name: "rbf"}}
	for _, c := range []struct {
		data   Data
		first  string
		others []string
	}{
		{Data{Task: "classify", Rows: 500, Classes: 3}, "svm", []string{"ridge", "logistic", "kernel-svm 1", "kernel-svm 10", "kernel-svm 100"}},
		{Data{Task: "classify", Rows: 50_000, Classes: 3}, "svm", []string{"ridge", "logistic"}},
		{Data{Task: "classify", Rows: 500, Classes: 51}, "ridge", nil},
		{Data{Task: "regress", Rows: 3000, Classes: 0}, "ridge", []string{"kernel-ridge"}},
		{Data{Task: "regress", Rows: 3001, Classes: 0}, "ridge", nil},
		{Data{Task: "multilabel", Rows: 500, Classes: 0}, "svm", []string{"ridge"}},
	} {
		if got := c.data.First().Name(); got != c.first {
			t.Errorf("%+v: first %s, want %s", c.data, got, c.first)
		}
		mapped, exact := c.data.Variants(base)
		var got []string
		for _, v := range append(mapped, exact...) {
			name := v.LearnerName()
			switch v.Get("c").(float64) {
			case 1:
				name += " 1"
			case 10:
				name += " 10"
			case 100:
				name += " 100"
			}
			got = append(got, name)
			v.Task = c.data.Task
			if err := v.Check(); err != nil {
				t.Errorf("%+v: %v", c.data, err)
			}
		}
		if !slices.Equal(got, c.others) {
			t.Errorf("%+v: others %v, want %v", c.data, got, c.others)
		}
	}
	if mapped, exact := (Data{Task: "regress", Rows: 10, Classes: 0}).Variants(Config{Kernel: Kernel{Name: "poly"}}); mapped != nil || exact != nil {
		t.Errorf("with another kernel: %v, %v", mapped, exact)
	}
}

// The word auto names no learner, which has nothing and shares nothing.
func TestNoLearnerHasNothing(t *testing.T) {
	var none *Traits
	has, common := none.Has("lambda")
	likely, _ := none.Likely(&Config{})
	if LearnerOf("auto") != nil || none.Name() != "" || none.Exact() || has || common || likely || none.SharesStatistics() ||
		none.Setting() != "" || none.SizeOn(&Config{Map: Map{Features: 7}}, 100) != 7 {
		t.Error("it has something")
	}
	if has, common := none.Has("features"); !has || !common {
		t.Error("features are for all")
	}
}
