package auto

import (
	"cmp"
	"context"
	"slices"

	"mercer/internal/search/cost"
	"mercer/internal/search/trial"
	"mercer/train"
)

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
func (a *auto) known(c train.Config) (trials []trial.Timing) {
	c.Map.Features, c.Task = a.Config.Map.Features, a.sample.Task
	name := trial.Describe(c)
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
	slices.SortStableFunc(trials, func(a, b trial.Timing) int {
		return cmp.Or(cmp.Compare(a.Features, b.Features), cmp.Compare(a.Rows, b.Rows))
	})
	return trials
}

// affordable predicts the cost of a configuration, and finds the largest D whose predicted time
// and memory fit, 0 if there is none. For a configuration with a fixed number of features
// D is that number. The cost is nil if there is no time to predict anything. A quick
// prediction relies on the races, if they have anything.
func (a *auto) affordable(c train.Config, quick bool) (*cost.Prediction, int, error) {
	a.say("predicts the cost of %s", trial.Describe(c))
	ctx, opt := a.ctx, cost.Options{Memory: a.Training.Memory, Now: a.clock, Known: a.known(c), Fit: a.costFit}
	// The finals have measured what matters.
	onePass := c.LearnerName() == train.OnePass().Name()
	opt.Quick = quick || onePass && featured(c) && a.ridges != nil || slices.ContainsFunc(opt.Known, func(t trial.Timing) bool {
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
	if onePass && featured(c) {
		for _, t := range a.ridges {
			if !slices.Contains(opt.Known, t) {
				opt.Known = append(opt.Known, t)
			}
		}
	}
	prediction, err := cost.Predict(ctx, a.sample, c, opt)
	if a.late(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if prediction.Plan.Statistics && featured(c) {
		a.ridges = prediction.Trials
	}
	if a.Budget <= 0 {
		return prediction, prediction.Plan.Features, nil
	}
	room := useShare * a.left().Seconds()
	if prediction.Plan.Fixed || a.Config.Map.Features > 0 {
		if prediction.Seconds > room {
			return prediction, 0, nil
		}
		return prediction, prediction.Plan.Features, nil
	}
	for _, d := range a.features() {
		if prediction.WithFeatures(d) > room {
			continue
		}
		sized := c
		sized.Map.Features = d
		plan, err := a.plan(sized, prediction.Rows)
		if err != nil {
			return nil, 0, err
		}
		if a.Training.Memory <= 0 || plan.Bytes <= a.Training.Memory {
			return prediction, d, nil
		}
	}
	return prediction, 0, nil
}

// plan is the plan of a configuration for n rows.
func (a *auto) plan(c train.Config, n int) (*train.Plan, error) {
	return train.NewPlan(a.ctx, a.sample.Train(0, a.sample.TrainRows()), n, c, train.Options{Memory: a.Training.Memory})
}

// resize makes a cost one of D features.
func (a *auto) resize(prediction *cost.Prediction, d int) error {
	plan, err := a.plan(a.report.Config, prediction.Rows)
	if err != nil {
		return err
	}
	prediction.Resize(plan, d)
	return nil
}
