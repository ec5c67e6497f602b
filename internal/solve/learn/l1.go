package learn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// L1 is the configuration of linear classifiers most of whose weights are zero. With y = ±1 and
// cᵢ = C·(weight of row i), each class against the rest minimises
//
//	‖w‖₁ + Σ cᵢ ℓ(yᵢ, w·zᵢ + b)
//
//	squared_hinge  max(0, 1 - ys)²
//	logistic       ln(1 + exp(-ys))
//
// which are LIBLINEAR's -s 5 and 6; the intercept b is not penalised, or is 0.
//
// The method is newGLMNET (Yuan, Ho and Lin 2012), for both losses: a quadratic model of the
// losses is minimised together with ‖w‖₁ by coordinate descent over the columns, roughly at
// first, followed by a line search towards its minimum. Columns whose weight is zero
// and whose gradient is well inside [-1, 1] are left out of both loops and checked
// again before the end. It stops when the sum of the violations of the optimality conditions,
//
//	|gⱼ + sign wⱼ| where wⱼ ≠ 0,   max(0, |gⱼ| - 1) where wⱼ = 0,   |g_b|,
//
// g the losses' gradient, is at most Tolerance times that at w = 0, b = 0, times the share of
// the rows that the smaller side has.
//
// It works by columns and therefore copies the features: 4·n·D bytes for dense ones, 8 per
// value for sparse ones. Each thread takes 68·n bytes more, each output 16·D. Threads divide the
// outputs, so the result does not depend on their number.
type L1 struct {
	// Loss is "squared_hinge" (or "") or "logistic".
	Loss string

	// C weighs the losses against ‖w‖₁; 0 means 1.
	C float64

	// ClassWeights are as in Primal.
	ClassWeights []float64

	// Tolerance is relative to the violation at 0; 0 means 0.01.
	Tolerance float64

	// MaxIter bounds the quadratic models; 0 means 1000.
	MaxIter int

	// NoIntercept leaves b = 0.
	NoIntercept bool

	// Seed chooses the order of the columns.
	Seed uint64

	// Start, if not nil, is the starting point, a model for the same outputs.
	Start *Linear

	// Progress, if not nil, is called with the number and the share of outputs done.
	Progress func(outputs int, share float64)
}

// L1Report describes a fit.
type L1Report struct {
	Loss string  `json:"loss"`
	C    float64 `json:"c"`

	// Iterations is the largest number of quadratic models of an output, Sweeps that
	// of sweeps over the columns within them.
	Iterations int `json:"iterations"`
	Sweeps     int `json:"sweeps"`

	// Violation is the largest violation of an output's optimality conditions, relative to
	// that at 0.
	Violation float64 `json:"violation"`

	// Converged means that every output met its tolerance.
	Converged bool `json:"converged"`

	// NonZero is the number of nonzero weights, of Weights in all.
	NonZero int `json:"non_zero"`
	Weights int `json:"weights"`

	// Objective has the value of each output's problem.
	Objective []float64 `json:"objective"`

	// Path has the C that were tried on held-out rows, nil if C was given.
	Path []Trial `json:"path,omitempty"`
}

// Lines describes the fit.
func (r *L1Report) Lines() []string {
	how := "converged"
	if !r.Converged {
		how = "NOT converged (allow more iterations or a larger tolerance)"
	}
	return append([]string{
		fmt.Sprintf("%s loss and L1 penalty, C = %.4g: %s in %d steps, %d sweeps; violation %.2g of that at 0", r.Loss, r.C, how, r.Iterations,
			r.Sweeps, r.Violation),
		fmt.Sprintf("%d of %d weights are not zero", r.NonZero, r.Weights),
	}, pathLines(r.Path)...)
}

// FitL1 trains on the rows z, of which row i has the class class[i] in [0, classes) and the
// weight weights[i] (nil: all 1), as FitPrimal does.
func FitL1(ctx context.Context, z Features, class []int, classes int, weights []float64, opt L1) (*Linear, *L1Report, error) {
	columns, err := newColumns(ctx, z)
	if err != nil {
		return nil, nil, err
	}
	return fitL1(ctx, columns, class, classes, weights, opt)
}

func fitL1(ctx context.Context, z *columns, class []int, classes int, weights []float64, opt L1) (*Linear, *L1Report, error) {
	n, d := z.rows, z.count
	if classes < 2 || len(class) != n || weights != nil && len(weights) != n {
		panic(fmt.Sprintf("learn: FitL1 of %d rows given %d classes for %d rows and %d weights", n, classes, len(class), len(weights)))
	}
	if opt.C == 0 {
		opt.C = 1
	}
	if opt.Tolerance == 0 {
		opt.Tolerance = 0.01
	}
	if opt.MaxIter == 0 {
		opt.MaxIter = 1000
	}
	if err := checkClassWeights(opt.ClassWeights, classes); err != nil {
		return nil, nil, err
	}
	var loss pointLoss
	switch opt.Loss {
	case "", "squared_hinge":
		opt.Loss, loss = "squared_hinge", squaredHingeLoss
	case "logistic":
		loss = logisticLoss
	default:
		return nil, nil, fmt.Errorf("loss %q is not known; with an L1 penalty, known are squared_hinge, logistic", opt.Loss)
	}
	cost, err := costs(n, weights, opt.C)
	if err != nil {
		return nil, nil, err
	}
	k := TargetColumns(classes)
	share := smallestSides(class, cost, k)
	machines := make([]*l1Machine, k)
	var done atomic.Int64
	vec.Parallel(k, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			m := newL1Machine(z, loss, costsOf(t, k, cost, class, opt.ClassWeights), !opt.NoIntercept)
			for i, c := range class {
				m.y[i] = side(c, t, k)
			}
			if opt.Start != nil {
				m.start(opt.Start, t)
			}
			m.order = random.New(opt.Seed, "l1", uint64(t))
			m.solve(ctx, opt.Tolerance, share[t], opt.MaxIter)
			m.forget()
			machines[t] = m
			finished := int(done.Add(1))
			if opt.Progress != nil && lo == 0 { // one goroutine at a time
				opt.Progress(finished, float64(finished)/float64(k))
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	report := &L1Report{Loss: opt.Loss, C: opt.C, Converged: true, Weights: d * k}
	l := &Linear{W: matrix.NewDense(d, k), B: make([]float64, k)}
	for t, m := range machines {
		if !(m.value < math.MaxFloat64) {
			return nil, nil, fmt.Errorf("the sums over the rows exceed the numbers of float32: scale the columns, or lower C")
		}
		for j, w := range m.w[:d] {
			if w != 0 {
				report.NonZero++
			}
			l.W.Data[j*k+t] = float32(w)
		}
		l.B[t] = m.w[d]
		report.Iterations = max(report.Iterations, m.iterations)
		report.Sweeps = max(report.Sweeps, m.sweeps)
		report.Violation = max(report.Violation, m.violation)
		report.Converged = report.Converged && m.converged
		report.Objective = append(report.Objective, m.value)
	}
	return l, report, nil
}

// costsOf are the costs of output t of k.
func costsOf(t, k int, cost []float64, class []int, classWeights []float64) []float64 {
	if classWeights == nil {
		return cost
	}
	if k == 1 {
		t = -1
	}
	own := slices.Clone(cost)
	weighClasses(own, class, classWeights, t)
	return own
}
