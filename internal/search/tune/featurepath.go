package tune

import (
	"slices"
	"time"

	"mercer/internal/solve/learn"
	"mercer/train"
)

// path judges candidates of one learner that differ in one setting on a split, each trained starting from the
// last if the solver can. Rows that are not trained on have weight 0 and do not count.
func (r *featureRun) path(j job, rec *record) error {
	f := &fits{split: j.splits[0], candidates: j.candidates, models: make([]*learn.Linear, len(j.candidates)),
		errs: make([]error, len(j.candidates)), seconds: make([]float64, len(j.candidates))}
	k, sp := r.kept, r.division.Splits[f.split]
	weights := make([]float64, k.n)
	for i := range weights {
		if r.division.trains(sp, i) {
			weights[i] = k.weights[i]
		}
	}
	class := k.class
	if slices.Contains(class, -1) { // of rows of the fold
		class = slices.Clone(class)
		for i, c := range class {
			class[i] = max(c, 0)
		}
	}
	configs := make([]train.Config, len(j.candidates))
	for i, c := range j.candidates {
		configs[i] = c.Config
	}
	last := time.Now()
	rows := &train.PathRows{Z: k.z, Class: class, Y: k.y, Weights: weights}
	err := r.prepared.FitPath(r.ctx, rows, configs, func(i int, l *learn.Linear) {
		now := time.Now()
		f.models[i], f.seconds[i], last = l, now.Sub(last).Seconds(), now
	})
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	if err != nil {
		for k := range f.models {
			if f.models[k] == nil {
				f.errs[k] = err
			}
		}
	}
	r.work.Solves += int64(len(j.candidates))
	return r.judgeFits([]*fits{f}, rec)
}
