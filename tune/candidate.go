package tune

import (
	"encoding/json"
	"math"
	"strings"

	"mercer/train"
)

// Candidate is a configuration and how it did.
type Candidate struct {
	Index int `json:"index"`

	// Values are the settings that the search gave it; Config is all of it.
	Values map[string]string `json:"values"`
	Config train.Config      `json:"config"`

	// Scores has one score for each split, by the metric.
	Scores []float64 `json:"scores,omitempty"`

	// Mean and SD are those of the scores, SE is SD/√K for K folds: repeats make the mean
	// steadier, but it stays that of the same rows. SD and SE are 0 with one score. JSON has
	// none of them where there are no scores.
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	SE   float64 `json:"se"`

	// Size is how many numbers of a row its learner sees, features or principal components, the most
	// of all folds; of a machine with the kernel itself how many rows it may keep, those that it is
	// trained on or its landmarks. 0 where that is not known.
	Size int `json:"size,omitempty"`

	// Seconds is what its trainings and judging it took, over all folds. What several candidates share, as
	// the mapping of rows, is divided equally among them. 0 where an older journal does not say.
	Seconds float64 `json:"seconds,omitempty"`

	// Dropped says why it has no scores, "" if it has.
	Dropped string `json:"dropped,omitempty"`

	// Picked marks the one that was picked, Best the one with the best mean.
	Best   bool `json:"best,omitempty"`
	Picked bool `json:"picked,omitempty"`
}

// MarshalJSON leaves out the numbers that a candidate without scores does not have.
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

// summarise computes the mean of the scores and how far it may be off.
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

// Text is the values of a candidate in words, in the order of the names.
func (c *Candidate) Text(names []string) string {
	var parts []string
	for _, name := range names {
		if v, ok := c.Values[name]; ok {
			parts = append(parts, name+" "+v)
		}
	}
	return strings.Join(parts, ", ")
}
