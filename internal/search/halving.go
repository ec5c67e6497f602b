package search

import (
	"fmt"
	"slices"

	"mercer/internal/engine/units"
	"mercer/train"
)

// A race is on at most raceRows rows, a third of which judge, and the best keptShare-th part of
// the racers are judged on all rows.
const (
	raceRows  = 24_000
	keptShare = 4
)

// contest is the racers: configurations, and the pipeline of each. The candidates of a pipeline go
// on together or not at all.
type contest struct {
	configs  []train.Config
	pipeline []int // of each configuration
	of       []int // of each candidate
	most     int   // pipelines that may go on
}

// contest lists the racers. The best λ and C differ on few rows and cost little to find on all, so they do not race:
// the learner chooses them itself. But it chooses on random rows, and if the rows have groups
// or an order in time, that favours models which memorise them; in that case each candidate races with its own λ or C.
func (s *tuning) contest() *contest {
	c := &contest{}
	apart := s.division.Kind == "group" || s.division.Kind == "time"
	racers, pipelines := map[string]bool{}, map[string]int{}
	for _, t := range s.candidates {
		cfg := t.Config
		if t.shares(s.result.Task) {
			cfg, _ = cfg.Traits().OffPath(cfg)
		}
		key := keyOf(cfg)
		at, known := pipelines[key]
		if !known {
			at = len(pipelines)
			pipelines[key] = at
		}
		c.of = append(c.of, at)
		if apart {
			cfg, key = t.Config, keyOf(t.Config)
		}
		if !racers[key] {
			racers[key] = true
			c.configs, c.pipeline = append(c.configs, cfg), append(c.pipeline, at)
		}
	}
	c.most = (len(pipelines) + keptShare - 1) / keptShare
	return c
}

// race finds by successive halving on growing samples which candidates are worth judging on
// all rows.
func (s *tuning) race() error {
	if s.opt.Search != "halving" {
		return nil
	}
	c := s.contest()
	if c.most == slices.Max(c.of)+1 {
		return nil
	}
	const job = "race"
	rec := s.journal.jobs[job]
	if rec == nil {
		var err error
		if rec, err = s.runRace(job, c); err != nil {
			return err
		}
		if err := s.journal.add(rec); err != nil {
			return err
		}
	}
	if len(rec.Left) != slices.Max(c.of)+1 {
		return s.journal.foreign(job)
	}
	s.running = nil
	for i, t := range s.candidates {
		if t.Dropped = rec.Left[c.of[i]]; t.Dropped == "" {
			s.running = append(s.running, t)
		}
	}
	return nil
}

// runRace races configurations and says which pipelines remain.
func (s *tuning) runRace(job string, c *contest) (*record, error) {
	sample, err := s.drawForRace()
	s.rows = rowsInfo{}
	if err != nil {
		return nil, err
	}
	opt := raceOptions{Memory: s.opt.Memory}
	if s.opt.Progress != nil {
		opt.Progress = func(_ string, candidate, candidates, rows int) {
			s.opt.Progress(fmt.Sprintf("race on %d", rows), float64(candidate-1), float64(candidates))
		}
	}
	res, err := race(s.ctx, sample, c.configs, opt)
	if err != nil {
		return nil, err
	}
	rec := &record{Job: job, Left: make([]string, slices.Max(c.of)+1)}
	for i := range res.Racers {
		rec.Work.Solves += int64(len(res.Racers[i].Runs) * len(sample.folds))
	}
	// A pipeline is as good as the best of its racers.
	seen, left := make([]bool, len(rec.Left)), 0
	for _, i := range res.Ranking() {
		r, p := &res.Racers[i], c.pipeline[i]
		if seen[p] {
			continue
		}
		seen[p] = true
		switch {
		case r.Dropped != "":
			rec.Left[p] = "out of the race: " + r.Dropped
		case left == c.most:
			last, _ := r.Last()
			rec.Left[p] = fmt.Sprintf("out of the race: not among the best %d on %s rows", c.most, units.Count(last.Rows))
		default:
			left++
		}
	}
	return rec, nil
}
