package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/moments"
)

// solver holds the memory of a solution.
type solver struct {
	d, k   int
	factor []float64 // D×D
	w      []float64 // D×K: the solution
	wt     []float64 // K×D: Wᵀ

	penalty []float64 // factors of λ, nil: 1
}

func newSolver(d, k int) *solver {
	return &solver{d: d, k: k, factor: vec.Fresh64(d * d), w: make([]float64, d*k), wt: make([]float64, d*k)}
}

// Room is the memory of solutions, 8·D² + 16·D·K bytes. If it is allocated before rows
// are read, only the half that is used becomes resident; later the runtime may have to clear
// reused memory, which makes all of it resident for a moment.
type Room struct{ s *solver }

// NewRoom makes room for d features and k outputs.
func NewRoom(d, k int) *Room { return &Room{newSolver(d, k)} }

// solver returns the room, or allocates one if there is none for so many features and outputs.
func (r *Room) solver(d, k int) *solver {
	if r == nil || r.s.d != d || r.s.k != k {
		return newSolver(d, k)
	}
	return r.s
}

// solve sets w = (H + λI)⁻¹V.
func (s *solver) solve(ctx context.Context, m *moments.Moments, lambda float64) error {
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(s.factor[i*s.d+i:(i+1)*s.d], m.H[i*s.d+i:]) // pages of the other half stay untouched
		}
	})
	copy(s.w, m.V)
	return s.finish(ctx, lambda)
}

// finish solves for w in place, the factor being H.
func (s *solver) finish(ctx context.Context, lambda float64) error {
	for i := range s.d {
		own := lambda
		if s.penalty != nil {
			own *= s.penalty[i]
		}
		s.factor[i*s.d+i] += own
	}
	if !vec.CholeskySolve(ctx, s.d, s.factor, s.d, s.k, s.w, s.k) {
		return cmp.Or(ctx.Err(),
			fmt.Errorf("λ = %.3g is too small for %d features: the system is not positive definite; give a larger λ", lambda, s.d))
	}
	return nil
}

// solveWithout is solve for the rows of all that are not in the fold, whose means it returns:
// the formulas of Chan, Golub and LeVeque backwards. With the weights W of all, F of the fold
// and W-F,
//
//	z̄' = z̄ + F/(W-F)·(z̄ - z̄_fold),  H' = H - H_fold - F·W/(W-F)·(z̄ - z̄_fold)(z̄ - z̄_fold)ᵀ.
func (s *solver) solveWithout(ctx context.Context, all, fold *moments.Moments, lambda float64) (meanZ, meanY []float64, err error) {
	rest := all.Weight - fold.Weight
	if !(rest > 0) {
		return nil, nil, errors.New("a fold has all rows")
	}
	share := fold.Weight / rest
	product := share * all.Weight
	dz, dy := make([]float64, s.d), make([]float64, s.k)
	meanZ, meanY = make([]float64, s.d), make([]float64, s.k)
	for i := range dz {
		dz[i] = all.MeanZ[i] - fold.MeanZ[i]
		meanZ[i] = all.MeanZ[i] + share*dz[i]
	}
	for t := range dy {
		dy[t] = all.MeanY[t] - fold.MeanY[t]
		meanY[t] = all.MeanY[t] + share*dy[t]
	}
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := s.factor[i*s.d+i : (i+1)*s.d]
			copy(row, all.H[i*s.d+i:])
			vec.Axpy64(-1, fold.H[i*s.d+i:(i+1)*s.d], row)
			vec.Axpy64(-product*dz[i], dz[i:], row)
			for t := range dy {
				s.w[i*s.k+t] = all.V[i*s.k+t] - fold.V[i*s.k+t] - float64(product*dz[i]*dy[t])
			}
		}
	})
	return meanZ, meanY, s.finish(ctx, lambda)
}

// heldOut is the weighted sum of squared errors of w, fitted on rows of the given means, on
// the rows of held. With held's centred moments and e = (ȳ_held - ȳ) - Wᵀ(z̄_held - z̄), the
// mean residual,
//
//	Σ w‖y - Wᵀz - b‖² = YY - 2 tr(WᵀV) + tr(WᵀHW) + n‖e‖².
func (s *solver) heldOut(meanZ, meanY []float64, held *moments.Moments) float64 {
	for i := range s.d {
		for t := range s.k {
			s.wt[t*s.d+i] = s.w[i*s.k+t]
		}
	}
	whw := make([]float64, s.k)
	vec.QuadraticForms(whw, s.d, held.H, s.d, s.k, s.wt, s.d)
	sum := 0.0
	for t := range s.k {
		e := held.MeanY[t] - meanY[t]
		q := held.YY[t] + whw[t]
		for i := range s.d {
			w := s.w[i*s.k+t]
			e -= w * (held.MeanZ[i] - meanZ[i])
			q -= 2 * w * held.V[i*s.k+t]
		}
		sum += max(q, 0) + held.Weight*e*e
	}
	return sum
}
