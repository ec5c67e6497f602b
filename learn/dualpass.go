package learn

import (
	"context"
	"math"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// pass goes once over the rows at work, or several times over each block of them.
func (f *dual) pass(ctx context.Context, work []*output) error {
	for _, o := range work {
		o.worst, o.gap = 0, 0
	}
	s := random.New(f.seed, "dual", uint64(f.passes))
	var blocks []int
	times := 1
	if !f.z.Resident() {
		blocks = s.Perm((f.n + BlockRows - 1) / BlockRows)
		times = blockPasses
	}
	err := inBlocks(f.z, blocks, func(first int, rows matrix.Rows) error {
		for p := range times {
			order := f.awake(work, first, s.Perm(rows.Len()))
			if f.coupled != nil {
				f.coupled.sweep(ctx, f, first, rows, order, p == 0)
			} else {
				vec.Parallel(len(work), 1, func(lo, hi int) { f.sweep(ctx, work[lo:hi], first, rows, order, p == 0) })
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.evaluate(work)
	return nil
}

// awake keeps those of a block's rows that count and that some output has not set aside.
func (f *dual) awake(work []*output, first int, order []int) []int {
	kept := order[:0]
	for _, r := range order {
		i := first + r
		if !f.rows.counts(i) {
			continue
		}
		for _, o := range work {
			if !o.aside[i] {
				kept = append(kept, r)
				break
			}
			if f.coupled != nil {
				break // the first output says it for all
			}
		}
	}
	return kept
}

// sweep minimises over the βᵢ of some outputs, one row of the block after the other. counted
// says whether what it meets is to be noted.
func (f *dual) sweep(ctx context.Context, group []*output, first int, rows matrix.Rows, order []int, counted bool) {
	for at, r := range order {
		if at&1023 == 0 && ctx.Err() != nil {
			return
		}
		i := first + r
		h := float64(f.norm[i]) + f.rho
		for _, o := range group {
			if o.aside[i] {
				continue
			}
			beta := o.beta[i]
			u := dotRow(rows, r, o.w) + o.b + f.rho*o.s
			next, violation, slack := f.loss.step(i, o.t, beta, u, h)
			if counted {
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
			o.value = -0.5*vec.DotWide(o.w, o.w) - (o.b+f.rho*o.s)*o.s
			for i, beta := range o.beta {
				if f.rows.counts(i) {
					_, conjugate := f.loss.terms(i, o.t, beta, 0)
					o.value -= conjugate
				}
			}
		}
	})
}

// check measures the gap and the violation of some outputs over all rows, w held still, and
// brings back what was set aside wrongly. Those that meet what is asked are done.
func (f *dual) check(ctx context.Context, work []*output) error {
	if f.tolerance > 0 {
		if err := f.refresh(work); err != nil {
			return err
		}
	}
	for _, o := range work {
		o.worst, o.gap = 0, 0
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
					u := dotRow(rows, r, o.w) + o.b + f.rho*o.s
					_, violation, _ := f.loss.step(i, o.t, beta, u, float64(f.norm[i])+f.rho)
					loss, conjugate := f.loss.terms(i, o.t, beta, u)
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
	for _, o := range work {
		o.limit = math.Inf(1)
		if o.worst > 0 {
			o.limit = o.worst
		}
	}
	f.finish(work)
	return nil
}

// refresh computes w and s anew from β in float64, without the rounding that many small
// updates left in them.
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
		l.B[t] = o.b + f.rho*o.s
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
