package trial

import (
	"context"
	"math"
	"slices"

	"mercer/dataset"
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
