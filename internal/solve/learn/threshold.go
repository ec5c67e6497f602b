package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ThresholdRule says from which score on a row belongs to the second of two classes, the positive one.
type ThresholdRule struct {
	// Kind is "probability" or "score", of which Value is the least for a positive row, or what held-out rows choose by:
	// "max-f1", the largest F1; "precision", the largest recall with a precision of Value or more; "recall", the largest
	// precision with a recall of Value or more; "cost", the least sum of FN for each positive row that is missed and FP
	// for each negative one that is not.
	Kind   string
	Value  float64
	FN, FP float64
}

// ParseThreshold reads a rule: a probability such as "0.3", "score=-0.2", "max-f1", "precision=0.9", "recall=0.95" or
// "cost=fn:5,fp:1".
func ParseThreshold(text string) (r ThresholdRule, err error) {
	text = strings.ToLower(strings.TrimSpace(text))
	key, value, has := strings.Cut(text, "=")
	number := func() error {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || v-v != 0 {
			return fmt.Errorf("threshold %s: %q is not a number", text, value)
		}
		r.Value = v
		return nil
	}
	share := func() error {
		if err := number(); err != nil {
			return err
		}
		if r.Value <= 0 || r.Value > 1 {
			return fmt.Errorf("threshold %s: give a share above 0 and up to 1", text)
		}
		return nil
	}
	r.Kind = key
	switch {
	case key == "max-f1" && !has:
		return r, nil
	case key == "score" && has:
		if err := number(); err != nil {
			return r, err
		}
		if math.Abs(r.Value) > math.MaxFloat32 {
			return r, fmt.Errorf("threshold %s: a score is a float32", text)
		}
		return r, nil
	case (key == "precision" || key == "recall") && has:
		return r, share()
	case key == "cost" && has:
		return r, r.parseCost(text, value)
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		if !(v > 0 && v < 1) {
			return r, fmt.Errorf("threshold %s: a probability is between 0 and 1; give score=%s if that is a score", text, text)
		}
		return ThresholdRule{Kind: "probability", Value: v}, nil
	}
	return r, fmt.Errorf("threshold %q is not known; known are a probability such as 0.3, score=NUMBER, max-f1, precision=SHARE, recall=SHARE and "+
		"cost=fn:NUMBER,fp:NUMBER", text)
}

// parseCost reads "fn:5,fp:1".
func (r *ThresholdRule) parseCost(text, value string) error {
	r.FN, r.FP = math.NaN(), math.NaN()
	for _, part := range strings.Split(value, ",") {
		key, number, _ := strings.Cut(strings.TrimSpace(part), ":")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("threshold %s: %q is not fn:NUMBER or fp:NUMBER", text, part)
		}
		switch key {
		case "fn":
			r.FN = v
		case "fp":
			r.FP = v
		default:
			return fmt.Errorf("threshold %s: %q is not fn:NUMBER or fp:NUMBER", text, part)
		}
	}
	if !(r.FN+r.FP > 0) {
		return fmt.Errorf("threshold %s: give the cost of both errors, such as cost=fn:5,fp:1, one of them above 0", text)
	}
	return nil
}

// Chosen says whether held-out rows choose the threshold.
func (r ThresholdRule) Chosen() bool { return r.Kind != "probability" && r.Kind != "score" }

// Cut is a score from which on rows are positive, and what that makes of the rows it was chosen on. These
// figures are better than those of other rows.
type Cut struct {
	Score                 float32
	Precision, Recall, F1 float64
	Cost                  float64 // of a row, by a rule of costs
}

// Choose finds the threshold for rows that the learner has not seen. weights may be nil.
func (r ThresholdRule) Choose(scores []float32, positive []bool, weights []float64) (Cut, error) {
	all := r.cuts(scores, positive, weights)
	if len(all) == 0 {
		return Cut{}, errors.New("the held-out rows that choose a threshold have one class alone, or no weight")
	}
	// better compares what counts first, then what counts next; of equal cuts the first, with the highest score, is taken.
	better := func(a, b Cut) bool { return a.F1 > b.F1 }
	fits := func(Cut) bool { return true }
	switch r.Kind {
	case "precision":
		fits = func(c Cut) bool { return c.Precision >= r.Value && c.Recall > 0 }
		better = func(a, b Cut) bool {
			return cmp.Or(cmp.Compare(a.Recall, b.Recall), cmp.Compare(a.Precision, b.Precision)) > 0
		}
	case "recall":
		fits = func(c Cut) bool { return c.Recall >= r.Value }
		better = func(a, b Cut) bool {
			return cmp.Or(cmp.Compare(a.Precision, b.Precision), cmp.Compare(a.Recall, b.Recall)) > 0
		}
	case "cost":
		better = func(a, b Cut) bool { return a.Cost < b.Cost }
	}
	best, most := -1, Cut{}
	for i, c := range all {
		if fits(c) && (best < 0 || better(c, all[best])) {
			best = i
		}
		if c.Precision > most.Precision {
			most = c
		}
	}
	if best < 0 {
		return Cut{}, fmt.Errorf("no threshold has a precision of %g on the held-out rows; the largest is %.3g, with a recall of %.3g",
			r.Value, most.Precision, most.Recall)
	}
	return all[best], nil
}

// cuts are all ways to cut the rows in two, from the highest score down: above all of them, between scores next to each other,
// half way, and below all. None if one class has no rows.
func (r ThresholdRule) cuts(scores []float32, positive []bool, weights []float64) []Cut {
	order := make([]int, 0, len(scores))
	var plus, minus float64
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	for i := range scores {
		w := weight(i)
		if w <= 0 {
			continue
		}
		order = append(order, i)
		if positive[i] {
			plus += w
		} else {
			minus += w
		}
	}
	if plus == 0 || minus == 0 {
		return nil
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	var all []Cut
	var tp, fp float64
	add := func(score float32) {
		c := Cut{Score: score, Recall: tp / plus, F1: 2 * tp / (tp + fp + plus), Cost: (r.FN*(plus-tp) + r.FP*fp) / (plus + minus)}
		if tp > 0 {
			c.Precision = tp / (tp + fp)
		}
		all = append(all, c)
	}
	for at, i := range order {
		s := scores[i]
		if at == 0 {
			add(math.Nextafter32(s, math.MaxFloat32))
		}
		if w := weight(i); positive[i] {
			tp += w
		} else {
			fp += w
		}
		switch {
		case at+1 == len(order):
			add(s)
		case scores[order[at+1]] != s:
			next := scores[order[at+1]]
			mid := float32((float64(s) + float64(next)) / 2)
			if mid <= next {
				mid = s
			}
			add(mid)
		}
	}
	return all
}
