package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"mercer/internal/engine/vec"
)

// Group is a set of features that belong together: a map of a sum, or a column of the input.
type Group struct {
	Name     string
	Features []int
}

// checkGroups makes sure that each of d features is in one group.
func checkGroups(groups []Group, d int) error {
	seen := make([]bool, d)
	left := d
	for _, g := range groups {
		for _, j := range g.Features {
			if j < 0 || j >= d || seen[j] {
				return fmt.Errorf("group %q: feature %d is in another group too, or is none of %d", g.Name, j, d)
			}
			seen[j] = true
			left--
		}
		if len(g.Features) == 0 {
			return fmt.Errorf("group %q has no features", g.Name)
		}
	}
	if left > 0 {
		return fmt.Errorf("%d of %d features are in no group", left, d)
	}
	return nil
}

// groupLasso solves
//
//	min over W, b of 1/(2n) Σ‖y - Wᵀz - b‖² + λ Σ_g √p_g·‖W_g‖,
//
// W_g the weights of the p_g features of group g for all outputs together, ‖·‖ the root of the
// sum of their squares (Yuan and Lin 2006; groups of one feature give the multi-task lasso).
//
// One group after the other gets its optimal weights given the others. With C = G_g + W_g·A_gg,
// G minus the gradient, they are 0 if ‖C‖ ≤ λ_g = λ√p_g; otherwise (A_gg + λ_g/r·I)W_g = C with
// r = ‖W_g‖. In the basis of the eigenvectors of A_gg, with eigenvalues a_i and ‖c_i‖ the
// length of row i of C, that is one equation in r,
//
//	Σ_i ‖c_i‖²/(a_i·r + λ_g)² = 1.
//
// After a few sweeps the sequence of weights is extrapolated (Anderson's method, as Bertrand
// and Massias 2021 use it), and the result is kept if it lowers the objective.
type groupLasso struct {
	*quadratic
	groups []block
}

// block is a group: the features [from, to) of the quadratic, which has them in order of groups.
type block struct {
	from, to int
	weight   float64   // √p
	values   []float64 // a_i
	vectors  []float64 // p×p, one vector per row
}

// newGroupLasso decomposes the A_gg; sizes are those of the groups in the order of q.
func newGroupLasso(ctx context.Context, q *quadratic, sizes []int) (*groupLasso, error) {
	s := &groupLasso{quadratic: q}
	from := 0
	for _, p := range sizes {
		b := block{from: from, to: from + p, weight: math.Sqrt(float64(p)), values: make([]float64, p), vectors: make([]float64, p*p)}
		for i := range p {
			copy(b.vectors[i*p:(i+1)*p], q.row(from + i)[from:from+p])
		}
		if !vec.EigenSym(ctx, p, b.vectors, p, b.values, true) {
			return nil, cmp.Or(ctx.Err(), errors.New("the products of the features are not finite; scale the inputs"))
		}
		s.groups = append(s.groups, b)
		from += p
	}
	return s, nil
}

// largest is the least λ for which all weights are 0.
func (s *groupLasso) largest() float64 {
	largest := 0.0
	for i := range s.groups {
		largest = max(largest, s.norm(s.c, &s.groups[i])/s.groups[i].weight)
	}
	return largest
}

// norm is the length of the part of x, K×D, that belongs to a group.
func (s *groupLasso) norm(x []float64, b *block) float64 {
	square := 0.0
	for t := range s.k {
		part := x[t*s.d+b.from : t*s.d+b.to]
		square += vec.Dot64(part, part)
	}
	return math.Sqrt(square)
}

// memory is how many sweeps are extrapolated from.
const memory = 5

func (s *groupLasso) solve(ctx context.Context, lambda, tolerance float64, most int) (turns int, violation float64) {
	s.refreshAll()
	past := &iterates{size: s.k * s.d}
	past.add(s.w, s.g)
	for {
		if violation = s.violation(lambda); violation <= tolerance*lambda {
			s.refreshAll()
			violation = s.violation(lambda)
		}
		if violation <= tolerance*lambda || turns >= most || ctx.Err() != nil {
			return turns, violation / lambda
		}
		for i := range s.groups {
			s.visit(&s.groups[i], lambda)
		}
		turns++
		past.add(s.w, s.g)
		if past.count > memory {
			if w, g := past.extrapolated(); w != nil && s.objective(w, g, lambda) < s.objective(s.w, s.g, lambda) {
				copy(s.w, w)
				copy(s.g, g)
			}
			past.count = 0
			past.add(s.w, s.g)
		}
	}
}

// refreshAll recomputes G.
func (s *groupLasso) refreshAll() {
	for t := range s.k {
		s.refresh(s.w[t*s.d:(t+1)*s.d], s.c[t*s.d:(t+1)*s.d], s.g[t*s.d:(t+1)*s.d])
	}
}

// violation is how far the optimality conditions are from holding: G_g is λ_g·W_g/‖W_g‖, or no longer than
// λ_g if W_g is 0; divided by the root of the group's size.
func (s *groupLasso) violation(lambda float64) float64 {
	worst := 0.0
	for i := range s.groups {
		b := &s.groups[i]
		r := s.norm(s.w, b)
		v := s.norm(s.g, b)/b.weight - lambda
		if r > 0 {
			square := 0.0
			for t := range s.k {
				for j := t*s.d + b.from; j < t*s.d+b.to; j++ {
					e := s.g[j] - lambda*b.weight*s.w[j]/r
					square += float64(e * e)
				}
			}
			v = math.Sqrt(square) / b.weight
		}
		worst = max(worst, v)
	}
	return worst
}

// visit gives a group its best weights.
func (s *groupLasso) visit(b *block, lambda float64) {
	p, k := b.to-b.from, s.k
	// c = (G_g + W_g·A_gg)Qᵀ, k×p; W_g·A_gg·Qᵀ is W_g·Qᵀ·diag(a).
	old, next := make([]float64, k*p), make([]float64, k*p)
	vec.GemmNT(k, p, p, s.w[b.from:], s.d, b.vectors, p, old, p)
	vec.GemmNT(k, p, p, s.g[b.from:], s.d, b.vectors, p, next, p)
	squares := make([]float64, p)
	total := 0.0
	for t := range k {
		for i, a := range b.values {
			c := next[t*p+i] + float64(a*old[t*p+i])
			next[t*p+i] = c
			squares[i] += float64(c * c)
			total += float64(c * c)
		}
	}
	limit := lambda * b.weight
	r := 0.0
	if total > limit*limit {
		r = length(squares, b.values, limit)
	}
	changed := false
	move := make([]float64, p*k) // -(new - old)ᵀ, in the basis of the vectors
	for t := range k {
		for i, a := range b.values {
			w := 0.0
			if r > 0 {
				w = next[t*p+i] * r / (max(a, 0)*r + limit)
			}
			if w != old[t*p+i] {
				changed = true
			}
			next[t*p+i] = w
		}
	}
	if !changed {
		return
	}
	// The new weights back in the basis of the features.
	columns := make([]float64, p*k)
	for t := range k {
		for i := range p {
			columns[i*k+t] = next[t*p+i]
		}
	}
	clear(next)
	if r > 0 {
		vec.GemmAddTN(k, p, p, columns, k, b.vectors, p, next, p)
	}
	for t := range k {
		w := s.w[t*s.d+b.from : t*s.d+b.to]
		for i := range p {
			move[i*k+t] = w[i] - next[t*p+i]
			w[i] = next[t*p+i]
		}
	}
	vec.GemmAddTN(k, s.d, p, move, k, s.a[b.from*s.d:], s.d, s.g, s.d)
}

// length is r > 0 with Σ squares_i/(a_i·r + limit)² = 1, the left side being larger for r = 0,
// by Newton's method for the inverse root of the left side, which is nearly linear in r,
// and by bisection if that leaves the interval.
func length(squares, a []float64, limit float64) float64 {
	at := func(r float64) (value, slope float64) {
		for i, s := range squares {
			v := max(a[i], 0)
			q := 1 / (float64(v*r) + limit)
			value += s * q * q
			slope -= 2 * s * v * q * q * q
		}
		return value, slope
	}
	lo, hi := 0.0, 1.0
	for range 1100 { // as many as float64 has powers of two
		if v, _ := at(hi); v <= 1 || math.IsInf(hi, 1) {
			break
		}
		lo, hi = hi, 2*hi
	}
	r := lo
	for range 200 {
		v, slope := at(r)
		if v > 1 {
			lo = r
		} else {
			hi = r
		}
		// u(r) = v^(-1/2) is to be 1; its slope is -½·v^(-3/2)·slope.
		next := r + 2*(v-v*math.Sqrt(v))/slope
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-r) <= 0x1p-52*next {
			return next
		}
		r = next
	}
	return r
}

// objective is that of W with its G, up to a constant.
func (s *groupLasso) objective(w, g []float64, lambda float64) float64 {
	// ½tr(WAWᵀ) - tr(WCᵀ) = -½tr(W(C + G)ᵀ)
	sum := 0.0
	for j, v := range w {
		sum -= float64(v * (s.c[j] + g[j]) / 2)
	}
	for i := range s.groups {
		sum += lambda * s.groups[i].weight * s.norm(w, &s.groups[i])
	}
	return sum
}

// iterates are the weights after the last sweeps, with their G.
type iterates struct {
	size, count int
	w, g        [memory + 1][]float64
}

func (p *iterates) add(w, g []float64) {
	if p.w[p.count] == nil {
		p.w[p.count], p.g[p.count] = make([]float64, p.size), make([]float64, p.size)
	}
	copy(p.w[p.count], w)
	copy(p.g[p.count], g)
	p.count++
}

// extrapolated is the combination Σγ_i·w_i of the weights, Σγ = 1, whose combined difference
// from the previous sweep is shortest, and the same combination of the g; nil if there is none.
func (p *iterates) extrapolated() (w, g []float64) {
	var gram [memory * memory]float64
	var gamma [memory]float64
	differences := make([][]float64, memory)
	for i := range differences {
		differences[i] = append([]float64(nil), p.w[i+1]...)
		vec.Axpy64(-1, p.w[i], differences[i])
	}
	trace := 0.0
	for i := range memory {
		for j := i; j < memory; j++ {
			gram[i*memory+j] = vec.Dot64(differences[i], differences[j])
		}
		trace += gram[i*memory+i]
		gamma[i] = 1
	}
	for i := range memory {
		gram[i*memory+i] += 1e-12 * trace
	}
	if !(trace > 0) || !vec.CholeskySolve(context.Background(), memory, gram[:], memory, 1, gamma[:], 1) {
		return nil, nil
	}
	sum := 0.0
	for _, v := range gamma {
		sum += v
	}
	if !(sum != 0) || math.IsInf(sum, 0) {
		return nil, nil
	}
	w, g = make([]float64, p.size), make([]float64, p.size)
	for i, v := range gamma {
		vec.Axpy64(v/sum, p.w[i+1], w)
		vec.Axpy64(v/sum, p.g[i+1], g)
	}
	return w, g
}
