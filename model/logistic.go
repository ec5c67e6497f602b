package model

import (
	"mercer/internal/solve/learn"
	"mercer/internal/solve/reduce"
)

// Likely is the predictor of a linear classifier: if the report of its training names a loss that
// is a likelihood, its scores give probabilities.
func Likely(l Linear, info *Info) Predictor {
	if info.Task != "classify" && info.Task != "multilabel" {
		return l
	}
	loss := ""
	switch r := info.Training.Report.(type) {
	case *learn.PrimalReport:
		loss = r.Loss
	case *learn.L1Report:
		loss = r.Loss
	case *learn.SVMReport:
		loss = r.Loss
	case *learn.LDAReport:
		loss = "multinomial" // the posterior of normal classes is a softmax of linear scores
	}
	switch loss {
	case "logistic", "multinomial":
		return Logistic{l, loss == "multinomial", info.Labels != nil}
	}
	return l
}

// Logistic is the predictor of logistic regression.
type Logistic struct {
	Linear
	joint  bool // all classes in one problem
	labels bool // a row may have any number of them
}

// probabilities are those of learn.Probabilities, or for labels σ of the score of each.
func (l Logistic) probabilities(dst []float64, scores []float32) bool {
	if l.labels {
		learn.Sigmoids(dst, len(scores), true, func(t int) float64 { return float64(scores[t]) })
		return true
	}
	learn.Probabilities(dst, scores, l.joint)
	return true
}

// Folded is the predictor of the features before the projection p.
func (l Logistic) Folded(p *reduce.Projection) Predictor {
	return Logistic{l.Linear.Folded(p).(Linear), l.joint, l.labels}
}
