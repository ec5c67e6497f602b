package learn

import (
	"context"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// picker is features that return any rows, in any order, valid until the next call.
type picker interface {
	Pick(which []int) (matrix.Rows, error)
}

// pass visits the active rows once, or each block of them several times.
func (f *dual) pass(ctx context.Context, work []*output) error {
	for _, o := range work {
		o.worst, o.gap = 0, 0
	}
	s := random.New(f.seed, "dual", uint64(f.passes))
	var err error
	if p, ok := f.z.(picker); ok && !f.z.Resident() {
		err = f.passPicked(ctx, work, p, f.awake(work, s.Perm(f.n)))
	} else {
		err = f.passBlocks(ctx, work, s)
	}
	if err != nil {
		return err
	}
	f.evaluate(work)
	return nil
}

// passPicked visits rows in the given order, a few at a time.
func (f *dual) passPicked(ctx context.Context, work []*output, p picker, order []int) error {
	for part := range slices.Chunk(order, pickRows) {
		rows, err := p.Pick(part)
		if err != nil {
			return err
		}
		if err := f.sweep(ctx, work, visit{rows: rows, which: part, counted: true}); err != nil {
			return err
		}
	}
	return nil
}

// passBlocks visits all rows at once, or blocks of them.
func (f *dual) passBlocks(ctx context.Context, work []*output, s *random.Stream) error {
	var blocks []int
	times := 1
	if !f.z.Resident() {
		blocks = s.Perm((f.n + BlockRows - 1) / BlockRows)
		times = blockPasses
	}
	return inBlocks(f.z, blocks, func(first int, rows matrix.Rows) error {
		for p := range times {
			which := s.Perm(rows.Len())
			for e := range which {
				which[e] += first
			}
			if err := f.sweep(ctx, work, visit{rows: rows, first: first, block: true, which: f.awake(work, which), counted: p == 0}); err != nil {
				return err
			}
		}
		return nil
	})
}

// awake keeps the rows that count and that at least one output has not set aside.
func (f *dual) awake(work []*output, order []int) []int {
	if f.coupled != nil {
		work = work[:1] // the first output decides for all
	}
	kept := order[:0]
	for _, i := range order {
		if f.rows.counts(i) && slices.ContainsFunc(work, func(o *output) bool { return !o.aside[i] }) {
			kept = append(kept, i)
		}
	}
	return kept
}

// visit is what a sweep processes: the rows numbered which, in that order, which are stored
// in rows in the same order, or, in a block, each at its offset from the first.
type visit struct {
	rows  matrix.Rows
	which []int
	block bool
	first int

	// counted means that the sweep records what it finds.
	counted bool
}

// at is the index in rows of the e-th row.
func (v *visit) at(e int) int {
	if v.block {
		return v.which[e] - v.first
	}
	return e
}

// sweep minimises over the βᵢ of the outputs, one row after the other.
func (f *dual) sweep(ctx context.Context, work []*output, v visit) error {
	if f.coupled != nil {
		f.coupled.sweep(ctx, f, v)
	} else {
		vec.Parallel(len(work), 1, func(lo, hi int) { f.sweepGroup(ctx, work[lo:hi], v) })
	}
	return ctx.Err()
}

// sweepGroup is sweep for some of the outputs.
func (f *dual) sweepGroup(ctx context.Context, group []*output, v visit) {
	rows := v.rows
	for e, i := range v.which {
		if e&1023 == 0 && ctx.Err() != nil {
			return
		}
		r := v.at(e)
		norm := float64(f.norm[i])
		if e+1 < len(v.which) {
			next := v.which[e+1]
			for _, o := range group {
				vec.Fetch64(o.beta[next : next+1])
			}
		}
		for _, o := range group {
			if o.aside[i] {
				continue
			}
			beta := o.beta[i]
			u := dotRow(rows, r, o.w) + o.shift()
			next, violation, slack := f.loss.step(i, o.t, beta, u, norm+o.rho)
			if v.counted {
				o.worst = max(o.worst, violation)
				loss, conjugate := f.loss.terms(i, o.t, beta, u)
				o.gap += loss + conjugate + u*beta
			}
			if slack > o.limit {
				o.aside[i] = true
			}
			if next != beta {
				o.beta[i] = next
				o.s += next - beta
				axpyRow(float32(next-beta), rows, r, o.w)
			}
		}
	}
}

// evaluate writes the outputs' dual objectives.
func (f *dual) evaluate(work []*output) {
	if f.coupled != nil {
		f.coupled.share(f)
		return
	}
	vec.Parallel(len(work), 1, func(lo, hi int) {
		for _, o := range work[lo:hi] {
			o.value = -0.5*vec.DotWide(o.w, o.w) - o.shift()*o.s
			for i, beta := range o.beta {
				if f.rows.counts(i) {
					_, conjugate := f.loss.terms(i, o.t, beta, 0)
					o.value -= conjugate
				}
			}
		}
	})
}

// check measures the gap and the violation of some outputs over all rows with w fixed, and
// restores pairs that were set aside wrongly. Outputs that are good enough are done.
func (f *dual) check(ctx context.Context, work []*output) error {
	if f.tolerance > 0 {
		if err := f.refresh(work); err != nil {
			return err
		}
	}
	for _, o := range work {
		o.worst, o.gap = 0, 0
		o.repairs = repairs{single: math.Inf(1)}
	}
	if f.coupled != nil && f.rho > 0 {
		f.coupled.flows = newFlows(len(f.out))
	}
	err := eachBlock(f.z, func(first int, rows matrix.Rows) error {
		if f.coupled != nil {
			f.coupled.check(f, first, rows)
			return ctx.Err()
		}
		vec.Parallel(len(work), 1, func(lo, hi int) {
			for r := range rows.Len() {
				i := first + r
				if !f.rows.counts(i) {
					continue
				}
				for _, o := range work[lo:hi] {
					beta := o.beta[i]
					u := dotRow(rows, r, o.w) + o.shift()
					_, violation, _ := f.loss.step(i, o.t, beta, u, float64(f.norm[i])+o.rho)
					loss, conjugate := f.loss.terms(i, o.t, beta, u)
					o.repairs.add(f, o, i, u, conjugate)
					o.worst = max(o.worst, violation)
					o.gap += loss + conjugate + u*beta
					if violation > 0 {
						o.aside[i] = false
					}
				}
			}
		})
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	f.evaluate(work)
	together := 0.0
	if f.coupled != nil && f.rho > 0 {
		together = f.coupled.flows.repair(f.out)
	}
	for _, o := range work {
		switch {
		case f.coupled != nil:
			o.repair = together
		case f.rho > 0:
			o.repair = o.least(o.s)
			o.stuck = math.IsInf(o.single, 1) && math.Abs(o.s) > noSum*o.sum
		}
		o.limit = math.Inf(1)
		if o.worst > 0 {
			o.limit = o.worst
		}
	}
	f.finish(work)
	return nil
}

// refresh recomputes w and s from β in float64, without the rounding errors
// of many small updates.
func (f *dual) refresh(work []*output) error {
	wide := make([][]float64, len(work))
	for g, o := range work {
		wide[g] = make([]float64, f.d)
		o.s = -o.sigma
		for _, beta := range o.beta {
			o.s += beta
		}
	}
	err := eachBlock(f.z, func(first int, rows matrix.Rows) error {
		vec.Parallel(len(work), 1, func(lo, hi int) {
			for r := range rows.Len() {
				for g := lo; g < hi; g++ {
					if beta := work[g].beta[first+r]; beta != 0 {
						addRow(beta, rows, r, wide[g])
					}
				}
			}
		})
		return nil
	})
	for g, o := range work {
		for j, v := range wide[g] {
			o.w[j] = float32(v)
		}
	}
	return err
}

// linear is the model that the outputs make.
func (f *dual) linear() *Linear {
	k := len(f.out)
	l := &Linear{W: matrix.NewDense(f.d, k), B: make([]float64, k)}
	for t, o := range f.out {
		for j, v := range o.w {
			l.W.Data[j*k+t] = v
		}
		l.B[t] = o.shift()
	}
	return l
}

// dotRow is w·z for row r.
func dotRow(z matrix.Rows, r int, w []float32) float64 {
	if z.Dense != nil {
		return float64(vec.Dot32(z.Dense.Row(r), w))
	}
	idx, val := z.CSR.Row(r)
	return vec.SparseDot32(idx, val, w)
}

// axpyRow adds alpha times row r to w.
func axpyRow(alpha float32, z matrix.Rows, r int, w []float32) {
	if z.Dense != nil {
		vec.Axpy32(alpha, z.Dense.Row(r), w)
		return
	}
	idx, val := z.CSR.Row(r)
	vec.SparseAxpy32(alpha, idx, val, w)
}

// addRow adds alpha times row r to w in float64.
func addRow(alpha float64, z matrix.Rows, r int, w []float64) {
	if z.Dense != nil {
		vec.AxpyWide(alpha, z.Dense.Row(r), w)
		return
	}
	idx, val := z.CSR.Row(r)
	for e, j := range idx {
		w[j] += alpha * float64(val[e])
	}
}
