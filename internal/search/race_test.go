package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mercer/internal/engine/random"
	"mercer/train"
)

func TestRaceFindsTheKernelOfTheData(t *testing.T) {
	candidates := []train.Config{
		{Kernel: train.Kernel{Name: "linear"}, Learner: train.SVM{}},
		{Kernel: train.Kernel{Name: "rbf"}, Learner: train.SVM{}, Map: train.Map{Features: 256}},
	}
	for _, c := range []struct {
		name string
		fill func(*random.Stream, []float32) float64
		want string
	}{
		{"linear", linearRow, "linear"},
		{"rings", ringRow, "rbf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := draw(t, made(t, 4000, 8, c.fill), 4000, "")
			res, err := race(t.Context(), s, candidates, raceOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Racers[res.Winner].Config.Kernel.Name; got != c.want {
				t.Errorf("%s won, want %s: %s", got, c.want, runs(res))
			}
		})
	}
}

func TestRaceFindsTheAdditiveKernelOfHistograms(t *testing.T) {
	s := draw(t, made(t, 4000, 24, histogramRow), 4000, "")
	res, err := race(t.Context(), s, []train.Config{
		{Kernel: train.Kernel{Name: "laplacian", Gamma: "100"}, Learner: train.Ridge{}, Map: train.Map{Features: 256}},
		{Kernel: train.Kernel{Name: "chi2"}, Learner: train.Ridge{}},
	}, raceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Winner != 1 {
		t.Errorf("the winner is %s: %s", res.Racers[res.Winner].Name, runs(res))
	}
}

// fakeTrial gives every candidate an error rate of its own, by its C, on its first rung and on
// the others, and lets a fake clock go on.
type fakeTrial struct {
	clock   time.Time
	seconds func(c float64, rows int) float64
	rate    func(c float64, rows int) float64
	trained []string
}

func (f *fakeTrial) options(o raceOptions) raceOptions {
	o.clock = func() time.Time { return f.clock }
	o.Try = func(_ context.Context, s *Sample, fold, rows int, cfg train.Config) (outcome, error) {
		f.clock = f.clock.Add(time.Duration(f.seconds(cfg.Get("c").(float64), rows) * float64(time.Second)))
		f.trained = append(f.trained, fmt.Sprintf("%g on %d", cfg.Get("c").(float64), rows))
		loss := make([]float64, len(s.folds[fold].held))
		// Errors of candidates are nested, so that k more of them are √k standard errors.
		for i := range int(f.rate(cfg.Get("c").(float64), rows)*float64(len(loss)) + 0.5) {
			loss[i] = 1
		}
		return outcome{Losses: loss}, nil
	}
	return o
}

// contestants are candidates of C 1 to k.
func contestants(k int) (all []train.Config) {
	for i := range k {
		all = append(all, train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.SVM{C: float64(i + 1)}})
	}
	return all
}

func manyRows(t testing.TB) *Sample {
	return draw(t, made(t, 12_000, 2, linearRow), 12_000, "classify")
}

func TestRaceDropsOnlyBeyondNoise(t *testing.T) {
	f := &fakeTrial{
		seconds: func(float64, int) float64 { return 1 },
		// On 4000 rows 2 is behind by one error, which is one standard error, and 3 by far.
		rate: func(c float64, _ int) float64 { return []float64{0.1, 0.10025, 0.3}[int(c)-1] },
	}
	res, err := race(t.Context(), manyRows(t), contestants(3), f.options(raceOptions{Rungs: []int{100, 200, 400}}))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1 on 100", "2 on 100", "3 on 100", "1 on 200", "2 on 200", "1 on 400", "2 on 400"}
	if got := slices.Clone(f.trained); len(got) != len(want) || !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("trained %v, want %v", got, want)
	}
	if d := res.Racers[2].Dropped; !strings.Contains(d, "points on 100 rows") {
		t.Errorf("dropped for %q", d)
	}
	if res.Racers[0].Dropped != "" || res.Racers[1].Dropped != "" {
		t.Errorf("dropped %q and %q within the noise", res.Racers[0].Dropped, res.Racers[1].Dropped)
	}
}

// runs are the racers with their runs, for messages.
func runs(res *RaceResult) string {
	text := ""
	for _, r := range res.Racers {
		text += fmt.Sprintf("%s %+v %q; ", r.Name, r.Runs, r.Dropped)
	}
	return text
}

func sorted(s []string) []string { slices.Sort(s); return s }

func TestRaceKeepsWhoIsCatchingUp(t *testing.T) {
	f := &fakeTrial{
		seconds: func(float64, int) float64 { return 1 },
		rate: func(c float64, rows int) float64 {
			return map[int][]float64{100: {0.1, 0.102}, 200: {0.1, 0.10175}, 400: {0.1, 0.10125}, 800: {0.1, 0.09}}[rows][int(c)-1]
		},
	}
	// Of 4000 rows the second has 8 errors more than the first on 100 rows, 2.8 standard errors:
	// not enough to be dropped on the first rung. 7 on 200 rows are, narrowing by 1 from rung to
	// rung; 5 on 400 are not, for by as much less again they would be within the noise.
	slow, err := race(t.Context(), manyRows(t), contestants(2), f.options(raceOptions{Rungs: []int{100, 200, 800}}))
	if err != nil {
		t.Fatal(err)
	}
	fast, err := race(t.Context(), manyRows(t), contestants(2), f.options(raceOptions{Rungs: []int{100, 400, 800}}))
	if err != nil {
		t.Fatal(err)
	}
	if slow.Winner != 0 || fast.Winner != 1 {
		t.Errorf("winners %d and %d, want 0 and 1: %s; %s", slow.Winner, fast.Winner, runs(slow), runs(fast))
	}
}

func TestRaceKeepsItsBudget(t *testing.T) {
	for _, budget := range []time.Duration{10 * time.Second, 40 * time.Second, 90 * time.Second, 200 * time.Second} {
		f := &fakeTrial{
			seconds: func(_ float64, rows int) float64 { return math.Pow(float64(rows)/100, 1.5) },
			rate:    func(c float64, rows int) float64 { return 0.1 + 0.0001*c },
		}
		start := f.clock
		res, err := race(t.Context(), manyRows(t), contestants(4), f.options(raceOptions{Budget: budget, Rungs: []int{100, 400, 1600, 6400}}))
		if err != nil {
			t.Fatal(err)
		}
		if took := f.clock.Sub(start); took > budget {
			t.Errorf("a budget of %v took %v: %v", budget, took, f.trained)
		}
		if res.Winner != 0 {
			t.Errorf("a budget of %v: the winner is %d", budget, res.Winner)
		}
		if math.Abs(res.Seconds-f.clock.Sub(start).Seconds()) > 1e-9 {
			t.Errorf("reports %g s of %v", res.Seconds, f.clock.Sub(start))
		}
	}
}

func TestRaceWithoutTimeForAnyFails(t *testing.T) {
	s := draw(t, made(t, 12_000, 4, ringRow), 12_000, "")
	_, err := race(t.Context(), s, []train.Config{{}}, raceOptions{Budget: 1})
	if err == nil || !strings.Contains(err.Error(), "give a larger budget") {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := race(ended, s, []train.Config{{}}, raceOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRaceDoesNotDependOnTime(t *testing.T) {
	src := made(t, 3000, 4, ringRow)
	candidates := []train.Config{{Kernel: train.Kernel{Name: "linear"}}, {Map: train.Map{Features: 64}},
		{Kernel: train.Kernel{Name: "laplacian"}, Map: train.Map{Features: 64}}}
	run := func() *RaceResult {
		res, err := race(t.Context(), draw(t, src, 2000, ""), candidates, raceOptions{Rungs: []int{200, 800}})
		if err != nil {
			t.Fatal(err)
		}
		res.Seconds, res.Racers[res.Winner].last = 0, nil
		for i := range res.Racers {
			for k := range res.Racers[i].Runs {
				res.Racers[i].Runs[k].Seconds, res.Racers[i].Runs[k].Took = 0, Timing{}
			}
		}
		return res
	}
	if a, b := run(), run(); !reflect.DeepEqual(a, b) {
		t.Errorf("%s; %s", runs(a), runs(b))
	}
}

func TestRaceDropsWhatCannotBeTrained(t *testing.T) {
	s := draw(t, made(t, 300, 4, ringRow), 300, "")
	res, err := race(t.Context(), s, []train.Config{{Kernel: train.Kernel{Name: "chi2"}, Scale: "none"},
		{Kernel: train.Kernel{Name: "linear"}}}, raceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Winner != 1 || !strings.Contains(res.Racers[0].Dropped, "chi2") {
		t.Error(runs(res))
	}
	if _, err := race(t.Context(), s, []train.Config{{Kernel: train.Kernel{Name: "chi2"}, Scale: "none"}}, raceOptions{}); err == nil ||
		!strings.Contains(err.Error(), "no candidate can be trained") {
		t.Errorf("got %v", err)
	}
}

func TestSmallAndOneSidedData(t *testing.T) {
	one := made(t, 50, 2, func(r *random.Stream, x []float32) float64 { x[0] = float32(r.Normal()); return 1 })
	if _, err := Draw(t.Context(), one, 50, "classify", 1); err == nil || !strings.Contains(err.Error(), "class") {
		t.Errorf("one class: %v", err)
	}
	constant := draw(t, one, 50, "regress")
	res, err := race(t.Context(), constant, []train.Config{{Kernel: train.Kernel{Name: "linear"}}, {}}, raceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if last, _ := res.Racers[res.Winner].Last(); res.Winner != 0 || last.Score > 1e-5 {
		t.Errorf("constant targets: %s", runs(res))
	}
	twenty := draw(t, made(t, 20, 2, linearRow), 20, "")
	if res, err = race(t.Context(), twenty, []train.Config{{Kernel: train.Kernel{Name: "linear"}}, {}}, raceOptions{}); err != nil || res.Held != 20 {
		t.Errorf("20 rows: %v", err)
	}
	if _, err := Draw(t.Context(), made(t, 3, 2, linearRow), 3, "regress", 1); err == nil || !strings.Contains(err.Error(), "3 rows") {
		t.Errorf("3 rows: %v", err)
	}
	every := made(t, 60, 2, func(r *random.Stream, x []float32) float64 {
		x[0] = float32(r.Normal())
		return float64(r.Intn(1 << 30))
	})
	if _, err := Draw(t.Context(), every, 60, "classify", 1); err == nil || !strings.Contains(err.Error(), "60 different values in 60 rows") {
		t.Errorf("60 classes of one row each: %v", err)
	}
}
