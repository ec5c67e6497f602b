package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/exact"
	"mercer/lab"
	"mercer/model"
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

// featureRun is a group whose features are there.
type featureRun struct {
	*search
	*group
	prepared *train.Prepared
	work     Work // since the last job
	kept     *keptRows
}

// judgeFeatures does the jobs of a group that are not done.
func (s *search) judgeFeatures(g *group) error {
	jobs := g.jobs(s)
	for _, j := range jobs {
		if rec := s.journal.jobs[j.name]; rec != nil {
			s.take(rec)
		}
	}
	left := slices.DeleteFunc(slices.Clone(jobs), func(j job) bool { return s.journal.jobs[j.name] != nil })
	if len(left) == 0 {
		return nil
	}
	r := &featureRun{search: s, group: g}
	start := time.Now()
	var err error
	if r.prepared, err = train.Prepare(s.ctx, g.fitted, g.prepare, train.Options{Memory: s.opt.Memory}); err != nil {
		return s.failAll(left, err)
	}
	defer func() {
		r.kept.close()
		r.kept, r.prepared = nil, nil
		letGo()
	}()
	if err := r.keepRows(jobs); err != nil {
		return s.failAll(left, err)
	}
	if len(left) < len(jobs) {
		r.work = Work{} // the job that was done first has it
	}
	scores := 0
	for _, j := range left {
		scores += len(j.candidates) * len(j.splits)
	}
	mapped := time.Since(start).Seconds() / float64(scores)
	for _, j := range left {
		rec := &record{Job: j.name}
		start := time.Now()
		if err := j.run(r, j, rec); err != nil {
			if err := s.failAll([]job{j}, err); err != nil {
				return err
			}
			continue
		}
		rec.Work, r.work = r.work, Work{}
		rec.divide(time.Since(start).Seconds(), mapped)
		if err := s.journal.add(rec); err != nil {
			return err
		}
		s.take(rec)
	}
	return nil
}

// divide divides the seconds of a job among its scores: to each what is known to be its own, an equal
// part of the rest, and more that was shared before.
func (rec *record) divide(seconds, more float64) {
	for _, v := range rec.Scores {
		seconds -= v.Seconds
	}
	for i := range rec.Scores {
		v := &rec.Scores[i]
		v.Seconds = math.Round(1e6*(v.Seconds+max(0, seconds)/float64(len(rec.Scores))+more)) / 1e6
	}
}

// letGo collects what a training held, so that the next has it and memory is what was forecast: one
// allocation of all features could come long before the collector finds those of the training before.
func letGo() { runtime.GC() }

// fatal is an error that says nothing of the candidates, such as that of a full disk.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// failAll gives candidates that cannot be trained on these data that for a score. It returns
// errors that end the search.
func (s *search) failAll(jobs []job, err error) error {
	var end fatal
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case errors.As(err, &end):
		return err
	}
	for _, j := range jobs {
		rec := &record{Job: j.name}
		for _, c := range j.candidates {
			for _, split := range j.splits {
				rec.Scores = append(rec.Scores, s.failed(c, split, err))
			}
		}
		if err := s.journal.add(rec); err != nil {
			return err
		}
		s.take(rec)
	}
	return nil
}

func (s *search) failed(c *Candidate, split int, err error) score {
	return score{Candidate: c.Index, Split: split, Err: strings.TrimPrefix(err.Error(), s.src.Name()+": ")}
}

// take gives candidates the scores of a record.
func (s *search) take(rec *record) {
	for _, v := range rec.Scores {
		c := s.candidates[v.Candidate]
		if v.Err != "" {
			c.Dropped = v.Err
		}
		if c.Scores != nil {
			c.Scores[v.Split] = v.Value
			c.Size = max(c.Size, v.Size)
			c.Seconds += v.Seconds
		}
	}
	s.advance(float64(len(rec.Scores)))
}

// advance counts trainings.
func (s *search) advance(n float64) {
	s.done += n
	if s.opt.Progress != nil {
		s.opt.Progress("tune", s.done, s.all)
	}
}

// during tells how far the trainings of a job are, of which it has n.
func (s *search) during(n int) func(rows int, share float64) {
	if s.opt.Progress == nil {
		return nil
	}
	return func(_ int, share float64) {
		if share > 0 {
			s.opt.Progress("tune", s.done+share*float64(n), s.all)
		}
	}
}

// job is what is done and kept at a time.
type job struct {
	name       string
	candidates []*Candidate
	splits     []int
	gathers    bool // it goes through the features many times
	run        func(*featureRun, job, *record) error
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

// modelSize is Candidate.Size of a model.
func modelSize(m *model.Model, c *train.Config) int {
	if f := model.ReportOf[*exact.FalkonReport](&m.Info().Training); f != nil {
		return f.Centres
	}
	if exact, _ := train.Exact(c.Learner); exact {
		return m.Info().Training.Rows
	}
	_, d := m.Pipeline().Dims()
	return d
}

// refit trains a candidate on the training rows of a split by itself.
func (s *search) refit(c *Candidate, split int) error {
	name := fmt.Sprintf("c%d/%d", c.Index, split)
	if rec := s.journal.jobs[name]; rec != nil {
		s.take(rec)
		return nil
	}
	defer letGo()
	rec := &record{Job: name}
	sp := s.division.Splits[split]
	rest := dataset.Keep(s.src, func(row int) bool { return s.division.trains(sp, row) })
	held := dataset.Keep(s.src, func(row int) bool { return s.division.holds(sp, row) })
	value, size, start := 0.0, 0, time.Now()
	m, _, err := train.Fit(s.ctx, rest, s.settled(c.Config), train.Options{Memory: s.opt.Memory})
	if err == nil {
		size = modelSize(m, &c.Config)
		var metrics *lab.Metrics
		if metrics, err = lab.Evaluate(s.ctx, m, held, lab.Options{}); err == nil {
			value, err = s.metric.of(metrics)
		}
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if err != nil {
		rec.Scores = []score{s.failed(c, split, err)}
	} else {
		rec.Scores = []score{{Candidate: c.Index, Split: split, Value: value, Size: size}}
	}
	rec.divide(time.Since(start).Seconds(), 0)
	trained, judged := s.division.count(sp)
	rec.Work.Solves = 1
	if exact, _ := train.Exact(c.Config.Learner); !exact {
		rec.Work.Mapped = int64(trained + judged)
	}
	if c.Config.Learner == "ridge" {
		rec.Work.Collected = int64(trained)
	}
	if err := s.journal.add(rec); err != nil {
		return err
	}
	s.take(rec)
	return nil
}
