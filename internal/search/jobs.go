package search

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"mercer/dataset"
	"mercer/eval"
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
func (s *tuning) judgeAll() error {
	s.all, s.done = float64(len(s.running)*len(s.division.Splits)), 0
	var refit, shared []*Candidate
	for _, c := range s.running {
		c.Scores = make([]float64, len(s.division.Splits))
		if c.shares(s.result.Task) {
			shared = append(shared, c)
		} else {
			refit = append(refit, c)
		}
	}
	s.advance(0) // the remaining time is estimated from here
	// All splits are judged at once, but one at a time if features are fitted on training rows alone or nothing is shared.
	apart, splits := s.opt.Strict || s.opt.Alone, [][]int{upTo(len(s.division.Splits))}
	if apart {
		splits = slices.Collect(slices.Chunk(splits[0], 1))
	}
	for n, list := range groupBy(shared, s.pipelineKey) {
		for _, which := range splits {
			g := &group{prepare: s.settled(list[0].Config.BeforeLearner()), name: fmt.Sprintf("g%d", n), fitted: s.src, candidates: list,
				splits: which}
			if apart {
				g.name += fmt.Sprintf("/%d", which[0])
			}
			if s.opt.Strict {
				g.fitted = s.trainingRows(s.division.Splits[which[0]])
			}
			if err := s.judgeFeatures(g); err != nil {
				return err
			}
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

// shares says whether a candidate's trainings can share statistics or features with others.
func (c *Candidate) shares(task string) bool { return c.Config.Traits().Shares(&c.Config, task) }

// pipelineKey identifies candidates that see the same features, computed once for them.
func (s *tuning) pipelineKey(c *Candidate) string {
	if s.opt.Alone {
		return fmt.Sprint(c.Index)
	}
	return keyOf(c.Config.BeforeLearner())
}

// keyOf identifies a configuration: its JSON, which combinations.add has seen to be possible.
func keyOf(c train.Config) string {
	key, _ := json.Marshal(c)
	return string(key)
}

// groupBy groups what has the same key, in the order of the first of each group.
func groupBy[T any](all []T, key func(T) string) (groups [][]T) {
	at := map[string]int{}
	for _, v := range all {
		k := key(v)
		i, known := at[k]
		if !known {
			i = len(groups)
			at[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], v)
	}
	return groups
}

// settled returns a configuration with the task and the number of features that follow from all rows;
// fewer rows might give others.
func (s *tuning) settled(c train.Config) train.Config {
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

// trainingRows are the rows that a split trains on.
func (s *tuning) trainingRows(sp split) dataset.Source {
	return dataset.Keep(s.src, func(row int) bool { return s.division.trains(sp, row) })
}

// jobs returns the jobs of a group: one for all candidates of a learner that share statistics, and one for each
// path over a setting and split.
func (g *group) jobs() (jobs []job) {
	var paths []job
	offPath := func(c *Candidate) string {
		off, _ := c.Config.Traits().OffPath(c.Config)
		return keyOf(off)
	}
	value := func(c *Candidate) float64 {
		_, v := c.Config.Traits().OffPath(c.Config)
		return v
	}
	for n, list := range groupBy(slices.DeleteFunc(slices.Clone(g.candidates), (*Candidate).collects), offPath) {
		slices.SortStableFunc(list, func(a, b *Candidate) int { return cmp.Compare(value(a), value(b)) })
		for _, split := range g.splits {
			paths = append(paths, job{name: fmt.Sprintf("%s/%s%d/%d", g.name, list[0].Config.LearnerName(), n, split), candidates: list,
				splits: []int{split}, gathers: true, run: (*featureRun).path})
		}
	}
	for _, list := range groupBy(g.candidates, func(c *Candidate) string { return c.Config.LearnerName() }) {
		if list[0].collects() {
			jobs = append(jobs, job{name: g.name + "/" + list[0].Config.LearnerName(), candidates: list, splits: g.splits,
				run: (*featureRun).fromStatistics})
		}
	}
	return append(jobs, paths...)
}

// collects says whether a candidate that shares with others shares statistics.
func (c *Candidate) collects() bool { return c.Config.Traits().SharesStatistics() }

// judgeFeatures runs the unfinished jobs of a group.
func (s *tuning) judgeFeatures(g *group) error {
	jobs, left, scores := g.jobs(), []job(nil), 0
	for _, j := range jobs {
		if done, err := s.recorded(j); err != nil {
			return err
		} else if !done {
			left, scores = append(left, j), scores+len(j.candidates)*len(j.splits)
		}
	}
	if len(left) == 0 {
		return nil
	}
	r := &featureRun{tuning: s, group: g}
	start := time.Now()
	var err error
	if r.prepared, err = train.Prepare(s.ctx, g.fitted, g.prepare, train.Options{Memory: s.opt.Memory}); err != nil {
		return s.failAll(left, err)
	}
	defer func() {
		r.kept.close()
		r.kept, r.prepared = nil, nil
		runtime.GC() // see refit
	}()
	if err := r.keepRows(jobs); err != nil {
		return s.failAll(left, err)
	}
	if len(left) < len(jobs) {
		r.work = Work{} // counted by the first job
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
		if err := s.record(rec); err != nil {
			return err
		}
	}
	return nil
}

// recorded takes the scores of a job from the journal, if it has them.
func (s *tuning) recorded(j job) (bool, error) {
	rec := s.journal.jobs[j.name]
	if rec == nil {
		return false, nil
	}
	if !j.has(rec) {
		return false, s.journal.foreign(j.name)
	}
	s.take(rec)
	return true, nil
}

// record keeps the result of a job.
func (s *tuning) record(rec *record) error {
	if err := s.journal.add(rec); err != nil {
		return err
	}
	s.take(rec)
	return nil
}

// divide divides the seconds of a job among its scores. Each gets the time known to be its own, an equal
// share of the rest, and an equal share of earlier common work.
func (rec *record) divide(seconds, more float64) {
	for _, v := range rec.Scores {
		seconds -= v.Seconds
	}
	for i := range rec.Scores {
		v := &rec.Scores[i]
		v.Seconds = math.Round(1e6*(v.Seconds+max(0, seconds)/float64(len(rec.Scores))+more)) / 1e6
	}
}

// fatal is an error that does not concern a candidate, such as a full disk.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// ofSystem says that an error is of the operating system, such as rows that cannot be read: no candidate is to blame.
func ofSystem(err error) bool {
	var number syscall.Errno
	return errors.As(err, &number)
}

// failAll records the failure of candidates that cannot be trained on these data as their score. It returns
// errors that end the search.
func (s *tuning) failAll(jobs []job, err error) error {
	var end fatal
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case errors.As(err, &end) || ofSystem(err):
		return err
	}
	for _, j := range jobs {
		rec := &record{Job: j.name}
		for _, c := range j.candidates {
			for _, split := range j.splits {
				rec.Scores = append(rec.Scores, s.failed(c, split, err))
			}
		}
		if err := s.record(rec); err != nil {
			return err
		}
	}
	return nil
}

func (s *tuning) failed(c *Candidate, split int, err error) score {
	return score{Candidate: c.Index, Split: split, Err: strings.TrimPrefix(err.Error(), s.src.Name()+": ")}
}

// take adds the scores of a record to the candidates.
func (s *tuning) take(rec *record) {
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
func (s *tuning) advance(n float64) {
	s.done += n
	if s.opt.Progress != nil {
		s.opt.Progress("tune", s.done, s.all)
	}
}

// during reports the progress of the n trainings of a job.
func (s *tuning) during(n int) func(rows int, share float64) {
	if s.opt.Progress == nil {
		return nil
	}
	return func(_ int, share float64) {
		if share > 0 {
			s.opt.Progress("tune", s.done+share*float64(n), s.all)
		}
	}
}

// job is work that is done and recorded together.
type job struct {
	name       string
	candidates []*Candidate
	splits     []int
	gathers    bool // it reads the features many times
	run        func(*featureRun, job, *record) error
}

// has says whether a record has one score of each of the job's candidates on each of its splits.
func (j job) has(rec *record) bool {
	seen := map[[2]int]bool{}
	for _, v := range rec.Scores {
		at := [2]int{v.Candidate, v.Split}
		if seen[at] || !slices.Contains(j.splits, v.Split) || !slices.ContainsFunc(j.candidates, func(c *Candidate) bool { return c.Index == v.Candidate }) {
			return false
		}
		seen[at] = true
	}
	return len(seen) == len(j.candidates)*len(j.splits)
}

// refit trains a candidate separately on the training rows of a split.
func (s *tuning) refit(c *Candidate, split int) error {
	j := job{name: fmt.Sprintf("c%d/%d", c.Index, split), candidates: []*Candidate{c}, splits: []int{split}}
	if done, err := s.recorded(j); done || err != nil {
		return err
	}
	// Collect the garbage of the last training, so that memory stays within the forecast: otherwise all features
	// could be allocated in one piece before the collector frees those of the training before.
	defer runtime.GC()
	sp := s.division.Splits[split]
	held := dataset.Keep(s.src, func(row int) bool { return s.division.holds(sp, row) })
	v, start := score{Candidate: c.Index, Split: split}, time.Now()
	cfg := s.settled(c.Config)
	cfg.Threshold = "" // candidates are compared without
	m, _, err := train.Fit(s.ctx, s.trainingRows(sp), cfg, train.Options{Memory: s.opt.Memory})
	if err == nil {
		v.Size = train.Size(m)
		var metrics *eval.Metrics
		if metrics, err = eval.Evaluate(s.ctx, m, held, eval.Options{}); err == nil {
			v.Value, err = s.metric.of(metrics)
		}
	}
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case ofSystem(err):
		return err
	case err != nil:
		v = s.failed(c, split, err)
	}
	rec := &record{Job: j.name, Scores: []score{v}, Work: s.workAlone(c, sp)}
	rec.divide(time.Since(start).Seconds(), 0)
	return s.record(rec)
}
