package learn

import (
	"context"
	"math"
	"slices"
	"sync"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// proximalPoint ends what coordinate descent has not, for boxed losses. Where columns are nearly
// collinear and C is large, w is determined along directions in which the rows hardly differ; a
// step of one βᵢ moves w along them by next to nothing, and the passes grow with the condition of
// Z. Newton's method does not mind.
//
// The proximal point method on the dual (Rockafellar 1976; in the primal it is the method of
// multipliers for v = Zw + b) adds ½h‖β - β⁰‖² to it, β⁰ being the last β. What it asks for is
// the minimum over w and b of a function with a continuous gradient,
//
//	F(w, b) = ½‖w‖² + σb + Σ ψᵢ(uᵢ),   ψᵢ(u) = max over x of -ux - φᵢ(x) - ½h(x - βᵢ⁰)²,
//
// uᵢ = w·zᵢ + b. The x that has the maximum is a soft threshold within bounds,
//
//	xᵢ(u) = clip(soft(hβᵢ⁰ + pᵢ - u, ε)/(h + λᵢ)),   ∇F = (w - Σ xᵢzᵢ, σ - Σ xᵢ),
//
// and with J the rows where it moves with u and S = diag(h + λᵢ), the Hessian is
// I + Z_JᵀS⁻¹Z_J, bordered for b (semismooth Newton; Li, Sun and Toh 2018 for the lasso, Yan and Li 2020 for SVMs). A line search
// along each step finds the minimum of F there; it takes scores only, no rows. At the minimum the
// xᵢ are the next β.
//
// Each xᵢ is optimal for a score that differs by h(xᵢ - βᵢ⁰), so that the gap is at most
// 2h·Σ cᵢ|xᵢ - βᵢ⁰| for the losses that are linear in pieces. h is divided by ten after each
// minimum, so that the number of these is bounded by the logarithm of what h has to come down
// to, whatever the condition of Z.
//
// The system is solved with m = |J| rows and columns if m ≤ D, else with D+1 = m. Memory beside
// that of the dual: 28·n bytes, 24·D, 8·m² + 4,096·m, and 4·m·D in the former case.
type proximalPoint struct {
	f   *dual
	box *boxed
	o   *output
	h   float64

	w, g, dw []float64 // D
	b, gb    float64
	db       float64
	x, u, du []float64 // n
	free     []int32   // J
	proximalSystem
}

// proximalSystem is the system of equations that gives a step.
type proximalSystem struct {
	columns int     // of the system with D columns: one more for b
	trace   float64 // of ZᵀZ
	system  []float64
	block   []float64
	rows    matrix.Dense // Z_J
}

const (
	// mostSquare is the most columns for which the system is solved: 8·D² bytes are 134 MB.
	mostSquare = 4096

	// nearness is h to begin with in units of the rows' mean squared norm. A small one makes the
	// first minimum hard to find, a large one takes more of them.
	nearness = 0.1

	// closer is what h is multiplied by, and condition bounds what the system's condition
	// number can come to, by the trace of ZᵀZ.
	closer, condition = 0.1, 1e13

	// mostMinima bounds the minima, mostNewton the steps for each, and idleMinima are how many in a row may
	// bring no smaller gap: that of a large C and next to no loss is the rounding of w to float32.
	mostMinima, mostNewton, idleMinima = 20, 100, 4

	// exactness is the distance of F from its minimum that is good enough for the first, relative to the
	// objective. It is divided by ten for each of the next, as a gap that is wanted smaller may
	// need, down to exactest.
	exactness, exactest = 1e-9, 1e-13

	// gradual is the share of its slope that a line search has to leave at most.
	gradual = 0.1

	// panel is how many rows, or columns, are multiplied at a time.
	panel = 512
)

// NewtonMemory is how many bytes Newton's steps take at most, which end what coordinate descent has not for n rows
// of d columns; 0 where there are too many columns for them.
func NewtonMemory(n, d int) float64 {
	if d > mostSquare {
		return 0
	}
	rows, columns := float64(n), float64(d+1)
	square := min(rows, columns)
	return 28*rows + 24*columns + 8*square*square + 4*square*columns + 8*panel*square
}

// inTurn makes trainings wait for one another with these steps: each has a matrix.
var inTurn sync.Mutex

// newtonable says whether Newton's steps can end what coordinate descent has not.
func (f *dual) newtonable() bool {
	_, ok := f.loss.(*boxed)
	return ok && f.d <= mostSquare && f.n > 0
}

// newton goes on from β of the outputs that are not done.
func (f *dual) newton(ctx context.Context, work []*output) error {
	inTurn.Lock()
	defer inTurn.Unlock()
	n, d := f.n, f.d
	p := &proximalPoint{
		f: f, box: f.loss.(*boxed), proximalSystem: proximalSystem{columns: d},
		w: make([]float64, d), g: make([]float64, d), dw: make([]float64, d),
		x: make([]float64, n), u: make([]float64, n), du: make([]float64, n),
	}
	for i, v := range f.norm {
		if f.rows.counts(i) {
			p.trace += float64(v)
		}
	}
	if !(p.trace > 0) {
		return nil
	}
	if f.rho > 0 {
		p.columns++
	}
	m := min(n, p.columns)
	p.system, p.block = vec.Fresh64(m*m), make([]float64, panel*m)
	for _, o := range work {
		if err := p.finish(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// finish goes on from β of an output. If it does not get there it leaves the β of the smallest gap.
func (p *proximalPoint) finish(ctx context.Context, o *output) error {
	f := p.f
	p.o, p.b = o, o.shift()
	for j, v := range o.w {
		p.w[j] = float64(v)
	}
	least, beta, b := f.gapOf(o), slices.Clone(o.beta), p.b
	objective := max(math.Abs(o.value), math.Abs(o.value+o.gap), f.floor)
	p.h = nearness * p.trace / float64(f.n)
	vain := 0
	for k := 0; k < mostMinima && vain < idleMinima; k++ {
		enough := max(exactness*math.Pow(0.1, float64(k)), exactest) * objective
		if err := p.minimise(ctx, enough); err != nil {
			return err
		}
		copy(o.beta, p.x)
		if err := f.settle(ctx, o, p.b); err != nil || o.done {
			return err
		}
		if f.progress != nil {
			f.progress(f.passes, 1-float64(len(f.working()))/float64(len(f.out)))
		}
		vain++
		if gap := f.gapOf(o); gap < least {
			least, b, vain = gap, p.b, 0
			copy(beta, o.beta)
		}
		p.h = max(closer*p.h, p.trace/condition)
	}
	copy(o.beta, beta)
	return f.settle(ctx, o, b)
}

// settle computes w and s of a new β, with b as what is added to the scores, and checks.
func (f *dual) settle(ctx context.Context, o *output, b float64) error {
	one := []*output{o}
	if err := f.refresh(one); err != nil {
		return err
	}
	o.b = b - o.rho*o.s
	clear(o.aside)
	return f.check(ctx, one)
}

// minimise finds the minimum of F to within about enough, and leaves x there.
func (p *proximalPoint) minimise(ctx context.Context, enough float64) error {
	if err := p.scores(p.u, p.w, p.b); err != nil {
		return err
	}
	for range mostNewton {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.gradient(); err != nil {
			return err
		}
		if err := p.step(ctx); err != nil {
			return err
		}
		slope := vec.Dot64(p.g, p.dw) + float64(p.gb*p.db)
		if !(slope < 0) {
			return nil
		}
		if err := p.scores(p.du, p.dw, p.db); err != nil {
			return err
		}
		alpha := p.search(slope)
		p.f.steps++
		vec.Axpy64(alpha, p.dw, p.w)
		p.b += float64(alpha * p.db)
		vec.Axpy64(alpha, p.du, p.u)
		// -slope is twice what F falls by where it is quadratic, as it is near its minimum. Where J is
		// empty it is linear in b, and α large.
		if alpha == 0 || alpha > 0.5 && -slope*max(1, alpha) <= enough {
			break
		}
	}
	p.respond()
	return nil
}

// respond finds x and J for the scores u.
func (p *proximalPoint) respond() {
	p.free = p.free[:0]
	for i, u := range p.u {
		x, moves := p.at(i, u)
		p.x[i] = x
		if moves {
			p.free = append(p.free, int32(i))
		}
	}
}

// at is xᵢ(u), and whether it moves with u.
func (p *proximalPoint) at(i int, u float64) (x float64, moves bool) {
	if !p.box.counts(i) {
		return 0, false
	}
	goal, lambda, lo, hi := p.box.coordinate(i, p.o.t)
	v := float64(p.h*p.o.beta[i]) + goal - u
	switch {
	case v > p.box.epsilon:
		v -= p.box.epsilon
	case v < -p.box.epsilon:
		v += p.box.epsilon
	default:
		return 0, false
	}
	switch x = v / (p.h + lambda); {
	case x <= lo:
		return lo, false
	case x >= hi:
		return hi, false
	}
	return x, true
}

// gradient finds x, J and the gradient of F.
func (p *proximalPoint) gradient() error {
	p.respond()
	copy(p.g, p.w)
	p.gb = 0
	if p.columns > p.f.d {
		p.gb = p.o.sigma
		for _, x := range p.x {
			p.gb -= x
		}
	}
	return eachBlock(p.f.z, func(first int, rows matrix.Rows) error {
		addRows(rows, p.g, func(r int) float64 { return -p.x[first+r] })
		return nil
	})
}

// scores writes w·zᵢ + b of all rows.
func (p *proximalPoint) scores(to, w []float64, b float64) error {
	return eachBlock(p.f.z, func(first int, rows matrix.Rows) error {
		vec.Parallel(rows.Len(), panel, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				to[first+r] = dotRowWide(rows, r, w) + b
			}
		})
		return nil
	})
}

// search is how far to go along the step, whose slope at 0 is given: to where a tenth of it is left at
// most, and F has become less.
func (p *proximalPoint) search(slope float64) float64 {
	square := vec.Dot64(p.dw, p.dw)
	linear := vec.Dot64(p.w, p.dw) + float64(p.o.sigma*p.db)
	at := func(alpha float64) float64 {
		sum := linear + float64(alpha*square)
		for i, d := range p.du {
			x, _ := p.at(i, p.u[i]+float64(alpha*d))
			sum -= float64(x * d)
		}
		return sum
	}
	// The slope rises with α: low and high have a root between them once it is positive at high.
	low, high, atLow, atHigh := 0.0, 1.0, slope, at(1)
	for range 60 {
		if atHigh >= 0 {
			break
		}
		low, atLow = high, atHigh
		if atLow >= gradual*slope {
			return low
		}
		high *= 2
		atHigh = at(high)
	}
	if atHigh <= -gradual*gradual*slope {
		return high
	}
	// The false position, halving the older end's slope where it stays (Illinois).
	side := 0
	for range 100 {
		alpha := low - atLow*(high-low)/(atHigh-atLow)
		if !(alpha > low && alpha < high) {
			alpha = 0.5 * (low + high)
		}
		switch v := at(alpha); {
		case v <= 0 && v >= gradual*slope || v > 0 && v <= -gradual*gradual*slope:
			return alpha
		case v < 0:
			low, atLow = alpha, v
			if side < 0 {
				atHigh /= 2
			}
			side = -1
		default:
			high, atHigh = alpha, v
			if side > 0 {
				atLow /= 2
			}
			side = 1
		}
	}
	return low
}
