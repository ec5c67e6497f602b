package model

import (
	"math"
	"time"

	"mercer/internal/random"
	"mercer/matrix"
	"mercer/moments"
)

// statistics collects the moments of the features in one pass, for learners that need no more;
// if hold is set, those of a seeded tenth of the rows apart, to choose by. They are of
// principal components if those are asked for.
func (f *fit) statistics(hold bool) (main, held *moments.Stats, err error) {
	d, k := f.mapDim(), f.m.info.Outputs
	main = moments.New(d, k)
	if hold {
		held = moments.New(d, k)
	}
	y := make([]float64, chunk*k)
	var dense matrix.Dense
	err = f.each("train", func(b *matrix.Batch, z matrix.Rows) error {
		start := time.Now()
		defer func() { f.report.Solve += time.Since(start).Seconds() }()
		rows := densified(z, &dense)
		n := rows.Rows
		y := y[:n*k]
		if err := f.targets(b, y); err != nil {
			return err
		}
		for i := range n {
			into := main
			if f.heldOut(held, b.First+i) {
				into = held
			}
			into.AddRow(rows.Row(i), y[i*k:(i+1)*k], f.weight(b, i))
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return f.reduceStatistics(main, held)
}

// densified are the rows as they are if dense, else in work.
func densified(z matrix.Rows, work *matrix.Dense) *matrix.Dense {
	if z.CSR == nil {
		return z.Dense
	}
	z.CSR.Densify(work)
	return work
}

// heldOut says whether a row is in the tenth that chooses λ.
func (f *fit) heldOut(held *moments.Stats, row int) bool {
	return held != nil && random.Hash(f.cfg.Seed, "held-out", uint64(row)) < math.MaxUint64/10
}
