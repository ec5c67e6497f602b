package tune

import (
	"cmp"
	"fmt"
	"slices"

	"mercer/internal/search/cost"
)

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

// Result is the result of a search.
type Result struct {
	// Metric is the metric of the scores; Larger says that larger ones are better.
	Metric string `json:"metric"`
	Larger bool   `json:"larger_is_better"`

	Task   string `json:"task"`
	Rows   int    `json:"rows"`
	Folds  Folds  `json:"folds"`
	Splits int    `json:"splits"`

	// Timed says that folds of the kind time are by a column (Options.Times), not in the order of the rows.
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

	// Forecast is the forecast passed to Options.Forecast, nil if there was none.
	Forecast *cost.Forecast `json:"forecast,omitempty"`

	// Warnings describe problems. Resumed is the number of trainings found in a journal.
	Warnings []string `json:"warnings,omitempty"`
	Resumed  int      `json:"resumed,omitempty"`
}

// finish computes the means, picks, and sorts.
func (s *search) finish() (*Result, error) {
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
	r.Alone = s.alone()
	judged := slices.DeleteFunc(slices.Clone(s.running), func(t *Candidate) bool { return t.Dropped != "" })
	if len(judged) == 0 {
		return nil, fmt.Errorf("%s: no configuration could be trained: %s", s.src.Name(), s.running[0].Dropped)
	}
	r.Best, r.Picked = pick(judged, s.metric.larger, s.opt.Pick)
	r.Best.Best, r.Picked.Picked = true, true
	r.AtEnd = atEnds(r.Picked, s.candidates)
	r.Candidates = slices.Clone(s.candidates)
	slices.SortStableFunc(r.Candidates, func(a, b *Candidate) int {
		if (a.Dropped == "") != (b.Dropped == "") {
			if a.Dropped == "" {
				return -1
			}
			return 1
		}
		if a.Dropped != "" {
			return 0
		}
		return s.metric.compare(a.Mean, b.Mean)
	})
	return r, nil
}

// sizeOf is the size of a candidate as far as its configuration determines it, if it was not measured.
func (s *search) sizeOf(t *Candidate) int {
	most := 0
	for _, sp := range s.division.Splits {
		trained, _ := s.division.count(sp)
		most = max(most, trained)
	}
	return t.Config.Traits().SizeOn(&t.Config, most)
}

// folds is the number of scores of a trial that come from different rows.
func (s *search) folds() int {
	n := 0
	for _, sp := range s.division.Splits {
		if sp.Repeat == 0 {
			n++
		}
	}
	return n
}

// alone is the work of training every judged configuration on every fold separately:
// its training rows and those that judge it are mapped, and the former are collected for a
// ridge regression.
func (s *search) alone() (w Work) {
	for _, t := range s.running {
		learner := t.Config.Traits()
		for _, sp := range s.division.Splits {
			trained, held := s.division.count(sp)
			if !learner.Exact() {
				w.Mapped += int64(trained + held)
			}
			if learner.SharesStatistics() {
				w.Collected += int64(trained)
			}
			w.Solves++
		}
	}
	return w
}
