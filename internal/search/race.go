package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mercer/internal/engine/units"
	"mercer/model"
	"mercer/train"
)

// raceOptions say how configurations race. The zero value has no budget, so that its result depends
// on the sample alone.
type raceOptions struct {
	// Rungs are the growing numbers of rows that racers are trained on; nil means 1000, 4000,
	// 16,000 … up to all training rows of the sample.
	Rungs []int

	// Budget is the time that a race may take; 0 means no limit. As it runs out fewer racers go on, those
	// with the best scores, and at its end the race is decided by what is known.
	Budget time.Duration

	// Memory is the number of bytes that a training may hold; 0 means no limit.
	Memory int64

	// Progress, if not nil, is called before each training with the racer's name, its position among the racers
	// of its rung, and the number of rows.
	Progress func(name string, racer, racers, rows int)

	// Lent, if not nil, is called before a training. It returns the time that the race may take beyond Budget, given
	// what is known so far.
	Lent func(r *RaceResult) time.Duration

	// Fair gives each racer of a rung no more than its share of the remaining time.
	Fair bool

	// Names are the names of the racers; nil means those of Describe.
	Names []string

	lab // the real clock also ends trainings under way

	// Try trains a racer on the first rows of a fold and judges it on the held-out ones; tests replace it.
	Try tryout
}

type tryout func(ctx context.Context, s *Sample, fold, rows int, cfg train.Config) (outcome, error)

// outcome is the result of a training in a race: the losses on the held-out rows, the cost, and
// the model.
type outcome struct {
	Losses []float64
	Took   Timing
	Model  *model.Model
	Report *train.Report
}

// trained is an existing model, trained on some of the rows of a sample.
type trained struct {
	Model  *model.Model
	Report *train.Report
	Config train.Config
	Rows   int
}

// RaceResult is the result of a race.
type RaceResult struct {
	// Of says what raced, "" if the caller knows.
	Of string `json:"of,omitempty"`

	// Metric is the metric of the scores: "accuracy", or "log_loss" if a class is rare, "rmse", or for multiple labels per row
	// "hamming", the share of wrong ones.
	Metric string `json:"metric"`

	// Held is the number of rows on which racers were judged, Folds how often each was trained.
	Held  int `json:"held_rows"`
	Folds int `json:"folds"`

	// Rungs are the numbers of rows that racers were trained on.
	Rungs []int `json:"rungs"`

	// Racers are in the order given; Winner is the number of the best.
	Racers []Racer `json:"candidates"`
	Winner int     `json:"winner"`

	// Stopped says why the race ended before its last rung, "" if it did not.
	Stopped string `json:"stopped,omitempty"`

	Seconds float64 `json:"seconds"`
}

// Racer is a configuration in a race, and its results.
type Racer struct {
	Name   string       `json:"name"`
	Config train.Config `json:"config"`

	// Runs are its trainings, one per rung.
	Runs []Run `json:"runs"`

	// Dropped says why it left the race, "" if it was still in it at the end.
	Dropped string `json:"dropped,omitempty"`

	loss []float64 // on the held-out rows on its last rung
	last *trained  // on that rung, without the rows of the first fold; kept for the winner only
}

// Run is a racer on one rung.
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

// mean is the mean of its losses on the held-out rows on its last rung.
func (r *Racer) mean() float64 {
	mean, _ := meanError(r.loss)
	return mean
}

// Ranking returns the numbers of the racers, the winner first: those trained on more rows
// before others, and by loss for equal numbers of rows.
func (r *RaceResult) Ranking() []int {
	all := upTo(len(r.Racers))
	slices.SortStableFunc(all, func(a, b int) int {
		x, _ := r.Racers[a].Last()
		y, _ := r.Racers[b].Last()
		return cmp.Or(btoi(b == r.Winner)-btoi(a == r.Winner), cmp.Compare(y.Rows, x.Rows), cmp.Compare(x.Gap, y.Gap))
	})
	return all
}

// race races configurations by successive halving (Jamieson and Talwalkar 2016): all are trained on
// few rows and judged on rows that none is trained on, and the survivors are trained on
// more, nested rows. A racer is dropped if its loss is above the best one's by more than
// the noise of the difference, and it is not about to catch up; by rank alone only if
// opt.Budget forces it.
//
// A racer that cannot be trained is dropped with its error, and if none can be
// trained race fails. Without a budget the result depends on sample and configurations alone.
func race(ctx context.Context, s *Sample, configs []train.Config, opt raceOptions) (*RaceResult, error) {
	if len(configs) == 0 {
		return nil, errors.New("a race takes one candidate at least")
	}
	r := &racing{raceOptions: opt, sample: s}
	r.result = &RaceResult{Metric: map[string]string{"classify": "accuracy", "multilabel": "hamming", "regress": "rmse"}[s.Task],
		Held: s.heldRows(), Folds: len(s.folds)}
	if s.unbalanced() && r.Try == nil {
		r.result.Metric = "log_loss"
	}
	if r.Try == nil {
		r.Try = r.try
	}
	for i, c := range configs {
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
	raceOptions
	sample *Sample
	result *RaceResult
	start  time.Time
}

// limit is the time from its start at which the race is over.
func (r *racing) limit() time.Duration {
	if r.Lent == nil {
		return r.Budget
	}
	return r.Budget + r.Lent(r.result)
}

// left is the time until then.
func (r *racing) left() time.Duration { return r.limit() - r.now().Sub(r.start) }

// rungs returns the numbers of rows, none larger than the number available.
func (r *racing) rungs() []int {
	most := r.sample.trainRows()
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
	r.start = r.now()
	res := r.result
	var alive []*Racer
	for i := range res.Racers {
		alive = append(alive, &res.Racers[i])
	}
	for i, rows := range r.rungs() {
		if i > 0 {
			alive = r.drop(alive)
			if len(alive) == 1 {
				res.Stopped = "one candidate was left"
				break
			}
			able := r.affordable(alive, rows)
			if len(able) < 2 {
				res.Stopped = fmt.Sprintf("the time for this race, %.2g s, has no room for two candidates on %s rows",
					r.limit().Seconds(), units.Count(rows))
				break
			}
			alive = able
		}
		done, err := r.rung(ctx, alive, rows)
		if err != nil {
			return err
		}
		if len(done) == 0 {
			break
		}
		res.Rungs = append(res.Rungs, rows)
		r.compare(done)
		if res.Stopped != "" {
			// Those that were not reached are known from fewer rows only.
			for _, c := range alive {
				if !slices.Contains(done, c) && c.Dropped == "" {
					c.Dropped = noTime(rows)
				}
			}
		}
		if alive = done; res.Stopped != "" {
			break
		}
	}
	res.Seconds = r.now().Sub(r.start).Seconds()
	return r.decide(alive)
}

// noTime says why a racer has no score on a number of rows.
func noTime(rows int) string {
	return fmt.Sprintf("no time was left for it on %s rows", units.Count(rows))
}

// rung trains racers on a number of rows, and returns those that got done.
func (r *racing) rung(ctx context.Context, alive []*Racer, rows int) (done []*Racer, err error) {
	for k, c := range alive {
		if r.Progress != nil {
			r.Progress(c.Name, k+1, len(alive), rows)
		}
		err := r.within(ctx, c, rows, len(alive)-k)
		switch {
		case err == nil:
			done = append(done, c)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errShare):
			c.Dropped = fmt.Sprintf("took more than its share of the time on %s rows", units.Count(rows))
		case errors.Is(err, errSpent):
			r.result.Stopped = fmt.Sprintf("the time for this race, %.2g s, was over", r.limit().Seconds())
		default:
			c.Dropped = strings.TrimPrefix(err.Error(), r.sample.source.Name()+": ")
		}
	}
	return done, nil
}

// errSpent is the error of a race without time for a single training.
var errSpent = errors.New("the budget is spent")

var errShare = errors.New("the candidate's share of the budget is spent")

// within is attempt, but in a fair race it takes no more time than the share of one of the given number of
// remaining racers.
func (r *racing) within(ctx context.Context, c *Racer, rows, racers int) error {
	if !r.Fair || r.Budget <= 0 || racers == 1 {
		return r.attempt(ctx, c, rows)
	}
	limited, cancel := context.WithTimeout(ctx, r.left()/time.Duration(racers))
	defer cancel()
	err := r.attempt(limited, c, rows)
	if errors.Is(err, errSpent) && ctx.Err() == nil {
		return errShare
	}
	return err
}

// attempt trains and judges a racer on every fold.
func (r *racing) attempt(ctx context.Context, c *Racer, rows int) error {
	start := r.now()
	if r.clock == nil && r.Budget > 0 { // a training under way ends with the race
		limited, cancel := context.WithTimeout(ctx, r.left())
		defer cancel()
		ctx = limited
	}
	var all []float64
	var first *trained
	took, share := Timing{Rows: rows}, 1/float64(len(r.sample.folds))
	for fold := range r.sample.folds {
		if r.Budget > 0 && r.left() <= 0 {
			return errSpent
		}
		out, err := r.Try(ctx, r.sample, fold, rows, c.Config)
		if err != nil {
			if ctx.Err() != nil {
				return errSpent
			}
			return err
		}
		all = append(all, out.Losses...)
		if fold == 0 {
			first = &trained{Model: out.Model, Report: out.Report, Config: c.Config, Rows: rows}
		}
		took.add(out.Took, share)
	}
	score := meanLoss(r.sample.Task, all)
	if r.result.Metric == "accuracy" {
		score = 1 - score
	}
	c.loss, c.last = all, first
	c.Runs = append(c.Runs, Run{Rows: rows, Score: score, Seconds: r.now().Sub(start).Seconds(), Took: took})
	return nil
}

// try trains a racer and judges it.
func (r *racing) try(ctx context.Context, s *Sample, fold, rows int, cfg train.Config) (outcome, error) {
	cfg.Threshold = "" // racers are compared without
	m, report, err := train.Fit(ctx, s.train(fold, rows), cfg, train.Options{Memory: r.Memory})
	if err != nil {
		return outcome{}, err
	}
	_, d := m.Pipeline().Dims()
	of := losses
	if r.result.Metric == "log_loss" {
		of = logLosses
	}
	loss, err := of(ctx, m, s.held(fold))
	return outcome{loss, timingOf(rows, d, report), m, report}, err
}

// decide names the winner: among those that remain, the one with the least loss on the most rows.
func (r *racing) decide(alive []*Racer) error {
	res := r.result
	var best *Racer
	for _, c := range alive {
		if len(c.Runs) > 0 && (best == nil || c.better(best)) {
			best = c
		}
	}
	switch {
	case best == nil && res.Stopped != "":
		return fmt.Errorf("%s: %w: no candidate was trained within %s; give a larger budget", r.sample.source.Name(), errSpent, r.limit())
	case best == nil:
		return fmt.Errorf("%s: no candidate can be trained: %s", r.sample.source.Name(), res.Racers[0].Dropped)
	}
	for i := range res.Racers {
		if c := &res.Racers[i]; c == best {
			res.Winner = i
		} else {
			c.last = nil
		}
	}
	most, _ := best.Last()
	for _, c := range alive {
		if last, ok := c.Last(); c == best || c.Dropped != "" {
			continue
		} else if !ok {
			c.Dropped = "no time was left to train it"
		} else if last.Rows < most.Rows {
			c.Dropped = noTime(most.Rows)
		}
	}
	return nil
}

// better says whether a racer has been trained on more rows than another, or on as many
// with less loss.
func (r *Racer) better(than *Racer) bool {
	a, _ := r.Last()
	b, _ := than.Last()
	return a.Rows > b.Rows || a.Rows == b.Rows && r.mean() < than.mean()
}
