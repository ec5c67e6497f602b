package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// Lasso is the configuration of a lasso, an elastic net or a group lasso, fitted from
// moments alone. The objectives are scaled as in scikit-learn: the mean over rows of half the
// squared error, so that λ means the same for any number of rows.
type Lasso struct {
	// Lambda is λ; 0 means that the held-out statistics choose it.
	Lambda float64

	// L1Ratio is α, the share of λ for ‖w‖₁; the rest is for ½‖w‖². 0 means 1, the
	// lasso. The group lasso has none.
	L1Ratio float64

	// Groups are the features that belong together: for the group lasso all or none of a
	// group are 0; for the others they only structure the report, and may be nil.
	Groups []Group

	// Tolerance is how far the optimality conditions may be from holding, relative to λ; 0
	// means 10⁻⁵, and 10⁻³ on the path. MaxIter bounds the sweeps over the features for one λ; 0 means 10,000.
	Tolerance float64
	MaxIter   int

	// Progress, if not nil, is called with the number of λ tried.
	Progress func(done int)
}

// LassoReport describes the fit of a lasso.
type LassoReport struct {
	// Lambda is the λ of the final fit.
	Lambda float64 `json:"lambda"`

	// L1Ratio is α, 0 for a group lasso.
	L1Ratio float64 `json:"l1_ratio,omitempty"`

	// HeldOut is the number of rows that chose λ, 0 if it was given.
	HeldOut int `json:"held_out,omitempty"`

	// Path has the λ that were tried, descending, each fitted without the held-out rows; nil if
	// λ was given.
	Path []LassoPoint `json:"path,omitempty"`

	// Weights is how many weights, of All, are nonzero; Features how many features have such
	// a weight for any output.
	Weights  int `json:"weights"`
	All      int `json:"all"`
	Features int `json:"features"`

	// Kept and Dropped are the groups with and without nonzero weights.
	Kept    []string `json:"kept,omitempty"`
	Dropped []string `json:"dropped,omitempty"`

	// Turns is the number of sweeps of the final fit, Violation how far the optimality
	// conditions are from holding, relative to λ; Converged means that this is within
	// the tolerance.
	Turns     int     `json:"turns"`
	Violation float64 `json:"violation"`
	Converged bool    `json:"converged"`
}

// LassoPoint is one λ of a path.
type LassoPoint struct {
	Lambda float64 `json:"lambda"`

	// Error is the mean over held-out rows of the squared error, summed over the targets.
	Error float64 `json:"error"`

	// Weights is the number of nonzero weights.
	Weights int `json:"weights"`

	// Chosen marks the best.
	Chosen bool `json:"chosen,omitempty"`
}

// Lines describe the result.
func (r *LassoReport) Lines() []string {
	chosen := "given"
	if n := len(r.Path); n > 0 {
		chosen = fmt.Sprintf("the best of %d on a held-out tenth", n)
	}
	text := fmt.Sprintf("λ = %.3g (%s)", r.Lambda, chosen)
	if r.L1Ratio > 0 && r.L1Ratio < 1 {
		text += fmt.Sprintf(", α = %.3g", r.L1Ratio)
	}
	lines := []string{text, fmt.Sprintf("%d of %d weights are not 0, of %d features", r.Weights, r.All, r.Features)}
	if len(r.Dropped) > 0 {
		lines = append(lines, "in use: "+someOf(r.Kept), "dropped out: "+someOf(r.Dropped))
	}
	if !r.Converged {
		lines = append(lines, fmt.Sprintf("not converged in %d turns: the optimality conditions are off by %.2g·λ", r.Turns, r.Violation))
	}
	return lines
}

// someOf lists the first of some names.
func someOf(names []string) string {
	const most = 12
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// The path goes down from the least λ for which all weights are 0, in steps of a fifteenth of
// a power of ten, over four powers of ten, each fit starting where the previous one ended.
// It ends early when the held-out error has not improved for a power of ten: that of few rows rises and falls.
const (
	lassoSteps    = 60
	lassoStep     = 15 // in a power of ten
	lassoPatience = 15
)

// FitLasso fits a lasso or an elastic net for each target separately,
//
//	min over w, b of 1/(2n) Σ(y - wᵀz - b)² + λ(α‖w‖₁ + (1-α)/2·‖w‖²),
//
// on main and held together. Rows count by their weights, n being the sum of these. If λ is
// not given, the λ of a path are fitted on main and judged on held, and the best is used
// for the final fit; held may be nil if λ is given. held is merged into main.
//
// Memory beyond the two statistics: 8·D² + 32·D·K bytes, and 8·a² for a nonzero weights
// of a target.
func FitLasso(ctx context.Context, main, held *moments.Stats, opt Lasso) (*Linear, *LassoReport, error) {
	if opt.L1Ratio == 0 {
		opt.L1Ratio = 1
	}
	if !(opt.L1Ratio > 0 && opt.L1Ratio <= 1) {
		return nil, nil, fmt.Errorf("l1_ratio %g is not a number above 0 and up to 1; for 0 take a ridge regression", opt.L1Ratio)
	}
	return fitPenalised(ctx, main, held, opt, nil, func(q *quadratic, m *moments.Moments) (penalised, error) {
		return &elasticNet{q, opt.L1Ratio, unitsOf(m)}, nil
	})
}

// FitGroupLasso is FitLasso for the penalty λ·Σ_g √p_g·‖W_g‖ on the groups of features, for
// all targets jointly: a group of p_g features has weights W_g for all targets, or none.
//
// Memory beyond that of the two statistics: 8·D² + 8·Σp_g² + 128·D·K bytes.
func FitGroupLasso(ctx context.Context, main, held *moments.Stats, opt Lasso) (*Linear, *LassoReport, error) {
	d := main.Moments().D
	if err := checkGroups(opt.Groups, d); err != nil {
		return nil, nil, err
	}
	var order, sizes []int
	for _, g := range opt.Groups {
		order, sizes = append(order, g.Features...), append(sizes, len(g.Features))
	}
	opt.L1Ratio = 0
	return fitPenalised(ctx, main, held, opt, order, func(q *quadratic, _ *moments.Moments) (penalised, error) { return newGroupLasso(ctx, q, sizes) })
}

// penalised is a quadratic with a penalty that produces zero weights.
type penalised interface {
	// largest is the least λ for which all weights are 0.
	largest() float64

	// solve finds the weights for λ, starting from the current ones, to the tolerance relative
	// to λ; it returns the number of sweeps, at most most, and the remaining violation.
	solve(ctx context.Context, lambda, tolerance float64, most int) (turns int, violation float64)
}

// fitPenalised fits with the features in the given order; nil means the original one.
func fitPenalised(ctx context.Context, main, held *moments.Stats, opt Lasso, order []int,
	penalise func(*quadratic, *moments.Moments) (penalised, error)) (*Linear, *LassoReport, error) {
	if opt.Lambda < 0 || math.IsNaN(opt.Lambda) || math.IsInf(opt.Lambda, 0) {
		return nil, nil, fmt.Errorf("λ = %g is not a positive number", opt.Lambda)
	}
	path := opt.Tolerance // the errors of a path need not be as exact as the final fit
	if opt.Tolerance == 0 {
		opt.Tolerance, path = 1e-5, 1e-3
	}
	if opt.MaxIter == 0 {
		opt.MaxIter = 10_000
	}
	report := &LassoReport{Lambda: opt.Lambda, L1Ratio: opt.L1Ratio}
	var start []float64
	if m := main.Moments(); opt.Lambda == 0 {
		if held == nil {
			panic("learn: a lasso needs held-out statistics to choose λ")
		}
		if h := held.Moments(); h.Weight > 0 && m.Weight > 0 {
			q := newQuadratic(m, order)
			p, err := penalise(q, m)
			if err != nil {
				return nil, nil, err
			}
			if start, err = chooseLasso(ctx, q, p, m, h, order, path, opt, report); err != nil {
				return nil, nil, err
			}
		}
	}
	if held != nil {
		main.Merge(held)
	}
	m := main.Moments()
	if err := usable(m); err != nil {
		return nil, nil, err
	}
	if !(m.Weight > 0) {
		return nil, nil, errors.New("no rows to fit a lasso on")
	}
	q := newQuadratic(m, order)
	p, err := penalise(q, m)
	if err != nil {
		return nil, nil, err
	}
	if report.Lambda == 0 {
		// There are too few rows to hold any back, or the targets do not depend on any feature.
		report.Lambda = p.largest() / 10
	}
	if start != nil {
		copy(q.w, start)
	}
	if report.Lambda == 0 {
		report.Converged = true // nothing to explain
	} else {
		report.Turns, report.Violation = p.solve(ctx, report.Lambda, opt.Tolerance, opt.MaxIter)
		report.Converged = report.Violation <= opt.Tolerance
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	l := sparseLinear(q, m, order)
	for _, v := range l.W.Data {
		if v-v != 0 {
			return nil, nil, errors.New("the weights are not finite; scale the inputs")
		}
	}
	report.count(l, opt.Groups)
	return l, report, nil
}

// chooseLasso walks the path and sets Lambda, Path and HeldOut. It returns the weights of the
// best λ.
func chooseLasso(ctx context.Context, q *quadratic, p penalised, main, held *moments.Moments, order []int, tolerance float64, opt Lasso,
	report *LassoReport) (best []float64, err error) {
	largest := p.largest()
	if !(largest > 0) {
		return nil, nil
	}
	report.HeldOut = held.Rows
	chosen, w := 0, make([]float64, len(q.w))
	for i := range lassoSteps + 1 {
		point := LassoPoint{Lambda: largest * math.Pow(10, -float64(i)/lassoStep)}
		p.solve(ctx, point.Lambda, tolerance, opt.MaxIter)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, v := range q.w {
			if v != 0 {
				point.Weights++
			}
		}
		for t := range q.k {
			copy(w[t*q.d:(t+1)*q.d], inOrder(q.w[t*q.d:(t+1)*q.d], order))
		}
		point.Error = heldOutError(main, held, w)
		report.Path = append(report.Path, point)
		if best == nil || point.Error < report.Path[chosen].Error {
			chosen, best = i, slices.Clone(q.w)
		}
		if opt.Progress != nil {
			opt.Progress(i + 1)
		}
		if i-chosen >= lassoPatience {
			break
		}
	}
	report.Path[chosen].Chosen = true
	report.Lambda = report.Path[chosen].Lambda
	return best, nil
}

// inOrder puts the weights of reordered features into the original order.
func inOrder(w []float64, order []int) []float64 {
	if order == nil {
		return w
	}
	x := make([]float64, len(w))
	for i, j := range order {
		x[j] = w[i]
	}
	return x
}

// sparseLinear is the linear model of the weights.
func sparseLinear(q *quadratic, m *moments.Moments, order []int) *Linear {
	l := &Linear{W: matrix.NewDense(q.d, q.k), B: slices.Clone(m.MeanY)}
	for t := range q.k {
		for j, v := range inOrder(q.w[t*q.d:(t+1)*q.d], order) {
			w := float32(v)
			l.W.Row(j)[t] = w
			// The weights as they will be used, so that the mean is right.
			l.B[t] -= float64(float64(w) * m.MeanZ[j])
		}
	}
	return l
}

// count counts the nonzero weights.
func (r *LassoReport) count(l *Linear, groups []Group) {
	r.All = l.W.Rows * l.W.Cols
	used := make([]bool, l.W.Rows)
	for j := range l.W.Rows {
		for _, w := range l.W.Row(j) {
			if w != 0 {
				r.Weights++
				used[j] = true
			}
		}
		if used[j] {
			r.Features++
		}
	}
	for _, g := range groups {
		if slices.ContainsFunc(g.Features, func(j int) bool { return used[j] }) {
			r.Kept = append(r.Kept, g.Name)
		} else {
			r.Dropped = append(r.Dropped, g.Name)
		}
	}
}
