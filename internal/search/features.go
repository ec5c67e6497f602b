package search

import (
	"fmt"
	"slices"
	"time"

	"mercer/internal/engine/units"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
	"mercer/matrix"
	"mercer/train"
)

// featureRun is a group whose features have been computed.
type featureRun struct {
	*tuning
	*group
	prepared *train.Prepared
	work     Work // since the last job
	kept     *keptRows
}

// keptRows are mapped rows that are kept, in memory or in a file.
type keptRows struct {
	rows matrix.Batch       // features, if they are in memory, and the rows' own weights
	file *learn.FeatureFile // nil: in memory
	z    learn.Features     // the same, wherever they are

	class   []int
	y       []float64
	weights []float64 // that of classes included
}

func (k *keptRows) close() {
	if k != nil && k.file != nil {
		k.file.Close()
	}
}

// statisticsBytes is the memory of the given number of models of d features and k outputs that share
// statistics, including the statistics.
func (s *tuning) statisticsBytes(d, k, models int) float64 {
	return 8*float64(d)*float64(d)*float64(s.division.Parts+3) + 4*float64(d)*float64(k)*float64(models)
}

// rowBytes is the memory of kept rows besides their features.
func (s *tuning) rowBytes(outputs int) float64 {
	return float64(s.result.Rows) * (8*float64(outputs) + 40)
}

// keepRows maps all rows and keeps their features if some job reads them many times, or
// if there is memory for them.
func (r *featureRun) keepRows(jobs []job) error {
	p, k, gathers, need := r.prepared, r.prepared.Info().Outputs, false, 0.0
	for _, j := range jobs {
		if j.gathers {
			gathers = true
		} else {
			need = max(need, r.statisticsBytes(p.Dim(), k, len(j.candidates)*len(j.splits)))
		}
	}
	memory := float64(r.opt.Memory)
	fits := memory <= 0 || need+p.FeatureBytes()+r.rowBytes(k) <= memory
	if memory > 0 && need > memory {
		has, allowed := units.BytesApart(need, memory)
		return fmt.Errorf("%s: statistics of %d features over %d folds take %s (8·D²·(K+3) bytes), but the memory allows %s; "+
			"use fewer features or folds, or more memory",
			r.src.Name(), p.Dim(), r.division.Parts, has, allowed)
	}
	if !gathers && !fits {
		return nil
	}
	kept := &keptRows{}
	r.kept = kept
	var progress func(int, float64)
	if r.opt.Progress != nil {
		progress = func(_ int, share float64) { r.opt.Progress("map", max(share, 0), 1) }
	}
	err := r.mapRows(progress, func(rows *train.MappedRows) (err error) {
		if !fits && kept.file == nil {
			if kept.file, err = learn.CreateFeatureFile("", rows.Z.Dim(), rows.Z.CSR != nil); err != nil {
				return fatal{err}
			}
		}
		return kept.add(rows, r.result.Rows)
	})
	if err != nil {
		return err
	}
	r.advance(0)
	if kept.file == nil {
		kept.z = learn.InMemory(kept.rows.X)
	} else if kept.z, err = kept.file.Features(); err != nil {
		return fatal{err}
	}
	return nil
}

// add keeps some of the rows.
func (k *keptRows) add(rows *train.MappedRows, all int) error {
	k.class, k.y, k.weights = append(k.class, rows.Class...), append(k.y, rows.Y...), append(k.weights, rows.Weights...)
	if k.file != nil {
		k.rows.Weights = append(k.rows.Weights, rows.Batch.Weights...)
		if err := k.file.Append(rows.Z); err != nil {
			return fatal{err}
		}
		return nil
	}
	d := rows.Z.Dim()
	if rows.Z.CSR == nil && k.rows.X.Dense == nil {
		k.rows.X.Dense = &matrix.Dense{Cols: d, Stride: d, Data: make([]float32, 0, all*d)}
	}
	k.rows.Append(&matrix.Batch{X: rows.Z, Weights: rows.Batch.Weights}, d)
	return nil
}

// mapRows maps all rows.
func (r *featureRun) mapRows(progress func(int, float64), body func(*train.MappedRows) error) error {
	return r.prepared.Each(r.ctx, r.src, progress, func(rows *train.MappedRows) error {
		r.work.Mapped += int64(rows.Z.Len())
		return body(rows)
	})
}

// blockRows is the number of kept rows passed on at a time.
const blockRows = 256

// each passes over all rows with their features, kept or computed again.
func (r *featureRun) each(progress func(int, float64), body func(*train.MappedRows) error) error {
	k := r.kept
	if k == nil {
		return r.mapRows(progress, body)
	}
	n := len(k.weights)
	outputs := len(k.y) / max(1, n)
	for i := 0; i < n; i += blockRows {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		j := min(i+blockRows, n)
		z, err := k.z.Block(i, j)
		if err != nil {
			return fatal{err}
		}
		rows := &train.MappedRows{First: i, Z: z, Batch: &matrix.Batch{First: i}, Y: k.y[i*outputs : j*outputs], Weights: k.weights[i:j]}
		if k.class != nil {
			rows.Class = k.class[i:j]
		}
		if k.rows.Weights != nil {
			rows.Batch.Weights = k.rows.Weights[i:j]
		}
		if err := body(rows); err != nil {
			return err
		}
	}
	return nil
}

// fits are the models of some candidates, trained on the training rows of a split; nil for
// a candidate that could not be trained.
type fits struct {
	split      int
	candidates []*Candidate
	models     []*learn.Linear
	errs       []error
	seconds    []float64 // of each model, if known separately
	judges     []*judge
}

// fromStatistics judges candidates of a learner that share statistics: each part of a repeat is collected
// once, each candidate is solved on the statistics of each split, and a second pass over the rows judges
// all of them.
func (r *featureRun) fromStatistics(j job, rec *record) error {
	for splits := j.splits; len(splits) > 0; {
		repeat, n := r.division.Splits[splits[0]].Repeat, 1
		for n < len(splits) && r.division.Splits[splits[n]].Repeat == repeat {
			n++
		}
		all, err := r.fitRepeat(j.candidates, splits[:n], repeat)
		if err != nil {
			return err
		}
		if err := r.judgeFits(all, rec); err != nil {
			return err
		}
		splits = splits[n:]
	}
	return nil
}

// fitRepeat trains candidates on the statistics of splits of one repeat.
func (r *featureRun) fitRepeat(candidates []*Candidate, splits []int, repeat int) (all []*fits, err error) {
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
	var progress func(int, float64)
	if r.kept == nil {
		progress = r.during(len(candidates) * len(splits) / 2)
	}
	err = r.each(progress, func(rows *train.MappedRows) error {
		z := rows.Z.Dense
		if rows.Z.CSR != nil {
			rows.Z.CSR.Densify(&dense)
			z = &dense
		}
		for i := range z.Rows {
			if p := r.division.part[repeat][rows.First+i]; wanted[p] {
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
	fit, err := candidates[0].Config.Traits().FitParts(parts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.src.Name(), err)
	}
	for n, i := range splits {
		f := &fits{split: i, candidates: candidates}
		f.models, f.errs = fit(r.ctx, r.division.Splits[i].Train, configsOf(candidates))
		r.work.Solves += int64(len(candidates))
		if r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		all = append(all, f)
		if progress := r.during(len(candidates) * len(splits)); progress != nil {
			progress(0, 0.5+0.4*float64(n+1)/float64(len(splits)))
		}
	}
	return all, nil
}

func configsOf(candidates []*Candidate) (all []train.Config) {
	for _, c := range candidates {
		all = append(all, c.Config)
	}
	return all
}

// path judges candidates of one learner that differ in one setting on a split, each trained starting from the
// last if the solver can. Rows that are not trained on have weight 0 and do not count.
func (r *featureRun) path(j job, rec *record) error {
	f := &fits{split: j.splits[0], candidates: j.candidates, models: make([]*learn.Linear, len(j.candidates)),
		errs: make([]error, len(j.candidates)), seconds: make([]float64, len(j.candidates))}
	k, sp := r.kept, r.division.Splits[f.split]
	rows := &train.PathRows{Z: k.z, Class: slices.Clone(k.class), Y: k.y, Weights: make([]float64, len(k.weights))}
	for i, w := range k.weights {
		if r.division.trains(sp, i) {
			rows.Weights[i] = w
		}
	}
	for i, c := range rows.Class {
		rows.Class[i] = max(c, 0) // unknown ones are of rows of the fold
	}
	last := time.Now()
	err := r.prepared.FitPath(r.ctx, rows, configsOf(j.candidates), func(i int, l *learn.Linear) {
		now := time.Now()
		f.models[i], f.seconds[i], last = l, now.Sub(last).Seconds(), now
	})
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	for i, m := range f.models {
		if m == nil {
			f.errs[i] = err
		}
	}
	r.work.Solves += int64(len(j.candidates))
	return r.judgeFits([]*fits{f}, rec)
}

// judgeFits scores the rows of each split's fold with the models that have not seen them, in one
// pass over all rows.
func (r *featureRun) judgeFits(all []*fits, rec *record) error {
	info := r.prepared.Info()
	for _, f := range all {
		for _, c := range f.candidates {
			likely, joint := c.Config.Traits().Likely(&c.Config)
			f.judges = append(f.judges, newJudge(r.metric, info, likely, joint))
		}
	}
	var scores matrix.Dense
	err := r.each(nil, func(rows *train.MappedRows) error {
		for _, f := range all {
			var held []int
			for i := range rows.Z.Len() {
				if r.division.holds(r.division.Splits[f.split], rows.First+i) {
					held = append(held, i)
				}
			}
			if held == nil {
				continue
			}
			z := matrix.Pick(rows.Z, held)
			for m, model := range f.models {
				if model == nil {
					continue
				}
				scores.Reshape(len(held), info.Outputs)
				model.Scores(&scores, z)
				for e, i := range held {
					f.judges[m].add(rows, i, scores.Row(e))
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range all {
		for m, c := range f.candidates {
			v, err := 0.0, f.errs[m]
			if f.models[m] != nil {
				v, err = f.judges[m].value()
			}
			if err != nil {
				rec.Scores = append(rec.Scores, r.failed(c, f.split, err))
				continue
			}
			own := 0.0
			if f.seconds != nil {
				own = f.seconds[m]
			}
			rec.Scores = append(rec.Scores, score{Candidate: c.Index, Split: f.split, Value: v, Size: r.prepared.Dim(), Seconds: own})
		}
	}
	return nil
}
