package learn

import (
	"context"
	"math"
	"slices"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// crammerSinger is the machine of Crammer and Singer for all classes at once,
//
//	min over w, b of ½Σₘ‖wₘ‖² + Σ cᵢ maxₘ(eᵢᵐ + uᵢᵐ - uᵢʸ),   eᵢᵐ = 1 but 0 for the class y of row i,
//
// with uᵢᵐ = wₘ·zᵢ + bₘ. Its dual is
//
//	min over β of ½Σₘ‖wₘ‖² + Σ eᵢᵐβᵢᵐ,   wₘ = Σ βᵢᵐzᵢ,
//	with Σₘ βᵢᵐ = 0,   βᵢᵐ ≤ cᵢ for m = y and 0 else.
//
// A step minimises over all βᵢᵐ of a row (Keerthi et al. 2008). With the gradient
// Gₘ = uᵢᵐ + eᵢᵐ, the upper bounds Cₘ, h = ‖zᵢ‖² (+ρ) and Dₘ = Gₘ - hβᵢᵐ + hCₘ it gives
//
//	βᵢᵐ = Cₘ - max(0, Dₘ - ν)/h,   where ν solves Σₘ max(0, Dₘ - ν) = h·cᵢ.
//
// A row is optimal if all Gₘ with βᵢᵐ < Cₘ are as large as the largest.
//
// What a pass or a check records for all classes is in the first output, and so are the
// rows that are shrunk.
type crammerSinger struct {
	*goals

	// of a row: G, D, a copy of D for sorting, and the new β
	g, d, sorted, next []float64

	// of a check
	flows flows
}

// flows are sums over the rows of each class a and the wrong classes b, K×K: β of a row is a
// flow from its own class, where it is positive, to each of the others.
type flows struct {
	k                 int
	sum, cost, square []float64 // Σ|βᵇ|, Σ|βᵇ|(Gᵇ - Gᵃ), Σ|βᵇ|‖z‖²
}

func newFlows(k int) flows {
	return flows{k: k, sum: make([]float64, k*k), cost: make([]float64, k*k), square: make([]float64, k*k)}
}

// repair is an upper bound on the cost of bringing s to 0 in all classes. The flow out of a class
// with s > 0 is reduced, in proportion for all its rows, along a path to a class with s < 0, which leaves
// all β within their bounds; there is such a path as long as some s is not 0, since flows consist of
// such paths and of cycles. Infinity means that it takes very many paths, as when s is far from 0.
func (w *flows) repair(out []*output) float64 {
	k := w.k
	left, less := make([]float64, k), make([]float64, k*k)
	for m, o := range out {
		left[m] = o.s
		if sum := math.Abs(o.s); sum <= noSum*w.through(m) {
			left[m] = 0 // rounding
		}
	}
	paths := 0
	for a := range k {
		for left[a] > 0 {
			if paths++; paths > mostPaths*k {
				return math.Inf(1)
			}
			path := w.path(a, left, less)
			if path == nil {
				break // the rest is rounding of the others
			}
			amount := min(left[a], -left[path[len(path)-1]%k])
			for _, e := range path {
				amount = min(amount, w.sum[e]-less[e])
			}
			for _, e := range path {
				less[e] += amount
			}
			left[a] -= amount
			left[path[len(path)-1]%k] += amount
		}
	}
	cost, moved, square := 0.0, make([]float64, k), make([]float64, k)
	for e, amount := range less {
		if amount == 0 {
			continue
		}
		share := amount / w.sum[e]
		cost += share * w.cost[e]
		for _, m := range [2]int{e / k, e % k} {
			moved[m] += amount
			square[m] += share * w.square[e]
		}
	}
	for m := range k {
		cost += 0.5 * moved[m] * square[m] // ‖Σβz‖² ≤ Σ|β|·Σ|β|‖z‖²
	}
	return max(0, cost)
}

// mostPaths is how many paths per class a repair may take. Each empties a class or a flow,
// and if s is nearly 0 it is a class.
const mostPaths = 8

// through is the total flow out of and into a class.
func (w *flows) through(m int) float64 {
	sum := 0.0
	for b := range w.k {
		sum += w.sum[m*w.k+b] + w.sum[b*w.k+m]
	}
	return sum
}

// path is the shortest path from a class to one with s < 0 along flows that can still be reduced, as
// indices into the matrices; nil if there is none.
func (w *flows) path(from int, left, less []float64) []int {
	k := w.k
	by := make([]int, k) // the index by which a class was reached, plus 1
	queue := []int{from}
	for len(queue) > 0 {
		a := queue[0]
		queue = queue[1:]
		for b := range k {
			e := a*k + b
			if b == from || by[b] > 0 || w.sum[e]-less[e] <= 0 {
				continue
			}
			by[b] = e + 1
			if left[b] >= 0 {
				queue = append(queue, b)
				continue
			}
			var path []int
			for ; b != from; b = (by[b] - 1) / k {
				path = append(path, by[b]-1)
			}
			slices.Reverse(path)
			return path
		}
	}
	return nil
}

// step returns the row's violation, its term of the gap and the slack of a β of 0, and leaves
// the new β in next.
func (c *crammerSinger) step(f *dual, i int, rows matrix.Rows, r int) (violation, term, slack float64) {
	cost, y := c.cost(i, c.class[i]), c.class[i]
	h := float64(f.norm[i]) + f.out[0].rho
	largest, others, least := math.Inf(-1), math.Inf(-1), math.Inf(1)
	for m, o := range f.out {
		u := dotRow(rows, r, o.w) + o.shift()
		beta := o.beta[i]
		g, upper := u+1, 0.0
		if m == y {
			g, upper = u, cost
		} else {
			others = max(others, g)
		}
		c.g[m] = g
		c.d[m] = g + h*(upper-beta)
		largest = max(largest, g)
		if beta < upper {
			least = min(least, g)
		}
		term += g * beta
	}
	// ℓ + φ + u·β: the loss depends on the largest score, the rest is Σ Gₘβₘ.
	term += cost * (largest - c.g[y])
	violation = max(0, largest-least)
	if cost == 0 || math.IsInf(least, 1) {
		violation = 0
	}
	if violation == 0 {
		for m, o := range f.out {
			c.next[m] = o.beta[i]
		}
		if f.out[y].beta[i] == 0 {
			slack = c.g[y] - others
		}
		return violation, term, slack
	}
	if h == 0 {
		// A row of zeros without intercept: only the costs Σ eₘβₘ matter, and everything on
		// one wrong class minimises them.
		c.zeroRow(y, cost)
		return violation, term, 0
	}
	nu := c.level(h * cost)
	for m := range c.next {
		c.next[m] = -max(0, c.d[m]-nu) / h
	}
	c.next[y] += cost
	return violation, term, 0
}

// zeroRow is the best β of a row that does not change any score.
func (c *crammerSinger) zeroRow(y int, cost float64) {
	worst := 0
	for m := range c.next {
		c.next[m] = 0
		if c.g[m] > c.g[worst] {
			worst = m
		}
	}
	if worst != y {
		c.next[worst], c.next[y] = -cost, cost
	}
}

// level is the ν with Σ max(0, Dₘ - ν) = area.
func (c *crammerSinger) level(area float64) float64 {
	copy(c.sorted, c.d)
	slices.Sort(c.sorted)
	d := c.sorted
	sum, nu := 0.0, 0.0
	for r := 1; r <= len(d); r++ {
		top := d[len(d)-r]
		sum += top
		nu = (sum - area) / float64(r)
		if r == len(d) || d[len(d)-r-1] <= nu {
			break
		}
	}
	return nu
}

// sweep minimises over the β of one row after the other.
func (c *crammerSinger) sweep(ctx context.Context, f *dual, v visit) {
	all := f.out[0]
	for e, i := range v.which {
		if e&1023 == 0 && ctx.Err() != nil {
			return
		}
		r := v.at(e)
		violation, term, slack := c.step(f, i, v.rows, r)
		if v.counted {
			all.worst = max(all.worst, violation)
			all.gap += term
		}
		if slack > all.limit {
			all.aside[i] = true
		}
		for m, o := range f.out {
			if delta := c.next[m] - o.beta[i]; delta != 0 {
				o.beta[i] = c.next[m]
				o.s += delta
				axpyRow(float32(delta), v.rows, r, o.w)
			}
		}
	}
}

// check records the violations and gaps of rows with w fixed, and restores pairs that were
// shrunk wrongly.
func (c *crammerSinger) check(f *dual, first int, rows matrix.Rows) {
	all := f.out[0]
	for r := range rows.Len() {
		if i := first + r; c.counts(i) {
			violation, term, _ := c.step(f, i, rows, r)
			all.worst = max(all.worst, violation)
			all.gap += term
			if f.rho > 0 {
				c.note(f, i)
			}
			if violation > 0 {
				all.aside[i] = false
			}
		}
	}
}

// note adds a row with known G to the flows.
func (c *crammerSinger) note(f *dual, i int) {
	y, w := c.class[i], &c.flows
	for m, o := range f.out {
		if beta := o.beta[i]; m != y && beta != 0 {
			at := y*w.k + m
			w.sum[at] -= beta
			w.cost[at] -= beta * (c.g[m] - c.g[y])
			w.square[at] -= beta * float64(f.norm[i])
		}
	}
}

// share writes the dual objective, and copies what the first output recorded to the others.
func (c *crammerSinger) share(f *dual) {
	all := f.out[0]
	all.value = 0
	for m, o := range f.out {
		for i, beta := range o.beta {
			if beta != 0 && c.class[i] != m {
				all.value -= beta
			}
		}
		all.value -= 0.5*vec.DotWide(o.w, o.w) + o.shift()*o.s
	}
	for _, o := range f.out {
		o.worst, o.gap, o.value = all.worst, all.gap, all.value
	}
}

func (c *crammerSinger) scale() float64 { return 1 }

func newCrammerSinger(g *goals) *crammerSinger {
	k := g.outputs
	return &crammerSinger{
		goals: g, g: make([]float64, k), d: make([]float64, k), sorted: make([]float64, k), next: make([]float64, k),
	}
}

// Outputs is the model with the given number of outputs: itself, or, for a Crammer-Singer
// machine of two classes, the one whose score is the lead of the second class.
func (l *Linear) Outputs(k int) *Linear {
	if k != 1 || l.W.Cols != 2 {
		return l
	}
	one := &Linear{W: matrix.NewDense(l.W.Rows, 1), B: []float64{l.B[1] - l.B[0]}}
	for j := range one.W.Data {
		one.W.Data[j] = l.W.Row(j)[1] - l.W.Row(j)[0]
	}
	return one
}
