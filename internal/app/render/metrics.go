package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mercer/eval"
	"mercer/internal/engine/units"
	"mercer/internal/engine/visible"
)

// firstMetrics are those that are printed first, and by train alone.
var firstMetrics = []string{"accuracy", "error", "subset_accuracy", "hamming_loss", "micro_f1", "macro_f1", "f1", "auc",
	"rmse", "mae", "r2", "log_loss", "brier", "ece"}

// rareMetrics come before those where the second of two classes is rare: the accuracy says little then, and
// the area under the ROC curve hides how many of the rows found are false.
var rareMetrics = []string{"precision", "recall", "average_precision"}

// rareShare is the share of the rows below which a class is rare.
const rareShare = 0.2

// rare says whether the second of two classes is rare in the labels.
func rare(m *eval.Metrics) bool {
	if len(m.Classes) != 2 {
		return false
	}
	no, yes := m.Classes[0].Rows, m.Classes[1].Rows
	return yes > 0 && yes < rareShare*(no+yes)
}

// EvalText writes all metrics, those that matter first and the others with what they are; with perClass also those of
// each class, label or output, and the confusion matrix. A row is called row or bag.
func EvalText(w io.Writer, m *eval.Metrics, row string, perClass bool) {
	Line(w, row+"s", "%s", units.Count(m.N))
	metricsText(w, m, row)
	moreMetrics(w, m)
	if perClass {
		labelsTable(w, "class", m.Classes, len(m.Classes) > 2)
		if m.Confusion != nil {
			confusionText(w, m.Confusion)
		}
		outputsText(w, m.Outputs)
	}
}

// metricsText writes what matters first.
func metricsText(w io.Writer, m *eval.Metrics, row string) {
	if m.Weight != nil {
		Line(w, "weights", "%s in all", amount(*m.Weight))
	}
	if m.Unknown > 0 {
		Line(w, "unknown", "%s of labels that the model does not know; they count as errors", units.Plural(m.Unknown, row))
	}
	names := firstMetrics
	if rare(m) {
		at := slices.Index(names, "auc")
		names = slices.Insert(slices.Clone(names), at, rareMetrics...)
	}
	for _, name := range names {
		if !isFirst(name, m) {
			continue
		}
		metric, err := eval.MetricNamed(name)
		if err != nil {
			panic("mercer: " + err.Error()) // firstMetrics are known
		}
		if v := metric.Value(m); v != nil {
			Line(w, metric.Title, "%s", metricText(metric, m))
		}
	}
	if label, one := oneAnswer(m); one {
		Line(w, "note", "all %ss are predicted to be %s, though they are of several classes", row, ShortLabel(label, listedName))
	}
	labelsTable(w, "label", m.Labels, false)
}

// oneAnswer says whether rows of several classes are all predicted to be of one, and of which.
func oneAnswer(m *eval.Metrics) (label string, one bool) {
	there, predicted := 0, 0
	for _, c := range m.Classes {
		if c.Rows > 0 {
			there++
		}
		if c.Predicted > 0 {
			predicted++
			label = c.Label
		}
	}
	return label, there > 1 && predicted == 1
}

// isFirst says whether metricsText has a metric. Micro F1 of classes is the accuracy, and stands with the other averages.
func isFirst(name string, m *eval.Metrics) bool {
	return (slices.Contains(firstMetrics, name) || rare(m) && slices.Contains(rareMetrics, name)) && (name != "micro_f1" || m.Accuracy == nil)
}

// metricText writes a metric's value, and how exact it is.
func metricText(metric *eval.Metric, m *eval.Metrics) string {
	v := *metric.Value(m)
	if metric.Percent {
		return percentText(v)
	}
	text := Number(v)
	if within := metric.Within(m); within != nil {
		text += fmt.Sprintf(" ± %.1g", *within)
	}
	return text
}

// moreMetrics writes those that metricsText does not, with what they are.
func moreMetrics(w io.Writer, m *eval.Metrics) {
	space := "\n"
	for _, name := range eval.MetricNames("") {
		metric, err := eval.MetricNamed(name)
		if err != nil {
			panic("mercer: " + err.Error()) // the names are its own
		}
		v := metric.Value(m)
		switch {
		case v == nil || isFirst(name, m):
			continue
		case name == "pinball" && *m.Quantile == 0.5:
			continue // half of the mean absolute error
		}
		fmt.Fprintf(w, "%s  %s%s%s\n", space, padded(metric.Title, 19), padded(metricText(metric, m)+"  ", 12), visible.Text(aboutText(metric, m)))
		space = ""
	}
	if m.Bias != nil {
		fmt.Fprintf(w, "  %s%-12s%s\n", padded("bias", 19), Number(*m.Bias), "mean of prediction - target")
	}
}

// aboutText says what a metric is, of the classes, labels or targets that it is of here.
func aboutText(metric *eval.Metric, m *eval.Metrics) string {
	about := metric.About
	if m.Labels != nil {
		about = strings.NewReplacer("the classes", "the labels", "one class", "one label").Replace(about)
	}
	if len(m.Classes) == 2 {
		about = strings.ReplaceAll(about, "the second of two classes", m.Classes[1].Label)
	}
	switch {
	case strings.HasPrefix(metric.Name, "micro_") && m.Accuracy != nil:
		about += ", which is the accuracy"
	case metric.Name == "mape" && m.ZeroTargets > 0:
		about += fmt.Sprintf(" (%s are)", units.Count(m.ZeroTargets))
	case metric.Name == "pinball" && m.Quantile != nil:
		about += fmt.Sprintf(" of the quantile %g", *m.Quantile)
	}
	return about
}
