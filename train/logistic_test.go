package train

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

func TestLogisticLearnsRings(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := rings(31, 1500, 3)
	test, truth := rings(32, 600, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	for _, cfg := range []Config{{}, {Learner: Named{Options: map[string]any{"multiclass": "ovr"}}}, {Learner: Named{Options: map[string]any{"penalty": "l1"}}}, {Learner: Named{Options: map[string]any{"c": 30}}}, {Learner: Named{Options: map[string]any{"penalty": "l1", "c": 30}}}, {Reduce: Reduction{Components: 40}},
		{Learner: Named{Options: map[string]any{"solver": "dual"}}}, {Learner: Named{Options: map[string]any{"solver": "dual", "c": 30}}}} {
		cfg.SetLearner("logistic")
		cfg.Map.Features = 128
		m := fitted(t, src, cfg)
		scores := matrix.NewDense(600, 3)
		if err := m.Scores(scores, matrix.Rows{Dense: test}); err != nil {
			t.Fatal(err)
		}
		wrong, logLoss := 0, 0.0
		p := make([]float64, 3)
		for i := range 600 {
			if m.Classes()[m.Class(scores.Row(i))] != truth[i] {
				wrong++
			}
			if err := m.Probabilities(p, scores.Row(i)); err != nil {
				t.Fatal(err)
			}
			if cfg.Get("multiclass").(string) != "ovr" && cfg.Get("penalty").(string)+cfg.Get("solver").(string) == "" { // softmax
				a, b := math.Log(p[1]/p[0]), float64(scores.Row(i)[1]-scores.Row(i)[0])
				if p[0] > 1e-6 && p[1] > 1e-6 && math.Abs(a-b) > 1e-4 {
					t.Fatalf("%+v: log-odds %g of scores that differ by %g", cfg, a, b)
				}
			}
			logLoss -= math.Log(p[truth[i][0]-'a']) / 600
		}
		// Neighbouring rings are 5 deviations apart: 0.6 % lie beyond the middle, and the outer
		// two rings of three are neighbours on both sides.
		if wrong > 18 {
			t.Errorf("%+v: %d of 600 are wrong", cfg, wrong)
		}
		if logLoss > 0.2 { // ln 3 = 1.1 says nothing
			t.Errorf("%+v: log-loss %g", cfg, logLoss)
		}
		info := m.Info().Training
		if (model.ReportOf[*learn.L1Report](&info) != nil) != (cfg.Get("penalty").(string) == "l1") ||
			(model.ReportOf[*learn.SVMReport](&info) != nil) != (cfg.Get("solver").(string) == "dual") ||
			(model.ReportOf[*learn.PrimalReport](&info) != nil) != (cfg.Get("penalty").(string)+cfg.Get("solver").(string) == "") {
			t.Errorf("%+v: reports %+v, %+v", cfg, model.ReportOf[*learn.PrimalReport](&info), model.ReportOf[*learn.L1Report](&info))
		}
		lines := strings.Join(info.Lines(), "\n")
		if strings.Contains(lines, "held-out rows") != (cfg.Get("c").(float64) == 0) || !strings.Contains(lines, "converged") {
			t.Errorf("%+v: %s", cfg, lines)
		}
		if cfg.Get("penalty").(string) == "l1" && !strings.Contains(lines, "weights are not zero") {
			t.Errorf("%+v: %s", cfg, lines)
		}
	}
}

// A sparse problem: 20 of 300 columns tell the classes apart.
func TestL1PenaltyFindsTheFewColumnsThatCount(t *testing.T) {
	x := wide(33, 800, 300)
	names := make([]string, 800)
	for i := range names {
		idx, val := x.Row(i)
		sum := float32(0)
		for e, j := range idx {
			if j < 20 {
				sum += val[e]
			}
		}
		names[i] = map[bool]string{false: "no", true: "yes"}[sum > 0]
	}
	m := fitted(t, source(t, matrix.Rows{CSR: x}, nil, 0, names),
		Config{Learner: Logistic{Penalty: "l1", C: 0.5}, Kernel: Kernel{Name: "linear"},
			Scale: "none"})
	w := m.Predictor().(model.Logistic).W
	inside, outside := 0, 0
	for j, v := range w.Data {
		switch {
		case v == 0:
		case j < 20:
			inside++
		default:
			outside++
		}
	}
	if inside != 20 || outside > 60 {
		t.Errorf("weights that are not zero: %d of the 20 columns that count, %d of the 280 others (%v)", inside, outside,
			m.Info().Training.Lines())
	}
}

func TestLogisticModelsDependOnDataConfigAndSeedAlone(t *testing.T) {
	x, names := rings(34, 400, 3)
	for _, cfg := range []Config{{}, {Learner: Named{Options: map[string]any{"penalty": "l1"}}}} {
		cfg.SetLearner("logistic")
		cfg.Map.Features = 64
		before := runtime.GOMAXPROCS(1)
		var want []byte
		for _, threads := range []int{1, 3} {
			runtime.GOMAXPROCS(threads)
			var b bytes.Buffer
			if err := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names), cfg).Write(&b); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = b.Bytes()
			} else if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%+v: other bytes on %d threads", cfg, threads)
			}
		}
		runtime.GOMAXPROCS(before)
		m, err := model.Read(bytes.NewReader(want), int64(len(want)))
		if err != nil {
			t.Fatal(err)
		}
		if !m.HasProbabilities() {
			t.Errorf("%+v: read back without probabilities", cfg)
		}
		if info := m.Info().Training; info.Learner != "logistic" || model.ReportOf[*learn.PrimalReport](&info) == nil &&
			model.ReportOf[*learn.L1Report](&info) == nil {
			t.Errorf("%+v: read back as %+v", cfg, info)
		}
	}
}

func TestClassWeightsMoveLogisticScores(t *testing.T) {
	x, names := rings(35, 400, 2)
	src := func() dataset.Source { return source(t, matrix.Rows{Dense: x}, nil, 0, names) }
	second := func(weights string) int {
		m := fitted(t, src(), Config{Learner: Logistic{C: 1}, Kernel: Kernel{Name: "linear"}, ClassWeight: weights})
		scores := matrix.NewDense(400, 1)
		if err := m.Scores(scores, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, s := range scores.Data {
			count += m.Class([]float32{s})
		}
		return count
	}
	// Linear models see nothing of rings, and choose the heavier class.
	if second("b=10") != 400 || second("a=10") != 0 {
		t.Errorf("%d of 400 in class b where it counts 10 times, %d where a does", second("b=10"), second("a=10"))
	}
}

func TestLogisticErrors(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Learner: Logistic{Penalty: "l3"}}, `the learner logistic has no penalty "l3"; it has l2, l1`},
		{Config{Learner: Logistic{Multiclass: "ovo"}}, `the learner logistic has no multiclass "ovo"; it has multinomial`},
		{Config{Learner: Logistic{Solver: "magic"}}, `the learner logistic has no solver "magic"; it has auto, primal, dual`},
		{Config{Learner: Logistic{Penalty: "l1", Multiclass: "multinomial"}},
			"with the penalty l1, logistic takes each class against the rest"},
		{Config{Learner: Logistic{Solver: "dual", Multiclass: "multinomial"}}, "the dual of logistic takes each class against the rest"},
		{Config{Learner: Logistic{Solver: "dual", Penalty: "l1"}}, "the penalty l1 has a solver of the primal only"},
		{Config{Learner: Named{Name: "logistic", Options: map[string]any{"lambda": 1}}},
			"the learner logistic has no option lambda; it belongs to ridge"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"penalty": "l1"}}},
			"the learner ridge has no option penalty; it belongs to"},
		{Config{Learner: Named{Options: map[string]any{"multiclass": "multinomial"}}},
			`the learner svm has no multiclass "multinomial"; it has ovr, crammer-singer`},
		{Config{Learner: Logistic{}, Task: "regress"}, "the learner logistic cannot regress"},
	} {
		if err := c.cfg.Check(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	x, names := rings(36, 200, 2)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	_, _, err := Fit(context.Background(), src, Config{Learner: Logistic{Penalty: "l1"}, Map: Map{Features: 1024}}, Options{Memory: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "8·n·D bytes") {
		t.Errorf("too little memory: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Fit(ctx, src, Config{Learner: Logistic{}}, Options{}); err == nil {
		t.Error("trained though it was told to stop")
	}
}

// The two solvers reach one optimum.
func TestDualAndPrimalLogisticScoreAlike(t *testing.T) {
	x, names := rings(37, 500, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	scores := map[string]*matrix.Dense{}
	for _, solver := range []string{"primal", "dual"} {
		m := fitted(t, src, Config{Learner: Logistic{Solver: solver, Multiclass: "ovr", C: 3, Tolerance: 1e-4}, Map: Map{Features: 64}})
		scores[solver] = matrix.NewDense(500, 3)
		if err := m.Scores(scores[solver], matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range scores["primal"].Data {
		if w := scores["dual"].Data[i]; math.Abs(float64(v-w)) > 0.02 {
			t.Fatalf("row %d: %g in the primal, %g in the dual", i/3, v, w)
		}
	}
}
