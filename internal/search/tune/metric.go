package tune

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"mercer/eval"
	"mercer/internal/engine/option"
)

// metric is what configurations are compared by.
type metric struct {
	*eval.Metric
	name   string
	larger bool

	ranks, probable bool // it needs ranked scores, or probabilities
}

// metricOf returns the metric of a name for a task.
func metricOf(name, task string) (metric, error) {
	m, err := eval.MetricOf(name, task)
	if err != nil {
		return metric{}, err
	}
	return metric{
		Metric: m, name: m.Name, larger: m.LargerIsBetter,
		ranks:    strings.Contains(m.Name, "auc") || strings.Contains(m.Name, "average_precision") || strings.HasPrefix(m.Name, "top"),
		probable: m.Name == "log_loss" || m.Name == "brier" || m.Name == "ece" || m.Name == "mce",
	}, nil
}

// compare orders scores, better ones first.
func (m metric) compare(a, b float64) int {
	if m.larger {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// of extracts the metric's value from all metrics.
func (m metric) of(metrics *eval.Metrics) (float64, error) {
	v := m.Value(metrics)
	if v == nil {
		reason := option.Phrasef("are there more classes than it is for, or is one missing among the rows that judge?")
		if m.probable {
			reason = option.Phrasef("it takes probabilities, which the learner logistic has and others with %s", option.Ref("calibrate"))
		}
		return 0, option.Errorf("the metric %s (%s) has no value here; %s", m.name, m.About, reason)
	}
	if math.IsNaN(*v) || math.IsInf(*v, 0) {
		return 0, fmt.Errorf("the metric %s is %g; scale the inputs or the targets", m.name, *v)
	}
	return *v, nil
}
