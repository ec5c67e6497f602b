package search

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	var words []string
	for _, name := range names {
		if v, ok := c.Values[name]; ok {
			words = append(words, name+" "+v)
		}
	}
	return strings.Join(words, ", ")
}

// Work is the amount of work of a search.
type Work struct {
	// Mapped is the number of rows that were scaled and mapped, Collected the number of rows added
	// to statistics of ridge regressions, Solves the number of linear models fitted.
	Mapped    int64 `json:"rows_mapped"`
	Collected int64 `json:"rows_collected"`
	Solves    int64 `json:"solves"`
}

func (w *Work) add(v Work) {
	w.Mapped += v.Mapped
	w.Collected += v.Collected
	w.Solves += v.Solves
}

// TuneResult is the result of a search.
type TuneResult struct {
	// Metric is the metric of the scores; Larger says that larger ones are better.
	Metric string `json:"metric"`
	Larger bool   `json:"larger_is_better"`

	Task   string `json:"task"`
	Rows   int    `json:"rows"`
	Folds  Folds  `json:"folds"`
	Splits int    `json:"splits"`

	// Timed says that folds of the kind time are by a column (TuneOptions.Times), not in the order of the rows.
	Timed bool `json:"timed,omitempty"`

	// Candidates are all candidates, best first; those without scores come last.
	Candidates []*Candidate `json:"candidates"`

	// Best is the candidate with the best mean, Picked the one to train; both are in Candidates.
	Best   *Candidate `json:"-"`
	Picked *Candidate `json:"-"`

	// AtEnd names the settings whose value in Picked is the smallest or the largest that was tried:
	// better ones may lie beyond.
	AtEnd []string `json:"at_end_of_range,omitempty"`

	// Work is the work done, Alone the work that training every configuration on every fold separately
	// would have been.
	Work  Work `json:"work"`
	Alone Work `json:"work_alone"`

	// Wrong is the number of invalid combinations of values; Why says why the first is invalid.
	Wrong int    `json:"combinations_left_out,omitempty"`
	Why   string `json:"left_out_because,omitempty"`

	// Forecast is the forecast passed to TuneOptions.Forecast, nil if there was none.
	Forecast *Forecast `json:"forecast,omitempty"`

	// Warnings describe problems. Resumed is the number of trainings found in a journal.
	Warnings []string `json:"warnings,omitempty"`
	Resumed  int      `json:"resumed,omitempty"`
}

// finish computes the means, picks, and sorts.
func (s *tuning) finish() (*TuneResult, error) {
	r := s.result
	for _, t := range s.running {
		if t.Dropped != "" {
			t.Scores = nil
			continue
		}
		t.summarise(s.folds())
		t.Size = cmp.Or(t.Size, s.sizeOf(t))
	}
	r.Work = s.journal.work
	r.Resumed = s.journal.resumed
	for _, t := range s.running {
		for _, sp := range s.division.Splits {
			r.Alone.add(s.workAlone(t, sp))
		}
	}
	judged := slices.DeleteFunc(slices.Clone(s.running), func(t *Candidate) bool { return t.Dropped != "" })
	if len(judged) == 0 {
		return nil, fmt.Errorf("%s: no configuration could be trained: %s", s.src.Name(), s.running[0].Dropped)
	}
	r.Best, r.Picked = pick(judged, s.metric.LargerIsBetter, s.opt.Pick)
	r.Best.Best, r.Picked.Picked = true, true
	r.AtEnd = atEnds(r.Picked, s.candidates)
	r.Candidates = slices.Clone(s.candidates)
	slices.SortStableFunc(r.Candidates, func(a, b *Candidate) int {
		if a.Dropped != "" || b.Dropped != "" {
			return btoi(a.Dropped != "") - btoi(b.Dropped != "")
		}
		return btoi(s.metric.Better(b.Mean, a.Mean)) - btoi(s.metric.Better(a.Mean, b.Mean))
	})
	return r, nil
}

// sizeOf is the size of a candidate as far as its configuration determines it, if it was not measured.
func (s *tuning) sizeOf(t *Candidate) int {
	most := 0
	for _, sp := range s.division.Splits {
		trained, _ := s.division.count(sp)
		most = max(most, trained)
	}
	return t.Config.Traits().SizeOn(&t.Config, most)
}

// folds is the number of scores of a trial that come from different rows.
func (s *tuning) folds() int {
	n := 0
	for _, sp := range s.division.Splits {
		if sp.Repeat == 0 {
			n++
		}
	}
	return n
}

// workAlone is the work of training a candidate on a split separately: its training rows and those that judge it are
// mapped, and the former are collected for a ridge regression.
func (s *tuning) workAlone(t *Candidate, sp split) Work {
	w, learner := Work{Solves: 1}, t.Config.Traits()
	trained, judged := s.division.count(sp)
	if !learner.Exact() {
		w.Mapped = int64(trained + judged)
	}
	if learner.SharesStatistics() {
		w.Collected = int64(trained)
	}
	return w
}

// pick finds the candidate with the best mean, and by "one-se" the simplest of those whose mean is worse
// by at most its standard error (Breiman, Friedman, Olshen and Stone 1984). Simplest means, in this order:
// the fewest features or principal components, for which a machine with the kernel itself counts its
// training rows or landmarks; the lowest degree; the learner of the candidate with the best mean; the
// strongest penalty, which is the largest λ or the smallest C; and the best mean. Ties are broken by the
// order of the candidates.
func pick(all []*Candidate, larger bool, rule string) (best, picked *Candidate) {
	better := func(a, b *Candidate) bool {
		if larger {
			return a.Mean > b.Mean
		}
		return a.Mean < b.Mean
	}
	best = all[0]
	for _, c := range all {
		if better(c, best) {
			best = c
		}
	}
	if rule != "one-se" {
		return best, best
	}
	left := slices.DeleteFunc(slices.Clone(all), func(c *Candidate) bool { return math.Abs(c.Mean-best.Mean) > best.SE })
	least := func(of func(c *Candidate) float64) {
		low := math.Inf(1)
		for _, c := range left {
			low = min(low, of(c))
		}
		left = slices.DeleteFunc(left, func(c *Candidate) bool { return of(c) > low })
	}
	least(func(c *Candidate) float64 { return float64(c.Size) })
	least(func(c *Candidate) float64 { return float64(c.Config.Kernel.Degree) })
	first := left[0]
	for _, c := range left {
		if better(c, first) {
			first = c
		}
	}
	ridge := func(c *Candidate) train.Ridge { return train.As[train.Ridge](c.Config.Learner) }
	left = slices.DeleteFunc(left, func(c *Candidate) bool {
		return c.Config.LearnerName() != first.Config.LearnerName() || ridge(c).LambdaBy != ridge(first).LambdaBy
	})
	least(func(c *Candidate) float64 { return -ridge(c).Lambda })
	least(func(c *Candidate) float64 { return train.As[train.SVM](c.Config.Learner).C })
	picked = left[0]
	for _, c := range left {
		if better(c, picked) {
			picked = c
		}
	}
	return best, picked
}

// atEnds returns the settings of a candidate whose value is the smallest or the largest of three or more
// numbers that were tried, so that better ones may lie beyond.
func atEnds(picked *Candidate, all []*Candidate) (names []string) {
	for _, name := range Settings() {
		value, ok := amount(picked.Values[name])
		if !ok {
			continue
		}
		tried := map[float64]bool{}
		below, above := false, false
		for _, c := range all {
			if v, ok := amount(c.Values[name]); ok {
				tried[v] = true
				below, above = below || v < value, above || v > value
			}
		}
		if len(tried) > 2 && below != above {
			names = append(names, name)
		}
	}
	return names
}

// amount is the number in a value of a setting, 1 for the median itself.
func amount(text string) (v float64, ok bool) {
	if text == "median" || text == "scale" {
		return 1, true
	}
	v, err := strconv.ParseFloat(text[strings.IndexByte(text, '*')+1:], 64)
	return v, err == nil
}
