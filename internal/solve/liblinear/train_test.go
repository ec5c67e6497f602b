package liblinear

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// objective is what the formulations minimise, by their definitions.
func objective(m *Model, d *Data, c, p float64, weights map[int]float64) float64 {
	weight := func(label int) float64 {
		if w, ok := weights[label]; ok {
			return w
		}
		return 1
	}
	total := 0.0
	for _, w := range m.W {
		switch m.Solver {
		case L1RL2LossSVC, L1RLR:
			total += math.Abs(w)
		default:
			total += w * w / 2
		}
	}
	values := make([]float64, m.Outputs)
	for i := range d.X.Rows {
		m.Values(values, matrix.Rows{CSR: d.X}, i)
		if m.Solver.Regression() {
			e := max(0, math.Abs(values[0]-d.Y[i])-p)
			if m.Solver != L2RL1LossSVRDual {
				e *= e
			}
			total += c * e
			continue
		}
		own := slices.Index(m.Labels, int(d.Y[i]))
		if m.Solver == MCSVMCS {
			worst := 0.0
			for k, v := range values {
				if k != own {
					worst = max(worst, 1+v-values[own])
				}
			}
			total += c * weight(m.Labels[own]) * worst
			continue
		}
		for k, v := range values {
			y, w := -1.0, 1.0
			if k == own {
				y = 1
			}
			if y > 0 || m.Outputs == 1 {
				w = weight(m.Labels[own])
			}
			var loss float64
			switch margin := y * v; m.Solver {
			case L2RLR, L1RLR, L2RLRDual:
				loss = math.Log1p(math.Exp(-margin))
			case L2RL1LossSVCDual:
				loss = max(0, 1-margin)
			default:
				loss = max(0, 1-margin) * max(0, 1-margin)
			}
			total += c * w * loss
		}
	}
	return total
}

func dataOf(t testing.TB, text string) *Data {
	x, y := rowsOf(t, text)
	return &Data{X: x.CSR, Y: y}
}

// The objective is LIBLINEAR's, for every solver, with and without bias.
func TestObjectivesAreThoseOfLIBLINEAR(t *testing.T) {
	r := load(t)
	for _, c := range r.Cases {
		name := fmt.Sprintf("-s %d -B %g on %s", c.Solver, c.Bias, c.Set)
		theirs, err := Read(strings.NewReader(c.Model))
		if err != nil {
			t.Fatal(err)
		}
		d := dataOf(t, r.Sets[c.Set].Train)
		opt := Defaults()
		opt.Solver, opt.Bias, opt.Tolerance = c.Solver, c.Bias, 1e-3
		ours, report, err := Train(context.Background(), d, opt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(ours.Labels, theirs.Labels) || ours.Outputs != theirs.Outputs || ours.Features != theirs.Features || !report.Converged {
			t.Errorf("%s: labels %v, %d outputs, %d features, %+v; LIBLINEAR's %v, %d, %d", name, ours.Labels,
				ours.Outputs, ours.Features, report, theirs.Labels, theirs.Outputs, theirs.Features)
			continue
		}
		a, b := objective(ours, d, opt.C, opt.Epsilon, nil), objective(theirs, d, opt.C, opt.Epsilon, nil)
		// LIBLINEAR's own tolerance leaves some models above the minimum.
		if a > b*(1+1e-3) || a < b*(1-5e-3) {
			t.Errorf("%s: objective %.8g, LIBLINEAR's %.8g", name, a, b)
		}
		// A dual solver says the dual's, which is the negative of what is below the primal's.
		low, high := a*(1-1e-6), a*(1+1e-6)
		dual := []Solver{L2RL2LossSVCDual, L2RL1LossSVCDual, MCSVMCS, L2RLRDual, L2RL2LossSVRDual, L2RL1LossSVRDual}
		if slices.Contains(dual, c.Solver) {
			low, high = -a*(1+1e-6), -b*(1-6e-3)
		}
		if report.Objective < low || report.Objective > high {
			t.Errorf("%s: the report's objective is %.8g, from %.8g to %.8g is right", name, report.Objective, low, high)
		}
	}
}

// Weights of classes multiply the costs of a class's rows in its own problem only.
func TestWeightsOfClassesAreThoseOfLIBLINEAR(t *testing.T) {
	r := load(t)
	weights := map[int]float64{7: 5, 1: 5}
	for _, c := range r.Cases {
		if c.Bias >= 0 || c.Solver.Regression() {
			continue
		}
		d := dataOf(t, r.Sets[c.Set].Train)
		opt := Defaults()
		opt.Solver, opt.Tolerance, opt.Weights = c.Solver, 1e-4, map[int]float64{}
		plain, _, err := Train(context.Background(), d, opt)
		if err != nil {
			t.Fatal(err)
		}
		for label, w := range weights {
			if slices.Contains(plain.Labels, label) {
				opt.Weights[label] = w
			}
		}
		m, _, err := Train(context.Background(), d, opt)
		if err != nil {
			t.Fatal(err)
		}
		// The minimum is below the objective of a model that minimises another one, and that
		// of models near it.
		best := objective(m, d, opt.C, opt.Epsilon, opt.Weights)
		if other := objective(plain, d, opt.C, opt.Epsilon, opt.Weights); best >= other {
			t.Errorf("-s %d on %s: weighted objective %g, that of the model without weights %g", c.Solver, c.Set, best, other)
		}
		for i := range m.W {
			for _, step := range []float64{-0.05, 0.05} {
				m.W[i] += step
				if near := objective(m, d, opt.C, opt.Epsilon, opt.Weights); near < best*(1-1e-5) {
					t.Errorf("-s %d on %s: objective %g, beside it %g", c.Solver, c.Set, best, near)
				}
				m.W[i] -= step
			}
		}
	}
}

// Without a penalty on the bias its gradient is that of the losses alone.
func TestFreeBiasIsNotPenalised(t *testing.T) {
	d := dataOf(t, load(t).Sets["number"].Train)
	for i := range d.Y {
		d.Y[i] += 1000
	}
	opt := Defaults()
	opt.Solver, opt.Bias, opt.FreeBias, opt.Epsilon, opt.Tolerance = L2RL2LossSVR, 2, true, 0, 1e-6
	m, _, err := Train(context.Background(), d, opt)
	if err != nil {
		t.Fatal(err)
	}
	residual := 0.0
	v := make([]float64, 1)
	for i, y := range d.Y {
		m.Values(v, matrix.Rows{CSR: d.X}, i)
		residual += v[0] - y
	}
	if math.Abs(residual) > 0.1 || m.W[m.Features]*2 < 900 {
		t.Errorf("residuals add up to %g with a bias of 2·%g", residual, m.W[m.Features])
	}
}

func TestLabelsComeInTheirOrder(t *testing.T) {
	labels, class, err := Labels([]float64{-1, 1, -1})
	if err != nil || !slices.Equal(labels, []int{1, -1}) || !slices.Equal(class, []int{1, 0, 1}) {
		t.Errorf("%v, %v, %v", labels, class, err)
	}
	labels, class, err = Labels([]float64{3, 1, 3, 2})
	if err != nil || !slices.Equal(labels, []int{3, 1, 2}) || !slices.Equal(class, []int{0, 1, 0, 2}) {
		t.Errorf("%v, %v, %v", labels, class, err)
	}
	if _, _, err := Labels([]float64{1, 0.5}); err == nil || !strings.Contains(err.Error(), "row 2: the label 0.5") {
		t.Error(err)
	}
}

func TestCrossValidationPredictsHeldOutRows(t *testing.T) {
	d := dataOf(t, load(t).Sets["two"].Train)
	opt := Defaults()
	// With as many folds as rows, each prediction is that of the model of all other rows.
	got, err := CrossValidate(context.Background(), d, d.X.Rows, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 7, 59} {
		var others []int
		for j := range d.X.Rows {
			if j != i {
				others = append(others, j)
			}
		}
		m, _, err := Train(context.Background(), d.Subset(others), opt)
		if err != nil {
			t.Fatal(err)
		}
		v := make([]float64, 1)
		m.Values(v, matrix.Rows{CSR: d.X}, i)
		if got[i] != m.Predict(v) && math.Abs(v[0]) > 0.1 {
			t.Errorf("row %d: %g, by the model of the others %g (%g)", i, got[i], m.Predict(v), v[0])
		}
	}
	// A class of one row, which is in no other fold, may have a weight; one that is nowhere may not.
	d.Y[3], opt.Weights = 9, map[int]float64{9: 2}
	if _, err := CrossValidate(context.Background(), d, 3, opt); err != nil {
		t.Errorf("a rare class with a weight: %v", err)
	}
	opt.Weights[10] = 2
	if _, err := CrossValidate(context.Background(), d, 3, opt); err == nil {
		t.Error("the weight of a class that is nowhere was accepted")
	}
	if _, err := CrossValidate(context.Background(), d, 1, opt); err == nil {
		t.Error("one fold was accepted")
	}
}

func TestChooseFindsTheBestC(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	r := load(t)
	for _, c := range []struct {
		set    string
		solver Solver
	}{{"two", L2RLR}, {"two", L2RL2LossSVC}, {"number", L2RL2LossSVR}} {
		opt := Defaults()
		opt.Solver = c.solver
		var tried []Choice
		best, err := Choose(context.Background(), dataOf(t, r.Sets[c.set].Train), 3, 0, opt, func(c Choice) { tried = append(tried, c) })
		if err != nil {
			t.Fatal(err)
		}
		if len(tried) < 8 {
			t.Errorf("-s %d: %d tried", c.solver, len(tried))
		}
		for _, other := range tried {
			if c.solver == L2RL2LossSVR && other.Rate < best.Rate || c.solver != L2RL2LossSVR && other.Rate > best.Rate {
				t.Errorf("-s %d: chose %+v, and %+v is better", c.solver, best, other)
			}
		}
	}
	if _, err := Choose(context.Background(), dataOf(t, r.Sets["two"].Train), 3, 0, Defaults(), nil); err == nil {
		t.Error("solver 1 was accepted")
	}
}

func TestTrainErrors(t *testing.T) {
	two := dataOf(t, "1 1:1\n-1 1:2\n1 2:1\n")
	for _, c := range []struct {
		edit func(o *Options)
		data *Data
		want string
	}{
		{func(o *Options) { o.Solver = 8 }, two, "solver 8 is not known"},
		{func(o *Options) { o.C = 0 }, two, "cost C 0 is not a positive number"},
		{func(o *Options) { o.C = math.Inf(1) }, two, "cost C +Inf is not"},
		{func(o *Options) { o.Tolerance = -1 }, two, "the tolerance -1 is not"},
		{func(o *Options) { o.Epsilon = math.NaN() }, two, "p NaN is not"},
		{func(o *Options) { o.Nu = 0 }, two, "nu 0 is not"},
		{func(o *Options) { o.FreeBias = true }, two, "give one with -B 1"},
		{func(o *Options) { o.FreeBias, o.Bias = true, 1 }, two, "not for 1"},
		{func(o *Options) { o.Weights = map[int]float64{4: 1} }, two, "the weight of class 4: there is no such class"},
		{func(o *Options) { o.Weights = map[int]float64{1: -1} }, two, "the weight -1 of class 1"},
		{func(o *Options) { o.Solver, o.Bias = OneClassSVM, 1 }, two, "leave out -B"},
		{func(o *Options) {}, dataOf(t, "1 1:1\n1 1:2\n"), "every row has the label 1"},
		{func(o *Options) {}, dataOf(t, "0.5 1:1\n1 1:2\n"), "row 1: the label 0.5 is not a whole number"},
		{func(o *Options) {}, &Data{X: &matrix.CSR{Ptr: []int{0}}}, "there are no rows"},
	} {
		opt := Defaults()
		c.edit(&opt)
		if _, _, err := Train(context.Background(), c.data, opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestOneClassKeepsItsShareOutside(t *testing.T) {
	// Rows on one side of the origin, from which the machine sets them apart.
	var text strings.Builder
	r := random.New(1, "liblinear.test")
	for range 80 {
		fmt.Fprintf(&text, "1 1:%g 2:%g\n", 3+r.Normal(), 2+0.5*r.Normal())
	}
	d := dataOf(t, text.String())
	opt := Defaults()
	opt.Solver, opt.Nu, opt.Tolerance = OneClassSVM, 0.25, 1e-4
	m, _, err := Train(context.Background(), d, opt)
	if err != nil {
		t.Fatal(err)
	}
	outside := 0
	v := make([]float64, 1)
	for i := range d.X.Rows {
		m.Values(v, matrix.Rows{CSR: d.X}, i)
		if v[0] < -1e-3*math.Abs(m.Rho) {
			outside++
		}
	}
	// ν bounds the share of rows that lie strictly outside from above, and nearly meets it.
	if outside > 20 || outside < 16 {
		t.Errorf("%d of %d rows are outside", outside, d.X.Rows)
	}
}
