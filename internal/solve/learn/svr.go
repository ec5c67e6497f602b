package learn

import (
	"context"
	"fmt"
	"math"
)

// SVR is the configuration of support vector regression: with cᵢ = C·(weight of row i), the minimum
// over w and b, uᵢ = w·zᵢ + b, of
//
//	½‖w‖² + Σ cᵢ·max(0, |yᵢ - uᵢ| - ε)²     squared_epsilon
//	½‖w‖² + Σ cᵢ·max(0, |yᵢ - uᵢ| - ε)      epsilon
//
// by dual coordinate descent (Ho and Lin 2012). They are LIBLINEAR's solvers 12 and 13, if
// NoIntercept is set and the rows have its constant column.
//
// Memory: as an SVM with one output for each target.
type SVR struct {
	// C weighs the losses against ½‖w‖²; 0 means 1.
	C float64

	// Loss is "squared_epsilon" (or "") or "epsilon".
	Loss string

	// Epsilon is half the width of the tube within which errors cost nothing.
	Epsilon float64

	// NoIntercept keeps b at 0. Otherwise b is free, and not penalised.
	NoIntercept bool

	// Tolerance bounds the largest violation of the optimality conditions, relative to the
	// mean distance of the targets from their mean (from 0 without intercept), its value at
	// w = 0. 0 means to continue until the duality gap is a thousandth of the objective.
	Tolerance float64

	// MaxIter, Seed and Progress are those of SVM.
	MaxIter  int
	Seed     uint64
	Progress func(passes int, share float64)
}

// SVRReport describes a fit.
type SVRReport struct {
	C       float64 `json:"c"`
	Loss    string  `json:"loss"`
	Epsilon float64 `json:"epsilon"`
	DualReport

	// Path has the C that were tried on held-out rows, nil if C was given.
	Path []CPoint `json:"path,omitempty"`

	// Usual means that C was neither given nor chosen: there were too few rows.
	Usual bool `json:"usual,omitempty"`
}

// Lines describe the fit.
func (r *SVRReport) Lines() []string {
	chosen := "given"
	if n := len(r.Path); n > 0 {
		chosen = fmt.Sprintf("the best of %d on held-out rows", n)
	} else if r.Usual {
		chosen = "the usual one: there are too few rows to choose by"
	}
	return []string{fmt.Sprintf("%s, C = %g (%s), ε = %g", r.Loss, r.C, chosen, r.Epsilon), r.Text()}
}

// FitSVR trains on the rows z, which have outputs targets each, y row-major, and the weights
// weights (nil: all 1).
func FitSVR(ctx context.Context, z Features, y []float64, outputs int, weights []float64, opt SVR) (*Linear, *SVRReport, error) {
	if outputs < 1 || len(y) != z.Len()*outputs || weights != nil && len(weights) != z.Len() {
		panic(fmt.Sprintf("learn: an SVR for %d rows given %d targets for %d outputs and %d weights", z.Len(), len(y), outputs, len(weights)))
	}
	if opt.C == 0 {
		opt.C = 1
	}
	switch opt.Loss {
	case "":
		opt.Loss = "squared_epsilon"
	case "squared_epsilon", "epsilon":
	default:
		return nil, nil, fmt.Errorf("loss %q is not known; known are squared_epsilon, epsilon", opt.Loss)
	}
	if err := checkCosts(opt.C, weights, nil); err != nil {
		return nil, nil, err
	}
	if !(opt.Epsilon >= 0) || math.IsInf(opt.Epsilon, 0) {
		return nil, nil, fmt.Errorf("epsilon is %g, and a finite number of 0 or more is wanted", opt.Epsilon)
	}
	for e, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, fmt.Errorf("target %d of row %d is %g, and a finite number is wanted", e%outputs, e/outputs, v)
		}
	}
	g := &goals{c: opt.C, weights: weights, y: y, outputs: outputs}
	start, spread := g.spread(!opt.NoIntercept)
	f, err := newDual(z, outputs, &boxed{goals: g, kind: epsilonBox, squared: opt.Loss == "squared_epsilon", epsilon: opt.Epsilon,
		typical: spread}, !opt.NoIntercept)
	if err != nil {
		return nil, nil, err
	}
	for t, o := range f.out {
		o.b = start[t]
		nothing := math.Abs(start[t])
		if opt.Loss != "epsilon" { // of the square, whose unit is that of the objective
			nothing *= nothing
		}
		f.floor = max(f.floor, 1e-12*opt.C*nothing)
	}
	f.tolerance, f.maxPasses, f.seed, f.progress = opt.Tolerance, opt.MaxIter, opt.Seed, opt.Progress
	f.ends = opt.MaxIter == 0
	l, report, err := f.fit(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	return l, &SVRReport{C: opt.C, Loss: opt.Loss, Epsilon: opt.Epsilon, DualReport: *report}, nil
}

// spread is the weighted mean of each output, 0 without intercept, and the mean distance of
// all targets from them.
func (g *goals) spread(intercept bool) (mean []float64, distance float64) {
	mean = make([]float64, g.outputs)
	total := 0.0
	weight := func(e int) float64 {
		if g.weights == nil {
			return 1
		}
		return g.weights[e/g.outputs]
	}
	for e, v := range g.y {
		mean[e%g.outputs] += weight(e) * v
		total += weight(e)
	}
	for t := range mean {
		mean[t] *= float64(g.outputs) / max(total, math.SmallestNonzeroFloat64)
		if !intercept || total == 0 {
			mean[t] = 0
		}
	}
	for e, v := range g.y {
		distance += weight(e) * math.Abs(v-mean[e%g.outputs])
	}
	if total > 0 {
		distance /= total
	}
	return mean, distance
}
