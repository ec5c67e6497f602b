package learn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/matrix"
)

// Primal is the configuration of linear models with L2 penalty and a smooth loss, fitted by
// Newton's method on the weights. With cᵢ = C·(weight of row i), each output minimises
//
//	½‖w‖² + Σ cᵢ ℓ(yᵢ, w·zᵢ + b)
//
//	logistic         ln(1 + exp(-ys))          y = ±1, each class against the rest (or label: FitPrimalLabels)
//	squared_hinge    max(0, 1 - ys)²           y = ±1, each class against the rest
//	multinomial      -ln softmax(s)[y]         all classes in one problem, ½Σ‖w‖²
//	squared_epsilon  max(0, |s - y| - ε)²      y a number (FitPrimalSVR)
//
// which are LIBLINEAR's -s 0, 2 and 11, and scikit-learn's LogisticRegression. The intercept b
// is not penalised; without one, b = 0, and a column of ones makes a penalised one as
// LIBLINEAR's -B 1 does. For two classes there is one output, and multinomial is logistic.
//
// A pass reads the rows once for all unfinished outputs; each output gets either
// its loss and gradient at a point, or its Hessian's product with a direction. See newton
// for the method. It stops when the gradient's norm is at most Tolerance times that at
// w = 0 and b = 0, or, for regression, b = the targets' mean; for a class against the
// rest times the share of the smaller side, as in LIBLINEAR, since the loss of a rare class
// is soon small (but not below 1e-6); for multinomial times 1/K.
//
// Scores and sums of up to 256 rows are in float32, everything else in float64; the sums are
// split and added in an order that depends only on n, D and K, so the result depends neither
// on the number of threads nor on whether the features are resident.
//
// Memory, beyond the rows: 4·n·K (curvatures) + 8·n (costs; ×2 with targets), 64·D·K (Newton's
// vectors), and the parts' sums, 8·D·K for each of up to 16 parts and 4·D·K for each thread.
type Primal struct {
	// Loss is "logistic" (or ""), "squared_hinge" or "multinomial".
	Loss string

	// C weighs the losses against ½‖w‖²; 0 means 1.
	C float64

	// ClassWeights multiply the cost of a row by that of its class, as LIBLINEAR does: for one
	// class against the rest only the class itself is weighted. With two classes,
	// and for multinomial, all weights apply. nil: all 1.
	ClassWeights []float64

	// Epsilon is half the width of the tube of squared_epsilon.
	Epsilon float64

	// Tolerance is relative to the gradient's norm at 0; 0 means 0.01. Below about 1e-6 it
	// may be beyond the precision of float32: then the fit ends when nothing improves any more.
	Tolerance float64

	// MaxIter bounds Newton's steps; 0 means 1000.
	MaxIter int

	// NoIntercept leaves b = 0.
	NoIntercept bool

	// Start, if not nil, is the starting point, a model for the same outputs.
	Start *Linear

	// Progress, if not nil, is called with the number of passes made and the share of the
	// outputs that are done.
	Progress func(passes int, share float64)
}

// PrimalReport describes a fit.
type PrimalReport struct {
	Loss string  `json:"loss"`
	C    float64 `json:"c"`

	// Iterations is the largest number of Newton's steps of an output, Passes the number of
	// times that the rows were read.
	Iterations int `json:"iterations"`
	Passes     int `json:"passes"`

	// Gradient is the largest norm of an output's gradient, relative to that at 0.
	Gradient float64 `json:"gradient"`

	// Converged means that every output met its tolerance. Rounding means that the others,
	// which took fewer than MaxIter steps, ended at the precision of float32.
	Converged bool `json:"converged"`
	Rounding  bool `json:"rounding,omitempty"`

	// Objective has the value of each problem: one for each output, or a single one
	// for multinomial.
	Objective []float64 `json:"objective"`

	// Path has the C that were tried on held-out rows, nil if C was given.
	Path []Trial `json:"path,omitempty"`
}

// Lines describes the fit.
func (r *PrimalReport) Lines() []string {
	how := "converged"
	switch {
	case r.Rounding:
		how = "as far as float32 resolves, short of the tolerance,"
	case !r.Converged:
		how = "NOT converged (allow more iterations or a larger tolerance)"
	}
	return append([]string{
		fmt.Sprintf("%s loss, C = %.4g, in the primal: %s in %d Newton steps, %d passes over the rows; gradient %.2g of that at 0",
			r.Loss, r.C, how, r.Iterations, r.Passes, r.Gradient),
	}, pathLines(r.Path)...)
}

// FitPrimal trains on the rows z, of which row i has the class class[i] in [0, classes) and
// the weight weights[i] (nil: all 1). There must be at least two classes. Rows of weight
// 0 are ignored.
func FitPrimal(ctx context.Context, z Features, class []int, classes int, weights []float64, opt Primal) (*Linear, *PrimalReport, error) {
	if classes < 2 || len(class) != z.Len() || weights != nil && len(weights) != z.Len() {
		panic(fmt.Sprintf("learn: FitPrimal of %d rows given %d classes for %d rows and %d weights", z.Len(), classes, len(class), len(weights)))
	}
	if err := checkClassWeights(opt.ClassWeights, classes); err != nil {
		return nil, nil, err
	}
	k := TargetColumns(classes)
	f := &primalFit{z: z, k: k, class: class}
	if err := f.setLoss(&opt); err != nil {
		return nil, nil, err
	}
	return f.fit(ctx, weights, opt)
}

// setLoss takes the loss of classes from the options, and writes its full name there.
func (f *primalFit) setLoss(opt *Primal) error {
	switch opt.Loss {
	case "", "logistic":
		opt.Loss, f.loss = "logistic", logisticLoss
	case "squared_hinge":
		f.loss = squaredHingeLoss
	case "multinomial":
		f.loss = logisticLoss
		if f.joint = f.k > 1; !f.joint {
			opt.Loss = "logistic"
		}
	default:
		return fmt.Errorf("loss %q is not known; known are logistic, squared_hinge, multinomial", opt.Loss)
	}
	return nil
}

// FitPrimalSVR trains support vector machines for regression on the rows z with the targets y,
// row-major Len×outputs, and the weights of FitPrimal.
func FitPrimalSVR(ctx context.Context, z Features, y []float64, outputs int, weights []float64, opt Primal) (*Linear, *PrimalReport,
	error) {
	if outputs < 1 || len(y) != z.Len()*outputs || weights != nil && len(weights) != z.Len() {
		panic(fmt.Sprintf("learn: FitPrimalSVR of %d rows given %d targets for %d outputs and %d weights", z.Len(), len(y), outputs,
			len(weights)))
	}
	if !(opt.Epsilon >= 0) || math.IsInf(opt.Epsilon, 0) {
		return nil, nil, fmt.Errorf("epsilon %g is not a width: it is a number of at least 0", opt.Epsilon)
	}
	opt.Loss, opt.ClassWeights = "squared_epsilon", nil
	if opt.NoIntercept {
		return (&primalFit{z: z, k: outputs, y: y, loss: squaredEpsilonLoss(opt.Epsilon)}).fit(ctx, weights, opt)
	}
	// Centred targets keep the precision of float32, and make the gradient at 0 that of w alone.
	mean := targetMeans(y, outputs, weights)
	y = slices.Clone(y)
	for e := range y {
		y[e] -= mean[e%outputs]
	}
	if s := opt.Start; s != nil {
		opt.Start = &Linear{W: s.W, B: slices.Clone(s.B)}
		for t, m := range mean {
			opt.Start.B[t] -= m
		}
	}
	linear, report, err := (&primalFit{z: z, k: outputs, y: y, loss: squaredEpsilonLoss(opt.Epsilon)}).fit(ctx, weights, opt)
	if err != nil {
		return nil, nil, err
	}
	for t, m := range mean {
		linear.B[t] += m
	}
	return linear, report, nil
}

// targetMeans are the weighted means of targets, 0 where no row counts.
func targetMeans(y []float64, outputs int, weights []float64) []float64 {
	mean, total := make([]float64, outputs), 0.0
	for e, v := range y {
		w := 1.0
		if weights != nil {
			w = weights[e/outputs]
		}
		mean[e%outputs] += w * v
		total += w / float64(outputs)
	}
	for t := range mean {
		if total > 0 {
			mean[t] /= total
		}
	}
	return mean
}

// primalFit is the state of a fit.
type primalFit struct {
	z     Features
	k     int
	class []int     // of classification: n
	y     []float64 // of regression and labels: n×K
	loss  pointLoss
	joint bool // softmax over all outputs, instead of loss
	// labels means that y is 1 where a row has a label and -1 otherwise.
	labels bool

	cost []float64 // n: cᵢ
	// classWeights multiply the costs of an output's own class; nil: all 1.
	classWeights []float64
	curve        []float32 // n×K: cᵢℓ″, joint the probabilities
	square, mean []float64 // D: mean of z² and of z, weighted by cost
	intercept    bool
	machines     []*newton // one for each output, joint one in all
	sums         sums
}

func (f *primalFit) fit(ctx context.Context, weights []float64, opt Primal) (*Linear, *PrimalReport, error) {
	if opt.C == 0 {
		opt.C = 1
	}
	if opt.Tolerance == 0 {
		opt.Tolerance = 0.01
	}
	if opt.MaxIter == 0 {
		opt.MaxIter = 1000
	}
	f.intercept = !opt.NoIntercept
	var err error
	if f.cost, err = costs(f.z.Len(), weights, opt.C); err != nil {
		return nil, nil, err
	}
	if opt.ClassWeights != nil {
		if f.k == 1 || f.joint {
			weighClasses(f.cost, f.class, opt.ClassWeights, -1)
		} else {
			f.classWeights = opt.ClassWeights
		}
	}
	if err := f.meanSquares(ctx); err != nil {
		return nil, nil, err
	}
	f.prepare(opt)
	report := &PrimalReport{Loss: opt.Loss, C: opt.C}
	for {
		var left []*newton
		for _, m := range f.machines {
			if !m.end {
				left = append(left, m)
			}
		}
		if opt.Progress != nil && report.Passes > 0 {
			opt.Progress(report.Passes, 1-float64(len(left))/float64(len(f.machines)))
		}
		if len(left) == 0 {
			break
		}
		if err := f.pass(ctx); err != nil {
			return nil, nil, err
		}
		report.Passes++
		for _, m := range left {
			if m.state <= atStart && !(euclidean(m.out)+math.Abs(m.loss) < math.MaxFloat64) {
				return nil, nil, notFinite(f.z)
			}
			m.advance(func(diagonal []float64) { f.diagonal(m, diagonal) })
		}
	}
	linear, report := f.finish(report, opt)
	return linear, report, nil
}

// finish is the model at the end of all machines.
func (f *primalFit) finish(report *PrimalReport, opt Primal) (*Linear, *PrimalReport) {
	if f.joint {
		f.centre()
	}
	report.Converged = true
	for _, m := range f.machines {
		report.Iterations = max(report.Iterations, m.iter)
		report.Gradient = max(report.Gradient, m.relative())
		report.Converged = report.Converged && m.converged()
		report.Rounding = report.Rounding || !m.converged() && m.iter < opt.MaxIter
		report.Objective = append(report.Objective, m.f)
	}
	return f.linear(), report
}

// parameters is the number of parameters of an output.
func (f *primalFit) parameters() int {
	if f.intercept {
		return f.z.Dim() + 1
	}
	return f.z.Dim()
}

// outputs is the number of outputs of a machine.
func (f *primalFit) outputs() int {
	if f.joint {
		return f.k
	}
	return 1
}

// finest is the relative gradient below which the tolerance is not reduced for rare classes.
const finest = 1e-6

// prepare makes the machines.
func (f *primalFit) prepare(opt Primal) {
	f.curve = make([]float32, f.z.Len()*f.k)
	share, decided := []float64{1 / float64(f.k)}, []float64(nil)
	switch {
	case f.labels:
		share, decided = f.labelSides()
	case f.class == nil:
		share = slices.Repeat([]float64{1}, f.k)
	case !f.joint:
		share = smallestSides(f.class, f.cost, f.k)
	}
	f.makeMachines(opt, share)
	if decided != nil && f.intercept {
		f.settle(decided, opt.C)
	}
	f.sums.prepare(f)
}

// makeMachines makes a machine for each problem; share multiplies the tolerance of each output.
func (f *primalFit) makeMachines(opt Primal, share []float64) {
	d, p, each := f.z.Dim(), f.parameters(), f.outputs()
	penalised := make([]bool, each*p)
	for j := range penalised {
		penalised[j] = j%p < d
	}
	for first := 0; first < f.k; first += each {
		var start []float64
		if opt.Start != nil {
			start = make([]float64, each*p)
			for t := range each {
				for j := range d {
					start[t*p+j] = float64(opt.Start.W.Row(j)[first+t])
				}
				if f.intercept {
					start[t*p+d] = opt.Start.B[first+t]
				}
			}
		}
		m := newNewton(penalised, start, max(opt.Tolerance*share[first], min(opt.Tolerance, finest)), opt.MaxIter)
		if m.asked = opt.Tolerance; f.intercept {
			m.centred = f.centred
		}
		f.machines = append(f.machines, m)
	}
}

// target is yᵢ of output t.
func (f *primalFit) target(i, t int) float64 {
	if f.class == nil {
		return f.y[i*f.k+t]
	}
	return side(f.class[i], t, f.k)
}

// centre removes from the weights of softmax their mean over classes, which changes
// no probability and only adds to the penalty: its gradient is too small beside those of
// the losses. The intercepts' mean becomes 0 too.
func (f *primalFit) centre() {
	m, p, d := f.machines[0], f.parameters(), f.z.Dim()
	for j := range p {
		mean := 0.0
		for t := range f.k {
			mean += m.w[t*p+j] / float64(f.k)
		}
		for t := range f.k {
			m.w[t*p+j] -= mean
		}
		if j < d {
			m.f -= 0.5 * float64(f.k) * mean * mean
		}
	}
}

// linear is the model at the machines' points.
func (f *primalFit) linear() *Linear {
	d, p, each := f.z.Dim(), f.parameters(), f.outputs()
	l := &Linear{W: matrix.NewDense(d, f.k), B: make([]float64, f.k)}
	for t := range f.k {
		w := f.machines[t/each].w[t%each*p:][:p]
		for j := range d {
			l.W.Data[j*f.k+t] = float32(w[j])
		}
		if f.intercept {
			l.B[t] = w[d]
		}
	}
	return l
}

// notFinite finds the reason why the initial sums are not finite.
func notFinite(z Features) error {
	for lo := 0; lo < z.Len(); lo += BlockRows {
		hi := min(lo+BlockRows, z.Len())
		rows, err := z.Block(lo, hi)
		if err != nil {
			return err
		}
		for i := range hi - lo {
			var idx []int32
			var val []float32
			if rows.CSR != nil {
				idx, val = rows.CSR.Row(i)
			} else {
				val = rows.Dense.Row(i)
			}
			for e, v := range val {
				if v-v != 0 {
					if idx != nil {
						e = int(idx[e])
					}
					return fmt.Errorf("row %d, column %d: %g is not a finite number", lo+i, e, v)
				}
			}
		}
	}
	return fmt.Errorf("the sums over the rows exceed the numbers of float32: scale the columns, or lower C")
}
