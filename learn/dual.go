package learn

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/vec"
	"mercer/matrix"
)

// dual solves the duals of L2-regularised linear models by coordinate descent. Each of the K
// outputs (a class against the rest, a target) is a problem of its own,
//
//	primal  min over w, b of ½‖w‖² + Σ ℓᵢ(w·zᵢ + b)
//	dual    min over β of ½‖w‖² + Σ φᵢ(βᵢ),   w = Σ βᵢzᵢ,   s = Σ βᵢ - σ = 0,
//
// φᵢ(β) = sup over u of -uβ - ℓᵢ(u) being ℓᵢ's conjugate at -β, which also bounds βᵢ. A pass
// minimises over one βᵢ at a time, rows in random order, with w kept up to date (Hsieh et al.
// 2008). The constraint s = 0 is there because the intercept b is not penalised (σ is 0 but
// for the one-class machine). It is met by the method of multipliers, whose multiplier is b
// itself: b·s + ½ρs² is added to the dual, so that the score of row i is
//
//	uᵢ = w·zᵢ + b + ρs,
//
// and from time to time b ← b + ρs. That is a penalty on the intercept's distance from its
// last value instead of from 0, and it vanishes as s does. Where C is so small that w hardly
// differs from 0, b would take as good as no steps: ρ grows where s does not come down. Without intercept ρ = b = 0.
//
// The duality gap is Σ ℓᵢ(uᵢ) + φᵢ(βᵢ) + uᵢβᵢ, a sum of terms none of which is negative
// (Fenchel and Young), plus what it costs to bring s to 0 (repairs, below).
//
// Pairs of row and output at a bound, whose gradient says that they will stay there, are set
// aside (shrinking). Once the pairs at work look solved, all rows are looked at with w held
// still: that measures the gap and the violation exactly, brings back what was set aside
// wrongly, and says whether the output is done.
//
// Outputs advance together: a row is read once for all. Threads divide the outputs, so the
// result does not depend on their number. Rows that are not resident are picked in random
// order too, or, where they come in blocks only, blocks are gone through in random order, each
// several times while it is at hand (block minimisation: Yu, Hsieh, Chang, Lin 2010). That
// takes many more passes where a block alone determines w: two blocks then differ in what they
// add to w, and agree only slowly.
//
// Memory: 9·n·K bytes for β and what is set aside, 4·n for norms, 8·n for the order, 4·D·K
// for w.
type dual struct {
	z    Features
	n, d int
	rho  float64 // to begin with
	size float64 // the rows' mean squared norm, 0 without intercept

	// rows says which count. It is the losses of outputs that are problems of their own, or
	// the Crammer-Singer machine, whose outputs are one problem.
	rows    counter
	loss    dualLoss
	coupled *crammerSinger

	seed uint64

	// floor is an objective so small that it counts as 0, where a relative gap says nothing.
	floor float64

	// tolerance bounds the violations; at 0, gapTarget bounds the relative gap instead.
	tolerance float64
	maxPasses int
	progress  func(passes int, share float64)

	// ends says that Newton's steps end what coordinate descent has not (proximalPoint).
	ends bool

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
	last  float64 // s when it last came down
	moves int     // of b since
	aside []bool  // n

	// limit is how far from moving a pair at a bound has to be to be set aside: the largest
	// violation of the last pass.
	limit float64

	// worst and gap are the largest violation and the sum of gap terms that the last pass
	// met, or the last check, and value is the dual objective.
	worst, gap, value float64

	// repair is what it costs at most to bring s to 0: a guess after a pass; a bound after a check, which
	// also says whether no β can move to where s is 0.
	repair float64
	stuck  bool

	repairs
	done bool
}

// shift is b + ρs, what is added to all scores.
func (o *output) shift() float64 { return o.b + o.rho*o.s }

// repairs gather over the rows what it costs at most to bring s to 0: how much more the dual
// objective -b·s is then.
type repairs struct {
	single float64 // by moving one βᵢ to βᵢ - s, the cheapest that stays within its bounds

	// By shrinking all β of the sign of s in the same proportion, to 1 - |s|/Σ|β|: Σ|β|, and
	// Σ φ(0) - φ(β) - βu and Σ|β|‖z‖², of which the cost is made.
	sum, cost, curve float64
}

// add is for row i, of the score u and φᵢ(βᵢ) = conjugate.
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

// dualLoss is the losses of all rows: what a coordinate step has to know.
type dualLoss interface {
	// step minimises ½h(x-β)² + u(x-β) + φᵢ(x) over x for output t. violation is how far the
	// subgradient at β is from 0, slack how far a β at a bound or kink is from moving (0
	// where it is not at one).
	step(i, t int, beta, u, h float64) (x, violation, slack float64)

	// terms are ℓᵢ(u) and φᵢ(β).
	terms(i, t int, beta, u float64) (loss, conjugate float64)

	// allows says whether β is within its bounds, where φᵢ(β) is finite.
	allows(i, t int, beta float64) bool

	counter
}

// counter says which rows count.
type counter interface {
	// counts says whether row i counts at all.
	counts(i int) bool

	// scale is the violation of a typical row at w = 0, which the tolerance is relative to.
	scale() float64
}

const (
	// gapTarget is the relative duality gap that is good enough if no tolerance is asked for.
	gapTarget = 1e-3

	// blockPasses is how many passes a block of features that are not resident gets while it
	// is at hand.
	blockPasses = 3

	// pickRows is how many picked rows are at hand at a time.
	pickRows = 256

	// DualPasses bounds the passes if MaxIter does not.
	DualPasses = 1000

	// checkEarly is by how much a pass sees the gap too large at least, which falls all the
	// while: it takes each term before its step.
	checkEarly = 3

	// checkEvery is how many passes go by at most between two checks where a tolerance is asked for: w
	// has gathered rounding from every step, and an output that looks solved may wait for others.
	checkEvery = 20

	// penalty is ρ in units of the rows' mean squared norm. A large ρ makes one long valley of
	// all β, a small one leaves s far from 0 for long: on MNIST and seven other sets of data 1
	// takes 1.2 to 1.6 times as many passes, on MNIST 0.03 takes 1.7 times as many.
	penalty = 0.3

	// normRows is how many rows' norms are worth another thread.
	normRows = 1024

	// looseIntercept is the share of the tolerance that ρs may have.
	looseIntercept = 0.1

	// ρ grows by growth where s has not come below lingering of what it was for as many moves of b as
	// patience.
	growth, lingering, patience = 10, 0.9, 3

	// noSum is a share of Σ|β| that s may be by rounding.
	noSum = 1e-9
)

// newDual makes the state for k outputs. intercept says whether b is free.
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

// eachBlock calls visit on all rows: at once where they are resident, else block by block.
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

// solve goes on until every output is done, and says whether that was within maxPasses.
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

// guess is what it costs to bring s to 0 if there is a βᵢ at no bound: its violation, and the
// curvature.
func (f *dual) guess(o *output) float64 {
	return math.Abs(o.s) * (o.worst + f.size*math.Abs(o.s))
}

// moveIntercepts takes ρs into b where the gradients are no larger than that. Coupled outputs have one
// ρ, and go on together.
func (f *dual) moveIntercepts(work []*output) {
	lingers := 0
	for _, o := range work {
		if step := o.rho * o.s; o.done || f.meets(o) || math.Abs(step) < o.worst {
			continue
		}
		// All gradients are others now.
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

// finish marks the outputs that are done. Coupled ones are done together.
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

// near says whether what the last pass met of an output is worth a check.
func (f *dual) near(o *output) bool {
	if f.tolerance == 0 {
		return f.gapOf(o) <= checkEarly*gapTarget
	}
	return f.meets(o)
}

// meets says whether what the last pass or check met of an output is good enough.
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
		return 1 // that of β = 0, which always is one of those allowed
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
		o.b += (o.rho - f.rho) * o.s // another C may do with less
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

// rescale brings β from one C to another: within the bounds of a smaller one, and with what was
// at an upper bound at the bound of a larger one.
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

// atBound says whether β of row i is at a bound other than 0 that grows with C.
func (f *dual) atBound(i, t int, beta float64) bool {
	b, ok := f.loss.(*boxed)
	return ok && !b.squared && beta != 0 && math.Abs(beta) == b.cost(i, t)
}
