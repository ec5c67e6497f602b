package auto

import (
	"cmp"
	"slices"

	"mercer/internal/search/trial"
	"mercer/kernel"
	"mercer/train"
)

// finals races the best candidate against the default of train.Fit, and that of its features;
// against the same with ridge as its learner, whose time is most predictable and allows the most features; and
// against the best of the kernels that improve with more features, if it is not one itself, because they were at
// a disadvantage until now. All have as many features as the training on all rows would
// have, and are trained on as many rows as the sample has, so that their time is measured.
func (a *auto) finals(best candidate, kernels []candidate, first *trial.RaceResult) (candidate, error) {
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
	heat, err := a.heat("finalists", able, 0, min(a.until(finalsEnd), a.share(finalsShare)), []int{a.sample.TrainRows()})
	if err != nil {
		return best, a.ctx.Err() // the best candidate does not change
	}
	if at < 0 || len(heat.Racers[at].Runs) == 0 {
		// All are judged on the same rows.
		if heat.Racers[heat.Winner].Loss() >= before.Racers[before.Winner].Loss() {
			a.why("%s was better on fewer rows than those that got done in the last race", trial.Describe(best.Config))
			return best, nil
		}
	}
	return a.champion(able, heat), nil
}

// same says that two candidates would train the same.
func (c candidate) same(o candidate) bool {
	return trial.Describe(o.Config) == trial.Describe(c.Config)
}

// finalists are the different candidates of the finals: those whose time is most predictable first, after the one that is most often the
// best; the others use what is left.
func (a *auto) finalists(best candidate, kernels []candidate, first *trial.RaceResult) []candidate {
	finalists := []candidate{best}
	add := func(c candidate) {
		if c.Check() == nil && !slices.ContainsFunc(finalists, c.same) {
			finalists = append(finalists, c)
		}
	}
	if c, ok := a.usual(); ok {
		add(c)
	}
	if c, ok := a.report.Facts.learners().Default(a.Config); ok {
		c.Task = a.report.Facts.Task
		add(candidate{Config: c})
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
	order := func(c candidate) int {
		return btoi(c.LearnerName() != onePass) - 2*btoi(c.Traits().ChoosesKernels())
	}
	slices.SortStableFunc(finalists, func(a, b candidate) int { return cmp.Compare(order(a), order(b)) })
	return finalists
}

// able are the finalists that can be trained in the time that is left, with as many features as that allows.
func (a *auto) able(finalists []candidate) (able []candidate, err error) {
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
			room := useShare * min(a.until(finalsEnd), a.share(finalsShare)).Seconds() / float64(len(finalists)*a.sample.Folds)
			for _, c.d = range a.features() {
				_, mapping, solve := prediction.Stages(a.sample.TrainRows(), c.d)
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
func (a *auto) champion(able []candidate, heat *trial.RaceResult) candidate {
	w, onePass := able[heat.Winner], train.OnePass().Name()
	if w.LearnerName() != onePass || a.report.Facts.Task != "classify" {
		return w
	}
	for i, r := range heat.Racers {
		if last, ok := r.Last(); ok && able[i].LearnerName() != onePass && r.Dropped == "" && last.Gap <= last.Noise {
			a.why("%s leads %s by no more than the noise, %s; a learner of margins is taken", w.LearnerName(), r.Name,
				heat.GapText(last, heat.Racers[heat.Winner]))
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
func (a *auto) usual() (candidate, bool) {
	if a.Config.Kernel.Name != "" || a.Config.Map.Name != "" {
		return candidate{}, false
	}
	c := a.Config
	c.Task, c.Kernel.Name = a.report.Facts.Task, kernel.RBF.Name()
	if unset(c.LearnerName()) {
		plan, err := a.plan(c, a.report.Facts.Rows)
		if err != nil {
			return candidate{}, false
		}
		c.SetLearner(plan.Config.LearnerName())
	}
	return a.candidateOf(c)
}
