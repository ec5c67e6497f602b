package render

import (
	"fmt"
	"io"
	"strings"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/engine/units"
	"mercer/internal/solve/learn"
	"mercer/model"
	"mercer/train"
)

// TrainJSON is what train --json prints; the keys of the metrics stand beside it.
type TrainJSON struct {
	*eval.Metrics
	Model   string      `json:"model"`
	Trained *model.Info `json:"trained"`
	Seconds seconds     `json:"seconds"`

	// Relevance says which columns count in a learned metric.
	Relevance []model.Relevance `json:"relevance,omitempty"`

	PeakRSS int64 `json:"peak_rss_bytes"`

	// FeaturesIn says where the features were of a learner that went through them many times.
	FeaturesIn string `json:"features_in,omitempty"`

	// Auto says what --auto tried and chose.
	Auto *AutoJSON `json:"auto,omitempty"`
}

type seconds struct {
	Read  float64 `json:"read"`
	Map   float64 `json:"map"`
	Solve float64 `json:"solve"`
	Total float64 `json:"total"`

	// Metric is what learning a metric took.
	Metric float64 `json:"metric,omitempty"`

	// Collect is the part of Solve that added rows to statistics, if the learner needs no more.
	Collect float64 `json:"collect,omitempty"`

	// Choose is the part of Solve that chose λ or C.
	Choose float64 `json:"choose,omitempty"`
}

// NewTrainJSON puts together what train --json prints: the model, which is in the file out, what its training
// took, peak bytes of memory among it,
// and its metrics, if it was tested.
func NewTrainJSON(m Model, r *train.Report, tested *Tested, out string, peak int64) TrainJSON {
	var metrics *eval.Metrics
	if tested != nil {
		// Classes and the confusion matrix are for eval to tell.
		brief := *tested.Metrics
		brief.Classes, brief.Confusion = nil, nil
		metrics = &brief
	}
	return TrainJSON{Metrics: metrics, Model: out, Trained: m.Info, Relevance: m.Relevance,
		Seconds: seconds{r.Read, r.Map, r.Solve, r.Total, r.Metric, r.Collect, r.Choose}, PeakRSS: peak, FeaturesIn: r.Features}
}

// penaltyOf names what weighs the penalty against the losses of a learner.
func penaltyOf(m *model.Info) string {
	if model.ReportOf[*learn.RidgeReport](&m.Training) != nil {
		return "λ"
	}
	return "C"
}

// TrainText writes what was trained, what was chosen and why, and what it took; data names the rows, peak is the largest memory in bytes,
// 0 if it is not known. If the model was tested, the metrics follow.
func TrainText(w io.Writer, m Model, r *train.Report, data string, peak int64, tested *Tested) {
	line := linesTo(w)
	text, sum := fmt.Sprintf("%s: %s rows × %s dimensions", data, units.Count(m.Training.Rows), units.Count(m.Dim)), r.Summary
	if sum == nil {
		sum = &dataset.Summary{} // a training that was continued
		text = fmt.Sprintf("%s and what came before: %s rows × %s dimensions", data, units.Count(m.Training.Rows), units.Count(m.Dim))
	}
	if b := r.Bags; b != nil {
		text, sum = fmt.Sprintf("%s: %s of %s × %s dimensions", data, units.Plural(b.Bags, "bag"), membersText(b.Least, b.Most),
			units.Count(b.Dim)), b.Summary
	}
	if d := sum.Density(); d > 0 && d < 0.95 {
		text += fmt.Sprintf(", %.2g %% non-zero", 100*d)
	}
	line("data", "%s", text)
	modelLines(line, m)
	var parts []string
	if r.Collect > 0 {
		parts = append(parts, units.Seconds(r.Collect)+" to add up rows")
	}
	if r.Choose > 0 {
		parts = append(parts, units.Seconds(r.Choose)+" to choose "+penaltyOf(m.Info))
	}
	of := ""
	if parts != nil {
		of = fmt.Sprintf(" (%s)", strings.Join(parts, ", "))
	}
	metric := ""
	if r.Metric > 0 {
		metric = fmt.Sprintf("metric %s · ", units.Seconds(r.Metric))
	}
	line("time", "read %s · %smap %s · solve %s%s · total %s",
		units.Seconds(r.Read), metric, units.Seconds(r.Map), units.Seconds(r.Solve), of, units.Seconds(r.Total))
	where := ""
	if r.Features != "" {
		where = ", features " + r.Features
	}
	if peak > 0 {
		line("memory", "%s at its peak%s", units.Bytes(peak), where)
	}
	if tested != nil {
		fmt.Fprintln(w)
		line("test", "%s: %s", tested.On, units.Plural(tested.Metrics.N, m.Row()))
		metricsText(w, tested.Metrics, m.Row())
	}
}

// SavedText writes that the model is in a file of so many bytes now.
func SavedText(w io.Writer, path string, bytes int64) {
	fmt.Fprintln(w)
	File(w, "saved", path, bytes)
}
