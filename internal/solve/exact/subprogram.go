package exact

import "math"

// subprogram is a program in few variables, whose part of the Gram matrix is in k. The first
// variables are one group, the later ones another; pairs are within a group.
type subprogram struct {
	q     int
	first int       // variables of the first group
	k     []float32 // q×q
	diag  []float64
	v     []float64
	alpha []float64
	bound []float64
	sign  []float64

	// 0 for variables in up (low), otherwise a value that keeps them from being the largest (smallest).
	notUp, notLow []float64
}

func (p *subprogram) reset(q int) {
	p.q, p.first = q, 0
	if cap(p.k) < q*q {
		p.k = make([]float32, q*q)
	}
	p.k = p.k[:q*q]
	for _, a := range []*[]float64{&p.diag, &p.v, &p.alpha, &p.bound, &p.sign, &p.notUp, &p.notLow} {
		if cap(*a) < q {
			*a = make([]float64, q)
		}
		*a = (*a)[:q]
	}
}

// status records whether variable k is in up and in low.
func (p *subprogram) status(k int) {
	up, low := p.alpha[k] < p.bound[k], p.alpha[k] > 0
	if p.sign[k] < 0 {
		up, low = low, up
	}
	p.notUp[k], p.notLow[k] = math.Inf(-1), math.Inf(1)
	if up {
		p.notUp[k] = 0
	}
	if low {
		p.notLow[k] = 0
	}
}

// leastCurvature replaces ‖φ(x_i) - φ(x_j)‖² if that is 0 or, because of rounding or an indefinite
// kernel, negative.
const leastCurvature = 1e-12

// solve takes pairs until no violation is above the tolerance, and returns how many.
func (p *subprogram) solve(tolerance float64) int {
	most := 100 * p.q // leaves a program without progress to the next working set
	for step := range most {
		i, j := p.pair(0, p.first, tolerance)
		if p.first < p.q {
			i2, j2 := p.pair(p.first, p.q, tolerance)
			if i < 0 || i2 >= 0 && p.gain(i2, j2) > p.gain(i, j) {
				i, j = i2, j2
			}
		}
		if i < 0 {
			return step
		}
		p.move(i, j)
	}
	return most
}

// pair chooses i with the largest v of up, and j with the largest decrease of the objective,
// ignoring bounds, among those of low that violate the conditions with i. i is -1 if the
// violation is not above the tolerance.
func (p *subprogram) pair(lo, hi int, tolerance float64) (i, j int) {
	v, notUp, notLow := p.v[lo:hi], p.notUp[lo:hi], p.notLow[lo:hi]
	notUp, notLow = notUp[:len(v)], notLow[:len(v)]
	i, j = -1, -1
	top := math.Inf(-1)
	for k, x := range v {
		if x += notUp[k]; x > top {
			top, i = x, k
		}
	}
	if i < 0 {
		return -1, -1
	}
	row, diag := p.k[(lo+i)*p.q+lo:][:len(v)], p.diag[lo:hi][:len(v)]
	self := p.diag[lo+i]
	bottom, best := math.Inf(1), 0.0
	for k, x := range v {
		x += notLow[k]
		bottom = min(bottom, x)
		d := top - x
		if d <= 0 {
			continue
		}
		if gain := d * d / max(self+diag[k]-2*float64(row[k]), leastCurvature); gain > best {
			best, j = gain, k
		}
	}
	if j < 0 || top-bottom <= tolerance {
		return -1, -1
	}
	return lo + i, lo + j
}

// gain is twice the decrease of the objective for a pair, ignoring bounds.
func (p *subprogram) gain(i, j int) float64 {
	d := p.v[i] - p.v[j]
	return d * d / p.curvature(i, j)
}

func (p *subprogram) curvature(i, j int) float64 {
	return max(p.diag[i]+p.diag[j]-2*float64(p.k[i*p.q+j]), leastCurvature)
}

// move increases s_i α_i and decreases s_j α_j by the optimal amount, as far as
// bounds allow.
func (p *subprogram) move(i, j int) {
	delta := (p.v[i] - p.v[j]) / p.curvature(i, j)
	roomI, roomJ := p.bound[i]-p.alpha[i], p.alpha[j]
	if p.sign[i] < 0 {
		roomI = p.alpha[i]
	}
	if p.sign[j] < 0 {
		roomJ = p.bound[j] - p.alpha[j]
	}
	delta = min(delta, roomI, roomJ)
	p.shift(i, delta, delta == roomI)
	p.shift(j, -delta, delta == roomJ)
	rowI, rowJ := p.k[i*p.q:][:p.q], p.k[j*p.q:][:p.q]
	v := p.v[:len(rowI)]
	rowJ = rowJ[:len(rowI)]
	for k, a := range rowI {
		v[k] -= float64(delta * (float64(a) - float64(rowJ[k])))
	}
}

// shift adds delta to s_k α_k; toBound means that this reaches the bound.
func (p *subprogram) shift(k int, delta float64, toBound bool) {
	delta *= p.sign[k]
	p.alpha[k] = min(max(p.alpha[k]+delta, 0), p.bound[k])
	if toBound {
		p.alpha[k] = 0
		if delta > 0 {
			p.alpha[k] = p.bound[k]
		}
	}
	p.status(k)
}
