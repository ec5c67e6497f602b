package tune

import (
	"encoding/json"
	"math"
	"strings"

	"mercer/train"
)

// Candidate is a configuration and its results.
type Candidate struct {
	Index int `json:"index"`

	// Values are the settings given by the search; Config is the whole configuration.
	Values map[string]string `json:"values"`
	Config train.Config      `json:"config"`

	// Scores has one score for each split, in terms of the metric.
	Scores []float64 `json:"scores,omitempty"`

	// Mean and SD are those of the scores, and SE is SD/√K for K folds: repeats make the mean
	// more stable, but it is still about the same rows. SD and SE are 0 with one score. The JSON
	// omits all of them if there are no scores.
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	SE   float64 `json:"se"`

	// Size is the number of values per row that its learner sees, features or principal components, the most
	// over all folds. For a machine with the kernel itself it is the number of rows that it may keep: its training
	// rows or its landmarks. 0 if not known.
	Size int `json:"size,omitempty"`

	// Seconds is the time taken to train and judge it, over all folds. Work shared by several candidates, such as
	// mapping the rows, is divided equally among them. 0 if it comes from an older journal without times.
	Seconds float64 `json:"seconds,omitempty"`

	// Dropped says why it has no scores, "" if it has some.
	Dropped string `json:"dropped,omitempty"`

	// Picked marks the one that was picked, Best the one with the best mean.
	Best   bool `json:"best,omitempty"`
	Picked bool `json:"picked,omitempty"`
}

// MarshalJSON omits the numbers that a candidate without scores does not have.
func (c *Candidate) MarshalJSON() ([]byte, error) {
	type plain Candidate
	if c.Scores != nil {
		return json.Marshal((*plain)(c))
	}
	return json.Marshal(struct {
		*plain
		Mean *float64 `json:"mean,omitempty"`
		SD   *float64 `json:"sd,omitempty"`
		SE   *float64 `json:"se,omitempty"`
	}{plain: (*plain)(c)})
}

// summarise computes the mean of the scores and its uncertainty.
func (t *Candidate) summarise(folds int) {
	n := float64(len(t.Scores))
	sum := 0.0
	for _, v := range t.Scores {
		sum += v / n
	}
	t.Mean = sum
	if n < 2 {
		return
	}
	square := 0.0
	for _, v := range t.Scores {
		square += (v - t.Mean) * (v - t.Mean)
	}
	t.SD = math.Sqrt(square / (n - 1))
	t.SE = t.SD / math.Sqrt(float64(folds))
}

// Text lists the values of a candidate, in the order of the names.
func (c *Candidate) Text(names []string) string {
	var parts []string
	for _, name := range names {
		if v, ok := c.Values[name]; ok {
			parts = append(parts, name+" "+v)
		}
	}
	return strings.Join(parts, ", ")
}
