package learn

import (
	"math"

	"mercer/internal/engine/vec"
)

// newton minimises one smooth convex function of p parameters,
//
//	f(x) = ½ Σ over the penalised of x² + losses(x),
//
// by a truncated Newton method: conjugate gradients, preconditioned by a diagonal M, solve
// Hs = -g roughly, and a line search along s follows (Lin, Weng and Keerthi 2008, with a trust
// region instead; Hsia, Chiang and Lin 2018 for preconditioning; Galli and Lin 2021 for the
// line search and the stopping rule of the conjugate gradients). M is the square root of
// the Hessian's diagonal, half way between that and none: on a9a, w8a and ijcnn1 it took fewer
// products than either, and than Hsia's mixture of diagonal and 1.
//
// It is a state machine, so that many of them can share one pass over the rows: each
// requests something at a vector x (wants), gets the sums over the rows (out, loss), and moves
// on (advance). Evaluating, out is the losses' gradient at x; curving, it is the losses' Hessian at
// the last point accepted times x.
//
// A trial point costs as much as a product with the Hessian, and comes with its gradient.
// So the line search has slopes at both ends, and uses the secant method.
type newton struct {
	penalised []bool // of each parameter
	maxIter   int

	// x is the point at which the next sums are needed; out and loss are those sums.
	x, out []float64
	loss   float64
	state  newtonState

	w, g   []float64 // the last point accepted, its gradient
	f      float64
	origin float64 // ‖g‖ at 0
	start  []float64

	iter int
	newtonEnd
	newtonStep
}

// newtonEnd says when Newton's method ends.
type newtonEnd struct {
	// tolerance is relative to the gradient at the origin. It is reduced, down to finest, if most of that
	// is the intercept's: asked times the norm by centred is the upper bound.
	tolerance, asked float64
	centred          func(g []float64) float64 // nil: there is no intercept

	best    float64 // the smallest relative gradient so far
	stalled int     // consecutive points without progress
	end     bool    // at the last point accepted
}

// newtonStep is the step that conjugate gradients find, and the search along it.
type newtonStep struct {
	m, s, r, d   []float64 // preconditioner; step, residual and direction
	rz, model    float64   // rᵀM⁻¹r; the quadratic model's value
	inner        int
	slope, alpha float64 // gᵀs and the step along s
}

type newtonState int

const (
	atOrigin newtonState = iota // evaluating at 0
	atStart                     // evaluating at the start
	trying                      // evaluating at w + αs
	curving                     // multiplying by the Hessian
)

const (
	// armijo is the share of the decrease predicted by the slope that a step has to achieve.
	armijo = 1e-4

	// truncate ends conjugate gradients when a step gains less than this share of
	// the mean gain of the previous steps (Nash and Sofer 1990).
	truncate = 0.5

	// mostInner bounds the steps of conjugate gradients.
	mostInner = 500

	// noise is the relative difference of two values of f, whose scores are sums in float32,
	// below which slopes decide (Hager and Zhang 2005), and sameValue that below which f
	// counts as not reduced.
	noise, sameValue = 1e-7, 1e-9
)

// newNewton starts at start, or at 0 if that is nil.
func newNewton(penalised []bool, start []float64, tolerance float64, maxIter int) *newton {
	p := len(penalised)
	vectors := make([]float64, 8*p)
	next := func() []float64 {
		v := vectors[:p:p]
		vectors = vectors[p:]
		return v
	}
	return &newton{
		penalised: penalised, maxIter: maxIter, start: start, newtonEnd: newtonEnd{tolerance: tolerance, best: math.Inf(1)},
		x: next(), out: next(), w: next(), g: next(), newtonStep: newtonStep{m: next(), s: next(), r: next(), d: next()},
	}
}

// evaluates reports whether the requested sums are the losses and their gradient.
func (t *newton) evaluates() bool { return t.state != curving }

// converged reports whether the last point accepted meets the tolerance.
func (t *newton) converged() bool { return t.relative() <= t.tolerance }

// relative is the gradient's norm relative to that at 0.
func (t *newton) relative() float64 {
	if t.origin == 0 {
		return 0
	}
	return euclidean(t.g) / t.origin
}

// advance moves from the sums at x to the next x. diagonal, called when a point was accepted,
// writes the diagonal of the Hessian of the losses there.
func (t *newton) advance(diagonal func(m []float64)) {
	switch t.state {
	case curving:
		t.conjugate()
		return
	case atOrigin:
		t.origin = euclidean(t.out)
		if t.centred != nil && t.origin > 0 {
			t.tolerance = min(t.tolerance, max(finest, t.asked*t.centred(t.out)/t.origin))
		}
		if t.start != nil {
			copy(t.x, t.start)
			t.start, t.state = nil, atStart
			return
		}
	case trying:
		if !t.acceptable() {
			return
		}
	}
	t.accept(diagonal)
}

// value turns the sums at x into f and, in out, its gradient.
func (t *newton) value() float64 {
	f := t.loss
	for j, v := range t.x {
		if t.penalised[j] {
			f += float64(0.5 * v * v)
			t.out[j] += v
		}
	}
	return f
}

// acceptable reports whether the trial point is good enough; if not, it sets the next.
func (t *newton) acceptable() bool {
	loss := t.loss
	f := t.value()
	slope := vec.Dot64(t.out, t.s)
	t.loss = f
	if f <= t.f+float64(armijo*t.alpha*t.slope) || math.Abs(f-t.f) <= noise*math.Abs(t.f) && slope <= -0.9*t.slope {
		return true
	}
	// The slope at a point that is not acceptable is positive: the minimum is before it. If
	// numbers overflowed, or rounding gives another sign, the step is divided by ten.
	share := t.slope / (t.slope - slope)
	if !(slope > 0) || math.IsInf(loss, 0) || math.IsNaN(share) {
		share = 0.1
	}
	t.alpha *= min(max(share, 1e-3), 0.5)
	if t.alpha < 1e-12 {
		t.end = true
		return false
	}
	t.try()
	return false
}

// try sets the trial point w + αs.
func (t *newton) try() {
	t.state = trying
	for j, v := range t.s {
		t.x[j] = t.w[j] + float64(t.alpha*v)
	}
}

// accept makes x the current point, and starts the next step.
func (t *newton) accept(diagonal func(m []float64)) {
	before := t.f
	if t.state == trying {
		t.f = t.loss // acceptable has made it f
		t.iter++
	} else {
		t.f = t.value()
	}
	first := t.state != trying
	copy(t.w, t.x)
	copy(t.g, t.out)
	rel := t.relative()
	if t.converged() {
		t.end = true
		return
	}
	// If neither f nor its gradient decreases any more, the limit of float32 is reached.
	if !first && before-t.f <= sameValue*math.Abs(before) && rel > 0.5*t.best {
		t.stalled++
	} else {
		t.stalled = 0
	}
	t.best = min(t.best, rel)
	if t.iter >= t.maxIter || t.stalled >= 2 {
		t.end = true
		return
	}
	diagonal(t.m)
	for j, v := range t.m {
		if t.penalised[j] {
			v++
		}
		t.m[j] = max(math.Sqrt(v), math.SmallestNonzeroFloat32)
	}
	t.state, t.inner, t.model, t.rz = curving, 0, 0, 0
	for j, g := range t.g {
		t.s[j], t.r[j] = 0, -g
		t.d[j] = -g / t.m[j]
		t.rz += float64(t.r[j] * t.d[j])
	}
	copy(t.x, t.d)
}

// conjugate makes a step of conjugate gradients, given out = (Hessian of the losses)·d.
func (t *newton) conjugate() {
	curvature := 0.0
	for j, d := range t.d {
		if t.penalised[j] {
			t.out[j] += d
		}
		curvature += float64(d * t.out[j])
	}
	if !(curvature > 0) {
		// Flat up to rounding, if only an intercept moves: the step so far will do.
		if t.inner == 0 {
			copy(t.s, t.d)
		}
		t.search()
		return
	}
	alpha := t.rz / curvature
	rz, model := 0.0, 0.0
	for j := range t.s {
		t.s[j] += float64(alpha * t.d[j])
		t.r[j] -= float64(alpha * t.out[j])
		rz += t.r[j] * t.r[j] / t.m[j]
		model -= float64(0.5 * t.s[j] * (t.r[j] - t.g[j]))
	}
	t.inner++
	gain := model - t.model
	t.model = model
	if float64(t.inner)*gain >= truncate*model || t.inner >= mostInner || rz == 0 {
		t.search()
		return
	}
	beta := rz / t.rz
	t.rz = rz
	for j := range t.d {
		t.d[j] = t.r[j]/t.m[j] + float64(beta*t.d[j])
	}
	copy(t.x, t.d)
}

// search begins the line search along s.
func (t *newton) search() {
	t.slope, t.alpha = vec.Dot64(t.g, t.s), 1
	if !(t.slope < 0) {
		t.end = true
		return
	}
	t.try()
}

func euclidean(x []float64) float64 { return math.Sqrt(vec.Dot64(x, x)) }
