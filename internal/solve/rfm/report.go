package rfm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mercer/internal/engine/units"
	"mercer/internal/solve/metric"
)

// Report describes a training.
type Report struct {
	// Candidates are the kinds that were tried on a sample.
	Candidates []Candidate `json:"candidates"`

	// Leaves is the number of leaves, LeafRows the bound of their rows, and Centres the number of landmarks of all
	// machines.
	Leaves   int `json:"leaves"`
	LeafRows int `json:"leaf_rows"`
	Centres  int `json:"centres"`

	// Whole is the share of machines for all rows in the scores, 0 if there are none.
	Whole float64 `json:"whole,omitempty"`

	// Trees is the number of boosted trees beside the machines, and TreeShare their share of the scores; 0 if there are none.
	Trees     int     `json:"trees,omitempty"`
	TreeShare float64 `json:"tree_share,omitempty"`

	// Logistic says that the scores of classes are of machines by the logistic loss: log-odds of two classes, or logarithms of
	// probabilities but for a number. Otherwise they estimate the codes ±1.
	Logistic bool `json:"logistic,omitempty"`

	// Held are the numbers of rows, ascending, and Scores what machines that had not seen them say of them,
	// len(Held)×outputs, if Options.Held asks for it. None are known of machines with more than 4,096 landmarks.
	Held   []int     `json:"-"`
	Scores []float64 `json:"-"`
}

// Candidate is a kind that was tried.
type Candidate struct {
	Kind

	// Weight is its share of the scores, 0 if it was not chosen.
	Weight float64 `json:"weight"`

	// Learned describes how its metric was learned on the sample.
	Learned *metric.Report `json:"learned"`
}

// Lines describes the training, for display.
func (r *Report) Lines() []string {
	var parts []string
	weights := map[string]float64{} // several draws may choose the same
	for _, i := range r.order() {
		c := r.Candidates[i]
		text := fmt.Sprintf("%s with a %s metric", c.Kernel.Name, c.Form)
		if s := c.Learned.Shape(); s != nil {
			text += " " + s.String()
		}
		if weights[text] == 0 {
			parts = append(parts, text)
		}
		weights[text] += c.Weight
	}
	for i, text := range parts {
		if len(parts) > 1 {
			parts[i] = fmt.Sprintf("%.0f %% %s", 100*weights[text], text)
		}
	}
	leaves := fmt.Sprintf("%d leaves of at most %s rows", r.Leaves, units.Count(r.LeafRows))
	if r.Leaves == 1 {
		leaves = "one leaf"
	}
	if r.Whole > 0 {
		leaves += fmt.Sprintf(" and, with %.0f %% of the scores, machines for all rows", 100*r.Whole*(1-r.TreeShare))
	}
	if r.TreeShare > 0 {
		leaves += fmt.Sprintf(" and, with %.0f %% of the scores, %s boosted trees", 100*r.TreeShare, units.Count(r.Trees))
	}
	if r.Logistic {
		leaves += ", by log loss"
	}
	return []string{strings.Join(parts, ", "), fmt.Sprintf("%s, %s in all", leaves, units.Plural(r.Centres, "landmark"))}
}

// Chosen are the kinds that were chosen, in the order of the members of a leaf.
func (r *Report) Chosen() (kinds []Kind) {
	for _, i := range r.order() {
		kinds = append(kinds, r.Candidates[i].Kind)
	}
	return kinds
}

// order lists the chosen candidates, those of largest weight first.
func (r *Report) order() (chosen []int) {
	for i, c := range r.Candidates {
		if c.Weight > 0 {
			chosen = append(chosen, i)
		}
	}
	slices.SortStableFunc(chosen, func(a, b int) int { return cmp.Compare(r.Candidates[b].Weight, r.Candidates[a].Weight) })
	return chosen
}
