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

// clusterError returns the mean of numbers and its standard error if those of a cluster are not
// independent: the standard error of the sums over clusters.
func clusterError(v []float64, clusters []int) (mean, se float64) {
	mean, _ = meanError(v)
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

// scored calls body with each row of a source and the scores that a model has for it.
func scored(ctx context.Context, m *model.Model, src dataset.Source, body func(b *matrix.Batch, i int, scores []float32) error) error {
	var scores matrix.Dense
	src = dataset.WithMeans(src, &m.Info().Schema)
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return err
		}
		scores.Reshape(b.X.Len(), m.Outputs())
		if err := m.Learned(&scores, b.X); err != nil {
			return dataset.Locate(err, src, b.First)
		}
		for i := range b.X.Len() {
			if err := body(b.Batch, i, scores.Row(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// losses returns the losses on the rows of src, in its order: 0 or 1 for classes, the share of wrong
// labels for sets of them, the squared error summed over the outputs for numbers.
func losses(ctx context.Context, m *model.Model, src dataset.Source) (out []float64, err error) {
	var classes *dataset.Classes
	if m.Classes() != nil {
		classes = dataset.NewClasses(m.Classes())
	}
	sets, has := m.LabelSets(), make([]bool, m.Outputs())
	err = scored(ctx, m, src, func(b *matrix.Batch, i int, scores []float32) error {
		loss := 0.0
		switch {
		case classes != nil:
			if classes.Of(b, i) != m.Class(scores) {
				loss = 1
			}
		case sets != nil:
			unknown, err := sets.Of(b, i, has)
			if err != nil {
				return err
			}
			loss = float64(len(unknown))
			for t, v := range scores {
				if has[t] != m.Has(t, v) {
					loss++
				}
			}
			loss /= float64(len(scores) + len(unknown))
		default:
			for t, v := range scores {
				e := b.Y[i*b.Outputs+t] - m.Value(t, v)
				loss += e * e
			}
		}
		out = append(out, loss)
		return nil
	})
	return out, err
}

// logLosses returns -ln p of the class of each row of src, in its order. A model without probabilities gets some by
// Platt's method from its scores of these rows (learn.LogLosses). A class that the model does not know has the loss of
// an impossible one.
func logLosses(ctx context.Context, m *model.Model, src dataset.Source) (out []float64, err error) {
	classes, p := dataset.NewClasses(m.Classes()), make([]float64, len(m.Classes()))
	var known, of []int // rows of known classes
	var all []float32
	err = scored(ctx, m, src, func(b *matrix.Batch, i int, scores []float32) error {
		loss, c := learn.LogLoss(0), classes.Of(b, i)
		if c >= 0 && m.HasProbabilities() {
			if err := m.Probabilities(p, scores); err != nil {
				return err
			}
			loss = learn.LogLoss(p[c])
		} else if c >= 0 {
			known, of, all = append(known, len(out)), append(of, c), append(all, scores...)
		}
		out = append(out, loss)
		return nil
	})
	if err != nil || known == nil {
		return out, err
	}
	losses, err := learn.LogLosses(all, of, len(p), nil)
	if err != nil {
		return nil, err
	}
	for at, i := range known {
		out[i] = losses[at]
	}
	return out, nil
}

// meanLoss is the error or the metric that losses of a task amount to: their mean, for numbers its root.
func meanLoss(task string, losses []float64) float64 {
	mean, _ := meanError(losses)
	if task == "regress" {
		return math.Sqrt(mean)
	}
	return mean
}
