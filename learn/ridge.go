package learn

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"mercer/internal/vec"
	"mercer/matrix"
	"mercer/moments"
)

// Ridge says how to fit ridge regression,
//
//	min over W, b of Σ w‖y - Wᵀz - b‖² + λ‖W‖²,
//
// whose solution is W = (H + λI)⁻¹V, b = ȳ - Wᵀz̄ with the centred moments H and V.
type Ridge struct {
	// Lambda is λ; 0 means that the held-out statistics choose it.
	Lambda float64
}

// RidgeReport says what FitRidge chose.
type RidgeReport struct {
	// Lambda is the λ of the final fit.
	Lambda float64 `json:"lambda"`

	// HeldOut is the number of rows that chose λ, 0 if it was given.
	HeldOut int `json:"held_out,omitempty"`

	// Path has the λ that were tried, in the order of λ, each fitted without the held-out
	// rows; nil if λ was given.
	Path []PathPoint `json:"path,omitempty"`
}

// Lines tell a person what was chosen.
func (r *RidgeReport) Lines() []string {
	chosen := "given"
	if n := len(r.Path); n > 0 {
		chosen = fmt.Sprintf("the best of %d on a held-out tenth", n)
	}
	return []string{fmt.Sprintf("λ = %.3g (%s)", r.Lambda, chosen)}
}

// PathPoint is one λ that was tried.
type PathPoint struct {
	Lambda float64 `json:"lambda"`

	// Error is the mean over held-out rows of the squared error, summed over the targets.
	Error float64 `json:"error"`

	// Chosen marks the best.
	Chosen bool `json:"chosen,omitempty"`
}

// The path runs over λ = tr(H)/D·10^e. It starts at pathStart, goes downhill in steps of
// ten until the held-out error rises, and then tries the two half steps beside the best: the
// error as a function of λ has one valley, so that a few factorisations find its bottom.
// Below pathLow the rounding of float32 features is larger than λ.
const (
	pathStart = -3.0
	pathLow   = -9.0
	pathHigh  = 4.0
)

// FitRidge fits on main and held together. If λ is not given, every λ of a path is fitted on
// main and judged by held alone; the best, in proportion to the number of rows, makes the
// final fit. held may be nil if λ is given; main takes in held's rows.
//
// Each λ costs one Cholesky factorisation, D³/3 multiplications, and no pass over the data.
// Memory beyond the two statistics: 8·D² + 16·D·K bytes.
func FitRidge(main, held *moments.Stats, opt Ridge) (*Linear, *RidgeReport, error) {
	m := main.Moments()
	report := &RidgeReport{Lambda: opt.Lambda}
	solver := newSolver(m.D, m.K)
	if opt.Lambda == 0 {
		if held == nil {
			panic("learn: FitRidge needs held-out statistics to choose λ")
		}
		if h := held.Moments(); h.Weight > 0 && m.Weight > 0 {
			if err := choose(solver, m, h, report); err != nil {
				return nil, nil, err
			}
			report.Lambda *= (m.Weight + h.Weight) / m.Weight
		}
	}
	if held != nil {
		main.Merge(held)
		m = main.Moments()
	}
	if m.Weight == 0 {
		return nil, nil, errors.New("no rows to fit a ridge regression on")
	}
	if report.Lambda == 0 {
		// Too few rows to hold any back.
		report.Lambda = unit(m) * math.Pow(10, pathStart)
	}
	if err := solver.solve(m, report.Lambda); err != nil {
		return nil, nil, err
	}
	l := &Linear{W: matrix.NewDense(m.D, m.K), B: make([]float64, m.K)}
	copy(l.B, m.MeanY)
	for i := range m.D {
		row := l.W.Row(i)
		for t := range row {
			row[t] = float32(solver.w[i*m.K+t])
			// The weights as they will be used, so that the mean comes out right.
			l.B[t] -= float64(row[t]) * m.MeanZ[i]
		}
	}
	return l, report, nil
}

// unit is tr(H)/D, the scale of λ; 1 if no feature varies.
func unit(s *moments.Moments) float64 {
	t := 0.0
	for i := range s.D {
		t += s.H[i*s.D+i]
	}
	if t <= 0 {
		return 1
	}
	return t / float64(s.D)
}

// choose walks the path and sets report.Lambda, Path and HeldOut.
func choose(solver *solver, main, held *moments.Moments, report *RidgeReport) error {
	scale := unit(main)
	tried := map[float64]float64{} // exponent → held-out error
	try := func(e float64) float64 {
		if err, ok := tried[e]; ok {
			return err
		}
		tried[e] = math.Inf(1)
		if solver.solve(main, scale*math.Pow(10, e)) == nil {
			tried[e] = solver.heldOut(main, held)
		}
		return tried[e]
	}
	best := pathStart
	for _, step := range []float64{-1, 1} {
		for e := best + step; e >= pathLow && e <= pathHigh && try(e) < try(best); e += step {
			best = e
		}
		if best != pathStart {
			break
		}
	}
	for _, e := range []float64{best - 0.5, best + 0.5} {
		if try(e) < try(best) {
			best = e
		}
	}
	if math.IsInf(try(best), 1) {
		return fmt.Errorf("no λ from %.2g to %.2g makes the system of %d features positive definite; scale the inputs, or give a larger λ",
			scale*math.Pow(10, pathLow), scale*math.Pow(10, pathHigh), main.D)
	}
	report.Lambda = scale * math.Pow(10, best)
	report.HeldOut = held.Rows
	for _, e := range slices.Sorted(maps.Keys(tried)) {
		if !math.IsInf(tried[e], 1) {
			report.Path = append(report.Path, PathPoint{Lambda: scale * math.Pow(10, e), Error: tried[e], Chosen: e == best})
		}
	}
	return nil
}

// solver holds the memory of a solution.
type solver struct {
	d, k   int
	factor []float64 // D×D
	w      []float64 // D×K: the solution
	wt     []float64 // K×D: Wᵀ
}

func newSolver(d, k int) *solver {
	return &solver{d: d, k: k, factor: make([]float64, d*d), w: make([]float64, d*k), wt: make([]float64, d*k)}
}

// solve sets w = (H + λI)⁻¹V.
func (s *solver) solve(m *moments.Moments, lambda float64) error {
	copy(s.factor, m.H)
	for i := range s.d {
		s.factor[i*s.d+i] += lambda
	}
	copy(s.w, m.V)
	if !vec.CholeskySolve(s.d, s.factor, s.d, s.k, s.w, s.k) {
		return fmt.Errorf("λ = %.3g is too small for %d features: the system is not positive definite; give a larger λ", lambda, s.d)
	}
	return nil
}

// heldOut is the mean squared error of w, fitted on main, on the rows of held. With held's
// centred moments and e = (ȳ_held - ȳ_main) - Wᵀ(z̄_held - z̄_main), the mean residual,
//
//	Σ w‖y - Wᵀz - b‖² = YY - 2 tr(WᵀV) + tr(WᵀHW) + n‖e‖².
func (s *solver) heldOut(main, held *moments.Moments) float64 {
	for i := range s.d {
		for t := range s.k {
			s.wt[t*s.d+i] = s.w[i*s.k+t]
		}
	}
	whw := make([]float64, s.k)
	vec.QuadraticForms(whw, s.d, held.H, s.d, s.k, s.wt, s.d)
	sum := 0.0
	for t := range s.k {
		e := held.MeanY[t] - main.MeanY[t]
		q := held.YY[t] + whw[t]
		for i := range s.d {
			w := s.w[i*s.k+t]
			e -= w * (held.MeanZ[i] - main.MeanZ[i])
			q -= 2 * w * held.V[i*s.k+t]
		}
		sum += max(q, 0) + held.Weight*e*e
	}
	return sum / held.Weight
}
