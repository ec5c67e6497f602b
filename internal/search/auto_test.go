package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/model"
	"mercer/train"
)

func TestTheConfigOfAutoTrainsTheSameModel(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	src, given := made(t, 300, 3, ringRow), AutoOptions{Config: train.Config{Map: train.Map{Features: 64}, Learner: train.Ridge{}}}
	m, _, report, err := Auto(t.Context(), src, given)
	if err != nil {
		t.Fatal(err)
	}
	if report.Config.Kernel.Name == "linear" {
		t.Errorf("rings: %s", Describe(report.Config))
	}
	again, _, err := train.Fit(t.Context(), src, report.Config, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, m := range map[string]*model.Model{"/a": m, "/b": again} {
		if err := m.Save(dir + name); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := os.ReadFile(dir + "/a")
	b, _ := os.ReadFile(dir + "/b")
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Error("the models differ")
	}
	// Without a budget nothing depends on time.
	_, _, second, err := Auto(t.Context(), src, given)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := Describe(report.Config), Describe(second.Config); a != b {
		t.Errorf("%s, and then %s", a, b)
	}
}

func TestAutoKeepsToWhatIsGiven(t *testing.T) {
	src := made(t, 300, 3, ringRow)
	_, _, report, err := Auto(t.Context(), src,
		AutoOptions{Config: train.Config{Kernel: train.Kernel{Name: "laplacian"}, Scale: "minmax", Learner: train.Ridge{},
			Map: train.Map{Features: 64}, Seed: 5}})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range report.Heats {
		for _, r := range h.Racers {
			if c := r.Config; c.Kernel.Name != "laplacian" || c.Scale != "minmax" || c.LearnerName() != "ridge" || c.Map.Features != 64 || c.Seed != 5 {
				t.Errorf("a candidate is %s of seed %d", Describe(c), c.Seed)
			}
		}
	}
	if c := report.Config; c.Kernel.Name != "laplacian" || c.Map.Features != 64 {
		t.Errorf("chosen: %s", Describe(c))
	}
	if _, _, _, err := Auto(t.Context(), src, AutoOptions{Config: train.Config{Kernel: train.Kernel{Name: "nothing"}}}); err == nil {
		t.Error("an unknown kernel is no error")
	}
}

func TestAutoRacesAnOddNumberOfRows(t *testing.T) {
	src := made(t, 399, 3, ringRow) // 319 to train on in each of five folds
	_, _, report, err := Auto(t.Context(), src, AutoOptions{Config: train.Config{Kernel: train.Kernel{Name: "rbf"},
		Learner: train.Ridge{Lambda: 1}, Scale: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range report.Heats {
		for _, r := range h.Racers {
			if len(r.Runs) == 0 {
				t.Errorf("of the %s %s was not tried: %s", h.Of, r.Name, r.Dropped)
			}
		}
	}
	if n := heatFeatures(secondFeatures, 319); n != 318 {
		t.Errorf("%d features on 319 rows", n)
	}
}

// slow lets a fake clock go on for every training in place of time: the races' and the others'.
// A training takes each seconds a row and feature, and fails with the deadline where a limit is
// given and it would take longer.
type slow struct {
	clock   time.Time
	each    float64 // of trainings on samples, a row and feature
	whole   float64 // of trainings on all rows
	all     dataset.Source
	rows    int // how many that has; 0: 12,000
	trained []string
}

func (s *slow) options(o AutoOptions) AutoOptions {
	start := s.clock
	pass := func(rows, features int, each float64) {
		s.clock = s.clock.Add(time.Duration(each * float64(rows) * float64(features) * float64(time.Second)))
	}
	o.clock = func() time.Time { return s.clock }
	o.trial = func(ctx context.Context, sample *Sample, fold, rows int, cfg train.Config) (outcome, error) {
		pass(rows, cfg.Map.Features, s.each)
		loss := make([]float64, count(sample.held(fold)))
		for i := range len(loss) / 5 {
			loss[i] = 1
		}
		seconds := s.each * float64(rows) * float64(cfg.Map.Features)
		return outcome{Losses: loss, Took: Timing{Rows: rows, Features: cfg.Map.Features, Solve: seconds},
			Model: &model.Model{}, Report: &train.Report{Solve: seconds}}, nil
	}
	o.predictFit = func(_ context.Context, src dataset.Source, cfg train.Config, _ train.Options) (*model.Model, *train.Report, error) {
		rows := count(src)
		pass(rows, cfg.Map.Features, s.each)
		return nil, &train.Report{Solve: s.each * float64(rows) * float64(cfg.Map.Features)}, nil
	}
	o.fit = func(_ context.Context, src dataset.Source, cfg train.Config, _ train.Options) (*model.Model, *train.Report, error) {
		name, rows, each := "all", cmp.Or(s.rows, 12_000), s.whole
		if src != s.all {
			rows, each = count(src), s.each
			name = fmt.Sprint(rows)
		}
		s.trained = append(s.trained, fmt.Sprintf("%s rows, D %d", name, cfg.Map.Features))
		pass(rows, max(cfg.Map.Features, 1), each)
		if s.clock.Sub(start) > o.Budget+o.Budget/10 {
			// The real clock would have ended it then.
			s.clock = start.Add(o.Budget + o.Budget/10)
			return nil, nil, fmt.Errorf("data: %w", context.DeadlineExceeded)
		}
		return &model.Model{}, &train.Report{}, nil
	}
	return o
}

// count is how many rows a source has.
func count(src dataset.Source) int {
	all, err := dataset.Collect(context.Background(), src, 0)
	if err != nil {
		panic(err)
	}
	return all.X.Len()
}

// ringed are given so that all that is left to choose is D.
var ringed = train.Config{Task: "classify", Kernel: train.Kernel{Name: "rbf", Gamma: "0.1"}, Learner: train.SVM{C: 1}, Scale: "none"}

func TestAutoAlwaysEndsWithAModel(t *testing.T) {
	src := made(t, 12_000, 3, ringRow)
	for _, c := range []struct {
		name        string
		each, whole float64
		rows        int // that the model is of at least
		most        int // and at most
		short       string
	}{
		{"plenty of time", 1e-9, 1e-9, 12_000, 12_000, ""},
		{"all rows take longer than predicted", 1e-8, 1e-3, 1000, 11_999, "of 12,000 rows"},
		{"hardly time for a race", 4e-6, 1, 1000, 11_999, "of 12,000 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &slow{each: c.each, whole: c.whole, all: src}
			m, _, report, err := Auto(t.Context(), src, s.options(AutoOptions{Budget: time.Minute, Config: ringed}))
			if err != nil {
				t.Fatal(err)
			}
			if m == nil || report.Rows < c.rows || report.Rows > c.most {
				t.Errorf("a model %v of %d rows, want %d to %d: trained %v; %q", m != nil, report.Rows, c.rows, c.most, s.trained, report.Why)
			}
			if (c.short == "") != (report.Short == "") || !strings.Contains(report.Short, c.short) {
				t.Errorf("short: %q, want %q", report.Short, c.short)
			}
			if c.short != "" && report.Wanted <= 60 {
				t.Errorf("a budget of %g s would do, and 60 s did not", report.Wanted)
			}
			if took := s.clock.Sub(time.Time{}).Seconds(); took > 66.001 {
				t.Errorf("took %g s of 60: %v", took, s.trained)
			}
		})
	}
}

// Where the training on all rows takes little, the heats may use its part of the budget, and still
// the whole ends in time.
func TestAutoTriesAllKernelsOfSmallData(t *testing.T) {
	given := train.Config{Task: "classify", Learner: train.Ridge{Lambda: 1}}
	// Each of the five kernels with features takes 4 s in five folds; 18 % of the budget are 11 s.
	src := made(t, 1101, 3, ringRow)
	s := &slow{each: 1.8e-6, whole: 1.8e-6, all: src, rows: 1101}
	m, _, report, err := Auto(t.Context(), src, s.options(AutoOptions{Budget: time.Minute, Config: given}))
	if err != nil || m == nil {
		t.Fatal(err)
	}
	for _, r := range report.Heats[0].Racers {
		if len(r.Runs) == 0 {
			t.Errorf("%s: %s; %s", r.Name, r.Dropped, report.Heats[0].Stopped)
		}
	}
	if took := s.clock.Sub(time.Time{}).Seconds(); took > 60 || report.Short != "" {
		t.Errorf("took %g s of 60; %s", took, report.Short)
	}
	// On many rows all that is kept for the training is needed for it.
	src = made(t, 12_000, 3, ringRow)
	s = &slow{each: 1.8e-6, whole: 1.8e-6, all: src}
	_, _, report, err = Auto(t.Context(), src, s.options(AutoOptions{Budget: 10 * time.Second, Config: given}))
	if err != nil {
		t.Fatal(err)
	}
	if h := report.Heats[0]; h.Seconds > 0.25*10 || !strings.Contains(h.Stopped, "the time for this race") {
		t.Errorf("the first heat took %g s of 10: %q", h.Seconds, h.Stopped)
	}
}

func TestAutoGrowsWhereATrainingTookLessThanPredicted(t *testing.T) {
	given := ringed
	given.SetLearner("ridge")
	given.Set("c", 0)
	given.Set("lambda", 1)
	// Small trainings take so long that only a few features are dared; on all rows they are quick.
	src := made(t, 12_000, 3, ringRow)
	s := &slow{each: 1e-6, whole: 1e-8, all: src}
	_, _, report, err := Auto(t.Context(), src, s.options(AutoOptions{Budget: time.Minute, Config: given}))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.trained) != 2 || report.Config.Map.Features != 4096 {
		t.Errorf("trained %v, D = %d; %q", s.trained, report.Config.Map.Features, report.Why)
	}
}

func TestAutoWithoutTimeForOneTrainingSaysWhatBudgetMayDo(t *testing.T) {
	_, _, _, err := Auto(t.Context(), made(t, 12_000, 3, ringRow), AutoOptions{Budget: time.Microsecond, Config: ringed})
	if err == nil || !strings.Contains(err.Error(), "not even rbf") || !strings.Contains(err.Error(), "a budget of") {
		t.Errorf("got %v", err)
	}
}

func TestAutoEndsWhenItIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	src := made(t, 1500, 3, ringRow)
	for _, at := range []string{"looks", "kernels", "finalists", "on all rows"} {
		ctx, cancel := context.WithCancel(t.Context())
		given := ringed
		given.SetLearner("")
		given.Kernel.Name = ""
		given.Kernel.Gamma = ""
		given.Set("c", 0)
		given.Map.Features = 16
		m, _, _, err := Auto(ctx, src, AutoOptions{Budget: 10 * time.Minute, Config: given, Progress: func(what string) {
			if strings.Contains(what, at) {
				cancel()
			}
		}})
		if ctx.Err() == nil {
			t.Errorf("it never said %q", at)
		}
		cancel()
		if m != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a model %v, error %v", at, m != nil, err)
		}
	}
}

func TestAutoGivesUpATrainingThatTakesTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	var tried []int
	a := AutoOptions{Budget: time.Minute, Config: train.Config{Kernel: train.Kernel{Name: "rbf"}, Learner: train.Ridge{Lambda: 1}, Scale: "none"}}
	a.clock = func() time.Time { return time.Time{} } // nothing takes time
	a.fit = func(ctx context.Context, src dataset.Source, cfg train.Config, opt train.Options) (*model.Model, *train.Report, error) {
		if tried = append(tried, cfg.Map.Features); len(tried) == 1 {
			return nil, nil, fmt.Errorf("data: %w", context.DeadlineExceeded)
		}
		return train.Fit(ctx, src, cfg, opt)
	}
	_, _, report, err := Auto(t.Context(), made(t, 1100, 3, ringRow), a)
	if err != nil {
		t.Fatal(err)
	}
	if len(tried) != 2 || tried[1] != max(leastFeatures, tried[0]/4) || report.Config.Map.Features != tried[1] {
		t.Errorf("tried %v features, chose %d", tried, report.Config.Map.Features)
	}
	if !slices.ContainsFunc(report.Why, func(s string) bool { return strings.Contains(s, "given up") }) {
		t.Errorf("why: %q", report.Why)
	}
}

func TestAutoSizesByMemory(t *testing.T) {
	a := AutoOptions{Budget: time.Minute, Config: train.Config{Kernel: train.Kernel{Name: "rbf"}, Learner: train.Ridge{Lambda: 1}, Scale: "none"},
		Training: train.Options{Memory: 20 << 20}}
	a.clock = func() time.Time { return time.Time{} }
	_, report, auto, err := Auto(t.Context(), made(t, 4200, 3, ringRow), a)
	if err != nil {
		t.Fatal(err)
	}
	if b := auto.Cost.Plan.Bytes; b > 20<<20 || 4*b < 20<<20 || report == nil {
		t.Errorf("D = %d takes %d bytes of %d", auto.Config.Map.Features, b, 20<<20)
	}
}

func TestAutoOnDataOfAllKinds(t *testing.T) {
	for _, c := range []struct {
		name string
		src  dataset.Source
		task string
		want string // in the error, "" if there is none
	}{
		{"20 rows", made(t, 20, 3, linearRow), "", ""},
		{"3 rows", made(t, 3, 3, linearRow), "regress", "3 rows"},
		{"one class", made(t, 30, 3, func(r *random.Stream, x []float32) float64 { x[0] = float32(r.Normal()); return 1 }), "classify", "class"},
		{"constant targets", made(t, 100, 3, func(r *random.Stream, x []float32) float64 {
			x[0] = float32(r.Normal())
			return 1
		}), "regress", ""},
		{"constant inputs", made(t, 100, 3, func(r *random.Stream, x []float32) float64 { return r.Normal() }), "regress", "all rows are equal"},
		{"many classes", made(t, 200, 3, func(r *random.Stream, x []float32) float64 {
			x[0] = float32(r.Normal())
			return float64(r.Intn(60))
		}), "classify", ""},
		{"outliers", made(t, 30, 3, linearRow), "outliers", "one-class"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _, report, err := Auto(t.Context(), c.src, AutoOptions{Config: train.Config{Task: c.task, Kernel: train.Kernel{Name: "rbf"},
				Map: train.Map{Features: 16}}})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("the error is %v; it is to say %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m == nil || len(report.Heats) == 0 || len(report.Why) == 0 {
				t.Errorf("%+v", report)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	f := factsOf(draw(t, made(t, 500, 24, histogramRow), 500, ""))
	if !f.Positive || !f.Histograms || f.Classes != 2 || f.Least > 0.5 || f.Least+f.Most != 1 || f.Dim != 24 || f.Rows != 500 {
		t.Errorf("%+v", f)
	}
	f = factsOf(draw(t, made(t, 500, 4, func(r *random.Stream, x []float32) float64 {
		x[1] = float32(r.Normal())
		return 3 * r.Normal()
	}), 500, ""))
	// The deviation of 500 numbers has a relative standard error of 1/√1000.
	if f.Positive || f.Histograms || f.Task != "regress" || f.Deviation < 3*0.87 || f.Deviation > 3*1.13 {
		t.Errorf("%+v", f)
	}
}

// What is told how the rows are read is told of all rows, once, and may end the work before it begins.
func TestSurveyedIsToldBeforeTheWork(t *testing.T) {
	src, refused := made(t, 300, 3, ringRow), errors.New("refused")
	var told []dataset.Schema
	surveyed := func(read dataset.Schema) error { told = append(told, read); return refused }
	_, _, _, err := Auto(t.Context(), src, AutoOptions{Training: train.Options{Surveyed: surveyed},
		trial: func(context.Context, *Sample, int, int, train.Config) (outcome, error) {
			t.Error("a race began")
			return outcome{}, refused
		}})
	if !errors.Is(err, refused) {
		t.Errorf("a choice that is refused: %v", err)
	}
	refused = nil
	if _, _, _, err := Auto(t.Context(), src, AutoOptions{Config: train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{}},
		Training: train.Options{Surveyed: surveyed}}); err != nil {
		t.Error(err)
	}
	if len(told) != 2 || told[0].Dim != 3 || told[1].Dim != 3 {
		t.Errorf("told: %+v", told)
	}
}
