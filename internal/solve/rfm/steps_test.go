package rfm

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// steep makes rows of six columns with an answer that jumps at thresholds of three of them.
func steep(n int, seed uint64) (*matrix.Dense, []float64) {
	r := random.New(seed, "rfm.steep")
	x, y := matrix.NewDense(n, 6), make([]float64, n)
	r.FillNormal(x.Data)
	for i := range y {
		row := x.Row(i)
		for j, t := range []float32{0.2, -0.4, 0.9} {
			if row[j] > t {
				y[i] += float64(j + 1)
			}
		}
		if row[0] > 0.2 && row[1] > -0.4 {
			y[i] -= 2
		}
		y[i] += 0.3 * r.Normal()
	}
	return x, y
}

// Boosted trees meet thresholds that machines round off, and have little to say of what is smooth. Both are of two classes and of numbers.
func TestThresholdsHaveTrees(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := steep(1500, 1)
	xt, yt := steep(2000, 2)
	opt := Options{Seed: 1, Kinds: quick, Centres: 200}
	with, report := fitted(t, x, y, 1, nil, opt)
	opt.Smooth = true
	without, _ := fitted(t, x, y, 1, nil, opt)
	a, b := failed(scored(t, with, xt), yt), failed(scored(t, without, xt), yt)
	t.Logf("%.3f of the variance is left, %.3f without trees; %v", a, b, report.Lines())
	if !(a < 0.8*b) || report.TreeShare < 0.3 || report.Trees != with.Steps().Trees.Len() {
		t.Errorf("%.3f of the variance is left, %.3f without trees; %d trees with the share %g", a, b, report.Trees, report.TreeShare)
	}
	if without.Steps().Trees != nil || !strings.Contains(report.Lines()[1], "boosted trees") {
		t.Errorf("%q", report.Lines())
	}
	codes := make([]float64, len(y))
	for i, v := range y {
		codes[i] = math.Copysign(1, v-1.5)
	}
	with, report = fitted(t, x, codes, 1, nil, Options{Seed: 1, Kinds: quick, Centres: 200, Classes: true, Logistic: true, Held: true})
	if report.TreeShare < 0.3 || !report.Logistic || len(report.Scores) != len(report.Held) || len(report.Held) > 200 {
		t.Errorf("classes have trees with the share %g, and %d judges", report.TreeShare, len(report.Held))
	}
	wrong := 0
	for i, v := range scored(t, with, xt) {
		if (v > 0) != (yt[i] > 1.5) {
			wrong++
		}
	}
	t.Logf("%d of 2000 classes are wrong", wrong)
	if wrong > 300 {
		t.Errorf("%d of 2000 classes are wrong", wrong)
	}
	smooth, ys := sides(1500, 1)
	if _, report := fitted(t, smooth, ys, 1, nil, opt); report.TreeShare > 0.4 {
		t.Errorf("trees have the share %g of what is smooth", report.TreeShare)
	}
}

// Machines of one leaf are judged by their own scores: of a smooth function of few rows trees have next to nothing to say.
func TestFewSmoothRowsHaveNoTrees(t *testing.T) {
	for _, n := range []int{60, 1200} {
		x, _ := steep(n, 1)
		y := make([]float64, n)
		for i := range y {
			y[i] = 2*float64(x.Row(i)[0]) + float64(x.Row(i)[1])
		}
		if _, report := fitted(t, x, y, 1, nil, Options{Seed: 1, Kinds: quick, Centres: 60}); report.TreeShare > .1 {
			t.Errorf("%d rows: trees have the share %g", n, report.TreeShare)
		}
	}
}

// Where all rows held out judge, none can end the trees, and there are none.
func TestFewRowsThatCount(t *testing.T) {
	x, y := steep(1200, 1)
	weights := make([]float64, len(y))
	for i := range 12 {
		weights[100*i] = 1
	}
	for seed := range uint64(20) {
		fitted(t, x, y, 1, weights, Options{Seed: seed, Kinds: quick, Centres: 60})
	}
}

// Several outputs in units of their own have trees in these units.
func TestTreesOfSeveralOutputs(t *testing.T) {
	x, y := steep(1200, 1)
	two := make([]float64, 0, 2*len(y))
	for _, v := range y {
		two = append(two, v, 1000*v+7)
	}
	m, report := fitted(t, x, two, 2, nil, Options{Seed: 1, Kinds: quick, Centres: 60})
	if report.TreeShare == 0 {
		t.Fatal("there are no trees")
	}
	all := scored(t, m, x)
	var one, other []float32
	thousand := make([]float64, len(y))
	for i := range y {
		one, other = append(one, all[2*i]), append(other, all[2*i+1])
		thousand[i] = 1000*y[i] + 7
	}
	if a, b := failed(one, y), failed(other, thousand); math.Abs(a-b) > 0.01 || a > 0.2 {
		t.Errorf("%.3f and %.3f of the variances are left", a, b)
	}
}

// Judges choose no λ: other targets of theirs change none.
func TestJudgesChooseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := table(1200, 6, 1)
	rates := func(flip bool) []float64 {
		codes := make([]float64, len(y))
		for i, v := range y {
			codes[i] = math.Copysign(1, v)
		}
		f := &fitting{ctx: t.Context(), x: x, y: codes, outputs: 1, opt: Options{Seed: 1, Kinds: []Kind{{kernel.RBF.Usual(), "diagonal"}}, Classes: true,
			Logistic: true, Held: true}, report: &Report{}, rows: x.Rows}
		if err := f.defaults(); err != nil {
			t.Fatal(err)
		}
		f.hold()
		judges := 0
		rows := make([]int, x.Rows)
		for i := range rows {
			rows[i] = i
			if f.judges[i] {
				judges++
				if !f.held[i] {
					t.Fatal("a judge is not held out")
				}
				if flip {
					codes[i] = -codes[i]
				}
			}
		}
		if judges < 80 || judges > 160 {
			t.Fatalf("%d of 1200 rows judge", judges)
		}
		members, err := f.choose(rows)
		if err != nil {
			t.Fatal(err)
		}
		made, err := f.train(rows, members, 100, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		return append(made.rates, members[0].perRow())
	}
	if a, b := rates(false), rates(true); !slices.Equal(a, b) || len(a) != 2 {
		t.Errorf("λ for a row is %g, and %g with other targets of the judges", a, b)
	}
}

// The share is near the half unless rows say more than by chance.
func TestShareOfTrees(t *testing.T) {
	r := random.New(1, "rfm.shares")
	n := 400
	f := &fitting{outputs: 1, x: matrix.NewDense(n, 1), y: make([]float64, n)}
	noisy := func(by float64) []float64 {
		scores := slices.Clone(f.y)
		for i := range scores {
			scores[i] += by * r.Normal()
		}
		return scores
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
		f.y[i] = r.Normal()
	}
	for _, c := range []struct{ ofMachines, ofTrees, low, high float64 }{{1, 1, .4, .6}, {.3, 3, 0, .1}, {3, .3, .9, 1}, {1, .5, .6, .9}} {
		a, b := noisy(c.ofMachines), noisy(c.ofTrees)
		share, mean := f.treeShare(judged{rows, a, a, 0}, b, false)
		if share < c.low || share > c.high {
			t.Errorf("errors of %g and %g: the share %g, expected %g to %g", c.ofMachines, c.ofTrees, share, c.low, c.high)
		}
		for i, v := range mean {
			if math.Abs(v-(1-share)*a[i]-share*b[i]) > 1e-12 {
				t.Fatalf("the mean is %g", v)
			}
		}
	}
}
