package exact

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mercer/feature"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// SharedFalkon is FitFalkon with a given λ for rows that other processes read, in parts: a loop of passes, each of which adds up sums over all rows.
// The first has K_nmᵀWy, and every other one a product K_nmᵀWK_nm u. Who adds rows needs u alone (Go); the preconditioner, 16·m² bytes, is made where u
// is found (Next) and where the machine is (Machine), from the sums of all passes before.
type SharedFalkon struct {
	f      *falkon
	kernel kernel.Kernel
	past   [][]float64 // sums of the passes
	u      []float64   // of the next, nil before the first

	// How far the gradients are.
	taken int // of past
	cg    *conjugate
	v     []float64
	b     []float64
	total float64
}

// NewSharedFalkon begins a fit on centres that are chosen from a sample of the rows.
func NewSharedFalkon(ctx context.Context, k kernel.Kernel, sample matrix.Rows, outputs int, opt Falkon) (*SharedFalkon, error) {
	if opt.Lambda == 0 {
		return nil, errors.New("a shared fit takes a given λ")
	}
	centres, err := feature.Landmarks(ctx, k, sample, opt.Landmarks, min(opt.Centres, sample.Len()), opt.Seed)
	if err != nil {
		return nil, err
	}
	f, err := newFalkonOn(ctx, k, centres, outputs, opt)
	return &SharedFalkon{f: f, kernel: k}, err
}

// FalkonSample is the number of rows that m centres are chosen from.
func FalkonSample(landmarks string, m int) int {
	if landmarks == "" || landmarks == "uniform" {
		return m
	}
	return max(2000, min(20*m, max(20_000, 2*m)))
}

// Pass is the number of the next pass, from 0, and Len that of its sums.
func (s *SharedFalkon) Pass() int { return len(s.past) }

// Len is the number of sums of the next pass: the first one's are of each output, and of the weights.
func (s *SharedFalkon) Len() int {
	if s.Pass() == 0 {
		return (s.f.k + 1) * (s.f.m + 1)
	}
	return s.f.k * s.f.m
}

// Add adds rows with their targets, rows×outputs, to the sums of the next pass. Sums depend on how rows are divided among calls by their rounding.
func (s *SharedFalkon) Add(ctx context.Context, to []float64, x matrix.Rows, y, weights []float64) error {
	if weights != nil && !slices.ContainsFunc(weights, func(w float64) bool { return w != 0 }) {
		return ctx.Err()
	}
	if err := checkTargets(s.kernel, x, y, s.f.k, weights); err != nil {
		return err
	}
	g := &falkon{ctx: ctx, x: x, n: x.Len(), m: s.f.m, k: s.f.k, against: s.f.against}
	u, r := s.u, []float64(nil)
	if s.Pass() == 0 { // the last output is 1
		g.k++
		r = make([]float64, 0, g.n*g.k)
		for i := range g.n {
			r = append(append(r, y[i*s.f.k:][:s.f.k]...), 1)
		}
		for i := range g.n {
			vec.Axpy64(weight(weights, i), r[i*g.k:][:g.k], to[g.k*g.m:])
		}
	}
	sum := make([]float64, g.k*g.m)
	if err := g.normal(sum, u, r, weights, make([]float64, falkonParts*g.k*g.m)); err != nil {
		return err
	}
	vec.Axpy64(1, sum, to[:len(sum)])
	return nil
}

// Go goes on to the pass after the one with these sums over all rows, for the u that Next has found there.
func (s *SharedFalkon) Go(sums, u []float64) error {
	if len(sums) != s.Len() || len(u) != s.f.k*s.f.m {
		return fmt.Errorf("%d sums and %d numbers of the next pass, where %d and %d are wanted", len(sums), len(u), s.Len(), s.f.k*s.f.m)
	}
	s.past, s.u = append(s.past, sums), u
	return nil
}

// Next finds what the pass after the one with these sums over all rows is for; done says that there is none.
func (s *SharedFalkon) Next(ctx context.Context, sums []float64) (u []float64, done bool, err error) {
	if len(sums) != s.Len() {
		return nil, false, fmt.Errorf("%d sums, where %d are wanted", len(sums), s.Len())
	}
	s.f.ctx = ctx
	if err := s.take(append(s.past[:len(s.past):len(s.past)], sums)); err != nil {
		return nil, false, err
	}
	u = make([]float64, len(s.v))
	s.f.forth(s.v, u, s.cg.p)
	return u, !s.cg.more(), ctx.Err()
}

// take takes the gradients to where the sums of some passes lead.
func (s *SharedFalkon) take(passes [][]float64) error {
	f, k, m := s.f, s.f.k, s.f.m
	u := make([]float64, k*m)
	for ; s.taken < len(passes); s.taken++ {
		g := slices.Clone(passes[s.taken])
		for _, v := range g {
			if !finite(v) {
				return errors.New("the sums over the rows are not finite; scale the data")
			}
		}
		if s.taken > 0 {
			f.forth(s.v, u, s.cg.p)
			f.back(s.v, g, f.opt.Lambda)
			s.cg.step(s.v)
			continue
		}
		totals := g[(k+1)*m:]
		if s.total = totals[k]; !(s.total > 0) {
			return errors.New("no row has a weight above 0: there is nothing to train on")
		}
		if err := affordable(0, f.centres.Cols, m, k, f.opt.Memory); err != nil {
			return err
		}
		s.b = make([]float64, k)
		for t := range k {
			s.b[t] = totals[t] / s.total
			vec.Axpy64(-s.b[t], g[k*m:(k+1)*m], g[t*m:(t+1)*m])
		}
		f.room()
		if err := f.precondition(s.total, f.opt.Lambda); err != nil {
			return err
		}
		r := g[:k*m]
		f.solveUpperT(f.t, r)
		f.solveUpperT(f.a, r)
		s.v, s.cg = make([]float64, k*m), newConjugate(k, m, r, nil, f.opt.Tolerance, f.opt.MaxIter)
	}
	return f.ctx.Err()
}

// Machine is what all passes came to.
func (s *SharedFalkon) Machine(ctx context.Context) (*Machine, *FalkonReport, error) {
	f := s.f
	f.ctx = ctx
	if len(s.past) == 0 {
		return nil, nil, errors.New("a fit without any pass")
	}
	if err := s.take(s.past); err != nil {
		return nil, nil, err
	}
	s.cg.more()
	report := &FalkonReport{Lambda: f.opt.Lambda, Centres: f.m, Jitter: f.jitter, Iterations: s.cg.stop.iterations, Residual: s.cg.stop.residual,
		Converged: s.cg.stop.residual <= f.opt.Tolerance}
	alpha := slices.Clone(s.cg.x)
	f.solveUpper(f.a, alpha)
	f.solveUpper(f.t, alpha)
	machine, err := machineOf(s.kernel, f.centres, alpha, s.b, report.Lambda)
	return machine, report, err
}
