package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mercer/internal/engine/units"
	"mercer/model"
	"mercer/train"
)

// RaceOptions say how candidates race. The zero value has no budget, so that its result depends
// on the sample alone.
type RaceOptions struct {
	// Rungs are the growing numbers of rows that candidates are trained on; nil means 1000, 4000,
	// 16,000 … up to all training rows of the sample.
	Rungs []int

	// Budget is the time that a race may take; 0 means no limit. As it runs out fewer candidates go on, those
	// with the best scores, and at its end the race is decided by what is known.
	Budget time.Duration

	// Memory is the number of bytes that a training may hold; 0 means no limit.
	Memory int64

	// Progress, if not nil, is called before each training with the candidate's name, its position among the candidates
	// of its rung, and the number of rows.
	Progress func(name string, candidate, candidates, rows int)

	// Lent, if not nil, is called before a training. It returns the time that the race may take beyond Budget, given
	// what is known so far.
	Lent func(r *RaceResult) time.Duration

	// Fair gives each candidate of a rung no more than its share of the remaining time.
	Fair bool

	// Names are the names of the candidates; nil means those of Describe.
	Names []string

	// Now is the clock; nil means the real one, which also ends trainings under way.
	Now func() time.Time

	// Try trains a candidate on the first rows of a fold and judges it on the held-out ones; nil
	// means train.Fit and Losses.
	Try func(ctx context.Context, s *Sample, fold, rows int, cfg train.Config) (Outcome, error)
}

// Outcome is the result of a training in a race: the losses on the held-out rows, the cost, and
// the model.
type Outcome struct {
	Losses []float64
	Took   Timing
	Model  *model.Model
	Report *train.Report
}

// Trained is an existing model, trained on some of the rows of a sample.
type Trained struct {
	Model  *model.Model
	Report *train.Report
	Config train.Config
	Rows   int
}

// RaceResult is the result of a race of candidates.
type RaceResult struct {
	// Of says what raced, "" if the caller knows.
	Of string `json:"of,omitempty"`

	// Metric is the metric of the scores: "accuracy", or "log_loss" if a class is rare, "rmse", or for multiple labels per row
	// "hamming", the share of wrong ones.
	Metric string `json:"metric"`

	// Held is the number of rows on which candidates were judged, Folds how often each was trained.
	Held  int `json:"held_rows"`
	Folds int `json:"folds"`

	// Rungs are the numbers of rows that candidates were trained on.
	Rungs []int `json:"rungs"`

	// Racers are the candidates in the order given; Winner is the number of the best.
	Racers []Racer `json:"candidates"`
	Winner int     `json:"winner"`

	// Stopped says why the race ended before its last rung, "" if it did not.
	Stopped string `json:"stopped,omitempty"`

	Seconds float64 `json:"seconds"`
}

// Racer is a candidate and its results.
type Racer struct {
	Name   string       `json:"name"`
	Config train.Config `json:"config"`

	// Runs are its trainings, one per rung.
	Runs []Run `json:"runs"`

	// Dropped says why it left the race, "" if it was still in it at the end.
	Dropped string `json:"dropped,omitempty"`

	loss []float64 // on the held-out rows on its last rung
	last *Trained  // on that rung, without the rows of the first fold; kept for the winner only
}

// Run is a candidate on one rung.
type Run struct {
	Rows    int     `json:"rows"`
	Score   float64 `json:"score"`
	Seconds float64 `json:"seconds"`

	// Gap is the difference between its mean loss on the held-out rows and that of the best on this
	// rung, and Noise the standard error of that difference, which is paired: both were judged
	// on the same rows. The loss is the error for classes, the squared error for numbers.
	Gap   float64 `json:"gap"`
	Noise float64 `json:"noise"`

	// Took is the cost of the training, the mean of the folds.
	Took Timing `json:"-"`
}

// Last returns the racer's run on the most rows; ok is false if it has none.
func (r *Racer) Last() (run Run, ok bool) {
	if len(r.Runs) == 0 {
		return Run{}, false
	}
	return r.Runs[len(r.Runs)-1], true
}

// Loss is the mean of its losses on the held-out rows on its last rung.
func (r *Racer) Loss() float64 {
	mean, _ := MeanError(r.loss)
	return mean
}

// Model is the winner's model on its last rung, trained without the held-out rows of the first fold;
// nil for all others.
func (r *Racer) Model() *Trained { return r.last }

// Ranking returns the numbers of the candidates, the winner first: those trained on more rows
// before others, and by loss for equal numbers of rows.
func (r *RaceResult) Ranking() []int {
	all := make([]int, len(r.Racers))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		x, okX := r.Racers[a].Last()
		y, okY := r.Racers[b].Last()
		switch {
		case (a == r.Winner) != (b == r.Winner):
			return map[bool]int{true: -1, false: 1}[a == r.Winner]
		case okX != okY:
			return map[bool]int{true: -1, false: 1}[okX]
		}
		return cmp.Or(cmp.Compare(y.Rows, x.Rows), cmp.Compare(x.Gap, y.Gap))
	})
	return all
}

// Race races candidates by successive halving (Jamieson and Talwalkar 2016): all are trained on
// few rows and judged on rows that none is trained on, and the survivors are trained on
// more, nested rows. A candidate is dropped if its loss is above the best one's by more than
// the noise of the difference, and it is not about to catch up; by rank alone only if
// opt.Budget forces it.
//
// A candidate that cannot be trained is dropped with its error, and if none can be
// trained Race fails. Without a budget the result depends on sample and candidates alone.
func Race(ctx context.Context, s *Sample, candidates []train.Config, opt RaceOptions) (*RaceResult, error) {
	if len(candidates) == 0 {
		return nil, errors.New("a race takes one candidate at least")
	}
	r := &racing{RaceOptions: opt, sample: s, ctx: ctx}
	if r.Try == nil {
		r.Try = r.train
	}
	if r.Now == nil {
		r.Now, r.real = time.Now, true
	}
	r.result = &RaceResult{Metric: map[string]string{"classify": "accuracy", "multilabel": "hamming"}[s.Task],
		Held: s.HeldRows(), Folds: s.Folds}
	switch {
	case r.result.Metric == "":
		r.result.Metric = "rmse"
	case s.Unbalanced() && opt.Try == nil:
		r.result.Metric = "log_loss"
	}
	for i, c := range candidates {
		c.Task = s.Task
		name := Describe(c)
		if opt.Names != nil {
			name = opt.Names[i]
		}
		r.result.Racers = append(r.result.Racers, Racer{Name: name, Config: c})
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.result, nil
}

// racing is the state of a race.
type racing struct {
	RaceOptions
	ctx    context.Context
	sample *Sample
	result *RaceResult
	start  time.Time
	real   bool // the clock is the real one
}

// limit is the time from its start at which the race is over.
func (r *racing) limit() time.Duration {
	if r.Lent == nil {
		return r.Budget
	}
	return r.Budget + r.Lent(r.result)
}

// spent says why a race ended early.
func (r *racing) spent() string {
	return fmt.Sprintf("the time for this race, %.2g s, was over", r.limit().Seconds())
}

// rungs returns the numbers of rows, none larger than the number available.
func (r *racing) rungs() []int {
	most := r.sample.TrainRows()
	if len(r.Rungs) == 0 {
		var all []int
		for n := 1000; n < most; n *= 4 {
			all = append(all, n)
		}
		// A last rung that is hardly larger than the one before brings nothing new.
		if k := len(all); k > 0 && 2*all[k-1] > most {
			all = all[:k-1]
		}
		return append(all, most)
	}
	all := make([]int, len(r.Rungs))
	for i, n := range r.Rungs {
		all[i] = min(max(n, 1), most)
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// run goes from rung to rung.
func (r *racing) run(ctx context.Context) error {
	r.start = r.Now()
	res := r.result
	alive := make([]int, len(res.Racers))
	for i := range alive {
		alive[i] = i
	}
	rungs := r.rungs()
	for i, rows := range rungs {
		if i > 0 {
			if len(alive) == 1 {
				res.Stopped = "one candidate was left"
				break
			}
			next := r.affordable(alive, rows)
			if len(next) < 2 {
				res.Stopped = fmt.Sprintf("the time for this race, %.2g s, has no room for two candidates on %s rows",
					r.limit().Seconds(), units.Count(rows))
				break
			}
			alive = next
		}
		var done []int
		for k, c := range alive {
			if r.Progress != nil {
				r.Progress(res.Racers[c].Name, k+1, len(alive), rows)
			}
			err := r.within(&res.Racers[c], rows, len(alive)-k)
			switch {
			case err == nil:
				done = append(done, c)
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, errShare):
				res.Racers[c].Dropped = fmt.Sprintf("took more than its share of the time on %s rows", units.Count(rows))
			case errors.Is(err, ErrSpent):
				res.Stopped = r.spent()
			default:
				res.Racers[c].Dropped = strings.TrimPrefix(err.Error(), r.sample.Name()+": ")
			}
		}
		if len(done) == 0 {
			break
		}
		res.Rungs = append(res.Rungs, rows)
		r.compare(done)
		if res.Stopped != "" {
			// Those that were not reached are known from fewer rows only.
			for _, c := range alive {
				if !slices.Contains(done, c) && res.Racers[c].Dropped == "" {
					res.Racers[c].Dropped = fmt.Sprintf("no time was left for it on %s rows", units.Count(rows))
				}
			}
			alive = done
			break
		}
		if alive = done; i < len(rungs)-1 {
			alive = r.drop(done)
		}
	}
	res.Seconds = r.Now().Sub(r.start).Seconds()
	return r.decide(alive)
}

// ErrSpent is the error of a race without time for a single training.
var ErrSpent = errors.New("the budget is spent")

var errShare = errors.New("the candidate's share of the budget is spent")

// within is attempt, but in a fair race it takes no more time than the share of one of the given number of
// remaining candidates.
func (r *racing) within(c *Racer, rows, candidates int) error {
	if !r.Fair || r.Budget <= 0 || candidates == 1 {
		return r.attempt(c, rows)
	}
	all := r.ctx
	limited, cancel := context.WithTimeout(all, (r.limit()-r.Now().Sub(r.start))/time.Duration(candidates))
	defer cancel()
	r.ctx = limited
	err := r.attempt(c, rows)
	r.ctx = all
	if errors.Is(err, ErrSpent) && all.Err() == nil {
		return errShare
	}
	return err
}

// attempt trains and judges a candidate on every fold.
func (r *racing) attempt(c *Racer, rows int) error {
	start, ctx := r.Now(), r.ctx
	if r.real && r.Budget > 0 { // a training under way ends with the race
		limited, cancel := context.WithTimeout(ctx, r.limit()-start.Sub(r.start))
		defer cancel()
		ctx = limited
	}
	var all []float64
	var took Timing
	var first *Trained
	for fold := range r.sample.Folds {
		if r.Budget > 0 && r.Now().Sub(r.start) >= r.limit() {
			return ErrSpent
		}
		out, err := r.Try(ctx, r.sample, fold, rows, c.Config)
		if err != nil {
			if ctx.Err() != nil {
				return ErrSpent
			}
			return err
		}
		all = append(all, out.Losses...)
		if fold == 0 {
			first = &Trained{Model: out.Model, Report: out.Report, Config: c.Config, Rows: rows}
		}
		t, folds := out.Took, float64(r.sample.Folds)
		took = Timing{Rows: rows, Features: t.Features, Read: took.Read + t.Read/folds, Map: took.Map + t.Map/folds,
			Solve: took.Solve + t.Solve/folds, Collect: took.Collect + t.Collect/folds, Choose: took.Choose + t.Choose/folds}
	}
	mean, _ := MeanError(all)
	if r.result.Metric == "accuracy" {
		mean = 1 - mean
	} else if r.sample.Task == "regress" {
		mean = math.Sqrt(mean)
	}
	c.loss, c.last = all, first
	c.Runs = append(c.Runs, Run{Rows: rows, Score: mean, Seconds: r.Now().Sub(start).Seconds(), Took: took})
	return nil
}

// train trains a candidate and judges it.
func (r *racing) train(ctx context.Context, s *Sample, fold, rows int, cfg train.Config) (Outcome, error) {
	cfg.Threshold = "" // candidates are compared without
	m, report, err := train.Fit(ctx, s.Train(fold, rows), cfg, train.Options{Memory: r.Memory})
	if err != nil {
		return Outcome{}, err
	}
	_, d := m.Pipeline().Dims()
	of := Losses
	if r.result.Metric == "log_loss" {
		of = LogLosses
	}
	loss, err := of(ctx, m, s.Held(fold))
	return Outcome{loss, TimingOf(rows, d, report), m, report}, err
}

// decide names the winner: among those that remain, the one with the least loss on the most rows.
func (r *racing) decide(alive []int) error {
	res := r.result
	best := -1
	for _, c := range alive {
		if len(res.Racers[c].Runs) == 0 {
			continue
		}
		if best < 0 || res.Racers[c].better(&res.Racers[best]) {
			best = c
		}
	}
	if best >= 0 {
		res.Winner = best
		for c := range res.Racers {
			if c != best {
				res.Racers[c].last = nil
			}
		}
		for _, c := range alive {
			if c == best || res.Racers[c].Dropped != "" {
				continue
			}
			if last, ok := res.Racers[c].Last(); !ok {
				res.Racers[c].Dropped = "no time was left to train it"
			} else if b, _ := res.Racers[best].Last(); last.Rows < b.Rows {
				res.Racers[c].Dropped = fmt.Sprintf("no time was left for it on %s rows", units.Count(b.Rows))
			}
		}
		return nil
	}
	if res.Stopped != "" {
		return fmt.Errorf("%s: %w: no candidate was trained within %s; give a larger budget", r.sample.Name(), ErrSpent, r.limit())
	}
	return fmt.Errorf("%s: no candidate can be trained: %s", r.sample.Name(), res.Racers[0].Dropped)
}

// better says whether a candidate has been trained on more rows than another, or on as many
// with less loss.
func (r *Racer) better(than *Racer) bool {
	a, b := r.Runs[len(r.Runs)-1], than.Runs[len(than.Runs)-1]
	if a.Rows != b.Rows {
		return a.Rows > b.Rows
	}
	la, _ := MeanError(r.loss)
	lb, _ := MeanError(than.loss)
	return la < lb
}
