package tune

import (
	"fmt"

	"mercer/internal/solve/moments"
	"mercer/matrix"
	"mercer/train"
)

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
