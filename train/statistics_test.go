package train

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/engine/safetensors"
	"mercer/internal/engine/testenv"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// waves are n rows of three dimensions and two targets that are not linear in them.
func waves(seed uint64, n int) (*matrix.Dense, []float64) {
	s := random.New(seed, "waves")
	x, y := matrix.NewDense(n, 3), make([]float64, 2*n)
	for i := range n {
		r := x.Row(i)
		for j := range r {
			r[j] = float32(s.Normal() + 5)
		}
		y[2*i] = math.Sin(2*float64(r[0])) + float64(r[1]) + 0.2*s.Normal()
		y[2*i+1] = 100 * math.Cos(float64(r[2]))
	}
	return x, y
}

// keeping trains and keeps the statistics as a file.
func keeping(t testing.TB, src dataset.Source, cfg Config) (*model.Model, []byte) {
	t.Helper()
	var file bytes.Buffer
	m, _, err := Fit(context.Background(), src, cfg, Options{Keep: func(s *Statistics) error { return s.file.Write(&file) }})
	if err != nil {
		t.Fatal(err)
	}
	return m, file.Bytes()
}

func statisticsOf(t testing.TB, file []byte) *Statistics {
	t.Helper()
	s, err := ReadStatistics(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// continued trains on statistics and more rows.
func continued(t testing.TB, src dataset.Source, s *Statistics, cfg Config) *model.Model {
	t.Helper()
	m, _, err := FitStatistics(context.Background(), src, s, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sameScores fails where two models differ by more than rounding.
func sameScores(t *testing.T, what string, a, b *model.Model, x matrix.Rows, tolerance float64) {
	t.Helper()
	p, q := matrix.NewDense(x.Len(), a.Outputs()), matrix.NewDense(x.Len(), a.Outputs())
	if err := a.Scores(p, x); err != nil {
		t.Fatal(err)
	}
	if err := b.Scores(q, x); err != nil {
		t.Fatal(err)
	}
	size := 0.0
	for _, v := range p.Data {
		size = max(size, math.Abs(float64(v)))
	}
	for i, v := range p.Data {
		if d := math.Abs(float64(v - q.Data[i])); !(d <= tolerance*size) {
			t.Fatalf("%s: score %d is %g and %g", what, i, v, q.Data[i])
		}
	}
}

// All rows are drawn before the first training, so that scaling, map and γ of the first part
// are those of the whole if it is surveyed alone: the whole is trained on by the same pipeline.
func TestAppendedRowsGiveTheModelOfOnePass(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := waves(1, 900)
	all := matrix.Rows{Dense: x}
	part := func(lo, hi int) dataset.Source { return source(t, all.Slice(lo, hi), y[2*lo:2*hi], 2, nil) }
	for _, cfg := range []Config{
		{Learner: Named{Options: map[string]any{"lambda": 0.5}}},
		{Learner: Named{Options: map[string]any{"lambda_by": "held-out"}}},
		{Learner: Named{Options: map[string]any{"lambda_by": "folds"}}, Map: Map{Features: 600}}, // sums of blocks in float32
		{Learner: Named{Options: map[string]any{"lambda_by": "evidence"}}},
		{Learner: Named{Options: map[string]any{"lambda_by": "held-out"}}, Scale: "quantile", Metric: Metric{Form: "diagonal", Landmarks: 50}},
		{Learner: Named{Options: map[string]any{"lambda": 0.1}}, Scale: "robust", Metric: Metric{Form: "full", Landmarks: 50}},
	} {
		cfg.SetLearner("ridge")
		cfg.Seed = 7
		if cfg.Map.Features == 0 {
			cfg.Map.Features = 64
		}
		_, file := keeping(t, part(0, 500), cfg)
		more := Config{Learner: Named{Options: map[string]any{"lambda": cfg.Get("lambda").(float64),
			"lambda_by": cfg.Get("lambda_by").(string)}}}
		one := continued(t, part(0, 900), statisticsOf(t, file).Empty(), more)
		two := continued(t, part(500, 900), statisticsOf(t, file), more)
		a, b := one.Info().Training, two.Info().Training
		if a.Rows != 900 || b.Rows != 900 ||
			math.Abs(model.ReportOf[*learn.RidgeReport](&a).Lambda-model.ReportOf[*learn.RidgeReport](&b).Lambda) >
				1e-6*model.ReportOf[*learn.RidgeReport](&a).Lambda ||
			model.ReportOf[*learn.RidgeReport](&a).HeldOut != model.ReportOf[*learn.RidgeReport](&b).HeldOut {
			t.Errorf("%+v: %d and %d rows, λ = %g and %g", cfg, a.Rows, b.Rows, model.ReportOf[*learn.RidgeReport](&a).Lambda,
				model.ReportOf[*learn.RidgeReport](&b).Lambda)
		}
		tolerance := 1e-5
		switch {
		case cfg.Map.Features > 512:
			tolerance = 1e-3
		case cfg.Metric.Form != "":
			tolerance = 1e-4 // nearly all of the answer is in few directions, and λ is small
		}
		sameScores(t, "appended", one, two, all, tolerance)

		// Parts trained apart, in any order, one of them without rows to speak of.
		shards := statisticsOf(t, file)
		for _, cut := range [][2]int{{800, 900}, {500, 501}, {501, 800}} {
			var other bytes.Buffer
			if _, _, err := FitStatistics(context.Background(), part(cut[0], cut[1]), statisticsOf(t, file).Empty(),
				Config{Learner: Named{Options: map[string]any{"lambda": 1}}},
				Options{Keep: func(s *Statistics) error { return s.file.Write(&other) }}); err != nil {
				t.Fatal(err)
			}
			if err := shards.Merge(statisticsOf(t, other.Bytes())); err != nil {
				t.Fatal(err)
			}
		}
		if shards.Rows() != 900 {
			t.Errorf("%d rows after merging", shards.Rows())
		}
		// Rows of shards belong to other parts, as they count from 0: λ differs.
		merged := continued(t, nil, shards, Config{Learner: Named{Options: map[string]any{"lambda": model.ReportOf[*learn.RidgeReport](&a).Lambda}}})
		sameScores(t, "merged", one, merged, all, tolerance)
	}
}

// The first training itself is what its statistics give.
func TestStatisticsGiveTheModelTheyCameWith(t *testing.T) {
	x, names := rings(3, 700, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 1, names)
	for _, cfg := range []Config{
		{Learner: Ridge{}, Map: Map{Features: 64}, ClassWeight: "a=3,b=0.5"},
		{Learner: Ridge{}, Map: Map{Name: "nystrom", Features: 32}, Scale: "standard"},
		{Learner: Ridge{}, Kernel: Kernel{Name: "linear"}},
	} {
		m, file := keeping(t, src, cfg)
		again := continued(t, nil, statisticsOf(t, file), Config{})
		if model.ReportOf[*learn.RidgeReport](&m.Info().Training).Lambda != model.ReportOf[*learn.RidgeReport](&again.Info().Training).Lambda {
			t.Errorf("λ = %g and %g", model.ReportOf[*learn.RidgeReport](&m.Info().Training).Lambda,
				model.ReportOf[*learn.RidgeReport](&again.Info().Training).Lambda)
		}
		sameScores(t, "again", m, again, matrix.Rows{Dense: x}, 1e-6)
		sameScores(t, "once more", m, continued(t, src, statisticsOf(t, file).Empty(), Config{}), matrix.Rows{Dense: x}, 1e-6)
		back, err := read(fileOf(t, again))
		if err != nil {
			t.Fatal(err)
		}
		sameScores(t, "saved", again, back, matrix.Rows{Dense: x}, 0)
	}
}

func TestRowsThatDoNotFitStatisticsAreRefused(t *testing.T) {
	x, names := rings(4, 300, 2)
	_, classes := keeping(t, source(t, matrix.Rows{Dense: x}, nil, 1, names), Config{Learner: Ridge{}, Map: Map{Features: 64}})
	wx, wy := waves(4, 300)
	_, numbers := keeping(t, source(t, matrix.Rows{Dense: wx}, wy, 2, nil), Config{Learner: Ridge{}, Map: Map{Features: 64}})
	names[7] = "z"
	odd := source(t, matrix.Rows{Dense: x}, nil, 1, names)
	for name, c := range map[string]struct {
		file []byte
		src  dataset.Source
		cfg  Config
		want string
	}{
		"a new class":   {classes, odd, Config{}, `row 8: the label is "z"; the statistics have the classes a, b`},
		"other columns": {classes, source(t, matrix.Rows{Dense: wx}, nil, 1, names[:300]), Config{}, "the rows have 3 dimensions"},
		"no labels":     {classes, source(t, matrix.Rows{Dense: x}, nil, 0, nil), Config{}, "rows have 0 labels"},
		"other targets": {numbers, source(t, matrix.Rows{Dense: wx}, wy[:300], 1, nil), Config{},
			"rows have 1 targets, the statistics are of 2"},
		"no targets": {numbers, source(t, matrix.Rows{Dense: wx}, nil, 0, nil), Config{}, "rows have 0 targets"},
		"intervals":  {numbers, nil, Config{Learner: Named{Options: map[string]any{"conformal": 0.9}}}, "intervals take rows"},
		"leave-one-out": {numbers, nil, Config{Learner: Named{Options: map[string]any{"lambda_by": "loo"}}},
			"leaving rows out takes all of them"},
		"another learner": {numbers, nil, Config{Learner: SVM{}}, "statistics are for the learners ridge and lda"},
		"an unknown option": {numbers, nil, Config{Learner: Named{Options: map[string]any{"lambda_by": "luck"}}},
			`lambda_by "luck" is not known`},
	} {
		if _, _, err := FitStatistics(context.Background(), c.src, statisticsOf(t, c.file), c.cfg, Options{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
	}
	if err := statisticsOf(t, classes).Merge(statisticsOf(t, numbers)); err == nil || !strings.Contains(err.Error(), "another pipeline") {
		t.Errorf("classes and numbers merged: %v", err)
	}
	for name, cfg := range map[string]Config{"of an svm": {Learner: SVM{}, Map: Map{Features: 64}},
		"without the rows of intervals": {Learner: Ridge{Conformal: 0.9}, Map: Map{Features: 64}}} {
		src := source(t, matrix.Rows{Dense: wx}, wy, 2, nil)
		if cfg.LearnerName() == "svm" {
			x, names := rings(4, 300, 2)
			src = source(t, matrix.Rows{Dense: x}, nil, 1, names)
		}
		if _, _, err := Fit(context.Background(), src, cfg, Options{Keep: func(*Statistics) error { return nil }}); err == nil {
			t.Errorf("statistics %s were kept", name)
		}
	}
}

func TestStatisticsFilesAreChecked(t *testing.T) {
	x, names := rings(5, 300, 2)
	m, file := keeping(t, source(t, matrix.Rows{Dense: x}, nil, 1, names),
		Config{Learner: Ridge{}, Map: Map{Features: 64}, Scale: "standard"})
	// In a model's place, and the other way round.
	if _, err := read(file); err == nil || !strings.Contains(err.Error(), "statistics of rows, not a model") {
		t.Errorf("statistics as a model: %v", err)
	}
	data := fileOf(t, m)
	if _, err := ReadStatistics(bytes.NewReader(data), int64(len(data))); err == nil ||
		!strings.Contains(err.Error(), "a model, not a file of statistics") {
		t.Errorf("a model as statistics: %v", err)
	}
	for _, name := range []string{"moments.0.h", "moments.0.v", "moments.0.mean_z", "scale.shift", "scale.factor"} {
		if _, err := ReadStatistics(bytes.NewReader(put(t, file, name, 0, math.NaN())), int64(len(file))); err == nil {
			t.Errorf("%s begins with NaN, and the file loads", name)
		}
	}
	for _, edit := range []string{"golden.x", "scale.shift", "moments.0.yy"} {
		short := rewritten(t, file, func(h map[string]any) { h[edit].(map[string]any)["shape"] = []int{1, 2} })
		if _, err := ReadStatistics(bytes.NewReader(short), int64(len(short))); err == nil {
			t.Errorf("%s has another shape, and the file loads", edit)
		}
	}
	path := filepath.Join(t.TempDir(), "s.stats")
	if err := statisticsOf(t, file).Save(path); err != nil {
		t.Fatal(err)
	}
	s, err := LoadStatistics(path)
	if err != nil || s.Rows() != 300 {
		t.Errorf("%v", err)
	}
}

func FuzzReadStatistics(f *testing.F) {
	x, names := rings(5, 60, 2)
	_, file := keeping(f, source(f, matrix.Rows{Dense: x}, nil, 1, names), Config{Learner: Ridge{LambdaBy: "folds"}, Map: Map{Features: 8}})
	f.Add(file)
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		safetensors.Seal(data)
		s, err := ReadStatistics(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		// What was accepted can be used, or says why not.
		_, _, _ = FitStatistics(context.Background(), nil, s, Config{Learner: Named{Options: map[string]any{"lambda": 1}}}, Options{})
	})
}

func TestRidgeChoosesTheSameLambdaAtAnyBatchSize(t *testing.T) {
	x, y := waves(6, 700)
	src := source(t, matrix.Rows{Dense: x}, y, 2, nil)
	names, _ := learn.LambdaBy()
	for _, by := range names {
		cfg := Config{Map: Map{Features: 64}, Learner: Named{Options: map[string]any{"lambda_by": by, "conformal": 0.8,
			"variance": by == "loo"}}}
		if by == "trace" {
			cfg.Set("lambda", 1e-3)
		}
		want := fileOf(t, fitted(t, src, cfg))
		for _, size := range []int{1, 100, 333} {
			if !bytes.Equal(fileOf(t, fitted(t, &batched{src, size}, cfg)), want) {
				t.Errorf("λ by %s: another model in batches of %d", by, size)
			}
		}
	}
}

// Leaving out rows by formula, through the model: as the errors of models trained without them.
func TestLeaveOneOutErrorIsThatOfModelsWithoutTheRow(t *testing.T) {
	x, y := waves(7, 60)
	all := matrix.Rows{Dense: x}
	_, file := keeping(t, source(t, all, y, 2, nil), Config{Learner: Ridge{Lambda: 1}, Map: Map{Features: 16}})
	loo := fitted(t, source(t, all, y, 2, nil), Config{Map: Map{Features: 16}, Learner: Named{Options: map[string]any{"lambda_by": "loo"}}})
	for _, p := range model.ReportOf[*learn.RidgeReport](&loo.Info().Training).Path {
		if p.Lambda < 1e-3 || p.Lambda > 100 {
			continue
		}
		sum := 0.0
		score := matrix.NewDense(1, 2)
		for i := range 60 {
			rest := statisticsOf(t, file).Empty()
			m := continued(t, without(t, x, y, i), rest, Config{Learner: Named{Options: map[string]any{"lambda": p.Lambda}}})
			if err := m.Scores(score, all.Slice(i, i+1)); err != nil {
				t.Fatal(err)
			}
			for c := range 2 {
				sum += math.Pow(y[2*i+c]-float64(score.Data[c]), 2) / 60
			}
		}
		if math.Abs(*p.LOO-sum) > 1e-3*sum {
			t.Errorf("λ = %.3g: %g by the formula, %g by %d models", p.Lambda, *p.LOO, sum, 60)
		}
	}
}

func without(t *testing.T, x *matrix.Dense, y []float64, i int) dataset.Source {
	rest := matrix.NewDense(x.Rows-1, x.Cols)
	copy(rest.Data, x.Data[:i*x.Cols])
	copy(rest.Data[i*x.Cols:], x.Data[(i+1)*x.Cols:])
	return source(t, matrix.Rows{Dense: rest}, append(append([]float64(nil), y[:2*i]...), y[2*i+2:]...), 2, nil)
}

// Over seeds, intervals hold the truth of new rows as often as the level says: of the tenth
// that calibrates, r = ⌈(n+1)·level⌉ residuals of n are below the radius.
func TestIntervalsHoldTheTruth(t *testing.T) {
	const level, seeds, tested = 0.8, 25, 200
	for _, variance := range []bool{false, true} {
		held, want, spread := [2]float64{}, 0.0, 0.0
		for seed := range uint64(seeds) {
			x, y := waves(100+seed, 500+tested)
			all := matrix.Rows{Dense: x}
			m := fitted(t, source(t, all.Slice(0, 500), y[:1000], 2, nil),
				Config{Map: Map{Features: 48}, Learner: Named{Options: map[string]any{"conformal": level, "variance": variance, "lambda": 0.1}},
					Seed: seed + 1})
			m, err := read(fileOf(t, m))
			if err != nil {
				t.Fatal(err)
			}
			c := m.Conformal()
			if c.Level != level || c.Scaled != variance || c.Rows < 20 || c.Rows > 90 {
				t.Fatalf("%+v", c)
			}
			n := float64(c.Rows)
			mean := math.Ceil((n+1)*level) / (n + 1)
			want += mean / seeds
			spread += (mean*(1-mean)/(n+2) + mean*(1-mean)/tested) / (seeds * seeds)
			lower, upper, scores := matrix.NewDense(tested, 2), matrix.NewDense(tested, 2), matrix.NewDense(tested, 2)
			if err := m.Intervals(0, lower, upper, scores, all.Slice(500, 500+tested)); err != nil {
				t.Fatal(err)
			}
			for i := range tested {
				for c := range 2 {
					v := float32(y[2*(500+i)+c])
					if lower.Row(i)[c] <= v && v <= upper.Row(i)[c] {
						held[c] += 1.0 / (seeds * tested)
					}
				}
			}
		}
		for c, got := range held {
			if math.Abs(got-want) > 4*math.Sqrt(spread) {
				t.Errorf("variance %t, target %d: intervals hold %g of new rows, want %g ± %g", variance, c, got, want, 4*math.Sqrt(spread))
			}
		}
	}
}

func TestDeviationsAreOfTheModelAlone(t *testing.T) {
	x, y := waves(8, 400)
	all := matrix.Rows{Dense: x}
	m := fitted(t, source(t, all, y, 2, nil), Config{Map: Map{Features: 48}, Learner: Named{Options: map[string]any{"variance": true}}})
	noise := model.ReportOf[*learn.RidgeReport](&m.Info().Training).Noise
	got := matrix.NewDense(400, 2)
	if err := m.Deviations(got, all); err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Data {
		if !(float64(v) > noise[i%2]) || float64(v) > 3*noise[i%2] {
			t.Fatalf("deviation %d is %g, that of the noise %g", i, v, noise[i%2])
		}
	}
	// Far from the data the model knows that it knows less.
	far := matrix.NewDense(1, 3)
	copy(far.Data, []float32{15, -5, 15})
	beyond := matrix.NewDense(1, 2)
	if err := m.Deviations(beyond, matrix.Rows{Dense: far}); err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for i := range 400 {
		mean += float64(got.Row(i)[0]) / 400
	}
	if !(float64(beyond.Data[0]) > 1.05*mean) {
		t.Errorf("deviation %g far from all rows, %g among them", beyond.Data[0], mean)
	}
	data := fileOf(t, m)
	for _, name := range []string{"variance.factor", "variance.shift", "variance.noise", "variance.mean"} {
		if _, err := read(put(t, data, name, 0, math.NaN())); err == nil {
			t.Errorf("%s begins with NaN, and the file loads", name)
		}
	}
	plain := fitted(t, source(t, all, y, 2, nil), Config{Map: Map{Features: 48}})
	if err := plain.Deviations(got, all); err == nil {
		t.Error("a model without variance tells deviations")
	}
	if err := plain.Intervals(0, got, got, got, all); err == nil {
		t.Error("a model without intervals tells some")
	}
	cx, names := rings(9, 300, 2)
	for _, cfg := range []Config{{Learner: Named{Options: map[string]any{"variance": true}}, Map: Map{Features: 64}}, {Learner: Named{Options: map[string]any{"conformal": 0.9}}, Map: Map{Features: 64}}} {
		if _, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: cx}, nil, 1, names), cfg, Options{}); err == nil ||
			!strings.Contains(err.Error(), "the labels are classes") {
			t.Errorf("%+v for classes: %v", cfg, err)
		}
	}
}
