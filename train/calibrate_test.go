package train

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

func TestCalibrationDoesNotTouchTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for task, part := range streams(t, 11, 600) {
		if task == "regress" {
			continue
		}
		for _, learner := range []string{"ridge", "svm", "online"} {
			cfg := Config{Task: task, Learner: Named{Name: learner}, Map: Map{Features: 32}}
			switch learner {
			case "svm":
				cfg.Set("c", 1.0) // an svm that chooses C has probabilities
			case "online":
				cfg.Set("loss", "hinge")
			}
			plain, _, err := Fit(context.Background(), part(0, 600, false), cfg, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if plain.HasProbabilities() || plain.NoProbabilities() == nil || !strings.Contains(plain.NoProbabilities().Error(), "calibrate=platt") {
				t.Errorf("%s without calibration: %v", learner, plain.NoProbabilities())
			}
			p, err := plain.Predict(make([]float32, 6))
			if err != nil || p[0].Probabilities != nil {
				t.Errorf("%+v, %v", p, err)
			}
			for _, method := range learn.CalibrationMethods() {
				cfg.Calibrate.Method = method
				m, _, err := Fit(context.Background(), part(0, 600, false), cfg, Options{})
				if err != nil {
					t.Fatal(err)
				}
				for name, want := range plain.Predictor().Tensors() {
					got := m.Predictor().Tensors()[name]
					if !slices.Equal(got.F32, want.F32) || !slices.Equal(got.F64, want.F64) {
						t.Errorf("%s, %s: calibration has changed %s", learner, method, name)
					}
				}
				info := m.Info().Training.Calibration
				if info.Folds != 5 || info.Used != 5 || info.Rows != 600 || info.Method != method || !strings.HasPrefix(info.String(), method) {
					t.Errorf("%+v", info)
				}
				again, err := read(fileOf(t, m))
				if err != nil {
					t.Fatal(err)
				}
				x := []float32{0.3, -1, 2, 0, 1, -0.5}
				a, err := m.Predict(x)
				if err != nil {
					t.Fatal(err)
				}
				b, err := again.Predict(x)
				if err != nil {
					t.Fatal(err)
				}
				sum := 0.0
				for _, p := range a[0].Probabilities {
					sum += p
					if !(p >= 0 && p <= 1) {
						t.Errorf("%s, %s: probabilities %v", learner, method, a[0].Probabilities)
					}
				}
				if !slices.Equal(a[0].Probabilities, b[0].Probabilities) || len(a[0].Probabilities) != 3 ||
					task == "classify" && math.Abs(sum-1) > 1e-12 {
					t.Errorf("%s, %s: probabilities %v, from the file %v", learner, method, a[0].Probabilities, b[0].Probabilities)
				}
				if _, err := Continue(m); err == nil {
					t.Error("a calibrated model is continued")
				}
			}
		}
	}
}

// TestCalibrationIsFittedToFoldsThatWereNotSeen does it by hand.
// A support vector machine that chooses C has probabilities without a flag, by the scores of the rows that it chose by: they change
// neither machine nor predicted classes, and are as good on new rows as those of five more trainings.
func TestMachineThatChoosesCHasProbabilities(t *testing.T) {
	for task, part := range streams(t, 11, 2400) {
		if task != "classify" {
			continue
		}
		for _, c := range []Config{
			{Learner: SVM{}},
			{Learner: SVM{Loss: "hinge"}},
			{Learner: SVM{Multiclass: "crammer-singer"}},
		} {
			c.Task, c.Map = task, Map{Features: 32}
			fitted := func(method string) *model.Model {
				c.Calibrate.Method = method
				m, _, err := Fit(context.Background(), part(0, 1600, false), c, Options{})
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			m, plain, folds := fitted(""), fitted("none"), fitted("temperature")
			info := m.Info().Training.Calibration
			if info == nil || info.Method != "temperature" || info.Rows != 533 || info.Folds != 0 || plain.HasProbabilities() {
				t.Fatalf("%+v: %+v", c.Learner, info)
			}
			free, cost := 0.0, 0.0
			x, names, _, _ := drawn(11, 2400, 6, 3)
			for i := 1600; i < 2400; i++ {
				p, _ := m.Predict(x.Row(i))
				q, _ := plain.Predict(x.Row(i))
				r, _ := folds.Predict(x.Row(i))
				if p[0].Label != q[0].Label || !slices.Equal(p[0].Scores, q[0].Scores) {
					t.Fatalf("%+v and %+v", p[0], q[0])
				}
				class := slices.Index(m.Info().Classes, names[i])
				free += learn.LogLoss(p[0].Probabilities[class])
				cost += learn.LogLoss(r[0].Probabilities[class])
			}
			if free > 1.03*cost {
				t.Errorf("%+v: log loss %.4f, by folds %.4f", c.Learner, free/800, cost/800)
			}
		}
	}
}

func TestCalibrationIsFittedToFoldsThatWereNotSeen(t *testing.T) {
	ctx := context.Background()
	src := streams(t, 12, 500)["classify"](0, 500, false)
	cfg := Config{Learner: Ridge{Lambda: 3}, Kernel: Kernel{Name: "linear"}, Scale: "none", Seed: 4}
	var scores []float32
	var y []float64
	classes := dataset.NewClasses([]string{"class 0", "class 1", "class 2"})
	for fold := range 4 {
		rest, held := dataset.Fold(src, 4, fold, 4)
		m, _, err := Fit(ctx, rest, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := dataset.Collect(ctx, held, 6)
		if err != nil {
			t.Fatal(err)
		}
		s := matrix.NewDense(all.X.Len(), 3)
		if err := m.Scores(s, all.X); err != nil {
			t.Fatal(err)
		}
		scores = append(scores, s.Data...)
		for i := range all.X.Len() {
			target := make([]float64, 3)
			learn.Target(target, classes.Of(all, i))
			y = append(y, target...)
		}
	}
	if len(y) != 3*500 {
		t.Fatalf("the folds have %d rows", len(y)/3)
	}
	want, err := learn.FitCalibration("platt", false, scores, y, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Calibrate.Method, cfg.Calibrate.Folds = "platt", 4
	m, _, err := Fit(ctx, src, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := m.Calibration()
	if !slices.Equal(got.A, want.A) || !slices.Equal(got.B, want.B) {
		t.Errorf("A = %v, B = %v; by hand %v, %v", got.A, got.B, want.A, want.B)
	}
}

// TestProbabilitiesAreThoseOfTheData: with and without class weights the mean probability is the
// share of the class, for that is what a stationary B means, up to Platt's prior.
func TestProbabilitiesAreThoseOfTheData(t *testing.T) {
	x, names, _, _ := drawn(16, 1500, 6, 4)
	share := 0.0
	for i, name := range names {
		names[i] = "no"
		if name == "class 3" {
			names[i] = "yes"
			share += 1.0 / 1500
		}
	}
	for _, weights := range []string{"", "balanced", "yes=20"} {
		m, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, nil, 0, names),
			Config{Learner: Ridge{Lambda: 1}, Map: Map{Features: 64}, ClassWeight: weights, Calibrate: Calibration{Method: "platt"}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		rows := make([][]float32, 1500)
		for i := range rows {
			rows[i] = x.Row(i)
		}
		p, err := m.Predict(rows...)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range p {
			mean += one.Probabilities[1] / 1500
		}
		if math.Abs(mean-share) > 0.02 {
			t.Errorf("class weights %q: mean probability %.3f of a class of %.3f of the rows", weights, mean, share)
		}
	}
}

func TestClassesThatAreMissingInAFoldAreCalibrated(t *testing.T) {
	x, names, _, _ := drawn(13, 60, 6, 3)
	for i := range names {
		if names[i] == "class 2" && i > 2 {
			names[i] = "class 1" // one row of class 2 is left, which one fold has
		}
	}
	for _, learner := range []string{"ridge", "svm", "online"} {
		for _, method := range learn.CalibrationMethods() {
			m, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, nil, 0, names),
				Config{Learner: Named{Name: learner}, Map: Map{Features: 16}, Calibrate: Calibration{Method: method}}, Options{})
			if err != nil {
				t.Errorf("%s, %s: %v", learner, method, err)
				continue
			}
			if _, err := read(fileOf(t, m)); err != nil {
				t.Errorf("%s, %s: %v", learner, method, err)
			}
		}
	}
	if _, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x.Slice(0, 8)}, nil, 0, names[:8]),
		Config{Learner: Ridge{}, Map: Map{Features: 16}, Calibrate: Calibration{Method: "platt"}}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "too few to calibrate") {
		t.Errorf("8 rows: %v", err)
	}
}

func TestLogisticModelsHaveProbabilitiesOfTheirOwn(t *testing.T) {
	for task, part := range streams(t, 14, 2000) {
		if task == "regress" {
			continue
		}
		m, _, err := Fit(context.Background(), part(0, 2000, false),
			Config{Task: task, Learner: SGD{Epochs: 5}, Kernel: Kernel{Name: "linear"}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !m.HasProbabilities() {
			t.Fatal("a logistic model has no probabilities")
		}
		p := make([]float64, 3)
		if err := m.Probabilities(p, []float32{0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		if want := map[string]float64{"classify": 1.0 / 3, "multilabel": 0.5}[task]; p[0] != want || p[2] != want {
			t.Errorf("%s: %v", task, p)
		}
		if _, err := read(put(t, fileOf(t, m), "golden.proba", 0, 0.987)); err == nil || !strings.Contains(err.Error(), "probability") {
			t.Errorf("altered: %v", err)
		}
	}
}

func TestDamagedCalibrationsAreRefused(t *testing.T) {
	part := streams(t, 15, 300)["classify"]
	for method, names := range map[string][]string{
		"platt":    {"calibration.a", "calibration.b", "golden.proba"},
		"isotonic": {"calibration.knots.0", "calibration.rise.2"},
	} {
		m, _, err := Fit(context.Background(), part(0, 300, false),
			Config{Learner: Ridge{}, Map: Map{Features: 16}, Calibrate: Calibration{Method: method}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		data := fileOf(t, m)
		for _, name := range names {
			for _, v := range []float64{math.NaN(), 77} {
				if _, err := read(put(t, data, name, 0, v)); err == nil {
					t.Errorf("%s: %s begins with %g, and the file loads", method, name, v)
				}
			}
			_, err := read(rewritten(t, data, func(header map[string]any) {
				header["other"] = header[name]
				delete(header, name)
			}))
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: without %s: %v", method, name, err)
			}
		}
		if _, err := read(sealed(bytes.Replace(data, []byte(`\"method\":\"`+method),
			[]byte(`\"method\":\"`+strings.ToUpper(method)), 1))); err == nil {
			t.Errorf("%s: an unknown method is read", method)
		}
	}
}

// TestLabelsAgreeWithProbabilities: a calibrated model tells the class of the largest probability, or the labels
// above ½, in every way that it can be asked, and its metrics are those of what it tells.
func TestLabelsAgreeWithProbabilities(t *testing.T) {
	two := func(from, to int, _ bool) dataset.Source {
		s := random.New(21, "uneven")
		x, names := matrix.NewDense(to, 3), make([]string, to)
		for i := range names {
			for j := range x.Row(i) {
				x.Row(i)[j] = float32(s.Normal())
			}
			names[i] = "no"
			if float64(x.Row(i)[0])+1.5*s.Normal() > 1 {
				names[i] = "yes"
			}
		}
		return source(t, matrix.Rows{Dense: x.Slice(from, to)}, nil, 0, names[from:])
	}
	parts := streams(t, 12, 900)
	for _, c := range []struct {
		task, learner, method string
		part                  func(from, to int, csr bool) dataset.Source
		weights               string
	}{
		{"classify", "svm", "platt", two, "yes=3"},
		{"classify", "ridge", "isotonic", two, "yes=3"},
		{"classify", "ridge", "platt", parts["classify"], ""},
		{"multilabel", "ridge", "platt", parts["multilabel"], ""},
	} {
		cfg := Config{Task: c.task, Learner: Named{Name: c.learner}, Calibrate: Calibration{Method: c.method}, ClassWeight: c.weights,
			Map: Map{Features: 16}}
		m, _, err := Fit(context.Background(), c.part(0, 600, false), cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		test := c.part(600, 900, false)
		moved, rows := 0, 0
		err = m.PredictSource(context.Background(), test, func(p model.Prediction) error {
			rows++
			if c.task == "multilabel" {
				var want []string
				for t, v := range p.Probabilities {
					if v > 0.5 {
						want = append(want, m.Labels()[t])
					}
					if v > 0.5 != (p.Scores[t] > 0) {
						moved++
					}
				}
				if !slices.Equal(p.Labels, want) {
					t.Fatalf("%+v: labels %q of the probabilities %v", cfg, p.Labels, p.Probabilities)
				}
				return nil
			}
			at := slices.Index(m.Classes(), p.Label)
			if p.Probabilities[at] != slices.Max(p.Probabilities) {
				t.Fatalf("%+v: %q of the probabilities %v, scores %v", cfg, p.Label, p.Probabilities, p.Scores)
			}
			if got := string(m.AppendPrediction(nil, p.Scores)); got != p.Label {
				t.Fatalf("%+v: written %q, told %q", cfg, got, p.Label)
			}
			if at != learn.Predicted(p.Scores) {
				moved++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if rows != 300 || moved == 0 {
			t.Errorf("%+v: in %d rows nothing is told that the scores would not say: the test shows nothing", cfg, rows)
		}
	}
}

// Every learner of scores has probabilities where they are wanted: from half of the rows, without another machine or another predicted class,
// and about as good as those of five more trainings.
func TestEveryClassifierHasProbabilities(t *testing.T) {
	parts := streams(t, 17, 1300)
	x, names, _, _ := drawn(17, 1300, 6, 3)
	for _, c := range []Config{
		{Learner: SVM{C: 1}}, {Learner: Ridge{}}, {Learner: Ridge{Lambda: 3}}, {Learner: Lasso{}}, {Learner: ElasticNet{Lambda: 0.02}},
		{Learner: KernelRidge{Lambda: 1}}, {Learner: Falkon{}}, {Learner: KernelSVM{}}, {Learner: KernelSVM{Multiclass: "ovr"}},
	} {
		for _, rows := range testenv.Few(t, []int{80, 1000}, 1, "probabilities by one half") {
			c := c
			c.Task, c.Seed = "classify", 1
			if !LearnerOf(c.Learner.learner()).exact {
				c.Map.Features = 32
			}
			fitted := func(method string, wanted bool) *model.Model {
				c.Calibrate.Method = method
				m, _, err := Fit(context.Background(), parts["classify"](0, rows, false), c, Options{Probabilities: wanted})
				if err != nil {
					t.Fatalf("%+v: %v", c, err)
				}
				return m
			}
			m, plain, folds := fitted("", true), fitted("", false), fitted("temperature", false)
			info := m.Info().Training.Calibration
			used := 1
			if rows < fewHalved {
				used = 2
			}
			if info == nil || info.Folds != 2 || info.Used != used || plain.HasProbabilities() {
				t.Errorf("%s, %d rows: %+v", c.Learner.learner(), rows, info)
				continue
			}
			free, cost, none := 0.0, 0.0, 0.0
			for i := 1000; i < 1300; i++ {
				p, _ := m.Predict(x.Row(i))
				q, _ := plain.Predict(x.Row(i))
				r, _ := folds.Predict(x.Row(i))
				if p[0].Label != q[0].Label || !slices.Equal(p[0].Scores, q[0].Scores) {
					t.Fatalf("%+v and %+v", p[0], q[0])
				}
				class := slices.Index(m.Info().Classes, names[i])
				free += learn.LogLoss(p[0].Probabilities[class])
				cost += learn.LogLoss(r[0].Probabilities[class])
				none += math.Log(3)
			}
			t.Logf("%s, %d rows: log loss %.4f, by folds %.4f, of equal ones %.4f", c.Learner.learner(), rows, free/300, cost/300, none/300)
			if most := map[int]float64{1: 1.1, 2: 1.2}[used]; free > most*cost || free > none {
				t.Errorf("%s, %d rows: log loss %.4f, by folds %.4f", c.Learner.learner(), rows, free/300, cost/300)
			}
		}
	}
	for _, c := range []struct {
		cfg  Config
		what string
	}{
		{Config{Learner: SVM{C: 1}, Calibrate: Calibration{Method: "none"}}, "none"},
		{Config{Learner: Ridge{}, ClassWeight: "balanced"}, "class weights"},
		{Config{Learner: SGD{Loss: "hinge"}}, "online"},
	} {
		c.cfg.Task, c.cfg.Map.Features = "classify", 16
		m, _, err := Fit(context.Background(), parts["classify"](0, 300, false), c.cfg, Options{Probabilities: true})
		if err != nil || m.HasProbabilities() {
			t.Errorf("%s: %v, or there are probabilities", c.what, err)
		}
	}
}
