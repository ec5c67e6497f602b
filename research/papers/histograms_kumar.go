package papers

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/learn"
	"mercer/kernel"
	"mercer/matrix"
)

// kumarHistograms are the lecture's tables of additive kernels, on available data, and L12's
// figure of its series.
func kumarHistograms() []*Table {
	additive := func(name string) []histogramMethod {
		k := kernel.Kernel{Name: name}
		list := []histogramMethod{exactHistogram(k)}
		for _, terms := range []int{1, 3, 5} {
			list = append(list, byMap(fmt.Sprintf("%s, %d features a dimension", name, terms),
				feature.Config{Map: "homogeneous", Kernel: k, Options: feature.Options{Terms: terms}}, 1))
		}
		return list
	}
	intersection := kernel.Kernel{Name: "intersection"}
	unary := func(name, form string) histogramMethod {
		return byMap(name, feature.Config{Map: "unary", Kernel: intersection, Options: feature.Options{Form: form}}, 1)
	}
	return []*Table{
		timedHistograms(append(additive("chi2"), additive("intersection")...), Table{
			Name:   "K10-2",
			Title:  "Accuracy and time of additive kernels and of their maps",
			Source: "after Kumar 2010 (lecture) and Vedaldi and Zisserman 2010, on other data",
			Protocol: "The lecture, on Caltech-101 (n = 1,500, d = 1,200, 101 classes): chi2 64.2 % in 388 s by the " +
				"kernel, and 62.4, 64.2 and 64.0 % in 21, 58 and 101 s by 1, 3 and 5 features a dimension; " +
				"intersection 62.2 % in 355 s, and 62.0, 63.9 and 64.0 % in 23, 67 and 106 s.",
		}),
		timedHistograms([]histogramMethod{
			{"linear", false, func(ctx context.Context, s split, _ float64, _ int, c float64, seed uint64) (percent, used float64, err error) {
				return accuracy(ctx, s.train, s.test, s.classes, c, seed)
			}},
			exactHistogram(intersection), unary("φ₁, steps", "step"), unary("φ₂, lines", ""), piecewise(),
		}, Table{
			Name:   "K10-3",
			Title:  "Accuracy and time of the intersection kernel by unary codes",
			Source: "after Kumar 2010 (lecture) and Maji and Berg 2009, on other data",
			Protocol: "The lecture, on Caltech-101 with 15 examples a class: linear 41.19 % in 19 s, the kernel 50.15 " +
				"% in 844 s, φ₁ 46.02 % in 45 s, φ₂ 48.70 % in 42 s, " +
				"PWLSGD, which penalises differences of neighbouring weights, 49.89 % in 239 s. The last is here " +
				"averaged stochastic gradients on φ₂, whose penalty ‖w‖² is that of the differences: 200 epochs, " +
				"λ = 1/(Cn) with φ₂'s C, so that both solve the same problem.",
		}),
		intersectionTimes(), chebyshevConstant(),
	}
}

// piecewise is Maji and Berg's PWLSGD: stochastic gradients on φ₂.
func piecewise() histogramMethod {
	return histogramMethod{"φ₂, PWLSGD", false,
		func(ctx context.Context, s split, _ float64, _ int, c float64, seed uint64) (percent, used float64, err error) {
			z, err := mapSplit(feature.Config{Map: "unary", Kernel: kernel.Kernel{Name: "intersection"}}, s)
			if err != nil {
				return 0, 0, err
			}
			if c == 0 {
				if c, _, err = learn.ChooseC(ctx, learn.InMemory(z.train.x), z.train.class, z.classes, nil,
					learn.SVM{Seed: seed, MaxIter: passes}); err != nil {
					return 0, 0, err
				}
			}
			l, err := byGradients(ctx, z.train, z.classes, 1/(c*float64(z.train.x.Len())), 200, seed)
			if err != nil {
				return 0, 0, err
			}
			return right(l, z.test), c, nil
		}}
}

// byGradients trains linear machines of the squared hinge loss by averaged stochastic gradients, on rows in
// another order in each epoch.
func byGradients(ctx context.Context, z labelled, classes int, lambda float64, epochs int, seed uint64) (*learn.Linear, error) {
	n, k := z.x.Len(), learn.TargetColumns(classes)
	fit, err := learn.NewOnline(learn.Online{Loss: "squared_hinge", Lambda: lambda}, z.x.Dim(), k)
	if err != nil {
		return nil, err
	}
	y := make([]float64, n*k)
	order := random.New(seed, "papers.gradients")
	for epoch := range epochs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := z.pick(order.Perm(n), n)
		for i, class := range rows.class {
			learn.Target(y[i*k:(i+1)*k], class)
		}
		if epoch == 0 {
			if err := fit.Begin(rows.x.Slice(0, min(n, 1000)), y[:min(n, 1000)*k], nil); err != nil {
				return nil, err
			}
		}
		fit.Learn(rows.x, y, nil)
	}
	return fit.Linear()
}

// exactHistogram is the machine of a kernel.
func exactHistogram(k kernel.Kernel) histogramMethod {
	return histogramMethod{k.Name + ", kernel", false,
		func(ctx context.Context, s split, _ float64, _ int, c float64, seed uint64) (percent, used float64, err error) {
			return exactMachine(ctx, k, s, c, seed)
		}}
}

// timedHistograms is a table of accuracies and times of methods that need no γ.
func timedHistograms(methods []histogramMethod, t Table) *Table {
	sets := histogramSets[:2]
	t.Protocol += " Here: linear SVMs, squared hinge, one against all, C chosen on held-out training rows of the " +
		"first seed; seconds to map and to train with this C. Maps fitted to the training rows, where they are fitted. " +
		"The official split of wikipedia, two thirds at random of outdoor to train on."
	t.Data, t.Corner, t.Gain, t.Cost, t.Timed = "wikipedia_sift", "method", true, 15, true
	for j, s := range sets {
		t.Columns = append(t.Columns, s.name+", %", "s")
		t.Unmarked = append(t.Unmarked, 2*j+1)
	}
	for _, m := range methods {
		t.Rows = append(t.Rows, Row{Name: m.name})
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		sets := sets
		if quick {
			sets = sets[:1]
		}
		splits := make([]func(uint64) split, len(sets))
		for j, set := range sets {
			var err error
			if splits[j], err = set.open(ctx, dir); err != nil {
				return nil, err
			}
		}
		cells := firsts(len(methods), len(sets))
		return func(seed uint64) (experiment, error) {
			return func(i int) ([]float64, error) {
				var all []float64
				for j := range sets {
					method := func(seed uint64, c float64) (percent, used float64, err error) {
						return methods[i].run(ctx, splits[j](seed), 0, 0, c, seed)
					}
					if _, err := cells[i][j].run(1, method); err != nil {
						return nil, err
					}
					start := time.Now()
					percent, _, err := method(seed, cells[i][j].c)
					if err != nil {
						return nil, err
					}
					all = append(all, percent, time.Since(start).Seconds())
				}
				return all, nil
			}, nil
		}, nil
	}
	return &t
}

// intersectionTimes is the lecture's table of prediction with the intersection kernel.
func intersectionTimes() *Table {
	sets := histogramSets[:3]
	t := &Table{
		Name:   "K10-4",
		Title:  "Time to predict with the intersection kernel",
		Source: "after Kumar 2010 (lecture) and Maji, Berg and Malik 2008, on other data",
		Protocol: "The lecture, on INRIA pedestrians (3,363 support vectors, d = 1,360): linear 0.07, kernel 659.1, " +
			"bisection 2.57, constants by 100 knots 0.34, lines by 30 knots 0.43 (s). " +
			"Here: SVMs of the first class against the others, hinge, C = 10, trained on two thirds of the rows or " +
			"the official part; microseconds a test row, on all threads, the least of three runs.",
		Data: "wikipedia_sift", Corner: "data set", Timed: true, Cost: 5,
		Columns: []string{"support vectors", "d", "linear", "kernel", "bisection", "constants, 100 bins", "lines, 30 bins"},
	}
	t.Unmarked = every(t)
	for _, s := range sets {
		t.Rows = append(t.Rows, Row{Name: s.name})
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		splits := make([]func(uint64) split, len(sets))
		for j, set := range sets {
			var err error
			if splits[j], err = set.open(ctx, dir); err != nil {
				return nil, err
			}
			if quick {
				break
			}
		}
		return func(seed uint64) (experiment, error) {
			return func(i int) ([]float64, error) {
				if splits[i] == nil {
					return nil, nil
				}
				s := splits[i](seed)
				one := make([]int, len(s.train.class))
				for r, c := range s.train.class {
					if c == 0 {
						one[r] = 1
					}
				}
				c, _, err := exact.FitSVC(ctx, kernel.Kernel{Name: "intersection"}, s.train.x, one, 2, exact.SVM{C: 10})
				if err != nil {
					return nil, err
				}
				m := c.Machine()
				n := s.test.x.Len()
				scores := matrix.NewDense(n, 1)
				weights := &learn.Linear{W: matrix.NewDense(s.test.x.Dim(), 1), B: []float64{0}}
				predictors := []func() error{
					func() error { weights.Scores(scores, s.test.x); return nil },
					func() error { return m.Scores(scores, s.test.x) },
				}
				for _, lookup := range []exact.Lookup{{}, {Bins: 100, Constant: true}, {Bins: 30}} {
					fast, err := exact.NewIntersection(m, lookup)
					if err != nil {
						return nil, err
					}
					predictors = append(predictors, func() error { return fast.Scores(scores, s.test.x) })
				}
				all := []float64{float64(m.Rows().Len()), float64(s.test.x.Dim())}
				for _, predict := range predictors {
					ms, err := fastest(predict)
					if err != nil {
						return nil, err
					}
					all = append(all, 1e3*ms/float64(n))
				}
				return all, nil
			}, nil
		}, nil
	}
	return t
}

// chebyshevConstant is L12's figure of C in the bound (C/m)√(xy) of its series' error.
func chebyshevConstant() *Table {
	t := &Table{
		Name:    "L12-F1",
		Certain: true,
		Title:   "The constant of the Chebyshev series' error by the input",
		Source:  "Li, Lebanon, Sminchisescu 2012, figure 1: a plot without numbers",
		Protocol: "The largest m·|c_m(x)|/√x for m from 100,000 to 500,000, which bounds √C (equation 13), and the " +
			"same times √x. The paper says that C is large where x is small, which √x offsets. Nothing depends on the seed.",
		Corner:  "constant, by x",
		Columns: []string{"m·|c_m|/√x", "m·|c_m|"},
		Cost:    0.1,
	}
	values := []float64{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9}
	for _, x := range values {
		t.Rows = append(t.Rows, Row{Name: strconv.FormatFloat(x, 'g', -1, 64)})
	}
	t.open = drawn(func(_ context.Context, i int, _ uint64, _ bool) ([]float64, error) {
		x := values[i]
		slope := 2 * math.Log(x) / math.Pi
		before, last := 2*x/(x+1), -slope/math.Sqrt2*2*x/(x+1) // c_0 and c_1
		most := 0.0
		for m := 2; m <= 500_000; m++ {
			term := slope * last
			if m%2 == 1 {
				term = -term
			}
			before, last = last, (term+float64(m-2)*before)/float64(m)
			if m >= 100_000 {
				most = max(most, float64(m)*math.Abs(last))
			}
		}
		return []float64{most / math.Sqrt(x), most}, nil
	})
	return t
}
