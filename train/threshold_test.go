package train

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/rfm"
	"mercer/matrix"
)

// rare are rows of two classes, the second of which is rare.
func rare(t *testing.T, rows int) (dataset.Source, *matrix.Dense, []string) {
	t.Helper()
	x, names, _, _ := drawn(21, rows, 6, 4)
	for i, name := range names {
		if names[i] = "no"; name == "class 3" {
			names[i] = "yes"
		}
	}
	return source(t, matrix.Rows{Dense: x}, nil, 0, names), x, names
}

// TestThresholdsAreChosenOnRowsThatWereNotSeen does it by hand.
func TestThresholdsAreChosenOnRowsThatWereNotSeen(t *testing.T) {
	ctx := context.Background()
	src, _, _ := rare(t, 700)
	cfg := Config{Learner: Ridge{Lambda: 1}, Scale: "none", Kernel: Kernel{Name: "linear"}, Seed: 4}
	var scores []float32
	var positive []bool
	for fold := range 5 {
		rest, held := dataset.Fold(src, 5, fold, 4)
		m, _, err := Fit(ctx, rest, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := dataset.Collect(ctx, held, 6)
		if err != nil {
			t.Fatal(err)
		}
		s := matrix.NewDense(all.X.Len(), 1)
		if err := m.Scores(s, all.X); err != nil {
			t.Fatal(err)
		}
		scores = append(scores, s.Data...)
		for i := range all.X.Len() {
			positive = append(positive, dataset.NewClasses([]string{"no", "yes"}).Of(all, i) == 1)
		}
	}
	for _, rule := range []string{"max-f1", "precision=0.6", "recall=0.95", "cost=fn:5,fp:1"} {
		r, err := learn.ParseThreshold(rule)
		if err != nil {
			t.Fatal(err)
		}
		want, err := r.Choose(scores, positive, nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Threshold = rule
		m, _, err := Fit(ctx, src, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := m.Info().Threshold
		if got == nil || got.Score != want.Score || got.F1 != want.F1 || got.Rows != 700 || got.Rule != rule || got.Probability != nil {
			t.Errorf("%s: %+v, by hand %+v", rule, got, want)
		}
	}
}

func TestThresholdsDecideAndAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	many, x, _ := rare(t, 1200)
	few, _, _ := rare(t, 700)
	for _, c := range []struct {
		cfg   Config
		proba string
	}{
		{Config{Learner: SVM{}, Map: Map{Features: 32}, Threshold: "max-f1"}, "temperature"}, // by the rows that chose C
		{Config{Learner: SVM{}, Map: Map{Features: 32}, Threshold: "score=-0.7"}, "temperature"},
		{Config{Learner: SVM{}, Map: Map{Features: 32}, Threshold: "0.2"}, "platt"},
		{Config{Learner: SVM{}, Map: Map{Features: 32}, Threshold: "0.2", Calibrate: Calibration{Method: "isotonic"}}, "isotonic"},
		{Config{Learner: SVM{}, Map: Map{Features: 32}, Threshold: "recall=0.9", Calibrate: Calibration{Method: "temperature"}}, "temperature"},
		{Config{Learner: Logistic{}, Map: Map{Features: 32}, Threshold: "0.2"}, "its own"},
		{Config{Learner: RFM{}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 60}, Threshold: "0.2"}, "held-out"},
		{Config{Learner: RFM{}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 60}, Threshold: "cost=fn:9,fp:1", ClassWeight: "balanced"}, ""},
		{Config{Learner: RFM{}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 60}, Threshold: "0.3", ClassWeight: "balanced"}, "platt"},
		{Config{Threshold: "0.2"}, "held-out"},
	} {
		src := many
		if c.cfg.LearnerName() == "rfm" {
			src = few
		}
		m, _, err := Fit(ctx, src, c.cfg, Options{})
		if err != nil {
			t.Fatalf("%+v: %v", c.cfg, err)
		}
		info := m.Info()
		if c.proba == "held-out" { // as the machines are made
			c.proba = rfm.Temperature(info.Training.Report.(*rfm.Report).Logistic)
		}
		if cal := info.Training.Calibration; cal == nil && c.proba != "" && c.proba != "its own" || cal != nil && cal.Method != c.proba {
			t.Errorf("%+v: calibrated by %+v", c.cfg, cal)
		}
		again, err := read(fileOf(t, m))
		if err != nil {
			t.Fatal(err)
		}
		scores, p, moved := matrix.NewDense(x.Rows, 1), make([]float64, 2), 0
		if err := again.Scores(scores, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		for i := range x.Rows {
			s := scores.Row(i)
			class := again.Class(s)
			if want := s[0] >= info.Threshold.Score; want != (class == 1) {
				t.Fatalf("%+v: score %g is class %d with the threshold %g", c.cfg, s[0], class, info.Threshold.Score)
			}
			if c.cfg.Threshold[0] == '0' {
				if err := again.Probabilities(p, s); err != nil {
					t.Fatal(err)
				}
				least := map[byte]float64{'2': 0.2, '3': 0.3}[c.cfg.Threshold[2]]
				if (p[1] >= least) != (class == 1) {
					t.Fatalf("%+v: probability %g is class %d", c.cfg, p[1], class)
				}
			}
			if class == 1 {
				moved++
			}
		}
		if moved == 0 || moved == x.Rows {
			t.Errorf("%+v: %d of %d rows are positive", c.cfg, moved, x.Rows)
		}
		none, err := again.WithThreshold("none")
		if err != nil || none.Info().Threshold != nil || again.Info().Threshold == nil {
			t.Errorf("%+v: %v", c.cfg, err)
		}
		other, err := again.WithThreshold("score=0.125")
		if err != nil || other.Info().Threshold.Score != 0.125 || again.Info().Threshold.Score != info.Threshold.Score {
			t.Errorf("%+v: %v", c.cfg, err)
		}
		if !strings.Contains(info.Threshold.String(), " on") {
			t.Error(info.Threshold)
		}
	}
}

func TestThresholdedModelsAreFunctionsOfTheirData(t *testing.T) {
	src, _, _ := rare(t, 400)
	cfg := Config{Learner: Ridge{}, Map: Map{Features: 32}, Threshold: "max-f1"}
	var files [][]byte
	for range 2 {
		m, _, err := Fit(context.Background(), src, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, fileOf(t, m))
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two trainings differ")
	}
	if !bytes.Contains(files[0], []byte(`"version":"3"`)) {
		t.Error("a file that older programs misread has their version")
	}
	m, err := read(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Continue(m); err == nil {
		t.Error("it is continued")
	}
}

func TestThresholdsThatCannotBe(t *testing.T) {
	ctx := context.Background()
	two, _, _ := rare(t, 300)
	part := streams(t, 11, 300)
	for _, c := range []struct {
		src  dataset.Source
		cfg  Config
		want string
	}{
		{two, Config{Threshold: "f2"}, "not known"},
		{two, Config{Threshold: "0.3", Calibrate: Calibration{Method: "none"}}, "calibrate=none leaves these out"},
		{two, Config{Threshold: "max-f1", Task: "regress"}, "the task regress does not have"},
		{two, Config{Threshold: "max-f1", Learner: SGD{SurveyRows: 50}}, "passes of its own"},
		{two, Config{Threshold: "0.3", Learner: SGD{Loss: "hinge", SurveyRows: 50}}, "passes of its own"},
		{two, Config{Threshold: "precision=1", Learner: Ridge{Lambda: 1e9}, Map: Map{Features: 2}}, "no threshold has a precision of 1"},
		{part["classify"](0, 300, false), Config{Threshold: "max-f1"}, "the model has 3 classes"},
		{part["regress"](0, 300, false), Config{Threshold: "max-f1"}, "the model predicts numbers"},
	} {
		if _, _, err := Fit(ctx, c.src, c.cfg, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	m, _, err := Fit(ctx, two, Config{Learner: SVM{C: 1}, Map: Map{Features: 16}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]string{"max-f1": "held-out rows of a training choose", "0.5": "no probabilities", "x": "not known"} {
		if _, err := m.WithThreshold(rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
