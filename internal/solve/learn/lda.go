package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// LDA is the configuration of linear discriminant analysis: classes are normal with means μ_c, one covariance Σ and
// priors π_c, so that
//
//	log p(c | z) = z·Σ⁻¹μ_c - ½ μ_cᵀΣ⁻¹μ_c + log π_c + what classes share.
//
// Σ is the covariance within classes, shrunk to (1-s)Σ + s·tr(Σ)/D·I.
type LDA struct {
	// Shrinkage is s. 0 means moments.OracleShrinkage, unless Given is set.
	Shrinkage float64
	Given     bool

	// Priors are π_c; nil means the shares of the classes.
	Priors []float64
}

// LDAReport describes a discriminant analysis.
type LDAReport struct {
	// Shrinkage is s. Chosen says that it came from the rows.
	Shrinkage float64 `json:"shrinkage"`
	Chosen    bool    `json:"chosen,omitempty"`

	// Priors are π_c, which PriorsGiven says were not the shares of the classes.
	Priors      []float64 `json:"priors"`
	PriorsGiven bool      `json:"priors_given,omitempty"`
}

// Lines describes the fit, for display.
func (r *LDAReport) Lines() []string {
	how, priors := "given", "the shares of the classes"
	if r.Chosen {
		how = "the oracle approximating one"
	}
	if r.PriorsGiven {
		priors = "given"
	}
	return []string{fmt.Sprintf("linear discriminants, shrinkage %.3g (%s), priors %s", r.Shrinkage, how, priors)}
}

// FitLDA fits on statistics with targets as Target writes them. Scores are log p(c | z) up to what all classes share, of two classes
// log p(2 | z) - log p(1 | z). Memory beyond the statistics: 8·D² + 16·D·C bytes.
func FitLDA(ctx context.Context, s *moments.Stats, opt LDA) (*Linear, *LDAReport, error) {
	if err := opt.check(); err != nil {
		return nil, nil, err
	}
	m := s.Moments()
	if err := usable(m); err != nil {
		return nil, nil, err
	}
	c, err := m.Classes()
	if err != nil {
		return nil, nil, err
	}
	r := &LDAReport{Shrinkage: opt.Shrinkage, Priors: opt.Priors, PriorsGiven: opt.Priors != nil}
	if r.Priors == nil {
		for _, n := range c.Weight {
			r.Priors = append(r.Priors, n/c.Total())
		}
	}
	if len(r.Priors) != len(c.Weight) {
		return nil, nil, fmt.Errorf("%d priors for %d classes", len(r.Priors), len(c.Weight))
	}
	d := m.D
	sigma := vec.FreshUpper64(d)
	c.Within(sigma)
	if opt.Shrinkage == 0 && !opt.Given {
		r.Shrinkage, r.Chosen = moments.OracleShrinkage(sigma, d, c.Rows), true
	}
	moments.Shrink(sigma, d, r.Shrinkage)
	k := len(c.Weight)
	w := make([]float64, d*k) // Σ⁻¹(μ_c - z̄)
	for t := range k {
		for i, v := range c.Offsets[t*d : (t+1)*d] {
			w[i*k+t] = v
		}
	}
	if !vec.CholeskySolve(ctx, d, sigma, d, k, w, k) {
		return nil, nil, cmp.Or(ctx.Err(), errors.New(singular(d, r.Shrinkage)))
	}
	return discriminants(m, c, w, r.Priors), r, nil
}

// singular says what to do where a covariance of d features has no inverse.
func singular(d int, shrinkage float64) string {
	text := fmt.Sprintf("with a shrinkage of %.3g the covariance within classes of %d features has no inverse: ", shrinkage, d)
	if shrinkage < 0.1 {
		return text + "features are collinear, constant, or nearly as many as rows; give a larger shrinkage, such as 0.1"
	}
	return text + "rows of one class hardly differ; give more of them, another kernel or map, or take the learner svm"
}

// discriminants are the scores by w = Σ⁻¹(μ_c - z̄), D×C.
func discriminants(m *moments.Moments, c *moments.Classes, w, priors []float64) *Linear {
	d, k := m.D, len(priors)
	b := make([]float64, k) // at z̄
	for t := range k {
		for i, v := range c.Offsets[t*d : (t+1)*d] {
			b[t] -= float64(v*w[i*k+t]) / 2
		}
		b[t] += math.Log(priors[t])
	}
	outputs := TargetColumns(k)
	l := &Linear{W: matrix.NewDense(d, outputs), B: make([]float64, outputs)}
	score := func(v []float64, t int) float64 {
		if outputs == 1 {
			return v[1] - v[0]
		}
		return v[t]
	}
	for t := range outputs {
		l.B[t] = score(b, t)
	}
	for i := range d {
		row := l.W.Row(i)
		for t := range row {
			row[t] = float32(score(w[i*k:(i+1)*k], t))
			l.B[t] -= float64(row[t]) * m.MeanZ[i] // the weights as they will be used
		}
	}
	return l
}

func (opt LDA) check() error {
	if !(opt.Shrinkage >= 0 && opt.Shrinkage <= 1) {
		return fmt.Errorf("shrinkage %g is not a number from 0 to 1", opt.Shrinkage)
	}
	sum := 0.0
	for _, p := range opt.Priors {
		if !(p > 0) || math.IsInf(p, 0) {
			return fmt.Errorf("prior %g is not a number above 0", p)
		}
		sum += p
	}
	if opt.Priors != nil && math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("priors add up to %g, not to 1", sum)
	}
	return nil
}
