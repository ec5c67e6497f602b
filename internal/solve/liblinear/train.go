package liblinear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/internal/solve/learn"
	"mercer/matrix"
)

// Options are those of LIBLINEAR's train; Defaults returns its defaults.
type Options struct {
	Solver Solver // -s

	// C is the cost (-c), Epsilon the tube of regressions (-p), Nu ν of one class (-n).
	C, Epsilon, Nu float64

	// Tolerance is -e; 0 means the solver's own: 0.01 of the gradient's norm at 0 times the
	// share of the rarer side for 0, 2, 5 and 6 (10⁻⁴ for 11, 0.01 for 21), and a violation
	// of 0.1 of the dual's optimality conditions for the others.
	Tolerance float64

	// Bias is -B, the value of a feature that all rows have; negative means none. FreeBias (-R)
	// leaves its weight unpenalised.
	Bias     float64
	FreeBias bool

	// Weights multiply C by class (-wi).
	Weights map[int]float64

	// Seed chooses the order in which rows are visited, and the folds.
	Seed uint64
}

// Defaults are LIBLINEAR's.
func Defaults() Options {
	return Options{Solver: L2RL2LossSVCDual, C: 1, Epsilon: 0.1, Nu: 0.5, Bias: -1, Seed: 1}
}

// Check reports what is wrong with the options themselves.
func (o *Options) Check() error {
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
	switch {
	case !o.Solver.Known():
		return fmt.Errorf("solver %d is not known", o.Solver)
	case !positive(o.C):
		return fmt.Errorf("cost C %g is not a positive number", o.C)
	case !(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 0):
		return fmt.Errorf("p %g is not a number of 0 or more", o.Epsilon)
	case !(o.Nu > 0 && o.Nu <= 1):
		return fmt.Errorf("nu %g is not a number above 0 and up to 1", o.Nu)
	case o.Tolerance != 0 && !positive(o.Tolerance):
		return fmt.Errorf("the tolerance %g is not a positive number", o.Tolerance)
	case math.IsNaN(o.Bias) || math.IsInf(o.Bias, 0):
		return fmt.Errorf("the bias %g is not a finite number", o.Bias)
	case o.FreeBias && !(o.Bias > 0):
		return errors.New("-R leaves the weight of the bias without a penalty; give one with -B 1")
	case o.FreeBias && !slices.Contains([]Solver{L2RLR, L2RL2LossSVC, L1RL2LossSVC, L1RLR, L2RL2LossSVR}, o.Solver):
		return fmt.Errorf("-R is for the solvers 0, 2, 5, 6 and 11, not for %d", o.Solver)
	case o.Solver == OneClassSVM && o.Bias >= 0:
		return errors.New("a machine of one class has a threshold and no bias; leave out -B")
	}
	for label, w := range o.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("the weight %g of class %d is not a number of 0 or more", w, label)
		}
	}
	return nil
}

// Data are rows with labels, as LIBLINEAR reads them.
type Data struct {
	X *matrix.CSR
	Y []float64
}

// Subset returns the rows with the given numbers.
func (d *Data) Subset(rows []int) *Data {
	s := &Data{X: matrix.Pick(matrix.Rows{CSR: d.X}, rows).CSR}
	for _, i := range rows {
		s.Y = append(s.Y, d.Y[i])
	}
	return s
}

// withBias returns rows with one more column of the given value.
func withBias(x *matrix.CSR, bias float64) *matrix.CSR {
	b := &matrix.CSR{Rows: x.Rows, Cols: x.Cols + 1, Ptr: make([]int, 1, x.Rows+1)}
	for i := range x.Rows {
		idx, val := x.Row(i)
		b.Idx, b.Val = append(append(b.Idx, idx...), int32(x.Cols)), append(append(b.Val, val...), float32(bias))
		b.Ptr = append(b.Ptr, len(b.Idx))
	}
	return b
}

// Labels returns the class labels in LIBLINEAR's order, by their first rows except that 1 precedes
// -1, and the class of every row.
func Labels(y []float64) (labels, class []int, err error) {
	known := map[int]int{}
	for i, v := range y {
		l := int(v)
		if float64(l) != v {
			return nil, nil, fmt.Errorf("row %d: the label %g is not a whole number, as those of classes are", i+1, v)
		}
		k, ok := known[l]
		if !ok {
			k = len(labels)
			known[l] = k
			labels = append(labels, l)
		}
		class = append(class, k)
	}
	if len(labels) == 2 && labels[0] == -1 && labels[1] == 1 {
		labels[0], labels[1] = 1, -1
		for i := range class {
			class[i] = 1 - class[i]
		}
	}
	return labels, class, nil
}

// Report describes the outcome of a training.
type Report struct {
	// Iterations is the number of passes or Newton steps, Objective the sum over the
	// outputs of the minimised objectives; a dual solver minimises the dual, which is negative.
	Iterations int
	Objective  float64

	// Converged says that the tolerance was met.
	Converged bool

	// NonZero is the number of nonzero weights.
	NonZero int
}

// Train trains a model.
func Train(ctx context.Context, data *Data, opt Options) (*Model, *Report, error) {
	if err := opt.Check(); err != nil {
		return nil, nil, err
	}
	if data.X.Rows == 0 {
		return nil, nil, errors.New("there are no rows to train on")
	}
	m := &Model{Solver: opt.Solver, Features: data.X.Cols, Bias: opt.Bias}
	t := &trainer{opt: opt, y: data.Y, x: data.X}
	if opt.Bias >= 0 && !opt.FreeBias {
		t.x = withBias(data.X, opt.Bias)
	}
	var l *learn.Linear
	var err error
	switch {
	case opt.Solver == OneClassSVM:
		l, err = t.oneClass(ctx)
	case opt.Solver.Regression():
		l, err = t.regression(ctx)
	default:
		if m.Labels, t.class, err = Labels(data.Y); err != nil {
			return nil, nil, err
		}
		if len(m.Labels) < 2 {
			return nil, nil, fmt.Errorf("every row has the label %d; to tell classes apart at least two are needed", m.Labels[0])
		}
		for label := range opt.Weights {
			if !slices.Contains(m.Labels, label) {
				return nil, nil, fmt.Errorf("the weight of class %d: there is no such class", label)
			}
		}
		l, err = t.classes(ctx, m.Labels)
	}
	if err != nil {
		return nil, nil, err
	}
	m.Outputs = l.W.Cols
	m.W = make([]float64, m.rows()*m.Outputs)
	for i := range l.W.Rows {
		for k, v := range l.W.Row(i) {
			m.W[i*m.Outputs+k] = float64(v)
			if v != 0 {
				t.report.NonZero++
			}
		}
	}
	if opt.FreeBias {
		for k, b := range l.B {
			m.W[m.Features*m.Outputs+k] = b / opt.Bias
		}
	}
	if opt.Solver == OneClassSVM {
		m.Rho = -l.B[0]
	}
	return m, &t.report, nil
}

// trainer is the state of a training.
type trainer struct {
	opt    Options
	x      *matrix.CSR
	y      []float64
	class  []int // of each row, for classes
	report Report
}

func (t *trainer) features() learn.Features { return learn.InMemory(matrix.Rows{CSR: t.x}) }

// tolerance is the given one or the solver's own.
func (t *trainer) tolerance(own float64) float64 {
	if t.opt.Tolerance > 0 {
		return t.opt.Tolerance
	}
	return own
}

// done records the outcome of a solver.
func (t *trainer) done(iterations int, objective float64, converged bool) {
	t.report.Iterations, t.report.Objective, t.report.Converged = iterations, objective, converged
}

func (t *trainer) oneClass(ctx context.Context) (*learn.Linear, error) {
	l, r, err := learn.FitOneClass(ctx, t.features(), nil, learn.OneClass{Outliers: t.opt.Nu, Tolerance: t.tolerance(0.01), Seed: t.opt.Seed})
	if err != nil {
		return nil, err
	}
	t.done(r.Passes, -r.Dual, r.Converged)
	return l, nil
}

func (t *trainer) regression(ctx context.Context) (*learn.Linear, error) {
	if t.opt.Solver == L2RL2LossSVR {
		l, r, err := learn.FitPrimalSVR(ctx, t.features(), t.y, 1, nil, learn.Primal{
			C: t.opt.C, Epsilon: t.opt.Epsilon, Tolerance: t.tolerance(1e-4), NoIntercept: !t.opt.FreeBias,
		})
		if err != nil {
			return nil, err
		}
		t.done(r.Iterations, sum(r.Objective), r.Converged || r.Rounding)
		return l, nil
	}
	loss := "squared_epsilon"
	if t.opt.Solver == L2RL1LossSVRDual {
		loss = "epsilon"
	}
	l, r, err := learn.FitSVR(ctx, t.features(), t.y, 1, nil, learn.SVR{
		C: t.opt.C, Loss: loss, Epsilon: t.opt.Epsilon, Tolerance: t.tolerance(0.1), NoIntercept: true, Seed: t.opt.Seed,
	})
	if err != nil {
		return nil, err
	}
	t.done(r.Passes, -r.Dual, r.Converged)
	return l, nil
}

// classes trains a classifier. LIBLINEAR's weights for two classes are positive for the
// first label, ours for the second class, so the classes are swapped.
func (t *trainer) classes(ctx context.Context, labels []int) (*learn.Linear, error) {
	k := len(labels)
	weights := make([]float64, k)
	for i, l := range labels {
		weights[i] = 1
		if w, ok := t.opt.Weights[l]; ok {
			weights[i] = w
		}
	}
	class := t.class
	if k == 2 && t.opt.Solver != MCSVMCS {
		class = make([]int, len(t.class))
		for i, c := range t.class {
			class[i] = 1 - c
		}
		weights[0], weights[1] = weights[1], weights[0]
	}
	switch t.opt.Solver {
	case L2RLR, L2RL2LossSVC, L1RL2LossSVC, L1RLR:
		return t.primal(ctx, class, weights)
	}
	loss := map[Solver]string{L2RL2LossSVCDual: "squared_hinge", L2RL1LossSVCDual: "hinge", MCSVMCS: "hinge",
		L2RLRDual: "logistic"}[t.opt.Solver]
	l, r, err := learn.FitSVM(ctx, t.features(), class, k, nil, learn.SVM{
		C: t.opt.C, Loss: loss, CrammerSinger: t.opt.Solver == MCSVMCS, ClassWeights: weights,
		Tolerance: t.tolerance(0.1), NoIntercept: true, Seed: t.opt.Seed,
	})
	if err != nil {
		return nil, err
	}
	t.done(r.Passes, -r.Dual, r.Converged)
	return l, nil
}
