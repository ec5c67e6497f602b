package learn

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// SVM says how to fit linear support vector machines, for each class against the rest. With
// y = ±1 and cᵢ = C·(weight of row i):
//
//	min over w, b of ½‖w‖² + Σ cᵢ ξᵢ²   (squared_hinge)   or   ½‖w‖² + Σ cᵢ ξᵢ   (hinge),
//	ξᵢ = max(0, 1 - yᵢ(w·zᵢ + b)).
//
// The intercept b is not penalised, so the dual has a constraint:
//
//	min over α of ½‖w‖² + Σ αᵢ²/(4cᵢ) - Σ αᵢ,   w = Σ αᵢyᵢzᵢ,   α ≥ 0,   s = Σ αᵢyᵢ = 0
//
// (hinge: no square, αᵢ ≤ cᵢ). The constraint is met by the method of multipliers, whose
// multiplier is b itself: the inner problem adds b·s + ½ρs², which changes the gradient to
// Gᵢ = yᵢ(w·zᵢ + b + ρs) - 1 + αᵢ/(2cᵢ); after it, b ← b + ρs. That is a penalty on the
// intercept's distance from its last value instead of from 0, and it vanishes as s does.
//
// The inner problem is solved by dual coordinate descent (Hsieh et al. 2008): rows in random
// order, αᵢ ← clip(αᵢ - Gᵢ/(‖zᵢ‖² + ρ + 1/(2cᵢ))), w and s kept up to date. Rows at a bound
// whose gradient says that they will stay there are set aside (shrinking) and looked at
// again before the end. It stops when the largest and the smallest projected gradient of a
// pass are less than Tolerance apart, as in LIBLINEAR, and |ρs| is below a tenth of it.
//
// All classes advance together: a row is read once for all of them. Threads divide the
// classes, so the result does not depend on their number.
//
// Memory: that of the rows, 8·n·K for α and 4·D·K for w.
type SVM struct {
	// C weighs the losses against ½‖w‖²; 0 means 1.
	C float64

	// Loss is "squared_hinge" (or "") or "hinge".
	Loss string

	// Tolerance is the stopping tolerance; 0 means 0.1.
	Tolerance float64

	// MaxIter bounds the passes over the rows; 0 means 1000.
	MaxIter int

	// Seed chooses the order of the rows.
	Seed uint64

	// Progress, if not nil, is told the number of passes made and the share of the classes
	// that are done.
	Progress func(passes int, share float64)
}

// SVMReport says how a fit went.
type SVMReport struct {
	C    float64 `json:"c"`
	Loss string  `json:"loss"`

	// Passes is the number of passes over the rows.
	Passes int `json:"passes"`

	// Converged says that every class met the tolerance within MaxIter passes.
	Converged bool `json:"converged"`

	// Path has the C that were tried on held-out rows, nil if C was given.
	Path []CPoint `json:"path,omitempty"`

	// Gap is the largest relative duality gap of a class, (primal - dual)/primal: an upper
	// bound on how far its objective is from the optimum.
	Gap float64 `json:"gap"`
}

// Lines tell a person how the fit went.
func (r *SVMReport) Lines() []string {
	chosen := "given"
	if n := len(r.Path); n > 0 {
		chosen = fmt.Sprintf("the best of %d on held-out rows", n)
	}
	how := "converged"
	if !r.Converged {
		how = "NOT converged (raise --max-iter or --tolerance)"
	}
	return []string{
		fmt.Sprintf("%s, C = %g (%s)", r.Loss, r.C, chosen),
		fmt.Sprintf("%s in %d passes, duality gap %.2g %%", how, r.Passes, 100*r.Gap),
	}
}

// rho is ρ of the method of multipliers, in units of the rows' mean squared norm.
const rho = 1.0

// FitSVM trains on the rows z, of which row i has the class class[i] in [0, classes) and
// the weight weights[i] (nil: all 1). There must be at least two classes. Rows of weight 0
// count for nothing.
func FitSVM(ctx context.Context, z matrix.Rows, class []int, classes int, weights []float64, opt SVM) (*Linear, *SVMReport, error) {
	if classes < 2 || len(class) != z.Len() || weights != nil && len(weights) != z.Len() {
		panic(fmt.Sprintf("learn: FitSVM of %d rows given %d classes for %d rows and %d weights", z.Len(), classes, len(class), len(weights)))
	}
	f := &svmFit{z: z, class: class, weights: weights, tolerance: opt.Tolerance, k: TargetColumns(classes)}
	if opt.C == 0 {
		opt.C = 1
	}
	if f.tolerance == 0 {
		f.tolerance = 0.1
	}
	if opt.MaxIter == 0 {
		opt.MaxIter = 1000
	}
	f.c = opt.C
	switch opt.Loss {
	case "", "squared_hinge":
		opt.Loss, f.squared = "squared_hinge", true
	case "hinge":
	default:
		return nil, nil, fmt.Errorf("loss %q is not known; known are squared_hinge, hinge", opt.Loss)
	}
	f.prepare()
	report := &SVMReport{C: opt.C, Loss: opt.Loss}
	for f.left() > 0 && report.Passes < opt.MaxIter {
		order := random.New(opt.Seed, "svm", uint64(report.Passes)).Perm(z.Len())
		vec.Parallel(f.k, 1, func(lo, hi int) { f.pass(ctx, order, f.one[lo:hi]) })
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		report.Passes++
		if opt.Progress != nil {
			opt.Progress(report.Passes, 1-float64(f.left())/float64(f.k))
		}
	}
	report.Converged = f.left() == 0
	l := f.linear()
	report.Gap = f.gap(l)
	return l, report, nil
}

// svmFit is the state of a fit.
type svmFit struct {
	z         matrix.Rows
	class     []int
	weights   []float64
	c         float64
	tolerance float64
	squared   bool
	k         int
	rho       float64
	norm      []float32 // n: ‖z‖²
	one       []*against
}

// against is one class against the rest.
type against struct {
	class  int
	alpha  []float64 // n
	w      []float32 // D
	b, s   float64
	aside  []bool // n: shrunk
	shrunk int

	// The largest and smallest projected gradient of the last pass, by which rows are set
	// aside, and of this one.
	lastMax, lastMin float64
	max, min         float64
	done             bool
}

func (f *svmFit) prepare() {
	n, d := f.z.Len(), f.z.Dim()
	f.norm = make([]float32, n)
	sum := 0.0
	for i := range n {
		var row []float32
		if f.z.CSR != nil {
			_, row = f.z.CSR.Row(i)
		} else {
			row = f.z.Dense.Row(i)
		}
		f.norm[i] = vec.Dot32(row, row)
		sum += float64(f.norm[i])
	}
	f.rho = rho
	if sum > 0 {
		f.rho = rho * sum / float64(n)
	}
	for t := range f.k {
		a := &against{
			class: t, alpha: make([]float64, n), w: make([]float32, d), aside: make([]bool, n),
			lastMax: math.Inf(1), lastMin: math.Inf(-1),
		}
		if f.k == 1 {
			a.class = 1
		}
		f.one = append(f.one, a)
	}
}

// left is the number of classes that are not done.
func (f *svmFit) left() int {
	left := 0
	for _, a := range f.one {
		if !a.done {
			left++
		}
	}
	return left
}

// cost is cᵢ.
func (f *svmFit) cost(i int) float64 {
	if f.weights != nil {
		return f.c * f.weights[i]
	}
	return f.c
}

// bounds gives the diagonal term 1/(2cᵢ) and the upper bound of αᵢ.
func (f *svmFit) bounds(i int) (diagonal, upper float64) {
	if f.squared {
		return 0.5 / f.cost(i), math.Inf(1)
	}
	return 0, f.cost(i)
}

// pass goes once over all rows in the given order for some of the classes.
func (f *svmFit) pass(ctx context.Context, order []int, group []*against) {
	var active []*against
	for _, a := range group {
		if !a.done {
			a.max, a.min = math.Inf(-1), math.Inf(1)
			active = append(active, a)
		}
	}
	if len(active) == 0 {
		return
	}
	for step, i := range order {
		if step&1023 == 0 && ctx.Err() != nil {
			return
		}
		if f.cost(i) == 0 {
			continue
		}
		diagonal, upper := f.bounds(i)
		q := float64(f.norm[i]) + f.rho + diagonal
		for _, a := range active {
			if !a.aside[i] {
				f.step(a, i, q, diagonal, upper)
			}
		}
	}
	for _, a := range active {
		f.endPass(a)
	}
}

// step minimises the dual over one αᵢ.
func (f *svmFit) step(a *against, i int, q, diagonal, upper float64) {
	y := -1.0
	if f.class[i] == a.class {
		y = 1
	}
	alpha := a.alpha[i]
	g := y*(f.dot(a.w, i)+a.b+f.rho*a.s) - 1 + alpha*diagonal
	projected := g
	switch {
	case alpha == 0:
		if g > a.lastMax {
			a.aside[i] = true
			a.shrunk++
			return
		}
		projected = min(g, 0)
	case alpha == upper:
		if g < a.lastMin {
			a.aside[i] = true
			a.shrunk++
			return
		}
		projected = max(g, 0)
	}
	a.max, a.min = max(a.max, projected), min(a.min, projected)
	if math.Abs(projected) < 1e-12 {
		return
	}
	next := min(max(alpha-g/q, 0), upper)
	if next == alpha {
		return
	}
	delta := (next - alpha) * y
	a.alpha[i] = next
	a.s += delta
	f.axpy(float32(delta), i, a.w)
}

// endPass decides what the next pass is for.
func (f *svmFit) endPass(a *against) {
	if a.max-a.min > f.tolerance {
		// Not there yet: the next pass sets aside what this one's gradients allow.
		a.lastMax, a.lastMin = a.max, a.min
		if a.lastMax <= 0 {
			a.lastMax = math.Inf(1)
		}
		if a.lastMin >= 0 {
			a.lastMin = math.Inf(-1)
		}
		return
	}
	if a.shrunk > 0 {
		// The rows at hand are solved; look at those set aside.
		clear(a.aside)
		a.shrunk = 0
		a.lastMax, a.lastMin = math.Inf(1), math.Inf(-1)
		return
	}
	if math.Abs(f.rho*a.s) <= f.tolerance/10 {
		a.done = true
		return
	}
	a.b += f.rho * a.s
	a.lastMax, a.lastMin = math.Inf(1), math.Inf(-1)
}

// dot is w·zᵢ.
func (f *svmFit) dot(w []float32, i int) float64 {
	if f.z.Dense != nil {
		return float64(vec.Dot32(f.z.Dense.Row(i), w))
	}
	idx, val := f.z.CSR.Row(i)
	return vec.SparseDot32(idx, val, w)
}

// axpy adds alpha·zᵢ to w.
func (f *svmFit) axpy(alpha float32, i int, w []float32) {
	if f.z.Dense != nil {
		vec.Axpy32(alpha, f.z.Dense.Row(i), w)
		return
	}
	idx, val := f.z.CSR.Row(i)
	vec.SparseAxpy32(alpha, idx, val, w)
}

// linear computes the weights anew from α in float64, without the rounding that many small
// updates left in them.
func (f *svmFit) linear() *Linear {
	d := f.z.Dim()
	l := &Linear{W: matrix.NewDense(d, f.k), B: make([]float64, f.k)}
	vec.Parallel(f.k, 1, func(lo, hi int) {
		w := make([]float64, d)
		for t := lo; t < hi; t++ {
			a := f.one[t]
			clear(w)
			for i, alpha := range a.alpha {
				if alpha == 0 {
					continue
				}
				if f.class[i] != a.class {
					alpha = -alpha
				}
				if f.z.Dense != nil {
					vec.AxpyWide(alpha, f.z.Dense.Row(i), w)
					continue
				}
				idx, val := f.z.CSR.Row(i)
				for e, j := range idx {
					w[j] += alpha * float64(val[e])
				}
			}
			for j, v := range w {
				l.W.Data[j*f.k+t] = float32(v)
			}
			l.B[t] = a.b + f.rho*a.s
		}
	})
	return l
}

// gap is the largest relative duality gap of a class. Both objectives are those of the last
// inner problem, which are a valid pair whatever s is:
//
//	primal  ½‖w‖² + losses + ½ρs²,   dual  Σα - ½‖w‖² - Σα²/(4c) - ½ρs² - b·s.
func (f *svmFit) gap(l *Linear) float64 {
	n := f.z.Len()
	losses := make([]float64, f.k)
	const chunk = 256
	scores := matrix.NewDense(min(chunk, n), f.k)
	for lo := 0; lo < n; lo += chunk {
		hi := min(lo+chunk, n)
		part := scores.Slice(0, hi-lo)
		l.Scores(part, f.z.Slice(lo, hi))
		for i := lo; i < hi; i++ {
			for t, a := range f.one {
				y := -1.0
				if f.class[i] == a.class {
					y = 1
				}
				loss := max(0, 1-y*float64(part.Row(i - lo)[t]))
				if f.squared {
					loss *= loss
				}
				losses[t] += f.cost(i) * loss
			}
		}
	}
	worst := 0.0
	for t, a := range f.one {
		w2 := 0.0
		for j := range l.W.Rows {
			v := float64(l.W.Data[j*f.k+t])
			w2 += v * v
		}
		dual := -0.5*w2 - 0.5*f.rho*a.s*a.s - a.b*a.s
		for i, alpha := range a.alpha {
			dual += alpha
			if f.squared && alpha > 0 {
				dual -= alpha * alpha / (4 * f.cost(i))
			}
		}
		primal := 0.5*w2 + losses[t] + 0.5*f.rho*a.s*a.s
		if primal > 0 {
			worst = max(worst, (primal-dual)/primal)
		}
	}
	return worst
}
