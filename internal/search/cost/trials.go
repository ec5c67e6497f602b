package cost

import (
	"context"
	"errors"
	"slices"

	"mercer/internal/search/trial"
	"mercer/train"
)

// The trials begin with trialRows rows and trialFeatures features.
const (
	trialRows     = 1000
	trialFeatures = 512
)

// trials trains on few rows: first on trialRows, then on twice as many until half of the time
// is used up, and then with twice as many features, up to those of the training.
func trials(ctx context.Context, s *trial.Sample, plan *train.Plan, opt Options) ([]trial.Timing, error) {
	most := s.TrainRows()
	start := opt.Now()
	var all []trial.Timing
	learned := plan.Config.Metric.Form != "" && !plan.Config.Traits().ChoosesKernels()
	once := func(rows, features int) error {
		cfg := plan.Config
		if learned && len(all) > 0 {
			cfg.Metric.Form = "" // the first trial tells what it takes
		}
		if !plan.Fixed {
			cfg.Map.Features = features
		}
		report, err := opt.Fit(ctx, s.Train(0, rows), cfg, train.Options{Memory: opt.Memory})
		if err != nil {
			return err
		}
		all = append(all, trial.TimingOf(rows, features, report))
		return nil
	}
	d := plan.Features
	if !plan.Fixed {
		d = min(d, trialFeatures)
	}
	rows := min(trialRows, max(most/4, 1))
	all = slices.Clone(opt.Known)
	if opt.Quick && len(all) > 0 {
		return all, nil
	}
	grown := false
	if len(all) > 0 {
		// How the time grows with the rows may not have been tried yet.
		d = all[0].Features
		few, many := all[0].Rows, all[0].Rows
		for _, t := range all {
			if t.Features == d {
				few, many = min(few, t.Rows), max(many, t.Rows)
			}
		}
		grown, rows = many >= 2*few || many == most, min(2*many, most)
	}
	for !grown {
		if err := once(rows, d); err != nil {
			if len(all) > 0 && !errors.Is(ctx.Err(), context.Canceled) {
				break // what is known is better than nothing
			}
			return nil, err
		}
		spent := opt.Now().Sub(start).Seconds()
		if rows == most || len(all) >= 2 && spent > opt.Seconds/2 {
			break
		}
		rows = min(2*rows, most)
	}
	rows = 0
	for _, t := range all {
		rows, d = max(rows, t.Rows), max(d, t.Features)
	}
	// Features are doubled on the rows of the largest trial, or on 2·D of them (but at least trialRows) if that is less.
	for d < plan.Features && !plan.Fixed {
		d = min(2*d, plan.Features)
		if err := once(min(rows, max(2*d, trialRows)), d); err != nil {
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, err
			}
			break // beyond the memory or the time
		}
		// The next takes four to eight times as long, and may use twice the time: errors in the part that depends on
		// D alone matter most.
		last := all[len(all)-1]
		if spent := opt.Now().Sub(start).Seconds(); spent+4*(last.Map+last.Solve) > 2*opt.Seconds {
			break
		}
	}
	return all, nil
}
