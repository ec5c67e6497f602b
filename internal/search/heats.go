package search

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"mercer/internal/engine/units"
	"mercer/kernel"
	"mercer/train"
)

// drawnRows is the number of rows of large data on which contenders are tried and judged: a third of them
// is held out. drawnBytes bounds their memory.
const (
	drawnRows  = 24_000
	drawnBytes = 1 << 29
)

// D of the contenders in the first two heats: twice the default for 1,000 rows, and the default for 4,000 rows.
// Fewer would favour kernels that need few features.
const (
	firstFeatures  = 512
	secondFeatures = 1024
)

// choose surveys the data and races the contenders.
func (a *auto) choose() error {
	a.say("looks at the data")
	rows := drawnRows
	if d := a.src.Schema().Dim; d > 0 {
		rows = min(rows, max(2000, drawnBytes/4/d))
	}
	var err error
	if a.sample, err = Draw(a.ctx, a.src, rows, a.Config.Task, max(a.Config.Seed, 1)); err != nil {
		return err
	}
	if surveyed := a.Training.Surveyed; surveyed != nil {
		read := *a.src.Schema()
		read.Dim = a.sample.summary.Dim
		if err := surveyed(read); err != nil {
			return err
		}
		a.Training.Surveyed = nil // those of fewer rows may have fewer dimensions
	}
	a.report.Facts = factsOf(a.sample)
	if c := a.Config.Implied(); c.Traits().ChoosesKernels() {
		a.why("the learner %s chooses kernels, widths and the scaling by held-out rows itself: there is nothing to race", c.LearnerName())
		c.Task = a.report.Facts.Task
		a.report.Config = c
		return a.ctx.Err()
	}
	kernels := a.kernels()
	first, err := a.heat("kernels", kernels, firstFeatures, a.until(firstEnd), []int{1000, 4000})
	if errors.Is(err, errSpent) && a.ctx.Err() == nil && a.has(finalsEnd) {
		first, err = a.heat("kernels", kernels, leastFeatures, a.until(finalsEnd), []int{500})
	}
	if errors.Is(err, errSpent) && a.ctx.Err() == nil {
		return a.trainFirst(kernels[0])
	}
	if err != nil {
		return err
	}
	best := kernels[first.Winner]
	rivals := []contender{best}
	for _, i := range first.Ranking() {
		// Others that were no worse within the noise.
		last, ok := first.Racers[i].Last()
		if i != first.Winner && ok && first.Racers[i].Dropped == "" && last.close() && len(rivals) < 3 {
			rivals = append(rivals, kernels[i])
		}
	}
	second := a.variations(rivals)
	if len(second) > 1 && a.has(secondEnd) {
		heat, err := a.heat("variations", second, secondFeatures, a.until(secondEnd), []int{1000, 4000, 16_000})
		switch {
		case err == nil:
			best = second[heat.Winner]
		case a.ctx.Err() != nil:
			return a.ctx.Err()
		}
	}
	if best, err = a.finals(best, kernels, first); err != nil {
		return err
	}
	a.explain()
	a.report.Config = best.Config
	a.exactCost()
	return a.ctx.Err()
}

// has says whether there is time before a share of the budget is spent.
func (a *auto) has(end float64) bool {
	return a.Budget <= 0 || (a.now().Sub(a.start)-a.lent).Seconds() < end*a.Budget.Seconds()
}

// lend extends the heats by what the training is not expected to need of its half of the
// budget. The estimate is the slowest of the contenders so far, with as many features as all
// rows may have, times two to be safe. On large data nothing is left to lend.
func (a *auto) lend(contenders []contender, r *RaceResult) {
	need, known := 0.0, false
	for i := range r.Racers {
		last, ok := r.Racers[i].Last()
		if !ok {
			continue
		}
		exponent, wider := usualExponent, 1.0
		if contenders[i].Traits().Exact() {
			exponent = 2
		}
		if featured(contenders[i].Config) {
			wider = max(1, float64(a.features()[0])/float64(max(last.Took.Features, 1)))
		}
		once := last.Seconds / float64(r.Folds)
		need = max(need, 2*once*math.Pow(float64(a.report.Facts.Rows)/float64(last.Rows), exponent)*wider*wider)
		known = true
	}
	if known {
		a.lent = max(0, time.Duration(min((1-finalsEnd)*a.Budget.Seconds()-need, a.Budget.Seconds())*float64(time.Second)))
	}
}

// heatFeatures is the number of features in a heat that has at most the given number, trained on the given number of
// rows: not many more than rows, and an even number, because maps whose features are pairs of cos and sin need that.
func heatFeatures(most, rows int) int {
	return min(most, max(leastFeatures, rows)) &^ 1
}

// heat races contenders, with the given number of features if Auto chooses it.
func (a *auto) heat(what string, contenders []contender, features int, budget time.Duration, rungs []int) (*RaceResult, error) {
	configs, names := make([]train.Config, len(contenders)), make([]string, len(contenders))
	for i, c := range contenders {
		names[i] = Describe(c.Config)
		if configs[i] = c.Config; featured(c.Config) {
			configs[i].Map.Features = cmp.Or(c.d, heatFeatures(features, a.sample.trainRows()))
		}
	}
	var lent func(r *RaceResult) time.Duration
	if before := a.lent; a.Budget > 0 && what != "finalists" {
		lent = func(r *RaceResult) time.Duration {
			a.lend(contenders, r)
			return a.lent - before
		}
	}
	r, err := race(a.ctx, a.sample, configs, raceOptions{
		Lent: lent, Rungs: rungs, Budget: budget, Memory: a.Training.Memory, Fair: what == "finalists", lab: lab{clock: a.clock},
		Try: a.trial, Names: names,
		Progress: func(name string, k, of, rows int) {
			a.say("%s, %s rows: %d of %d, %s", what, units.Count(rows), k, of, name)
		},
	})
	if err != nil {
		return nil, err
	}
	r.Of = what
	a.report.Heats = append(a.report.Heats, r)
	if w := r.Racers[r.Winner].last; w != nil && (a.won == nil || w.Rows >= a.won.Rows) {
		a.won = w
	}
	return r, nil
}

// finals races the best contender against the default of train.Fit, and that of its features;
// against the same with ridge as its learner, whose time is most predictable and allows the most features; and
// against the best of the kernels that improve with more features, if it is not one itself, because they were at
// a disadvantage until now. All have as many features as the training on all rows would
// have, and are trained on as many rows as the sample has, so that their time is measured.
func (a *auto) finals(best contender, kernels []contender, first *RaceResult) (contender, error) {
	finalists := a.finalists(best, kernels, first)
	if len(finalists) < 2 {
		return best, a.ctx.Err()
	}
	able, err := a.able(finalists)
	if err != nil {
		return best, err
	}
	at := slices.IndexFunc(able, best.same)
	if len(able) == 0 || len(able) == 1 && at == 0 {
		return best, a.ctx.Err()
	}
	before := a.report.Heats[len(a.report.Heats)-1]
	heat, err := a.heat("finalists", able, 0, min(a.until(finalsEnd), a.share(finalsShare)), []int{a.sample.trainRows()})
	if err != nil {
		return best, a.ctx.Err() // the best contender does not change
	}
	if at < 0 || len(heat.Racers[at].Runs) == 0 {
		// All are judged on the same rows.
		if heat.Racers[heat.Winner].mean() >= before.Racers[before.Winner].mean() {
			a.why("%s was better on fewer rows than those that got done in the last race", Describe(best.Config))
			return best, nil
		}
	}
	return a.champion(able, heat), nil
}

// finalists are the different contenders of the finals: those whose time is most predictable first, after the one that is most often the
// best; the others use what is left.
func (a *auto) finalists(best contender, kernels []contender, first *RaceResult) []contender {
	finalists := []contender{best}
	add := func(c contender) { finalists = addContender(finalists, c) }
	if c, ok := a.usual(); ok {
		add(c)
	}
	if c, ok := a.report.Facts.learners().Default(a.Config); ok {
		c.Task = a.report.Facts.Task
		add(contender{Config: c})
	}
	onePass := train.OnePass().Name()
	if unset(a.Config.LearnerName()) && !best.Traits().Exact() {
		c := best
		c.SetLearner(onePass)
		c.Set("c", 0)
		add(c)
	}
	if !featured(best.Config) {
		for _, i := range first.Ranking() {
			if len(first.Racers[i].Runs) > 0 && featured(kernels[i].Config) {
				add(kernels[i])
				break
			}
		}
	}
	order := func(c contender) int {
		return btoi(c.LearnerName() != onePass) - 2*btoi(c.Traits().ChoosesKernels())
	}
	slices.SortStableFunc(finalists, func(a, b contender) int { return cmp.Compare(order(a), order(b)) })
	return finalists
}

// able are the finalists that can be trained in the time that is left, with as many features as that allows.
func (a *auto) able(finalists []contender) (able []contender, err error) {
	for _, c := range finalists {
		if !a.has(finalsEnd) {
			break
		}
		if !featured(c.Config) {
			able = append(able, c)
			continue
		}
		prediction, d, err := a.affordable(c.Config, c.LearnerName() != train.OnePass().Name())
		if a.ctx.Err() != nil {
			return nil, a.ctx.Err()
		}
		if err != nil || d == 0 || prediction == nil {
			continue // the race would say again that it cannot be trained, or takes too long
		}
		c.d = d
		if a.Budget > 0 && !prediction.Plan.Fixed {
			room := useShare * min(a.until(finalsEnd), a.share(finalsShare)).Seconds() / float64(len(finalists)*len(a.sample.folds))
			for _, c.d = range a.features() {
				_, mapping, solve := prediction.stages(a.sample.trainRows(), c.d)
				if c.d <= d && mapping+solve <= room {
					break
				}
			}
		}
		able = append(able, c)
	}
	return able, nil
}

// champion is the winner of the last race, but a learner of margins if ridge leads it by no more than the noise: the squared error
// of classes depends on how well rows far from any boundary are fitted.
func (a *auto) champion(able []contender, heat *RaceResult) contender {
	w, onePass := able[heat.Winner], train.OnePass().Name()
	if w.LearnerName() != onePass || a.report.Facts.Task != "classify" {
		return w
	}
	for i, r := range heat.Racers {
		if last, ok := r.Last(); ok && able[i].LearnerName() != onePass && r.Dropped == "" && last.Gap <= last.Noise {
			a.why("%s leads %s by no more than the noise, %s; a learner of margins is taken", w.LearnerName(), r.Name,
				heat.gapText(last, &heat.Racers[heat.Winner]))
			return able[i]
		}
	}
	return w
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// usual is the default of train.Fit; ok is false if the given settings decide it.
func (a *auto) usual() (contender, bool) {
	if a.Config.Kernel.Name != "" || a.Config.Map.Name != "" {
		return contender{}, false
	}
	c := a.Config
	c.Task, c.Kernel.Name = a.report.Facts.Task, kernel.RBF.Name()
	if unset(c.LearnerName()) {
		plan, err := a.sample.Plan(a.ctx, c, a.sample.all, a.Training.Memory)
		if err != nil {
			return contender{}, false
		}
		c.SetLearner(plan.Config.LearnerName())
	}
	return a.contenderOf(c)
}
