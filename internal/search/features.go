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

// keptRows are mapped rows that are kept, in memory or in a file.
type keptRows struct {
	rows   matrix.Rows // in memory
	dense  matrix.Dense
	sparse matrix.CSR

	file *learn.FeatureFile // nil: in memory
	z    learn.Features

	class   []int
	y       []float64
	weights []float64 // that of classes included
	own     []float64 // the rows' own, nil: all 1
	uneven  bool      // some weight is not 1
	n       int
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
	p := r.prepared
	gathers, need := false, 0.0
	for _, j := range jobs {
		gathers = gathers || j.gathers
		if !j.gathers {
			need = max(need, r.statisticsBytes(p.Dim(), p.Info().Outputs, len(j.candidates)*len(j.splits)))
		}
	}
	fits := r.opt.Memory <= 0 || need+p.FeatureBytes()+r.rowBytes(p.Info().Outputs) <= float64(r.opt.Memory)
	if r.opt.Memory > 0 && need > float64(r.opt.Memory) {
		has, allowed := units.BytesApart(need, float64(r.opt.Memory))
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
	err := r.mapRows(progress, func(rows *train.MappedRows) error {
		if kept.n == 0 && !fits {
			var err error
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
	if kept.file != nil {
		if kept.z, err = kept.file.Features(); err != nil {
			return fatal{err}
		}
		return nil
	}
	if kept.rows = (matrix.Rows{Dense: &kept.dense}); kept.sparse.Rows > 0 {
		kept.rows = matrix.Rows{CSR: &kept.sparse}
	}
	kept.z = learn.InMemory(kept.rows)
	return nil
}

// add keeps some of the rows.
func (k *keptRows) add(rows *train.MappedRows, all int) error {
	n := rows.Z.Len()
	k.class, k.y, k.weights = append(k.class, rows.Class...), append(k.y, rows.Y...), append(k.weights, rows.Weights...)
	k.uneven = k.uneven || slices.ContainsFunc(rows.Weights, func(w float64) bool { return w != 1 })
	if rows.Batch.Weights != nil {
		k.own = append(k.own, rows.Batch.Weights...)
	}
	k.n += n
	switch {
	case k.file != nil:
		if err := k.file.Append(rows.Z); err != nil {
			return fatal{err}
		}
	case rows.Z.CSR != nil:
		s := &k.sparse
		if s.Ptr == nil {
			s.Ptr = []int{0}
		}
		for i := range n {
			idx, val := rows.Z.CSR.Row(i)
			s.Idx, s.Val = append(s.Idx, idx...), append(s.Val, val...)
			s.Ptr = append(s.Ptr, len(s.Idx))
		}
		s.Rows, s.Cols = s.Rows+n, rows.Z.Dim()
	default:
		d := &k.dense
		if d.Data == nil {
			d.Data = make([]float32, 0, all*rows.Z.Dim())
		}
		d.Cols, d.Stride = rows.Z.Dim(), rows.Z.Dim()
		for i := range n {
			d.Data = append(d.Data, rows.Z.Dense.Row(i)...)
		}
		d.Rows += n
	}
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
	outputs := len(k.y) / max(1, k.n)
	for i := 0; i < k.n; i += blockRows {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		j := min(i+blockRows, k.n)
		z, err := k.z.Block(i, j)
		if err != nil {
			return fatal{err}
		}
		rows := &train.MappedRows{First: i, Z: z, Batch: &matrix.Batch{First: i}, Y: k.y[i*outputs : j*outputs], Weights: k.weights[i:j]}
		if k.class != nil {
			rows.Class = k.class[i:j]
		}
		if k.own != nil {
			rows.Batch.Weights = k.own[i:j]
		}
		if err := body(rows); err != nil {
			return err
		}
		if progress != nil {
			progress(j, float64(j)/float64(k.n))
		}
	}
	return nil
}

// fromStatistics judges candidates of a learner that share statistics: each part of a repeat is collected
// once, each candidate is solved on the statistics of each split, and a second pass over the rows judges
// all of them.
func (r *featureRun) fromStatistics(j job, rec *record) error {
	for first := 0; first < len(j.splits); {
		repeat := r.division.Splits[j.splits[first]].Repeat
		last := first
		for last < len(j.splits) && r.division.Splits[j.splits[last]].Repeat == repeat {
			last++
		}
		all, err := r.fitRepeat(j.candidates, j.splits[first:last], repeat)
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

func (r *featureRun) fitRepeat(candidates []*Candidate, splits []int, repeat int) ([]*fits, error) {
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
	fit, err := candidates[0].Config.Traits().FitParts(parts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.src.Name(), err)
	}
	configs := make([]train.Config, len(candidates))
	for i, c := range candidates {
		configs[i] = c.Config
	}
	var all []*fits
	for n, i := range splits {
		f := &fits{split: i, candidates: candidates}
		f.models, f.errs = fit(r.ctx, r.division.Splits[i].Train, configs)
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
