package train

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// TestLabelsAreIndependentBinaryModels trains a model of labels and one of two classes for each.
func TestLabelsAreIndependentBinaryModels(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	const n = 900
	x, _, _, sets := drawn(21, n, 6, 3)
	for i := range n {
		sets[3*i+1] = sets[3*i+1] * sets[3*i] // correlated
	}
	for _, csr := range []bool{false, true} {
		rows := matrix.Rows{Dense: x}
		if csr {
			rows.Dense, rows.CSR = nil, sparse(x)
		}
		for _, cfg := range []Config{
			{Learner: Ridge{Lambda: 2}}, {Learner: SVM{C: 0.7}}, {Learner: SVM{C: 0.1, Loss: "hinge"}},
			{Learner: Logistic{C: 0.7, Tolerance: 1e-5}}, {Learner: Logistic{C: 2, Solver: "dual", Tolerance: 1e-4}},
			{Learner: SGD{Rate: 0.3}}, {Learner: SGD{Rate: 0.3, Optimizer: "adagrad"}},
		} {
			cfg.Kernel.Name, cfg.Scale, cfg.Task = "linear", "none", "multilabel"
			m, _, err := Fit(ctx, source(t, rows, sets, 3, nil), cfg, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if m.Classes() != nil || !slices.Equal(m.Labels(), []string{"0", "1", "2"}) || m.Outputs() != 3 {
				t.Fatalf("%+v", m.Info())
			}
			if m, err = read(fileOf(t, m)); err != nil {
				t.Fatal(err)
			}
			got := matrix.NewDense(n, 3)
			if err := m.Scores(got, rows); err != nil {
				t.Fatal(err)
			}
			for k := range 3 {
				var y []float64
				for i := range n {
					y = append(y, sets[3*i+k])
				}
				cfg.Task = "classify"
				one, _, err := Fit(ctx, source(t, rows, y, 1, nil), cfg, Options{})
				if err != nil {
					t.Fatal(err)
				}
				want := matrix.NewDense(n, 1)
				if err := one.Scores(want, rows); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					if a, b := float64(got.Row(i)[k]), float64(want.Row(i)[0]); math.Abs(a-b) > 1e-5*(1+math.Abs(b)) {
						t.Fatalf("%+v, label %d, row %d: score %g, of a model of two classes %g", cfg, k, i, a, b)
					}
				}
			}
		}
	}
}

func TestLabelsInListsArePredicted(t *testing.T) {
	ctx := context.Background()
	text, lists := "", []string{"", "3", "7", "3,7"}
	for i := range 200 {
		x := [][]string{{"2:1", ""}, {"1:1 2:1", "3"}, {"2:1 3:1", "7"}, {"1:1 2:1 3:1", "3,7"}}[i%4]
		text += x[1] + " " + x[0] + "\n"
	}
	src, err := dataset.OpenBytes(ctx, "f", []byte(text), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, learner := range []string{"auto", "ridge", "svm", "logistic", "online"} {
		m, _, err := Fit(ctx, src, Config{Learner: Named{Name: learner}, Kernel: Kernel{Name: "linear"}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		err = m.PredictSource(ctx, src, func(p model.Prediction) error {
			if want := lists[i%4]; string(m.AppendPrediction(nil, p.Scores)) != want || p.Label != "" || p.Values != nil {
				t.Errorf("%s: row %d: %v, want %s", learner, i, p, want)
			}
			i++
			return nil
		})
		if err != nil || i != 200 {
			t.Errorf("%d rows, %v", i, err)
		}
	}
}

func TestLabelsThatAllOrNoRowsHave(t *testing.T) {
	x, _, _, sets := drawn(22, 200, 6, 3)
	for i := range 200 {
		sets[3*i], sets[3*i+2] = 1, 0
	}
	for _, cfg := range []Config{{Learner: Ridge{}}, {Learner: SVM{}}, {Learner: Logistic{}},
		{Learner: Logistic{Solver: "dual"}}, {Learner: SGD{}}, {Learner: SVM{}, Calibrate: Calibration{Method: "isotonic"}},
		{Learner: SVM{}, Calibrate: Calibration{Method: "platt"}}} {
		cfg.Task, cfg.Map.Features = "multilabel", 32
		m, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, sets, 3, nil), cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(x.Row(0), x.Row(1), x.Row(2))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range p {
			if one.Scores[0] <= 0 || one.Scores[2] >= 0 || one.Labels[0] != "0" || slices.Contains(one.Labels, "2") {
				t.Errorf("%+v: %+v", cfg, one)
			}
		}
		if r := model.ReportOf[*learn.SVMReport](&m.Info().Training); r != nil && !r.Converged {
			t.Errorf("%+v", r)
		}
	}
}

func TestBagsHaveLabelsOfAnyNumber(t *testing.T) {
	ctx := context.Background()
	text := ""
	for i := range 80 {
		label := []string{"", "3", "7", "3,7"}[i%4]
		for range 1 + i%3 {
			text += fmt.Sprintf("%s qid:%d 1:%d 2:%d 3:1\n", label, i, i%2, i/2%2)
		}
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	src, err := dataset.OpenBags(ctx, path, dataset.Options{Group: "qid"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	m, _, err := FitBags(ctx, src, Config{Learner: Ridge{}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	err = m.PredictSource(ctx, m.Bag().Source(src), func(p model.Prediction) error {
		if want := []string{"", "3", "7", "3,7"}[i%4]; string(m.AppendPrediction(nil, p.Scores)) != want {
			t.Errorf("bag %d: %v, want %s", i, p.Labels, want)
		}
		i++
		return nil
	})
	if err != nil || i != 80 {
		t.Errorf("%d bags, %v", i, err)
	}
}

func TestStatisticsOfLabelsTakeMoreRows(t *testing.T) {
	ctx := context.Background()
	part := streams(t, 23, 500)["multilabel"]
	cfg := Config{Task: "multilabel", Learner: Ridge{Lambda: 3}, Kernel: Kernel{Name: "linear"}, Scale: "none"}
	whole, _, err := Fit(ctx, part(0, 500, false), cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, file := keeping(t, part(0, 200, false), cfg)
	m := continued(t, part(200, 500, false), statisticsOf(t, file), Config{Learner: Named{Options: map[string]any{"lambda": 3}}})
	x, _, _, _ := drawn(24, 50, 6, 3)
	sameScores(t, "labels", whole, m, matrix.Rows{Dense: x}, 1e-5)
	if !slices.Equal(m.Labels(), whole.Labels()) {
		t.Errorf("labels %v, want %v", m.Labels(), whole.Labels())
	}
	_, _, numbers, _ := drawn(25, 500, 6, 3)
	bad := source(t, matrix.Rows{Dense: x}, numbers[:150], 3, nil)
	if _, _, err := FitStatistics(ctx, bad, statisticsOf(t, file), Config{Learner: Named{Options: map[string]any{"lambda": 3}}},
		Options{}); err == nil ||
		!strings.Contains(err.Error(), "it has to be 0 or 1") {
		t.Errorf("numbers as labels: %v", err)
	}
	if _, _, err := FitStatistics(ctx, part(200, 500, false), statisticsOf(t, file),
		Config{Learner: Named{Options: map[string]any{"lambda": 3}}, Calibrate: Calibration{Method: "platt"}},
		Options{}); err == nil || !strings.Contains(err.Error(), "probabilities") {
		t.Errorf("calibration of statistics: %v", err)
	}
}

// At the optimum of a logistic regression with a free intercept the probabilities of a label add
// up to the rows that have it; so they do through saving, principal components and the dual.
func TestLabelProbabilitiesAddUpToTheRowsOfTheLabel(t *testing.T) {
	const n = 600
	x, _, _, sets := drawn(31, n, 6, 3)
	for i := range n {
		sets[3*i+2] = 1 // all rows have it: (n+1)/(n+2) each
	}
	rows := matrix.Rows{Dense: x}
	for _, cfg := range []Config{{Learner: Named{Options: map[string]any{"c": 2, "tolerance": 1e-5}}}, {Learner: Named{Options: map[string]any{"c": 2, "tolerance": 1e-5}}, Reduce: Reduction{Components: 12}}, {Learner: Named{Options: map[string]any{"c": 2, "solver": "dual", "tolerance": 1e-4}}}} {
		cfg.SetLearner("logistic")
		cfg.Task = "multilabel"
		cfg.Map.Features = 64
		m, err := read(fileOf(t, fitted(t, source(t, rows, sets, 3, nil), cfg)))
		if err != nil {
			t.Fatal(err)
		}
		if !m.HasProbabilities() {
			t.Fatalf("%+v has no probabilities", cfg)
		}
		scores, p, sums := matrix.NewDense(n, 3), make([]float64, 3), make([]float64, 6)
		if err := m.Scores(scores, rows); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := m.Probabilities(p, scores.Row(i)); err != nil {
				t.Fatal(err)
			}
			for k, v := range p {
				if v > 0.5 != (scores.Row(i)[k] > 0) {
					t.Errorf("%+v: row %d, label %d: probability %g of the score %g", cfg, i, k, v, scores.Row(i)[k])
				}
				sums[k] += v
				sums[3+k] += sets[3*i+k]
			}
		}
		for k := range 2 {
			if math.Abs(sums[k]-sums[3+k]) > 0.05 {
				t.Errorf("%+v: label %d: probabilities add up to %g, %g rows have it", cfg, k, sums[k], sums[3+k])
			}
		}
		if want := n * float64(n+1) / (n + 2); math.Abs(sums[2]-want) > 1e-4 {
			t.Errorf("%+v: probabilities of a label that all rows have add up to %g, want %g", cfg, sums[2], want)
		}
	}
}

func TestLogisticOfLabelsErrors(t *testing.T) {
	x, _, _, sets := drawn(31, 200, 6, 3)
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Learner: Named{Options: map[string]any{"multiclass": "multinomial"}}}, "takes one class a row"},
		{Config{Learner: Named{Options: map[string]any{"penalty": "l1"}}}, "the penalty l1 is for one class a row"},
		{Config{ClassWeight: "balanced"}, "class weights are for classes"},
	} {
		c.cfg.SetLearner("logistic")
		c.cfg.Task = "multilabel"
		if _, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, sets, 3, nil), c.cfg, Options{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}
