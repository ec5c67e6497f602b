package learn

import (
	"context"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
)

// l1Machine solves one output's problem.
type l1Machine struct {
	z         *columns
	loss      pointLoss
	y, cost   []float64
	intercept bool
	order     *random.Stream

	w, next []float64 // D+1 weights, the intercept last; those of the model's minimum
	g, h    []float64 // D+1: the losses' gradient, the diagonal of their Hessian
	active  []int32   // columns that are still in use
	l1Rows
	l1Outcome
}

// l1Rows has a number for each row.
type l1Rows struct {
	score, move []float64 // Zw and the move's Z(next - w)
	r, curve    []float64 // cᵢℓ′ and cᵢℓ″
	work, trial []float64
	narrow      []float32 // r, or cᵢℓ″ times the move so far, in float32
	narrowCurve []float32 // cᵢℓ″
}

// l1Outcome is what a machine came to.
type l1Outcome struct {
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

// forget drops what is needed only for solving.
func (m *l1Machine) forget() {
	*m = l1Machine{w: m.w, l1Outcome: m.l1Outcome}
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

	// l1Decrease is the share of the predicted decrease that a step has to achieve.
	l1Decrease = 0.01

	// l1Sweeps bounds the sweeps over the columns for one model.
	l1Sweeps = 1000
)

// solve continues until the violation is at most tolerance times share of that at 0; or less, if most of that
// is the intercept's: tolerance times the violation of centred columns at 0, or times 1, the penalty's slope, if that is
// larger (but not below finest).
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
	// The violation at 0, as the reference.
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
			return // rounding: nothing smaller can be reached
		}
		lossNow = next
	}
}

// centred is the sum of the violations at 0 of centred columns, from the gradient there.
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

// penalised reports whether column j is penalised.
func (m *l1Machine) penalised(j int32) bool { return int(j) < m.z.count }

func (m *l1Machine) penalty(w []float64) float64 {
	sum := 0.0
	for _, v := range w[:m.z.count] {
		sum += math.Abs(v)
	}
	return sum
}

// violationOf is how far a column with weight w and gradient g is from optimal; inside is
// how deep in [-1, 1] the gradient is if w is zero and the column optimal.
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

// gradient computes g and h of the active columns for the weights w, drops those that
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

// shrunken is x moved towards 0 by at most by.
func shrunken(x, by float64) float64 {
	return math.Copysign(max(0, math.Abs(x)-by), x)
}

// search moves from w towards next as far as the objective decreases enough, and returns
// the losses there; false if it does not decrease.
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
