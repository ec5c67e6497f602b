package tune

import (
	"fmt"
	"runtime"
	"time"

	"mercer/dataset"
	"mercer/eval"
	"mercer/train"
)

// refit trains a candidate separately on the training rows of a split.
func (s *search) refit(c *Candidate, split int) error {
	name := fmt.Sprintf("c%d/%d", c.Index, split)
	if rec := s.journal.jobs[name]; rec != nil {
		if j := (job{candidates: []*Candidate{c}, splits: []int{split}}); !j.has(rec) {
			return s.journal.foreign(name)
		}
		s.take(rec)
		return nil
	}
	// Collect the garbage of the last training, so that memory stays within the forecast: otherwise all features
	// could be allocated in one piece before the collector frees those of the training before.
	defer runtime.GC()
	rec := &record{Job: name}
	sp := s.division.Splits[split]
	rest := dataset.Keep(s.src, func(row int) bool { return s.division.trains(sp, row) })
	held := dataset.Keep(s.src, func(row int) bool { return s.division.holds(sp, row) })
	value, size, start := 0.0, 0, time.Now()
	cfg := s.settled(c.Config)
	cfg.Threshold = "" // candidates are compared without
	m, _, err := train.Fit(s.ctx, rest, cfg, train.Options{Memory: s.opt.Memory})
	if err == nil {
		size = train.Size(m)
		var metrics *eval.Metrics
		if metrics, err = eval.Evaluate(s.ctx, m, held, eval.Options{}); err == nil {
			value, err = s.metric.of(metrics)
		}
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if ofSystem(err) {
		return err
	}
	if err != nil {
		rec.Scores = []score{s.failed(c, split, err)}
	} else {
		rec.Scores = []score{{Candidate: c.Index, Split: split, Value: value, Size: size}}
	}
	rec.divide(time.Since(start).Seconds(), 0)
	trained, judged := s.division.count(sp)
	rec.Work.Solves = 1
	learner := c.Config.Traits()
	if !learner.Exact() {
		rec.Work.Mapped = int64(trained + judged)
	}
	if learner.SharesStatistics() {
		rec.Work.Collected = int64(trained)
	}
	if err := s.journal.add(rec); err != nil {
		return err
	}
	s.take(rec)
	return nil
}
