// Package model is a trained model, which predicts and can be saved and loaded. Nothing in it trains.
//
// A Model is the result of training with data, configuration and seed. It never changes and is safe for
// concurrent use.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/visible"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/matrix"
)

// Model is a trained model. It does not change and is safe for concurrent use.
type Model struct {
	info      Info
	bag       *pipeline.Bags // nil: a model of rows
	pipeline  *pipeline.Pipeline
	predictor Predictor
	golden    *golden // nil: the model cannot be saved

	calibration *learn.Calibration // nil: none
}

// Parts are what a training assembles into a model.
type Parts struct {
	Info        Info
	Bag         *pipeline.Bags // nil: a model of rows
	Pipeline    *pipeline.Pipeline
	Predictor   Predictor
	Calibration *learn.Calibration // nil: none

	// Golden are synthetic rows whose scores a model file stores for loading to check; nil for a
	// model that is not saved. Members are the bags that they come from, nil for rows.
	Golden, Members *matrix.Dense
}

// New assembles a model. It fails with [ErrScores] if scores of golden rows are not finite.
func New(p Parts) (*Model, error) {
	m := &Model{info: p.Info, bag: p.Bag, pipeline: p.Pipeline, predictor: p.Predictor, calibration: p.Calibration}
	if t := p.Info.Threshold; t != nil {
		m.setThreshold(*t)
	}
	if p.Golden == nil {
		return m, nil
	}
	m.golden = &golden{x: p.Golden, scores: matrix.NewDense(goldenRows, m.info.Outputs), members: p.Members}
	if err := m.Learned(m.golden.scores, matrix.Rows{Dense: p.Golden}); err != nil {
		return nil, err
	}
	for _, v := range m.golden.scores.Data {
		if v-v != 0 {
			return nil, ErrScores
		}
	}
	m.golden.takeProba(m)
	return m, nil
}

// ErrScores is the error of a model whose scores of ordinary rows are not finite.
var ErrScores = errors.New("the model's scores are not finite")

// Info is the description of a model that is stored in the model file.
type Info struct {
	// Task is "classify", "regress", "multilabel" or "outliers".
	Task string `json:"task"`

	// Classes are the labels of the classes in the order of their scores; nil for a
	// regression. Numbers are sorted by value, other labels by their bytes.
	Classes []string `json:"classes,omitempty"`

	// Labels are those of a multi-label model, where a row may have any number of them, in the
	// order of their scores.
	Labels []string `json:"labels,omitempty"`

	// Outputs is the number of scores of a row: the number of classes, but 1 for two
	// classes (positive: the second), or the number of labels, or of targets of a regression.
	Outputs int `json:"outputs"`

	// Offset is what a regression adds to the learner's scores, a number for each target; nil for 0, which is
	// usual. Targets that vary little around a large number have one (Model.Learned).
	Offset []float64 `json:"offset,omitempty"`

	// Threshold is the score from which on a row belongs to the second of two classes; nil for the usual one.
	Threshold *Threshold `json:"threshold,omitempty"`

	// Bag says how bags became rows; nil for a model of rows. Schema and everything else concern
	// these rows.
	Bag *pipeline.BagInfo `json:"bag,omitempty"`

	// Schema says how the rows were read.
	Schema dataset.Schema `json:"schema"`

	// Scale is the kind of scaling.
	Scale string `json:"scale"`

	// Densify says that sparse rows are made dense before they are scaled, because most of
	// their values were nonzero in training.
	Densify bool `json:"densify,omitempty"`

	// Kernel is the kernel of a learner that uses the kernel itself, nil for all others.
	Kernel *kernel.Kernel `json:"kernel,omitempty"`

	// Feature configures the map; nil for the linear kernel.
	Feature *feature.Config `json:"feature,omitempty"`

	// Config is the user's configuration, a train.Config in JSON.
	Config json.RawMessage `json:"config"`

	// Training describes the training.
	Training Training `json:"training"`

	// Tested is how good the model was on other rows, nil if it was not tested when it was trained.
	Tested *Tested `json:"tested,omitempty"`
}

// OutlierClasses are the predictions of a model that detects outliers: -1 for an outlier, 1 for all other rows.
var OutlierClasses = []string{"-1", "1"}

// Info describes the model; it must not be changed.
func (m *Model) Info() *Info { return &m.info }

// Dim is the number of input dimensions.
func (m *Model) Dim() int { return m.info.Schema.Dim }

// Outputs is the number of scores of a row.
func (m *Model) Outputs() int { return m.info.Outputs }

// Classes are the labels of the classes, nil for a regression.
func (m *Model) Classes() []string { return m.info.Classes }

// Scores writes the scores of the rows x into dst, which must be Len×Outputs. It fails
// if x is wider or narrower than the model (sparse rows may be narrower) or holds a NaN or
// Inf. It allocates nothing once its working memory exists.
//
// A score of a classifier is positive for the class and negative against it. Class turns scores
// into a class.
func (m *Model) Scores(dst *matrix.Dense, x matrix.Rows) error {
	if err := m.learned(dst, x); err != nil {
		return err
	}
	m.addOffset(dst)
	return checkFinite(dst)
}

var errTooLarge = errors.New("its values are too large to score in float32")

// learned is Learned without a check.
func (m *Model) learned(dst *matrix.Dense, x matrix.Rows) error {
	if dst.Rows != x.Len() || dst.Cols != m.info.Outputs {
		panic(fmt.Sprintf("model: Scores wants a %d×%d dst, got %d×%d", x.Len(), m.info.Outputs, dst.Rows, dst.Cols))
	}
	if x.Len() <= pipeline.Chunk { // without a closure, which would be allocated
		if err := m.pipeline.Check(x); err != nil {
			return err
		}
		w := m.pipeline.Borrow()
		defer m.pipeline.Return(w)
		z, err := w.Map(x)
		if err != nil {
			return err
		}
		m.predictor.Scores(dst, z)
		return nil
	}
	return m.pipeline.Each(x, func(i, j int, z matrix.Rows) error {
		m.predictor.Scores(dst.Slice(i, j), z)
		return nil
	})
}

// Bag is the part of a model of bags that turns them into rows, nil for a model of rows.
func (m *Model) Bag() *pipeline.Bags { return m.bag }

// Pipeline is the part of the model between Bag and the learner.
func (m *Model) Pipeline() *pipeline.Pipeline { return m.pipeline }

// Predictor is the result of the learner.
func (m *Model) Predictor() Predictor { return m.predictor }

// Calibration turns scores into probabilities, nil if the model is not calibrated.
func (m *Model) Calibration() *learn.Calibration { return m.calibration }

// Golden returns the golden rows of a model, and the bags that they come from, nil for rows.
func (m *Model) Golden() (rows, members *matrix.Dense) { return m.golden.x, m.golden.members }

// Class is the index in Classes that a row's scores predict: the class of the largest score, or
// with one score the second if it is positive. For a calibrated model it is the class of the
// largest probability; if these are equal the scores decide. A threshold (Info.Threshold) takes the place of
// both.
func (m *Model) Class(scores []float32) int {
	if t := m.info.Threshold; t != nil {
		if scores[0] >= t.Score {
			return 1
		}
		return 0
	}
	if m.calibration != nil {
		return m.calibration.Class(scores)
	}
	return learn.Predicted(scores)
}

// Has says whether a multi-label model predicts label t for a row with this score:
// if the score is positive, or for a calibrated model if the probability is above ½.
func (m *Model) Has(t int, score float32) bool {
	if m.calibration != nil {
		return m.calibration.Has(t, score)
	}
	return score > 0
}

// AppendPrediction appends the prediction for a row's scores (Learned) to dst: the label of a class, or the
// labels of a multi-label model separated by commas, or the numbers of a regression separated
// by tabs. It is one line: a label with a newline, a tab or another control character, or one that begins with a double quote,
// is appended as a string of JSON.
func (m *Model) AppendPrediction(dst []byte, scores []float32) []byte {
	if m.info.Labels != nil {
		for k, label := range m.Predicted(scores) {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendOneLine(dst, label)
		}
		return dst
	}
	if m.info.Classes != nil {
		return appendOneLine(dst, m.info.Classes[m.Class(scores)])
	}
	for k, v := range scores {
		if k > 0 {
			dst = append(dst, '\t')
		}
		dst = m.appendValue(dst, k, v)
	}
	return dst
}

// appendOneLine appends a label as it is, or as a string of JSON if it would not stay in its line and column, or begins like such a string.
func appendOneLine(dst []byte, label string) []byte {
	if !strings.HasPrefix(label, `"`) && strings.IndexFunc(label, visible.Hidden) < 0 {
		return append(dst, label...)
	}
	text, err := json.Marshal(label)
	if err != nil { // no string is
		return strconv.AppendQuote(dst, label)
	}
	return append(dst, text...)
}

// Labels are the labels of a multi-label model, in the order of their scores; nil for
// a model of another task.
func (m *Model) Labels() []string { return m.info.Labels }

// LabelSets finds the labels of rows, nil for a model of another task.
func (m *Model) LabelSets() *dataset.LabelSets {
	if m.info.Labels == nil {
		return nil
	}
	return dataset.NewLabelSets(m.info.Labels, m.info.Schema.LabelSeparator == "")
}

// Predicted returns the labels that a row's scores predict (Has).
func (m *Model) Predicted(scores []float32) []string {
	labels := []string{}
	for t, v := range scores {
		if m.Has(t, v) {
			labels = append(labels, m.info.Labels[t])
		}
	}
	return labels
}
