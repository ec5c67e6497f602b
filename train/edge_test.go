package train

import (
	"context"
	"errors"
	"math"
	"testing"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

func TestOddDataStillTrain(t *testing.T) {
	x, names := rings(12, 120, 2)
	constant := matrix.NewDense(120, 4) // columns 2 and 3 do not vary
	for i := range 120 {
		copy(constant.Row(i), x.Row(i))
		constant.Row(i)[2] = 1e9
	}
	twice := matrix.NewDense(120, 2) // ten rows, each twelve times
	twiceNames := make([]string, 120)
	for i := range 120 {
		copy(twice.Row(i), x.Row(i%10))
		twiceNames[i] = names[i%10]
	}
	mostlyEqual := matrix.NewDense(120, 2)
	mostlyEqual.Row(7)[0] = 1
	for name, c := range map[string]struct {
		x     *matrix.Dense
		names []string
	}{
		"constant columns": {constant, names}, "duplicates": {twice, twiceNames}, "all rows equal but one": {mostlyEqual, names},
	} {
		for _, cfg := range []Config{
			{Learner: Ridge{}, Map: Map{Features: 512}}, {Learner: SVM{}, Map: Map{Features: 512}}, // more features than rows
			{Learner: Ridge{}, Kernel: Kernel{Name: "linear"}}, {Learner: SVM{}, Kernel: Kernel{Name: "linear"}},
		} {
			m := fitted(t, source(t, matrix.Rows{Dense: c.x}, nil, 0, c.names), cfg)
			scores := matrix.NewDense(120, 1)
			if err := m.Scores(scores, matrix.Rows{Dense: c.x}); err != nil {
				t.Errorf("%s, %+v: %v", name, cfg, err)
			}
			right := 0
			for i := range 120 {
				v := scores.Row(i)
				if v[0]-v[0] != 0 {
					t.Fatalf("%s, %+v: row %d scores %g", name, cfg, i, v[0])
				}
				if m.Classes()[m.Class(v)] == c.names[i] {
					right++
				}
			}
			// Rings are far apart, so rbf features tell the training rows.
			if cfg.Kernel.Name == "" && name != "all rows equal but one" && right < 114 {
				t.Errorf("%s, %+v: %d of 120 training rows are right", name, cfg, right)
			}
		}
	}
}

func TestRegressionOfVeryFewRows(t *testing.T) {
	for n := 2; n < 8; n++ {
		for seed := uint64(1); seed < 6; seed++ { // other tenths are held out, some empty, some with all
			x, _ := rings(seed, n, 2)
			y := make([]float64, n)
			for i := range y {
				y[i] = 0.5 + float64(i)
			}
			m := fitted(t, source(t, matrix.Rows{Dense: x}, y, 1, nil), Config{Task: "regress", Map: Map{Features: 16}, Seed: seed})
			p, err := m.Predict(x.Row(0))
			if err != nil || math.Abs(float64(p[0].Values[0])) > 10*float64(n) {
				t.Errorf("%d rows, seed %d: %v, %v", n, seed, p, err)
			}
		}
	}
}

func TestMedianGammaOfEqualRowsSaysWhatToDo(t *testing.T) {
	y := make([]float64, 50)
	for i := range y {
		y[i] = float64(i) / 3
	}
	src := source(t, matrix.Rows{Dense: matrix.NewDense(50, 2)}, y, 1, nil)
	_, _, err := Fit(context.Background(), src, Config{Quick: true}, Options{})
	const want = "rows in memory: kernel: gamma by the median distance: all rows are equal; give gamma as a number"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	if _, _, err := Fit(context.Background(), src, Config{Kernel: Kernel{Gamma: "1"}}, Options{}); err != nil {
		t.Errorf("with γ given: %v", err)
	}
}

func TestSVMStopsInTheMiddle(t *testing.T) {
	x, names := rings(13, 2000, 5)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	for _, stage := range []string{"read", "map", "solve"} {
		ctx, cancel := context.WithCancel(context.Background())
		seen := false
		_, _, err := Fit(ctx, src, Config{Learner: SVM{C: 1, Tolerance: 1e-9}, Map: Map{Features: 64}},
			Options{Progress: func(s string, _ int, _ float64) {
				if s == stage {
					seen = true
					cancel()
				}
			}})
		if !seen || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled in %q (%t): %v", stage, seen, err)
		}
		cancel()
	}
}

func TestPredictSource(t *testing.T) {
	const n = 10_000 // more than a batch
	src := dataset.Generate(dataset.Synthetic{Rows: n, Dim: 5, Seed: 1})
	m := small(t)
	all, err := dataset.Collect(context.Background(), src, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := matrix.NewDense(n, 1)
	if err := m.Scores(want, all.X); err != nil {
		t.Fatal(err)
	}
	var kept []model.Prediction
	err = m.PredictSource(context.Background(), src, func(p model.Prediction) error {
		kept = append(kept, p)
		return nil
	})
	if err != nil || len(kept) != n {
		t.Fatalf("%d predictions, %v", len(kept), err)
	}
	for i, p := range kept {
		if p.Values[0] != float64(want.Data[i]) {
			t.Fatalf("row %d: %g, alone %g", i, p.Values[0], want.Data[i])
		}
	}
	stop, calls := errors.New("enough"), 0
	err = m.PredictSource(context.Background(), src, func(model.Prediction) error {
		if calls++; calls == 5 {
			return stop
		}
		return nil
	})
	if err != stop || calls != 5 {
		t.Errorf("stopped after %d calls: %v", calls, err)
	}
}
