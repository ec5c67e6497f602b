package auto

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/units"
	"mercer/internal/search/cost"
	"mercer/internal/search/trial"
	"mercer/model"
	"mercer/train"
)

// useShare is the part of the remaining time that a training may be predicted to take: predictions are good to a
// factor of two at worst.
const useShare = 0.7

// leastFeatures is the smallest number of features of a map. If a learner that rereads its rows has room for
// fewer than heldLearner, one of statistics is considered.
const (
	leastFeatures = 256
	heldLearner   = 1024
)

// overrun is the share of the budget by which the last training may exceed it.
const overrun = 0.1

// trainFirst makes one small training of a candidate if the budget had no time for a race.
func (a *auto) trainFirst(c candidate) error {
	rows := min(1000, a.sample.TrainRows())
	a.report.Config = c.Config
	a.say("trains %s on %s rows", trial.Describe(c.Config), units.Count(rows))
	cfg := c.Config
	if featured(cfg) {
		cfg.Map.Features = leastFeatures
	}
	began := a.now()
	m, report, err := a.within(a.sample.Train(0, rows), cfg, a.last())
	// The end of a time is noticed late where all processors are busy.
	if over := a.left() < -time.Duration(overrun*float64(a.Budget)); a.late(err) || err == nil && over {
		return fmt.Errorf("%s: not even %s on %s rows got done within the budget of %s; a budget of %s may do",
			a.src.Name(), trial.Describe(c.Config), units.Count(rows), a.Budget, budgetText(niceBudget(10*a.now().Sub(a.start).Seconds())))
	}
	if err != nil {
		return err
	}
	d := 0
	if m != nil {
		_, d = m.Pipeline().Dims()
	}
	a.won = &trial.Trained{Model: m, Report: report, Config: cfg, Rows: rows}
	a.spent = a.now().Sub(began)
	a.why("the budget had no time for a race: %s was the first that could be trained, of %s features",
		trial.Describe(c.Config), units.Count(d))
	return nil
}

// train trains the chosen configuration on all rows, with as many features as the budget
// allows, or on fewer rows if it allows none.
func (a *auto) train() (*model.Model, *train.Report, error) {
	c := &a.report.Config
	if a.Budget <= 0 {
		a.say("trains %s on all rows", trial.Describe(*c))
		return a.fit(a.ctx, a.src, *c, a.Training)
	}
	prediction, d, err := a.affordable(*c, false)
	if err != nil {
		return nil, nil, err
	}
	onePass := train.OnePass().Name()
	if other := *c; d < heldLearner && prediction != nil && (d == 0 || !prediction.Plan.Fixed && a.rivals(onePass)) &&
		unset(a.Config.LearnerName()) && c.LearnerName() != onePass && a.report.Facts.Rows > 2*d {
		// Statistics take less time per row than many passes over rows.
		other.SetLearner(onePass)
		other.Set("c", 0)
		if other.Check() == nil {
			prediction2, d2, err := a.affordable(other, false)
			if a.ctx.Err() != nil {
				return nil, nil, a.ctx.Err()
			}
			if err == nil && (d2 >= 4*d || d == 0) && d2 > 0 {
				if d > 0 {
					a.why("%s has room for D = %s within the budget; %s, which takes one pass, for %s", c.LearnerName(),
						units.Count(d), onePass, units.Count(d2))
				} else {
					a.why("the budget has no room for %s on all rows, but for %s, which takes one pass", c.LearnerName(), onePass)
				}
				*c, prediction, d = other, prediction2, d2
			}
		}
	}
	a.report.Cost = prediction
	if prediction == nil || d == 0 {
		return a.shorten(prediction)
	}
	sized := !prediction.Plan.Fixed && a.Config.Map.Features == 0
	usual, less := prediction.Plan.Features, max(leastFeatures, d/4)
	reserve := a.left() / 5
	if sized {
		c.Map.Features = d
		if err := a.resize(prediction, d); err != nil {
			return nil, nil, err
		}
		a.why("D = %s: predicted to take %s of the %s that are left, and %s", units.Count(d),
			units.Roughly(prediction.Seconds), units.Roughly(a.left().Seconds()), units.Bytes(prediction.Plan.Bytes))
		if less < d {
			reserve = min(time.Duration(1.5*prediction.WithFeatures(less)*float64(time.Second)), a.left()/3)
		}
	}
	m, report, err := a.whole(a.left() - reserve)
	if err == nil && sized {
		return a.grow(m, report, prediction, usual)
	}
	if !a.late(err) {
		return m, report, err
	}
	// A training that takes longer than predicted is abandoned while there is time for one with
	// fewer features or fewer rows.
	if factor := 1.2 * prediction.WithFeatures(less) / max(prediction.Seconds, 1e-9); sized && less < d &&
		factor*a.spent.Seconds() <= a.last().Seconds() {
		a.why("that took longer than predicted, so that it was given up for D = %s", units.Count(less))
		c.Map.Features = less
		if err := a.resize(prediction, less); err != nil {
			return nil, nil, err
		}
		m, report, err := a.whole(max(a.left()-a.Budget/20, a.Budget/20))
		if !a.late(err) {
			return m, report, err
		}
	}
	a.why("training on all rows took longer than predicted, so that it was given up for fewer rows")
	return a.shorten(prediction)
}

// grow trains with more features as long as the duration of the last training leaves time for it, up to
// the default number of features.
func (a *auto) grow(m *model.Model, report *train.Report, prediction *cost.Prediction, usual int) (*model.Model, *train.Report, error) {
	c := &a.report.Config
	for _, d := range a.features() {
		old := c.Map.Features
		if d > usual || d <= old ||
			a.spent.Seconds()*prediction.WithFeatures(d)/max(prediction.Seconds, 1e-9) > (1-overrun)*a.left().Seconds() {
			continue
		}
		sized := *c
		sized.Map.Features = d
		if plan, err := a.plan(sized, prediction.Rows); err != nil || a.Training.Memory > 0 && plan.Bytes > a.Training.Memory {
			continue
		}
		took := a.spent.Seconds()
		c.Map.Features = d
		larger, with, err := a.whole(a.last())
		if err != nil {
			c.Map.Features = old
			if a.ctx.Err() != nil {
				return nil, nil, a.ctx.Err()
			}
			return m, report, nil // what has been trained is kept
		}
		a.why("that took %s, which left time for D = %s", units.Roughly(took), units.Count(d))
		m, report = larger, with
		if err := a.resize(prediction, d); err != nil {
			return nil, nil, err
		}
		break
	}
	return m, report, nil
}

// last is the time that the last training may take.
func (a *auto) last() time.Duration {
	return max(a.left(), 0) + time.Duration(overrun*float64(a.Budget))
}

// late says whether a training failed because its time was up, and not because the caller cancelled it.
func (a *auto) late(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && a.ctx.Err() == nil
}

// whole trains the chosen configuration on all rows, and gives up after the given time.
func (a *auto) whole(limit time.Duration) (*model.Model, *train.Report, error) {
	a.say("trains %s on all rows", trial.Describe(a.report.Config))
	began := a.now()
	m, report, err := a.within(a.src, a.report.Config, limit)
	a.spent = a.now().Sub(began)
	return m, report, err
}

// within trains, and gives up after the given time.
func (a *auto) within(src dataset.Source, cfg train.Config, limit time.Duration) (*model.Model, *train.Report, error) {
	ctx := a.ctx
	if a.clock == nil {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	return a.fit(ctx, src, cfg, a.Training)
}

// rivals says whether a learner was not dropped for a larger loss.
func (a *auto) rivals(learner string) bool {
	for _, h := range a.report.Heats {
		for _, r := range h.Racers {
			if r.Config.LearnerName() == learner && len(r.Runs) > 0 && !strings.HasPrefix(r.Dropped, "behind") {
				return true
			}
		}
	}
	return false
}
