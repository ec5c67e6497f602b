package search

import (
	"context"
	"math"
	"testing"
	"time"

	"mercer/dataset"
	"mercer/model"
	"mercer/train"
)

// fakeFit is a training that takes what a formula says, on a fake clock.
type fakeFit struct {
	clock time.Time
	took  func(n, d float64) (mapping, solve float64)

	collect, choose func(n, d float64) float64 // parts of solve
}

func (f *fakeFit) options(o PredictOptions) PredictOptions {
	o.clock = func() time.Time { return f.clock }
	o.fit = func(ctx context.Context, src dataset.Source, cfg train.Config, _ train.Options) (*model.Model, *train.Report, error) {
		all, err := dataset.Collect(ctx, src, 0)
		if err != nil {
			return nil, nil, err
		}
		mapping, solve := f.took(float64(all.X.Len()), float64(cfg.Map.Features))
		f.clock = f.clock.Add(time.Duration((mapping + solve) * float64(time.Second)))
		report := &train.Report{Summary: &dataset.Summary{Rows: all.X.Len()}, Map: mapping, Solve: solve}
		if f.collect != nil {
			report.Collect = f.collect(float64(all.X.Len()), float64(cfg.Map.Features))
		}
		if f.choose != nil {
			report.Choose = f.choose(float64(all.X.Len()), float64(cfg.Map.Features))
		}
		return nil, report, nil
	}
	return o
}

func TestCostFindsTheLawsOfTheStages(t *testing.T) {
	src := dataset.Generate(dataset.Synthetic{Rows: 40_000, Dim: 5, Seed: 1})
	s := draw(t, src, 20_000, "regress")
	for _, c := range []struct {
		name  string
		cfg   train.Config
		solve func(n, d float64) float64
	}{
		{"ridge: n·D² and D^2.5", train.Config{Learner: train.Ridge{}, Map: train.Map{Features: 4096}},
			func(n, d float64) float64 { return 2e-11*n*d*d + 2e-8*math.Pow(d, 2.5) }},
		{"ridge: n·D² alone", train.Config{Learner: train.Ridge{}, Map: train.Map{Features: 4096}},
			func(n, d float64) float64 { return 2e-11 * n * d * d }},
		{"svr: n·D", train.Config{Learner: train.SVR{}, Map: train.Map{Features: 2048}}, func(n, d float64) float64 { return 3e-8 * n * d }},
		{"svr: passes that grow with n", train.Config{Learner: train.SVR{}, Map: train.Map{Features: 2048}},
			func(n, d float64) float64 { return 3e-10 * math.Pow(n, 1.4) * d }},
		{"kernel-svm: n^2.3", train.Config{Learner: train.KernelSVM{C: 1}}, func(n, d float64) float64 { return 1e-8 * math.Pow(n, 2.3) }},
		{"kernel-ridge: n³", train.Config{Learner: train.KernelRidge{Lambda: 1}}, func(n, d float64) float64 { return 1e-11 * n * n * n }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeFit{took: func(n, d float64) (float64, float64) { return 1e-9 * n * d, c.solve(n, d) }}
			cost, err := Predict(t.Context(), s, c.cfg, f.options(PredictOptions{}))
			if err != nil {
				t.Fatal(err)
			}
			d := float64(c.cfg.Map.Features)
			if want := c.solve(40_000, d); math.Abs(cost.Solve-want) > 0.01*want {
				t.Errorf("solve in %g s, want %g: %+v", cost.Solve, want, cost.Trials)
			}
			if want := 1e-9 * 40_000 * d; math.Abs(cost.Map-want) > 0.01*want {
				t.Errorf("map in %g s, want %g", cost.Map, want)
			}
			if cost.Rows != 40_000 || cost.RowsGuessed {
				t.Errorf("%d rows, guessed %v", cost.Rows, cost.RowsGuessed)
			}
		})
	}
}

// Where a training tells how long it added up rows, the trial with the most features says what a
// product of them takes, which is less than of few.
func TestCostOfStatisticsIsThatOfTheWidestTrials(t *testing.T) {
	s := draw(t, dataset.Generate(dataset.Synthetic{Rows: 40_000, Dim: 5, Seed: 1}), 20_000, "regress")
	collect := func(n, d float64) float64 { return 2e-11 * n * d * d * max(1, 1500/d) }
	factor := func(d float64) float64 { return 2e-8 * math.Pow(d, 2.5) }
	f := &fakeFit{took: func(n, d float64) (float64, float64) { return 0, collect(n, d) + factor(d) }, collect: collect}
	cost, err := Predict(t.Context(), s, train.Config{Learner: train.Ridge{}, Map: train.Map{Features: 2048}}, f.options(PredictOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	if want := collect(40_000, 2048) + factor(2048); math.Abs(cost.Solve-want) > 0.01*want {
		t.Errorf("solve in %g s, want %g: %+v", cost.Solve, want, cost.Trials)
	}
}

// The choice of C takes no longer on more rows than it draws.
func TestCostOfAChoiceHasAnEnd(t *testing.T) {
	s := draw(t, dataset.Generate(dataset.Synthetic{Rows: 400_000, Dim: 5, Seed: 1}), 20_000, "regress")
	choose := func(n, d float64) float64 { return 1e-7 * min(n, chooseRows) * d }
	solve := func(n, d float64) float64 { return 3e-8 * n * d }
	f := &fakeFit{took: func(n, d float64) (float64, float64) { return 0, choose(n, d) + solve(n, d) }, choose: choose}
	cost, err := Predict(t.Context(), s, train.Config{Learner: train.SVR{}, Map: train.Map{Features: 512}}, f.options(PredictOptions{Seconds: 2}))
	if err != nil {
		t.Fatal(err)
	}
	if want := choose(400_000, 512) + solve(400_000, 512); math.Abs(cost.Solve-want) > 0.01*want {
		t.Errorf("solve in %g s, want %g: %+v", cost.Solve, want, cost.Trials)
	}
}

func TestTrialsKeepTheirTime(t *testing.T) {
	s := draw(t, dataset.Generate(dataset.Synthetic{Rows: 40_000, Dim: 5, Seed: 1}), 40_000, "regress")
	f := &fakeFit{took: func(n, d float64) (float64, float64) { return 0, n / 1000 }}
	start := f.clock
	if _, err := Predict(t.Context(), s, train.Config{Learner: train.Ridge{}}, f.options(PredictOptions{Seconds: 10})); err != nil {
		t.Fatal(err)
	}
	// The time is overdrawn by the last doubling at most, and the run with more features.
	if took := f.clock.Sub(start).Seconds(); took > 20 || took < 5 {
		t.Errorf("trials for 10 s took %g s", took)
	}
}

func TestThePlanOfManyRowsIsThatOfTheirTraining(t *testing.T) {
	// Of 600 rows a few are enough to plan the training of all: the same D, λ and memory.
	src := dataset.Generate(dataset.Synthetic{Rows: 50_000, Dim: 5, Seed: 1})
	s := draw(t, src, 600, "regress")
	plan, err := train.NewPlan(t.Context(), s.train(0, s.trainRows()), 50_000, train.Config{Quick: true}, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Features != 4096 || plan.Config.Get("lambda_by").(string) != "held-out" || plan.Config.LearnerName() != "ridge" ||
		plan.Bytes < 24*4096*4096 || plan.Bytes > 30*4096*4096 {
		t.Errorf("%+v", plan)
	}
	if plan.Config.Map.Name != "qmc" || plan.Config.Scale != "none" {
		t.Errorf("map %q, scaling %q", plan.Config.Map.Name, plan.Config.Scale)
	}

	// The default is decided by the rows of all, not by those of the sample.
	plan, err = train.NewPlan(t.Context(), s.train(0, s.trainRows()), 50_000, train.Config{}, train.Options{})
	if err != nil || plan.Config.LearnerName() != train.Chooser().Name() || plan.LinearFrom != 2000 {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestPowerLawIsFound(t *testing.T) {
	n := []float64{100, 200, 400}
	var y []float64
	for _, x := range n {
		y = append(y, 0.3*math.Pow(x, 1.7))
	}
	if c, p := powerLaw(n, y); math.Abs(c-0.3) > 1e-9 || math.Abs(p-1.7) > 1e-9 {
		t.Errorf("%g·n^%g", c, p)
	}
}

func TestCostText(t *testing.T) {
	for _, c := range []struct {
		cost Prediction
		want string
	}{
		{Prediction{Rows: 10_000_000, Seconds: 187, Plan: &train.Plan{Bytes: 1_234_567_890}}, "about 3 min and 1.1 GiB for 10,000,000 rows"},
		{Prediction{Rows: 900, Seconds: 0.034, Plan: &train.Plan{Bytes: 53_000}}, "about 0.03 s and 52 KiB for 900 rows"},
		{Prediction{Rows: 1000, Seconds: 14, Plan: &train.Plan{Bytes: 996}}, "about 14 s and 996 B for 1,000 rows"},
		{Prediction{Rows: 1000, Seconds: 9000, Plan: &train.Plan{Bytes: 5e12}}, "about 2.5 h and 4.5 TiB for 1,000 rows"},
		{Prediction{Rows: 1000, Seconds: 400_000, Plan: &train.Plan{}}, "about 5 days and 0 B for 1,000 rows"},
	} {
		if got := c.cost.Text(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestShortIsSaidOfWhatIsShort(t *testing.T) {
	s := draw(t, made(t, 2000, 3, ringRow), 2000, "classify")
	for _, c := range []struct {
		cfg  train.Config
		want bool
	}{
		{train.Config{Learner: train.Ridge{}, Map: train.Map{Features: 256}}, true},
		{train.Config{Learner: train.Ridge{}, Map: train.Map{Features: 16_384}}, false},
		{train.Config{Learner: train.SVM{}, Map: train.Map{Features: 256}}, true},
		{train.Config{Learner: train.SVM{}, Map: train.Map{Features: 131_072}}, false},
		{train.Config{Learner: train.KernelSVM{}}, true},
	} {
		if short, err := Short(t.Context(), s, c.cfg, 0, 10); err != nil || short != c.want {
			t.Errorf("%s %d: short is %v, %v", c.cfg.LearnerName(), c.cfg.Map.Features, short, err)
		}
	}
	if short, err := Short(t.Context(), s, train.Config{Learner: train.Ridge{}}, 0, 0); short || err != nil {
		t.Errorf("shorter than no time: %v, %v", short, err)
	}
}

// One trial learns a metric, on few rows, which tells what it takes on many.
func TestAMetricIsPriced(t *testing.T) {
	s := draw(t, dataset.Generate(dataset.Synthetic{Rows: 50_000, Dim: 5, Seed: 1}), 5000, "regress")
	f := &fakeFit{took: func(n, d float64) (float64, float64) { return 1e-9 * n * d, 1e-9 * n * d }}
	opt := f.options(PredictOptions{})
	fit, learned, trials := opt.fit, 0, 0
	seconds := func(n float64) float64 {
		m := min(n, 3000)
		l := min(m, 1000)
		return 2e-9 * (m*l*l + l*l*l)
	}
	opt.fit = func(ctx context.Context, src dataset.Source, cfg train.Config, o train.Options) (*model.Model, *train.Report, error) {
		m, r, err := fit(ctx, src, cfg, o)
		if trials++; cfg.Metric.Form != "" {
			learned++
			r.Metric = seconds(float64(r.Summary.Rows))
		}
		return m, r, err
	}
	p, err := Predict(context.Background(), s, train.Config{Learner: train.Ridge{}, Metric: train.Metric{Form: "diagonal", Rows: 3000}}, opt)
	if err != nil || trials < 2 || learned != 1 || p.Plan.Config.Metric.Form != "diagonal" {
		t.Fatalf("%d trials, %d with a metric, %+v, %v", trials, learned, p, err)
	}
	if want := seconds(50_000); math.Abs(p.Metric-want) > 1e-6*want || p.Seconds < p.Metric {
		t.Errorf("%g of %g s for the metric, want %g", p.Metric, p.Seconds, want)
	}
}

// A learner with at most 1,000 centres takes n³ up to 1,000 rows and no more than n from there on.
func TestCentresStopGrowing(t *testing.T) {
	var trials []Timing
	for _, rows := range []int{250, 500, 1000, 2000} {
		few := math.Min(float64(rows), 1000)
		trials = append(trials, Timing{Rows: rows, Features: 8, Solve: 1e-9 * few * few * float64(rows)})
	}
	for _, trials := range [][]Timing{trials[:3], trials} {
		m := newCostModel(&train.Plan{Exact: true, Fixed: true, Features: 8, LinearFrom: 1000}, trials)
		if _, _, got := m.seconds(20_000, 8); math.Abs(got/20-1) > 0.01 {
			t.Errorf("%d trials: 20,000 rows take %g s, want 20", len(trials), got)
		}
	}
}
