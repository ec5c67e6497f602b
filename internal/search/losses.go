package search

import (
	"context"
	"math"
	"slices"

	"mercer/dataset"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// MeanError returns the mean of numbers and its standard error.
func MeanError(v []float64) (mean, se float64) {
	for _, x := range v {
		mean += x
	}
	n := float64(len(v))
	mean /= n
	if n < 2 {
		return mean, 0
	}
	for _, x := range v {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// clusterError returns the mean of numbers and its standard error if those of a cluster are not
// independent: the standard error of the sums over clusters.
func clusterError(v []float64, clusters []int) (mean, se float64) {
	mean, _ = MeanError(v)
	sums := map[int]float64{}
	for i, x := range v {
		sums[clusters[i]] += x - mean
	}
	k := float64(len(sums))
	if k < 2 {
		return mean, 0
	}
	// Squares are added in the order of their clusters, for the same bits every time.
	for c := range slices.Max(clusters) + 1 {
		se += sums[c] * sums[c]
	}
	return mean, math.Sqrt(se*k/(k-1)) / float64(len(v))
}

// Losses returns the losses on the rows of src, in its order: 0 or 1 for classes, the share of wrong
// labels for sets of them, the squared error summed over the outputs for numbers.
func Losses(ctx context.Context, m *model.Model, src dataset.Source) ([]float64, error) {
	var classes *dataset.Classes
	if m.Classes() != nil {
		classes = dataset.NewClasses(m.Classes())
	}
	sets := m.LabelSets()
	var out []float64
	var scores matrix.Dense
	has := make([]bool, m.Outputs())
	src = dataset.WithMeans(src, &m.Info().Schema)
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		scores.Reshape(b.X.Len(), m.Outputs())
		if err := m.Learned(&scores, b.X); err != nil {
			return nil, dataset.Locate(err, src, b.First)
		}
		for i := range b.X.Len() {
			row, loss := scores.Row(i), 0.0
			switch {
			case classes != nil:
				if classes.Of(b.Batch, i) != m.Class(row) {
					loss = 1
				}
			case sets != nil:
				unknown, err := sets.Of(b.Batch, i, has)
				if err != nil {
					return nil, err
				}
				loss = float64(len(unknown))
				for t, v := range row {
					if has[t] != m.Has(t, v) {
						loss++
					}
				}
				loss /= float64(len(row) + len(unknown))
			default:
				for t, v := range row {
					e := b.Y[i*b.Outputs+t] - m.Value(t, v)
					loss += e * e
				}
			}
			out = append(out, loss)
		}
	}
	return out, nil
}

// LogLosses returns -ln p of the class of each row of src, in its order. A model without probabilities gets some by Platt's method
// from its scores of these rows (learn.LogLosses). A class that the model does not know has the loss of an impossible one.
func LogLosses(ctx context.Context, m *model.Model, src dataset.Source) ([]float64, error) {
	classes, k := dataset.NewClasses(m.Classes()), m.Outputs()
	var known []int // rows of known classes
	var of []int
	var scores []float32
	var part matrix.Dense
	var out []float64
	p := make([]float64, len(m.Classes()))
	src = dataset.WithMeans(src, &m.Info().Schema)
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		part.Reshape(b.X.Len(), k)
		if err := m.Learned(&part, b.X); err != nil {
			return nil, dataset.Locate(err, src, b.First)
		}
		for i := range b.X.Len() {
			loss, c := learn.LogLoss(0), classes.Of(b.Batch, i)
			if c >= 0 && m.HasProbabilities() {
				if err := m.Probabilities(p, part.Row(i)); err != nil {
					return nil, err
				}
				loss = learn.LogLoss(p[c])
			} else if c >= 0 {
				known, of, scores = append(known, len(out)), append(of, c), append(scores, part.Row(i)...)
			}
			out = append(out, loss)
		}
	}
	if known == nil {
		return out, nil
	}
	losses, err := learn.LogLosses(scores, of, len(m.Classes()), nil)
	if err != nil {
		return nil, err
	}
	for at, i := range known {
		out[i] = losses[at]
	}
	return out, nil
}

// Unbalanced says that a class of the rows is rare (learn.Unbalanced), so that candidates are judged by log loss.
func (s *Sample) Unbalanced() bool {
	return s.Task == "classify" && learn.Unbalanced(s.strata, slices.Max(s.strata)+1)
}
