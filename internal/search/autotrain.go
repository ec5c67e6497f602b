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

	"mercer/dataset"
	"mercer/internal/engine/units"
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

// trainFirst makes one small training of a contender if the budget had no time for a race.
func (a *auto) trainFirst(c contender) error {
	rows := min(1000, a.sample.trainRows())
	a.report.Config = c.Config
	cfg := c.Config
	if featured(cfg) {
		cfg.Map.Features = leastFeatures
	}
	began := a.now()
	a.say("trains %s on %s rows", Describe(c.Config), units.Count(rows))
	m, report, err := a.within(a.sample.train(0, rows), cfg, a.last())
	// The end of a time is noticed late where all processors are busy.
	if over := a.left() < -time.Duration(overrun*float64(a.Budget)); a.late(err) || err == nil && over {
		return fmt.Errorf("%s: not even %s on %s rows got done within the budget of %s; a budget of %s may do",
			a.src.Name(), Describe(c.Config), units.Count(rows), a.Budget, BudgetText(niceBudget(10*a.now().Sub(a.start).Seconds())))
	}
	if err != nil {
		return err
	}
	_, d := m.Pipeline().Dims()
	a.won = &trained{Model: m, Report: report, Config: cfg, Rows: rows}
	a.spent = a.now().Sub(began)
	a.why("the budget had no time for a race: %s was the first that could be trained, of %s features", Describe(c.Config), units.Count(d))
	return nil
}

// train trains the chosen configuration on all rows, with as many features as the budget
// allows, or on fewer rows if it allows none.
func (a *auto) train() (*model.Model, *train.Report, error) {
	c := &a.report.Config
	if a.Budget <= 0 {
		a.say("trains %s on all rows", Describe(*c))
		return a.lab.train(a.ctx, a.src, *c, a.Training)
	}
	prediction, d, err := a.affordable(*c, false)
	if err != nil {
		return nil, nil, err
	}
	if other, p, more := a.onePass(prediction, d); more > 0 {
		*c, prediction, d = other, p, more
	}
	if err := a.ctx.Err(); err != nil {
		return nil, nil, err
	}
	a.report.Cost = prediction
	if prediction == nil || d == 0 {
		return a.shorten(prediction)
	}
	sized := !prediction.Plan.Fixed && a.Config.Map.Features == 0
	usual, less := prediction.Plan.Features, max(leastFeatures, d/4)
	reserve := a.left() / 5
	if sized {
		a.resize(prediction, d)
		a.why("D = %s: predicted to take %s of the %s that are left, and %s", units.Count(d),
			units.Roughly(prediction.Seconds), units.Roughly(a.left().Seconds()), units.Bytes(prediction.Plan.Bytes))
		if less < d {
			reserve = min(time.Duration(1.5*prediction.withFeatures(less)*float64(time.Second)), a.left()/3)
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
	if sized && less < d && a.again(prediction, less)*1.2 <= a.last().Seconds() {
		a.why("that took longer than predicted, so that it was given up for D = %s", units.Count(less))
		a.resize(prediction, less)
		m, report, err := a.whole(max(a.left()-a.Budget/20, a.Budget/20))
		if !a.late(err) {
			return m, report, err
		}
	}
	a.why("training on all rows took longer than predicted, so that it was given up for fewer rows")
	return a.shorten(prediction)
}

// onePass is the chosen configuration with a learner of statistics, which takes less time per row than many passes over rows,
// and the number of features it has room for; 0 if that is no reason to take it.
func (a *auto) onePass(prediction *Prediction, d int) (train.Config, *Prediction, int) {
	c, onePass := a.report.Config, train.OnePass().Name()
	if prediction == nil || d >= heldLearner || d > 0 && (prediction.Plan.Fixed || !a.rivals(onePass)) ||
		!unset(a.Config.LearnerName()) || c.LearnerName() == onePass || a.report.Facts.Rows <= 2*d {
		return c, nil, 0
	}
	other := c
	other.SetLearner(onePass)
	other.Set("c", 0)
	if other.Check() != nil {
		return c, nil, 0
	}
	p, more, err := a.affordable(other, false)
	switch {
	case err != nil || more < 4*d || more == 0:
		return c, nil, 0
	case d > 0:
		a.why("%s has room for D = %s within the budget; %s, which takes one pass, for %s", c.LearnerName(), units.Count(d), onePass,
			units.Count(more))
	default:
		a.why("the budget has no room for %s on all rows, but for %s, which takes one pass", c.LearnerName(), onePass)
	}
	return other, p, more
}

// again is the number of seconds that a training like the last one takes with D features.
func (a *auto) again(prediction *Prediction, d int) float64 {
	return a.spent.Seconds() * prediction.withFeatures(d) / max(prediction.Seconds, 1e-9)
}

// grow trains with more features as long as the duration of the last training leaves time for it, up to
// the default number of features.
func (a *auto) grow(m *model.Model, report *train.Report, prediction *Prediction, usual int) (*model.Model, *train.Report, error) {
	c := &a.report.Config
	old, took := c.Map.Features, a.spent.Seconds()
	for _, d := range a.features() {
		if d > usual || d <= old || a.again(prediction, d) > (1-overrun)*a.left().Seconds() || a.sized(*c, d) == nil {
			continue
		}
		c.Map.Features = d
		larger, with, err := a.whole(a.last())
		if err == nil {
			a.why("that took %s, which left time for D = %s", units.Roughly(took), units.Count(d))
			a.resize(prediction, d)
			return larger, with, nil
		}
		c.Map.Features = old
		return m, report, a.ctx.Err() // what has been trained is kept
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
	a.say("trains %s on all rows", Describe(a.report.Config))
	began := a.now()
	m, report, err := a.within(a.src, a.report.Config, limit)
	a.spent = a.now().Sub(began)
	return m, report, err
}

// within trains, and gives up after the given time.
func (a *auto) within(src dataset.Source, cfg train.Config, limit time.Duration) (*model.Model, *train.Report, error) {
	ctx, cancel := a.limited(limit)
	defer cancel()
	return a.lab.train(ctx, src, cfg, a.Training)
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

// shorten trains on as many of the drawn rows as there is time for. If that is no more than the
// last heat's winner was trained on, or does not finish either, it returns the winner's model.
func (a *auto) shorten(prediction *Prediction) (*model.Model, *train.Report, error) {
	n, won := a.report.Facts.Rows, a.won
	if won == nil {
		return nil, nil, fmt.Errorf("%s: %s did not get done within the budget of %s; give a larger one", a.src.Name(),
			Describe(a.report.Config), a.Budget)
	}
	once := 0.0 // the seconds of the winner's training
	if r := won.Report; r != nil {
		once = r.Read + r.Map + r.Solve
	}
	predicted := func(rows int) float64 {
		more := float64(rows) / float64(won.Rows)
		if prediction == nil {
			return 1.5 * once * math.Pow(more, usualExponent)
		}
		d := max(won.Config.Map.Features, leastFeatures)
		if prediction.Plan.Fixed {
			d = prediction.Plan.Features
		}
		read, mapping, solve := prediction.stages(rows, d)
		return max(read+mapping+solve, once*more)
	}
	a.report.Wanted = niceBudget(max(predicted(n)/useShare, 1.5*a.spent.Seconds())/(1-finalsEnd), 1.5*a.Budget.Seconds())
	short := func(m *model.Model, report *train.Report, config train.Config, rows int) (*model.Model, *train.Report, error) {
		a.report.Config, a.report.Rows = config, rows
		if rows < n {
			a.report.Short = fmt.Sprintf("trained on %s of %s rows: the budget had no time for more", units.Count(rows), units.Count(n))
		}
		return m, report, nil
	}
	config := a.report.Config
	if a.Config.Map.Features == 0 && featured(config) {
		config.Map.Features = max(won.Config.Map.Features, leastFeatures)
	}
	sizes := []int{len(a.sample.from)}
	for m := a.sample.trainRows(); m > won.Rows; m /= 2 {
		sizes = append(sizes, m)
	}
	for _, rows := range sizes {
		if rows <= won.Rows || predicted(rows) > useShare*a.left().Seconds() {
			continue
		}
		src := a.sample.some(upTo(len(a.sample.from)))
		if rows <= a.sample.trainRows() {
			src = a.sample.train(0, rows)
		}
		a.say("trains %s on %s rows", Describe(config), units.Count(rows))
		m, report, err := a.within(src, config, a.last())
		if err == nil {
			return short(m, report, config, rows)
		}
		if !a.late(err) {
			return nil, nil, err
		}
		break
	}
	if err := a.ctx.Err(); err != nil {
		return nil, nil, err
	}
	a.why("the model is the one of %s that won the last race, as it was trained there", Describe(won.Config))
	return short(won.Model, won.Report, won.Config, won.Rows)
}

// niceBudget is the smallest of some round numbers of seconds that is no smaller than any of the given ones.
func niceBudget(seconds ...float64) float64 {
	least := slices.Max(seconds)
	for _, s := range []float64{1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800, 2700, 3600} {
		if s >= least {
			return s
		}
	}
	return 3600 * math.Ceil(least/3600)
}

// BudgetText is a number of seconds as a budget is given: 30s, 5m, 2h.
func BudgetText(seconds float64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%.0fs", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%.0fm", math.Ceil(seconds/60))
	}
	return fmt.Sprintf("%.0fh", math.Ceil(seconds/3600))
}

// usualMost is the largest number of features, however large the budget.
const usualMost = 8192

// features lists the numbers of features that are tried, largest first. More than half the number
// of rows brings nothing new.
func (a *auto) features() (all []int) {
	for d := usualMost; d >= leastFeatures; d /= 2 {
		for _, d := range []int{d, d * 3 / 4} {
			if d >= leastFeatures && d <= max(leastFeatures, a.report.Facts.Rows/2) {
				all = append(all, d)
			}
		}
	}
	return all
}

// known returns the trainings of a configuration in the races, those with most features last.
func (a *auto) known(c train.Config) (trials []Timing) {
	c.Map.Features, c.Task = a.Config.Map.Features, a.sample.Task
	name := Describe(c)
	for _, h := range a.report.Heats {
		for _, r := range h.Racers {
			if r.Name != name {
				continue
			}
			for _, run := range r.Runs {
				if run.Took.Features > 0 {
					trials = append(trials, run.Took)
				}
			}
		}
	}
	slices.SortStableFunc(trials, func(a, b Timing) int {
		return cmp.Or(cmp.Compare(a.Features, b.Features), cmp.Compare(a.Rows, b.Rows))
	})
	return trials
}

// affordable predicts the cost of a configuration, and finds the largest D whose predicted time
// and memory fit, 0 if there is none. For a configuration with a fixed number of features
// D is that number. The cost is nil if there is no time to predict anything. A quick
// prediction relies on the races, if they have anything.
func (a *auto) affordable(c train.Config, quick bool) (*Prediction, int, error) {
	a.say("predicts the cost of %s", Describe(c))
	opt := PredictOptions{Memory: a.Training.Memory, known: a.known(c), lab: lab{a.clock, a.predictFit}}
	onePass := c.LearnerName() == train.OnePass().Name() && featured(c)
	// The finals have measured what matters.
	opt.quick = quick || onePass && a.ridges != nil || slices.ContainsFunc(opt.known, func(t Timing) bool {
		return t.Rows >= min(a.sample.trainRows(), a.report.Facts.Rows/4) && t.Features >= heldLearner
	})
	share := a.share(costShare)
	if a.Budget > 0 {
		if a.left() <= 0 {
			return nil, 0, nil
		}
		opt.Seconds = share.Seconds()
	}
	if onePass {
		for _, t := range a.ridges {
			if !slices.Contains(opt.known, t) {
				opt.known = append(opt.known, t)
			}
		}
	}
	ctx, cancel := a.limited(3 * share)
	defer cancel()
	prediction, err := Predict(ctx, a.sample, c, opt)
	if a.late(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if prediction.Plan.Statistics && featured(c) {
		a.ridges = prediction.Trials
	}
	room := useShare * a.left().Seconds()
	switch {
	case a.Budget <= 0:
		return prediction, prediction.Plan.Features, nil
	case !prediction.Plan.Fixed && a.Config.Map.Features == 0:
		for _, d := range a.features() {
			if prediction.withFeatures(d) <= room && a.sized(c, d) != nil {
				return prediction, d, nil
			}
		}
	case prediction.Seconds <= room:
		return prediction, prediction.Plan.Features, nil
	}
	return prediction, 0, nil
}

// sized is the plan of a configuration with D features, nil if there is none or it takes too much memory.
func (a *auto) sized(c train.Config, d int) *train.Plan {
	c.Map.Features = d
	plan, err := a.sample.Plan(a.ctx, c, a.sample.all, a.Training.Memory)
	if err != nil || a.Training.Memory > 0 && plan.Bytes > a.Training.Memory {
		return nil
	}
	return plan
}

// resize makes the chosen configuration and its cost those of D features.
func (a *auto) resize(prediction *Prediction, d int) {
	a.report.Config.Map.Features = d
	if plan := a.sized(a.report.Config, d); plan != nil {
		prediction.resize(plan, d)
	}
}
