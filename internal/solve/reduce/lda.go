package reduce

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/moments"
)

// LDA says how many linear discriminants to keep: the directions u along which the means of classes lie farthest apart, measured
// by the covariance Σ within classes,
//
//	max over u of uᵀS_b u, uᵀΣu = 1, each orthogonal to the others by Σ,
//
// S_b = Σ π_c(μ_c-z̄)(μ_c-z̄)ᵀ. Of C classes there are at most C - 1. Components have variance 1 within
// classes, up to the shrinkage.
type LDA struct {
	// Components is the number of discriminants; 0 means all.
	Components int

	// Shrinkage s makes Σ (1-s)Σ + s·tr(Σ)/D·I. 0 means moments.OracleShrinkage, unless Given is set.
	Shrinkage float64
	Given     bool
}

// least is the part of the largest ratio between and within classes up to which others are rounding.
const least = 1e-10

// Fit finds the discriminants from moments of rows with targets that tell their classes (moments.Classes), the largest ratio
// first; signs are settled as those of principal components. With Σ = RᵀR they are R⁻¹q for the left singular vectors q of
// R⁻ᵀ[√π_c(μ_c-z̄)], which cost an eigenproblem of order C. Work memory: 8·D² + 16·D·C bytes.
func (p LDA) Fit(ctx context.Context, m *moments.Moments) (*Projection, *Report, error) {
	if p.Components < 0 {
		return nil, nil, fmt.Errorf("components %d is not a positive number", p.Components)
	}
	if !(p.Shrinkage >= 0 && p.Shrinkage <= 1) {
		return nil, nil, fmt.Errorf("shrinkage %g is not a number from 0 to 1", p.Shrinkage)
	}
	start := time.Now()
	classes, err := m.Classes()
	if err != nil {
		return nil, nil, err
	}
	d, c := m.D, len(classes.Weight)
	sigma := vec.FreshUpper64(d)
	classes.Within(sigma)
	report := &Report{Features: d, Method: "lda", Shrinkage: p.Shrinkage}
	if p.Shrinkage == 0 && !p.Given {
		report.Shrinkage = moments.OracleShrinkage(sigma, d, classes.Rows)
	}
	moments.Shrink(sigma, d, report.Shrinkage)
	between, solved := make([]float64, d*c), make([]float64, d*c) // D×C: B = [√π_c(μ_c-z̄)] and Σ⁻¹B
	for t, n := range classes.Weight {
		root := math.Sqrt(n / classes.Total())
		for i, v := range classes.Offsets[t*d : (t+1)*d] {
			between[i*c+t] = root * v
		}
	}
	copy(solved, between)
	if !vec.CholeskySolve(ctx, d, sigma, d, c, solved, c) {
		return nil, nil, cmp.Or(ctx.Err(), fmt.Errorf("with a shrinkage of %.3g the covariance within classes of %d features has no inverse: "+
			"features are collinear, constant, or nearly as many as rows; give a larger shrinkage, such as 0.1", report.Shrinkage, d))
	}
	inner := make([]float64, c*c) // BᵀΣ⁻¹B
	vec.GemmAddTN(c, c, d, between, c, solved, c, inner, c)
	s, err := full(ctx, inner, c, func(ratios []float64) int { return p.count(ratios) })
	if err != nil {
		return nil, nil, err
	}
	k := p.count(s.values)
	if k == 0 {
		return nil, nil, fmt.Errorf("the classes have the same means of all %d features, so that nothing tells them apart", d)
	}
	if k < p.Components {
		report.Asked = p.Components
	}
	for _, v := range s.values {
		report.Variance += max(v, 0)
	}
	report.Components = k
	q := &Projection{d: d, k: k, mean: slices.Clone(m.MeanZ), u: make([]float64, k*d)}
	held := 0.0
	for e := range k {
		u, v := q.u[e*d:(e+1)*d], s.vectors[e*c:(e+1)*c]
		scale := 1 / math.Sqrt(s.values[e])
		for i := range u {
			for t, x := range v {
				u[i] += float64(solved[i*c+t] * x)
			}
			u[i] *= scale
		}
		settleSign(u)
		held += s.values[e]
		report.Variances = append(report.Variances, s.values[e])
	}
	report.Share = min(1, held/report.Variance)
	q.narrow()
	report.Seconds = time.Since(start).Seconds()
	return q, report, nil
}

// count is how many of the descending ratios are kept.
func (p LDA) count(ratios []float64) int {
	most := len(ratios) - 1
	if p.Components > 0 {
		most = min(most, p.Components)
	}
	for k := range most {
		if !(ratios[k] > 0) || ratios[k] <= least*ratios[0] {
			return k
		}
	}
	return most
}
