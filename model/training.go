package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"mercer/internal/solve/exact"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/reduce"
	"mercer/internal/solve/rfm"
)

// Training describes how a model was trained: what was chosen, and why.
type Training struct {
	// Rows is the number of training rows.
	Rows int

	// Why gives in words the reason for a scaling, a γ or a task, by name.
	Why map[string]string

	// Metric describes how the metric was learned, nil if distances are plain.
	Metric *metric.Report

	// Learner is the learner's name.
	Learner string

	// Reduction describes the principal components that the learner saw, nil if it saw the features.
	Reduction *reduce.Report

	// Report is the solver's own: a pointer to one of the types of reportKinds.
	Report Report

	// Calibration says how scores become probabilities, nil if the model is not calibrated.
	Calibration *CalibrationInfo
}

// Report is a solver's report on a training.
type Report interface {
	// Lines describes the training, for display.
	Lines() []string
}

// reportKinds are the kinds of reports, by their key in a model file. Those of kernel machines
// come after the calibration there.
var reportKinds = []struct {
	key     string
	of      Report
	machine bool
}{
	{"ridge", (*learn.RidgeReport)(nil), false},
	{"lasso", (*learn.LassoReport)(nil), false},
	{"svm", (*learn.SVMReport)(nil), false},
	{"svr", (*learn.SVRReport)(nil), false},
	{"one_class", (*learn.OneClassReport)(nil), false},
	{"online", (*learn.OnlineReport)(nil), false},
	{"primal", (*learn.PrimalReport)(nil), false},
	{"l1", (*learn.L1Report)(nil), false},
	{"lda", (*learn.LDAReport)(nil), false},
	{"kmeans", (*learn.KMeansReport)(nil), false},
	{"residual", (*reduce.ResidualReport)(nil), false},
	{"kernel_ridge", (*exact.RidgeReport)(nil), true},
	{"iterative", (*exact.IterativeReport)(nil), true},
	{"falkon", (*exact.FalkonReport)(nil), true},
	{"kernel_svm", (*exact.SVMReport)(nil), true},
	{"knn", (*exact.NearestReport)(nil), true},
	{"rfm", (*rfm.Report)(nil), true},
}

// Lines describes how the learner did, for display.
func (t *Training) Lines() []string {
	if t.Report == nil {
		return nil
	}
	return t.Report.Lines()
}

// trainingJSON is Training without the report, which is stored next to it under the key of its kind.
type trainingJSON struct {
	Rows        int               `json:"rows"`
	Why         map[string]string `json:"why"`
	Metric      *metric.Report    `json:"metric,omitempty"`
	Learner     string            `json:"learner,omitempty"`
	Reduction   *reduce.Report    `json:"reduction,omitempty"`
	Calibration *CalibrationInfo  `json:"calibration,omitempty"`
}

// MarshalJSON writes the report under the key of its kind.
func (t Training) MarshalJSON() ([]byte, error) {
	head := trainingJSON{Rows: t.Rows, Why: t.Why, Metric: t.Metric, Learner: t.Learner, Reduction: t.Reduction}
	text, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("}"))
	key, report, machine := "", []byte(nil), false
	for _, k := range reportKinds {
		if t.Report != nil && reflect.TypeOf(t.Report) == reflect.TypeOf(k.of) {
			if report, err = json.Marshal(t.Report); err != nil {
				return nil, err
			}
			key, machine = k.key, k.machine
		}
	}
	if t.Report != nil && key == "" {
		return nil, fmt.Errorf("a report of an unknown kind, %T", t.Report)
	}
	var calibration []byte
	if t.Calibration != nil {
		if calibration, err = json.Marshal(t.Calibration); err != nil {
			return nil, err
		}
	}
	add := func(key string, value []byte) {
		if value != nil {
			text = append(append(text, `,"`+key+`":`...), value...)
		}
	}
	if !machine {
		add(key, report)
	}
	add("calibration", calibration)
	if machine {
		add(key, report)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON reads the output of MarshalJSON.
func (t *Training) UnmarshalJSON(text []byte) error {
	var head trainingJSON
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	*t = Training{Rows: head.Rows, Why: head.Why, Metric: head.Metric,
		Learner: head.Learner, Reduction: head.Reduction, Calibration: head.Calibration}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, k := range reportKinds {
		value := all[k.key]
		if value == nil || string(value) == "null" {
			continue
		}
		if t.Report != nil {
			return fmt.Errorf("the training has two reports, one of them %q", k.key)
		}
		report := reflect.New(reflect.TypeOf(k.of).Elem())
		if err := json.Unmarshal(value, report.Interface()); err != nil {
			return fmt.Errorf("%s: %w", k.key, err)
		}
		t.Report = report.Interface().(Report)
	}
	return nil
}

// ReportOf is the report of a training if it is of the given kind, otherwise nil.
func ReportOf[R Report](t *Training) (none R) {
	if r, ok := t.Report.(R); ok {
		return r
	}
	return none
}
