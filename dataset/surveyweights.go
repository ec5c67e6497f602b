package dataset

import (
	"fmt"
	"math"

	"mercer/internal/engine/option"
	"mercer/matrix"
)

// weightCounts say which rows have a weight above 0.
type weightCounts struct {
	Given    bool     `json:"given,omitempty"`
	Positive int      `json:"positive,omitempty"` // rows
	Largest  float64  `json:"largest,omitempty"`
	Others   float64  `json:"others,omitempty"`  // sum of the weights but the largest
	Numbers  []string `json:"numbers,omitempty"` // labels of such rows that are numbers
	Texts    [][]byte `json:"texts,omitempty"`   // and those that are text

	numbers map[float64]bool
	texts   map[string]bool
}

// add counts the rows of a batch; of lists of labels, only the rows. Without weights all have the weight 1.
func (w *weightCounts) add(b *matrix.Batch, lists bool) {
	if b.Weights == nil {
		return
	}
	w.Given = true
	for i, v := range b.Weights {
		if v == 0 {
			continue
		}
		w.Positive++
		w.Largest, w.Others = max(w.Largest, v), w.Others+min(w.Largest, v)
		if b.Outputs == 1 && !lists {
			w.label(b, i)
		}
	}
}

// label notes the label of row i.
func (w *weightCounts) label(b *matrix.Batch, i int) {
	if w.numbers == nil {
		w.numbers, w.texts = map[float64]bool{}, map[string]bool{}
	}
	if b.Names != nil && b.Names[i] != "" {
		if text := b.Names[i]; !w.texts[text] && len(w.texts) < maxDistinct {
			w.texts[text] = true
			w.Texts = append(w.Texts, []byte(text))
		}
		return
	}
	if y := b.Y[i]; !w.numbers[y] && len(w.numbers) < maxDistinct {
		w.numbers[y] = true
		w.Numbers = append(w.Numbers, number(y))
	}
}

// merge adds the counts of other rows.
func (w *weightCounts) merge(o *weightCounts) {
	w.Given, w.Positive = w.Given || o.Given, w.Positive+o.Positive
	w.Largest, w.Others = max(w.Largest, o.Largest), w.Others+o.Others+min(w.Largest, o.Largest)
	w.Numbers, w.Texts = append(w.Numbers, o.Numbers...), append(w.Texts, o.Texts...)
}

// classes says which classes have a row with a weight above 0.
func (w *weightCounts) classes(c *Classes) []bool {
	has := make([]bool, len(c.labels))
	for _, label := range w.Numbers {
		if k := c.Named(label); k >= 0 {
			has[k] = true
		}
	}
	for _, label := range w.Texts {
		if k := c.Named(string(label)); k >= 0 {
			has[k] = true
		}
	}
	return has
}

// outweighed is the share of the largest weight up to which all others together count for nothing: less than a regularisation by which
// one row is fitted.
const outweighed = 1e-6

// CheckWeights fails if the weights of the rows, with those of their classes, leave nothing to learn from: no row with a weight
// above 0, one row that outweighs all others, or rows of a single class. c is nil if there are no classes, byClass if all count alike.
func (s *Summary) CheckWeights(c *Classes, byClass []float64) error {
	w := &s.weights
	if w.Given && w.Positive == 0 {
		return option.Errorf("the weight of every row is 0, so there is nothing to learn from (is %s the right column?)", option.Ref("weight"))
	}
	if w.Positive > 1 && w.Others <= outweighed*w.Largest {
		return option.Errorf("one row has the weight %g, and those of the other %d rows add up to %.3g, so that they count for nothing; "+
			"correct it (is %s the right column?)", w.Largest, w.Positive-1, w.Others, option.Ref("weight"))
	}
	if c == nil || !w.Given && byClass == nil {
		return nil
	}
	has := w.classes(c)
	var left []string
	for k, label := range c.labels {
		if (has[k] || !w.Given) && (byClass == nil || byClass[k] > 0) {
			left = append(left, label)
		}
	}
	switch len(left) {
	case 0:
		return option.Errorf("every row has the weight 0, its own or its class's, so there is nothing to learn from; change %s or %s",
			option.Ref("weight"), option.Ref("class_weight"))
	case 1:
		return option.Errorf("only rows of the class %q have a weight above 0, and to tell classes apart at least two are needed; "+
			"change %s or %s", left[0], option.Ref("weight"), option.Ref("class_weight"))
	}
	return nil
}

// leastWeight and mostWeight bound weights other than 0, so that learners may take squares and sums of them, also in float32, beside penalties that do not grow with them.
const leastWeight, mostWeight = 1e-12, 1e12

// CheckWeight fails if w is not a weight: 0, or a number from 1e-12 to 1e12.
func CheckWeight(w float64) error {
	switch {
	case !(w >= 0) || math.IsInf(w, 0):
		return fmt.Errorf("%g is not a weight; weights are numbers of 0 or more", w)
	case w != 0 && !(w >= leastWeight && w <= mostWeight):
		return fmt.Errorf("the weight %g is neither 0 nor from %g to %g; multiply all weights by the same number", w,
			leastWeight, mostWeight)
	}
	return nil
}

// CheckRowWeights fails at the first weight of a batch of src that is none (CheckWeight).
func CheckRowWeights(src Source, b *matrix.Batch) error {
	for i, w := range b.Weights {
		if err := CheckWeight(w); err != nil {
			return AtRow(src, b.First+i, err)
		}
	}
	return nil
}
