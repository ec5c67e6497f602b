package learn

import (
	"context"
	"errors"
	"fmt"

	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// RidgeParts fits ridge regressions on some parts of the rows, for cross-validation:
// the statistics of the parts are computed once, and those of all rows
// but a part's are a difference.
//
// Memory beyond the statistics of the parts: 16·D² bytes.
type RidgeParts struct {
	parts  []*moments.Stats
	all    *moments.Moments
	solver *solver
}

// NewRidgeParts takes the parts, of disjoint rows, and does not change them.
func NewRidgeParts(parts []*moments.Stats) (*RidgeParts, error) {
	d, k := parts[0].Dims()
	total := moments.New(d, k)
	for _, p := range parts {
		total.Merge(p)
		if err := usable(p.Moments()); err != nil {
			return nil, err
		}
	}
	return &RidgeParts{parts: parts, all: total.Moments(), solver: newSolver(d, k)}, nil
}

// Fit fits on the rows of the parts that are listed, for each λ > 0; by trace, λ is in units of
// tr(H)/D of these rows. If λ is too small for the system to be solved, the model is nil
// and its error is not.
func (r *RidgeParts) Fit(ctx context.Context, train []int, lambdas []float64, trace bool) (models []*Linear, errs []error, err error) {
	in := make([]bool, len(r.parts))
	for _, p := range train {
		in[p] = true
	}
	out := -1 // the only omitted part that has rows
	for p, s := range r.parts {
		switch {
		case in[p] || s.Moments().Weight == 0:
		case out < 0:
			out = p
		default:
			out = len(r.parts)
		}
	}
	m := r.all
	var without *moments.Moments
	switch {
	case out == len(r.parts):
		merged := moments.New(m.D, m.K)
		for _, p := range train {
			merged.Merge(r.parts[p])
		}
		m = merged.Moments()
	case out >= 0:
		without = r.parts[out].Moments()
	}
	if m.Weight == 0 || without != nil && !(m.Weight > without.Weight) {
		return nil, nil, errors.New("no rows to fit a ridge regression on")
	}
	models, errs = make([]*Linear, len(lambdas)), make([]error, len(lambdas))
	for i, lambda := range lambdas {
		if !(lambda > 0) {
			return nil, nil, fmt.Errorf("λ = %g is not a positive number", lambda)
		}
		if trace {
			lambda *= trainUnit(m, without)
		}
		meanZ, meanY := m.MeanZ, m.MeanY
		if without == nil {
			errs[i] = r.solver.solve(ctx, m, lambda)
		} else {
			meanZ, meanY, errs[i] = r.solver.solveWithout(ctx, m, without, lambda)
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if errs[i] == nil {
			models[i] = r.solver.linear(meanZ, meanY)
		}
	}
	return models, errs, nil
}

// trainUnit is [unit] of the rows of all that are not in the fold, by the formula of
// solveWithout.
func trainUnit(all, fold *moments.Moments) float64 {
	if fold == nil {
		return unit(all)
	}
	product := all.Weight * (fold.Weight / (all.Weight - fold.Weight))
	t := 0.0
	for i := range all.D {
		e := all.MeanZ[i] - fold.MeanZ[i]
		t += all.H[i*all.D+i] - fold.H[i*all.D+i] - product*e*e
	}
	if t <= 0 {
		return 1
	}
	return t / float64(all.D)
}

// linear is the solution with its weights rounded, for rows of these means.
func (s *solver) linear(meanZ, meanY []float64) *Linear {
	l := &Linear{W: matrix.NewDense(s.d, s.k), B: make([]float64, s.k)}
	copy(l.B, meanY)
	for i := range s.d {
		row := l.W.Row(i)
		for t := range row {
			row[t] = float32(s.w[i*s.k+t])
			// The weights as they will be used, so that the mean is right.
			l.B[t] -= float64(row[t]) * meanZ[i]
		}
	}
	return l
}
