package tune

import (
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/train"
)

// fits are the models of some candidates, trained on the training rows of a split; nil for
// a candidate that could not be trained.
type fits struct {
	split      int
	candidates []*Candidate
	models     []*learn.Linear
	errs       []error
	seconds    []float64 // of each model, if known separately
}

// judgeFits scores the rows of each split's fold with the models that have not seen them, in one
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
				likely, joint := cfg.Traits().Likely(&cfg)
				b.judges = append(b.judges, newJudge(r.metric, r.prepared.Info(), likely, joint))
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

// join concatenates models of k outputs.
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
