package tune

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
	"mercer/model"
	"mercer/train"
)

// usualMost is the most features that are taken, however large the budget is.
const usualMost = 8192

// Of the time that is left, useShare may be predicted for the training: predictions are good to a
// factor of two at worst.
const useShare = 0.7

// A map has leastFeatures at least. Where a learner that goes through rows many times has room for
// fewer than heldLearner, one of statistics is looked at.
const (
	leastFeatures = 256
	heldLearner   = 1024
)

// overrun is the share of the budget by which the last training may exceed it.
const overrun = 0.1

// features are the numbers of features that are tried, largest first. More than half as many
// as rows tell nothing new.
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

// trainFirst makes one small training of a candidate where the budget had no time for a race.
func (a *auto) trainFirst(c candidate) error {
	rows := min(1000, a.sample.TrainRows())
	a.report.Config = c.Config
	a.say("trains %s on %s rows", Describe(c.Config), thousands(rows))
	cfg := c.Config
	if featured(cfg) {
		cfg.Features = leastFeatures
	}
	began := a.now()
	m, report, err := a.within(a.sample.Train(0, rows), cfg, a.last())
	if a.late(err) {
		return fmt.Errorf("%s: not even %s on %s rows got done within the budget of %s; a budget of %s may do",
			a.src.Name(), Describe(c.Config), thousands(rows), a.Budget, budgetText(niceBudget(10*a.now().Sub(a.start).Seconds())))
	}
	if err != nil {
		return err
	}
	d := 0
	if m != nil {
		_, d = m.Pipeline().Dims()
	}
	a.won = &trained{m, report, cfg, rows}
	a.spent = a.now().Sub(began)
	a.why("the budget had no time for a race: %s was the first that could be trained, of %s features", Describe(c.Config), thousands(d))
	return nil
}

// train trains the chosen configuration on all rows, with as many features as the budget has room
// for, and if it has room for none on fewer rows.
func (a *auto) train() (*model.Model, *train.Report, error) {
	c := &a.report.Config
	if a.Budget <= 0 {
		a.say("trains %s on all rows", Describe(*c))
		return a.fit(a.ctx, a.src, *c, a.Training)
	}
	cost, d, err := a.affordable(*c, false)
	if err != nil {
		return nil, nil, err
	}
	if other := *c; d < heldLearner && cost != nil && (d == 0 || !cost.Plan.Fixed && a.rivals("ridge")) && unset(a.Config.Learner) && c.Learner != "ridge" && a.report.Facts.Rows > 2*d {
		// Statistics take less time a row than many passes over rows.
		other.Learner, other.C = "ridge", 0
		if other.Check() == nil {
			cost2, d2, err := a.affordable(other, false)
			if a.ctx.Err() != nil {
				return nil, nil, a.ctx.Err()
			}
			if err == nil && (d2 >= 4*d || d == 0) && d2 > 0 {
				if d > 0 {
					a.why("%s has room for D = %s within the budget; ridge, which takes one pass, for %s", c.Learner, thousands(d), thousands(d2))
				} else {
					a.why("the budget has no room for %s on all rows, but for ridge, which takes one pass", c.Learner)
				}
				*c, cost, d = other, cost2, d2
			}
		}
	}
	a.report.Cost = cost
	if cost == nil || d == 0 {
		return a.shorten(cost)
	}
	sized := !cost.Plan.Fixed && a.Config.Features == 0
	usual, less := cost.Plan.Features, max(leastFeatures, d/4)
	reserve := a.left() / 5
	if sized {
		c.Features = d
		if err := a.resize(cost, d); err != nil {
			return nil, nil, err
		}
		a.why("D = %s: predicted to take %s of the %s that are left, and %s", thousands(d), roughly(cost.Seconds), roughly(a.left().Seconds()), roughBytes(cost.Plan.Bytes))
		if less < d {
			reserve = min(time.Duration(1.5*cost.at(less)*float64(time.Second)), a.left()/3)
		}
	}
	m, report, err := a.whole(a.left() - reserve)
	if err == nil && sized {
		return a.grow(m, report, cost, usual)
	}
	if !a.late(err) {
		return m, report, err
	}
	// A training that takes longer than predicted is given up while there is time for one with
	// fewer features, or of fewer rows.
	if factor := 1.2 * cost.at(less) / max(cost.Seconds, 1e-9); sized && less < d && factor*a.spent.Seconds() <= a.last().Seconds() {
		a.why("that took longer than predicted, so that it was given up for D = %s", thousands(less))
		c.Features = less
		if err := a.resize(cost, less); err != nil {
			return nil, nil, err
		}
		m, report, err := a.whole(max(a.left()-a.Budget/20, a.Budget/20))
		if !a.late(err) {
			return m, report, err
		}
	}
	a.why("training on all rows took longer than predicted, so that it was given up for fewer rows")
	return a.shorten(cost)
}

// grow trains with more features as long as what the last training took leaves time for it, up to
// those that a training gets by default.
func (a *auto) grow(m *model.Model, report *train.Report, cost *Cost, usual int) (*model.Model, *train.Report, error) {
	c := &a.report.Config
	for _, d := range a.features() {
		old := c.Features
		if d > usual || d <= old || a.spent.Seconds()*cost.at(d)/max(cost.Seconds, 1e-9) > (1-overrun)*a.left().Seconds() {
			continue
		}
		sized := *c
		sized.Features = d
		if plan, err := a.plan(sized, cost.Rows); err != nil || a.Training.Memory > 0 && plan.Bytes > a.Training.Memory {
			continue
		}
		took := a.spent.Seconds()
		c.Features = d
		larger, with, err := a.whole(a.last())
		if err != nil {
			c.Features = old
			if a.ctx.Err() != nil {
				return nil, nil, a.ctx.Err()
			}
			return m, report, nil // what there is, is not lost
		}
		a.why("that took %s, which left time for D = %s", roughly(took), thousands(d))
		m, report = larger, with
		if err := a.resize(cost, d); err != nil {
			return nil, nil, err
		}
		break
	}
	return m, report, nil
}

// shorten trains on as many of the drawn rows as there is time for. If that is not more than the
// last heat's winner was trained on, or does not get done either, it is that one's model.
func (a *auto) shorten(cost *Cost) (*model.Model, *train.Report, error) {
	n, won := a.report.Facts.Rows, a.won
	if won == nil {
		return nil, nil, fmt.Errorf("%s: %s did not get done within the budget of %s; give a larger one", a.src.Name(), Describe(a.report.Config), a.Budget)
	}
	predicted := func(rows int) float64 {
		if cost == nil {
			return 1.5 * a.spentOn(won) * math.Pow(float64(rows)/float64(won.rows), usualExponent)
		}
		read, mapping, solve := cost.model.seconds(rows, max(won.config.Features, leastFeatures))
		if cost.Plan.Fixed {
			read, mapping, solve = cost.model.seconds(rows, cost.Plan.Features)
		}
		return max(read+mapping+solve, a.spentOn(won)*float64(rows)/float64(won.rows))
	}
	a.report.Wanted = niceBudget(max(predicted(n)/useShare, 1.5*a.spent.Seconds())/(1-finalsEnd), 1.5*a.Budget.Seconds())
	short := func(m *model.Model, report *train.Report, rows int) (*model.Model, *train.Report, error) {
		a.report.Rows = rows
		if rows < n {
			a.report.Short = fmt.Sprintf("trained on %s of %s rows: the budget had no time for more", thousands(rows), thousands(n))
		}
		return m, report, nil
	}
	config := a.report.Config
	if a.Config.Features == 0 && featured(config) {
		config.Features = max(won.config.Features, leastFeatures)
	}
	sizes := []int{len(a.sample.from)}
	for m := a.sample.TrainRows(); m > won.rows; m /= 2 {
		sizes = append(sizes, m)
	}
	for _, rows := range sizes {
		if rows <= won.rows || predicted(rows) > useShare*a.left().Seconds() {
			continue
		}
		src := a.sample.part(seq(len(a.sample.from)))
		if rows <= a.sample.TrainRows() {
			src = a.sample.Train(0, rows)
		}
		a.say("trains %s on %s rows", Describe(config), thousands(rows))
		m, report, err := a.within(src, config, a.last())
		if !a.late(err) {
			if err == nil {
				a.report.Config = config
				return short(m, report, rows)
			}
			return nil, nil, err
		}
		break
	}
	if err := a.ctx.Err(); err != nil {
		return nil, nil, err
	}
	a.why("the model is the one of %s that won the last race, as it was trained there", Describe(won.config))
	a.report.Config = won.config
	return short(won.model, won.report, won.rows)
}

// spentOn is how many seconds the training of the race's winner took.
func (a *auto) spentOn(won *trained) float64 {
	if won.report == nil {
		return 0
	}
	return won.report.Read + won.report.Map + won.report.Solve
}

// seq are the numbers below n.
func seq(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// last is the time that the last training may take.
func (a *auto) last() time.Duration {
	return max(a.left(), 0) + time.Duration(overrun*float64(a.Budget))
}

// late says that a training failed because its time was over, and not because the caller ended it.
func (a *auto) late(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && a.ctx.Err() == nil
}

// whole trains the chosen configuration on all rows, and gives up after so much time.
func (a *auto) whole(limit time.Duration) (*model.Model, *train.Report, error) {
	a.say("trains %s on all rows", Describe(a.report.Config))
	began := a.now()
	m, report, err := a.within(a.src, a.report.Config, limit)
	a.spent = a.now().Sub(began)
	return m, report, err
}

// within trains, and gives up after so much time.
func (a *auto) within(src dataset.Source, cfg train.Config, limit time.Duration) (*model.Model, *train.Report, error) {
	ctx := a.ctx
	if a.clock == nil {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	return a.fit(ctx, src, cfg, a.Training)
}

// niceBudget is the least of some round numbers of seconds that none of the given is above.
func niceBudget(seconds ...float64) float64 {
	least := slices.Max(seconds)
	for _, s := range []float64{1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800, 2700, 3600} {
		if s >= least {
			return s
		}
	}
	return 3600 * math.Ceil(least/3600)
}

// budgetText is a number of seconds as a duration is given: 30s, 5m, 2h.
func budgetText(seconds float64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%.0fs", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%.0fm", seconds/60)
	}
	return fmt.Sprintf("%.0fh", seconds/3600)
}

// rivals says that a learner was not dropped for a larger loss.
func (a *auto) rivals(learner string) bool {
	for _, h := range a.report.Heats {
		for _, r := range h.Racers {
			if r.Config.Learner == learner && len(r.Runs) > 0 && !strings.HasPrefix(r.Dropped, "behind") {
				return true
			}
		}
	}
	return false
}

// known are the trainings of a configuration in the races, those with most features last.
func (a *auto) known(c train.Config) (trials []Trial) {
	c.Features, c.Task = a.Config.Features, a.sample.Task
	name := Describe(c)
	for _, h := range a.report.Heats {
		for _, r := range h.Racers {
			if r.Name != name {
				continue
			}
			for _, run := range r.Runs {
				if run.trial.Features > 0 {
					trials = append(trials, run.trial)
				}
			}
		}
	}
	slices.SortStableFunc(trials, func(a, b Trial) int {
		return cmp.Or(cmp.Compare(a.Features, b.Features), cmp.Compare(a.Rows, b.Rows))
	})
	return trials
}

// affordable predicts the cost of a configuration, and finds the largest D for whose predicted time
// and memory there is room, 0 if there is none. Of a configuration whose features are fixed
// D is what they are. Where there is no time to predict anything the cost is nil. A quick
// prediction is from what is known of the races, if anything is.
func (a *auto) affordable(c train.Config, quick bool) (*Cost, int, error) {
	a.say("predicts the cost of %s", Describe(c))
	ctx, opt := a.ctx, CostOptions{Memory: a.Training.Memory, now: a.clock, known: a.known(c), fit: a.costFit}
	// The finals have measured what matters.
	opt.quick = quick || c.Learner == "ridge" && featured(c) && a.ridges != nil || slices.ContainsFunc(opt.known, func(t Trial) bool {
		return t.Rows >= min(a.sample.TrainRows(), a.report.Facts.Rows/4) && t.Features >= heldLearner
	})
	if a.Budget > 0 {
		if a.left() <= 0 {
			return nil, 0, nil
		}
		share := a.share(costShare)
		opt.Seconds = share.Seconds()
		if a.clock == nil {
			limited, cancel := context.WithTimeout(ctx, 3*share)
			defer cancel()
			ctx = limited
		}
	}
	if c.Learner == "ridge" && featured(c) {
		for _, t := range a.ridges {
			if !slices.Contains(opt.known, t) {
				opt.known = append(opt.known, t)
			}
		}
	}
	cost, err := PredictCost(ctx, a.sample, c, opt)
	if a.late(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if cost.Plan.Statistics && featured(c) {
		a.ridges = cost.Trials
	}
	if a.Budget <= 0 {
		return cost, cost.Plan.Features, nil
	}
	room := useShare * a.left().Seconds()
	if cost.Plan.Fixed || a.Config.Features > 0 {
		if cost.Seconds > room {
			return cost, 0, nil
		}
		return cost, cost.Plan.Features, nil
	}
	for _, d := range a.features() {
		if cost.at(d) > room {
			continue
		}
		sized := c
		sized.Features = d
		plan, err := a.plan(sized, cost.Rows)
		if err != nil {
			return nil, 0, err
		}
		if a.Training.Memory <= 0 || plan.Bytes <= a.Training.Memory {
			return cost, d, nil
		}
	}
	return cost, 0, nil
}

// plan is that of a configuration for n rows.
func (a *auto) plan(c train.Config, n int) (*train.Plan, error) {
	return train.NewPlan(a.ctx, a.sample.Train(0, a.sample.TrainRows()), n, c, train.Options{Memory: a.Training.Memory})
}

// resize makes a cost one of D features.
func (a *auto) resize(cost *Cost, d int) error {
	plan, err := a.plan(a.report.Config, cost.Rows)
	if err != nil {
		return err
	}
	oldMap, oldSolve := cost.Map, cost.Solve
	_, cost.Map, cost.Solve = cost.model.seconds(cost.Rows, d)
	cost.Seconds += cost.Map - oldMap + cost.Solve - oldSolve
	cost.Plan = plan
	return nil
}
