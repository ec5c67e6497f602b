package auto

import (
	"cmp"
	"errors"
	"math"
	"time"

	"mercer/internal/engine/units"
	"mercer/internal/search/trial"
	"mercer/train"
)

// drawnRows is the number of rows of large data on which candidates are tried and judged: a third of them
// is held out. drawnBytes bounds their memory.
const (
	drawnRows  = 24_000
	drawnBytes = 1 << 29
)

// D of the candidates in the first two heats: twice the default for 1,000 rows, and the default for 4,000 rows.
// Fewer would favour kernels that need few features.
const (
	firstFeatures  = 512
	secondFeatures = 1024
)

// choose surveys the data and races the candidates.
func (a *auto) choose() error {
	a.say("looks at the data")
	rows := drawnRows
	if d := a.src.Schema().Dim; d > 0 {
		rows = min(rows, max(2000, drawnBytes/4/d))
	}
	var err error
	if a.sample, err = trial.Draw(a.ctx, a.src, rows, a.Config.Task, max(a.Config.Seed, 1)); err != nil {
		return err
	}
	if surveyed := a.Training.Surveyed; surveyed != nil {
		read := *a.src.Schema()
		read.Dim = a.sample.Summary.Dim
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
	if errors.Is(err, trial.ErrSpent) && a.ctx.Err() == nil && a.has(finalsEnd) {
		first, err = a.heat("kernels", kernels, leastFeatures, a.until(finalsEnd), []int{500})
	}
	if errors.Is(err, trial.ErrSpent) && a.ctx.Err() == nil {
		return a.trainFirst(kernels[0])
	}
	if err != nil {
		return err
	}
	best := kernels[first.Winner]
	rivals := []candidate{best}
	for _, i := range first.Ranking() {
		// Others that were no worse within the noise.
		last, ok := first.Racers[i].Last()
		if i != first.Winner && ok && first.Racers[i].Dropped == "" && last.Close() && len(rivals) < 3 {
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
// budget. The estimate is the slowest of the candidates so far, with as many features as all
// rows may have, times two to be safe. On large data nothing is left to lend.
func (a *auto) lend(candidates []candidate, r *trial.RaceResult) {
	need, known := 0.0, false
	for i := range r.Racers {
		last, ok := r.Racers[i].Last()
		if !ok {
			continue
		}
		exponent, wider := trial.UsualExponent, 1.0
		if candidates[i].Traits().Exact() {
			exponent = 2
		}
		if featured(candidates[i].Config) {
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

// heat races candidates, with the given number of features if Train chooses it.
func (a *auto) heat(what string, candidates []candidate, features int, budget time.Duration, rungs []int) (*trial.RaceResult, error) {
	configs, names := make([]train.Config, len(candidates)), make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = trial.Describe(c.Config)
		if configs[i] = c.Config; featured(c.Config) {
			configs[i].Map.Features = cmp.Or(c.d, heatFeatures(features, a.sample.TrainRows()))
		}
	}
	var lent func(r *trial.RaceResult) time.Duration
	if before := a.lent; a.Budget > 0 && what != "finalists" {
		lent = func(r *trial.RaceResult) time.Duration {
			a.lend(candidates, r)
			return a.lent - before
		}
	}
	r, err := trial.Race(a.ctx, a.sample, configs, trial.RaceOptions{
		Lent: lent, Rungs: rungs, Budget: budget, Memory: a.Training.Memory, Fair: what == "finalists", Now: a.clock,
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
	if w := r.Racers[r.Winner].Model(); w != nil && (a.won == nil || w.Rows >= a.won.Rows) {
		a.won = w
	}
	return r, nil
}
