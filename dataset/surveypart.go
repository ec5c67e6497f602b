package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// SurveyPart is the survey of some of the rows. Those of adjacent rows are merged; the result is that of a survey of all, but for
// the rounding of means and variances, which depends on the grouping of the parts alone.
type SurveyPart struct{ s *surveyor }

// SurveySome surveys the rows of a source that is a part of the data.
func SurveySome(ctx context.Context, src Source, opt SurveyOptions) (*SurveyPart, error) {
	s, err := surveyRows(ctx, src, opt)
	if err != nil {
		return nil, err
	}
	return &SurveyPart{s}, nil
}

// Rows is the number of rows.
func (p *SurveyPart) Rows() int { return p.s.sum.Rows }

// Summary is the result when all parts have been merged; name is that of the data.
func (p *SurveyPart) Summary(name string) (*Summary, error) {
	p.s.sum.name = name
	return p.s.finish()
}

// Merge adds the rows that follow.
func (p *SurveyPart) Merge(next *SurveyPart) error {
	a, b := p.s, next.s
	x, y := a.sum, b.sum
	switch {
	case y.Rows == 0:
		return nil
	case x.Rows == 0:
		*p = *next
		return nil
	case x.Outputs != y.Outputs:
		return fmt.Errorf("%d labels a row, and %d in the rows before", y.Outputs, x.Outputs)
	case x.Sparse != y.Sparse:
		return errors.New("rows are sparse in one part and dense in another")
	case !x.Sparse && x.Dim != y.Dim:
		return fmt.Errorf("rows have %d dimensions, and %d before", y.Dim, x.Dim)
	}
	x.Dim = max(x.Dim, y.Dim)
	a.mergeColumns(b, y.Rows)
	for t := range x.targets {
		x.targets[t].merge(y.targets[t], float64(x.Rows), float64(y.Rows))
	}
	x.labels.merge(&y.labels)
	x.weights.merge(&y.weights)
	x.Rows += y.Rows
	a.opt.Sample = max(a.opt.Sample, b.opt.Sample)
	a.sample = append(a.sample, b.sample...)
	slices.SortFunc(a.sample, func(x, y sampleRow) int { return cmp.Or(cmp.Compare(y.hash, x.hash), cmp.Compare(y.number, x.number)) })
	if more := len(a.sample) - a.opt.Sample; more > 0 { // the largest hash is first
		a.sample = slices.Clone(a.sample[more:])
	}
	return nil
}

// mergeColumns adds the statistics of columns of n rows.
func (s *surveyor) mergeColumns(o *surveyor, n int) {
	c, d := &s.cols, &o.cols
	c.Grow(s.sum.Dim)
	d.Grow(s.sum.Dim)
	for j := range c.Sum {
		// With e the difference of the shifts, x-c = (x-d) + e. Sparse rows have no shift, and zeros are not added up.
		e := d.Shift[j] - c.Shift[j]
		c.Square[j] += d.Square[j] + float64(2*e*d.Sum[j]) + float64(float64(n)*e*e)
		c.Sum[j] += d.Sum[j] + float64(float64(n)*e)
		c.Least[j], c.Greatest[j] = min(c.Least[j], d.Least[j]), max(c.Greatest[j], d.Greatest[j])
		c.NonZero[j] += d.NonZero[j]
		c.Fractions[j] += d.Fractions[j]
	}
}

// merge adds m targets to n.
func (s *spreads) merge(o spreads, n, m float64) {
	d := o.mean - s.mean
	s.squares += o.squares + float64(d*d*(n*(m/(n+m))))
	s.mean += float64(d * (m / (n + m)))
}

// merge adds labels of other rows.
func (l *labelCounts) merge(o *labelCounts) {
	l.rows += o.rows
	l.fraction = l.fraction || o.fraction
	l.overflow = l.overflow || o.overflow
	l.nominal = l.nominal || o.nominal
	if l.neither == nil {
		l.neither = o.neither
	}
	if l.numbers == nil {
		l.numbers, l.texts = map[float64]int{}, map[string]int{}
	}
	for v, n := range o.numbers {
		l.numbers[v] += n
	}
	for _, text := range slices.Sorted(maps.Keys(o.texts)) {
		if _, known := l.texts[text]; !known && len(l.texts) >= maxDistinct {
			l.overflow = true
			continue
		}
		l.texts[text] += o.texts[text]
	}
	if n := len(l.numbers); l.overflow || n > maxDistinct || l.fraction && n > maxFractions {
		l.overflow, l.numbers = true, map[float64]int{}
	}
}
