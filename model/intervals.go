package model

import (
	"cmp"
	"errors"
	"fmt"

	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/matrix"
)

// Deviations writes the standard deviations of the predictions for the rows x into dst, which
// must be Len×Outputs, for a regression that was trained with Variance. It fails like
// Scores, and for other models.
func (m *Model) Deviations(dst *matrix.Dense, x matrix.Rows) error {
	r, ok := m.predictor.(Ridge)
	if !ok || r.Variance == nil {
		return option.Errorf("the model has no deviations of its predictions; train a ridge regression with %s", option.Ref("variance"))
	}
	if dst.Rows != x.Len() || dst.Cols != m.info.Outputs {
		panic(fmt.Sprintf("model: Deviations wants a %d×%d dst, got %d×%d", x.Len(), m.info.Outputs, dst.Rows, dst.Cols))
	}
	var work matrix.Dense
	if err := m.pipeline.Each(x, func(i, j int, z matrix.Rows) error {
		r.Variance.Deviations(dst.Slice(i, j), z, &work)
		return nil
	}); err != nil {
		return err
	}
	for i := range dst.Rows {
		for _, v := range dst.Row(i) {
			if v-v != 0 {
				return fmt.Errorf("row %d: its values are too large for a deviation in float32", i)
			}
		}
	}
	return nil
}

// Conformal describes the intervals of a regression that was trained with Conformal, nil
// for other models.
func (m *Model) Conformal() *learn.Conformal {
	if r := ReportOf[*learn.RidgeReport](&m.info.Training); r != nil {
		return r.Conformal
	}
	return nil
}

// usualLevel is the level of intervals if none is asked for.
const usualLevel = 0.9

// Intervals writes the ends of the intervals around the predictions for the rows x into lower
// and upper, and the predictions themselves into scores; each must be Len×Outputs. All are without Info.Offset
// (Value adds it). The truth of a new row is between the ends with probability level: any for the learner rfm, by rows that it held out
// (0 means 0.9), and for others that of the training (0 means the same). It fails like Scores, and for models without intervals.
func (m *Model) Intervals(level float64, lower, upper, scores *matrix.Dense, x matrix.Rows) error {
	c := m.Conformal()
	if r, ok := m.predictor.(Recursive); ok && r.Spread() != nil {
		return m.spreads(r, cmp.Or(level, usualLevel), lower, upper, scores, x)
	}
	if m.Classes() != nil || m.Labels() != nil {
		return errors.New("intervals are of predicted numbers; this model predicts classes, and their probabilities say how sure it is")
	}
	if c == nil {
		return option.Errorf("the model has no intervals of its predictions; train a regression by the default, or by ridge regression with %s",
			option.Set("conformal", "LEVEL"))
	}
	if level != 0 && level != c.Level {
		return option.Errorf("the model has intervals of level %g, not %g; train it with %s", c.Level, level, option.Set("conformal", fmt.Sprint(level)))
	}
	if err := m.Learned(scores, x); err != nil {
		return err
	}
	if c.Scaled {
		// upper holds the deviations until the ends are computed.
		if err := m.Deviations(upper, x); err != nil {
			return err
		}
	}
	for i := range scores.Rows {
		lo, hi := lower.Row(i), upper.Row(i)
		for t, v := range scores.Row(i) {
			radius := c.Radius[t]
			if c.Scaled {
				radius *= float64(hi[t])
			}
			lo[t], hi[t] = float32(float64(v)-radius), float32(float64(v)+radius)
		}
	}
	return nil
}

// spreads writes the ends of intervals by the residuals of rows that the learner held out.
func (m *Model) spreads(r Recursive, level float64, lower, upper, scores *matrix.Dense, x matrix.Rows) error {
	if err := m.Learned(scores, x); err != nil {
		return err
	}
	if err := m.pipeline.Each(x, func(i, j int, z matrix.Rows) error { return r.Radii(upper.Slice(i, j), z, level) }); err != nil {
		return err
	}
	for i := range scores.Rows {
		lo, hi := lower.Row(i), upper.Row(i)
		for t, v := range scores.Row(i) {
			lo[t], hi[t] = v-hi[t], v+hi[t]
		}
	}
	return nil
}
