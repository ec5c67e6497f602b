package learn

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// dual solves the duals of L2-regularised linear models by coordinate descent. Each of the K
// outputs (a class against the rest, a target) is a separate problem,
//
//	primal  min over w, b of ½‖w‖² + Σ ℓᵢ(w·zᵢ + b)
//	dual    min over β of ½‖w‖² + Σ φᵢ(βᵢ),   w = Σ βᵢzᵢ,   s = Σ βᵢ - σ = 0,
//
// φᵢ(β) = sup over u of -uβ - ℓᵢ(u) being ℓᵢ's conjugate at -β, which also bounds βᵢ. A pass
// minimises over one βᵢ at a time, rows in random order, with w kept up to date (Hsieh et al.
// 2008). The constraint s = 0 exists because the intercept b is not penalised (σ is 0 except
// for the one-class machine). It is satisfied by the method of multipliers, whose multiplier
// is b itself: b·s + ½ρs² is added to the dual, so that the score of row i is
//
//	uᵢ = w·zᵢ + b + ρs,
//
// and from time to time b ← b + ρs. That penalises the intercept's distance from
// its last value instead of from 0, and the penalty vanishes with s. If C is so small that
// w hardly differs from 0, b would hardly move, so ρ grows if s does not fall. Without an intercept ρ = b = 0.
//
// The duality gap is Σ ℓᵢ(uᵢ) + φᵢ(βᵢ) + uᵢβᵢ, a sum of nonnegative terms
// (Fenchel and Young), plus the cost of bringing s to 0 (repairs, below).
//
// Pairs of row and output at a bound, whose gradient shows that they will stay there, are
// set aside (shrinking). Once the active pairs look solved, all rows are checked with w
// fixed: that measures the gap and the violation exactly, restores pairs that were set aside
// wrongly, and decides whether the output is done.
//
// Outputs advance together: a row is read once for all. Threads divide the outputs, so the
// result does not depend on their number. Rows that are not resident are also read in
// random order, or, if they come only in blocks, blocks are visited in random order, each
// several times while it is in memory (block minimisation: Yu, Hsieh, Chang, Lin 2010).
// That takes many more passes if a block alone determines w, because the blocks' contributions
// to w then agree only slowly.
//
// Memory: 9·n·K bytes for β and the shrinking flags, 4·n for norms, 8·n for the order,
// 4·D·K for w.
type dual struct {
	z    Features
	n, d int
	rho  float64 // to begin with
	size float64 // the rows' mean squared norm, 0 without intercept

	// rows reports which rows count. It is the losses of outputs that are separate problems,
	// or the Crammer-Singer machine, whose outputs are one problem.
	rows    counter
	loss    dualLoss
	coupled *crammerSinger

	seed uint64

	dualEnd
	progress func(passes int, share float64)

	norm   []float32 // n: ‖zᵢ‖²
	out    []*output
	passes int
	steps  int // of Newton
}

// output is the state of one output.
type output struct {
	t     int
	beta  []float64 // n
	w     []float32 // D
	b, s  float64   // s is Σβ - σ
	rho   float64
	sigma float64
	last  float64 // s when it last fell
	moves int     // of b since
	aside []bool  // n

	// limit is how far from moving a pair at a bound must be in order to be set aside: the
	// largest violation of the last pass.
	limit float64

	checked
	repairs
	done bool
}

// dualEnd says when a dual solver ends.
type dualEnd struct {
	// floor is an objective so small that it counts as 0, for which a relative gap is meaningless.
	floor float64

	// tolerance bounds the violations; at 0, gapTarget bounds the relative gap instead.
	tolerance float64
	maxPasses int

	// ends says that Newton's steps end what coordinate descent has not (proximalPoint).
	ends bool
}

// checked is how far an output is from the minimum.
type checked struct {
	// worst and gap are the largest violation and the sum of gap terms found by
	// the last pass or check, and value is the dual objective.
	worst, gap, value float64

	// repair is the cost of bringing s to 0: an estimate after a pass; an upper bound after a check,
	// which also finds whether no β can move to s = 0.
	repair float64
	stuck  bool
}

// shift is b + ρs, which is added to all scores.
func (o *output) shift() float64 { return o.b + o.rho*o.s }

// repairs accumulate over the rows an upper bound on the cost of bringing s to 0: the increase
// of the dual objective -b·s.
type repairs struct {
	single float64 // by moving one βᵢ to βᵢ - s, the cheapest that stays within its bounds

	// By shrinking all β with the sign of s in the same proportion, to 1 - |s|/Σ|β|: Σ|β|,
	// and the terms of the cost, Σ φ(0) - φ(β) - βu and Σ|β|‖z‖².
	sum, cost, curve float64
}

// add is for row i with score u and φᵢ(βᵢ) = conjugate.
func (r *repairs) add(f *dual, o *output, i int, u, conjugate float64) {
	beta, norm := o.beta[i], float64(f.norm[i])
	if to := beta - o.s; f.loss.allows(i, o.t, to) {
		_, moved := f.loss.terms(i, o.t, to, u)
		r.single = min(r.single, moved-conjugate-o.s*u+0.5*o.s*o.s*norm)
	}
	if beta*o.s > 0 {
		_, zero := f.loss.terms(i, o.t, 0, u)
		r.sum += math.Abs(beta)
		r.cost += zero - conjugate - beta*u
		r.curve += math.Abs(beta) * norm
	}
}

// least is the cheaper way. φ((1-t)β) ≤ (1-t)φ(β) + tφ(0), and ‖Σβz‖² ≤ Σ|β|·Σ|β|‖z‖².
func (r *repairs) least(s float64) float64 {
	all := math.Inf(1)
	if share := math.Abs(s) / r.sum; share <= 1 {
		all = share*r.cost + 0.5*s*s*r.curve/r.sum
	}
	return max(0, min(r.single, all))
}

// dualLoss is the losses of all rows, as needed by a coordinate step.
type dualLoss interface {
	// step minimises ½h(x-β)² + u(x-β) + φᵢ(x) over x for output t. violation is how far the
	// subgradient at β is from 0, slack how far a β at a bound or kink is from moving (0
	// where it is not at one).
	step(i, t int, beta, u, h float64) (x, violation, slack float64)

	// terms are ℓᵢ(u) and φᵢ(β).
	terms(i, t int, beta, u float64) (loss, conjugate float64)

	// allows reports whether β is within its bounds, where φᵢ(β) is finite.
	allows(i, t int, beta float64) bool

	counter
}

// counter determines which rows count.
type counter interface {
	// counts reports whether row i counts at all.
	counts(i int) bool

	// scale is the violation of a typical row at w = 0, which the tolerance is relative to.
	scale() float64
}

const (
	// gapTarget is the relative duality gap to reach if no tolerance is given.
	gapTarget = 1e-3

	// blockPasses is how many passes a block of features that are not resident gets while
	// it is in memory.
	blockPasses = 3

	// pickRows is how many picked rows are in memory at a time.
	pickRows = 256

	// DualPasses bounds the passes if MaxIter does not.
	DualPasses = 1000

	// checkEarly is the factor by which a pass overestimates the gap at least, because it takes
	// each term before its step while the gap falls.
	checkEarly = 3

	// checkEvery is the largest number of passes between two checks if a tolerance is given:
	// w accumulates rounding from every step, and a solved output should not wait for others.
	checkEvery = 20

	// penalty is ρ in units of the rows' mean squared norm. A large ρ couples all β in one
	// long valley, a small one keeps s away from 0 for long: on MNIST and seven other data sets 1
	// takes 1.2 to 1.6 times as many passes, and on MNIST 0.03 takes 1.7 times as many.
	penalty = 0.3

	// normRows is the number of rows for which another thread is worthwhile to compute norms.
	normRows = 1024

	// looseIntercept is the share of the tolerance that ρs may have.
	looseIntercept = 0.1

	// ρ grows by the factor growth if s has not fallen below the share lingering within patience
	// moves of b.
	growth, lingering, patience = 10, 0.9, 3

	// noSum is the size of s, relative to Σ|β|, that counts as rounding.
	noSum = 1e-9
)

// newDual makes the state for k outputs. intercept means that b is free.
func newDual(z Features, k int, losses counter, intercept bool) (*dual, error) {
	f := &dual{z: z, n: z.Len(), d: z.Dim(), rows: losses}
	f.loss, _ = losses.(dualLoss)
	f.coupled, _ = losses.(*crammerSinger)
	f.norm = make([]float32, f.n)
	sum, counted := 0.0, 0
	err := eachBlock(z, func(first int, rows matrix.Rows) error {
		norms := make([]float64, rows.Len())
		vec.Parallel(len(norms), normRows, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				norms[i] = squaredNorm(rows, i)
			}
		})
		for i, v := range norms {
			if math.IsNaN(v) || v > math.MaxFloat32 {
				return fmt.Errorf("features of row %d: their squared norm is %g, and finite numbers are wanted; scale the data", first+i, v)
			}
			f.norm[first+i] = float32(v)
			if losses.counts(first + i) {
				sum += v
				counted++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if intercept {
		f.size = 1
		if sum > 0 {
			f.size = sum / float64(counted)
		}
		f.rho = penalty * f.size
	}
	for t := range k {
		f.out = append(f.out, &output{
			t: t, beta: make([]float64, f.n), w: make([]float32, f.d), aside: make([]bool, f.n), limit: math.Inf(1), rho: f.rho,
		})
	}
	return f, nil
}

// squaredNorm is ‖zᵢ‖².
func squaredNorm(z matrix.Rows, i int) float64 {
	if z.Dense != nil {
		row := z.Dense.Row(i)
		return vec.DotWide(row, row)
	}
	_, val := z.CSR.Row(i)
	return vec.DotWide(val, val)
}

// eachBlock calls visit on all rows: at once if they are resident, otherwise block by block.
func eachBlock(z Features, visit func(first int, rows matrix.Rows) error) error {
	return inBlocks(z, nil, visit)
}

// inBlocks is eachBlock in a given order of the blocks.
func inBlocks(z Features, order []int, visit func(first int, rows matrix.Rows) error) error {
	n, size := z.Len(), BlockRows
	if z.Resident() {
		size = max(n, 1)
	}
	for k := range (n + size - 1) / size {
		if order != nil {
			k = order[k]
		}
		rows, err := z.Block(k*size, min((k+1)*size, n))
		if err != nil {
			return err
		}
		if err := visit(k*size, rows); err != nil {
			return err
		}
	}
	return nil
}

// working are the outputs that are not done.
func (f *dual) working() []*output {
	var w []*output
	for _, o := range f.out {
		if !o.done {
			w = append(w, o)
		}
	}
	return w
}

// solve continues until every output is done, and reports whether that was within maxPasses.
func (f *dual) solve(ctx context.Context) (bool, error) {
	if f.maxPasses == 0 {
		f.maxPasses = DualPasses
	}
	for end := f.passes + f.maxPasses; f.passes < end; {
		work := f.working()
		if len(work) == 0 {
			return true, nil
		}
		if err := f.pass(ctx, work); err != nil {
			return false, err
		}
		f.passes++
		near := 0
		for _, o := range work {
			o.repair, o.stuck = f.guess(o), false
			if f.near(o) {
				near++
			}
			o.limit = o.worst
			if o.limit == 0 {
				o.limit = math.Inf(1)
			}
		}
		if 2*near > len(work) || f.passes == end || f.tolerance > 0 && f.passes%checkEvery == 0 {
			if err := f.check(ctx, work); err != nil {
				return false, err
			}
		}
		f.moveIntercepts(work)
		if f.progress != nil {
			f.progress(f.passes, 1-float64(len(f.working()))/float64(len(f.out)))
		}
	}
	return len(f.working()) == 0, nil
}

// guess is the cost of bringing s to 0 by a βᵢ that is not at a bound: its violation, and
// the curvature.
func (f *dual) guess(o *output) float64 {
	return math.Abs(o.s) * (o.worst + f.size*math.Abs(o.s))
}

// moveIntercepts adds ρs to b if the gradients are no larger than that. Coupled outputs share
// one ρ, and move together.
func (f *dual) moveIntercepts(work []*output) {
	lingers := 0
	for _, o := range work {
		if step := o.rho * o.s; o.done || f.meets(o) || math.Abs(step) < o.worst {
			continue
		}
		// All gradients have changed.
		o.b += o.rho * o.s
		clear(o.aside)
		if o.moves++; o.s*o.last <= 0 || math.Abs(o.s) < lingering*math.Abs(o.last) {
			o.last, o.moves = o.s, 0
		}
		if o.moves < patience {
			continue
		}
		if lingers++; f.coupled == nil {
			o.rho, o.last = growth*o.rho, 0
		}
	}
	if f.coupled != nil && lingers > 0 {
		for _, o := range f.out {
			o.b -= (growth - 1) * o.rho * o.s
			o.rho, o.last = growth*o.rho, 0
		}
	}
}

// finish marks the outputs that are done. Coupled ones finish together.
func (f *dual) finish(work []*output) {
	left := 0
	for _, o := range work {
		o.done = f.meets(o)
		if !o.done {
			left++
		}
	}
	if f.coupled != nil && left > 0 {
		for _, o := range work {
			o.done = false
		}
	}
}

// near reports whether the last pass found an output close enough to the optimum for a check.
func (f *dual) near(o *output) bool {
	if f.tolerance == 0 {
		return f.gapOf(o) <= checkEarly*gapTarget
	}
	return f.meets(o)
}

// meets reports whether the last pass or check found an output good enough.
func (f *dual) meets(o *output) bool {
	if f.tolerance == 0 {
		return f.gapOf(o) <= gapTarget
	}
	limit := f.tolerance * f.rows.scale()
	return o.worst <= limit && o.rho*math.Abs(o.s) <= looseIntercept*limit && !o.stuck
}

// gapOf is the duality gap relative to the objective.
func (f *dual) gapOf(o *output) float64 {
	gap := o.gap
	if f.rho > 0 {
		gap += o.repair
	}
	switch {
	case gap <= 0:
		return 0
	case math.IsInf(gap, 1):
		return 1 // that of β = 0, which is always allowed
	}
	return gap / max(math.Abs(o.value), math.Abs(o.value+gap), f.floor)
}

// gap is the largest relative duality gap of an output.
func (f *dual) gap() float64 {
	worst := 0.0
	for _, o := range f.out {
		worst = max(worst, f.gapOf(o))
	}
	return worst
}

// fit solves and reports. warm says that β is not 0 to begin with.
func (f *dual) fit(ctx context.Context, warm bool) (*Linear, *DualReport, error) {
	for _, o := range f.out {
		o.done, o.limit = false, math.Inf(1)
		clear(o.aside)
		o.b += (o.rho - f.rho) * o.s // another C may need less
		o.rho, o.last, o.moves = f.rho, 0, 0
	}
	if warm {
		if err := f.refresh(f.out); err != nil {
			return nil, nil, err
		}
	}
	converged, err := f.solve(ctx)
	if err != nil {
		return nil, nil, err
	}
	f.steps = 0
	if f.ends && f.newtonable() {
		if err := f.newton(ctx, f.working()); err != nil {
			return nil, nil, err
		}
		converged = len(f.working()) == 0
	}
	report := &DualReport{Passes: f.passes, Newton: f.steps, Converged: converged, Gap: f.gap()}
	for t, o := range f.out {
		if f.coupled == nil || t == 0 {
			report.Objective += o.value + o.gap
			report.Dual += o.value
		}
		report.Violation = max(report.Violation, o.worst)
	}
	return f.linear(), report, nil
}

// rescale moves β from one C to another: within the bounds of a smaller one, and
// from an upper bound to that of a larger one.
func (f *dual) rescale(from, to float64) {
	share := to / from
	for _, o := range f.out {
		for i, beta := range o.beta {
			if share < 1 || f.atBound(i, o.t, beta) {
				o.beta[i] = share * beta
			}
		}
	}
}

// atBound reports whether β of row i is at a bound other than 0 that grows with C.
func (f *dual) atBound(i, t int, beta float64) bool {
	b, ok := f.loss.(*boxed)
	return ok && !b.squared && beta != 0 && math.Abs(beta) == b.cost(i, t)
}
