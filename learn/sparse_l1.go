package learn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// L1 says how to fit linear classifiers most of whose weights are zero. With y = ±1 and
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
// first, and a line search leads towards its minimum. Columns whose weight is zero and whose
// gradient is well inside [-1, 1] are left out, in the model and outside of it, and looked at
// again before the end. It stops where the sum of the violations of the optimality conditions,
//
//	|gⱼ + sign wⱼ| where wⱼ ≠ 0,   max(0, |gⱼ| - 1) where wⱼ = 0,   |g_b|,
//
// g the losses' gradient, is at most Tolerance times that at w = 0, b = 0, times the share of
// the rows that the smaller side has.
//
// It goes over columns, and therefore copies the features: 4·n·D bytes of dense ones, 8 for each
// value of sparse ones. Each thread takes 68·n bytes more, each output 16·D. Threads divide the
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

	// Start, if not nil, is where to begin, a model for the same outputs.
	Start *Linear

	// Progress, if not nil, is told the number of outputs done and the share that they are.
	Progress func(outputs int, share float64)
}

// L1Report says how a fit went.
type L1Report struct {
	Loss string  `json:"loss"`
	C    float64 `json:"c"`

	// Iterations is the largest number of quadratic models of an output, Sweeps that of
	// goes over the columns within them.
	Iterations int `json:"iterations"`
	Sweeps     int `json:"sweeps"`

	// Violation is the largest violation of an output's optimality conditions, relative to
	// that at 0.
	Violation float64 `json:"violation"`

	// Converged says that every output met its tolerance.
	Converged bool `json:"converged"`

	// NonZero is the number of weights that are not zero, of Weights in all.
	NonZero int `json:"non_zero"`
	Weights int `json:"weights"`

	// Objective has the value of each output's problem.
	Objective []float64 `json:"objective"`

	// Path has the C that were tried on held-out rows, nil if C was given.
	Path []Trial `json:"path,omitempty"`
}

// Lines tells a person how the fit went.
func (r *L1Report) Lines() []string {
	how := "converged"
	if !r.Converged {
		how = "NOT converged (allow more iterations or a larger tolerance)"
	}
	return append([]string{
		fmt.Sprintf("%s loss and L1 penalty, C = %.4g: %s in %d steps, %d sweeps; violation %.2g of that at 0", r.Loss, r.C, how, r.Iterations, r.Sweeps, r.Violation),
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

// l1Machine solves one output's problem.
type l1Machine struct {
	z         *columns
	loss      pointLoss
	y, cost   []float64
	intercept bool
	order     *random.Stream

	w, next     []float64 // D+1 weights, the intercept last; those of the model's minimum
	g, h        []float64 // D+1: the losses' gradient, the diagonal of their Hessian
	score, move []float64 // n: Zw and the move's Z(next - w)
	r, curve    []float64 // n: cᵢℓ′ and cᵢℓ″
	work, trial []float64 // n
	narrow      []float32 // n: r, or cᵢℓ″ times the move so far, in float32
	narrowCurve []float32 // n: cᵢℓ″
	active      []int32   // columns that are not left out

	value      float64 // of the objective
	violation  float64
	iterations int
	sweeps     int
	converged  bool
}

func newL1Machine(z *columns, loss pointLoss, cost []float64, intercept bool) *l1Machine {
	n, d := z.rows, z.count
	m := &l1Machine{z: z, loss: loss, cost: cost, intercept: intercept}
	for _, v := range []*[]float64{&m.w, &m.next, &m.g, &m.h} {
		*v = make([]float64, d+1)
	}
	for _, v := range []*[]float64{&m.y, &m.score, &m.move, &m.r, &m.curve, &m.work, &m.trial} {
		*v = make([]float64, n)
	}
	m.narrow, m.narrowCurve = make([]float32, n), make([]float32, n)
	return m
}

// forget drops what only solving needs.
func (m *l1Machine) forget() {
	*m = l1Machine{w: m.w, value: m.value, violation: m.violation, iterations: m.iterations, sweeps: m.sweeps, converged: m.converged}
}

// start begins at output t of a model.
func (m *l1Machine) start(l *Linear, t int) {
	for j := range m.z.count {
		m.w[j] = float64(l.W.Row(j)[t])
		m.z.axpy(m.w[j], j, m.score)
	}
	if m.intercept {
		m.w[m.z.count] = l.B[t]
		for i := range m.score {
			m.score[i] += l.B[t]
		}
	}
}

const (
	// l1Ridge is added to the model's Hessian, so that its minimum exists.
	l1Ridge = 1e-12

	// l1Decrease is the share of the promised decrease that a step has to bring.
	l1Decrease = 0.01

	// l1Sweeps bounds the sweeps over the columns for one model.
	l1Sweeps = 1000
)

// solve goes on until the violation is at most tolerance times share of that at 0; or less, where most of that
// is the intercept's: tolerance times the violation of centred columns at 0, or times 1, the penalty's slope, if that is
// more (but not below finest).
func (m *l1Machine) solve(ctx context.Context, tolerance, share float64, maxIter int) {
	d := m.z.count
	all := make([]int32, d, d+1)
	for j := range all {
		all[j] = int32(j)
	}
	if m.intercept {
		all = append(all, int32(d))
	}
	m.active = append([]int32(nil), all...)
	// The violation at 0, to measure by.
	m.evaluateAt(m.trial)
	clear(m.g)
	origin := m.gradient(make([]float64, d+1), math.Inf(1))
	if tolerance *= share; m.intercept && origin > 0 {
		tolerance = min(tolerance, max(finest, tolerance/share*max(1, m.centred())/origin))
	}
	lossNow := m.evaluateAt(m.score)
	largest := math.Inf(1) // violation of the last model's columns
	inner := origin
	for {
		full := len(m.active) == len(all)
		total := m.gradient(m.w, largest)
		m.value = lossNow + m.penalty(m.w)
		m.violation = ratio(total, origin)
		if m.violation <= tolerance && full {
			m.converged = true
			return
		}
		if m.violation <= tolerance {
			m.active, largest = append(m.active[:0], all...), math.Inf(1)
			continue
		}
		if m.iterations >= maxIter || ctx.Err() != nil {
			return
		}
		largest = m.largestViolation()
		sweeps := m.minimiseModel(ctx, inner)
		m.sweeps += sweeps
		if sweeps == 1 {
			inner /= 4
		}
		next, ok := m.search(lossNow)
		m.iterations++
		if !ok {
			return // rounding: nothing smaller is to be found
		}
		lossNow = next
	}
}

// centred is the sum of the violations at 0 of columns less their means, from the gradient there.
func (m *l1Machine) centred() float64 {
	cost, total := make([]float32, m.z.rows), 0.0
	for i, c := range m.cost {
		cost[i] = float32(c)
		total += c
	}
	d := m.z.count
	own := make([]float64, d)
	vec.Parallel(d, 64, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			own[j] = max(0, math.Abs(m.g[j]-m.g[d]/total*m.z.dot(j, cost))-1)
		}
	})
	return addUp(own)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// evaluateAt computes the losses at some scores, r and the curvatures there.
func (m *l1Machine) evaluateAt(score []float64) float64 {
	copy(m.r, score)
	loss := m.loss(m.r, m.y, m.cost, m.curve, m.work)
	for i, v := range m.r {
		m.narrow[i], m.narrowCurve[i] = float32(v), float32(m.curve[i])
	}
	return loss
}

// penalised says whether column j is.
func (m *l1Machine) penalised(j int32) bool { return int(j) < m.z.count }

func (m *l1Machine) penalty(w []float64) float64 {
	sum := 0.0
	for _, v := range w[:m.z.count] {
		sum += math.Abs(v)
	}
	return sum
}

// violationOf is how far a column with weight w and gradient g is from optimal; inside is how
// deep in [-1, 1] the gradient is, where w is zero and the column optimal.
func (m *l1Machine) violationOf(j int32, w, g float64) (violation, inside float64) {
	switch {
	case !m.penalised(j):
		return math.Abs(g), 0
	case w > 0:
		return math.Abs(g + 1), 0
	case w < 0:
		return math.Abs(g - 1), 0
	}
	return max(0, math.Abs(g)-1), max(0, 1-math.Abs(g))
}

// gradient computes g and h of the active columns for the weights w, leaves out those that
// are far inside, given the last largest violation, and returns the sum of the violations.
func (m *l1Machine) gradient(w []float64, largest float64) float64 {
	vec.Parallel(len(m.active), 64, func(lo, hi int) {
		var work []float32
		if m.z.ptr == nil {
			work = make([]float32, m.z.rows)
		}
		for _, j := range m.active[lo:hi] {
			m.g[j] = m.z.dot(int(j), m.narrow)
			m.h[j] = m.z.squares(int(j), m.narrowCurve, work) + l1Ridge
		}
	})
	total, kept := 0.0, 0
	for _, j := range m.active {
		v, inside := m.violationOf(j, w[j], m.g[j])
		total += v
		if inside > largest/float64(m.z.rows) {
			continue
		}
		m.active[kept] = j
		kept++
	}
	m.active = m.active[:kept]
	return total
}

func (m *l1Machine) largestViolation() float64 {
	largest := 0.0
	for _, j := range m.active {
		v, _ := m.violationOf(j, m.w[j], m.g[j])
		largest = max(largest, v)
	}
	return largest
}

// minimiseModel minimises g·(x - w) + ½(x - w)ᵀH(x - w) + ‖x‖₁ over x = next by coordinate
// descent, until the violations add up to at most tolerance, and returns the sweeps made.
func (m *l1Machine) minimiseModel(ctx context.Context, tolerance float64) int {
	copy(m.next, m.w)
	hv := m.narrow // curvature times the move
	clear(hv)
	columns := append([]int32(nil), m.active...)
	left := len(columns)
	largest := math.Inf(1)
	for sweep := 1; ; sweep++ {
		total, most := 0.0, 0.0
		for a := left - 1; a > 0; a-- {
			b := m.order.Intn(a + 1)
			columns[a], columns[b] = columns[b], columns[a]
		}
		for s := 0; s < left; s++ {
			j := columns[s]
			w := m.next[j]
			g := m.g[j] + m.z.dot(int(j), hv) + l1Ridge*(w-m.w[j])
			v, inside := m.violationOf(j, w, g)
			if inside > largest/float64(m.z.rows) {
				left--
				columns[s], columns[left] = columns[left], columns[s]
				s--
				continue
			}
			total += v
			most = max(most, v)
			step := -g / m.h[j]
			if m.penalised(j) {
				step = shrunken(w+step, 1/m.h[j]) - w
			}
			if math.Abs(step) < 1e-12 {
				continue
			}
			step = min(max(step, -10), 10)
			m.next[j] = w + step
			m.z.axpyScaled(float32(step), int(j), m.narrowCurve, hv)
		}
		if sweep >= l1Sweeps || ctx.Err() != nil {
			return sweep
		}
		if total > tolerance {
			largest = most
			continue
		}
		if left == len(columns) {
			return sweep
		}
		left, largest = len(columns), math.Inf(1)
	}
}

// shrunken is x moved by at most by towards 0.
func shrunken(x, by float64) float64 {
	return math.Copysign(max(0, math.Abs(x)-by), x)
}

// search goes from w towards next as far as the objective decreases enough, and returns the
// losses there; false where it does not decrease.
func (m *l1Machine) search(lossNow float64) (float64, bool) {
	clear(m.move)
	promised := m.penalty(m.next) - m.penalty(m.w)
	for _, j := range m.active {
		if delta := m.next[j] - m.w[j]; delta != 0 {
			m.z.axpy(delta, int(j), m.move)
			promised += float64(m.g[j] * delta)
		}
	}
	before := lossNow + m.penalty(m.w)
	for alpha := 1.0; alpha > 1e-9; alpha /= 2 {
		for i, v := range m.move {
			m.trial[i] = m.score[i] + float64(alpha*v)
		}
		loss := m.evaluateAt(m.trial)
		penalty := 0.0
		for j, w := range m.w[:m.z.count] {
			penalty += math.Abs(w + float64(alpha*(m.next[j]-w)))
		}
		if loss+penalty-before <= l1Decrease*alpha*promised {
			for j, w := range m.w {
				if alpha == 1 {
					m.w[j] = m.next[j]
				} else {
					m.w[j] = w + float64(alpha*(m.next[j]-w))
				}
			}
			copy(m.score, m.trial)
			return loss, true
		}
	}
	return lossNow, false
}
