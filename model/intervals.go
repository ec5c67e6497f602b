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

// IntervalLevel is the level of the intervals that Intervals gives for a level: any for the learner rfm, by rows that it held out
// (0 means 0.9), and for others that of the training (0 means the same). It fails for another level, and for models without intervals.
func (m *Model) IntervalLevel(level float64) (float64, error) {
	if r, ok := m.predictor.(Recursive); ok && r.Spread() != nil {
		level = cmp.Or(level, usualLevel)
		_, err := learn.ConformalRank(level, len(r.Spread().Ratios)/m.info.Outputs)
		return level, err
	}
	c := m.Conformal()
	switch {
	case m.Classes() != nil || m.Labels() != nil:
		return 0, errors.New("intervals are of predicted numbers; this model predicts classes, and their probabilities say how sure it is")
	case c == nil:
		return 0, option.Errorf("the model has no intervals of its predictions; train a regression by the default, or by ridge regression with %s",
			option.Set("conformal", "LEVEL"))
	case level != 0 && level != c.Level:
		return 0, option.Errorf("the model has intervals of level %g, not %g; train it with %s", c.Level, level, option.Set("conformal", fmt.Sprint(level)))
	}
	return c.Level, nil
}

// Intervals writes the ends of the intervals around the predictions for the rows x into lower
// and upper, and the predictions themselves into scores; each must be Len×Outputs. All are without Info.Offset
// (Value adds it). The truth of a new row is between the ends with the probability that IntervalLevel gives for level. It fails as that does,
// and like Scores.
func (m *Model) Intervals(level float64, lower, upper, scores *matrix.Dense, x matrix.Rows) error {
	if _, err := m.IntervalLevel(level); err != nil {
		return err
	}
	if err := m.Learned(scores, x); err != nil {
		return err
	}
	return m.IntervalsAround(level, lower, upper, scores, nil, x)
}

// IntervalsAround is Intervals where Learned has written the scores already, and Deviations the deviations, nil if it has not.
func (m *Model) IntervalsAround(level float64, lower, upper, scores, deviations *matrix.Dense, x matrix.Rows) error {
	level, err := m.IntervalLevel(level)
	if err != nil {
		return err
	}
	if r, ok := m.predictor.(Recursive); ok && r.Spread() != nil {
		return m.spreads(r, level, lower, upper, scores, x)
	}
	c := m.Conformal()
	if c.Scaled && deviations == nil {
		deviations = upper // holds them until the ends are computed
		if err := m.Deviations(deviations, x); err != nil {
			return err
		}
	}
	for i := range scores.Rows {
		lo, hi := lower.Row(i), upper.Row(i)
		for t, v := range scores.Row(i) {
			radius := c.Radius[t]
			if c.Scaled {
				radius *= float64(deviations.Row(i)[t])
			}
			lo[t], hi[t] = float32(float64(v)-radius), float32(float64(v)+radius)
		}
	}
	return nil
}

// spreads writes the ends of intervals by the residuals of rows that the learner held out.
func (m *Model) spreads(r Recursive, level float64, lower, upper, scores *matrix.Dense, x matrix.Rows) error {
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
