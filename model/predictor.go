package model

import (
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/reduce"
	"mercer/internal/solve/rfm"
	"mercer/matrix"
)

// Scorer scores rows. It is safe for concurrent use.
type Scorer interface {
	// Scores writes the scores of features, or of scaled rows if the learner is exact, into
	// dst. A row's scores do not depend on the other rows, and nothing is allocated once
	// working memory exists.
	Scores(dst *matrix.Dense, z matrix.Rows)
}

// Predictor is the trained part of a model: it turns features into scores.
type Predictor interface {
	Scorer

	// Tensors are the tensors of the predictor in a model file, by name.
	Tensors() map[string]*safetensors.Tensor
}

// Folds is a predictor that can merge the projection onto principal components into its weights.
type Folds interface {
	// Folded is the predictor of the features before the projection p. Its scores are the same up to
	// rounding.
	Folded(p *reduce.Projection) Predictor
}

// restorePredictor makes the predictor of a model of d features from the tensors of its file.
func (m *Model) restorePredictor(t safetensors.Tensors, d int) (Predictor, error) {
	if t["machine.alpha"] != nil {
		return m.restoreMachine(t, d)
	}
	if report := ReportOf[*rfm.Report](&m.info.Training); report != nil {
		return m.restoreRecursive(t, report, d)
	}
	if report := ReportOf[*reduce.ResidualReport](&m.info.Training); report != nil {
		return restoreResidual(t, report.Report.Components, d)
	}
	w, err := t.Want("linear.w", false, d, m.info.Outputs)
	if err != nil {
		return nil, err
	}
	b, err := t.Want("linear.b", true, m.info.Outputs)
	if err != nil {
		return nil, err
	}
	l := Linear{&learn.Linear{W: &matrix.Dense{Rows: d, Cols: m.info.Outputs, Stride: m.info.Outputs, Data: w.F32}, B: b.F64}}
	switch m.info.Training.Report.(type) {
	case *learn.RidgeReport:
		return m.restoreRidge(l, t, d)
	case *learn.OnlineReport:
		return m.restoreOnline(t, d, l)
	}
	return Likely(l, &m.info), nil
}
