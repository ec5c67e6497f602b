package approx

import (
	"context"
	"math"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// law is a curve with error c·D^e at 100, 200 and 400 features, D/100 µs and 10·D bytes, both times
// cost.
func law(name string, c, e, cost float64) Curve {
	curve := Curve{Map: name}
	for _, d := range []int{100, 200, 400} {
		mean := Stat{Mean: c * math.Pow(float64(d), e)}
		curve.Points = append(curve.Points, Point{Features: d, Outputs: d, MeanAbs: mean, MeanRel: &mean,
			PerRow: cost * float64(d) / 100, Bytes: int64(10 * cost * float64(d)), runs: []run{{outputs: d,
				errors: Errors{MeanAbs: mean.Mean, MeanRel: &mean.Mean}}}})
	}
	curve.fit()
	return curve
}

func TestOffersFollowTheRate(t *testing.T) {
	c := law("a", 1, -0.5, 1)
	for _, x := range []struct {
		asked    float64
		features int
		perRow   float64
	}{
		{0.0625, 256, 2.56}, // between points
		{0.025, 1600, 16},   // beyond
		{0.125, 64, 0.64},   // before
		{0.1, 100, 1},       // measured
	} {
		o, ok := c.offer(Goal{Error: x.asked}, 1)
		if !ok || o.Features < x.features || o.Features > x.features+2 || math.Abs(o.PerRow-x.perRow) > 0.03*x.perRow {
			t.Errorf("%g: %+v, want D = %d at %g µs", x.asked, o, x.features, x.perRow)
		}
	}
	if _, ok := c.offer(Goal{Error: 0.01}, 1); ok {
		t.Error("10,000 features are offered where 400 were measured")
	}
	if _, ok := (&Curve{Points: law("b", 1, 0.2, 1).Points, Rate: &Rate{Exponent: 0.2, Constant: 1}}).offer(Goal{Error: 0.01}, 1); ok {
		t.Error("an error that grows comes down")
	}
	// A map of one D meets the goal or does not.
	one := Curve{Points: c.Points[:1]}
	if o, ok := one.offer(Goal{Error: 0.2}, 1); !ok || o.Features != 100 {
		t.Errorf("one point: %+v", o)
	}
	if _, ok := one.offer(Goal{Error: 0.05}, 1); ok {
		t.Error("one point of error 0.1 meets 0.05")
	}
}

// The recommendation is measured and keeps its word.
func TestRecommendationMeetsTheGoal(t *testing.T) {
	x := normal(60, 4, 9)
	rows := Rows{x, x}
	r, err := Measure(context.Background(), rows, []Candidate{
		{feature.Config{Map: "rff", Kernel: rbf}, []int{32, 64, 128}}, {feature.Config{Map: "orf", Kernel: rbf}, []int{32, 64, 128}},
	}, Options{Seeds: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, goal := range []Goal{{Error: 0.02}, {Error: 0.06, Relative: true}} {
		rec, err := Recommend(context.Background(), rows, r, goal, Options{Seeds: 4})
		if err != nil {
			t.Fatal(err)
		}
		e := rec.Point.error(goal)
		if e.Mean > goal.Error || rec.Features%2 != 0 || rec.Config.Features != rec.Features || len(rec.Offers) == 0 ||
			rec.Offers[0].PerRow <= 0 {
			t.Errorf("%+v: %+v", goal, rec)
		}
		if rec.Features < 64 || rec.Features > 1200 {
			t.Errorf("%+v: D = %d", goal, rec.Features)
		}
	}
	if _, err := Recommend(context.Background(), rows, r, Goal{Error: 1e-6}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "allow a larger error") {
		t.Errorf("an error out of reach: %v", err)
	}
	if _, err := Recommend(context.Background(), rows, r, Goal{Error: -1}, Options{}); err == nil {
		t.Error("an error of -1 is recommended for")
	}
}

// One number of features has no rate, so that another is measured for it: the offer is then what
// the rate of the map says, up and down.
func TestOneSizeIsEnoughForARecommendation(t *testing.T) {
	x, y := normal(60, 4, 9), normal(60, 4, 10)
	rows := Rows{x, y}
	r, err := Measure(context.Background(), rows, []Candidate{{feature.Config{Map: "rff", Kernel: rbf}, []int{128}}}, Options{Seeds: 8})
	if err != nil {
		t.Fatal(err)
	}
	at128 := r.Curves[0].Points[0].MeanAbs.Mean
	// By the rate of Monte Carlo, D^(-1/2), the error is halved by 4 times as many features and doubled by
	// a quarter of them.
	for _, c := range []struct {
		times float64
		about int
	}{{0.5, 512}, {2, 32}} {
		rec, err := Recommend(context.Background(), rows, r, Goal{Error: c.times * at128}, Options{Seeds: 8})
		if err != nil {
			t.Fatal(err)
		}
		if rec.Added != 32 || rec.Point == nil || rec.Error > c.times*at128 || 2*rec.Features < c.about || rec.Features > 2*c.about {
			t.Errorf("%g of the error at 128: D = %d (error %g) and a second one at %d", c.times, rec.Features, rec.Error, rec.Added)
		}
	}
	if len(r.Curves[0].Points) != 1 || r.Curves[0].Rate != nil {
		t.Error("what was measured has changed")
	}
	if _, err := Recommend(context.Background(), rows, r, Goal{Error: at128 / 1000}, Options{Seeds: 8}); err == nil ||
		!strings.Contains(err.Error(), "allow a larger error") {
		t.Errorf("an error out of reach: %v", err)
	}
	if rec, err := Recommend(context.Background(), rows, r,
		Goal{Error: 0.7 * r.Curves[0].Points[0].MeanRel.Mean, Relative: true}, Options{Seeds: 8}); err != nil || rec.Added != 32 {
		t.Errorf("relative: %+v, %v", rec, err)
	}
}

// The second number of features is a quarter of the first where the map has one, else 4 times it; some
// maps have none.
func TestTheSecondSize(t *testing.T) {
	x := normal(40, 4, 9)
	for i, v := range x.Dense.Data {
		x.Dense.Data[i] = float32(math.Abs(float64(v)))
	}
	chi2 := kernel.Kernel{Name: "chi2"}
	chain := feature.Config{Map: "chain", Steps: []feature.Config{{Map: "countsketch",
		Kernel: kernel.Kernel{Name: "linear"}, Features: 32}, {Map: "orf", Kernel: rbf}}}
	for _, c := range []struct {
		cfg       feature.Config
		d, second int
	}{
		{feature.Config{Map: "orf", Kernel: rbf}, 64, 16},
		{feature.Config{Map: "orf", Kernel: rbf}, 2, 8},
		{feature.Config{Map: "nystrom", Kernel: rbf}, 20, 6},
		{feature.Config{Map: "tensorsketch", Kernel: poly(2)}, 64, 16},
		{feature.Config{Map: "homogeneous", Kernel: chi2}, 20, 12},
		{feature.Config{Map: "homogeneous", Kernel: chi2}, 4, 20},
		{chain, 64, 16},
		{feature.Config{Map: "explicit-poly", Kernel: poly(2)}, 0, 0},
	} {
		rows := Rows{x, x}
		var dims []int
		if c.d > 0 {
			dims = []int{c.d}
		}
		r, err := Measure(context.Background(), rows, []Candidate{{c.cfg, dims}}, Options{Seeds: 1})
		if err != nil {
			t.Fatal(err)
		}
		m := newMeter(rows, Options{Seeds: 1, Seed: 1})
		curve, added, err := m.second(context.Background(), r.Curves[0], Goal{Error: 0.1})
		if err != nil || added != c.second || added > 0 &&
			(len(curve.Points) != 2 || curve.Points[0].Features >= curve.Points[1].Features || curve.Rate == nil) {
			t.Errorf("%s at %d: a second one at %d, %d points, want %d; %v", c.cfg.Map, c.d, added, len(curve.Points), c.second, err)
		}
		if _, again, _ := m.second(context.Background(), curve, Goal{Error: 0.1}); added > 0 && again != 0 {
			t.Errorf("%s: a third one at %d", c.cfg.Map, again)
		}
	}
}

// Where the rows give a map fewer features than it was asked for, it is recommended with as few, and
// none that it cannot have here.
func TestSaturatedMapsAreRecommendedByWhatTheyHave(t *testing.T) {
	x, y := normal(40, 3, 9), normal(20, 3, 10)
	rows := Rows{x, y}
	nystrom := feature.Config{Map: "nystrom", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1}}
	for _, dims := range [][]int{{8, 512}, {512}} {
		r, err := Measure(context.Background(), rows, []Candidate{{nystrom, dims}}, Options{Seeds: 2})
		if err != nil {
			t.Fatal(err)
		}
		last := r.Curves[0].Points[len(dims)-1]
		if last.Outputs != 20 {
			t.Fatalf("%d features of 20 rows", last.Outputs)
		}
		rec, err := Recommend(context.Background(), rows, r, Goal{Error: 1.0001 * last.MeanAbs.Mean}, Options{Seeds: 2})
		if err != nil {
			t.Fatal(err)
		}
		if rec.Features != 20 || rec.Outputs != 20 || rec.Config.Features != 20 || rec.Point.Features != 20 || rec.Added > 20 {
			t.Errorf("%v: %d features, %d outputs, a second D at %d", dims, rec.Features, rec.Outputs, rec.Added)
		}
		if rec, err := Recommend(context.Background(), rows, r, Goal{Error: 0.9 * last.MeanAbs.Mean}, Options{Seeds: 2}); err == nil {
			t.Errorf("%v: %d features of 20 rows for an error below that of all 20", dims, rec.Features)
		}
	}
	// Of 20 rows in pairs of equal ones, 10 have fewer features than all: then that many are asked for.
	twice := matrix.NewDense(20, 3)
	for i := range 20 {
		copy(twice.Row(i), y.Dense.Row(i/2))
	}
	rows.Fit = matrix.Rows{Dense: twice}
	nystrom.Landmarks = "uniform"
	r, err := Measure(context.Background(), rows, []Candidate{{nystrom, []int{512}}}, Options{Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	goal := Goal{Error: 1.0001 * r.Curves[0].Points[0].MeanAbs.Mean}
	if rec, err := Recommend(context.Background(), rows, r, goal, Options{Seeds: 2}); err != nil || rec.Features != 512 ||
		rec.Outputs != 10 || rec.Error > goal.Error {
		t.Errorf("equal rows: %+v, %v", rec, err)
	}
	// By its rate it would need 450, no more than 16 times what was measured.
	c := law("a", 1, -1, 1)
	c.Points[2].Features = 1600 // of which it has 400
	if o, ok := c.offer(Goal{Error: 1.0 / 450}, 1); ok {
		t.Errorf("%d features where no more than 400 are to be had", o.Features)
	}
	c.Points[2].Features = 410 // some rows were alike, which does not end the rate
	if o, ok := c.offer(Goal{Error: 1.0 / 450}, 1); !ok || o.Features < 450 || o.Features > 452 {
		t.Errorf("400 features of 410 are all: %+v", o)
	}
	if o, ok := c.offer(Goal{Error: 1.0 / 300}, 1); !ok || o.Features > 302 || math.Abs(o.PerRow-3) > 0.1 {
		t.Errorf("between 200 and 400 features: %+v", o)
	}
}

// Cheapest is by time; where that is about the same, by bytes.
func TestCheapestByTimeThenBytes(t *testing.T) {
	x := normal(20, 3, 10)
	explicit := feature.Config{Map: "explicit-poly", Kernel: kernel.Kernel{Name: "linear"}}
	explicit.Kernel = poly(1)
	slow, small, large := law("slow", 1, -0.5, 2), law("small", 1, -0.5, 1.1), law("large", 1, -0.5, 1)
	for i := range large.Points {
		large.Points[i].Bytes *= 100
	}
	r := &Result{}
	for _, c := range []Curve{slow, large, small, law("hopeless", 1e6, -0.5, 0.1)} {
		c.Config = explicit
		r.Curves = append(r.Curves, c)
	}
	rec, err := Recommend(context.Background(), Rows{x, x}, r, Goal{Error: 0.06}, Options{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, o := range rec.Offers {
		order = append(order, o.Map)
	}
	if got := strings.Join(order, " "); got != "small large slow" || rec.Map != "small" || strings.Join(rec.Hopeless, " ") != "hopeless" {
		t.Errorf("offers %s, taken %s, hopeless %v", got, rec.Map, rec.Hopeless)
	}
}

// Where the fitted rate promises too much, D grows up to a point that is known to meet the goal; and
// if it then costs more than another map, that is taken.
func TestRatesAreNotTakenOnTrust(t *testing.T) {
	x := normal(30, 3, 11)
	rows := Rows{x, x}
	dreamt := law("rff", 4, -1, 1e-9) // in truth the error is some 0.5/√D
	dreamt.Config = feature.Config{Map: "rff", Kernel: rbf}
	r := &Result{Curves: []Curve{dreamt}}
	rec, err := Recommend(context.Background(), rows, r, Goal{Error: 0.015}, Options{Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	if rec.Features != 400 || rec.Error > 0.015 {
		t.Errorf("D = %d with an error of %g", rec.Features, rec.Error)
	}
	known := Curve{Map: "known", Config: feature.Config{Map: "explicit-poly", Kernel: poly(1)},
		Points: law("known", 0.001, -1, 1e-6).Points[:1]}
	r.Curves = append(r.Curves, known)
	if rec, err = Recommend(context.Background(), rows, r, Goal{Error: 0.015}, Options{Seeds: 2}); err != nil {
		t.Fatal(err)
	}
	// What was dreamt to take 3e-9 µs is measured, and known takes 1e-6.
	if rec.Map != "known" {
		t.Errorf("%s for %g µs", rec.Map, rec.PerRow)
	}
}

func TestRoundUp(t *testing.T) {
	chi2 := kernel.Kernel{Name: "chi2"}
	for _, c := range []struct {
		cfg  feature.Config
		d    float64
		want int
	}{
		{feature.Config{Map: "rff", Kernel: rbf}, 64.00000000001, 64},
		{feature.Config{Map: "rff", Kernel: rbf}, 64.1, 66},
		{feature.Config{Map: "tensorsketch", Kernel: poly(2)}, 1, 2},
		{feature.Config{Map: "tensorsketch", Kernel: poly(2)}, 512, 512},
		{feature.Config{Map: "tensorsketch", Kernel: poly(2)}, 513, 1024},
		{feature.Config{Map: "homogeneous", Kernel: chi2}, 30, 30},
		{feature.Config{Map: "homogeneous", Kernel: chi2}, 31, 50}, // 4 terms are not odd
		{feature.Config{Map: "chebyshev", Kernel: chi2}, 31, 40},
	} {
		if got := roundUp(c.cfg, c.d, 10); got != c.want {
			t.Errorf("%s: %g becomes %d, want %d", c.cfg.Map, c.d, got, c.want)
		}
	}
}
