package tune

import (
	"fmt"
	"slices"
	"time"

	"mercer/learn"
	"mercer/matrix"
	"mercer/moments"
	"mercer/train"
)

// fits are the models of some candidates, trained on the training rows of a split; nil where
// one could not be.
type fits struct {
	split      int
	candidates []*Candidate
	models     []*learn.Linear
	errs       []error
	seconds    []float64 // of each that is known apart from others
}

// ridge judges ridge regressions: each part of a repeat is collected once, each λ is solved on
// the statistics of each split, and a second pass over the rows judges all of them.
func (r *featureRun) ridge(j job, rec *record) error {
	for first := 0; first < len(j.splits); {
		repeat := r.division.Splits[j.splits[first]].Repeat
		last := first
		for last < len(j.splits) && r.division.Splits[j.splits[last]].Repeat == repeat {
			last++
		}
		all, err := r.ridgeRepeat(j.candidates, j.splits[first:last], repeat)
		if err != nil {
			return err
		}
		if err := r.judgeFits(all, rec); err != nil {
			return err
		}
		first = last
	}
	return nil
}

func (r *featureRun) ridgeRepeat(candidates []*Candidate, splits []int, repeat int) ([]*fits, error) {
	wanted := make([]bool, r.division.Parts)
	for _, i := range splits {
		for _, p := range r.division.Splits[i].Train {
			wanted[p] = true
		}
	}
	parts := make([]*moments.Stats, r.division.Parts)
	for p := range parts {
		parts[p] = moments.New(r.prepared.Dim(), r.prepared.Info().Outputs)
	}
	lists := make([][]int, len(parts))
	var dense matrix.Dense
	part := r.division.part[repeat]
	var progress func(int, float64)
	if r.kept == nil {
		progress = r.during(len(candidates) * len(splits) / 2)
	}
	err := r.each(progress, func(rows *train.MappedRows) error {
		z := rows.Z.Dense
		if rows.Z.CSR != nil {
			rows.Z.CSR.Densify(&dense)
			z = &dense
		}
		for i := range z.Rows {
			if p := part[rows.First+i]; wanted[p] {
				lists[p] = append(lists[p], i)
			}
		}
		for p, list := range lists {
			parts[p].AddSome(list, z, rows.Y, rows.Weights)
			r.work.Collected += int64(len(list))
			lists[p] = list[:0]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	shared, err := learn.NewRidgeParts(parts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.src.Name(), err)
	}
	var all []*fits
	for n, i := range splits {
		f := &fits{split: i, candidates: candidates, models: make([]*learn.Linear, len(candidates)), errs: make([]error, len(candidates))}
		for _, trace := range []bool{false, true} {
			var which []int
			var lambdas []float64
			for k, c := range candidates {
				if (c.Config.LambdaBy == "trace") == trace {
					which, lambdas = append(which, k), append(lambdas, c.Config.Lambda)
				}
			}
			if which == nil {
				continue
			}
			models, errs, err := shared.Fit(r.division.Splits[i].Train, lambdas, trace)
			for e, k := range which {
				if f.errs[k] = err; err == nil {
					f.models[k], f.errs[k] = models[e], errs[e]
				}
			}
			r.work.Solves += int64(len(which))
			if r.ctx.Err() != nil {
				return nil, r.ctx.Err()
			}
		}
		all = append(all, f)
		if progress := r.during(len(candidates) * len(splits)); progress != nil {
			progress(0, 0.5+0.4*float64(n+1)/float64(len(splits)))
		}
	}
	return all, nil
}

// path judges one learner for several C on a split, each from the last where the solver can.
func (r *featureRun) path(j job, rec *record) error {
	f := &fits{split: j.splits[0], candidates: j.candidates, models: make([]*learn.Linear, len(j.candidates)), errs: make([]error, len(j.candidates)), seconds: make([]float64, len(j.candidates))}
	cfg, err := r.prepared.Resolve(j.candidates[0].Config)
	if err == nil {
		err = r.solve(f, cfg)
	}
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

// solve trains on the training rows of a split; the others have a weight of 0, which counts
// for nothing.
func (r *featureRun) solve(f *fits, cfg train.Config) error {
	k, info, sp := r.kept, r.prepared.Info(), r.division.Splits[f.split]
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
	last := time.Now()
	solved := func(i int, l *learn.Linear) {
		now := time.Now()
		f.models[i], f.seconds[i], last = l, now.Sub(last).Seconds(), now
	}
	switch cfg.Learner {
	case "svm":
		opt := learn.SVM{Loss: cfg.Loss, Tolerance: cfg.Tolerance, MaxIter: cfg.MaxIter, Seed: cfg.Seed, CrammerSinger: cfg.Multiclass == "crammer-singer"}
		var cs []float64
		for _, c := range f.candidates {
			cs = append(cs, c.Config.C)
		}
		next := 0
		return learn.SVMPath(r.ctx, k.z, class, len(info.Classes), weights, opt, cs, func(l *learn.Linear, _ *learn.SVMReport) error {
			solved(next, l.Outputs(info.Outputs))
			next++
			return nil
		})
	case "svr":
		for i, c := range f.candidates {
			opt := learn.SVR{C: c.Config.C, Loss: cfg.Loss, Epsilon: cfg.Epsilon, Tolerance: cfg.Tolerance, MaxIter: cfg.MaxIter, Seed: cfg.Seed}
			l, _, err := learn.FitSVR(r.ctx, k.z, k.y, info.Outputs, weights, opt)
			if err != nil {
				return err
			}
			solved(i, l)
		}
		return nil
	}
	opt := learn.Primal{Loss: "logistic", Tolerance: cfg.Tolerance, MaxIter: cfg.MaxIter}
	if cfg.Multiclass == "multinomial" {
		opt.Loss = "multinomial"
	}
	for i, c := range f.candidates {
		opt.C = c.Config.C
		l, _, err := learn.FitPrimal(r.ctx, k.z, class, len(info.Classes), weights, opt)
		if err != nil {
			return err
		}
		solved(i, l)
		opt.Start = l
	}
	return nil
}

// judgeFits scores the rows of each split's fold by the models that have not seen them, in one
// pass over all rows.
func (r *featureRun) judgeFits(all []*fits, rec *record) error {
	k := r.prepared.Info().Outputs
	type bench struct {
		fits   *fits
		which  []int // of the candidates that have a model
		joined *learn.Linear
		judges []*judge
	}
	var benches []*bench
	for _, f := range all {
		b := &bench{fits: f}
		for i, m := range f.models {
			if m != nil {
				b.which = append(b.which, i)
				cfg := f.candidates[i].Config
				joint := cfg.Learner == "logistic" && cfg.Multiclass != "ovr"
				b.judges = append(b.judges, newJudge(r.metric, r.prepared.Info(), cfg.Learner == "logistic", joint))
			}
		}
		if b.which != nil {
			b.joined = join(f.models, b.which, k)
			benches = append(benches, b)
		}
	}
	var scores matrix.Dense
	err := r.each(nil, func(rows *train.MappedRows) error {
		for _, b := range benches {
			var list []int
			sp := r.division.Splits[b.fits.split]
			for i := range rows.Z.Len() {
				if r.division.holds(sp, rows.First+i) {
					list = append(list, i)
				}
			}
			if list == nil {
				continue
			}
			scores.Reshape(len(list), k*len(b.which))
			b.joined.Scores(&scores, matrix.Pick(rows.Z, list))
			for e, i := range list {
				row := scores.Row(e)
				for m, j := range b.judges {
					j.add(rows, i, row[m*k:(m+1)*k])
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range all {
		for i, err := range f.errs {
			if err != nil {
				rec.Scores = append(rec.Scores, r.failed(f.candidates[i], f.split, err))
			}
		}
	}
	for _, b := range benches {
		for m, j := range b.judges {
			c := b.fits.candidates[b.which[m]]
			v, err := j.value()
			if err != nil {
				rec.Scores = append(rec.Scores, r.failed(c, b.fits.split, err))
				continue
			}
			own := 0.0
			if b.fits.seconds != nil {
				own = b.fits.seconds[b.which[m]]
			}
			rec.Scores = append(rec.Scores, score{Candidate: c.Index, Split: b.fits.split, Value: v, Size: r.prepared.Dim(), Seconds: own})
		}
	}
	return nil
}

// join puts models of k outputs side by side.
func join(models []*learn.Linear, which []int, k int) *learn.Linear {
	d := models[which[0]].W.Rows
	all := &learn.Linear{W: matrix.NewDense(d, k*len(which))}
	for m, i := range which {
		for row := range d {
			copy(all.W.Row(row)[m*k:], models[i].W.Row(row)[:k])
		}
		all.B = append(all.B, models[i].B...)
	}
	return all
}
