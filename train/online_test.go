package train

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// labelled draws rows around the centre of their class, with names of classes, numbers and sets
// of labels that follow from them; some values are 0.
func drawn(seed uint64, n, d, classes int) (x *matrix.Dense, names []string, numbers, sets []float64) {
	s := random.New(seed, "drawn")
	x = matrix.NewDense(n, d)
	for i := range n {
		c := s.Intn(classes)
		if i < classes {
			c = i
		}
		row := x.Row(i)
		for j := range row {
			if s.Intn(3) > 0 {
				row[j] = float32(s.Normal())
			}
			if j%classes == c {
				row[j] += 1
			}
		}
		names = append(names, fmt.Sprintf("class %d", c))
		numbers = append(numbers, 100+20*float64(row[0])-7*float64(row[1])+3*s.Normal())
		for t := range 3 {
			has := 0.0
			if float64(row[t])+0.5*s.Normal() > 0.6 {
				has = 1
			}
			sets = append(sets, has)
		}
	}
	return x, names, numbers, sets
}

// streams are the same rows as classes, numbers and labels, the first n of them.
func streams(t *testing.T, seed uint64, all int) map[string]func(from, to int, csr bool) dataset.Source {
	x, names, numbers, sets := drawn(seed, all, 6, 3)
	rows := func(from, to int, csr bool) matrix.Rows {
		if csr {
			return matrix.Rows{CSR: sparse(x.Slice(from, to))}
		}
		return matrix.Rows{Dense: x.Slice(from, to)}
	}
	return map[string]func(from, to int, csr bool) dataset.Source{
		"classify": func(i, j int, csr bool) dataset.Source { return source(t, rows(i, j, csr), nil, 0, names[i:j]) },
		"regress": func(i, j int, csr bool) dataset.Source {
			return source(t, rows(i, j, csr), numbers[i:j], 1, nil)
		},
		"multilabel": func(i, j int, csr bool) dataset.Source {
			return source(t, rows(i, j, csr), sets[3*i:3*j], 3, nil)
		},
	}
}

// TestContinuedTrainingIsOneTraining compares whole files: a training that ended, was saved, loaded and
// continued, and one that read all rows and began with a look at as many.
func TestContinuedTrainingIsOneTraining(t *testing.T) {
	ctx := context.Background()
	firsts := []int{700, 1024, 1500}
	if testing.Short() {
		firsts = firsts[:1]
	}
	for task, part := range streams(t, 1, 2700) {
		for _, cfg := range []Config{
			{Kernel: Kernel{Name: "linear"}, Scale: "standard"},
			{Map: Map{Features: 64}, Learner: Named{Options: map[string]any{"optimizer": "adagrad", "epsilon": 0}}},
			{Map: Map{Features: 32}, Learner: Named{Options: map[string]any{"average_from": 300,
				"loss": map[string]string{"classify": "hinge", "regress": "quantile",
					"multilabel": "squared_hinge"}[task]}}},
		} {
			for _, first := range firsts {
				csr := first == 700
				cfg.Task = task
				cfg.SetLearner("online")
				cfg.Set("survey_rows", first)
				if task == "classify" {
					cfg.ClassWeight = "class 1=2.5"
				}
				whole, _, err := Fit(ctx, part(0, 2700, csr), cfg, Options{})
				if err != nil {
					t.Fatal(err)
				}
				m, _, err := Fit(ctx, part(0, first, csr), cfg, Options{})
				if err != nil {
					t.Fatal(err)
				}
				before := fileOf(t, m)
				for _, cut := range []int{first + 1, 2300, 2700} {
					if m, err = read(fileOf(t, m)); err != nil {
						t.Fatal(err)
					}
					o, err := Continue(m)
					if err != nil {
						t.Fatal(err)
					}
					old := fileOf(t, m)
					if err := o.PartialFitSource(ctx, &batched{part(first, cut, csr), 97}, nil); err != nil {
						t.Fatal(err)
					}
					next, err := o.Model()
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(old, fileOf(t, m)) {
						t.Error("a model has changed by being continued")
					}
					m, first = next, cut
				}
				if !bytes.Equal(fileOf(t, whole), fileOf(t, m)) {
					t.Errorf("%s, %+v: continued training gives another file than one training", task, cfg)
				}
				if bytes.Equal(before, fileOf(t, m)) || m.Info().Training.Rows != 2700 {
					t.Errorf("%d rows learned", m.Info().Training.Rows)
				}
			}
		}
	}
}

func TestOnlineDoesNotDependOnBatchesOrThreads(t *testing.T) {
	for task, part := range streams(t, 2, 1700) {
		cfg := Config{Task: task, Learner: SGD{Epochs: 2}, Map: Map{Features: 64}}
		var first []byte
		for _, threads := range []int{1, 2} {
			for _, size := range []int{5000, 33} {
				old := runtime.GOMAXPROCS(threads)
				m, _, err := Fit(context.Background(), &batched{part(0, 1700, false), size}, cfg, Options{})
				runtime.GOMAXPROCS(old)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = fileOf(t, m)
				}
				if !bytes.Equal(first, fileOf(t, m)) {
					t.Errorf("%s: %d threads and batches of %d give another model", task, threads, size)
				}
			}
		}
	}
}

func TestProgressiveValidationIsToldAndKept(t *testing.T) {
	part := streams(t, 3, 3000)["classify"]
	var told []learn.OnlinePoint
	m, _, err := Fit(context.Background(), part(0, 3000, false), Config{Learner: SGD{Epochs: 3}, Kernel: Kernel{Name: "linear"}},
		Options{Validated: func(p learn.OnlinePoint) { told = append(told, p) }})
	if err != nil {
		t.Fatal(err)
	}
	report := model.ReportOf[*learn.OnlineReport](&m.Info().Training)
	if len(told) != 12 || told[11].Rows != 2048 || len(report.Progressive) != 13 || report.Progressive[12].Rows != 3000 {
		t.Fatalf("told %v, kept %v", told, report.Progressive)
	}
	// Progressive error is an honest estimate of the error on new rows, if a late one.
	test := part(2048, 3000, false)
	wrong, n := 0.0, 0.0
	_, names, _, _ := drawn(3, 3000, 6, 3)
	err = m.PredictSource(context.Background(), test, func(p model.Prediction) error {
		if p.Label != names[2048+int(n)] {
			wrong++
		}
		n++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	late := (*report.Progressive[12].Error*3000 - *report.Progressive[11].Error*2048) / 952
	e := wrong / n
	if sigma := math.Sqrt(e * (1 - e) / n); math.Abs(late-e) > 4*sigma+0.02 {
		t.Errorf("progressive error of the last rows %.3f, error of the model %.3f", late, e)
	}
	if lines := m.Info().Training.Lines(); len(lines) != 2 || !strings.Contains(lines[1], "error") || !strings.Contains(lines[0], "3 passes") {
		t.Errorf("%q", lines)
	}
	if _, err := Continue(m); err == nil || !strings.Contains(err.Error(), "3 passes") {
		t.Errorf("a model of several passes goes on: %v", err)
	}
}

func TestPartialFitTakesABatch(t *testing.T) {
	x, names, _, _ := drawn(4, 1200, 6, 3)
	m, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x.Slice(0, 600)}, nil, 0, names[:600]),
		Config{Learner: SGD{}, Map: Map{Features: 64}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	batch := func(i, j int) *matrix.Batch {
		b := &matrix.Batch{X: matrix.Rows{Dense: x.Slice(i, j)}, First: i, Outputs: 1, Names: slices.Clone(names[i:j])}
		for range j - i {
			b.Y = append(b.Y, math.NaN())
		}
		return b
	}
	next, err := PartialFit(m, batch(600, 1200))
	if err != nil {
		t.Fatal(err)
	}
	if r := next.Info().Training; r.Rows != 1200 || m.Info().Training.Rows != 600 ||
		model.ReportOf[*learn.OnlineReport](&r).Progressive[len(model.ReportOf[*learn.OnlineReport](&r).Progressive)-1].Rows != 1200 {
		t.Errorf("%+v", r)
	}
	if _, err := read(fileOf(t, next)); err != nil {
		t.Error(err)
	}
	bad := batch(600, 610)
	bad.Names[4] = "class 9"
	if _, err := PartialFit(m, bad); err == nil || !strings.Contains(err.Error(), `row 605: the label "class 9" is none of the classes`) {
		t.Errorf("an unknown class: %v", err)
	}
	bad = batch(600, 610)
	bad.X.Dense = matrix.NewDense(10, 6)
	bad.X.Dense.Row(3)[2] = float32(math.NaN())
	if _, err := PartialFit(m, bad); err == nil || !strings.Contains(err.Error(), "not a finite number") {
		t.Errorf("NaN: %v", err)
	}
	bad = batch(600, 610)
	bad.Outputs, bad.Y, bad.Names = 0, nil, nil
	if _, err := PartialFit(m, bad); err == nil || !strings.Contains(err.Error(), "no labels") {
		t.Errorf("no labels: %v", err)
	}
	ridge, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, nil, 0, names),
		Config{Learner: Ridge{}, Map: Map{Features: 64}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := PartialFit(ridge, batch(0, 10)); err == nil || !strings.Contains(err.Error(), "learner=online") {
		t.Errorf("ridge: %v", err)
	}
}

func TestOnlineNamesWhatTheFirstRowsDidNotHave(t *testing.T) {
	ctx := context.Background()
	for text, want := range map[string]string{
		"1 1:1\n2 2:1\n3 1:1\n":   `f: row 3: the label "3" is none of the classes that the model was begun with (1, 2)`,
		"1 1:1\n2 2:1\n1 130:1\n": "f: row 3 has index 130, but the rows that were looked at first have 2 dimensions; say with dim",
	} {
		src, err := dataset.OpenBytes(ctx, "f", []byte(text), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Fit(ctx, src, Config{Learner: SGD{SurveyRows: 2}, Kernel: Kernel{Name: "linear"}}, Options{}); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestOnlineOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Learner: SGD{Loss: "gini"}}, `has no loss "gini"`},
		{Config{Learner: SGD{Optimizer: "adam"}}, `optimizer "adam"`},
		{Config{Learner: SGD{Quantile: 2}}, "quantile 2 is not between"},
		{Config{Learner: SGD{Quantile: 0.5, Loss: "hinge"}}, "a quantile belongs to the loss quantile"},
		{Config{Learner: SGD{Epochs: -1}}, "epochs -1"},
		{Config{Learner: SGD{Optimizer: "adagrad", AverageFrom: 3}}, "adagrad does not average"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"rate": 1}}},
			"the learner ridge has no option rate; it belongs to online"},
		{Config{Learner: Named{Options: map[string]any{"rate": 1}}}, "the option rate belongs to the learner online; name it"},
		{Config{Calibrate: Calibration{Method: "plat"}}, `calibrate "plat" is not known`},
		{Config{Calibrate: Calibration{Method: "platt", Folds: 1}}, "give 2 or more"},
		{Config{Calibrate: Calibration{Folds: 3}}, "not how to calibrate"},
		{Config{Calibrate: Calibration{Method: "platt"}, Task: "regress"}, "no probabilities"},
	} {
		if err := c.cfg.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.cfg, err, c.want)
		}
	}
	part := streams(t, 5, 100)
	for _, c := range []struct {
		task string
		cfg  Config
		want string
	}{
		{"regress", Config{Learner: SGD{Loss: "hinge"}}, "hinge"},
		{"classify", Config{Learner: SGD{Loss: "huber"}}, "huber"},
		{"classify", Config{Learner: SGD{C: 1, Lambda: 1}}, "give one of them"},
		{"regress", Config{Calibrate: Calibration{Method: "platt"}}, "have no probabilities"},
		{"multilabel", Config{Task: "multilabel", ClassWeight: "balanced"}, "class weights are for classes"},
	} {
		if _, _, err := Fit(context.Background(), part[c.task](0, 100, false), c.cfg, Options{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %+v: %v, want %s", c.task, c.cfg, err, c.want)
		}
	}
	// A loss follows from its parameter, and C stands for λ = 1/(C·n).
	m, _, err := Fit(context.Background(), part["regress"](0, 100, false), Config{Learner: SGD{Quantile: 0.9, C: 2}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o := model.ReportOf[*learn.OnlineReport](&m.Info().Training); o.Loss != "quantile" || o.Lambda != 1.0/200 {
		t.Errorf("%+v", o)
	}
}

func TestDamagedOnlineStatesAreRefused(t *testing.T) {
	for _, cfg := range []Config{{Learner: Named{Options: map[string]any{"optimizer": "sgd"}}}, {Learner: Named{Options: map[string]any{"optimizer": "adagrad"}}}} {
		cfg.SetLearner("online")
		cfg.Map.Features = 16
		part := streams(t, 6, 300)["classify"]
		m, _, err := Fit(context.Background(), part(0, 300, false), cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		data := fileOf(t, m)
		for _, name := range []string{"online.losses", "online.factors", "online.second", "online.scale", "online.counts", "golden.proba"} {
			if _, err := read(put(t, data, name, 0, math.NaN())); err == nil {
				t.Errorf("%s: %s begins with NaN, and the file loads", cfg.Get("optimizer").(string), name)
			}
		}
		if _, err := read(put(t, data, "online.first", 3, math.Inf(1))); err == nil {
			t.Errorf("%s: the state is not finite, and the file loads", cfg.Get("optimizer").(string))
		}
		if _, err := read(put(t, data, "online.scale", 0, -1)); err == nil {
			t.Errorf("%s: a deviation is negative, and the file loads", cfg.Get("optimizer").(string))
		}
		for _, name := range []string{"online.counts", "online.losses", "online.factors", "online.first", "online.second",
			"online.shift", "online.scale", "golden.proba"} {
			_, err := read(rewritten(t, data, func(header map[string]any) {
				header["other"] = header[name]
				delete(header, name)
			}))
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: without %s: %v", cfg.Get("optimizer").(string), name, err)
			}
		}
	}
}
