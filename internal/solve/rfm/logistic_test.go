package rfm

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/solve/landmarks"
	"mercer/internal/solve/learn"
	"mercer/kernel"
	"mercer/matrix"
)

// drawn are rows whose classes are drawn from known probabilities, 2 or 3 of them, with the codes and the probabilities.
func drawn(n, classes int, steep float64, seed uint64) (x *matrix.Dense, y, p []float64) {
	r := random.New(seed, "rfm.drawn")
	x = matrix.NewDense(n, 5)
	r.FillNormal(x.Data)
	for i := range n {
		row := x.Row(i)
		logits := []float64{steep * math.Sin(float64(row[0]+row[2])), 0, 6 * float64(row[1])}[:classes]
		own := make([]float64, classes)
		learn.Softmax(own, func(t int) float64 { return logits[t] })
		of, u := 0, r.Uniform()
		for of < classes-1 && u >= own[of] {
			u -= own[of]
			of++
		}
		p = append(p, own...)
		if classes == 2 {
			y = append(y, float64(2*of-1))
			continue
		}
		for t := range classes {
			y = append(y, float64(2*min(1, max(0, 1-(t-of)*(t-of)))-1))
		}
	}
	return x, y, p
}

// likelihood is the mean log loss of probabilities, n×classes, of rows with codes y.
func likelihood(p, y []float64, classes int) (sum float64) {
	n := len(p) / classes
	for i := range n {
		of := 0
		if classes == 2 {
			of = int(y[i]+1) / 2
		} else {
			of = slices.Index(y[i*classes:][:classes], 1)
		}
		sum -= math.Log(p[i*classes+of]) / float64(n)
	}
	return sum
}

// probabilities of rows by a machine and its report, n×classes.
func probabilities(t *testing.T, m *Machine, r *Report, x *matrix.Dense, y []float64, classes int) (p []float64) {
	t.Helper()
	_, k := m.Dims()
	var held []float32
	var codes []float64
	for h, i := range r.Held {
		for o := range k {
			held = append(held, float32(r.Scores[h*k+o]))
			codes = append(codes, y[i*k+o])
		}
	}
	c, err := learn.FitCalibration(Temperature(r.Logistic), false, held, codes, nil, k)
	if err != nil {
		t.Fatal(err)
	}
	scores := scored(t, m, x)
	one := make([]float64, classes)
	for i := range x.Rows {
		c.Probabilities(one, scores[i*k:][:k])
		p = append(p, one...)
	}
	return p
}

// Where held-out rows say so classes have machines by the logistic loss, in leaves with machines for all rows and in one leaf, and their
// probabilities of other rows are as good as those by squared error, or better, and near the true ones.
func TestClassesByLogLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, c := range []struct {
		classes, n, leaf int
		steep            float64
	}{{2, 900, 300, 6}, {3, 700, 1000, 20}} {
		outputs := c.classes
		if outputs == 2 {
			outputs = 1
		}
		x, y, _ := drawn(c.n, c.classes, c.steep, 1)
		test, codes, truth := drawn(4000, c.classes, c.steep, 2)
		opt := Options{Kinds: quick, Leaf: c.leaf, Classes: true, Held: true}
		squares, r := fitted(t, x, y, outputs, nil, opt)
		if r.Logistic {
			t.Errorf("%+v: by log loss unasked", c)
		}
		by := likelihood(probabilities(t, squares, r, test, y, c.classes), codes, c.classes)
		opt.Logistic = true
		machine, r := fitted(t, x, y, outputs, nil, opt)
		if !r.Logistic {
			t.Errorf("%+v: held-out rows prefer squared error", c)
		}
		got, least := likelihood(probabilities(t, machine, r, test, y, c.classes), codes, c.classes), likelihood(truth, codes, c.classes)
		if !(got < 1.03*by) || !(got < least+0.1) {
			t.Errorf("%+v: log loss %.4f, %.4f by squared error; of the probabilities themselves %.4f", c, got, by, least)
		}
	}
}

// Logits that say nothing are not taken in place of scores that do, nor the other way round.
func TestLikelier(t *testing.T) {
	r := random.New(1, "rfm.likelier")
	f := &fitting{outputs: 1}
	var held []int
	var good, bad []float64
	for i := range 300 {
		held = append(held, i)
		p := r.Uniform()
		code := -1.0
		if r.Uniform() < p {
			code = 1
		}
		f.y = append(f.y, code)
		good = append(good, math.Log(p/(1-p)))
		bad = append(bad, r.Normal())
	}
	estimates := make([]float64, len(good))
	for i, v := range good {
		estimates[i] = math.Tanh(v / 2) // 2p - 1
	}
	if f.likelier(held, estimates, bad) || !f.likelier(held, bad, good) || f.likelier(held, estimates, nil) || f.likelier(nil, nil, good) {
		t.Error("the choice is not by log loss")
	}
	// Weights count.
	f.weights = make([]float64, 300)
	f.weights[0], f.weights[1] = 1, 1
	f.y[0], f.y[1] = 1, -1
	wrong := slices.Clone(good)
	wrong[0], wrong[1] = -5, 5
	right := slices.Clone(bad)
	right[0], right[1] = 5, -5
	if f.likelier(held, estimates[:300], wrong) {
		t.Error("weights do not count")
	}
	if wrong[0], wrong[1] = 0, 0; !f.likelier(held, wrong, right) {
		t.Error("weights do not count")
	}
}

// The share has the smallest log loss of all that are tried, from the definition of the loss.
func TestLogisticShare(t *testing.T) {
	r := random.New(2, "rfm.share")
	for _, outputs := range []int{1, 3} {
		f := &fitting{outputs: outputs}
		var held []int
		var tree, all []float64
		for i := range 200 {
			held = append(held, i)
			f.weights = append(f.weights, float64(i%3))
			of := int(3 * r.Uniform())
			for o := range outputs {
				code := -1.0
				if of == o {
					code = 1
				}
				f.y = append(f.y, code)
				tree, all = append(tree, 0.4*code+r.Normal()), append(all, 0.8*code+2*r.Normal())
			}
		}
		loss := func(share float64) (sum float64) {
			for i := range held {
				s, own := make([]float64, outputs), 0.0
				for o := range s {
					s[o] = (1-share)*tree[i*outputs+o] + share*all[i*outputs+o]
				}
				if outputs == 1 {
					own = math.Log(1 + math.Exp(-f.y[i]*s[0]))
				} else {
					for _, v := range s {
						own += math.Exp(v)
					}
					own = math.Log(own)
					if of := slices.Index(f.y[i*outputs:][:outputs], 1); of >= 0 {
						own -= s[of]
					}
				}
				sum += f.weights[i] * own
			}
			return sum
		}
		got := f.logisticShare(held, tree, all)
		for step := range 21 {
			if a := float64(step) / 20; loss(a) < loss(got)-1e-9 {
				t.Errorf("%d outputs: share %g has the loss %g, %g has %g", outputs, got, loss(got), a, loss(a))
			}
		}
		if got == 0 || got == 1 {
			t.Errorf("%d outputs: share %g; the best is between the ends", outputs, got)
		}
	}
}

// Of many rows there are fewer landmarks, so that their values fit into the memory that Bytes tells.
func TestLandmarksOfTheLogisticLoss(t *testing.T) {
	for _, c := range []struct{ n, m, want int }{{2000, 1500, 1500}, {40_000, 4096, 1677}, {1 << 27, 100, 1}, {0, 5, 5}} {
		if got := logisticLandmarks(c.n, c.m); got != c.want {
			t.Errorf("%d rows, %d landmarks: %d, want %d", c.n, c.m, got, c.want)
		}
	}
	if got := keep([]float32{9}, []float32{1, 2, 3, 4, 5, 6}, 3, 2); !slices.Equal(got, []float32{9, 1, 2, 4, 5}) {
		t.Errorf("kept %v", got)
	}
	opt := Options{Classes: true}
	plain := Bytes(100_000, 10, 1, opt)
	opt.Logistic = true
	if more := Bytes(100_000, 10, 1, opt) - plain; more < 4*40_000*1677 {
		t.Errorf("the logistic loss takes %d bytes more", more)
	}
}

// A machine on the first landmarks has these.
func TestByLogistic(t *testing.T) {
	x, y, _ := drawn(200, 2, 6, 1)
	m, _ := fitted(t, x, y, 1, nil, Options{Kinds: quick, Centres: 40, Classes: true})
	one := m.Leaves()[0][0]
	k, z := one.Machine.Kernel(), one.Machine.Rows().Dense
	r := new(landmarks.Ridge)
	if err := r.Begin(k, z.Slice(0, 30), 1, false); err != nil {
		t.Fatal(err)
	}
	values := r.Values(nil, x)
	if err := r.Add(context.Background(), values, y, nil); err != nil {
		t.Fatal(err)
	}
	s, err := r.SolveLogistic(context.Background(), landmarks.Logistic{Values: values, Y: y}, 1, 1e-6, r.Start(30, nil))
	if err != nil || s == nil {
		t.Fatal(err)
	}
	leaf := trained{Leaf: Leaf{one}, solutions: []*landmarks.Solution{s}}
	if err := leaf.byLogistic(); err != nil {
		t.Fatal(err)
	}
	got := matrix.NewDense(x.Rows, 1)
	if err := leaf.Leaf[0].Machine.Scores(got, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	for i, want := range s.Scores(r, values) {
		if d := math.Abs(float64(got.Data[i]) - want); !(d < 1e-3*(1+math.Abs(want))) {
			t.Fatalf("row %d: %g, want %g", i, got.Data[i], want)
		}
	}
}

// What judges are told comes from machines that were trained on all other rows: it is what the same machine says of them where their own labels are others.
func TestJudgesAreToldByMachinesOnAllOtherRows(t *testing.T) {
	x, y, _ := drawn(1500, 3, 6, 1)
	all := make([]int, x.Rows)
	for i := range all {
		all[i] = i
	}
	told := func(y []float64, members []member) (trained, []member, []bool) {
		f := &fitting{ctx: context.Background(), x: x, y: y, outputs: 1, report: &Report{}, rows: x.Rows,
			opt: Options{Kinds: quick, Classes: true, Logistic: true, Held: true}}
		if err := f.defaults(); err != nil {
			t.Fatal(err)
		}
		f.hold()
		if members == nil {
			var err error
			if members, err = f.choose(all); err != nil {
				t.Fatal(err)
			}
		}
		one, err := f.train(all, members, 60, false, nil)
		if err != nil || one.logits == nil {
			t.Fatal(one.logits, err)
		}
		return one, members, f.judges
	}
	one, members, judges := told(y, nil)
	turned, count := slices.Clone(y), 0
	for i, judge := range judges {
		if judge {
			turned[i], count = -y[i], count+1
		}
	}
	other, _, _ := told(turned, members)
	if count < 100 || slices.Equal(one.solutions[0].Alpha(), other.solutions[0].Alpha()) {
		t.Fatalf("%d judges, who are nothing to the machine", count)
	}
	moved := 0
	for h, i := range one.held {
		switch {
		case one.later[h] != other.later[h]:
			t.Fatalf("row %d: %g by labels of judges, %g by others", i, one.later[h], other.later[h])
		case !judges[i] && one.later[h] != one.logits[h]:
			t.Fatalf("row %d does not judge: %g and %g", i, one.later[h], one.logits[h])
		case judges[i] && one.later[h] != one.logits[h]:
			moved++
		}
	}
	if moved < count*9/10 {
		t.Errorf("%d of %d judges are told by machines on fewer rows", count-moved, count)
	}
}

// Machines on more landmarks take λ of the logistic loss from those on few, and begin with them; λ that is given is taken.
func TestLogisticOfMoreLandmarks(t *testing.T) {
	x, y, _ := drawn(400, 2, 6, 1)
	all := make([]int, x.Rows)
	for i := range all {
		all[i] = i
	}
	train := func(opt Options) (few, many, alone trained) {
		opt.Kinds, opt.Classes, opt.Logistic, opt.Held = quick, true, true, true
		f := &fitting{ctx: context.Background(), x: x, y: y, outputs: 1, opt: opt, report: &Report{}, rows: x.Rows}
		if err := f.defaults(); err != nil {
			t.Fatal(err)
		}
		f.hold()
		members, err := f.choose(all)
		if err != nil {
			t.Fatal(err)
		}
		made := func(centres int, few bool, before *trained) trained {
			one, err := f.train(all, members, centres, few, before)
			if err != nil || len(one.solutions) != 1 || len(one.solutions[0].Alpha()) != centres {
				t.Fatalf("%d landmarks: %d solutions, %v", centres, len(one.solutions), err)
			}
			return one
		}
		few = made(40, true, nil)
		before := few
		before.rates = []float64{few.rates[0] * 7}
		return few, made(80, false, &before), made(80, false, nil)
	}
	few, many, alone := train(Options{})
	if many.rates[0] != 7*few.rates[0] {
		t.Errorf("λ %g, known are %g", many.rates[0], 7*few.rates[0])
	}
	if slices.Equal(many.logits, alone.logits) || slices.Equal(few.logits, alone.logits) {
		t.Error("other machines say the same")
	}
	if few, _, _ := train(Options{Lambda: 0.8}); few.rates[0] != 0.8/400 {
		t.Errorf("λ for a row is %g, of %g for 400", few.rates[0], 0.8)
	}
}

// Nothing but the choice of widths and λ comes from rows that are held out: metrics are the same bits if their targets change a little.
func TestMetricsDoNotKnowHeldOutRows(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := table(700, 6, 1)
	f := &fitting{x: x, opt: Options{Seed: 1}}
	f.hold()
	other, held := slices.Clone(y), 0
	for i, is := range f.held {
		if is {
			other[i] += 1e-6 * math.Sin(float64(i))
			held++
		}
	}
	if held < 100 || held > 180 {
		t.Errorf("%d of 700 rows are held out", held)
	}
	opt := Options{Seed: 1, Leaf: 250, Centres: 60, Members: 2, Smooth: true, Kinds: []Kind{{kernel.RBF.Usual(), "diagonal"}, {kernel.Matern.Usual(), "full"}}}
	a, _ := fitted(t, x, y, 1, nil, opt)
	b, _ := fitted(t, x, other, 1, nil, opt)
	if slices.Equal(scored(t, a, x), scored(t, b, x)) {
		t.Error("machines do not know the rows either")
	}
	for l, leaf := range a.all() {
		for i, one := range leaf {
			if other := b.all()[l][i]; !reflect.DeepEqual(one.Metric, other.Metric) || one.Metric == nil {
				t.Errorf("leaf %d, member %d: the metrics differ", l, i)
			}
		}
	}
}
