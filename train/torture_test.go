package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/testenv"
	"mercer/model"
)

// torture is rows that are hard to learn from, or settings that are.
type torture struct {
	name string
	rows func(x []float64, i int) []float64 // of row i, nil: as they are; rows of the training begin at 1, others at 1001
	y    func(y float64, i int) string      // what is written for the answer, nil: as it is
	n    int                                // rows of the training, 0: 200
	set  func(c *Config)                    // settings, nil: none
	like string                             // the torture whose figures hold, "": its own, if any
}

// asIs are the rows of testdata/torture.py, which has the figures to compare with.
var asIs = []torture{
	{name: "plain"},
	{name: "constant", rows: func(x []float64, _ int) []float64 { return append(x, 1e9) }},
	{name: "duplicate", rows: func(x []float64, _ int) []float64 { return append(x, x[0]) }},
	{name: "collinear", rows: func(x []float64, _ int) []float64 { return append(x, x[0]+x[1]-x[2]) }},
	{name: "1e30", rows: times(1e30)},
	{name: "1e-30", rows: times(1e-30)},
	{name: "1e300", rows: times(1e300)},
	{name: "denormal in 32 bits", rows: times(1e-40)},
	{name: "denormal in 64 bits", rows: times(1e-310)},
	{name: "mixed", rows: func(x []float64, _ int) []float64 { return []float64{x[0] * 1e30, x[1], x[2] * 1e-30, x[3] * 1e-3} }},
	{name: "offset 1e6", rows: plus(1e6)},
	{name: "offset 1e12", rows: plus(1e12)},
	{name: "d = 1", rows: func(x []float64, _ int) []float64 { return x[:1] }},
	{name: "an outlier", rows: func(x []float64, i int) []float64 {
		if i == 1 {
			return times(1e30)(x, i)
		}
		return x
	}},
}

// others have no figures of their own: few rows, answers that are hard, settings at both ends.
var others = []torture{
	{name: "1 row", n: 1}, {name: "2 rows", n: 2}, {name: "3 rows", n: 3}, {name: "4 rows", n: 4}, {name: "5 rows", n: 5},
	{name: "all rows alike", rows: func(x []float64, _ int) []float64 { return []float64{1, 2, 3, 4} }},
	{name: "ten rows, twenty times", rows: func(_ []float64, i int) []float64 { return tortureRow(i % 10) }},
	{name: "one row a class", n: 7, y: func(_ float64, i int) string { return fmt.Sprintf("c%d", i) }},
	{name: "one answer", y: func(float64, int) string { return "3" }},
	{name: "answers of 1e30", like: "plain", y: func(y float64, _ int) string { return fmt.Sprint(1e30 * y) }},
	{name: "answers of 1e-30", like: "plain", y: func(y float64, _ int) string { return fmt.Sprint(1e-30 * y) }},
	{name: "subnormal λ", set: func(c *Config) { c.setIf("lambda", 1e-310) }},
	{name: "huge λ", set: func(c *Config) { c.setIf("lambda", 1e300) }},
	{name: "subnormal C", set: func(c *Config) { c.setIf("c", 1e-310) }},
	{name: "huge C", set: func(c *Config) { c.setIf("c", 1e300) }},
	{name: "γ = 1e-310", set: func(c *Config) { c.Kernel.Gamma = "1e-310" }},
	{name: "γ = 1e-30", set: func(c *Config) { c.Kernel.Gamma = "1e-30" }},
	{name: "γ = 1e30", set: func(c *Config) { c.Kernel.Gamma = "1e30" }},
	{name: "γ = 1e300", set: func(c *Config) { c.Kernel.Gamma = "1e300" }},
}

func times(s float64) func(x []float64, i int) []float64 {
	return func(x []float64, _ int) []float64 {
		for j := range x {
			x[j] *= s
		}
		return x
	}
}

func plus(c float64) func(x []float64, i int) []float64 {
	return func(x []float64, _ int) []float64 {
		for j := range x {
			x[j] += c
		}
		return x
	}
}

// setIf sets an option where the learner has it.
func (c *Config) setIf(option string, value float64) {
	if l := LearnerOf(c.LearnerName()); l.has(option) {
		c.Learner = Named{Name: l.name, Options: map[string]any{option: value}}
	}
}

// tortureRow is row i of testdata/torture.py.
func tortureRow(i int) (x []float64) {
	for _, p := range []float64{2, 3, 5, 7} {
		u := float64(i) * math.Sqrt(p)
		x = append(x, 2*(u-math.Floor(u))-1)
	}
	return x
}

// table writes rows from a first one on as CSV with their answers, which are also returned as numbers, or as 0 and 1.
func (c *torture) table(task string, first, n int) (text string, answers []float64) {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		x := tortureRow(i)
		y := math.Sin(3*x[0]) + float64(x[1]*x[2])
		if task == "classify" {
			y = map[bool]float64{false: 0, true: 1}[y > 0]
		}
		if c.rows != nil {
			x = c.rows(x, i)
		}
		for _, v := range x {
			fmt.Fprintf(&b, "%g,", v)
		}
		written := fmt.Sprint(y)
		if c.y != nil {
			written = c.y(y, i)
		}
		if task == "classify" {
			written = "k" + written
		}
		b.WriteString(written + "\n")
		answers = append(answers, y)
	}
	return b.String(), answers
}

// score trains on a torture and returns R² or the share of right classes of 200 other rows, as testdata/torture.py does. What is predicted
// must be finite, and an error one line.
func (c *torture) score(t *testing.T, cfg Config, task string) (score float64, err error) {
	t.Helper()
	ctx := context.Background()
	open := func(text string, opt dataset.Options) dataset.Source {
		src, failed := dataset.OpenBytes(ctx, "rows", []byte(text), opt)
		if err = failed; err != nil {
			return nil
		}
		return src
	}
	n := c.n
	if n == 0 {
		n = 200
	}
	cfg.Task, cfg.Seed = task, 1
	if task == "cluster" {
		cfg.Task = ""
	}
	if c.set != nil {
		c.set(&cfg)
	}
	text, _ := c.table(task, 1, n)
	opt := dataset.Options{}
	if task == "outliers" || task == "cluster" {
		opt.Label = "none"
	}
	src := open(text, opt)
	if err != nil {
		return 0, err
	}
	m, _, err := Fit(ctx, src, cfg, Options{})
	if err != nil {
		return 0, err
	}
	text, want := c.table(task, 1001, 200)
	if src = open(text, dataset.Options{Schema: &m.Info().Schema}); err != nil {
		return 0, err
	}
	var got []float64
	err = m.PredictSource(ctx, src, func(p model.Prediction) error {
		for _, v := range slices.Concat(p.Values, p.Probabilities) {
			if v-v != 0 {
				return fmt.Errorf("row %d is not finite: %v", len(got), p)
			}
		}
		for _, v := range p.Scores {
			if v-v != 0 {
				return fmt.Errorf("row %d is not finite: %v", len(got), p)
			}
		}
		switch {
		case task == "classify":
			got = append(got, map[bool]float64{false: 0, true: 1}[p.Label == "k1"])
		case p.Values != nil:
			got = append(got, p.Values[0])
		}
		return nil
	})
	if err != nil {
		t.Errorf("a model predicts: %v", err)
		return 0, err
	}
	if task == "classify" {
		right := 0
		for i, v := range got {
			if v == want[i] {
				right++
			}
		}
		return float64(right) / float64(len(want)), nil
	}
	if task != "regress" {
		return 0, nil
	}
	unit := 1.0
	if c.y != nil {
		fmt.Sscan(c.y(1, 0), &unit)
	}
	rest, all, mean := 0.0, 0.0, 0.0
	for _, v := range want {
		mean += v / float64(len(want))
	}
	for i, v := range want {
		rest += (got[i]/unit - v) * (got[i]/unit - v)
		all += (v - mean) * (v - mean)
	}
	return 1 - rest/all, nil
}

// nearest is which of scikit-learn's learners in testdata/torture.py a learner is compared with; a new one with features.
func nearest(learner string) string {
	switch learner {
	case "group-lasso":
		return "linear"
	case "kernel-ridge", "kernel-svm", "falkon", "rfm":
		return "kernel"
	case "knn":
		return "neighbours"
	}
	return "features"
}

// tortureScores are the figures of testdata/torture.json, by torture, task and kind of learner.
func tortureScores(t *testing.T) map[string]map[string]map[string]float64 {
	t.Helper()
	var recorded struct {
		Scores map[string]map[string]map[string]float64
	}
	text, err := os.ReadFile("testdata/torture.json")
	if err == nil {
		err = json.Unmarshal(text, &recorded)
	}
	if err != nil || len(recorded.Scores) != len(asIs) {
		t.Fatalf("%v, %d tortures", err, len(recorded.Scores))
	}
	return recorded.Scores
}

// plainWords says whether an error is one for people: a line without traces of what went wrong below.
func plainWords(err error) bool {
	text := err.Error()
	return text != "" && !strings.ContainsAny(text, "\n") && !strings.Contains(text, "NaN") && !strings.Contains(text, "runtime error")
}

// Every learner, also a new one, has finite predictions of whatever it is tortured with, about as good as scikit-learn's, or an error in
// plain words.
func TestEveryLearnerIsTortured(t *testing.T) {
	scores := tortureScores(t)
	for _, name := range Learners() {
		for _, c := range slices.Concat(asIs, others) {
			for _, task := range LearnerOf(name).tasks {
				if task == "multilabel" {
					continue
				}
				t.Run(name+"/"+c.name+"/"+task, func(t *testing.T) {
					cfg := Config{Learner: Named{Name: name}}
					if !LearnerOf(name).exact {
						cfg.Map.Features = 64
					}
					if name == "group-lasso" {
						cfg.Kernel.Name, cfg.Map.Features = "linear", 0
					}
					score, err := c.score(t, cfg, task)
					if err != nil {
						t.Log("ERR", err)
						if !plainWords(err) {
							t.Errorf("%v", err)
						}
						return
					}
					of := c.like
					if of == "" {
						of = c.name
					}
					least := scores[of][task][nearest(name)]
					t.Logf("SCORE %.3f, scikit-learn %.3f", score, least)
					if score < least-0.1 {
						t.Errorf("%.3f, scikit-learn %.3f", score, least)
					}
				})
			}
		}
	}
}

// Every map, also a new one, in the same way: it is never much worse than predicting the mean.
func TestEveryMapIsTortured(t *testing.T) {
	names, _ := feature.Names()
	for _, name := range names {
		if name == feature.Precomputed || name == feature.Chain || name == feature.Sum {
			continue
		}
		kernels := feature.Kernels(name)
		if len(kernels) == 0 {
			kernels = []string{"rbf"}
		}
		for _, k := range testenv.Few(t, kernels, 1, "every kernel of a map") {
			for _, c := range slices.Concat(asIs, others) {
				t.Run(name+"/"+k+"/"+c.name, func(t *testing.T) {
					cfg := Config{Learner: Ridge{}, Kernel: Kernel{Name: k}, Map: Map{Name: name, Features: 64}}
					score, err := c.score(t, cfg, "regress")
					if err != nil {
						t.Log("ERR", err)
						if !plainWords(err) {
							t.Errorf("%v", err)
						}
						return
					}
					t.Logf("SCORE %.3f", score)
					if score < -0.2 {
						t.Errorf("%.3f, the mean 0", score)
					}
				})
			}
		}
	}
}
