package train

import (
	"cmp"
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
	"mercer/kernel"
	"mercer/matrix"
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

	positive bool // from 0 on
	gram     bool // of their kernel values x·h + 1 with the rows h of the training
	open     bool // nothing is known of the scores: of too few rows, or without a penalty
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
	{name: "1 row", n: 1, open: true}, {name: "2 rows", n: 2, open: true}, {name: "3 rows", n: 3, open: true},
	{name: "4 rows", n: 4, open: true}, {name: "5 rows", n: 5, open: true},
	{name: "all rows alike", rows: func(x []float64, _ int) []float64 { return []float64{1, 2, 3, 4} }},
	{name: "ten rows, twenty times", open: true, rows: func(_ []float64, i int) []float64 { return tortureRow(i % 10) }},
	{name: "one row a class", n: 7, open: true, y: func(_ float64, i int) string { return fmt.Sprintf("c%d", i) }},
	{name: "one answer", y: func(float64, int) string { return "3" }},
	{name: "answers of 1e30", like: "plain", y: func(y float64, _ int) string { return fmt.Sprint(1e30 * y) }},
	{name: "answers of 1e-30", like: "plain", y: func(y float64, _ int) string { return fmt.Sprint(1e-30 * y) }},
	{name: "subnormal λ", open: true, set: func(c *Config) { c.setIf("lambda", 1e-310) }},
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

// row is row i.
func (c *torture) row(i int) []float64 {
	x := tortureRow(i)
	for j := range x {
		if c.positive {
			x[j] = (1 + x[j]) / 2
		}
	}
	if c.rows != nil {
		x = c.rows(x, i)
	}
	for j, v := range x {
		if c.positive {
			x[j] = math.Abs(v)
		}
	}
	return x
}

// values are the kernel values of row i.
func (c *torture) values(i int) (k []float64) {
	x := c.row(i)
	for h := 1; h <= cmp.Or(c.n, 200); h++ {
		sum := 1.0
		for j, v := range c.row(h) {
			sum += float64(v * x[j])
		}
		k = append(k, sum)
	}
	return k
}

// table writes rows from a first one on as CSV with their answers, which are also returned. Of two labels one is that the first number
// is positive.
func (c *torture) table(task string, first, n int) (text string, answers []string) {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		x, plain := c.row(i), tortureRow(i)
		y := math.Sin(3*plain[0]) + float64(plain[1]*plain[2])
		if task == "classify" || task == "multilabel" {
			y = map[bool]float64{false: 0, true: 1}[y > 0]
		}
		if c.gram {
			x = c.values(i)
		}
		for _, v := range x {
			fmt.Fprintf(&b, "%g,", v)
		}
		written := fmt.Sprint(y)
		if c.y != nil {
			written = c.y(y, i)
		}
		switch {
		case task == "classify":
			written = "k" + written
		case task == "multilabel" && plain[0] > 0:
			written = "k" + written + "+q"
		case task == "multilabel":
			written = "k" + written
		}
		b.WriteString(written + "\n")
		answers = append(answers, written)
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
	cfg.Task, cfg.Seed = task, 1
	if task == "cluster" {
		cfg.Task = ""
	}
	if c.set != nil {
		c.set(&cfg)
	}
	text, _ := c.table(task, 1, cmp.Or(c.n, 200))
	opt := dataset.Options{}
	if task == "outliers" || task == "cluster" {
		opt.Label = "none"
	}
	if task == "multilabel" {
		opt.LabelSeparator = "+"
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
	var got []model.Prediction
	err = m.PredictSource(ctx, src, func(p model.Prediction) error {
		for _, v := range slices.Concat(p.Values, p.Probabilities) {
			if v-v != 0 {
				t.Errorf("row %d is not finite: %v", len(got), p)
			}
		}
		for _, v := range p.Scores {
			if v-v != 0 {
				t.Errorf("row %d is not finite: %v", len(got), p)
			}
		}
		got = append(got, p)
		return nil
	})
	if err != nil {
		return 0, err
	}
	switch task {
	case "classify", "multilabel":
		right := 0
		for i, p := range got {
			if p.Label == want[i] || task == "multilabel" && slices.Contains(p.Labels, "q") == strings.HasSuffix(want[i], "+q") {
				right++
			}
		}
		return float64(right) / float64(len(want)), nil
	case "regress":
		return rsquared(t, got, want), nil
	}
	return 0, nil
}

// rsquared is R², of answers that do not vary by a thousandth of them.
func rsquared(t *testing.T, got []model.Prediction, want []string) float64 {
	t.Helper()
	values, mean := make([]float64, len(want)), 0.0
	for i, text := range want {
		if _, err := fmt.Sscan(text, &values[i]); err != nil {
			t.Fatal(err)
		}
		mean += values[i] / float64(len(want))
	}
	rest, all := 0.0, 0.0
	for i, v := range values {
		rest += math.Pow((got[i].Values[0]-v)/mean, 2)
		all += max(math.Pow((v-mean)/mean, 2), 1e-6)
	}
	return 1 - rest/all
}

// nearest is which of scikit-learn's learners in testdata/torture.py a learner is compared with; a new one with features.
func nearest(learner string) string {
	switch learner {
	case "group-lasso":
		return "linear"
	case "kernel-ridge", "falkon", "rfm":
		return "kernel"
	case "kernel-svm":
		return "machine"
	case "lasso", "online":
		return learner
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

// held checks what came of a torture: an error in plain words, or a score that is no less than least.
func held(t *testing.T, score, least float64, err error) {
	t.Helper()
	if err != nil {
		if t.Log(err); !plainWords(err) {
			t.Error("that is not in plain words")
		}
	} else if score < least {
		t.Errorf("%.3f, and at least %.3f is wanted", score, least)
	}
}

// Every learner, also a new one, has finite predictions of whatever it is tortured with, about as good as scikit-learn's, or an error in
// plain words.
func TestEveryLearnerIsTortured(t *testing.T) {
	scores := tortureScores(t)
	type ordeal struct {
		learner, task string
		torture
	}
	var all []ordeal
	for _, name := range Learners() {
		if LearnerOf(name).own && os.Getenv("MERCER_LONG") != "1" { // seconds each
			continue
		}
		for _, c := range slices.Concat(asIs, others) {
			for _, task := range LearnerOf(name).tasks {
				all = append(all, ordeal{name, task, c})
			}
		}
	}
	few, broke := testenv.Few(t, all, 100, "every torture of every learner"), 0
	for _, c := range few {
		held := t.Run(c.learner+"/"+c.name+"/"+c.task, func(t *testing.T) {
			cfg := Config{Learner: Named{Name: c.learner}}
			if !LearnerOf(c.learner).exact {
				cfg.Map.Features = 64
			}
			if c.learner == "group-lasso" {
				cfg.Kernel.Name, cfg.Map.Features = "linear", 0
			}
			score, err := c.score(t, cfg, c.task)
			figures := scores[cmp.Or(c.like, c.name)]
			if figures == nil {
				held(t, score, math.Inf(-1), err)
				return
			}
			least := figures[c.task][nearest(c.learner)] - 0.1
			if c.task == "multilabel" && c.name == "plain" {
				least = 0.8
			}
			held(t, score, least, err)
		})
		if !held {
			broke++
		}
	}
	testenv.Tried(t, "hard rows and settings", len(few), broke)
}

// One row of 100,000 that is another class changes no learner of features but by what it is.
func TestOneRowOfManyIsAnotherClass(t *testing.T) {
	testenv.Long(t, "one row of 100,000 is another class")
	for _, name := range Learners() {
		if l := LearnerOf(name); l.exact || l.own || !slices.Contains(l.tasks, "classify") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := torture{n: 100_000, y: func(_ float64, i int) string { return map[bool]string{true: "1", false: "0"}[i == 77_777] }}
			cfg := Config{Learner: Named{Name: name}, Map: Map{Features: 64}}
			if name == "group-lasso" {
				cfg.Kernel.Name, cfg.Map.Features = "linear", 0
			}
			score, err := c.score(t, cfg, "classify")
			held(t, score, 0.99, err)
		})
	}
}

// mapTortured is a training with 64 features of a map and a kernel, as the map takes it, and whether rows must have no negative number.
func mapTortured(name, of string) (cfg Config, positive bool) {
	cfg = Config{Learner: Ridge{}, Kernel: Kernel{Name: of}, Map: Map{Name: name, Features: 64}}
	switch name {
	case feature.Precomputed:
		return Config{Learner: Ridge{}, Map: Map{Name: name}}, false
	case feature.Chain:
		cfg.Map = Map{Name: name, Steps: []feature.Config{{Map: "qmc", Features: 32}, {Map: "nystrom", Features: 32}}}
		return cfg, false
	case feature.Sum:
		cfg.Map = Map{Name: name, Steps: []feature.Config{{Map: "orf", Features: 32}, {Map: "rff", Features: 32}}}
		return cfg, false
	}
	k := kernel.Kernel{Name: of, Gamma: 1, Degree: 2, Coef0: 1, Nu: 1.5}
	f := feature.Config{Map: name, Kernel: k, Features: 64}
	if f.Decides() {
		cfg.Map.Features = 0
	}
	if kernel.Has(of, "degree") && feature.Check(f) == nil {
		if f.Kernel.Degree = 3; feature.Check(f) != nil {
			cfg.Kernel.Degree = 2
		}
	}
	below := &matrix.Dense{Rows: 1, Cols: 1, Data: []float32{-0.5}}
	return cfg, k.CheckRows(matrix.Rows{Dense: below}) != nil
}

// Every map, also a new one, in the same way: it is never much worse than predicting the mean.
func TestEveryMapIsTortured(t *testing.T) {
	type ordeal struct {
		of, kernel string
		torture
	}
	var all []ordeal
	names, _ := feature.Names()
	for _, name := range names {
		kernels := feature.Kernels(name)
		if len(kernels) == 0 {
			kernels = []string{"rbf"}
		}
		for _, k := range kernels {
			for _, c := range slices.Concat(asIs, others) {
				all = append(all, ordeal{name, k, c})
			}
		}
	}
	few, broke := testenv.Few(t, all, 120, "every torture of every map with every kernel"), 0
	for _, c := range few {
		held := t.Run(c.of+"/"+c.kernel+"/"+c.name, func(t *testing.T) {
			var cfg Config
			cfg, c.positive = mapTortured(c.of, c.kernel)
			c.gram = c.of == feature.Precomputed
			score, err := c.score(t, cfg, "regress")
			least := -0.2
			if c.open {
				least = math.Inf(-1)
			}
			held(t, score, least, err)
		})
		if !held {
			broke++
		}
	}
	testenv.Tried(t, "hard rows and settings", len(few), broke)
}
