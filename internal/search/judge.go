package search

import (
	"fmt"
	"math"
	"strings"

	"mercer/eval"
	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/model"
	"mercer/train"
)

// judge compares the scores of rows with their targets.
type judge struct {
	metric  metric
	classes *eval.Classification
	labels  *eval.MultiLabel
	numbers *eval.Regression

	proba       *eval.Probability // nil: no probabilities are wanted, or there are none
	joint       bool
	probability []float64
	odds        []float32
	has, told   []bool

	offset           []float64 // of a regression, nil for none
	truth, predicted []float64
}

// newJudge makes a judge of predictions of the kind described by info. A probable learner's scores are
// those of a logistic regression, of all classes in one problem if joint.
func newJudge(m metric, info *model.Info, probable, joint bool) *judge {
	j := &judge{metric: m, joint: joint}
	switch {
	case info.Classes != nil:
		j.classes = eval.NewClassification(info.Classes)
		if probable && (m.probable || m.ranks && info.Outputs > 1) {
			j.proba = eval.NewProbability(len(info.Classes) == 2)
			j.probability, j.odds = make([]float64, len(info.Classes)), make([]float32, len(info.Classes))
		}
	case info.Labels != nil:
		j.labels = eval.NewMultiLabel(info.Labels)
		j.has, j.told = make([]bool, info.Outputs), make([]bool, info.Outputs)
	default:
		j.numbers, j.offset = eval.NewRegression(nil, info.Outputs), info.Offset
		j.truth, j.predicted = make([]float64, info.Outputs), make([]float64, info.Outputs)
	}
	return j
}

// add adds row i of some rows with its scores.
func (j *judge) add(rows *train.MappedRows, i int, scores []float32) {
	weight := 1.0
	if w := rows.Batch.Weights; w != nil {
		weight = w[i]
	}
	var rank []float32
	if j.metric.ranks {
		rank = scores
	}
	if j.proba != nil {
		learn.Probabilities(j.probability, scores, j.joint)
		if rank != nil {
			// Scores of different rows may differ by more than their probabilities, for example
			// with a softmax.
			for c, p := range j.probability {
				j.odds[c] = eval.LogOdds(p)
			}
			rank = j.odds
		}
		if rows.Class[i] >= 0 {
			j.proba.Add(rows.Class[i], j.probability, weight)
		}
	}
	y := rows.Y[i*len(scores) : (i+1)*len(scores)]
	switch {
	case j.classes != nil:
		j.classes.Add(rows.Class[i], learn.Predicted(scores), rank, weight)
	case j.labels != nil:
		for t, v := range scores {
			j.has[t], j.told[t] = y[t] > 0, v > 0
		}
		j.labels.Add(j.has, j.told, rank, 0, weight)
	default:
		for t, v := range scores {
			j.truth[t], j.predicted[t] = y[t], float64(v)
			if j.offset != nil { // which the targets are without
				j.truth[t] += j.offset[t]
				j.predicted[t] += j.offset[t]
			}
		}
		j.numbers.Add(j.truth, j.predicted, weight)
	}
}

// value is the metric on the rows so far.
func (j *judge) value() (float64, error) {
	var m *eval.Metrics
	switch {
	case j.classes != nil:
		m = j.classes.Metrics()
	case j.labels != nil:
		m = j.labels.Metrics()
	default:
		m = j.numbers.Metrics()
	}
	if j.proba != nil {
		j.proba.Into(m)
	}
	return j.metric.of(m)
}

// metric is what configurations are compared by.
type metric struct {
	*eval.Metric
	ranks, probable bool // it needs ranked scores, or probabilities
}

// metricOf returns the metric of a name for a task.
func metricOf(name, task string) (metric, error) {
	m, err := eval.MetricOf(name, task)
	if err != nil {
		return metric{}, err
	}
	return metric{
		Metric:   m,
		ranks:    strings.Contains(m.Name, "auc") || strings.Contains(m.Name, "average_precision") || strings.HasPrefix(m.Name, "top"),
		probable: m.Name == "log_loss" || m.Name == "brier" || m.Name == "ece" || m.Name == "mce",
	}, nil
}

// of extracts the metric's value from all metrics.
func (m metric) of(metrics *eval.Metrics) (float64, error) {
	v := m.Value(metrics)
	if v == nil {
		reason := option.Phrasef("are there more classes than it is for, or is one missing among the rows that judge?")
		if m.probable {
			reason = option.Phrasef("it takes probabilities, which the learner logistic has and others with %s", option.Ref("calibrate"))
		}
		return 0, option.Errorf("the metric %s (%s) has no value here; %s", m.Name, m.About, reason)
	}
	if math.IsNaN(*v) || math.IsInf(*v, 0) {
		return 0, fmt.Errorf("the metric %s is %g; scale the inputs or the targets", m.Name, *v)
	}
	return *v, nil
}
