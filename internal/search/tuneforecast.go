package search

import (
	"fmt"
	"slices"

	"mercer/train"
)

// forecastRows is the number of first rows that a forecast looks at.
const forecastRows = 8000

// forecast reports how long the search will take, if that is long. Candidates that cannot be planned, or do not fit
// into memory, do not count: the reason is reported when they are tried, and the forecast covers the others. It is no
// error if nothing can be forecast.
func (s *tuning) forecast() {
	if s.opt.Forecast == nil {
		return
	}
	if len(s.running)*len(s.division.Splits) <= s.journal.resumed {
		return
	}
	sample, err := DrawFirst(s.ctx, s.src, forecastRows, s.result.Task, s.opt.Seed)
	if err != nil {
		return
	}
	sample = sample.ofRows(s.result.Rows)
	if s.short(sample) {
		return
	}
	planned, bytes := s.plans(sample)
	costs, planned := s.costs(sample, planned)
	f := Forecast{Configurations: len(planned), Bytes: bytes}
	all := len(planned) * len(s.division.Splits)
	f.Trainings = max(0, all-s.journal.resumed)
	if f.Trainings == 0 {
		return
	}
	f.Seconds = s.expected(costs, planned) * float64(f.Trainings) / float64(all)
	if f.Seconds >= s.opt.ForecastFrom && s.ctx.Err() == nil {
		s.result.Forecast = &f
		s.opt.Forecast(f)
	}
}

// short says that the remaining trainings will certainly be short, judging by the largest candidate of each learner.
func (s *tuning) short(sample *Sample) bool {
	trainings := len(s.running)*len(s.division.Splits) - s.journal.resumed
	for _, list := range grouped(s.running, learnerName) {
		short, err := Short(s.ctx, sample, s.settled(list[0].Config), s.opt.Memory, s.opt.ForecastFrom/float64(trainings))
		if err != nil || !short {
			return false
		}
	}
	return true
}

func learnerName(c *Candidate) string { return c.Config.LearnerName() }

// grouped groups candidates by a key, those with the most features first.
func grouped(of []*Candidate, key func(c *Candidate) string) [][]*Candidate {
	groups := groupBy(of, key)
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b *Candidate) int { return b.Config.Map.Features - a.Config.Map.Features })
	}
	return groups
}

// expense is the cost of a training of a learner: seconds of waiting for the rows, the seconds of each stage
// for n rows of d features, and its plan.
type expense struct {
	read   float64
	plan   *train.Plan
	stages func(n, d int) (read, mapping, solve float64)
}

// costs predicts the cost of a training for each learner, from its largest candidate that can be trained on
// few rows, and returns the candidates without those that cannot.
func (s *tuning) costs(sample *Sample, of []*Candidate) (map[string]*expense, []*Candidate) {
	costs := map[string]*expense{}
	var trained []*Candidate
	predict := func(c *Candidate) (*Prediction, error) {
		return Predict(s.ctx, sample, s.settled(c.Config), PredictOptions{Memory: s.opt.Memory, Seconds: 0.5})
	}
	for _, list := range grouped(of, learnerName) {
		p, err := predict(list[0])
		for err != nil && len(list) > 1 && s.ctx.Err() == nil {
			list = list[1:]
			p, err = predict(list[0])
		}
		if err != nil {
			continue
		}
		e := &expense{p.Read, p.Plan, p.stages}
		costs[learnerName(list[0])] = e
		trained = append(trained, list...)
		dearest := list[0]
		weight := func(c *Candidate) float64 { return train.As[train.SVM](c.Config.Learner).C }
		for _, c := range list {
			if c.Config.Map.Features == dearest.Config.Map.Features && weight(c) > weight(dearest) {
				dearest = c
			}
		}
		if dearest == list[0] {
			continue
		}
		// A larger C takes longer: the mean stands for those in between.
		if other, err := predict(dearest); err == nil {
			e.stages = func(n, d int) (read, mapping, solve float64) {
				read, mapping, solve = p.stages(n, d)
				_, _, more := other.stages(n, d)
				return read, mapping, (solve + more) / 2
			}
		}
	}
	slices.SortFunc(trained, func(a, b *Candidate) int { return a.Index - b.Index })
	return costs, trained
}

// plans returns the candidates that can be planned, and the approximate peak memory of the search,
// including the training of the picked candidate. Candidates with the same learner, kernel and map are
// judged by the one with the most features that can be planned and fits into memory; larger ones are not
// trained.
func (s *tuning) plans(sample *Sample) (planned []*Candidate, most int64) {
	together := func(c *Candidate) string { return s.pipelineKey(c) + learnerName(c) }
	sharing := map[string]int{} // candidates that share statistics
	for _, c := range s.running {
		if c.collects() {
			sharing[together(c)]++
		}
	}
	kind := func(c *Candidate) string {
		cfg := &c.Config
		return fmt.Sprint(cfg.LearnerName(), cfg.Kernel.Name, cfg.Map.Name, cfg.Map.Steps, cfg.Kernel.Degree, cfg.Scale,
			cfg.Reduce.Components > 0)
	}
	for _, list := range grouped(s.running, kind) {
		for ; len(list) > 0 && s.ctx.Err() == nil; list = list[1:] {
			c, memory, shared := list[0], s.opt.Memory, list[0].shares(s.result.Task)
			if shared {
				memory = 0 // the search decides where features are kept
			}
			plan, err := sample.Plan(s.ctx, s.settled(c.Config), s.result.Rows, memory)
			if err != nil {
				continue
			}
			bytes := plan.Bytes
			if shared {
				bytes = s.sharedBytes(plan, c.collects(), sharing[together(c)])
			}
			if s.opt.Memory <= 0 || bytes <= s.opt.Memory {
				most = max(most, bytes)
				planned = append(planned, list...)
				break
			}
		}
	}
	return planned, most
}

// sharedBytes is the approximate number of bytes that a featureRun holds: the features of the candidates that share
// them, in memory if there is room, and their learner, of which the given number may share statistics. The plan
// is that of a training without a memory limit.
func (s *tuning) sharedBytes(p *train.Plan, collects bool, sharing int) int64 {
	rest := float64(p.Bytes - p.FeatureBytes) // besides the kept rows
	if collects {
		rest = float64(p.MapBytes) + s.statisticsBytes(p.Features, p.Outputs, sharing*len(s.division.Splits))
	}
	kept := float64(p.FeatureBytes) + s.rowBytes(p.Outputs)
	if s.opt.Memory > 0 && rest+kept > float64(s.opt.Memory) {
		kept = 0 // in a file, or mapped again
	}
	return int64(rest + kept)
}

// expected is the number of seconds that judging candidates takes, from the costs of their learners. Rows
// are mapped once for the candidates that share them, but once per split if the map is fitted again for each;
// some learners share statistics, too.
func (s *tuning) expected(costs map[string]*expense, of []*Candidate) (seconds float64) {
	splits := float64(len(s.division.Splits))
	passes := 1.0
	if s.opt.Strict || s.opt.Alone {
		passes = splits
	}
	trained, _ := s.division.count(s.division.Splits[len(s.division.Splits)-1])
	met := map[string]bool{}
	first := func(key string) bool {
		again := met[key]
		met[key] = true
		return !again
	}
	for _, c := range of {
		e := costs[learnerName(c)]
		d := c.Config.Map.Features
		if d == 0 || e.plan.Fixed {
			d = e.plan.Features
		}
		_, mapping, _ := e.stages(s.result.Rows, d)
		_, _, solve := e.stages(trained, d)
		if !c.shares(s.result.Task) {
			seconds += splits * (e.read + mapping + solve)
			continue
		}
		key := s.pipelineKey(c)
		if first(key) {
			seconds += passes * (e.read + mapping)
		}
		if !c.collects() {
			seconds += splits * solve
			continue
		}
		_, _, factorise := e.stages(0, d)
		if first(key + " " + learnerName(c)) {
			seconds += max(passes, float64(s.opt.Folds.Repeats), 1) * (solve - factorise)
		}
		seconds += splits * factorise
	}
	return seconds
}
