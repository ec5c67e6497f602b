package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/eval"
	"mercer/internal/engine/random"
	"mercer/train"
)

// uneven are rows of classes of very different sizes, in no order.
func uneven(n, classes int) rowsInfo {
	s := random.New(3, "uneven")
	r := rowsInfo{n: n, class: make([]int32, n)}
	for c := range classes {
		r.classes = append(r.classes, fmt.Sprint("class ", c))
	}
	for i := range n {
		r.class[i] = int32(float64(classes) * math.Pow(s.Uniform(), 3))
	}
	return r
}

func divided(t *testing.T, f Folds, rows rowsInfo) *division {
	t.Helper()
	d, err := f.divide(rows)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// counts are the rows of each part of a repeat for which of says yes.
func counts(d *division, repeat int, of func(row int) bool) []int {
	n := make([]int, d.Parts)
	for i, p := range d.part[repeat] {
		if of(i) {
			n[p]++
		}
	}
	return n
}

func all(int) bool { return true }

func TestEveryRowJudgesOnceARepeat(t *testing.T) {
	rows := uneven(257, 3)
	for _, kind := range []string{"kfold", "stratified"} {
		d := divided(t, Folds{Kind: kind, K: 4, Repeats: 3}, rows)
		if len(d.Splits) != 12 {
			t.Fatalf("%s: %d splits", kind, len(d.Splits))
		}
		for repeat := range 3 {
			for i := range rows.n {
				judges, trains := 0, 0
				for _, s := range d.Splits {
					if s.Repeat != repeat {
						continue
					}
					if d.holds(s, i) {
						judges++
					}
					if d.trains(s, i) {
						trains++
					}
					if d.holds(s, i) == d.trains(s, i) {
						t.Fatalf("%s: row %d trains and judges, or neither, in %v", kind, i, s)
					}
				}
				if judges != 1 || trains != 3 {
					t.Fatalf("%s: row %d judges %d times and trains %d times", kind, i, judges, trains)
				}
			}
		}
		if slices.Equal(d.part[0], d.part[1]) {
			t.Errorf("%s: the second repeat is the first", kind)
		}
	}
}

func TestFoldsAreOfTheSameSize(t *testing.T) {
	for _, kind := range []string{"kfold", "stratified"} {
		for _, n := range []int{7, 100, 103} {
			d := divided(t, Folds{Kind: kind, K: 7}, uneven(n, 5))
			c := counts(d, 0, all)
			if slices.Max(c)-slices.Min(c) > 1 {
				t.Errorf("%s of %d rows: folds of %v", kind, n, c)
			}
		}
	}
}

func TestStratifiedFoldsKeepClassShares(t *testing.T) {
	rows := uneven(1003, 6)
	d := divided(t, Folds{Kind: "stratified", K: 5}, rows)
	for class := range rows.classes {
		c := counts(d, 0, func(i int) bool { return rows.class[i] == int32(class) })
		if slices.Max(c)-slices.Min(c) > 1 {
			t.Errorf("class %d: %v", class, c)
		}
	}
}

// Every pair of rows is as likely to share a fold as in a shuffled pack of cards: of n rows in
// K folds of n/K with the probability (n/K - 1)/(n - 1).
func TestFoldsAreDrawnAtRandom(t *testing.T) {
	const n, k, draws = 20, 4, 4000
	want := float64(n/k-1) / (n - 1)
	noise := math.Sqrt(want * (1 - want) / draws)
	together := [n][n]int{}
	d := divided(t, Folds{Kind: "kfold", K: k, Repeats: draws}, rowsInfo{n: n})
	for _, part := range d.part {
		for i := range n {
			for j := range i {
				if part[i] == part[j] {
					together[i][j]++
				}
			}
		}
	}
	for i := range n {
		for j := range i {
			if got := float64(together[i][j]) / draws; math.Abs(got-want) > 5*noise {
				t.Errorf("rows %d and %d share a fold with probability %.3f, want %.3f ± %.3f", i, j, got, want, noise)
			}
		}
	}
}

func TestGroupsStayTogether(t *testing.T) {
	s := random.New(5, "groups")
	rows := rowsInfo{n: 2000, groups: 60, group: make([]int32, 2000)}
	for i := range rows.group {
		rows.group[i] = int32(60 * math.Pow(s.Uniform(), 2))
	}
	d := divided(t, Folds{K: 5, Repeats: 2}, rows)
	if d.Kind != "group" {
		t.Fatalf("rows of groups are divided by %s", d.Kind)
	}
	for repeat := range 2 {
		of := map[int32]uint16{}
		for i, g := range rows.group {
			if p, seen := of[g]; seen && p != d.part[repeat][i] {
				t.Fatalf("group %d is in the parts %d and %d", g, p, d.part[repeat][i])
			}
			of[g] = d.part[repeat][i]
		}
		// The largest group has about 2000·√(1/60) = 258 rows, fewer than a fold of 400.
		c := counts(d, repeat, all)
		if slices.Min(c) < 350 || slices.Max(c) > 450 {
			t.Errorf("folds of %v rows", c)
		}
	}
	if slices.Equal(d.part[0], d.part[1]) {
		t.Error("the second repeat is the first")
	}
}

func TestHoldOutHoldsItsShareOfEveryClass(t *testing.T) {
	rows := uneven(1000, 5)
	d := divided(t, Folds{Kind: "holdout", Share: 0.3, Repeats: 4}, rows)
	if len(d.Splits) != 4 {
		t.Fatalf("%d splits", len(d.Splits))
	}
	for repeat := range 4 {
		if c := counts(d, repeat, all); c[1] != 300 {
			t.Errorf("%d of 1000 rows are held out", c[1])
		}
		for class := range rows.classes {
			c := counts(d, repeat, func(i int) bool { return rows.class[i] == int32(class) })
			if math.Abs(float64(c[1])-0.3*float64(c[0]+c[1])) > 1 {
				t.Errorf("class %d: %d of %d held out", class, c[1], c[0]+c[1])
			}
		}
	}
}

func TestTimeTrainsOnThePastOnly(t *testing.T) {
	d := divided(t, Folds{Kind: "time", K: 4}, rowsInfo{n: 103})
	if len(d.Splits) != 4 {
		t.Fatalf("%d splits", len(d.Splits))
	}
	judged := 0
	for n, s := range d.Splits {
		last, first, trained := -1, 1000, 0
		for i := range 103 {
			if d.trains(s, i) {
				last = i
				trained++
			}
			if d.holds(s, i) {
				first = min(first, i)
				judged++
			}
		}
		if last != first-1 || trained != first {
			t.Errorf("split %d trains on %d rows up to %d and judges from %d on", n, trained, last, first)
		}
		if n > 0 && len(s.Train) <= len(d.Splits[n-1].Train) {
			t.Errorf("split %d does not train on more than the one before", n)
		}
	}
	if first := counts(d, 0, all)[0]; judged != 103-first {
		t.Errorf("%d rows judge; all but the first block's %d are to", judged, first)
	}
}

func TestFoldsAreAFunctionOfTheSeed(t *testing.T) {
	rows := uneven(200, 3)
	for _, kind := range []string{"kfold", "stratified", "holdout"} {
		a := divided(t, Folds{Kind: kind, Seed: 4}, rows)
		b := divided(t, Folds{Kind: kind, Seed: 4}, rows)
		c := divided(t, Folds{Kind: kind, Seed: 5}, rows)
		if !slices.Equal(a.part[0], b.part[0]) || slices.Equal(a.part[0], c.part[0]) {
			t.Errorf("%s: not a function of the seed, or of nothing else", kind)
		}
	}
}

func TestWrongFoldsAreExplained(t *testing.T) {
	groups := rowsInfo{n: 40, groups: 3, group: make([]int32, 40)}
	for _, c := range []struct {
		folds Folds
		rows  rowsInfo
		want  string
	}{
		{Folds{K: 5}, rowsInfo{n: 4}, "4 rows are fewer than 5 folds"},
		{Folds{Kind: "time", K: 4}, rowsInfo{n: 4}, "4 rows are fewer than 4 folds in the order of time take"},
		{Folds{K: 5}, groups, "3 groups are fewer than the 5 folds"},
		{Folds{Kind: "kfold"}, groups, "do not keep the rows of a group together"},
		{Folds{Kind: "group"}, rowsInfo{n: 40}, "fold_group"},
		{Folds{Kind: "stratified"}, rowsInfo{n: 40}, "the labels are not classes"},
		{Folds{Kind: "spiral"}, rowsInfo{n: 40}, "spiral"},
		{Folds{K: 1}, rowsInfo{n: 40}, "give 2 or more"},
		{Folds{K: 1 << 16}, rowsInfo{n: 40}, "at most"},
		{Folds{Kind: "holdout", Share: 0.001}, rowsInfo{n: 40}, "leaves none"},
		{Folds{Kind: "holdout", Share: 1.5}, rowsInfo{n: 40}, "between 0 and 1"},
		{Folds{Kind: "time", Repeats: 2}, rowsInfo{n: 40}, "leave the repeats out"},
		{Folds{Repeats: -1}, rowsInfo{n: 40}, "-1 repeats"},
	} {
		_, err := c.folds.divide(c.rows)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want something about %q", c.folds, err, c.want)
		}
	}
	rare := rowsInfo{n: 20, class: make([]int32, 20), classes: []string{"usual", "rare"}}
	rare.class[3], rare.class[8] = 1, 1
	if d := divided(t, Folds{}, rare); len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "rare (2)") {
		t.Errorf("warnings of a class with fewer rows than folds: %v", d.Warnings)
	}
}

// Configurations are compared on the folds that a search has with the same seed.
func TestComparisonsHaveTheFoldsOfASearch(t *testing.T) {
	src := rings(t, 103, 2, 3)
	var configs []eval.NamedConfig
	for _, gamma := range []string{"1", "4"} {
		configs = append(configs, eval.NamedConfig{Name: gamma, Config: train.Config{Learner: train.KernelRidge{Lambda: 0.1},
			Kernel: train.Kernel{Gamma: gamma}}})
	}
	want, err := eval.CompareConfigs(context.Background(), configs, src, eval.FoldOptions{Repeats: 2})
	if err != nil {
		t.Fatal(err)
	}
	space := Space{Base: train.Config{Learner: train.KernelRidge{Lambda: 0.1}}, Axes: []Axis{axis(t, "gamma", "1,4")}}
	got := byIndex(searched(t, src, space, TuneOptions{Folds: Folds{Repeats: 2}}))
	for i, c := range got {
		for f, v := range c.Scores {
			if w := want.Configs[i].FoldValues[f]; math.Abs(v-w) > 1e-12 {
				t.Errorf("gamma %s, fold %d: %g, and in the comparison %g", c.Values["gamma"], f+1, v, w)
			}
		}
	}
}

func TestFoldsFollowTimes(t *testing.T) {
	const n = 120
	rows := rowsInfo{n: n, times: make([]float64, n)}
	for i := range rows.times {
		rows.times[i] = float64(i * 7 % 30) // each time four times
	}
	d, err := Folds{K: 4}.divide(rows)
	if err != nil || d.Kind != "time" {
		t.Fatalf("%v %v, want time", d, err)
	}
	for _, s := range d.Splits {
		last, first := -1.0, 99.0
		for i, v := range rows.times {
			if d.trains(s, i) {
				last = max(last, v)
			}
			if d.holds(s, i) {
				first = min(first, v)
			}
		}
		if last >= first {
			t.Errorf("part %d begins at %g, but the training ends at %g", s.Held, first, last)
		}
	}
	rows.times = make([]float64, n)
	if _, err := (Folds{K: 4}).divide(rows); err == nil {
		t.Error("rows of one time were divided")
	}
}
