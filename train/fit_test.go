package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/app/digits"
	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/rfm"
	"mercer/matrix"
	"mercer/model"
)

// batched hands out the rows of a source in batches of another size.
type batched struct {
	dataset.Source
	size int
}

func (s *batched) Open(ctx context.Context) (dataset.Reader, error) {
	r, err := s.Source.Open(ctx)
	return &batchedReader{Reader: r, size: s.size}, err
}

type batchedReader struct {
	dataset.Reader
	size, at int
	have     *matrix.Batch
	out      matrix.Batch
}

func (r *batchedReader) Next() (*matrix.Batch, error) {
	if r.have == nil || r.at == r.have.X.Len() {
		b, err := r.Reader.Next()
		if err != nil {
			return nil, err
		}
		r.have, r.at = b, 0
	}
	end := min(r.at+r.size, r.have.X.Len())
	r.out = r.have.Slice(r.at, end)
	r.at = end
	return &r.out, nil
}

// rings are n rows of two dimensions in c rings around 0, which no linear model tells apart.
func rings(seed uint64, n, c int) (*matrix.Dense, []string) {
	s := random.New(seed, "rings")
	x := matrix.NewDense(n, 2)
	names := make([]string, n)
	for i := range n {
		class := s.Intn(c)
		radius := 1 + float64(class) + 0.2*s.Normal()
		a := 2 * math.Pi * s.Uniform()
		x.Row(i)[0], x.Row(i)[1] = float32(radius*math.Cos(a)), float32(radius*math.Sin(a))
		names[i] = string(rune('a' + class))
	}
	return x, names
}

func source(t testing.TB, x matrix.Rows, y []float64, outputs int, names []string) dataset.Source {
	t.Helper()
	src, err := dataset.FromRows(x, y, outputs, names)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func sparse(x *matrix.Dense) *matrix.CSR {
	m := &matrix.CSR{Rows: x.Rows, Cols: x.Cols, Ptr: []int{0}}
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if v != 0 {
				m.Idx, m.Val = append(m.Idx, int32(j)), append(m.Val, v)
			}
		}
		m.Ptr = append(m.Ptr, len(m.Idx))
	}
	return m
}

// wide are sparse rows of d dimensions with a few values each.
func wide(seed uint64, n, d int) *matrix.CSR {
	s := random.New(seed, "wide")
	x := matrix.NewDense(n, d)
	for i := range n {
		for range 5 {
			x.Row(i)[s.Intn(d)] = float32(1 + s.Intn(3))
		}
	}
	return sparse(x)
}

func fitted(t testing.TB, src dataset.Source, cfg Config) *model.Model {
	t.Helper()
	m, _, err := Fit(context.Background(), src, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModelBytesDependOnDataConfigAndSeedAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := rings(1, 700, 3)
	w := wide(2, 300, 50)
	y := make([]float64, 300)
	for i := range y {
		_, val := w.Row(i)
		y[i] = float64(len(val)) + 0.5*float64(i%7)
	}
	threads := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(threads)
	for name, c := range map[string]struct {
		src dataset.Source
		cfg Config
	}{
		"ridge of classes": {source(t, matrix.Rows{Dense: x}, nil, 0, names), Config{Learner: Ridge{}, Map: Map{Features: 64}}},
		"svm":              {source(t, matrix.Rows{Dense: x}, nil, 0, names), Config{Learner: SVM{}, Map: Map{Features: 64}}},
		"ridge of components": {source(t, matrix.Rows{Dense: x}, nil, 0, names),
			Config{Learner: Ridge{}, Map: Map{Features: 64}, Reduce: Reduction{Components: 10}}},
		"svm of components": {source(t, matrix.Rows{Dense: x}, nil, 0, names), Config{Learner: SVM{C: 1}, Map: Map{Features: 64},
			Reduce: Reduction{Share: 0.9, Whiten: true}}},
		"lasso": {source(t, matrix.Rows{CSR: w}, y, 1, nil), Config{Learner: Lasso{}, Map: Map{Features: 32}}},
		"svm on inputs": {source(t, matrix.Rows{Dense: x}, nil, 0, names),
			Config{Learner: SVM{C: 1}, Kernel: Kernel{Name: "linear"}}},
		"regression on sparse rows": {source(t, matrix.Rows{CSR: w}, y, 1, nil), Config{Map: Map{Features: 32}}},
		"linear on sparse rows":     {source(t, matrix.Rows{CSR: w}, y, 1, nil), Config{Kernel: Kernel{Name: "linear"}, Scale: "standard"}},
		"several outputs, laplacian": {source(t, matrix.Rows{CSR: w}, append(slices.Clone(y), y...), 2, nil),
			Config{Map: Map{Features: 32, Options: feature.Options{Form: "phase"}}, Kernel: Kernel{Name: "laplacian"}}},
		"quantile, diagonal metric": {source(t, matrix.Rows{Dense: x}, nil, 0, names),
			Config{Scale: "quantile", Kernel: Kernel{Name: "matern"}, Metric: Metric{Form: "diagonal", Landmarks: 40, Rounds: 1},
				Map: Map{Name: "nystrom", Features: 40}, Learner: Ridge{}}},
		"robust, full metric": {source(t, matrix.Rows{Dense: x}, nil, 0, names),
			Config{Scale: "robust", Metric: Metric{Form: "full", Rows: 200, Landmarks: 40, Rounds: 1}, Map: Map{Features: 40}, Learner: SVM{C: 1}}},
		"sparse rows, metric": {source(t, matrix.Rows{CSR: w}, y, 1, nil),
			Config{Scale: "quantile", Kernel: Kernel{Name: "laplacian"},
				Metric: Metric{Form: "diagonal", Rows: 200, Landmarks: 40, Rounds: 1}, Map: Map{Features: 40}}},
	} {
		var first []byte
		for _, procs := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(procs)
			for _, size := range []int{1, 17, 4096} {
				b := fileOf(t, fitted(t, &batched{c.src, size}, c.cfg))
				if first == nil {
					first = b
				} else if !bytes.Equal(first, b) {
					t.Errorf("%s: other bytes with %d threads and batches of %d", name, procs, size)
				}
			}
		}
		c.cfg.Seed = 2
		if bytes.Equal(first, fileOf(t, fitted(t, c.src, c.cfg))) {
			t.Errorf("%s: the seed changes nothing", name)
		}
	}
}

func TestLoadedModelPredictsTheSameBits(t *testing.T) {
	x, names := rings(3, 500, 4)
	m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names), Config{Map: Map{Features: 128}})
	loaded, err := read(fileOf(t, m))
	if err != nil {
		t.Fatal(err)
	}
	a, b := matrix.NewDense(500, 4), matrix.NewDense(500, 4)
	if err := errors.Join(m.Scores(a, matrix.Rows{Dense: x}), loaded.Scores(b, matrix.Rows{Dense: x})); err != nil {
		t.Fatal(err)
	}
	one := matrix.NewDense(1, 4)
	for i := range 500 {
		if err := m.Scores(one, matrix.Rows{Dense: x.Slice(i, i+1)}); err != nil {
			t.Fatal(err)
		}
		for k := range 4 {
			if a.Row(i)[k] != b.Row(i)[k] || a.Row(i)[k] != one.Row(0)[k] {
				t.Fatalf("row %d: %g trained, %g loaded, %g alone", i, a.Row(i)[k], b.Row(i)[k], one.Row(0)[k])
			}
		}
	}
}

func TestSparseAndDenseRowsScoreAlike(t *testing.T) {
	w := wide(4, 200, 40)
	y := make([]float64, 200)
	for i := range y {
		y[i] = float64(i%11) + 0.25
	}
	m := fitted(t, source(t, matrix.Rows{CSR: w}, y, 1, nil), Config{Map: Map{Features: 64}})
	var dense matrix.Dense
	w.Densify(&dense)
	a, b := matrix.NewDense(200, 1), matrix.NewDense(200, 1)
	if err := errors.Join(m.Scores(a, matrix.Rows{CSR: w}), m.Scores(b, matrix.Rows{Dense: &dense})); err != nil {
		t.Fatal(err)
	}
	for i, v := range a.Data {
		if math.Abs(float64(v-b.Data[i])) > 1e-4 {
			t.Errorf("row %d: %g sparse, %g dense", i, v, b.Data[i])
		}
	}
}

func TestScoresAllocateNothingARow(t *testing.T) {
	x, names := rings(5, 300, 2)
	m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names), Config{Map: Map{Features: 64}})
	count := func(rows int) float64 {
		part := matrix.Rows{Dense: x.Slice(0, rows)}
		dst := matrix.NewDense(rows, 1)
		return testing.AllocsPerRun(50, func() {
			if err := m.Scores(dst, part); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, many := count(1), count(256); !raceDetector && (one > 4 || many > 24) {
		t.Errorf("%g allocations for one row, %g for 256", one, many)
	}
}

func TestScoresFromManyGoroutines(t *testing.T) {
	x, names := rings(6, 300, 3)
	m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names), Config{Map: Map{Features: 64}})
	want := matrix.NewDense(300, 3)
	if err := m.Scores(want, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for size := 1; size <= 300; size += 37 + g {
				got := matrix.NewDense(size, 3)
				if err := m.Scores(got, matrix.Rows{Dense: x.Slice(0, size)}); err != nil {
					t.Error(err)
				}
				for i, v := range got.Data {
					if v != want.Data[i] {
						t.Errorf("score %d: %g, alone %g", i, v, want.Data[i])
						return
					}
				}
			}
		})
	}
	wait.Wait()
}

func TestScoresRefuseWrongRows(t *testing.T) {
	m := small(t)
	dst := matrix.NewDense(1, 1)
	for name, x := range map[string]matrix.Rows{
		"too narrow":      {Dense: matrix.NewDense(1, 4)},
		"too wide":        {Dense: matrix.NewDense(1, 6)},
		"sparse too wide": {CSR: &matrix.CSR{Rows: 1, Cols: 6, Ptr: []int{0, 0}}},
		"NaN":             {Dense: &matrix.Dense{Rows: 1, Cols: 5, Stride: 5, Data: []float32{0, float32(math.NaN()), 0, 0, 0}}},
		"too large":       {Dense: &matrix.Dense{Rows: 1, Cols: 5, Stride: 5, Data: []float32{3e38, 3e38, 3e38, 3e38, -3e38}}},
		"Inf":             {CSR: &matrix.CSR{Rows: 1, Cols: 3, Ptr: []int{0, 1}, Idx: []int32{2}, Val: []float32{float32(math.Inf(1))}}},
	} {
		if err := m.Scores(dst, x); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := m.Scores(dst, matrix.Rows{CSR: &matrix.CSR{Rows: 1, Cols: 3, Ptr: []int{0, 0}}}); err != nil {
		t.Errorf("narrower sparse rows: %v", err)
	}
}

func TestRBFLearnsWhatLinearCannot(t *testing.T) {
	train, trainNames := rings(7, 1000, 3)
	test, testNames := rings(8, 1000, 3)
	wrong := func(cfg Config) float64 {
		m := fitted(t, source(t, matrix.Rows{Dense: train}, nil, 0, trainNames), cfg)
		scores := matrix.NewDense(1000, 3)
		if err := m.Scores(scores, matrix.Rows{Dense: test}); err != nil {
			t.Fatal(err)
		}
		n := 0
		for i, name := range testNames {
			if m.Classes()[m.Class(scores.Row(i))] != name {
				n++
			}
		}
		return float64(n) / 1000
	}
	for _, learner := range []string{"ridge", "svm"} {
		// Neighbouring rings are 5 deviations apart: the best rule errs on 1 % or less.
		if e := wrong(Config{Learner: Named{Name: learner}, Map: Map{Features: 256}}); e > 0.03 {
			t.Errorf("%s on rbf features errs on %.1f %%", learner, 100*e)
		}
		if e := wrong(Config{Learner: Named{Name: learner}, Kernel: Kernel{Name: "linear"}}); e < 0.4 {
			t.Errorf("%s on the inputs errs on %.1f %% only; the test is too easy", learner, 100*e)
		}
	}
}

func TestDigitsByDefault(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	src, err := dataset.OpenBytes(context.Background(), "digits.csv.gz", digits.CSVGz, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	train, test := dataset.Split(src, 0.25, 1)
	all, err := dataset.Collect(context.Background(), test, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, quick := range testenv.Few(t, []bool{true, false}, 1, "the default learner errs on at most 2.5 % of the digits") {
		m := fitted(t, train, Config{Quick: quick})
		training := &m.Info().Training
		if fast := model.ReportOf[*learn.SVMReport](training) != nil; fast != quick || !quick && model.ReportOf[*rfm.Report](training) == nil ||
			m.Info().Scale != "global" {
			t.Errorf("chose scaling %s and %+v", m.Info().Scale, training)
		}
		classes := dataset.NewClasses(m.Classes())
		scores := matrix.NewDense(all.X.Len(), 10)
		if err := m.Scores(scores, all.X); err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i := range scores.Rows {
			if m.Class(scores.Row(i)) != classes.Of(all, i) {
				wrong++
			}
		}
		if e := float64(wrong) / float64(scores.Rows); e > 0.025 {
			t.Errorf("quick %v: errs on %.1f %% of the digits", quick, 100*e)
		}
	}
}

func TestWeightsAreRepetitions(t *testing.T) {
	x, _ := rings(9, 60, 2)
	y := make([]float64, 60)
	for i := range y {
		y[i] = float64(x.Row(i)[0]*x.Row(i)[1]) + 10
	}
	repeated := &matrix.Dense{Cols: 2, Stride: 2}
	var yy []float64
	for i := range 60 {
		for range 1 + i%3 {
			repeated.Data = append(repeated.Data, x.Row(i)...)
			repeated.Rows++
			yy = append(yy, y[i])
		}
	}
	cfg := Config{Map: Map{Features: 32}, Learner: Named{Options: map[string]any{"lambda": 0.1}}, Kernel: Kernel{Gamma: "0.5"},
		Scale: "none", Task: "regress"}
	weighted := fitted(t, &weightedSource{source(t, matrix.Rows{Dense: x}, y, 1, nil)}, cfg)
	plain := fitted(t, source(t, matrix.Rows{Dense: repeated}, yy, 1, nil), cfg)
	for i, v := range plain.Predictor().(model.Linear).W.Data {
		if math.Abs(float64(weighted.Predictor().(model.Linear).W.Data[i]-v)) > 1e-4*math.Max(1, math.Abs(float64(v))) {
			t.Errorf("weight %d: %g by weights, %g by repetition", i, weighted.Predictor().(model.Linear).W.Data[i], v)
		}
	}
}

// weightedSource gives row i the weight 1 + i mod 3.
type weightedSource struct{ dataset.Source }

func (s *weightedSource) Open(ctx context.Context) (dataset.Reader, error) {
	r, err := s.Source.Open(ctx)
	return &weightedReader{r}, err
}

type weightedReader struct{ dataset.Reader }

func (r *weightedReader) Next() (*matrix.Batch, error) {
	b, err := r.Reader.Next()
	if err != nil {
		return nil, err
	}
	b.Weights = make([]float64, b.X.Len())
	for i := range b.Weights {
		b.Weights[i] = float64(1 + (b.First+i)%3)
	}
	return b, nil
}

func TestFitErrors(t *testing.T) {
	x, names := rings(10, 200, 2)
	same := make([]string, 200)
	numbers := make([]float64, 200)
	for i := range same {
		same[i] = "a"
		numbers[i] = float64(i) / 3
	}
	equal := matrix.NewDense(200, 2)
	dense := matrix.Rows{Dense: x}
	above := matrix.NewDense(200, 2) // or 0
	for i := range above.Data {
		above.Data[i] = x.Data[i] * x.Data[i]
	}
	positive := matrix.Rows{Dense: above}
	manyDims := &matrix.CSR{Rows: 200, Cols: 100_000, Ptr: make([]int, 201)}
	for i := range 200 {
		manyDims.Idx, manyDims.Val = append(manyDims.Idx, int32(i*400)), append(manyDims.Val, 1)
		manyDims.Ptr[i+1] = i + 1
	}
	for _, c := range []struct {
		name, want string
		src        dataset.Source
		cfg        Config
		memory     int64
	}{
		{"no labels", "labels", source(t, dense, nil, 0, nil), Config{}, 0},
		{"one class", "at least two", source(t, dense, nil, 0, same), Config{}, 0},
		{"text to regress", "no number", source(t, dense, nil, 0, names), Config{Task: "regress"}, 0},
		{"svm of numbers", "ridge", source(t, dense, numbers, 1, nil), Config{Learner: SVM{}}, 0},
		{"equal rows", "equal", source(t, matrix.Rows{Dense: equal}, nil, 0, names), Config{Quick: true}, 0},
		{"odd features", "use 34", source(t, dense, nil, 0, names), Config{Map: Map{Features: 33}}, 0},
		{"too little memory for ridge", "fewer features", source(t, dense, nil, 0, names),
			Config{Learner: Ridge{}, Map: Map{Features: 512}}, 1 << 20},
		{"too little memory for ridge and terms", "use fewer terms or", source(t, positive, nil, 0, names),
			Config{Learner: Ridge{}, Kernel: Kernel{Name: "chi2"}, Map: Map{Name: "chebyshev",
				Options: feature.Options{Terms: 300, Stretch: 1}}, Scale: "none"}, 1 << 20},
		{"too little memory for ridge and a map of a given size", "use another map, which", source(t, positive, nil, 0, names),
			Config{Learner: Ridge{}, Kernel: Kernel{Name: "poly", Degree: 40, Coef0: 1}, Map: Map{Name: "explicit-poly"}}, 1 << 20},
		{"too little memory for ridge and steps", "use fewer features in the steps", source(t, dense, nil, 0, names),
			Config{Learner: Ridge{}, Map: Map{Name: "sum", Steps: []feature.Config{{Map: "rff", Features: 512}}}}, 1 << 20},
		{"too little memory for svm", "learner=ridge", source(t, dense, nil, 0, names), Config{Learner: SVM{}, Map: Map{Features: 2048}},
			1 << 20},
		{"ridge on very wide rows", "learner=svm", source(t, matrix.Rows{CSR: manyDims}, nil, 0, names),
			Config{Kernel: Kernel{Name: "linear"}, Learner: Ridge{}}, 1 << 30},
	} {
		m, _, err := Fit(context.Background(), c.src, c.cfg, Options{Memory: c.memory})
		if m != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestFitOfVeryFewRows(t *testing.T) {
	for n := 2; n < 12; n++ {
		x, names := rings(11, n, 2)
		names[0], names[1] = "a", "b"
		for _, learner := range []string{"ridge", "svm"} {
			m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names), Config{Learner: Named{Name: learner}, Map: Map{Features: 16}})
			if _, err := m.Predict(x.Row(0)); err != nil {
				t.Errorf("%d rows, %s: %v", n, learner, err)
			}
		}
	}
}

func TestFitStopsWhenToldTo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	src := dataset.Generate(dataset.Synthetic{Rows: 1_000_000, Dim: 5, Seed: 1})
	_, _, err := Fit(ctx, src, Config{Map: Map{Features: 16}}, Options{Progress: func(stage string, rows int, _ float64) {
		if stage == "train" && rows > 10_000 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestConfigCheck(t *testing.T) {
	if err := (Config{}).Check(); err != nil {
		t.Errorf("the zero Config: %v", err)
	}
	for _, c := range []Config{
		{Task: "guess"}, {Scale: "big"}, {Kernel: Kernel{Name: "magic"}}, {Learner: Named{Name: "oracle"}}, {Learner: Named{Options: map[string]any{"loss": "cubic"}}},
		{Kernel: Kernel{Gamma: "x"}}, {Kernel: Kernel{Gamma: "-1"}}, {Kernel: Kernel{Gamma: "0"}}, {Kernel: Kernel{Gamma: "NaN"}}, {Kernel: Kernel{Gamma: "Inf"}}, {Kernel: Kernel{Sigma: -1}}, {Kernel: Kernel{Sigma: math.NaN()}},
		{Kernel: Kernel{Gamma: "2", Sigma: 1}}, {Map: Map{Features: -2}}, {Learner: Named{Options: map[string]any{"lambda": -1}}}, {Learner: Named{Options: map[string]any{"lambda": math.Inf(1)}}}, {Learner: Named{Options: map[string]any{"c": -1}}}, {Learner: Named{Options: map[string]any{"c": math.NaN()}}},
		{Kernel: Kernel{Name: "linear"}, Map: Map{Features: 10}}, {Kernel: Kernel{Name: "linear"},
			Map: Map{Name: "orf"}}, {Map: Map{Name: "magic"}}, {Map: Map{Options: feature.Options{Form: "round"}}},
		{Kernel: Kernel{Name: "laplacian"}, Map: Map{Name: "orf"}}, {Map: Map{Features: 33}},
	} {
		if err := c.Check(); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

func TestReportSaysWhereGammaComesFrom(t *testing.T) {
	src := dataset.Generate(dataset.Synthetic{Rows: 100, Dim: 5, Seed: 1})
	for kernel, want := range map[string]string{
		"rbf": "from the median distance of random pairs of rows", "poly": "from the median length of rows",
		"exp": "from the median length of rows", "arccos": "",
	} {
		m, _, err := Fit(context.Background(), src, Config{Kernel: Kernel{Name: kernel}, Map: Map{Features: 32},
			Learner: Named{Options: map[string]any{"lambda": 1}}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Info().Training.Why["gamma"]; got != want {
			t.Errorf("%s: γ %q, want %q", kernel, got, want)
		}
	}
}

func TestSVMStaysWhereRidgeWouldTakeMore(t *testing.T) {
	for _, c := range []struct {
		rows, features int
		want           string
	}{{1 << 17, 4096, "svm"}, {1<<17 + 1, 4096, "ridge"}, {3000, 1 << 18, "svm"}} {
		p, _, err := FitPipeline(context.Background(), source(t, matrix.Rows{Dense: &matrix.Dense{Rows: 2, Cols: 1, Stride: 1, Data: []float32{0, 1}}}, nil, 0, nil),
			Config{Map: Map{Name: "rff", Features: c.features}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := &job{pipe: p}
		f.run = run{cfg: Config{Task: "auto", Learner: Named{Name: "auto"}}, why: map[string]string{}}
		f.sum, f.answers = &dataset.Summary{Rows: c.rows}, answers{task: "classify", outputs: 1, classes: dataset.NewClasses([]string{"a", "b"})}
		if err := f.choose(""); err != nil || f.cfg.LearnerName() != c.want {
			t.Errorf("%d rows of %d features: %s, want %s", c.rows, c.features, f.cfg.LearnerName(), c.want)
		}
	}
}
