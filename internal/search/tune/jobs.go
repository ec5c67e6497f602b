package tune

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"mercer/train"
)

// featureRun is a group whose features have been computed.
type featureRun struct {
	*search
	*group
	prepared *train.Prepared
	work     Work // since the last job
	kept     *keptRows
}

// judgeFeatures runs the unfinished jobs of a group.
func (s *search) judgeFeatures(g *group) error {
	jobs := g.jobs(s)
	for _, j := range jobs {
		if rec := s.journal.jobs[j.name]; rec != nil {
			if !j.has(rec) {
				return s.journal.foreign(j.name)
			}
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
		runtime.GC() // see refit
	}()
	if err := r.keepRows(jobs); err != nil {
		return s.failAll(left, err)
	}
	if len(left) < len(jobs) {
		r.work = Work{} // counted by the first job
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
func (s *search) failAll(jobs []job, err error) error {
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

// take adds the scores of a record to the candidates.
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

// during reports the progress of the n trainings of a job.
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
