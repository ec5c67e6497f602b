package model

import (
	"errors"
	"fmt"

	"mercer/internal/engine/option"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/learn"
)

// Probabilities come from the learner, if its loss is a likelihood, or from a calibration of its
// scores.

// prober is a predictor whose scores give probabilities without calibration.
type prober interface {
	// probabilities writes the probabilities for a row's scores: of the classes, or the labels. It
	// returns false if the predictor has none after all.
	probabilities(dst []float64, scores []float32) bool
}

// CalibrationInfo says how scores become probabilities.
type CalibrationInfo struct {
	// Method is one of learn.CalibrationMethods.
	Method string `json:"method"`

	// Folds is 0 for the learner's own held-out rows. Otherwise it is the number of parts into which the rows were divided, Used the number of these that were scored,
	// each by a training without it, and Rows the number of their rows.
	Folds int `json:"folds"`
	Used  int `json:"used"`
	Rows  int `json:"rows"`

	// Temperature is T of the methods temperature and logit.
	Temperature float64 `json:"temperature,omitempty"`
}

// String describes the calibration.
func (c *CalibrationInfo) String() string {
	text := c.Method
	if c.Temperature != 0 {
		text += fmt.Sprintf(" %.3g", c.Temperature)
	}
	if c.Folds == 0 {
		return text + fmt.Sprintf(", fitted to the scores of %d held-out rows by machines that had not seen them", c.Rows)
	}
	return text + fmt.Sprintf(", fitted to the scores of %d rows of %d of %d folds that the learner had not seen", c.Rows, c.Used, c.Folds)
}

// HasProbabilities says whether the model has probabilities: it was calibrated, or its learner
// has a logistic loss.
func (m *Model) HasProbabilities() bool {
	if m.calibration != nil {
		return true
	}
	p, ok := m.predictor.(prober)
	return ok && p.probabilities(make([]float64, m.probable()), make([]float32, m.info.Outputs))
}

// probable is the number of classes or labels with probabilities.
func (m *Model) probable() int {
	if m.info.Classes != nil {
		return len(m.info.Classes)
	}
	return m.info.Outputs
}

// Probabilities writes into dst the probabilities for a row's scores: of the classes, in the order of
// Classes, which add up to 1; or of each label separately, in the order of Labels. It fails for a model
// without probabilities. The class of the largest probability is the prediction (Class); in a calibrated
// model it need not have the largest score.
func (m *Model) Probabilities(dst []float64, scores []float32) error {
	if len(dst) != m.probable() || len(scores) != m.info.Outputs {
		panic(fmt.Sprintf("model: Probabilities of %d scores into %d numbers, want %d into %d",
			len(scores), len(dst), m.info.Outputs, m.probable()))
	}
	if m.calibration != nil {
		m.calibration.Probabilities(dst, scores)
		return nil
	}
	if p, ok := m.predictor.(prober); ok && p.probabilities(dst, scores) {
		return nil
	}
	return m.NoProbabilities()
}

// NoProbabilities is the error of a model without probabilities, nil for all others.
func (m *Model) NoProbabilities() error {
	switch {
	case m.HasProbabilities():
		return nil
	case m.info.Task == "regress":
		return errors.New("the model predicts numbers, which have no probabilities")
	case m.info.Task == "outliers":
		return errors.New("the model detects outliers, which have no probabilities")
	case m.info.Classes == nil && m.info.Labels == nil:
		return errors.New("the model has no classes, and so no probabilities")
	}
	return option.Errorf("the model has no probabilities: the learner %s gives scores; train it with %s (or isotonic, or temperature)",
		m.info.Training.Learner, option.Set("calibrate", "platt"))
}

// saveCalibration adds the calibration and the golden probabilities to a model file.
func (m *Model) saveCalibration(tensors map[string]*safetensors.Tensor) {
	if m.golden.proba != nil {
		tensors["golden.proba"] = &safetensors.Tensor{Shape: []int{goldenRows, m.probable()}, F64: m.golden.proba}
	}
	switch c := m.calibration; {
	case c == nil:
	case c.Method == "platt" || c.Method == "quota":
		tensors["calibration.a"], tensors["calibration.b"] = safetensors.Vector(c.A), safetensors.Vector(c.B)
	case c.Method == "isotonic":
		for t := range c.Knots {
			tensors[fmt.Sprintf("calibration.knots.%d", t)] = safetensors.Vector(c.Knots[t])
			tensors[fmt.Sprintf("calibration.rise.%d", t)] = safetensors.Vector(c.Rise[t])
		}
	}
}

// restoreCalibration is the counterpart of saveCalibration.
func (m *Model) restoreCalibration(t safetensors.Tensors) error {
	if info := m.info.Training.Calibration; info != nil {
		if m.info.Task == "regress" {
			return errors.New("a calibrated model of numbers")
		}
		c := &learn.Calibration{Method: info.Method, Labels: m.info.Labels != nil, T: info.Temperature}
		var err error
		line := func(name string) (v []float64) {
			x := t["calibration."+name]
			if x == nil || len(x.Shape) != 1 || x.F64 == nil {
				err = fmt.Errorf("tensor %q is missing, or no list of float64", "calibration."+name)
				return nil
			}
			return x.F64
		}
		switch c.Method {
		case "platt", "quota":
			c.A, c.B = line("a"), line("b")
		case "isotonic":
			for k := range m.info.Outputs {
				c.Knots, c.Rise = append(c.Knots, line(fmt.Sprintf("knots.%d", k))), append(c.Rise, line(fmt.Sprintf("rise.%d", k)))
				if err != nil {
					break
				}
			}
		}
		if err == nil {
			err = c.Check(m.info.Outputs)
		}
		if err != nil {
			return fmt.Errorf("calibration: %w", err)
		}
		m.calibration = c
	}
	if !m.HasProbabilities() {
		return nil
	}
	p, err := t.Want("golden.proba", true, goldenRows, m.probable())
	if err != nil {
		return err
	}
	m.golden.proba = p.F64
	return nil
}
