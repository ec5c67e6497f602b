package shard

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// table writes a table with categories, gaps and a label, and returns its path.
func table(t *testing.T, dir, name string, n int, classes bool) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,y,colour,gap,target\n")
	r := rand.New(rand.NewSource(1))
	for i := range n {
		x, y := r.NormFloat64(), 100+r.Float64()
		gap := fmt.Sprint(r.Intn(9))
		if i%13 == 5 {
			gap = ""
		}
		target := fmt.Sprintf("%.5f", math.Sin(2*x)+y)
		if classes {
			target = []string{"low", "high"}[i%2*r.Intn(2)]
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s,%s,%s\n", x, y, []string{"red", "green", "blue"}[r.Intn(3)], gap, target)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// saved are the bytes of a model.
func saved(t *testing.T, m *model.Model, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.mercer")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sharded trains by shards that run in any order, some of them twice, each by a worker of its own.
func sharded(t *testing.T, p *Plan, seed int64) []byte {
	t.Helper()
	ctx := context.Background()
	store := Dir(t.TempDir())
	if err := p.Save(ctx, store); err != nil {
		t.Fatal(err)
	}
	worker := func() *Worker {
		w, err := NewWorker(ctx, store, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	r := rand.New(rand.NewSource(seed))
	for {
		round, err := worker().Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if round == "" {
			break
		}
		order := r.Perm(p.Shards())
		order = append(order, order[r.Intn(len(order))], order[r.Intn(len(order))])
		for i, shard := range order {
			if i == 1 {
				canceled, cancel := context.WithCancel(ctx)
				cancel()
				if _, err := worker().Run(canceled, round, shard); err == nil {
					t.Error("a shard ran although it was interrupted")
				}
			}
			if _, err := worker().Run(ctx, round, shard); err != nil {
				t.Fatal(err)
			}
		}
		if got, _, err := worker().Merge(ctx, ""); err != nil || got != round {
			t.Fatal(got, err)
		}
	}
	m, _, err := worker().Solve(ctx)
	return saved(t, m, err)
}

// A model has the same bytes from one process and from any number of shards in any order with retries.
func TestModelDoesNotDependOnShards(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	dir := t.TempDir()
	defer func(old int64) { spillFrom = old }(spillFrom)
	spillFrom = 0
	for _, c := range []struct {
		name    string
		classes bool
		cfg     train.Config
	}{
		{"numbers", false, train.Config{Map: train.Map{Features: 60}}},
		{"classes", true, train.Config{Map: train.Map{Features: 64}, Learner: train.Ridge{}, ClassWeight: "balanced"}},
		{"held out", false, train.Config{Map: train.Map{Features: 64},
			Learner: train.Named{Options: map[string]any{"lambda_by": "held-out", "variance": true}}}},
		{"lasso", false, train.Config{Map: train.Map{Features: 64}, Learner: train.Lasso{}}},
		{"discriminants", true, train.Config{Map: train.Map{Features: 48}, Learner: train.LDA{Priors: "equal"}}},
		{"landmarks", false, train.Config{Map: train.Map{Features: 48, Name: "nystrom"}, Learner: train.Ridge{}}},
		{"components", true, train.Config{Map: train.Map{Features: 64, Name: "nystrom"}, Reduce: train.Reduction{Components: 20}}},
	} {
		path := table(t, dir, c.name+".csv", 600, c.classes)
		var want []byte
		shards := []int{1, 3, 16}
		if c.cfg.Map.Features == 48 {
			shards = []int{7}
		} else if c.cfg.Map.Features == 64 && c.name != "classes" {
			shards = []int{5} // every file is synced
		} else if c.name == "classes" {
			shards = []int{7}
		}
		for i, n := range shards {
			p, err := NewPlan(ctx, path, dataset.Options{}, c.cfg, n, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				m, _, err := Train(ctx, p, train.Options{})
				want = saved(t, m, err)
			}
			if got := sharded(t, p, int64(i)); !bytes.Equal(got, want) {
				t.Errorf("%s: the model of %d shards of %d pieces differs from that of one process", c.name, n, len(p.Data.All))
			}
		}
	}
}

// Learners of many passes, too; each round is a checkpoint, as every worker here begins anew.
func TestPassesDoNotDependOnShards(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	path := table(t, t.TempDir(), "t.csv", 300, true)
	for _, cfg := range []train.Config{
		{Map: train.Map{Features: 16}, Learner: train.SVM{C: 1, Tolerance: 0.1}, Kernel: train.Kernel{Gamma: "0.3"}},
		{Map: train.Map{Features: 16}, Learner: train.Logistic{C: 0.1, Tolerance: 0.1}, ClassWeight: "balanced",
			Kernel: train.Kernel{Gamma: "0.3"}},
		{Map: train.Map{Features: 40}, Learner: train.Falkon{Lambda: 0.1, MaxIter: 4}, ClassWeight: "balanced"},
	} {
		var want []byte
		for i, n := range []int{1, 4} {
			p, err := NewPlan(ctx, path, dataset.Options{}, cfg, n, 1500)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				m, _, err := Train(ctx, p, train.Options{})
				want = saved(t, m, err)
			}
			if got := sharded(t, p, int64(i)); !bytes.Equal(got, want) {
				t.Errorf("%s: the model of %d shards differs from that of one process", cfg.LearnerName(), n)
			}
		}
	}
}

// Learners of many passes stop at the objective of a plain training.
func TestPassesFindTheOptimum(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	path := table(t, t.TempDir(), "t.csv", 1000, true)
	objective := func(m *model.Model, err error) []float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m.Info().Training.Report.(*learn.PrimalReport).Objective
	}
	for _, cfg := range []train.Config{
		{Map: train.Map{Features: 64}, Learner: train.SVM{C: 1, Tolerance: 1e-6, Solver: "primal"}, Kernel: train.Kernel{Gamma: "0.3"}},
		{Map: train.Map{Features: 64}, Learner: train.Logistic{C: 2, Tolerance: 1e-6}, Kernel: train.Kernel{Gamma: "0.3"}},
	} {
		f, err := dataset.Open(ctx, path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := train.Fit(ctx, f, cfg, train.Options{})
		want := objective(m, err)
		f.Close()
		p, err := NewPlan(ctx, path, dataset.Options{}, cfg, 1, 5000)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err = Train(ctx, p, train.Options{})
		for k, got := range objective(m, err) {
			if math.Abs(got-want[k]) > 1e-6*want[k] {
				t.Errorf("%s in %d pieces: objective %.10g, in one place %.10g", cfg.LearnerName(), len(p.Data.All), got, want[k])
			}
		}
	}
}

// Machines on the same landmarks by passes over pieces predict what those of a training in one place do, whatever the mean of the targets.
func TestPassesOfFalkonFindTheSameMachine(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		classes bool
		cfg     train.Config
	}{
		{false, train.Config{Map: train.Map{Features: 400}, Learner: train.Falkon{Lambda: 0.1, Tolerance: 1e-10}}},
		{true, train.Config{Map: train.Map{Features: 400}, Learner: train.Falkon{Lambda: 1, Tolerance: 1e-10}, ClassWeight: "balanced"}},
	} {
		path := table(t, t.TempDir(), "t.csv", 400, c.classes) // all rows are landmarks, so that these are the same
		p, err := NewPlan(ctx, path, dataset.Options{}, c.cfg, 1, 3000)
		if err != nil {
			t.Fatal(err)
		}
		pieces, report, err := Train(ctx, p, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := dataset.Open(ctx, path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		plain, _, err := train.Fit(ctx, f, c.cfg, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := dataset.Collect(ctx, f, 0)
		if err != nil {
			t.Fatal(err)
		}
		a, b := matrix.NewDense(rows.X.Len(), 1), matrix.NewDense(rows.X.Len(), 1)
		if err := errors.Join(plain.Scores(a, rows.X), pieces.Scores(b, rows.X)); err != nil {
			t.Fatal(err)
		}
		for i := range a.Rows {
			if d := math.Abs(float64(a.Row(i)[0] - b.Row(i)[0])); d > 1e-4 {
				t.Fatalf("classes %v, row %d: %g in one place, %g in %d pieces", c.classes, i, a.Row(i)[0], b.Row(i)[0], len(p.Data.All))
			}
		}
		if r := pieces.Info().Training.Report.(*exact.FalkonReport); !r.Converged || r.Centres != 400 || report.Summary.Rows != 400 {
			t.Errorf("%+v", r)
		}
	}
}

// With one piece the model is that of a plain training.
func TestOnePieceIsAPlainTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	dir := t.TempDir()
	for _, cfg := range []train.Config{
		{Map: train.Map{Features: 64}, Learner: train.Ridge{}},
		{Map: train.Map{Features: 64}, Learner: train.ElasticNet{}},
		{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{}, Reduce: train.Reduction{Share: 0.9}},
	} {
		path := table(t, dir, "t.csv", 1500, true)
		f, err := dataset.Open(ctx, path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := train.Fit(ctx, f, cfg, train.Options{})
		want := saved(t, m, err)
		f.Close()
		p, err := NewPlan(ctx, path, dataset.Options{}, cfg, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := sharded(t, p, 1); !bytes.Equal(got, want) {
			t.Errorf("%+v: another model than by train", cfg)
		}
	}
}

// The model of pieces predicts as well as that of a plain training: only the rounding differs, and which rows choose λ.
func TestModelOfPiecesIsAsGood(t *testing.T) {
	ctx := context.Background()
	path := table(t, t.TempDir(), "t.csv", 4000, false)
	cfg := train.Config{Map: train.Map{Features: 256}, Learner: train.Ridge{Lambda: 1e-2}, Kernel: train.Kernel{Gamma: "0.1"}}
	f, err := dataset.Open(ctx, path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, _, err := train.Fit(ctx, f, cfg, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(ctx, path, dataset.Options{}, cfg, 1, 5000)
	if err != nil {
		t.Fatal(err)
	}
	pieces, _, err := Train(ctx, p, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := dataset.Collect(ctx, f, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b := matrix.NewDense(rows.X.Len(), 1), matrix.NewDense(rows.X.Len(), 1)
	if err := plain.Scores(a, rows.X); err != nil {
		t.Fatal(err)
	}
	if err := pieces.Scores(b, rows.X); err != nil {
		t.Fatal(err)
	}
	for i := range a.Rows {
		if d := math.Abs(float64(a.Row(i)[0] - b.Row(i)[0])); d > 1e-3 {
			t.Fatalf("row %d: %g and %g", i, a.Row(i)[0], b.Row(i)[0])
		}
	}
}

// Where nothing is asked for, the survey decides on the learner, as in a training in one place; an svm needs a given C.
func TestTheSurveyDecidesOnTheLearner(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	dir := t.TempDir()
	for _, c := range []struct {
		rows             int
		classes          bool
		cfg              train.Config
		planned, learner string
		why              string
		last             string
	}{
		{rows: 150, learner: "rfm", why: "for a table", last: "leaves"},
		{rows: 40, learner: "ridge", why: "for numbers to predict; not rfm, which wants 50 rows to choose by (name it to have it)", last: "statistics"},
		{rows: 40, classes: true, learner: "ridge", why: "as an svm in pieces wants a given C; not rfm, which wants 50 rows to choose by (name it to have it)",
			last: "statistics"},
		{rows: 60, cfg: train.Config{Map: train.Map{Features: 16}}, planned: "ridge", learner: "ridge", last: "statistics"},
		{rows: 60, classes: true, cfg: train.Config{Learner: train.Named{Options: map[string]any{"c": 1.0}}}, planned: "svm", learner: "svm"},
	} {
		path := table(t, dir, "t.csv", c.rows, c.classes)
		p, err := NewPlan(ctx, path, dataset.Options{}, c.cfg, 2, 500)
		if err != nil {
			t.Fatal(err)
		}
		if p.Open() != (c.planned == "") || !p.Open() && p.Config.LearnerName() != c.planned {
			t.Errorf("%+v: planned is %q", c, p.Config.LearnerName())
		}
		m, _, err := Train(ctx, p, train.Options{})
		want := saved(t, m, err)
		if l, why := m.Info().Training.Learner, m.Info().Training.Why["learner"]; l != c.learner || why != c.why {
			t.Errorf("%+v: %s (%s)", c, l, why)
		}
		if c.last == "" {
			continue
		}
		f, err := dataset.Open(ctx, path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		one, _, err := train.Fit(ctx, f, c.cfg, train.Options{})
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if l := one.Info().Training.Learner; l != c.learner && !c.classes {
			t.Errorf("%+v: train takes %s", c, l)
		}
		if got := sharded(t, p, 1); !bytes.Equal(got, want) {
			t.Errorf("%+v: the model of 2 shards differs from that of one process", c)
		}
		w := &Worker{Plan: p, store: memory{}, state: map[string]string{}}
		if err := w.begin(ctx, c.last); err == nil || !strings.Contains(err.Error(), "not merged yet") {
			t.Errorf("the round %s of %+v: %v", c.last, c, err)
		}
		if err := w.begin(ctx, "sleep"); err == nil || !strings.Contains(err.Error(), "rounds are look, survey") {
			t.Errorf("no such round of %+v: %v", c, err)
		}
	}
}

// What is wrong with a shard ends its run, and the error names it.
func TestPoisonedShardsAreNamed(t *testing.T) {
	ctx := context.Background()
	good, err := os.ReadFile(table(t, t.TempDir(), "t.csv", 800, false))
	if err != nil {
		t.Fatal(err)
	}
	head := "x,y,colour,gap,target\n"
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	more := append(bytes.Clone(good), bytes.Repeat(good[len(head):], 100)...) // than what a plan looks at
	if _, err := w.Write(more); err != nil {
		t.Fatal(err)
	}
	w.Close()
	for name, c := range map[string]struct {
		file, text, want string
	}{
		"cut gzip":      {"b.csv.gz", z.String()[:z.Len()*9/10], "the gzip data are cut short"},
		"NaN":           {"b.csv", head + strings.Repeat("1,2,red,3,4\n", 90) + "1,2,red,3,nan\n", "b.csv:92"},
		"text":          {"b.csv", head + strings.Repeat("1,2,red,3,4\n", 90) + "1,oops,red,3,1\n", "oops"},
		"other columns": {"b.csv", "x,y,colour,gap,other,target\n1,2,red,3,4,5\n", "other"},
		"ragged":        {"b.csv", head + "1,2,red,3,4\n1,2,red,4\n", "b.csv:3"},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"a.csv": string(good), c.file: c.text} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p, err := NewPlan(ctx, dir, dataset.Options{}, train.Config{Map: train.Map{Features: 32}}, 2, 1<<20)
		if err == nil {
			if p.Shards() != 2 {
				t.Fatal(p.Ends)
			}
			_, _, err = Train(ctx, p, train.Options{})
			if err != nil && !strings.Contains(err.Error(), "shard 1, piece 1 (") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Shards that are missing, stale or changed are errors that name them.
func TestMergeNamesWhatIsWrong(t *testing.T) {
	ctx := context.Background()
	path := table(t, t.TempDir(), "t.csv", 1000, false)
	p, err := NewPlan(ctx, path, dataset.Options{}, train.Config{Map: train.Map{Features: 32}}, 4, 4000)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store := Dir(dir)
	if err := p.Save(ctx, store); err != nil {
		t.Fatal(err)
	}
	w, err := NewWorker(ctx, store, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fails := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = w.Run(ctx, "survey", 0)
	fails("a round too early", "is not merged yet", err)
	_, err = w.Run(ctx, "", 4)
	fails("no such shard", "shards are 0 to 3", err)
	_, err = w.Run(ctx, "sleep", 1)
	fails("no such round", `no round "sleep"`, err)
	for _, shard := range []int{3, 0} {
		if _, err := w.Run(ctx, "", shard); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = w.Merge(ctx, "")
	fails("missing shards", "lacks 2 of 4 shards: 1 (pieces ", err)
	_, _, err = w.Solve(ctx)
	fails("solved too early", "is not merged yet", err)
	for _, shard := range []int{1, 2} {
		if _, err := w.Run(ctx, "", shard); err != nil {
			t.Fatal(err)
		}
	}
	r, err := readJSON[Receipt](ctx, store, receipt("look", 2))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, r.Files[0].File)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.Merge(ctx, "")
	fails("a damaged sum", "shard 2", err)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.Merge(ctx, "")
	fails("a sum that is gone", "is not there; run it again", err)
	if _, err := w.Run(ctx, "", 2); err != nil {
		t.Fatal(err)
	}
	if round, rows, err := w.Merge(ctx, ""); err != nil || round != "look" || rows != 1000 {
		t.Fatal(round, rows, err)
	}
	if _, err := w.Run(ctx, "", 2); err != nil {
		t.Fatal(err)
	}
	// The same shard of other data.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte("green"), []byte("brown")), 0o644); err != nil {
		t.Fatal(err)
	}
	if w, err = NewWorker(ctx, store, train.Options{}); err != nil {
		t.Fatal(err)
	}
	_, err = w.Run(ctx, "", 2)
	fails("other data", "have the data changed?", err)

	other, err := NewPlan(ctx, path, dataset.Options{}, train.Config{Map: train.Map{Features: 32}}, 3, 4000)
	if err != nil {
		t.Fatal(err)
	}
	fails("two plans in a folder", "has another plan", other.Save(ctx, store))
	// What a file has not, such as a function that is told of columns, makes no other plan.
	same, err := NewPlan(ctx, path, dataset.Options{Columns: dataset.ColumnOptions{Notice: func(dataset.Notice) {}}},
		train.Config{Map: train.Map{Features: 32}}, 3, 4000)
	if err != nil {
		t.Fatal(err)
	}
	empty := Dir(t.TempDir())
	for range 2 {
		if err := same.Save(ctx, empty); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Write(ctx, planFile, func(w io.Writer) error { _, err := w.Write([]byte(`{"version":1,"fish":2}`)); return err }); err != nil {
		t.Fatal(err)
	}
	_, err = Load(ctx, store)
	fails("no plan", "fish", err)
}

// Settings that need other passes are refused, by name.
func TestPlansRefuseWhatTheyCannotDo(t *testing.T) {
	ctx := context.Background()
	path := table(t, t.TempDir(), "t.csv", 100, false)
	for want, cfg := range map[string]train.Config{
		"in one place":     {Learner: train.KernelRidge{}},
		"map=nystrom":      {Learner: train.Falkon{}},
		"give c":           {Learner: train.SVM{}},
		"in the primal":    {Learner: train.SVM{Loss: "hinge", C: 1}},
		"the penalty l2":   {Learner: train.Logistic{Penalty: "l1", C: 1}},
		"leaving rows out": {Learner: train.Named{Options: map[string]any{"lambda_by": "loo"}}},
		"intervals":        {Learner: train.Named{Options: map[string]any{"conformal": 0.9}}},
		"components of each": {Reduce: train.Reduction{MapComponents: 3},
			Map: train.Map{Name: "sum", Steps: []feature.Config{{Map: "rff", Features: 4}, {Map: "orf", Features: 4}}}},
		"metric": {Metric: train.Metric{Form: "full"}, Learner: train.Ridge{}},
	} {
		if _, err := NewPlan(ctx, path, dataset.Options{}, cfg, 1, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := NewPlan(ctx, path, dataset.Options{}, train.Config{}, 2, 0); err == nil || !strings.Contains(err.Error(), "fewer shards") {
		t.Error(err)
	}
}

// Whatever the number of pieces and shards, a shard has at least one piece and few sums.
func TestShardsAreEven(t *testing.T) {
	for _, pieces := range []int{1, 2, 5, 16, 100, 1000, 14321} {
		for _, n := range []int{1, 2, 3, 7, 16, 100} {
			p := &Plan{Data: &dataset.Pieces{All: make([]dataset.Piece, pieces)}}
			if err := p.divide(n); err != nil {
				if n <= pieces {
					t.Error(err)
				}
				continue
			}
			for i := range n {
				from, to := p.Pieces(i)
				if even := pieces / n; to-from < max(1, even*6/10) || to-from > even*14/10+1 {
					t.Errorf("%d pieces, shard %d of %d has %d", pieces, i, n, to-from)
				}
			}
		}
	}
}

// An estimate is by the rows asked for, and more workers take less time until the merge takes it.
func TestEstimate(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	path := table(t, t.TempDir(), "t.csv", 3000, false)
	o := EstimateOptions{Rows: 1e9, Rate: 2, Start: 1, Piece: 1 << 20}
	ridge := train.Config{Learner: train.Ridge{}}
	e, err := NewEstimate(ctx, path, dataset.Options{}, ridge, o)
	if err != nil {
		t.Fatal(err)
	}
	if e.Feature != 4096 || e.Parts != 2 || e.Rows != 1e9 || e.Pieces < 20_000 || e.Sum < 8*4096*4096 || e.WorkerMemory < 6*8*4096*4096 {
		t.Errorf("%+v", e)
	}
	if len(e.Row) != 3 || e.Solve <= 0 || e.Limit() < 2 {
		t.Errorf("rows %v, solve %g, limit %d", e.Row, e.Solve, e.Limit())
	}
	for i, s := range e.Scales {
		if s.Workers != 1<<i || s.Seconds != s.Rounds+s.Merge+s.Solve || s.Price <= 0 || i > 0 && (s.Rounds >= e.Scales[i-1].Rounds ||
			s.Merge <= e.Scales[i-1].Merge) {
			t.Errorf("%+v", s)
		}
	}
	if last := e.Scales[len(e.Scales)-1]; last.Share > e.Scales[0].Share || e.Limit() == last.Workers {
		t.Errorf("it scales without end: %+v", last)
	}
	small, err := NewEstimate(ctx, path, dataset.Options{}, train.Config{Map: train.Map{Features: 32}, Learner: train.Lasso{}},
		EstimateOptions{})
	if err != nil || small.Rows < 2900 || small.Rows > 3100 || small.Pieces != 1 || small.Feature != 32 {
		t.Errorf("%+v, %v", small, err)
	}
	many, err := NewEstimate(ctx, path, dataset.Options{}, train.Config{Map: train.Map{Features: 32}, Learner: train.Lasso{}},
		EstimateOptions{Piece: 8000, Workers: []int{1, 4}})
	if err != nil || many.Rows != 3000 || many.Pieces < 8 || !(many.Add > 0) {
		t.Errorf("small pieces, of which many are tried: %+v, %v", many, err)
	}
	o.Train.Memory = 1 << 20
	if _, err := NewEstimate(ctx, path, dataset.Options{}, ridge, o); err == nil || !strings.Contains(err.Error(), "more than the memory allowed") {
		t.Error(err)
	}
	if _, err := NewEstimate(ctx, path, dataset.Options{}, ridge, EstimateOptions{Workers: []int{3}}); err == nil {
		t.Error("three workers for one piece")
	}
}
