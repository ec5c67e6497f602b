package learn

import (
	"cmp"
	"context"
	"errors"
	"math"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// spectrum is a ridge regression on the diagonal: with H = UᵀDU, a row of U an eigenvector,
// and V' = UV, the solution for any λ is W = Uᵀ(D + λI)⁻¹V' (L12, algorithm 3), and its
// statistics are sums over the D eigenvalues.
type spectrum struct {
	m       *moments.Moments
	values  []float64 // D, ascending, 0 or more
	floor   float64   // values up to this are rounding errors
	vectors []float64 // D×D: U
	v       []float64 // D×K: V'
}

// newSpectrum uses the memory of the solver's factor, and 16·D² bytes more temporarily.
func newSpectrum(ctx context.Context, m *moments.Moments, s *solver) (*spectrum, error) {
	d, k := m.D, m.K
	sp := &spectrum{m: m, values: make([]float64, d), vectors: s.factor, v: make([]float64, d*k)}
	largest := 0.0
	for i := range d {
		copy(sp.vectors[i*d+i:(i+1)*d], m.H[i*d+i:])
		largest = max(largest, m.H[i*d+i])
	}
	if !vec.EigenSym(ctx, d, sp.vectors, d, sp.values, true) {
		return nil, cmp.Or(ctx.Err(), errors.New("the moments of the features have no eigenvalues in float64; scale the inputs"))
	}
	// The errors of the elements of H are Noise·√(H_ii·H_jj), a matrix whose eigenvalues are
	// at most 2√D times that if its elements are independent.
	sp.floor = math.Sqrt(float64(d)) * m.Noise * largest
	for i, v := range sp.values {
		sp.values[i] = max(v, 0)
	}
	vt := make([]float64, d*k)
	for i := range d {
		for t := range k {
			vt[t*d+i] = m.V[i*k+t]
		}
	}
	vec.GemmNT(d, k, d, sp.vectors, d, vt, d, sp.v, k)
	return sp, nil
}

// inverse is 1/(d+λ) for eigenvalue i, and 0 for λ = 0 in a direction without variance.
func (s *spectrum) inverse(i int, lambda float64) float64 {
	if lambda == 0 && s.values[i] <= s.floor {
		return 0
	}
	return 1 / (s.values[i] + lambda)
}

// solve sets the solver's w and returns, for λ = 0, the number of directions that count.
func (s *spectrum) solve(lambda float64, to *solver) (rank int) {
	d, k := s.m.D, s.m.K
	c := make([]float64, d*k)
	for i := range d {
		g := s.inverse(i, lambda)
		if lambda == 0 && g > 0 {
			rank++
		}
		for t := range k {
			c[i*k+t] = g * s.v[i*k+t]
		}
	}
	clear(to.w)
	vec.GemmAddTN(d, k, d, s.vectors, d, c, k, to.w, k)
	return rank
}

// parameters is the effective number of parameters without the intercept, Σ d/(d+λ).
func (s *spectrum) parameters(lambda float64) float64 {
	sum := 0.0
	for i, v := range s.values {
		sum += v * s.inverse(i, lambda)
	}
	return sum
}

// residual is the sum of squared residuals of target t, YY - Σ v²(d+2λ)/(d+λ)²; its
// accuracy is limited by the noise of H.
func (s *spectrum) residual(t int, lambda float64) float64 {
	sum := s.m.YY[t]
	for i, d := range s.values {
		g := s.inverse(i, lambda)
		v := s.v[i*s.m.K+t] * g
		sum -= v * v * (d + 2*lambda)
	}
	return max(sum, s.m.Noise*s.m.YY[t])
}

// gcv is the generalised cross-validation error (Golub, Heath and Wahba 1979) as a mean over
// the rows, summed over the targets: with p effective parameters without the intercept,
// n²/(n-1-p)² times the mean of squared residuals.
func (s *spectrum) gcv(lambda float64) float64 {
	n := float64(s.m.Used)
	free := n - 1 - s.parameters(lambda)
	if !(free > 0) {
		return math.Inf(1)
	}
	sum := 0.0
	for t := range s.m.K {
		sum += s.residual(t, lambda)
	}
	return sum / s.m.Labelled * (n / free) * (n / free)
}

// evidence is -2 times the logarithm of the likelihood of the targets, up to a constant,
// for weights that are normal with variance σ²/λ and noise of variance σ², at the best σ² of
// each target (MacKay 1992; the intercept has a flat prior):
//
//	Σ_t (n-1)·log((YY - Σ v²/(d+λ))/(n-1)) + K·Σ log((d+λ)/λ).
func (s *spectrum) evidence(lambda float64) float64 {
	n := float64(s.m.Used - 1)
	if !(n > 0) {
		return math.Inf(1)
	}
	determinant := 0.0
	for _, d := range s.values {
		determinant += math.Log1p(d / lambda)
	}
	sum := 0.0
	for t, yy := range s.m.YY {
		if yy == 0 {
			continue
		}
		e := yy
		for i := range s.values {
			v := s.v[i*s.m.K+t]
			e -= v * v * s.inverse(i, lambda)
		}
		sum += n*math.Log(max(e, s.m.Noise*yy)/n) + determinant
	}
	return sum
}

// choose sets the report's λ and path by the method By. The path begins at λ above
// the noise of H: leave-one-out errors are only as accurate as the eigenvalues.
func (s *spectrum) choose(rows func(func(z *matrix.Dense, y, w []float64) error) error, r *RidgeReport) error {
	scale := unit(s.m)
	low := max(pathLow, math.Ceil(math.Log10(s.m.Noise)/pathStep)*pathStep)
	for e := low; e <= pathHigh; e += pathStep {
		lambda := scale * math.Pow(10, e)
		p := PathPoint{Lambda: lambda, Parameters: s.parameters(lambda)}
		if v := s.gcv(lambda); v-v == 0 {
			p.GCV, p.Error = &v, v
		} else {
			p.Error = math.Inf(1)
		}
		if r.By == "evidence" {
			if v := s.evidence(lambda); v-v == 0 {
				p.Evidence = &v
			}
		}
		r.Path = append(r.Path, p)
	}
	if r.By == "loo" {
		if err := s.leaveOneOut(rows, r.Path); err != nil {
			return err
		}
	}
	best, least := -1, math.Inf(1)
	path := r.Path[:0]
	for _, p := range r.Path {
		judge := p.Error
		if r.By == "evidence" {
			judge = math.Inf(1)
			if p.Evidence != nil {
				judge = *p.Evidence
			}
		}
		if math.IsInf(judge, 1) || math.IsInf(p.Error, 1) {
			continue
		}
		if judge < least {
			best, least = len(path), judge
		}
		path = append(path, p)
	}
	if r.Path = path; best >= 0 {
		r.Path[best].Chosen = true
		r.Lambda = r.Path[best].Lambda
	}
	return nil
}
