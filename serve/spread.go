package serve

import (
	"context"

	"mercer/matrix"
	"mercer/model"
)

// varies says whether a model has deviations of its predictions.
func varies(m *model.Model) bool {
	r, ok := m.Predictor().(model.Ridge)
	return ok && r.Variance != nil
}

// spread computes the deviations and intervals of the rows that were scored, if the model has them.
func (c *call) spread() error {
	in := c.in
	rows, outputs := in.x.Rows, in.m.Outputs()
	if in.varies {
		in.deviations.Reshape(rows, outputs)
		err := c.aside.do(c.ctx, func() error { return in.m.Deviations(&in.deviations, matrix.Rows{Dense: &in.x}) })
		if err != nil {
			return err
		}
	}
	if in.conformal == nil {
		return nil
	}
	in.lower.Reshape(rows, outputs)
	in.upper.Reshape(rows, outputs)
	for i := range rows {
		lower, upper := in.lower.Row(i), in.upper.Row(i)
		for t, v := range in.scores.Row(i) {
			radius := in.conformal.Radius[t]
			if in.conformal.Scaled {
				radius *= float64(in.deviations.Row(i)[t])
			}
			lower[t], upper[t] = float32(float64(v)-radius), float32(float64(v)+radius)
		}
	}
	return nil
}

// turns lets few computations run at a time that are not products of rows: explanations and deviations. Others wait, a
// bounded number of them, until their deadlines.
type turns struct {
	places, waiting chan struct{}
}

func newTurns(places, waiting int) *turns {
	return &turns{make(chan struct{}, places), make(chan struct{}, places+waiting)}
}

// do runs f when it is its turn.
func (t *turns) do(ctx context.Context, f func() error) error {
	select {
	case t.waiting <- struct{}{}:
	default:
		return &overloaded{1e9, "too many explanations and deviations wait to be computed"}
	}
	defer func() { <-t.waiting }()
	select {
	case t.places <- struct{}{}:
	case <-ctx.Done():
		return ended(ctx)
	}
	defer func() { <-t.places }()
	if err := f(); ctx.Err() != nil {
		return ended(ctx)
	} else if err != nil {
		return err
	}
	return nil
}
