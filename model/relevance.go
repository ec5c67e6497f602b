package model

import (
	"cmp"
	"slices"
)

// Relevance is the importance of a column in the distances of a learned metric.
type Relevance struct {
	Column string  `json:"column"`
	Share  float64 `json:"share"`
}

// Relevance lists the columns of the data by their share of the diagonal of the metric M, the largest first:
// for scaled rows, the share of each column in the squared gradient of the learned function. The values of a
// categorical column are added up. If machines have metrics of their own it is the mean over them
// (rfm.Machine.Relevance). It is nil for a model without a metric.
func (m *Model) Relevance() []Relevance {
	var diagonal []float64
	if own, ok := m.predictor.(Recursive); ok {
		diagonal = own.Relevance()
	} else if by := m.pipeline.Metric(); by != nil {
		diagonal = by.Relevance()
	} else {
		return nil
	}
	trace := 0.0
	for _, v := range diagonal {
		trace += v
	}
	names, sums := m.info.Schema.ByColumn(diagonal)
	list := make([]Relevance, len(names))
	for i, name := range names {
		list[i] = Relevance{name, sums[i] / trace}
	}
	slices.SortStableFunc(list, func(a, b Relevance) int { return cmp.Compare(b.Share, a.Share) })
	return list
}
