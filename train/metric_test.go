package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/model"
)

// hidden are rows of d columns, of which the first two tell the answer.
func hidden(seed uint64, n, d int) (*matrix.Dense, []float64) {
	r := random.New(seed, "hidden")
	x, y := matrix.NewDense(n, d), make([]float64, n)
	r.FillNormal(x.Data)
	for i := range n {
		row := x.Row(i)
		y[i] = math.Sin(2*float64(row[0])) + float64(row[0]*row[1]) + 0.1*r.Normal()
	}
	return x, y
}

// A diagonal metric is the training on columns that are multiplied by its weights, to the bit.
func TestDiagonalMetricIsScaledColumns(t *testing.T) {
	x, y := hidden(1, 600, 6)
	for _, cfg := range []Config{
		{Kernel: Kernel{Name: "rbf"}, Map: Map{Name: "rff"}, Learner: Ridge{Lambda: 1}},
		{Kernel: Kernel{Name: "laplacian"}, Map: Map{Name: "nystrom"}, Learner: Ridge{Lambda: 1}},
		{Kernel: Kernel{Name: "matern"}, Learner: Falkon{Lambda: 0.1}},
		{Kernel: Kernel{Name: "matern"}, Learner: KernelRidge{Lambda: 0.1}},
	} {
		cfg.Scale, cfg.Metric.Form, cfg.Metric.Landmarks = "none", "diagonal", 100
		if cfg.LearnerName() != "kernel-ridge" {
			cfg.Map.Features = 64
		}
		m := fitted(t, source(t, matrix.Rows{Dense: x}, y, 1, nil), cfg)
		by := m.Pipeline().Metric()
		if by == nil {
			t.Fatalf("%s: plain distances were kept: %+v", cfg.Kernel.Name, m.Info().Training.Metric)
		}
		scaled := matrix.NewDense(600, 6)
		for i := range 600 {
			for j, v := range x.Row(i) {
				scaled.Row(i)[j] = v * by.Weights[j]
			}
		}
		plain := cfg
		plain.Metric.Form, plain.Metric.Landmarks = "", 0
		k := m.Info().Kernel
		if k == nil {
			k = &m.Info().Feature.Kernel
		}
		plain.Kernel.Gamma = strconv.FormatFloat(k.Gamma, 'g', -1, 64)
		other := fitted(t, source(t, matrix.Rows{Dense: scaled}, y, 1, nil), plain)
		p, q := matrix.NewDense(600, 1), matrix.NewDense(600, 1)
		if err := errors.Join(m.Scores(p, matrix.Rows{Dense: x}), other.Scores(q, matrix.Rows{Dense: scaled})); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Data, q.Data) {
			t.Errorf("%s of %s: other scores with columns that are multiplied", cfg.LearnerName(), cfg.Kernel.Name)
		}
	}
}

// Models with a metric, by features and by the kernel itself, of dense and sparse rows, are read as they were
// written, and are better than those by plain distances.
func TestModelsWithMetric(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := hidden(2, 1200, 12)
	tx, ty := hidden(3, 1000, 12)
	for _, cfg := range []Config{
		{Metric: Metric{Form: "diagonal"}, Map: Map{Name: "rff"}, Learner: Ridge{}},
		{Metric: Metric{Form: "full"}, Map: Map{Name: "nystrom"}, Kernel: Kernel{Name: "matern"}, Learner: Ridge{}},
		{Metric: Metric{Form: "low-rank", Rank: 4}, Map: Map{Name: "sorf"}, Learner: SVR{C: 10}},
		{Metric: Metric{Form: "diagonal"}, Kernel: Kernel{Name: "laplacian"}, Learner: Falkon{}},
		{Metric: Metric{Form: "low-rank"}, Kernel: Kernel{Name: "matern", Nu: 2.5}, Learner: KernelRidge{}},
	} {
		cfg.Scale, cfg.Metric.Landmarks = "quantile", 300
		if cfg.LearnerName() != "kernel-ridge" {
			cfg.Map.Features = 256
		}
		plain := cfg
		plain.Metric.Form, plain.Metric.Rank, plain.Metric.Landmarks = "", 0, 0
		name := fmt.Sprintf("%s %s %s", cfg.Metric.Form, cfg.Kernel.Name, cfg.LearnerName())
		for _, thin := range []bool{false, true} {
			rows := func(x *matrix.Dense) matrix.Rows {
				if thin {
					return matrix.Rows{CSR: sparse(x)}
				}
				return matrix.Rows{Dense: x}
			}
			error2 := func(m *model.Model) float64 {
				p := matrix.NewDense(1000, 1)
				if err := m.Scores(p, rows(tx)); err != nil {
					t.Fatal(err)
				}
				sum := 0.0
				for i, v := range p.Data {
					sum += (float64(v) - ty[i]) * (float64(v) - ty[i])
				}
				return sum
			}
			m := fitted(t, source(t, rows(x), y, 1, nil), cfg)
			learned, isotropic := error2(m), error2(fitted(t, source(t, rows(x), y, 1, nil), plain))
			if learned > 0.7*isotropic {
				t.Errorf("%s, sparse %t: a squared error of %.3g, by plain distances %.3g", name, thin, learned, isotropic)
			}
			loaded, err := read(fileOf(t, m))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sameScores(t, name, m, loaded, rows(tx), 0)
			if loaded.Info().Training.Metric.Form != cfg.Metric.Form {
				t.Errorf("%s: the file tells of %+v", name, loaded.Info().Training.Metric)
			}
		}
	}
}

// What a map estimates on rows by a metric is the kernel by the metric, over many seeds (sorf is biased in few
// dimensions, with or without).
func TestMapsAreUnbiasedUnderAMetric(t *testing.T) {
	x, y := hidden(4, 400, 5)
	const seeds, pairs = 400, 5
	for _, name := range []string{"rff", "orf"} {
		sum, square, want := [pairs]float64{}, [pairs]float64{}, [pairs]float64{}
		var m *model.Model
		for seed := range seeds {
			// The metric is that of the first model for all.
			if m == nil {
				m = fitted(t, source(t, matrix.Rows{Dense: x}, y, 1, nil),
					Config{Scale: "none", Kernel: Kernel{Name: "matern"}, Metric: Metric{Form: "full", Landmarks: 100},
						Map: Map{Name: name, Features: 32}, Learner: Ridge{Lambda: 1}})
			}
			f := *m.Pipeline().Feature()
			f.Seed = uint64(seed + 1)
			u, err := m.Pipeline().Scale(matrix.Rows{Dense: x.Slice(0, 2*pairs)})
			if err != nil {
				t.Fatal(err)
			}
			by, err := feature.Fit(t.Context(), f, u)
			if err != nil {
				t.Fatal(err)
			}
			z := feature.Apply(by, u, &matrix.Dense{}, &matrix.CSR{}).Dense
			for p := range pairs {
				dot := 0.0
				for j, v := range z.Row(2 * p) {
					dot += float64(v) * float64(z.Row(2*p + 1)[j])
				}
				sum[p] += dot
				square[p] += dot * dot
				want[p] = f.Kernel.Eval(u.Dense.Row(2*p), u.Dense.Row(2*p+1))
			}
		}
		for p := range pairs {
			mean := sum[p] / seeds
			deviation := math.Sqrt(max(0, square[p]/seeds-mean*mean) / seeds)
			if math.Abs(mean-want[p]) > 5*deviation+1e-6 {
				t.Errorf("%s: z·z = %g ± %g, k = %g", name, mean, deviation, want[p])
			}
		}
	}
}

func TestMetricErrors(t *testing.T) {
	x, y := hidden(5, 100, 3)
	src := source(t, matrix.Rows{Dense: x}, y, 1, nil)
	for name, c := range map[string]struct {
		cfg  Config
		says string
	}{
		"form":     {Config{Metric: Metric{Form: "square"}}, "metric"},
		"kernel":   {Config{Metric: Metric{Form: "diagonal"}, Kernel: Kernel{Name: "poly"}}, "distances"},
		"linear":   {Config{Metric: Metric{Form: "diagonal"}, Kernel: Kernel{Name: "linear"}}, "distances"},
		"axes":     {Config{Metric: Metric{Form: "full"}, Kernel: Kernel{Name: "laplacian"}}, "diagonal"},
		"gamma":    {Config{Metric: Metric{Form: "diagonal"}, Kernel: Kernel{Gamma: "0.5"}}, "median"},
		"sigma":    {Config{Metric: Metric{Form: "diagonal"}, Kernel: Kernel{Sigma: 2}}, "median"},
		"outliers": {Config{Metric: Metric{Form: "diagonal"}, Task: "outliers"}, "outliers"},
		"few rows": {Config{Metric: Metric{Form: "diagonal", Rows: 3}}, "10"},
		"chain": {Config{Metric: Metric{Form: "diagonal"}, Map: Map{Name: "chain",
			Steps: []feature.Config{{Map: "rff", Features: 8}}}}, "chain"},
		"multilabel": {Config{Metric: Metric{Form: "diagonal"}, Task: "multilabel"}, ""},
	} {
		_, _, err := Fit(context.Background(), src, c.cfg, Options{})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want something about %q", name, err, c.says)
		}
	}
	if _, _, err := FitPipeline(context.Background(), src, Config{Metric: Metric{Form: "diagonal"}}, Options{}); err == nil {
		t.Error("a pipeline without a learner has a metric")
	}
}

// A plan knows the dimensions that a metric of low rank leaves.
func TestPlanWithMetric(t *testing.T) {
	x, y := hidden(6, 300, 40)
	src := source(t, matrix.Rows{Dense: x}, y, 1, nil)
	for form, dim := range map[string]int{"diagonal": 40, "full": 40, "low-rank": 10} {
		p, err := NewPlan(context.Background(), src, 100_000, Config{Metric: Metric{Form: form}, Learner: Falkon{}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Features != dim {
			t.Errorf("%s: %d dimensions, want %d", form, p.Features, dim)
		}
	}
}
