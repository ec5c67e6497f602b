package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/train"
)

// rings are rows of classes that lie on noisy rings around each other.
func rings(t testing.TB, n, d, classes int) dataset.Source {
	t.Helper()
	s := random.New(7, "rings")
	x := matrix.NewDense(n, d)
	names := make([]string, n)
	for i := range n {
		c := i % classes
		names[i] = fmt.Sprintf("ring %d", c)
		norm := 0.0
		for j := range d {
			x.Row(i)[j] = float32(s.Normal())
			norm += float64(x.Row(i)[j]) * float64(x.Row(i)[j])
		}
		r := (1 + float64(c) + 0.35*s.Normal()) / math.Sqrt(norm)
		for j := range d {
			x.Row(i)[j] *= float32(r)
		}
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, nil, 0, names)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// waves are rows with a number to predict.
func waves(t testing.TB, n, d int) dataset.Source {
	t.Helper()
	s := random.New(8, "waves")
	x, y := matrix.NewDense(n, d), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Row(i)[j] = float32(2 * s.Normal())
		}
		y[i] = 5 + math.Sin(float64(x.Row(i)[0])) + float64(x.Row(i)[1])*0.5 + 0.2*s.Normal()
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func axis(t testing.TB, name, text string) Axis {
	t.Helper()
	a, err := ParseAxis(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func searched(t *testing.T, src dataset.Source, space Space, opt TuneOptions) *TuneResult {
	t.Helper()
	r, err := Tune(context.Background(), src, space, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// byIndex are the candidates in their own order.
func byIndex(r *TuneResult) []*Candidate {
	all := make([]*Candidate, len(r.Candidates))
	for _, c := range r.Candidates {
		all[c.Index] = c
	}
	return all
}

func TestSharedScoresAreThoseOfRefits(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	classes, numbers := rings(t, 200, 4, 3), waves(t, 200, 3)
	for _, c := range []struct {
		name, metric string
		src          dataset.Source
		base         train.Config
		axes         []Axis
		within       float64
	}{
		{"ridge of classes", "", classes, train.Config{}, []Axis{axis(t, "gamma", "median,median*4"),
			axis(t, "lambda", "trace*0.0001,0.5,trace*0.1"), axis(t, "learner", "ridge")}, 0},
		{"ridge of numbers", "rmse", numbers, train.Config{}, []Axis{axis(t, "gamma", "0.1"), axis(t, "lambda", "log:0.01:10:3")}, 1e-5},
		{"svm", "", classes, train.Config{Learner: train.Named{Options: map[string]any{"tolerance": 1e-4}}}, []Axis{axis(t, "gamma", "median"),
			axis(t, "learner", "svm"), axis(t, "c", "0.1,1"), axis(t, "loss", "hinge,squared_hinge")}, 0},
		{"logistic", "log_loss", classes, train.Config{Learner: train.Named{Options: map[string]any{"tolerance": 1e-5}}},
			[]Axis{axis(t, "gamma", "median"), axis(t, "learner", "logistic"), axis(t, "c", "0.1,1,10")}, 1e-4},
		{"svr", "mae", numbers, train.Config{Learner: train.Named{Options: map[string]any{"tolerance": 1e-4}}},
			[]Axis{axis(t, "gamma", "median"), axis(t, "learner", "svr"), axis(t, "c", "0.1,1")}, 1e-4},
		{"components", "", classes, train.Config{}, []Axis{axis(t, "gamma", "median"),
			axis(t, "learner", "ridge"), axis(t, "components", "5,20"), axis(t, "lambda", "trace*0.001")}, 0},
		{"in a file", "", classes, train.Config{Learner: train.Named{Options: map[string]any{"tolerance": 1e-4}},
			Map: train.Map{Name: "orf"}}, []Axis{axis(t, "gamma", "median"),
			axis(t, "learner", "svm,ridge"), axis(t, "lambda", "1"), axis(t, "c", "0.1,1")}, 0.011}, // a row in a hundred, for the svm's gap
		{"mapped twice", "", classes, train.Config{},
			[]Axis{axis(t, "gamma", "median"), axis(t, "learner", "ridge"), axis(t, "lambda", "1,2,3,4")}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.base.Map.Features = 64
			space := Space{Base: c.base, Axes: c.axes}
			opt := TuneOptions{Metric: c.metric, Folds: Folds{K: 2, Repeats: 2}}
			if c.name == "in a file" || c.name == "mapped twice" {
				space.Base.Set("tolerance", 0)
				opt.Memory = 200_000 // the ridge's statistics, not the features
			}
			found := searched(t, c.src, space, opt)
			shared := byIndex(found)
			opt.Alone, opt.Memory = true, 0
			naive := searched(t, c.src, space, opt)
			if naive.Work != found.Alone || naive.Work.Mapped <= found.Work.Mapped {
				t.Errorf("without sharing the work is %+v, and was said to be %+v; with sharing %+v", naive.Work, found.Alone, found.Work)
			}
			for i, alone := range byIndex(naive) {
				if shared[i].Dropped != "" || alone.Dropped != "" {
					t.Fatalf("%v dropped: %s, %s", shared[i].Values, shared[i].Dropped, alone.Dropped)
				}
				for s := range shared[i].Scores {
					if d := math.Abs(shared[i].Scores[s] - alone.Scores[s]); d > c.within {
						t.Errorf("%v, split %d: %.9g shared, %.9g alone", shared[i].Values, s, shared[i].Scores[s], alone.Scores[s])
					}
				}
			}
		})
	}
}

// table is rows of text, with weights if there is a column w.
func table(t *testing.T, text string, opt dataset.Options) dataset.Source {
	t.Helper()
	f, err := dataset.OpenBytes(context.Background(), "table.csv", []byte(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// weighted are 240 rows of two classes, or of labels from three, with weights and two targets.
func weighted(labels bool) string {
	s := random.New(9, "weighted")
	var b strings.Builder
	b.WriteString("x,y,w,label\n")
	for range 240 {
		x, y := s.Normal(), s.Normal()
		text := "b"
		if x*x+y*y+0.5*s.Normal() > 2 {
			text = "a"
		}
		if labels {
			text = strings.Join([]string{text, map[bool]string{true: "right", false: "left"}[x+0.5*s.Normal() > 0]}, "|")
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%.3f,%s\n", x, y, 0.2+3*s.Uniform(), text)
	}
	return b.String()
}

// Scores are those of train.Fit on the training rows, measured by eval.Evaluate on the others.
func TestStrictScoresAreThoseOfFit(t *testing.T) {
	classes := table(t, weighted(false), dataset.Options{Weight: "w"})
	numbers := strings.ReplaceAll(strings.ReplaceAll(weighted(false), ",a\n", ",2.5\n"), ",b\n", ",0.5\n")
	for _, c := range []struct {
		name, metric string
		src          dataset.Source
		base         train.Config
		axes         []Axis
		within       float64
	}{
		{"rings", "", rings(t, 240, 4, 3), train.Config{}, []Axis{axis(t, "gamma", "median,median*2"),
			axis(t, "learner", "ridge"), axis(t, "lambda", "trace*0.001,2")}, 1e-12},
		// An svm that stops at a gap of a thousandth may tell a row or two otherwise.
		{"svm", "", rings(t, 240, 4, 3), train.Config{},
			[]Axis{axis(t, "gamma", "median"), axis(t, "learner", "svm"), axis(t, "c", "1")}, 2.1 / 80},
		{"weights", "balanced_accuracy", classes, train.Config{ClassWeight: "balanced"},
			[]Axis{axis(t, "learner", "ridge"), axis(t, "lambda", "1"), axis(t, "gamma", "median")}, 1e-12},
		{"areas", "auc", classes, train.Config{}, []Axis{axis(t, "learner", "ridge"), axis(t, "lambda", "1"), axis(t, "gamma", "median")}, 1e-5},
		{"probabilities", "log_loss", classes, train.Config{Learner: train.Named{Options: map[string]any{"tolerance": 1e-6}}},
			[]Axis{axis(t, "learner", "logistic"), axis(t, "c", "1"), axis(t, "gamma", "median")}, 1e-4},
		{"many classes' areas", "macro_auc", rings(t, 240, 4, 3), train.Config{Learner: train.Named{Options: map[string]any{"tolerance": 1e-6}}},
			[]Axis{axis(t, "learner", "logistic"), axis(t, "c", "1"), axis(t, "gamma", "median")}, 1e-4},
		{"labels", "hamming_loss", table(t, weighted(true), dataset.Options{Weight: "w", LabelSeparator: "|"}),
			train.Config{}, []Axis{axis(t, "learner", "ridge"), axis(t, "lambda", "1"), axis(t, "gamma", "median")}, 1e-12},
		{"labels' probabilities", "log_loss", table(t, weighted(true), dataset.Options{Weight: "w", LabelSeparator: "|"}),
			train.Config{}, []Axis{axis(t, "learner", "logistic"), axis(t, "c", "1"), axis(t, "gamma", "median")}, 0},
		{"two numbers", "mae", table(t, numbers, dataset.Options{Weight: "w", Label: "y,label"}), train.Config{Task: "regress"},
			[]Axis{axis(t, "learner", "ridge"), axis(t, "lambda", "1"), axis(t, "gamma", "median")}, 1e-5},
		{"calibrated", "brier", classes, train.Config{Calibrate: train.Calibration{Method: "platt"}},
			[]Axis{axis(t, "learner", "ridge"), axis(t, "lambda", "1"), axis(t, "gamma", "median")}, 0},
		{"linear", "", rings(t, 240, 4, 3), train.Config{Kernel: train.Kernel{Name: "linear"}},
			[]Axis{axis(t, "learner", "ridge"), axis(t, "lambda", "1")}, 1e-12},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.base.Kernel.Name == "" {
				c.base.Map.Features = 64
			}
			r := searched(t, c.src, Space{Base: c.base, Axes: c.axes}, TuneOptions{Strict: true, Folds: Folds{K: 3}, Metric: c.metric})
			look := &tuning{ctx: context.Background(), src: c.src}
			var err error
			if look.base, err = train.Prepare(look.ctx, c.src, train.Config{Kernel: train.Kernel{Name: "linear"}, Task: c.base.Task}, train.Options{}); err != nil {
				t.Fatal(err)
			}
			rows, err := look.lookAtRows()
			if err != nil {
				t.Fatal(err)
			}
			d := divided(t, Folds{K: 3}, rows)
			for _, k := range r.Candidates {
				for i, sp := range d.Splits {
					rest := dataset.Keep(c.src, func(row int) bool { return d.trains(sp, row) })
					held := dataset.Keep(c.src, func(row int) bool { return d.holds(sp, row) })
					m, _, err := train.Fit(context.Background(), rest, k.Config, train.Options{})
					if err != nil {
						t.Fatal(err)
					}
					metrics, err := eval.Evaluate(context.Background(), m, held, eval.Options{})
					if err != nil {
						t.Fatal(err)
					}
					named, _ := eval.MetricNamed(r.Metric)
					if want := named.Value(metrics); k.Dropped != "" || math.Abs(*want-k.Scores[i]) > c.within {
						t.Errorf("%v, split %d: %g, and %g by Fit; %s", k.Values, i, k.Scores[i], *want, k.Dropped)
					}
				}
			}
		})
	}
}

// Machines with the kernel itself are as large as what they are trained on, and a D that the data choose
// counts as much as one that was given.
func TestSizesAreWhatLearnersSee(t *testing.T) {
	src := rings(t, 300, 3, 2)
	sizes := map[string]int{}
	for _, d := range []int{0, 32} {
		base := train.Config{Kernel: train.Kernel{Gamma: "1"}, Map: train.Map{Features: d}}
		space := Space{Base: base, Axes: []Axis{axis(t, "learner", "ridge,kernel-svm,falkon,svm"),
			axis(t, "lambda", "0.1"), axis(t, "c", "1"), axis(t, "penalty", "l2,l1")}}
		for _, c := range searched(t, src, space, TuneOptions{Folds: Folds{K: 3}}).Candidates {
			if c.Dropped != "" {
				t.Errorf("%v: %s", c.Values, c.Dropped)
			}
			sizes[fmt.Sprintf("%s %s %d", c.Config.LearnerName(), c.Config.Get("penalty").(string), d)] = c.Size
		}
	}
	want := map[string]int{"ridge  0": 256, "ridge  32": 32, "svm l2 0": 256, "svm l2 32": 32,
		"svm l1 0": 256, "svm l1 32": 32, "kernel-svm  0": 200, "falkon  0": 200, "falkon  32": 32}
	if !maps.Equal(sizes, want) {
		t.Errorf("sizes are %v, want %v", sizes, want)
	}
}

func TestSearchDoesNotDependOnThreads(t *testing.T) {
	src := rings(t, 600, 4, 3)
	space := Space{Base: train.Config{Map: train.Map{Features: 64}}, Axes: []Axis{axis(t, "gamma", "median"),
		axis(t, "learner", "ridge,svm,logistic"), axis(t, "c", "1"), axis(t, "lambda", "trace*0.001")}}
	threads := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(threads)
	one := resultText(t, searched(t, src, space, TuneOptions{}))
	runtime.GOMAXPROCS(3)
	if resultText(t, searched(t, src, space, TuneOptions{})) != one {
		t.Error("another result with three threads")
	}
}

// All rows have 21 different numbers for labels, which are numbers to predict; those that some folds
// train on have 20, which by themselves would be classes.
func TestFoldsKeepTheTaskOfAllRows(t *testing.T) {
	var b strings.Builder
	for i := range 101 {
		y := 3 + i%20
		if i == 50 {
			y = 40
		}
		fmt.Fprintf(&b, "%g,%g,%d\n", math.Sin(float64(i%20)), math.Cos(3*float64(i%20)), y)
	}
	for _, learner := range []string{"ridge", "kernel-ridge"} {
		space := Space{Base: train.Config{Learner: train.Named{Name: learner, Options: map[string]any{"lambda": 0.1}}},
			Axes: []Axis{axis(t, "gamma", "1")}}
		r := searched(t, table(t, b.String(), dataset.Options{}), space, TuneOptions{Strict: true})
		if r.Task != "regress" || len(r.Candidates[0].Scores) != 5 {
			t.Errorf("%s: %s %+v", learner, r.Task, r.Candidates[0])
		}
	}
}

func TestCandidatesWithoutScoresHaveNoneInJSON(t *testing.T) {
	space := Space{Axes: []Axis{axis(t, "learner", "svm,logistic"), axis(t, "c", "1"), axis(t, "gamma", "1")}}
	r := searched(t, rings(t, 90, 2, 2), space, TuneOptions{Metric: "log_loss"})
	text, err := json.Marshal(r.Candidates)
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"scores", "mean", "sd", "se"} {
		if got[0][key] == nil || got[1][key] != nil {
			t.Errorf("%s: %v and %v", key, got[0][key], got[1][key])
		}
	}
	if got[1]["dropped"] == nil || got[0]["dropped"] != nil {
		t.Errorf("%s", text)
	}
}

// What is told how the rows are read is told of all rows, once, and may end the search before it begins.
func TestSurveyedIsToldBeforeTheSearch(t *testing.T) {
	src, refused := rings(t, 300, 3, 2), errors.New("refused")
	var told []dataset.Schema
	surveyed := func(read dataset.Schema) error { told = append(told, read); return refused }
	began := func(string, float64, float64) { t.Error("the search began") }
	if _, err := Tune(t.Context(), src, mixed(t),
		TuneOptions{Folds: Folds{K: 2}, Surveyed: surveyed, Progress: began}); !errors.Is(err, refused) {
		t.Errorf("a search that is refused: %v", err)
	}
	if len(told) != 1 || told[0].Dim != 3 {
		t.Errorf("told: %+v", told)
	}
}
