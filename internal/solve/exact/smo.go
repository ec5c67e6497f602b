package exact

import (
	"context"
	"math"
	"slices"

	"mercer/internal/engine/vec"
)

// program is a quadratic program of support vector machines over variables α_t, each of which
// belongs to a row of the data and has a sign s_t:
//
//	min ½ Σ_t,u s_t s_u α_t α_u k(x_t, x_u) - Σ_t s_t target_t α_t,  0 ≤ α_t ≤ C_t,
//
// with Σ_t s_t α_t (or, if pairs have one sign, Σ α_t of each sign) fixed at its initial value.
//
// With f_i = Σ_u s_u α_u k(x_i, x_u) and v_t = target_t - f_t, which is -s_t times the gradient,
// α is optimal when no v_t of a variable whose s_t α_t can increase (t in up) exceeds that of one
// whose s_t α_t can decrease (low): the largest difference is the violation.
type program struct {
	row      []int32   // of variable t
	sign     []float64 // s_t, 1 or -1
	target   []float64
	bound    []float64 // C_t > 0
	alpha    []float64 // a feasible start, then the solution
	separate bool      // each sign has a sum of its own: ν-SVC and ν-SVR
}

// smo solves a program by decomposition: it picks a working set of a few hundred variables,
// including those that violate the conditions most, gets their rows of the Gram matrix
// (missing ones in one matrix product), solves the program in these variables alone by sequential
// minimal optimisation on the small matrix, and adds the changes to f in one pass over
// the rows (Joachims 1999; Wen et al. 2018 for working sets of this size). A pair of variables is
// chosen by the second-order rule of Fan, Chen and Lin (2005).
type smo struct {
	*program
	cache     *rowCache
	tolerance float64
	f         []float64 // f_i of every row, or of those that are the cache's columns

	active   []int32   // the active variables, nil for all
	all      []float64 // if some are left out, the f of all at that time
	restores int

	size      int     // of working sets
	last      []int32 // the last working set, the newest variables first
	chosen    []bool
	coef      []float64
	touched   []int32
	lines     [][]float32
	sub       subprogram
	sets      int // working sets solved
	steps     int // pairs
	violation float64
}

// largestSet is how many variables a working set has at most, and leastFresh to mostFresh
// how many of them were not in the last one: a sixteenth of all. With more the products are
// more efficient, but more of them turn out to be useless.
const (
	largestSet = 512
	leastFresh = 32
	mostFresh  = 128
)

// newSMO prepares to solve p over the rows of a cache.
func newSMO(p *program, cache *rowCache, tolerance float64) *smo {
	s := &smo{program: p, cache: cache, tolerance: tolerance, f: make([]float64, cache.n)}
	s.size = min(largestSet, len(p.alpha))
	s.chosen = make([]bool, len(p.alpha))
	s.coef = make([]float64, cache.n)
	return s
}

// may reports whether s_t α_t of a variable can increase (up) or decrease.
func (p *program) may(t int) (up, low bool) {
	below, above := p.alpha[t] < p.bound[t], p.alpha[t] > 0
	if p.sign[t] < 0 {
		return above, below
	}
	return below, above
}

// v is that of a variable.
func (s *smo) v(t int) float64 { return s.target[t] - s.f[s.cache.place(s.row[t])] }

// solve continues until the violation is at most the tolerance. maxSteps bounds the number
// of pairs.
func (s *smo) solve(ctx context.Context, maxSteps int, progress func(violation float64)) error {
	s.start()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		set, violation := s.choose()
		s.violation = violation
		if progress != nil {
			progress(violation)
		}
		switch enough := violation <= s.tolerance || s.steps >= maxSteps; {
		case enough && s.active == nil:
			return nil
		case enough:
			if err := s.restore(ctx); err != nil {
				return err
			}
			continue
		}
		s.improve(set, violation)
		s.last = set
		if s.cache.evicted && s.sets%shrinkEvery == 0 && s.restores < mostRestores {
			s.shrink()
		}
	}
}

// start computes f of the initial α.
func (s *smo) start() {
	clear(s.f)
	for t, a := range s.alpha {
		s.add(t, s.sign[t]*a)
	}
	s.flush()
}

// add records that s_t α_t has grown by delta.
func (s *smo) add(t int, delta float64) {
	if delta == 0 {
		return
	}
	i := s.row[t]
	if s.coef[i] == 0 {
		s.touched = append(s.touched, i)
	}
	s.coef[i] += delta
}

// flush adds the recorded changes to f.
func (s *smo) flush() {
	slices.Sort(s.touched)
	rows := slices.Compact(s.touched)
	for len(rows) > 0 {
		part := rows[:min(len(rows), lineBatch)]
		rows = rows[len(part):]
		s.lines = s.cache.get(part, s.lines)
		coef := make([]float64, len(part))
		for k, i := range part {
			coef[k] = s.coef[i]
			s.coef[i] = 0
		}
		addLines(s.f, coef, s.lines)
	}
	s.touched = s.touched[:0]
}

// groups are the variables among which pairs are chosen: all, or those of each sign.
func (p *program) group(t int) int {
	if p.separate && p.sign[t] < 0 {
		return 1
	}
	return 0
}

// candidate is a variable with its v.
type candidate struct {
	v float64
	t int32
}

// choose returns the next working set, and the violation. First come the variables
// that violate the conditions most, from both ends, then those of the last set, the newest
// first.
func (s *smo) choose() (set []int32, violation float64) {
	fresh := min(s.size, max(len(s.alpha)/16, leastFresh), mostFresh)
	groups := 1
	if s.separate {
		groups = 2
	}
	tops := make([]ends, groups)
	for g := range tops {
		tops[g] = newEnds(max(fresh/groups, 2))
	}
	s.each(func(t int) {
		up, low := s.may(t)
		tops[s.group(t)].see(candidate{s.v(t), int32(t)}, up, low)
	})
	violation = math.Inf(-1)
	for g := range tops {
		tops[g].sort()
		violation = max(violation, tops[g].violation())
	}
	if violation <= s.tolerance {
		return nil, violation
	}
	for g := range tops {
		set = tops[g].take(set, s.chosen, max(fresh/groups, 2))
	}
	for _, t := range s.last {
		if len(set) == s.size {
			break
		}
		if !s.chosen[t] {
			s.chosen[t] = true
			set = append(set, t)
		}
	}
	for _, t := range set {
		s.chosen[t] = false
	}
	return set, violation
}

// ends are the variables of up with the largest v and those of low with the smallest, in
// heaps with the worst of each at the top while variables are scanned.
type ends struct {
	most    int
	up, low []candidate
}

func newEnds(most int) ends { return ends{most: most} }

func (e *ends) see(c candidate, up, low bool) {
	if up {
		e.up = keep(e.up, e.most, c)
	}
	if low {
		e.low = keep(e.low, e.most, candidate{-c.v, c.t})
	}
}

// before reports whether a is preferred: a larger v, or the first of equals.
func before(a, b candidate) bool { return a.v > b.v || a.v == b.v && a.t < b.t }

// keep adds c to a heap of at most most preferred candidates.
func keep(heap []candidate, most int, c candidate) []candidate {
	if len(heap) < most {
		heap = append(heap, c)
		for i := len(heap) - 1; i > 0 && before(heap[(i-1)/2], heap[i]); i = (i - 1) / 2 {
			heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
		}
		return heap
	}
	if !before(c, heap[0]) {
		return heap
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= most {
			break
		}
		if child+1 < most && before(heap[child], heap[child+1]) {
			child++
		}
		if !before(c, heap[child]) {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = c
	return heap
}

func (e *ends) sort() {
	order := func(a, b candidate) int {
		if before(a, b) {
			return -1
		}
		return 1
	}
	slices.SortFunc(e.up, order)
	slices.SortFunc(e.low, order)
}

// violation is the largest difference of v in up and in low.
func (e *ends) violation() float64 {
	if len(e.up) == 0 || len(e.low) == 0 {
		return math.Inf(-1)
	}
	return e.up[0].v + e.low[0].v
}

// take appends up to most variables to the set, from both ends in turn, as long as they
// violate the conditions with the other end.
func (e *ends) take(set []int32, chosen []bool, most int) []int32 {
	if e.violation() <= 0 {
		return set
	}
	top, bottom := e.up[0].v, e.low[0].v
	most += len(set)
	for i := range e.most {
		if i < len(e.up) && e.up[i].v+bottom > 0 && len(set) < most && !chosen[e.up[i].t] {
			chosen[e.up[i].t] = true
			set = append(set, e.up[i].t)
		}
		if i < len(e.low) && e.low[i].v+top > 0 && len(set) < most && !chosen[e.low[i].t] {
			chosen[e.low[i].t] = true
			set = append(set, e.low[i].t)
		}
	}
	return set
}

// each visits the active variables.
func (s *smo) each(f func(t int)) {
	if s.active == nil {
		for t := range s.alpha {
			f(t)
		}
		return
	}
	for _, t := range s.active {
		f(int(t))
	}
}

// improve solves the program in the variables of the set.
func (s *smo) improve(set []int32, violation float64) {
	rows := make([]int32, 0, len(set))
	for _, t := range set {
		rows = append(rows, s.row[t])
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	s.lines = s.cache.get(rows, s.lines)

	// The groups of variables one after the other, each in the order of the rows, so that
	// lines are read from left to right.
	order := slices.Clone(set)
	places := make([]int32, len(set))
	slices.SortFunc(order, func(a, b int32) int {
		if d := s.group(int(a)) - s.group(int(b)); d != 0 {
			return d
		}
		return int(a - b)
	})
	p := &s.sub
	p.reset(len(order))
	for k, t := range order {
		places[k] = s.cache.place(s.row[t])
		p.diag[k] = s.cache.diag[s.row[t]]
		p.v[k] = s.v(int(t))
		p.alpha[k], p.bound[k], p.sign[k] = s.alpha[t], s.bound[t], s.sign[t]
		if s.group(int(t)) == 0 {
			p.first = k + 1
		}
		p.status(k)
	}
	vec.Parallel(p.q, 64, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			at, _ := slices.BinarySearch(rows, s.row[order[k]])
			line, part := s.lines[at], p.k[k*p.q:][:p.q]
			for l, u := range places {
				part[l] = line[u]
			}
		}
	})
	s.steps += p.solve(max(innerShare*violation, s.tolerance/2))
	for k, t := range order {
		s.add(int(t), s.sign[t]*(p.alpha[k]-s.alpha[t]))
		s.alpha[t] = p.alpha[k]
	}
	s.sets++
	s.flush()
}

// innerShare is how accurately a working set's program is solved, relative to the violation of
// the whole.
const innerShare = 0.1

// objective is the program's objective.
func (s *smo) objective() float64 {
	sum := 0.0
	for t, a := range s.alpha {
		sum += float64(s.sign[t] * a * (s.f[s.row[t]]/2 - s.target[t]))
	}
	return sum
}
