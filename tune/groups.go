package tune

import (
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

// judgeAll judges all candidates by all rows.
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
	s.advance(0) // the time left is counted from here
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
	if c.Calibrate != "" && c.Calibrate != "none" || c.Variance || c.Conformal != 0 || c.Path {
		return false
	}
	switch c.Learner {
	case "ridge":
		return c.Lambda > 0
	case "svm":
		return c.C > 0 && c.Penalty != "l1" && c.Solver != "primal" && task == "classify"
	case "svr":
		return c.C > 0 && c.Solver != "primal"
	case "logistic":
		return c.C > 0 && c.Penalty != "l1" && c.Solver != "dual" && task == "classify"
	}
	return false
}

// pipelineKey is what configurations have in common that see the same features, and one of
// them, whose learner plays no part.
func pipelineKey(c train.Config) (string, train.Config, error) {
	c.Learner, c.Lambda, c.LambdaBy, c.C, c.Loss, c.Multiclass, c.Penalty, c.Solver = "ridge", 0, "", 0, "", "", "", ""
	c.Epsilon, c.EpsilonGiven, c.Tolerance, c.MaxIter = 0, false, 0, 0
	if c.Kernel == "linear" && c.Map == "" {
		c.Gamma = ""
	}
	key, err := json.Marshal(c)
	return string(key), c, err
}

// settled gives a configuration the task and the number of features that all rows decide on, which
// fewer rows might decide otherwise.
func (s *search) settled(c train.Config) train.Config {
	base, asked := s.base.Info(), s.base.Config()
	c.Task = base.Task
	if f := base.Feature; f != nil && f.Steps == nil && c.Features == 0 && c.Steps == nil && c.Kernel == asked.Kernel && c.Map == asked.Map {
		if exact, _ := train.Exact(c.Learner); !exact {
			c.Features = f.Features
		}
	}
	return c
}

// judgeGroup judges candidates with the same features: all splits at once, or one at a time
// where the features are fitted on training rows alone, or nothing is to be shared.
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

// jobs are those of a group: one for all ridge regressions, and one for each path of C and split.
func (g *group) jobs(s *search) (jobs []job) {
	var ridge []*Candidate
	paths := map[string]int{}
	var orders [][]*Candidate
	var names []string
	for _, c := range g.candidates {
		if c.Config.Learner == "ridge" {
			ridge = append(ridge, c)
			continue
		}
		key := c.Config
		key.C = 0
		text, _ := json.Marshal(key)
		at, known := paths[string(text)]
		if !known {
			at = len(orders)
			paths[string(text)] = at
			orders, names = append(orders, nil), append(names, c.Config.Learner)
		}
		orders[at] = append(orders[at], c)
	}
	if ridge != nil {
		jobs = append(jobs, job{name: g.name + "/ridge", candidates: ridge, splits: g.splits, run: (*featureRun).ridge})
	}
	for i, path := range orders {
		slices.SortStableFunc(path, func(a, b *Candidate) int {
			switch {
			case a.Config.C < b.Config.C:
				return -1
			case a.Config.C > b.Config.C:
				return 1
			}
			return 0
		})
		for _, split := range g.splits {
			jobs = append(jobs, job{name: fmt.Sprintf("%s/%s%d/%d", g.name, names[i], i, split), candidates: path, splits: []int{split}, gathers: true, run: (*featureRun).path})
		}
	}
	return jobs
}
