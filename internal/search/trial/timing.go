package trial

import (
	"mercer/train"
)

// Timing is the time of a training on few rows: n rows, D features, and seconds.
type Timing struct {
	Rows     int     `json:"rows"`
	Features int     `json:"features"`
	Read     float64 `json:"read_seconds"`
	Map      float64 `json:"map_seconds"`
	Solve    float64 `json:"solve_seconds"`

	// Metric is that of learning a metric, or choosing a scaling by held-out rows.
	Metric float64 `json:"metric_seconds,omitempty"`

	// Collect is the part of Solve that added rows to statistics, if known.
	Collect float64 `json:"collect_seconds,omitempty"`

	// Choose is the part of Solve that chose C, for learners that go through rows.
	Choose float64 `json:"choose_seconds,omitempty"`
}

// TimingOf extracts the timing from the report of a training.
func TimingOf(rows, features int, r *train.Report) Timing {
	t := Timing{Rows: rows, Features: features, Read: r.Read, Map: r.Map, Metric: r.Metric, Solve: r.Solve, Collect: r.Collect}
	if r.Collect == 0 {
		t.Choose = r.Choose
	}
	return t
}
