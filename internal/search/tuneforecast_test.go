package search

import (
	"path/filepath"
	"testing"
)

func TestForecastsAreOfWhatIsLeft(t *testing.T) {
	src := rings(t, 200, 3, 2)
	var all []Forecast
	opt := TuneOptions{Folds: Folds{K: 2}, Journal: filepath.Join(t.TempDir(), "j"), Forecast: func(f Forecast) { all = append(all, f) }}
	first := searched(t, src, mixed(t), opt)
	if len(all) != 1 || all[0].Configurations != len(first.Candidates) ||
		all[0].Trainings != 2*len(first.Candidates) || !(all[0].Seconds > 0) {
		t.Fatalf("%+v of %d configurations", all, len(first.Candidates))
	}
	if first.Forecast == nil || *first.Forecast != all[0] {
		t.Errorf("the result has the forecast %+v, told was %+v", first.Forecast, all[0])
	}
	if searched(t, src, mixed(t), opt); len(all) != 1 {
		t.Errorf("a forecast of nothing: %+v", all[1:])
	}
	opt.Journal, opt.ForecastFrom = "", 1e6
	if searched(t, src, mixed(t), opt); len(all) != 1 {
		t.Errorf("a forecast of what is short: %+v", all[1:])
	}
}

// A candidate that cannot be planned (chi2 takes no negative numbers), or not be trained in the memory,
// leaves the forecast to the others.
func TestForecastsAreOfWhatCanBePlanned(t *testing.T) {
	src := rings(t, 200, 3, 2)
	for _, c := range []struct {
		name   string
		axes   []Axis
		memory int64
		want   int
	}{
		{"another kernel", []Axis{axis(t, "learner", "ridge,svm"), axis(t, "kernel", "rbf,chi2"),
			axis(t, "gamma", "1,2"), axis(t, "lambda", "0.1"), axis(t, "c", "1"), axis(t, "features", "32")}, 0, 4},
		{"too many features", []Axis{axis(t, "learner", "ridge"), axis(t, "kernel", "rbf"),
			axis(t, "gamma", "1"), axis(t, "lambda", "0.1"), axis(t, "features", "32,64,65536")}, 1 << 30, 2},
		{"nothing", []Axis{axis(t, "learner", "ridge"), axis(t, "kernel", "rbf"),
			axis(t, "gamma", "1"), axis(t, "lambda", "0.1"), axis(t, "features", "32,64")}, 1 << 30, 2},
	} {
		var all []Forecast
		opt := TuneOptions{Folds: Folds{K: 2}, Memory: c.memory, Forecast: func(f Forecast) { all = append(all, f) }}
		r := searched(t, src, Space{Axes: c.axes}, opt)
		if len(all) != 1 || all[0].Configurations != c.want || all[0].Trainings != 2*c.want ||
			!(all[0].Seconds > 0 && all[0].Seconds < 60) || all[0].Bytes == 0 {
			t.Errorf("%s: of %d configurations the forecasts %+v", c.name, len(r.Candidates), all)
		}
	}
}

// What is shared is expected once.
func TestForecastsKnowWhatIsShared(t *testing.T) {
	src := rings(t, 200, 3, 2)
	s := &tuning{ctx: t.Context(), src: src, opt: TuneOptions{Folds: Folds{K: 4}}}
	space := mixed(t)
	for _, err := range []error{s.check(space), s.look(space), s.choose(space)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// To map a row takes a second, to add it to statistics or to train on it 10, to factorise 1000.
	costs := map[string]*expense{}
	for _, c := range s.running {
		if costs[c.Config.LearnerName()] != nil {
			continue
		}
		p, err := Predict(t.Context(), drawn(t, src, 200, ""), c.Config, PredictOptions{Seconds: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		e := &expense{plan: p.Plan}
		e.stages = func(n, d int) (read, mapping, solve float64) {
			if !p.Plan.Exact {
				mapping = float64(n*d) / 32
			}
			if solve = 10 * float64(n); p.Plan.Statistics {
				solve += 1000
			}
			return 0, mapping, solve
		}
		costs[c.Config.LearnerName()] = e
	}
	// Three γ: each is mapped once and has one collection of 150 rows and 2 λ × 4 folds for ridge, and 2 C × 4 folds
	// of svm; the 2 C of kernel-svm are trained alone, with D = 3 that are not mapped.
	want := 3 * (200 + (1500 + 2*4*1000) + 2*4*1500 + 2*4*1500.)
	if got := s.expected(costs, s.running); got != want {
		t.Errorf("expected %g s, want %g", got, want)
	}
}
