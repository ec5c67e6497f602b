package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// Ridge is the configuration of ridge regression,
//
//	min over W, b of Σ w‖y - Wᵀz - b‖² + λ‖W‖²,
//
// whose solution is W = (H + λI)⁻¹V, b = ȳ - Wᵀz̄ with the centred moments H and V.
type Ridge struct {
	// Lambda is λ. 0 means that it is chosen, unless By is "given".
	Lambda float64

	// By is the way to choose λ, one of LambdaBy; "" means "given" if Lambda is
	// not 0, and "auto" otherwise. Auto depends on the number of parts of
	// the statistics: two mean held-out, five folds, and one evidence. A given λ of 0 means least squares, of least norm if
	// features are collinear.
	By string

	// Path asks for all λ of the path in the report, not only those that a search tried.
	Path bool

	// Rows reads all rows once more, for "loo": body gets their features, targets
	// (row-major) and weights (nil: all 1), which it does not keep.
	Rows func(body func(z *matrix.Dense, y, w []float64) error) error

	// Variance asks for the predictive variance.
	Variance bool

	// Room is the memory for the solution, of one Fit at a time; nil: allocated when needed.
	Room *Room
}

// RidgeFit is a fitted ridge regression.
type RidgeFit struct {
	Linear   *Linear
	Variance *Variance // nil if it was not requested
	Report   *RidgeReport
}

// Fit fits on the rows of all parts together, which are merged into the first. Held-out needs
// two parts, of which the second is held out, and folds [Folds]; for all others the parts are
// one. A λ that was chosen without some of the rows grows in proportion to the number of rows
// for the final fit. If there are too few rows to choose λ, it is 10⁻³·tr(H)/D.
//
// Memory beyond the statistics, in bytes: 8·D² + 16·D·K for a given λ and held-out, 16·D² for
// folds, 24·D² if eigenvectors are needed: for gcv, loo, evidence, Variance and a λ of 0
// with collinear features.
func (opt Ridge) Fit(ctx context.Context, parts []*moments.Stats) (*RidgeFit, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	m := parts[0].Moments()
	by := opt.By
	switch {
	case by == "" && opt.Lambda != 0:
		by = "given"
	case by == "" || by == "auto":
		by = opt.auto(len(parts))
	}
	if n := Parts(by); n > 1 && len(parts) != n {
		return nil, fmt.Errorf("to choose λ by %s takes statistics in %d parts, these have %d; choose it by evidence, or give it", by, n,
			len(parts))
	}
	if by == "loo" && opt.Rows == nil {
		return nil, errors.New("to choose λ by loo takes the rows once more, which are not at hand; choose it by evidence")
	}
	for _, p := range parts {
		m := p.Moments()
		if err := usable(m); err != nil {
			return nil, err
		}
	}
	f := &ridgeFit{ctx: ctx, opt: opt, solver: opt.Room.solver(m.D, m.K)}
	f.report = &RidgeReport{By: by, Lambda: opt.Lambda, Whole: opt.Path && by != "given" && by != "trace"}
	if err := f.fit(parts); err != nil {
		return nil, err
	}
	return &RidgeFit{Linear: f.solver.linear(f.m.MeanZ, f.m.MeanY), Variance: f.variance, Report: f.report}, nil
}

func (opt Ridge) check() error {
	if opt.Lambda < 0 || opt.Lambda-opt.Lambda != 0 {
		return fmt.Errorf("λ = %g is not a number of 0 or more", opt.Lambda)
	}
	names, _ := LambdaBy()
	if opt.By != "" && !slices.Contains(names, opt.By) {
		return fmt.Errorf("λ by %q is not known; known are %v", opt.By, names)
	}
	if opt.Lambda == 0 && opt.By == "trace" {
		return errors.New("λ by trace is a number times tr(H)/D; give the number")
	}
	if opt.Lambda != 0 && opt.By != "" && opt.By != "given" && opt.By != "trace" {
		return fmt.Errorf("λ = %g is given, so that %s has nothing to choose; leave one of them out", opt.Lambda, opt.By)
	}
	return nil
}

// auto is what auto stands for with so many parts of the statistics.
func (opt Ridge) auto(parts int) string {
	switch {
	case opt.Path && opt.Rows != nil && !opt.Variance:
		return "loo"
	case opt.Path || opt.Variance || parts != 2 && parts != Folds:
		return "evidence"
	case parts == 2:
		return "held-out"
	}
	return "folds"
}

// usable returns an error if the statistics cannot be solved.
func usable(m *moments.Moments) error {
	if m.Labelled != m.Weight {
		return errors.New("some rows have no targets; a regression takes statistics of the others alone")
	}
	for i := range m.D {
		if v := m.H[i*m.D+i]; v-v != 0 {
			return fmt.Errorf("feature %d is so large that its square overflows; scale the inputs", i)
		}
	}
	for t, v := range m.YY {
		if v-v != 0 {
			return fmt.Errorf("target %d is so large that its square overflows; scale it", t)
		}
	}
	return nil
}

// ridgeFit is a fit in progress.
type ridgeFit struct {
	ctx      context.Context
	opt      Ridge
	solver   *solver
	report   *RidgeReport
	m        *moments.Moments
	variance *Variance
}

func (f *ridgeFit) fit(parts []*moments.Stats) error {
	start := time.Now()
	main, r := parts[0], f.report
	if Parts(r.By) > 1 {
		if m, growth, judge := f.judge(parts); judge != nil {
			if r.By == "held-out" {
				r.HeldOut = parts[1].Rows()
			}
			if err := f.search(m, judge); err != nil {
				return err
			}
			r.Lambda *= growth
		}
	}
	for _, p := range parts[1:] {
		main.Merge(p)
	}
	m := main.Moments()
	if m.Weight == 0 {
		return errors.New("no rows to fit a ridge regression on")
	}
	f.m = m
	if r.By == "trace" {
		r.Lambda *= unit(m)
	}
	var s *spectrum
	if r.By == "gcv" || r.By == "loo" || r.By == "evidence" || f.opt.Variance {
		var err error
		if s, err = newSpectrum(f.ctx, m, f.solver); err != nil {
			return err
		}
		if r.By != "held-out" && r.By != "folds" && r.By != "given" && r.By != "trace" {
			if err := s.choose(f.opt.Rows, r); err != nil {
				return err
			}
		}
	}
	if r.Lambda == 0 && r.By != "given" {
		// There are too few rows to choose.
		r.Lambda = unit(m) * math.Pow(10, pathStart)
	}
	if r.By != "given" && r.By != "trace" {
		r.Seconds = time.Since(start).Seconds()
	}
	switch {
	case s != nil:
		r.Rank = s.solve(r.Lambda, f.solver)
		r.Parameters = s.parameters(r.Lambda)
		if f.opt.Variance {
			f.variance = s.variance(r.Lambda)
			for _, v := range f.variance.Noise {
				r.Noise = append(r.Noise, math.Sqrt(v))
			}
		}
		return nil
	case r.Lambda == 0:
		return f.leastSquares()
	}
	return f.solver.solve(f.ctx, m, r.Lambda)
}

// leastSquares solves for λ = 0: by Cholesky where the features, each scaled to a variance
// of 1, are far enough from collinear; otherwise in the directions in which they vary at all.
func (f *ridgeFit) leastSquares() error {
	m, s := f.m, f.solver
	d, k := s.d, s.k
	scale := make([]float64, d)
	rank := 0
	for i := range d {
		if h := m.H[i*d+i]; h > 0 {
			scale[i] = 1 / math.Sqrt(h)
			rank++
		}
	}
	for i := range d {
		for j := i; j < d; j++ {
			s.factor[i*d+j] = m.H[i*d+j] * scale[i] * scale[j]
		}
		if scale[i] == 0 {
			s.factor[i*d+i] = 1
		}
		for t := range k {
			s.w[i*k+t] = m.V[i*k+t] * scale[i]
		}
	}
	if vec.CholeskySolve(f.ctx, d, s.factor, d, k, s.w, k) {
		least := 1.0
		for i := range d {
			least = min(least, s.factor[i*d+i]*s.factor[i*d+i])
		}
		if least > 64*math.Sqrt(float64(d))*m.Noise {
			for i := range d {
				for t := range k {
					s.w[i*k+t] *= scale[i]
				}
			}
			f.report.Rank = rank
			return nil
		}
	}
	spectrum, err := newSpectrum(f.ctx, m, s)
	if err != nil {
		return err
	}
	f.report.Rank = spectrum.solve(0, s)
	return nil
}
