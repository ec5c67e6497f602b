package model

import (
	"fmt"
	"math"

	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
)

// Threshold says from which score on a model of two classes predicts the second, in place of 0 or of a probability of ½.
type Threshold struct {
	// Rule is what was asked for (learn.ParseThreshold).
	Rule string `json:"rule"`

	// Score is the least score of the second class.
	Score float32 `json:"score"`

	// Probability is that of a row with this score, nil if the model has none.
	Probability *float64 `json:"probability,omitempty"`

	// Rows is the number of rows the learner had not seen that chose the threshold, 0 if it was given. The others are what
	// it makes of these rows, which is better than of rows that played no part in it. Cost is that of a row, by a rule of costs.
	Rows      int     `json:"rows,omitempty"`
	Precision float64 `json:"precision,omitempty"`
	Recall    float64 `json:"recall,omitempty"`
	F1        float64 `json:"f1,omitempty"`
	Cost      float64 `json:"cost,omitempty"`
}

// NewThreshold is a threshold that held-out rows chose.
func NewThreshold(rule string, c learn.Cut, rows int) *Threshold {
	return &Threshold{Rule: rule, Score: c.Score, Rows: rows, Precision: c.Precision, Recall: c.Recall, F1: c.F1, Cost: c.Cost}
}

// CheckThreshold rejects thresholds for a model other than one of two classes.
func (i *Info) CheckThreshold() error {
	if i.Task == "classify" && len(i.Classes) == 2 && i.Outputs == 1 {
		return nil
	}
	what := "predicts numbers"
	switch {
	case i.Task == "outliers":
		what = "detects outliers"
	case i.Labels != nil:
		what = "has any number of labels"
	case i.Classes != nil:
		what = fmt.Sprintf("has %d classes", len(i.Classes))
	}
	return option.Errorf("a threshold divides two classes, but the model %s; leave out %s", what, option.Ref("threshold"))
}

// WithThreshold is the model with another threshold: a probability ("0.3"), "score=NUMBER", or "none" for the larger
// probability or the sign of the score. It shares all else with m.
func (m *Model) WithThreshold(rule string) (*Model, error) {
	if err := m.info.CheckThreshold(); err != nil {
		return nil, err
	}
	other := *m
	other.info.Threshold = nil
	if rule == "none" {
		return &other, nil
	}
	r, err := learn.ParseThreshold(rule)
	if err != nil {
		return nil, err
	}
	if r.Chosen() {
		return nil, option.Errorf("held-out rows of a training choose %s; for a model that is trained, give a probability, score=NUMBER or none",
			option.Set("threshold", rule))
	}
	t := Threshold{Rule: rule, Score: float32(r.Value)}
	if r.Kind == "probability" {
		if t.Score, err = m.scoreOf(r.Value); err != nil {
			return nil, err
		}
	}
	other.setThreshold(t)
	return &other, nil
}

// setThreshold sets the threshold of a model that nobody else has yet, and its probability.
func (m *Model) setThreshold(t Threshold) {
	t.Probability = nil
	if m.HasProbabilities() {
		p := m.second(t.Score)
		t.Probability = &p
	}
	m.info.Threshold = &t
}

// second is the probability of the second of two classes.
func (m *Model) second(score float32) float64 {
	p := make([]float64, 2)
	if err := m.Probabilities(p, []float32{score}); err != nil {
		panic("model: " + err.Error()) // callers know that there are probabilities
	}
	return p[1]
}

// scoreOf is the least score with a probability of p or more. Where none has, it is the largest number.
func (m *Model) scoreOf(p float64) (float32, error) {
	if err := m.NoProbabilities(); err != nil {
		return 0, fmt.Errorf("the threshold %g is a probability (score=%g would be a score): %w", p, p, err)
	}
	if m.second(math.MaxFloat32) < m.second(-math.MaxFloat32) {
		return 0, fmt.Errorf("the model's probabilities fall as its scores rise, so none is the threshold %g: it tells the classes apart no better "+
			"than by chance", p)
	}
	// Bisection of the float32 in their order, as whole numbers.
	number := func(at int64) float32 {
		if at < 0 {
			return -math.Float32frombits(uint32(-at))
		}
		return math.Float32frombits(uint32(at))
	}
	most := int64(math.Float32bits(math.MaxFloat32))
	low, high := -most, most
	for low < high {
		if mid := low + (high-low)/2; m.second(number(mid)) >= p {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return number(low), nil
}

// checkThreshold checks the threshold of a model that was read.
func (i *Info) checkThreshold() error {
	t := i.Threshold
	if t == nil {
		return nil
	}
	if err := i.CheckThreshold(); err != nil {
		return err
	}
	if t.Score-t.Score != 0 || t.Probability != nil && !(*t.Probability >= 0 && *t.Probability <= 1) || t.Rows < 0 {
		return fmt.Errorf("a threshold at the score %g", t.Score)
	}
	return nil
}

// String describes the threshold.
func (t *Threshold) String() string {
	text := fmt.Sprintf("score %.4g", t.Score)
	if t.Probability != nil {
		text = fmt.Sprintf("probability %.4g", *t.Probability)
	}
	if t.Rows == 0 {
		return text + " on, as asked"
	}
	text += fmt.Sprintf(" on (%s), chosen on %d held-out rows: precision %.3g, recall %.3g, F1 %.3g", t.Rule, t.Rows, t.Precision, t.Recall, t.F1)
	if t.Cost > 0 {
		text += fmt.Sprintf(", cost %.4g a row", t.Cost)
	}
	return text
}
