package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"mercer/model"
)

// A race is on raceRows rows at most, a third of them to judge by, and the best keptShare-th part of
// the racers are judged by all rows.
const (
	raceRows  = 24_000
	keptShare = 4
)

// racers are the configurations that race, with the candidates that each stands for: λ and C, which
// are other ones on few rows and cost little on all, the learner chooses by itself in a race.
func (s *search) racers() (configs []model.Config, of []int, err error) {
	seen := map[string]int{}
	for _, c := range s.candidates {
		cfg := c.Config
		if shares(&cfg, s.result.Task) {
			cfg.Lambda, cfg.LambdaBy, cfg.C = 0, "", 0
		}
		key, err := json.Marshal(cfg)
		if err != nil {
			return nil, nil, err
		}
		at, known := seen[string(key)]
		if !known {
			at = len(configs)
			seen[string(key)] = at
			configs = append(configs, cfg)
		}
		of = append(of, at)
	}
	return configs, of, nil
}

// race finds by successive halving on growing samples which candidates are worth to be judged by
// all rows.
func (s *search) race() error {
	if s.opt.Search != "halving" {
		return nil
	}
	configs, of, err := s.racers()
	if err != nil {
		return err
	}
	most := (len(configs) + keptShare - 1) / keptShare
	if most == len(configs) {
		return nil
	}
	const job = "race"
	rec := s.journal.jobs[job]
	if rec == nil {
		if s.division.Kind == "group" || s.division.Kind == "time" {
			s.warn(fmt.Sprintf("the race that chooses which configurations to judge knows nothing of folds of kind %s; those that it leaves are judged by them", s.division.Kind))
		}
		if rec, err = s.runRace(job, configs, most); err != nil {
			return err
		}
		if err := s.journal.add(rec); err != nil {
			return err
		}
	}
	s.running = nil
	for i, c := range s.candidates {
		if c.Dropped = rec.Left[of[i]]; c.Dropped == "" {
			s.running = append(s.running, c)
		}
	}
	return nil
}

// runRace races configurations and keeps so many at most.
func (s *search) runRace(job string, configs []model.Config, most int) (*record, error) {
	sample, err := Draw(s.ctx, s.src, raceRows, s.result.Task, s.opt.Seed)
	if err != nil {
		return nil, err
	}
	opt := RaceOptions{Memory: s.opt.Memory}
	if s.opt.Progress != nil {
		opt.Progress = func(_ string, candidate, candidates, rows int) {
			s.opt.Progress(fmt.Sprintf("race on %d", rows), float64(candidate-1), float64(candidates))
		}
	}
	res, err := Race(s.ctx, sample, configs, opt)
	if err != nil {
		return nil, err
	}
	rec := &record{Job: job, Left: make([]string, len(configs))}
	var left []int
	for i := range res.Racers {
		r := &res.Racers[i]
		rec.Work.Solves += int64(len(r.Runs) * sample.Folds)
		if r.Dropped != "" {
			rec.Left[i] = "out of the race: " + r.Dropped
			continue
		}
		left = append(left, i)
	}
	gap := func(i int) float64 { last, _ := res.Racers[i].Last(); return last.Gap }
	slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(gap(a), gap(b)) })
	for _, i := range left[min(most, len(left)):] {
		last, _ := res.Racers[i].Last()
		rec.Left[i] = fmt.Sprintf("out of the race: not among the best %d on %d rows", most, last.Rows)
	}
	return rec, nil
}
