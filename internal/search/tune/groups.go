package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"mercer/dataset"
	"mercer/train"
)

// group is candidates that see the same features.
type group struct {
	name       string
	prepare    train.Config // up to its learner
	candidates []*Candidate
	splits     []int          // that are judged on these features
	fitted     dataset.Source // the rows that scaling and map are fitted on
}

// judgeAll judges all candidates on all rows.
func (s *search) judgeAll() error {
	s.all = float64(len(s.running) * len(s.division.Splits))
	s.done = 0
	var refit []*Candidate
	shared := map[string]*group{}
	var order []*group
	for _, c := range s.running {
		c.Scores = make([]float64, len(s.division.Splits))
		if !shares(&c.Config, s.base.Info().Task) {
			refit = append(refit, c)
			continue
		}
		key, cfg, err := pipelineKey(c.Config)
		if err != nil {
			return err
		}
		if s.opt.Alone {
			key = fmt.Sprint(c.Index)
		}
		g := shared[key]
		if g == nil {
			g = &group{prepare: s.settled(cfg), name: fmt.Sprintf("g%d", len(order)), fitted: s.src}
			shared[key] = g
			order = append(order, g)
		}
		g.candidates = append(g.candidates, c)
	}
	s.advance(0) // the remaining time is estimated from here
	for _, g := range order {
		if err := s.judgeGroup(g); err != nil {
			return err
		}
	}
	for _, c := range refit {
		for split := range s.division.Splits {
			if err := s.refit(c, split); err != nil {
				return err
			}
		}
	}
	return nil
}

// shares says whether a configuration's training can share statistics or features with others.
func shares(c *train.Config, task string) bool {
	return c.Traits().Shares(c, task)
}

// pipelineKey identifies configurations that see the same features. It also returns one of
// them; its learner plays no part.
func pipelineKey(c train.Config) (string, train.Config, error) {
	c = c.BeforeLearner()
	key, err := json.Marshal(c)
	return string(key), c, err
}

// settled returns a configuration with the task and the number of features that follow from all rows;
// fewer rows might give others.
func (s *search) settled(c train.Config) train.Config {
	base, asked := s.base.Info(), s.base.Config()
	c.Task = base.Task
	if f := base.Feature; f != nil && f.Steps == nil && c.Map.Features == 0 && c.Map.Steps == nil && c.Kernel.Name == asked.Kernel.Name &&
		c.Map.Name == asked.Map.Name {
		if !c.Traits().Exact() && !f.Decides() {
			c.Map.Features = f.Features
		}
	}
	return c
}

// judgeGroup judges candidates with the same features: all splits at once, or one at a time
// if the features are fitted on training rows alone or nothing is to be shared.
func (s *search) judgeGroup(g *group) error {
	if !s.opt.Strict && !s.opt.Alone {
		g.splits = upTo(len(s.division.Splits))
		return s.judgeFeatures(g)
	}
	for i, sp := range s.division.Splits {
		part := *g
		part.splits = []int{i}
		part.name = fmt.Sprintf("%s/%d", g.name, i)
		if s.opt.Strict {
			part.fitted = dataset.Keep(s.src, func(row int) bool { return s.division.trains(sp, row) })
		}
		if err := s.judgeFeatures(&part); err != nil {
			return err
		}
	}
	return nil
}

// path is candidates that differ only in their learner's setting, in the order of its values.
type path struct {
	learner    string
	candidates []*Candidate
	values     map[*Candidate]float64
}

// jobs returns the jobs of a group: one for all candidates of a learner that share statistics, and one for each
// path over a setting and split.
func (g *group) jobs(s *search) (jobs []job) {
	statistics := map[string]int{} // the number of a learner's job
	known := map[string]*path{}
	var paths []*path
	for _, c := range g.candidates {
		learner := c.Config.Traits()
		if learner.SharesStatistics() {
			at, ok := statistics[learner.Name()]
			if !ok {
				at = len(jobs)
				statistics[learner.Name()] = at
				jobs = append(jobs, job{name: g.name + "/" + learner.Name(), splits: g.splits, run: (*featureRun).fromStatistics})
			}
			jobs[at].candidates = append(jobs[at].candidates, c)
			continue
		}
		off, value := learner.OffPath(c.Config)
		key, _ := json.Marshal(off)
		p := known[string(key)]
		if p == nil {
			p = &path{learner: learner.Name(), values: map[*Candidate]float64{}}
			known[string(key)] = p
			paths = append(paths, p)
		}
		p.candidates = append(p.candidates, c)
		p.values[c] = value
	}
	for i, p := range paths {
		slices.SortStableFunc(p.candidates, func(a, b *Candidate) int { return cmp.Compare(p.values[a], p.values[b]) })
		for _, split := range g.splits {
			jobs = append(jobs, job{name: fmt.Sprintf("%s/%s%d/%d", g.name, p.learner, i, split), candidates: p.candidates,
				splits: []int{split}, gathers: true, run: (*featureRun).path})
		}
	}
	return jobs
}
