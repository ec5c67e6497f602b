package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/train"
)

// numbered is a source of rows that hold their own numbers; of the classes, if there are any, each row has
// one at random.
func numbered(t *testing.T, n, classes int) (dataset.Source, []int32) {
	t.Helper()
	x := matrix.NewDense(n, 1)
	s := random.New(3, "numbered")
	var y []float64
	var names []string
	var class []int32
	for i := range n {
		x.Row(i)[0] = float32(i)
		if classes == 0 {
			y = append(y, s.Normal())
			continue
		}
		class = append(class, int32(s.Intn(classes)))
		names = append(names, fmt.Sprint("class ", class[i]))
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, y, min(len(y), 1), names)
	if err != nil {
		t.Fatal(err)
	}
	return src, class
}

// numbers are those of the rows of a source that is part of a numbered one.
func numbers(t *testing.T, src dataset.Source) (all []int) {
	t.Helper()
	r, err := src.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.X.Len() {
			all = append(all, int(b.X.Dense.Row(i)[0]))
		}
	}
}

// collected makes a sample of rows that were chosen in folds.
func collected(t *testing.T, src dataset.Source) func(chosen []int, folds []fold, clusters []int) *Sample {
	return func(chosen []int, folds []fold, clusters []int) *Sample {
		t.Helper()
		sum, err := dataset.Survey(t.Context(), src, dataset.SurveyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := collectFolds(t.Context(), src, sum, "", chosen, folds, clusters)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// groupsOf gives rows groups of sizes from 1 to most, scattered.
func groupsOf(n, groups int) rowsInfo {
	s := random.New(4, "groups of")
	info := rowsInfo{n: n, groups: groups, group: make([]int32, n)}
	for i := range info.group {
		info.group[i] = int32(float64(groups) * math.Pow(s.Uniform(), 1.5))
	}
	return info
}

// A group is in a race or not, on one side of a fold or the other, and in a beginning of the rows to train on
// or not.
func TestRacesKeepGroupsWhole(t *testing.T) {
	for _, c := range []struct {
		name               string
		rows, groups, most int
		classes, folds     int
	}{
		{"all of few", 900, 40, 24_000, 3, 5},
		{"some of few", 5000, 200, 2000, 2, 5},
		{"many", 20_000, 500, 9000, 0, 1},
		{"few large ones", 20_000, 12, 24_000, 2, 5},
		{"as many as folds", 500, 3, 24_000, 2, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, class := numbered(t, c.rows, c.classes)
			info := groupsOf(c.rows, c.groups)
			info.class = class
			size := map[int32]int{}
			for _, g := range info.group {
				size[g]++
			}
			s := collected(t, src)(drawGroups(info, c.most, 1))
			if len(s.folds) != c.folds {
				t.Fatalf("%d folds, want %d", len(s.folds), c.folds)
			}
			whole := func(rows []int) map[int32]int {
				of := map[int32]int{}
				for _, row := range rows {
					of[info.group[row]]++
				}
				for g, n := range of {
					if n != size[g] {
						t.Errorf("of %d rows of group %d there are %d", size[g], g, n)
					}
				}
				return of
			}
			held := map[int32]bool{}
			var clusters []int32
			total := 0
			for fold := range s.folds {
				judged := numbers(t, s.held(fold))
				for _, row := range judged {
					clusters = append(clusters, info.group[row])
				}
				judge := whole(judged)
				for g := range judge {
					if held[g] {
						t.Errorf("group %d is held in several folds", g)
					}
					held[g] = true
				}
				var before map[int32]int
				for _, n := range []int{10, 100, 1000, s.trainRows()} {
					n = min(n, s.trainRows())
					rows := numbers(t, s.train(fold, n))
					if len(rows) == 0 || n == s.trainRows() && (len(rows) > n || len(rows) < n/3) {
						t.Errorf("%d rows, %d were asked for", len(rows), n)
					}
					train := whole(rows)
					for g := range train {
						if judge[g] > 0 {
							t.Errorf("fold %d: group %d is on both sides", fold, g)
						}
					}
					for g := range before {
						if train[g] == 0 {
							t.Errorf("fold %d: group %d is gone with more rows", fold, g)
						}
					}
					of := map[int32]bool{}
					for _, row := range rows {
						if class != nil {
							of[class[row]] = true
						}
					}
					if c.classes > 0 && len(of) < 2 {
						t.Errorf("fold %d: %d rows are of one class", fold, len(rows))
					}
					before = train
				}
				total = len(judged) + len(numbers(t, s.train(fold, c.rows)))
			}
			if total > c.most || c.most >= c.rows && total != c.rows || 2*total < min(c.most, c.rows) {
				t.Errorf("%d rows of %d, at most %d were wanted", total, c.rows, c.most)
			}
			if c.folds > 1 && len(clusters) != total {
				t.Errorf("%d of %d rows judge", len(clusters), total)
			}
			if len(s.clusters) != len(clusters) {
				t.Fatalf("%d clusters of %d rows", len(s.clusters), len(clusters))
			}
			of := map[int]int32{}
			for i, k := range s.clusters {
				if g, known := of[k]; known && g != clusters[i] {
					t.Fatalf("the groups %d and %d are one cluster", g, clusters[i])
				}
				of[k] = clusters[i]
			}
			if len(of) != len(held) {
				t.Errorf("%d clusters of %d groups", len(of), len(held))
			}
		})
	}
}

// Where five groups are more than all that is wanted, each has the same share of it.
func TestRacesThinHugeGroups(t *testing.T) {
	src, _ := numbered(t, 30_000, 0)
	info := rowsInfo{n: 30_000, groups: 6, group: make([]int32, 30_000)}
	for i := range info.group {
		info.group[i] = int32(i * 6 / info.n)
	}
	s := collected(t, src)(drawGroups(info, 2500, 1))
	for fold := range s.folds {
		held, train := map[int32]int{}, map[int32]int{}
		for _, row := range numbers(t, s.held(fold)) {
			held[info.group[row]]++
		}
		for _, row := range numbers(t, s.train(fold, s.trainRows())) {
			train[info.group[row]]++
		}
		if len(held) != 1 || len(train) < 3 {
			t.Errorf("fold %d: %v and %v", fold, held, train)
		}
		for g, n := range held {
			// 500 ± 21 by the binomial distribution.
			if n < 420 || n > 580 || train[g] > 0 {
				t.Errorf("fold %d: %d rows of group %d, of which %d train", fold, n, g, train[g])
			}
		}
	}
}

// In the order of time the rows right before a fold train, and nothing that comes after its beginning.
func TestRacesTrainOnTheRecentPast(t *testing.T) {
	for _, c := range []struct{ rows, k, most, classes, folds, train, held int }{
		{600, 5, 24_000, 0, 5, 100, 100},
		{600, 5, 24_000, 3, 5, 100, 100},
		{20_000, 4, 3000, 2, 4, 500, 250},
		{20_000, 11, 3000, 0, 5, 400, 200},
		{50, 1, 24_000, 0, 1, 25, 25},
	} {
		src, class := numbered(t, c.rows, c.classes)
		d, err := Folds{Kind: "time", K: c.k}.divide(rowsInfo{n: c.rows})
		if err != nil {
			t.Fatal(err)
		}
		s := collected(t, src)(drawTime(rowsInfo{n: c.rows, class: class}, d, c.most, 1))
		if len(s.folds) != c.folds || s.trainRows() < c.train || s.trainRows() > c.train+c.classes ||
			s.heldRows() != c.folds*c.held || len(s.clusters) != s.heldRows() {
			t.Fatalf("%+v: %d folds, %d rows to train on, %d to judge by in %d clusters", c, len(s.folds), s.trainRows(), s.heldRows(), len(s.clusters))
		}
		block := -1
		for fold := range s.folds {
			held := numbers(t, s.held(fold))
			first := int(d.part[0][held[0]])
			if last := int(d.part[0][held[len(held)-1]]); first != last || first <= block {
				t.Errorf("%+v: fold %d judges by blocks %d to %d, after %d", c, fold, first, last, block)
			}
			block = first
			start := slices.Index(d.part[0], uint16(block))
			for _, n := range []int{20, s.trainRows()} {
				rows := numbers(t, s.train(fold, n))
				recent := 0
				of := map[int32]bool{}
				for _, row := range rows {
					if row >= start {
						t.Errorf("%+v: fold %d from row %d on: row %d trains", c, fold, start, row)
					}
					if row >= start-n {
						recent++
					}
					if class != nil {
						of[class[row]] = true
					}
				}
				if len(rows) != n || recent < n-c.classes || len(of) != c.classes {
					t.Errorf("%+v: fold %d: %d of %d rows are the last before it, of %d classes", c, fold, recent, len(rows), len(of))
				}
			}
		}
		if block != d.Parts-1 {
			t.Errorf("%+v: the last fold is block %d", c, block)
		}
	}
}

// patients is a table of patients with a random state, each of whom comes ten times, hardly changed: what
// remembers rows knows those of the same patient, and nothing of others but the sign of the age.
func patients(t *testing.T, n int) dataset.Source {
	t.Helper()
	s := random.New(6, "patients")
	var b strings.Builder
	b.WriteString("patient,age,dose,weight,state\n")
	for p := range n {
		age, dose, weight := s.Normal(), s.Normal(), s.Normal()
		state := "well"
		if age+1.2*s.Normal() > 0 {
			state = "sick"
		}
		for range 10 {
			fmt.Fprintf(&b, "p%d,%.4f,%.4f,%.4f,%s\n", p, age+0.01*s.Normal(), dose+0.01*s.Normal(), weight+0.01*s.Normal(), state)
		}
	}
	return table(t, b.String(), dataset.Options{Group: "patient"})
}

// A race that knows of groups leaves what is good at new ones; among rows by themselves it would be what
// remembers rows best.
func TestHalvingOfGroupsIsNotFooled(t *testing.T) {
	src := patients(t, 120)
	space := Space{Base: train.Config{Map: train.Map{Features: 128}, Scale: "none", Learner: train.Ridge{}},
		Axes: []Axis{axis(t, "gamma", "0.05,0.1,50,100"), axis(t, "lambda", "1")}}
	r := searched(t, src, space, TuneOptions{Search: "halving", Folds: Folds{K: 4}})
	if g := r.Picked.Values["gamma"]; r.Folds.Kind != "group" || g != "0.05" && g != "0.1" || len(r.Warnings) > 0 {
		t.Errorf("folds %s, γ %s, warnings %v", r.Folds.Kind, g, r.Warnings)
	}
	// The same rows raced without their groups.
	s := drawn(t, src, 24_000, "")
	var configs []train.Config
	for _, g := range []string{"0.1", "50"} {
		configs = append(configs, train.Config{Map: train.Map{Features: 128}, Scale: "none", Learner: train.Ridge{},
			Kernel: train.Kernel{Gamma: g}})
	}
	res, err := race(t.Context(), s, configs, raceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Winner != 1 {
		t.Errorf("the data are no trap: %+v", res.Racers)
	}
}

// Ten rows in turn are of one day, which has a place and a whim. What remembers days knows rows between others of
// their day, but nothing of a day to come: a race of rows in the order of time leaves what knows the lasting law.
func TestHalvingInTheOrderOfTimeIsNotFooled(t *testing.T) {
	s := random.New(7, "whims")
	n := 900
	x, y := matrix.NewDense(n, 4), make([]float64, n)
	var day [3]float32
	whim := 0.0
	for i := range n {
		if i%10 == 0 {
			day, whim = [3]float32{float32(2 * s.Normal()), float32(2 * s.Normal()), float32(2 * s.Normal())}, 2*s.Normal()
		}
		v := s.Normal()
		x.Row(i)[0] = float32(v)
		copy(x.Row(i)[1:], day[:])
		y[i] = v + whim + 0.1*s.Normal()
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	base := train.Config{Map: train.Map{Features: 256}, Scale: "none", Learner: train.Ridge{}}
	space := Space{Base: base, Axes: []Axis{axis(t, "gamma", "0.005,0.01,1,2"), axis(t, "lambda", "1")}}
	r := searched(t, src, space, TuneOptions{Search: "halving", Folds: Folds{Kind: "time", K: 3}})
	if g := r.Picked.Values["gamma"]; g != "0.005" && g != "0.01" || len(r.Warnings) > 0 {
		t.Errorf("γ %s, warnings %v", g, r.Warnings)
	}
	low, high := base, base
	low.Kernel.Gamma, high.Kernel.Gamma = "0.01", "1"
	res, err := race(t.Context(), drawn(t, src, 24_000, ""), []train.Config{low, high}, raceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Winner != 1 {
		t.Errorf("the data are no trap: %+v", res.Racers)
	}
}

// Pipelines with several λ go on with all of them, or not at all; of groups each λ races.
func TestPipelinesRaceAsOne(t *testing.T) {
	src := patients(t, 60)
	space := Space{Base: train.Config{Map: train.Map{Features: 32}, Scale: "none", Learner: train.Ridge{}},
		Axes: []Axis{axis(t, "gamma", "0.1,0.2,20,30,40"), axis(t, "lambda", "0.1,1,trace*0.1")}}
	r := searched(t, src, space, TuneOptions{Search: "halving", Folds: Folds{K: 4}})
	judged := map[string]int{}
	for _, c := range r.Candidates {
		if c.Dropped == "" {
			judged[c.Values["gamma"]]++
		} else if !strings.Contains(c.Dropped, "out of the race") {
			t.Errorf("%v: %s", c.Values, c.Dropped)
		}
	}
	if len(judged) == 0 || len(judged) > 2 {
		t.Errorf("judged: %v", judged)
	}
	for g, n := range judged {
		if n != 3 {
			t.Errorf("γ %s: %d of 3 λ are judged", g, n)
		}
	}
}

// What a candidate loses on a group it loses on all its rows: the noise of the race is that of groups.
func TestNoiseOfARaceIsThatOfGroups(t *testing.T) {
	src, _ := numbered(t, 600, 0)
	info := rowsInfo{n: 600, groups: 60, group: make([]int32, 600)}
	loss := make([]float64, 60)
	s := random.New(9, "losses of groups")
	for g := range loss {
		loss[g] = s.Normal()
	}
	for i := range info.group {
		info.group[i] = int32(i % 60)
	}
	sample := collected(t, src)(drawGroups(info, 600, 1))
	opt := raceOptions{Try: func(_ context.Context, s *Sample, fold, _ int, cfg train.Config) (outcome, error) {
		var out outcome
		for _, row := range numbers(t, s.held(fold)) {
			v := 0.0
			if cfg.LearnerName() == "svr" {
				v = 10 + loss[info.group[row]]
			}
			out.Losses = append(out.Losses, v)
		}
		return out, nil
	}}
	res, err := race(t.Context(), sample, []train.Config{{Learner: train.Ridge{}}, {Learner: train.SVR{}}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	mean, se := meanError(loss)
	last, _ := res.Racers[1].Last()
	if math.Abs(last.Gap-10-mean) > 1e-12 || math.Abs(last.Noise-se) > 1e-12 {
		t.Errorf("%g ± %g, want %g ± %g", last.Gap, last.Noise, 10+mean, se)
	}
}

func drawn(t testing.TB, src dataset.Source, n int, task string) *Sample {
	t.Helper()
	s, err := Draw(t.Context(), src, n, task, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
