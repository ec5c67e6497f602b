package learn

import (
	"context"
	"math"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/moments"
)

// elasticNet solves, for each output separately,
//
//	min over w, b of 1/(2n) Σ(y - wᵀz - b)² + λ(α‖w‖₁ + (1-α)/2·‖w‖²),
//
// by coordinate descent with covariance updates (Friedman, Hastie and Tibshirani 2010,
// section 2.2): with g = (V - Hw)/n, minus the gradient of the first part, the best w_j for
// given others is
//
//	w_j = S(g_j + H_jj/n·w_j, λα) / (H_jj/n + λ(1-α)), S(x, t) = sign(x)·max(0, |x| - t).
//
// g is kept for all features, so their optimality conditions are available and no screening
// rule is needed to guess which features stay at 0: such a feature costs a comparison.
// Between two sweeps over all features only the nonzero ones are visited.
//
// If features are similar, coordinate descent takes many sweeps. On the nonzero
// features, as long as no sign changes, the problem is a linear system; its solution is
// tried between sweeps.
type elasticNet struct {
	*quadratic
	ratio float64   // α
	unit  []float64 // of the targets, by which their second penalty is divided
}

// unitsOf are the deviations of targets that are far from 1. By them ‖w‖² counts in the unit of ‖w‖₁, whatever the unit of y is.
func unitsOf(m *moments.Moments) []float64 {
	units := make([]float64, m.K)
	for t := range units {
		units[t] = 1
		if sd := math.Sqrt(m.YY[t] / m.Labelled); sd > 0 && !math.IsInf(sd, 0) && math.Abs(math.Log2(sd)) > 10 {
			units[t] = sd
		}
	}
	return units
}

// largest is the least λ for which all weights are 0.
func (e *elasticNet) largest() float64 {
	largest := 0.0
	for _, v := range e.c {
		largest = max(largest, math.Abs(v))
	}
	return largest / e.ratio
}

// activeTurns is how many sweeps over the nonzero features precede one over all.
const activeTurns = 5

func (e *elasticNet) solve(ctx context.Context, lambda, tolerance float64, most int) (turns int, violation float64) {
	taken, left := make([]int, e.k), make([]float64, e.k)
	vec.Parallel(e.k, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			o := &coordinates{q: e.quadratic, w: e.w[t*e.d : (t+1)*e.d], g: e.g[t*e.d : (t+1)*e.d],
				c: e.c[t*e.d : (t+1)*e.d], l1: lambda * e.ratio, l2: lambda * (1 - e.ratio) / e.unit[t]}
			taken[t], left[t] = o.descend(ctx, tolerance*lambda, most)
		}
	})
	for t := range e.k {
		turns, violation = max(turns, taken[t]), max(violation, left[t]/lambda)
	}
	return turns, violation
}

// coordinates is the descent for one output.
type coordinates struct {
	q       *quadratic
	w, g, c []float64 // D
	l1, l2  float64
	active  []int // the nonzero features
}

// descend sweeps until the conditions hold to the tolerance, or at most most times.
func (o *coordinates) descend(ctx context.Context, tolerance float64, most int) (turns int, violation float64) {
	o.q.refresh(o.w, o.c, o.g)
	o.notZero()
	all := make([]int, o.q.d)
	for j := range all {
		all[j] = j
	}
	for {
		o.newton(ctx)
		if violation = o.violation(); violation <= tolerance {
			// Accumulated rounding in g does not count.
			o.q.refresh(o.w, o.c, o.g)
			violation = o.violation()
		}
		if violation <= tolerance || turns >= most || ctx.Err() != nil {
			return turns, violation
		}
		o.visit(all)
		o.notZero()
		for range activeTurns {
			o.visit(o.active)
		}
		o.notZero()
		turns += 1 + activeTurns
	}
}

// notZero lists the nonzero features.
func (o *coordinates) notZero() {
	o.active = o.active[:0]
	for j, w := range o.w {
		if w != 0 {
			o.active = append(o.active, j)
		}
	}
}

// violation is how far the conditions are from holding: g_j - λ(1-α)w_j is λα·sign(w_j), or
// no larger than λα where w_j is 0.
func (o *coordinates) violation() float64 {
	worst := 0.0
	for j, w := range o.w {
		v := math.Abs(o.g[j]) - o.l1
		if w != 0 {
			v = math.Abs(o.g[j] - o.l2*w - math.Copysign(o.l1, w))
		}
		worst = max(worst, v)
	}
	return worst
}

// visit gives each of the features in turn its best weight.
func (o *coordinates) visit(features []int) {
	for _, j := range features {
		w, curvature := o.w[j], o.q.diagonal[j]
		if curvature == 0 { // a constant feature
			continue
		}
		x := o.g[j] + float64(curvature*w)
		next := 0.0
		if size := math.Abs(x) - o.l1; size > 0 {
			next = math.Copysign(size, x) / (curvature + o.l2)
		}
		if next != w {
			o.w[j] = next
			vec.Axpy64(w-next, o.q.row(j), o.g)
		}
	}
}

// newton tries the solution of the linear system (A + λ(1-α)I)d = r of the nonzero
// features, r the violations of their conditions: first with the weights that would change their
// sign set to 0, then up to the first sign change.
func (o *coordinates) newton(ctx context.Context) {
	n := len(o.active)
	if n == 0 {
		return
	}
	m, d := make([]float64, n*n), make([]float64, n)
	for i, j := range o.active {
		row, a := m[i*n:(i+1)*n], o.q.row(j)
		for k := i; k < n; k++ {
			row[k] = a[o.active[k]]
		}
		// A small term on the diagonal: if features depend on each other, the solution then moves
		// far along directions that the data do not determine, until a weight is 0.
		row[i] += o.l2 + 1e-11*o.q.diagonal[j]
		w := o.w[j]
		d[i] = o.g[j] - o.l2*w
		if w != 0 {
			d[i] -= math.Copysign(o.l1, w)
		}
	}
	if !vec.CholeskySolve(ctx, n, m, n, 1, d, 1) {
		return
	}
	step := 1.0
	change := make([]float64, n)
	for i, j := range o.active {
		change[i] = d[i]
		if w := o.w[j]; w*(w+d[i]) <= 0 {
			change[i] = -w
			if d[i] != 0 {
				step = min(step, -w/d[i])
			}
		}
	}
	if o.try(change) || step == 1 {
		return
	}
	for i, j := range o.active {
		change[i] = step * d[i]
		if w := o.w[j]; w*(w+change[i]) <= 0 {
			change[i] = -w
		}
	}
	o.try(change)
}

// try changes the weights of the active features if that lowers the objective.
func (o *coordinates) try(change []float64) bool {
	move := make([]float64, o.q.d) // A·change
	for i, j := range o.active {
		if change[i] != 0 {
			vec.Axpy64(change[i], o.q.row(j), move)
		}
	}
	difference := 0.0
	for i, j := range o.active {
		w, x := o.w[j], change[i]
		difference += float64(x * (float64(move[j]/2) - o.g[j] + float64(o.l2*(w+x/2))))
		difference += float64(o.l1 * (math.Abs(w+x) - math.Abs(w)))
	}
	if !(difference < 0) {
		return false
	}
	for i, j := range o.active {
		o.w[j] += change[i]
	}
	vec.Axpy64(-1, move, o.g)
	return true
}
