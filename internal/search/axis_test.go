package search

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/internal/solve/pipeline"
	"mercer/train"
)

func TestAxesAreRead(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"gamma", "0.5, median ,scale*2", []string{"0.5", "median", "scale*2"}},
		{"gamma", "median*log:0.25:4:3", []string{"median*0.25", "median*1", "median*4"}},
		{"lambda", "trace*log:1e-2:1:3", []string{"trace*0.01", "trace*0.1", "trace*1"}},
		{"c", "lin:1:9:3", []string{"1", "5", "9"}},
		{"features", "log:256:4096:5", []string{"256", "512", "1024", "2048", "4096"}},
		{"degree", "lin:2:3:5", []string{"2", "3"}},
		{"map", "rff,orf", []string{"rff", "orf"}},
		{"variance-share", "0.9", []string{"0.9"}},
		{"c", "auto,1", []string{"auto", "1"}},
	} {
		if a := axis(t, c.name, c.text); !slices.Equal(a.Values, c.want) {
			t.Errorf("%s %s: %v, want %v", c.name, c.text, a.Values, c.want)
		}
	}
	axes, err := ReadAxes([]byte(`{"gamma": "median*log:0.5:2:2", "features": [16, 1e2], "complex": [true, false]}`))
	if err != nil || len(axes) != 3 || !slices.Equal(axes[1].Values, []string{"16", "1e2"}) ||
		!slices.Equal(axes[0].Values, []string{"median*0.5", "median*2"}) {
		t.Errorf("%+v, %v", axes, err)
	}
	for text, want := range map[string]string{
		`[1]`:                     "an object of settings",
		`{"gamma": [[1]]}`:        "neither text nor number",
		`{"colour": 1}`:           "colour",
		`{"gamma": 1, "gamma":2}`: "twice",
		`{"gamma": 1`:             "EOF",
		`{"features": "many"}`:    "whole number",
		`{"c": 1e999}`:            "not a number",
	} {
		if _, err := ReadAxes([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want something about %q", text, err, want)
		}
	}
}

// Settings that say nothing to a combination are left out of it, and combinations that
// differ in nothing else are one.
func TestGridLeavesOutWhatSaysNothing(t *testing.T) {
	space := Space{Axes: []Axis{
		axis(t, "kernel", "rbf,linear,poly"), axis(t, "learner", "ridge,svm,kernel-svm"),
		axis(t, "gamma", "1,2"), axis(t, "degree", "2,3"), axis(t, "features", "16,32"),
		axis(t, "lambda", "1,10"), axis(t, "c", "1,10,100"),
	}}
	c, err := space.grid()
	if err != nil {
		t.Fatal(err)
	}
	// With a map rbf has 2·2 pipelines, linear 1, poly 2·2·2; a ridge has 2 λ, an svm 3 C. A
	// kernel-svm has no features.
	want := (4+1+8)*(2+3) + (2+1+4)*3
	if len(c.trials) != want {
		t.Errorf("%d combinations, want %d", len(c.trials), want)
	}
	for _, k := range c.trials {
		if _, has := k.Values["degree"]; has != (k.Values["kernel"] == "poly") {
			t.Errorf("%v", k.Values)
		}
		if (k.Config.Get("c").(float64) != 0) == (k.Config.LearnerName() == "ridge") || (k.Config.Get("lambda").(float64) != 0) != (k.Config.LearnerName() == "ridge") {
			t.Errorf("%v: C = %g, λ = %g", k.Values, k.Config.Get("c").(float64), k.Config.Get("lambda").(float64))
		}
		if k.Config.LearnerName() == "kernel-svm" && k.Config.Map.Features != 0 {
			t.Errorf("%v has features", k.Values)
		}
	}
	if _, err := (Space{Axes: []Axis{axis(t, "learner", "ridge"), axis(t, "c", "1")}}).grid(); err == nil ||
		!strings.Contains(err.Error(), "no use for the setting c") &&
			!strings.Contains(err.Error(), "has a use for the setting c") {
		t.Errorf("an axis without use: %v", err)
	}
	if testing.Short() {
		return
	}
	many := axis(t, "gamma", "log:1:2:1000")
	if _, err := (Space{Axes: []Axis{many, axis(t, "lambda", "log:1:2:1000"), axis(t, "learner", "ridge")}}).grid(); err == nil ||
		!strings.Contains(err.Error(), "more than 10000") {
		t.Errorf("a million points: %v", err)
	}
}

// Where ν takes the place of C, C is not searched; a regression by ν has both.
func TestUsualCIsLeftOutForNuOfClasses(t *testing.T) {
	nu := axis(t, "svm_nu", "0.1,0.2")
	for _, c := range []struct {
		space Space
		task  string
		want  int
	}{
		{Space{Base: train.Config{Learner: train.KernelSVM{Nu: 0.3}, Kernel: train.Kernel{Gamma: "1"}}}, "classify", 1},
		{Space{Base: train.Config{Learner: train.KernelSVM{}, Kernel: train.Kernel{Gamma: "1"}}, Axes: []Axis{nu}}, "classify", 2},
		{Space{Base: train.Config{Learner: train.KernelSVM{}, Kernel: train.Kernel{Gamma: "1"}}, Axes: []Axis{nu}}, "regress", 10},
		{Space{Base: train.Config{Kernel: train.Kernel{Gamma: "1"}}, Axes: []Axis{axis(t, "learner", "svm,kernel-svm"), nu}}, "classify", 7},
		{Space{Base: train.Config{Learner: train.RFM{}}}, "classify", 1}, // chooses kernels and λ itself
	} {
		got, err := c.space.withDefaults("svm", c.task).grid()
		if err != nil || len(got.trials) != c.want {
			t.Errorf("%+v: %d combinations, want %d: %v", c, len(got.trials), c.want, err)
		}
	}
}

// γ is not searched where it is a factor of distances that are only compared.
func TestUsualGammaIsLeftOutForNeighbours(t *testing.T) {
	base := func(kernel string) train.Config {
		return train.Config{Learner: train.KNN{}, Kernel: train.Kernel{Name: kernel}}
	}
	for _, c := range []struct {
		space Space
		want  int
	}{
		{Space{Base: base("")}, 1},
		{Space{Base: base("laplacian")}, 1},
		{Space{Base: base("cauchy")}, 5},
		{Space{Base: base(""), Axes: []Axis{axis(t, "neighbours", "1,3"), axis(t, "neighbour_weights", "uniform,distance")}}, 4},
		{Space{Base: base(""), Axes: []Axis{axis(t, "kernel", "rbf,matern,poly")}}, 7},
		{Space{Axes: []Axis{axis(t, "learner", "knn,kernel-ridge"), axis(t, "lambda", "1")}}, 6},
	} {
		if got, err := c.space.withDefaults("svm", "classify").grid(); err != nil || len(got.trials) != c.want {
			t.Errorf("%+v: %d combinations, want %d: %v", c.space, len(got.trials), c.want, err)
		}
	}
	if _, err := (Space{Base: base(""), Axes: []Axis{axis(t, "gamma", "1,2")}}).grid(); err == nil || !strings.Contains(err.Error(), "no combination of the values has a use for the setting gamma") {
		t.Error(err)
	}
}

// An epsilon of 0 is meant as 0, also after another.
func TestEpsilonOfZeroIsZero(t *testing.T) {
	c, err := Space{Base: train.Config{Learner: train.KernelSVM{}}, Axes: []Axis{axis(t, "epsilon", "0.2,0,0.1")}}.grid()
	if err != nil || len(c.trials) != 3 {
		t.Fatalf("%d combinations: %v", len(c.trials), err)
	}
	for _, k := range c.trials {
		if k.Config.Get("epsilon_given").(bool) != (k.Config.Get("epsilon").(float64) == 0) {
			t.Errorf("%v: ε = %g, given: %v", k.Values, k.Config.Get("epsilon").(float64), k.Config.Get("epsilon_given").(bool))
		}
	}
}

// A random search draws from a range by its logarithm: a quarter of the numbers between 10⁻²
// and 10² is below 0.1.
func TestRandomSearchDrawsByLogarithm(t *testing.T) {
	space := Space{Base: train.Config{Learner: train.SVM{}}, Axes: []Axis{axis(t, "c", "log:0.01:100:5"),
		axis(t, "gamma", "median*lin:1:5:2")}}
	const n = 600
	c, err := space.random(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	low, sum := 0, 0.0
	for _, k := range c.trials {
		v := k.Config.Get("c").(float64)
		if v < 0.01 || v > 100 {
			t.Fatalf("C = %g", v)
		}
		if v < 0.1 {
			low++
		}
		_, factor, err := pipeline.SplitGamma(k.Config.Kernel.Gamma)
		if err != nil || factor < 1 || factor > 5 {
			t.Fatalf("γ = %s", k.Config.Kernel.Gamma)
		}
		sum += factor
	}
	if share := float64(low) / n; math.Abs(share-0.25) > 4*math.Sqrt(0.25*0.75/n) {
		t.Errorf("%.3f of C are below 0.1, want a quarter", share)
	}
	if mean := sum / n; math.Abs(mean-3) > 4*4/math.Sqrt(12*n) {
		t.Errorf("the mean factor is %.3f, want 3", mean)
	}
	again, _ := space.random(n, 1)
	if again.trials[77].Config.Get("c").(float64) != c.trials[77].Config.Get("c").(float64) {
		t.Error("another draw of the same seed")
	}
	few, err := Space{Base: train.Config{Learner: train.SVM{}}, Axes: []Axis{axis(t, "c", "1,2")}}.random(10, 1)
	if err != nil || len(few.trials) != 2 {
		t.Errorf("of a space of two points %d were drawn, %v", len(few.trials), err)
	}
}

func TestPickIsTheSimplestWithinOneStandardError(t *testing.T) {
	cand := func(mean, se float64, features int, learner string, lambda, c float64, degree int) *Candidate {
		return &Candidate{Mean: mean, SE: se, Size: features, Config: train.Config{Learner: train.Named{Name: learner,
			Options: map[string]any{"lambda": lambda, "c": c}}, Kernel: train.Kernel{Degree: degree}}}
	}
	all := []*Candidate{
		cand(0.90, 0.02, 1024, "ridge", 0.1, 0, 3),
		cand(0.89, 0.02, 512, "ridge", 1, 0, 3),
		cand(0.885, 0.02, 512, "ridge", 10, 0, 2),
		cand(0.882, 0.02, 512, "ridge", 100, 0, 2),
		cand(0.886, 0.02, 512, "ridge", 1, 0, 2),
		cand(0.879, 0.02, 256, "ridge", 1, 0, 2), // 0.021 below the best
		cand(0.881, 0.02, 512, "svm", 0, 0.1, 2),
	}
	best, picked := pick(all, true, "one-se")
	if best != all[0] || picked != all[3] {
		t.Errorf("picked %+v", picked)
	}
	if _, picked := pick(all, true, "best"); picked != all[0] {
		t.Errorf("picked %+v as the best", picked)
	}
	// Of errors the smallest is the best.
	for _, c := range all {
		c.Mean = 1 - c.Mean
	}
	if best, picked := pick(all, false, "one-se"); best != all[0] || picked != all[3] {
		t.Errorf("of errors picked %+v", picked)
	}
	svm := []*Candidate{cand(0.9, 0.01, 64, "svm", 0, 10, 0), cand(0.895, 0.01, 64, "svm", 0, 1, 0), cand(0.88, 0.01, 64, "svm", 0, 0.1, 0)}
	if _, picked := pick(svm, true, "one-se"); picked != svm[1] {
		t.Errorf("picked C = %g, want 1", picked.Config.Get("c").(float64))
	}
}

func TestMeansAndErrorsOfScores(t *testing.T) {
	c := &Candidate{Scores: []float64{1, 2, 3, 4, 5, 9}} // three folds, twice
	c.summarise(3)
	// The squares around 4 are 9, 4, 1, 0, 1, 25.
	if c.Mean != 4 || math.Abs(c.SD-math.Sqrt(40./5)) > 1e-12 || math.Abs(c.SE-math.Sqrt(40./5/3)) > 1e-12 {
		t.Errorf("%+v", c)
	}
}

func TestHalvingKeepsTheBestQuarterAndTheirPaths(t *testing.T) {
	src := rings(t, 400, 3, 2)
	space := Space{Base: train.Config{Map: train.Map{Features: 64}, Learner: train.Ridge{}},
		Axes: []Axis{axis(t, "gamma", "1e-6,0.3,1,100"), axis(t, "lambda", "trace*0.001,trace*0.1,trace*1000")}}
	r := searched(t, src, space, TuneOptions{Search: "halving"})
	judged, gammas := 0, map[string]bool{}
	for _, c := range r.Candidates {
		if c.Dropped == "" {
			judged++
			gammas[c.Values["gamma"]] = true
			if g := c.Values["gamma"]; g != "0.3" && g != "1" {
				t.Errorf("γ = %s won the race", g)
			}
		} else if !strings.Contains(c.Dropped, "race") {
			t.Errorf("%v: %s", c.Values, c.Dropped)
		}
	}
	if judged != 3 || len(gammas) != 1 {
		t.Errorf("%d of %d γ are judged, want every λ of one", judged, len(gammas))
	}
}

func TestSearchSaysWhatIsWrong(t *testing.T) {
	classes, numbers := rings(t, 40, 2, 2), waves(t, 40, 2)
	ridge := []Axis{axis(t, "gamma", "1"), axis(t, "learner", "ridge"), axis(t, "lambda", "1")}
	for _, c := range []struct {
		name  string
		space Space
		opt   TuneOptions
		of    int
		want  string
	}{
		{"metric", Space{Axes: ridge}, TuneOptions{Metric: "mae"}, 0, "not for the task classify"},
		{"metric of numbers", Space{Axes: ridge}, TuneOptions{Metric: "accuracy"}, 1, "not for the task regress"},
		{"trials of a grid", Space{Axes: ridge}, TuneOptions{Trials: 3}, 0, "random or halving"},
		{"pick", Space{Axes: ridge}, TuneOptions{Pick: "worst"}, 0, "worst"},
		{"no values", Space{Axes: []Axis{{Name: "gamma"}}}, TuneOptions{}, 0, "has no values"},
		{"twice", Space{Axes: append(ridge, ridge[0])}, TuneOptions{}, 0, "there twice"},
		{"learner of the other task", Space{Axes: []Axis{axis(t, "learner", "svm")}}, TuneOptions{}, 1, "cannot do"},
		{"bags", Space{Base: train.Config{Bag: &pipeline.BagConfig{}}}, TuneOptions{}, 0, "not on bags"},
		{"outliers", Space{Base: train.Config{Task: "outliers"}}, TuneOptions{}, 0, "outliers have no labels"},
		{"memory", Space{Base: train.Config{Map: train.Map{Features: 256}}, Axes: ridge}, TuneOptions{Memory: 1_500_000}, 0, "more memory"},
		{"probabilities", Space{Axes: ridge}, TuneOptions{Metric: "log_loss"}, 0, "takes probabilities"},
	} {
		src := classes
		if c.of == 1 {
			src = numbers
		}
		if _, err := Tune(context.Background(), src, c.space, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want something about %q", c.name, err, c.want)
		}
	}
}

// What cannot be trained leaves the others be: a kernel that does not take negative numbers, a γ
// whose features overflow.
func TestOneCandidateThatFailsLeavesTheOthers(t *testing.T) {
	space := Space{Base: train.Config{Map: train.Map{Features: 64}, Scale: "none", Kernel: train.Kernel{Degree: 3}},
		Axes: []Axis{axis(t, "learner", "ridge,svm"),
			axis(t, "kernel", "rbf,chi2,poly"), axis(t, "gamma", "1,1e38"), axis(t, "lambda", "trace*0.01"), axis(t, "c", "1")}}
	r := searched(t, rings(t, 200, 2, 2), space, TuneOptions{Folds: Folds{K: 2}})
	failed := 0
	for _, c := range r.Candidates {
		bad := c.Config.Kernel.Name == "chi2" || c.Config.Kernel.Name == "poly" && c.Config.Kernel.Gamma == "1e38"
		if bad != (c.Dropped != "") {
			t.Errorf("%v: %q", c.Values, c.Dropped)
		}
		if bad {
			failed++
		}
	}
	if failed != 4 || r.Picked.Dropped != "" {
		t.Errorf("%d fail, and %v is picked", failed, r.Picked.Values)
	}
}

func TestEndsOfRangesAreTold(t *testing.T) {
	cand := func(gamma, c, learner string) *Candidate {
		return &Candidate{Values: map[string]string{"gamma": gamma, "c": c, "learner": learner}}
	}
	all := []*Candidate{cand("median*0.5", "1", "svm"), cand("median", "10", "svm"),
		cand("median*2", "100", "svm"), cand("median*2", "", "ridge")}
	for i, want := range [][]string{{"gamma", "c"}, nil, {"gamma", "c"}, {"gamma"}} {
		if got := atEnds(all[i], all); !slices.Equal(got, want) {
			t.Errorf("%v is at the end of %v, want %v", all[i].Values, got, want)
		}
	}
	if got := atEnds(all[0], all[:2]); got != nil {
		t.Errorf("of two values each is an end: %v", got)
	}
}
