package train

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// The learner lda of all rows is that of statistics to which rows were appended or merged, and a saved model is the same model.
func TestDiscriminantsFromStatistics(t *testing.T) {
	x, names := rings(5, 600, 3)
	all := matrix.Rows{Dense: x}
	part := func(lo, hi int) dataset.Source { return source(t, all.Slice(lo, hi), nil, 1, names[lo:hi]) }
	for _, cfg := range []Config{
		{Learner: LDA{}, Map: Map{Features: 48}},
		{Learner: LDA{Priors: "equal"}, Map: Map{Features: 48}, Shrinkage: Shrinkage{Value: 0.2}},
		{Learner: LDA{Priors: "a=0.2,b=0.3,c=0.5"}, Map: Map{Features: 48}, ClassWeight: "balanced"},
		{Learner: LDA{}, Map: Map{Features: 48}, Reduce: Reduction{Components: 20}},
		{Learner: LDA{}, Map: Map{Features: 48}, Reduce: Reduction{Method: "lda"}},
		{Learner: Ridge{Lambda: 1e-3}, Map: Map{Features: 48}, Reduce: Reduction{Method: "lda", Components: 2}},
	} {
		m, file := keeping(t, part(0, 600), cfg)
		more := cfg
		more.Map.Features, more.ClassWeight = 0, ""
		again := continued(t, nil, statisticsOf(t, file), more)
		sameScores(t, "again", m, again, all, 1e-4)
		two := continued(t, part(250, 600), func() *Statistics {
			var first bytes.Buffer
			if _, _, err := FitStatistics(context.Background(), part(0, 250), statisticsOf(t, file).Empty(), more,
				Options{Keep: func(s *Statistics) error { return s.file.Write(&first) }}); err != nil {
				t.Fatal(err)
			}
			return statisticsOf(t, first.Bytes())
		}(), more)
		sameScores(t, "appended", m, two, all, 1e-4)
		back, err := read(fileOf(t, m))
		if err != nil {
			t.Fatal(err)
		}
		sameScores(t, "saved", m, back, all, 0)
		if cfg.LearnerName() == "lda" {
			scores, p, q := matrix.NewDense(1, 3), make([]float64, 3), make([]float64, 3)
			if err := m.Scores(scores, all.Slice(0, 1)); err != nil {
				t.Fatal(err)
			}
			if err := back.Probabilities(p, scores.Row(0)); err != nil {
				t.Fatal(err)
			}
			learn.Probabilities(q, scores.Row(0), true)
			if p[0] != q[0] || p[2] != q[2] {
				t.Errorf("probabilities %v, want %v", p, q)
			}
		}
	}
}

// Two discriminants of 60 features tell three rings apart as well as the features do, whatever learner comes next, and one of two classes
// suffices.
func TestDiscriminantsKeepWhatTellsClassesApart(t *testing.T) {
	x, names := rings(5, 900, 3)
	fresh, labels := rings(6, 900, 3)
	for _, learner := range []string{"lda", "ridge", "svm", "logistic"} {
		m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 1, names),
			Config{Learner: Named{Name: learner}, Map: Map{Features: 60}, Reduce: Reduction{Method: "lda"}})
		if r := m.Info().Training.Reduction; r == nil || r.Components != 2 || !r.Discriminants() {
			t.Fatalf("%s: %+v", learner, r)
		}
		scores, wrong := matrix.NewDense(900, 3), 0
		if err := m.Scores(scores, matrix.Rows{Dense: fresh}); err != nil {
			t.Fatal(err)
		}
		for i := range 900 {
			if m.Classes()[m.Class(scores.Row(i))] != labels[i] {
				wrong++
			}
		}
		if wrong > 30 {
			t.Errorf("%s: %d of 900 fresh rows are wrong", learner, wrong)
		}
	}
	x, names = rings(5, 300, 2)
	m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 1, names),
		Config{Learner: Logistic{C: 1}, Map: Map{Features: 60}, Reduce: Reduction{Method: "lda"}})
	if r := m.Info().Training.Reduction; r.Components != 1 {
		t.Errorf("%d discriminants of two classes", r.Components)
	}
}

// noise are rows that say nothing of their class.
func noise(seed uint64, n, d int) (*matrix.Dense, []string) {
	s := random.New(seed, "lda-noise")
	x, names := matrix.NewDense(n, d), make([]string, n)
	for i := range x.Data {
		x.Data[i] = float32(s.Normal())
	}
	for i := range names {
		names[i] = []string{"no", "yes"}[int(2*s.Uniform())]
	}
	return x, names
}

// Probabilities of discriminants are fitted to scores of rows whose labels found neither weights nor discriminants: of pure noise in
// nearly as many columns as rows they say one half. With the discriminants of all rows they would be sure of most rows, and wrong of half.
func TestDiscriminantsAreFoundWithoutRowsThatCalibrate(t *testing.T) {
	const n = 300
	x, names := noise(1, n, 150)
	for _, learner := range []string{"svm", "ridge"} {
		m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 1, names),
			Config{Learner: Named{Name: learner, Options: map[string]any{"c": map[string]float64{"svm": 1}[learner]}}, Kernel: Kernel{Name: "linear"}, Scale: "none", Reduce: Reduction{Method: "lda"},
				Calibrate: Calibration{Method: "platt"}})
		fresh, labels := noise(2, n, 150)
		scores := matrix.NewDense(n, 1)
		if err := m.Scores(scores, matrix.Rows{Dense: fresh}); err != nil {
			t.Fatal(err)
		}
		loss, p := 0.0, make([]float64, 2)
		for i := range n {
			if err := m.Probabilities(p, scores.Row(i)); err != nil {
				t.Fatal(err)
			}
			k := 0
			if labels[i] == "yes" {
				k = 1
			}
			loss -= math.Log(max(p[k], 1e-9)) / n
		}
		if loss > math.Ln2+0.05 {
			t.Errorf("%s: log loss %.3f of noise, want about %.3f", learner, loss, math.Ln2)
		}
	}
	c := Config{Learner: Ridge{Lambda: 1}, Reduce: Reduction{Method: "lda"}}
	if LearnerOf("ridge").Shares(&c, "classify") {
		t.Error("trainings on folds share discriminants, which the labels of all rows find")
	}
}

func TestDiscriminantsRefuse(t *testing.T) {
	x, names := rings(5, 60, 2)
	classes := source(t, matrix.Rows{Dense: x}, nil, 1, names)
	y := make([]float64, 60)
	for i := range y {
		y[i] = float64(i) / 7
	}
	numbers := source(t, matrix.Rows{Dense: x}, y, 1, nil)
	for want, f := range map[string]struct {
		src dataset.Source
		cfg Config
	}{
		"cannot regress":          {numbers, Config{Learner: LDA{}, Task: "regress"}},
		"but the rows have none":  {numbers, Config{Learner: Ridge{}, Reduce: Reduction{Method: "lda"}}},
		"shrinkage 2":             {classes, Config{Learner: LDA{}, Shrinkage: Shrinkage{Value: 2}}},
		"no option shrinkage":     {classes, Config{Learner: SVM{}, Shrinkage: Shrinkage{Value: 0.1}}},
		"no option priors":        {classes, Config{Learner: Named{Name: "svm", Options: map[string]any{"priors": "equal"}}}},
		`there is no class "z"`:   {classes, Config{Learner: LDA{Priors: "a=0.5,z=0.5"}, Map: Map{Features: 8}}},
		`the class "b" has none`:  {classes, Config{Learner: LDA{Priors: "a=1"}, Map: Map{Features: 8}}},
		"add up to 1.5":           {classes, Config{Learner: LDA{Priors: "a=0.5,b=1"}}},
		"neither equal nor":       {classes, Config{Learner: LDA{Priors: "a,b"}}},
		"leave them out":          {classes, Config{Learner: SVM{}, Reduce: Reduction{Method: "lda", Whiten: true}}},
		`reduce "fisher"`:         {classes, Config{Learner: SVM{}, Reduce: Reduction{Method: "fisher"}}},
		"takes the kernel itself": {classes, Config{Learner: KernelSVM{}, Reduce: Reduction{Method: "lda"}}},
		"has no inverse":          {classes, Config{Learner: LDA{}, Map: Map{Features: 512}, Shrinkage: Shrinkage{Given: true}}},
		"no option lambda":        {classes, Config{Learner: Named{Name: "lda", Options: map[string]any{"lambda": 1}}}},
		"cannot multilabel":       {classes, Config{Learner: LDA{}, Task: "multilabel"}},
		"no principal components": {classes, Config{Learner: SGD{}, Reduce: Reduction{Method: "lda"}}},
	} {
		if _, _, err := Fit(context.Background(), f.src, f.cfg, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one that says %q", f.cfg, err, want)
		}
	}
	if _, _, err := FitPipeline(context.Background(), numbers, Config{Reduce: Reduction{Method: "lda"}, Map: Map{Features: 8}},
		Options{}); err == nil ||
		!strings.Contains(err.Error(), "the rows have none") {
		t.Errorf("a map with discriminants of numbers: %v", err)
	}
	p, _, err := FitPipeline(context.Background(), classes, Config{Reduce: Reduction{Method: "lda"}, Map: Map{Features: 8}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, out := p.Dims(); out != 1 {
		t.Errorf("a map with discriminants of two classes gives %d features", out)
	}
	if r := model.ReportOf[*learn.LDAReport](&fitted(t, classes, Config{Learner: LDA{}, Map: Map{Features: 8}}).Info().Training); r == nil || !r.Chosen {
		t.Errorf("%+v", r)
	}
}
