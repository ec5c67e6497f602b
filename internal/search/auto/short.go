package auto

import (
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/units"
	"mercer/internal/search/cost"
	"mercer/internal/search/trial"
	"mercer/model"
	"mercer/train"
)

// shorten trains on as many of the drawn rows as there is time for. If that is no more than the
// last heat's winner was trained on, or does not finish either, it returns the winner's model.
func (a *auto) shorten(prediction *cost.Prediction) (*model.Model, *train.Report, error) {
	n, won := a.report.Facts.Rows, a.won
	if won == nil {
		return nil, nil, fmt.Errorf("%s: %s did not get done within the budget of %s; give a larger one", a.src.Name(),
			trial.Describe(a.report.Config), a.Budget)
	}
	predicted := func(rows int) float64 {
		if prediction == nil {
			return 1.5 * a.spentOn(won) * math.Pow(float64(rows)/float64(won.Rows), trial.UsualExponent)
		}
		read, mapping, solve := prediction.Stages(rows, max(won.Config.Map.Features, leastFeatures))
		if prediction.Plan.Fixed {
			read, mapping, solve = prediction.Stages(rows, prediction.Plan.Features)
		}
		return max(read+mapping+solve, a.spentOn(won)*float64(rows)/float64(won.Rows))
	}
	a.report.Wanted = niceBudget(max(predicted(n)/useShare, 1.5*a.spent.Seconds())/(1-finalsEnd), 1.5*a.Budget.Seconds())
	short := func(m *model.Model, report *train.Report, rows int) (*model.Model, *train.Report, error) {
		a.report.Rows = rows
		if rows < n {
			a.report.Short = fmt.Sprintf("trained on %s of %s rows: the budget had no time for more", units.Count(rows), units.Count(n))
		}
		return m, report, nil
	}
	config := a.report.Config
	if a.Config.Map.Features == 0 && featured(config) {
		config.Map.Features = max(won.Config.Map.Features, leastFeatures)
	}
	sizes := []int{a.sample.Drawn().X.Len()}
	for m := a.sample.TrainRows(); m > won.Rows; m /= 2 {
		sizes = append(sizes, m)
	}
	for _, rows := range sizes {
		if rows <= won.Rows || predicted(rows) > useShare*a.left().Seconds() {
			continue
		}
		src := a.sample.All()
		if rows <= a.sample.TrainRows() {
			src = a.sample.Train(0, rows)
		}
		a.say("trains %s on %s rows", trial.Describe(config), units.Count(rows))
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
	a.why("the model is the one of %s that won the last race, as it was trained there", trial.Describe(won.Config))
	a.report.Config = won.Config
	return short(won.Model, won.Report, won.Rows)
}

// spentOn is the number of seconds that the training of the race's winner took.
func (a *auto) spentOn(won *trial.Trained) float64 {
	if won.Report == nil {
		return 0
	}
	return won.Report.Read + won.Report.Map + won.Report.Solve
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

// budgetText formats a number of seconds as a duration such as 30s, 5m, 2h.
func budgetText(seconds float64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%.0fs", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%.0fm", seconds/60)
	}
	return fmt.Sprintf("%.0fh", seconds/3600)
}
