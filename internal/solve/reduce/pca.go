// Package reduce finds a few directions that hold most of the variance of many features: the
// principal components of rows, computed from their moments without reading the rows again. What a linear
// model learns on the components is folded into weights on the features, so that predicting
// costs no projection (Li, Lebanon and Sminchisescu 2012, section 6).
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

// PCA says how many principal components to keep. Give Components or Share; if both are
// given, the smaller number of components is kept.
type PCA struct {
	// Components is K, the number of components; 0 means as many as Share needs.
	Components int

	// Share is the share of the variance that the components must hold at least, up to 1;
	// 0 means whatever Components hold.
	Share float64

	// Whiten gives all components the same variance: each is divided by its standard deviation.
	Whiten bool
}

// Report describes the components that a PCA kept.
type Report struct {
	// Features is D, Components K. Asked is the Components of the PCA if there are fewer:
	// directions in which rows do not vary, except for rounding, are not components.
	Features   int `json:"features"`
	Components int `json:"components"`
	Asked      int `json:"asked,omitempty"`

	// Share is the share of the variance that the components hold, Variance the total: the sum
	// of the variances Σw(z-z̄)²/Σw of all features.
	Share    float64 `json:"share"`
	Variance float64 `json:"variance"`

	// Unlabelled is the number of rows used to find the components besides those of the training.
	Unlabelled int `json:"unlabelled,omitempty"`

	// Variances are those of the components, descending, before whitening.
	Variances []float64 `json:"variances"`

	// Method is "full", divide and conquer, which finds the components to rounding, or
	// "krylov", for which Residual is the largest ‖Hu - λu‖ relative to the largest eigenvalue. "lda"
	// says that they are linear discriminants, and the variances those between classes, where within them it is 1; Shrinkage
	// is that of the covariance within classes.
	Method   string  `json:"method"`
	Residual float64 `json:"residual,omitempty"`

	Shrinkage float64 `json:"shrinkage,omitempty"`

	// Whitened says that components were divided by their standard deviations.
	Whitened bool `json:"whitened,omitempty"`

	// Seconds is the time it took. A model file does not keep it because it is not a function of the data.
	Seconds float64 `json:"-"`

	// Maps are the components of each map of a sum, if they were reduced before the whole.
	Maps []*Report `json:"maps,omitempty"`
}

// Lines describes what was kept, for display.
func (r *Report) Lines() []string {
	if r.Discriminants() {
		return r.discriminantLines()
	}
	text := fmt.Sprintf("%d principal components of %d features hold %s of the variance", r.Components, r.Features, percent(r.Share))
	if r.Whitened {
		text += ", whitened"
	}
	if r.Asked > 0 {
		text += fmt.Sprintf(" (%d were asked for, but no others stand out of rounding)", r.Asked)
	}
	text += "; " + r.Method
	if r.Unlabelled > 0 {
		text += fmt.Sprintf("; with %d unlabelled rows", r.Unlabelled)
	}
	if r.Seconds > 0 {
		text += fmt.Sprintf(", %.2g s", r.Seconds)
	}
	lines := []string{text}
	for i, m := range r.Maps {
		lines = append(lines, fmt.Sprintf("of map %d: %s", i+1, m.Lines()[0]))
	}
	return lines
}

// Discriminants says that the components are linear discriminants.
func (r *Report) Discriminants() bool { return r.Method == "lda" }

// discriminantLines is Lines for linear discriminants.
func (r *Report) discriminantLines() []string {
	noun := "linear discriminants"
	if r.Components == 1 {
		noun = "linear discriminant"
	}
	text := fmt.Sprintf("%d %s of %d features, with %s of what tells the classes apart; shrinkage %.3g", r.Components, noun, r.Features,
		percent(r.Share), r.Shrinkage)
	if r.Asked > 0 {
		text += fmt.Sprintf(" (%d were asked for; there are no more than classes less one)", r.Asked)
	}
	if r.Seconds > 0 {
		text += fmt.Sprintf(", %.2g s", r.Seconds)
	}
	return []string{text}
}

// percent formats a share, with more digits if it is nearly all.
func percent(share float64) string {
	digits := 1
	for rest := 1 - share; rest > 0 && rest < 0.02 && digits < 6; rest *= 10 {
		digits++
	}
	return fmt.Sprintf("%.*f %%", digits, 100*share)
}

// Check checks the PCA itself.
func (p PCA) Check() error {
	switch {
	case p.Components < 0:
		return fmt.Errorf("components %d is not a positive number", p.Components)
	case math.IsNaN(p.Share) || p.Share < 0 || p.Share > 1:
		return fmt.Errorf("the share of the variance %g is not a number above 0 and up to 1", p.Share)
	case p.Components == 0 && p.Share == 0:
		return fmt.Errorf("neither a number of components nor a share of the variance is given")
	}
	return nil
}

// Fit finds the principal components of rows with the moments m: the eigenvectors of H
// with the largest eigenvalues, the largest first, each with the sign that makes its element
// of the largest absolute value positive.
//
// An eigenvalue that may be due to rounding of H is not kept; it is an error if H has no variance at
// all. Few of many components come from a block Krylov method, with n²m multiply-adds for a basis
// of m, otherwise they come from a full decomposition. Work memory: 32·D² bytes.
func (p PCA) Fit(ctx context.Context, m *moments.Moments) (*Projection, *Report, error) {
	if err := p.Check(); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	d := m.D
	trace := 0.0
	for i := range d {
		trace += m.H[i*d+i]
	}
	if m.Rows < 2 || !(trace > 0) || math.IsInf(trace, 0) {
		return nil, nil, fmt.Errorf("%d rows of %d features with a variance of %g have no principal components", m.Rows, d,
			trace/max(m.Weight, 1))
	}
	most := min(d, m.Rows-1)
	if p.Components > 0 {
		most = min(most, p.Components)
	}
	report := &Report{Features: d, Variance: trace / m.Weight, Whitened: p.Whiten}
	s := &spectrum{}
	if p.Share == 0 && d >= krylovFrom && most <= d/krylovShare {
		s = krylov(ctx, d, mirrored(m.H, d), most, krylovTolerance)
		report.Method = "krylov"
	}
	if s.vectors == nil {
		var err error
		if s, err = full(ctx, m.H, d, func(values []float64) int { return p.count(values, most, trace, floor(m, trace, values[0])) }); err != nil {
			return nil, nil, err
		}
		report.Method = "full"
	}
	k := p.count(s.values, most, trace, floor(m, trace, s.values[0]))
	if k == 0 {
		return nil, nil, fmt.Errorf("%d features have no principal component that stands out of rounding", d)
	}
	if k < p.Components && p.Share == 0 {
		report.Asked = p.Components
	}
	report.Components, report.Residual = k, s.residual
	q := &Projection{d: d, k: k, mean: slices.Clone(m.MeanZ), u: s.vectors[:k*d]}
	held := 0.0
	for c := range k {
		u := q.u[c*d : (c+1)*d]
		settleSign(u)
		held += s.values[c]
		variance := s.values[c] / m.Weight
		report.Variances = append(report.Variances, variance)
		if p.Whiten {
			f := 1 / math.Sqrt(variance)
			for i := range u {
				u[i] *= f
			}
		}
	}
	report.Share = min(1, held/trace)
	q.narrow()
	report.Seconds = time.Since(start).Seconds()
	return q, report, nil
}

// count returns how many of the descending eigenvalues are kept: at most the given number, none that may be due
// to rounding, and no more than the share needs.
func (p PCA) count(values []float64, most int, trace, floor float64) int {
	sum := 0.0
	for k := range min(most, len(values)) {
		if values[k] <= floor || p.Share > 0 && sum >= p.Share*trace {
			return k
		}
		sum += values[k]
	}
	return min(most, len(values))
}

// floor is the size that eigenvalues of H may have due to rounding alone. The decomposition has an error of about
// D·2⁻⁵² of the largest. The errors of H's elements are independent, so that as a matrix they
// have a norm of about 2√D of them.
func floor(m *moments.Moments, trace, largest float64) float64 {
	d := float64(m.D)
	return 4*d*0x1p-52*largest + 2*math.Sqrt(d)*m.Noise*trace/d
}

// spectrum is the largest eigenvalues, descending, and at least as many eigenvectors, one per row of
// D numbers.
type spectrum struct {
	values, vectors []float64
	residual        float64 // the largest, relative to the largest eigenvalue
}

// full decomposes H, whose upper triangle is given, and computes as many vectors as count returns
// for all eigenvalues.
func full(ctx context.Context, h []float64, d int, count func(descending []float64) int) (*spectrum, error) {
	a, values := slices.Clone(h), make([]float64, d)
	k := 0
	ok := vec.EigenSymTop(ctx, d, a, d, values, func(ascending []float64) int {
		descending := slices.Clone(ascending)
		slices.Reverse(descending)
		k = count(descending)
		return k
	})
	if !ok {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("the products of %d features have no eigenvalues: a sum is not finite, or the values "+
			"are too large; scale the inputs", d))
	}
	slices.Reverse(values)
	for i := range k / 2 {
		row, other := a[i*d:(i+1)*d], a[(k-1-i)*d:(k-i)*d]
		for j, v := range row {
			row[j], other[j] = other[j], v
		}
	}
	return &spectrum{values: values, vectors: slices.Clone(a[:max(1, k)*d])}, nil
}

// settleSign makes the element of largest absolute value positive, the first if there are several:
// a vector's sign means nothing, but it should not be left to chance.
func settleSign(u []float64) {
	largest := 0.0
	for _, v := range u {
		// Two elements that differ only by rounding count as equal.
		if math.Abs(v) > math.Abs(largest)*(1+0x1p-20) {
			largest = v
		}
	}
	if largest < 0 {
		for i := range u {
			u[i] = -u[i]
		}
	}
}

// mirrored returns the full matrix whose upper triangle is given.
func mirrored(h []float64, d int) *vec.Packed[float64] {
	a := slices.Clone(h)
	const tile = 64
	vec.Parallel((d+tile-1)/tile, 1, func(lo, hi int) {
		for i0 := lo * tile; i0 < min(hi*tile, d); i0 += tile {
			for j0 := 0; j0 <= i0; j0 += tile {
				for i := i0; i < min(i0+tile, d); i++ {
					for j := j0; j < min(j0+tile, i); j++ {
						a[i*d+j] = h[j*d+i]
					}
				}
			}
		}
	})
	return vec.Pack64(d, d, a, d)
}
