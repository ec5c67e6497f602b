package model

import (
	"fmt"
	"math"
	"time"

	"mercer/dataset"
	"mercer/internal/random"
	"mercer/learn"
	"mercer/matrix"
	"mercer/moments"
)

var ridgeLearner = learner{
	name:    "ridge",
	about:   "ridge regression, also of classes; one pass, no memory for rows",
	tasks:   []string{"classify", "regress"},
	options: []string{"lambda"},
	memory:  (*fit).ridgeMemory,
	train:   (*fit).ridge,
}

// ridgeMemory is how many bytes of statistics a ridge regression holds.
func (f *fit) ridgeMemory(*dataset.Summary) (bytes float64, formula string) {
	d, k := float64(f.learnDim()), float64(f.m.info.Outputs)
	return 24*d*d + 16*d*k, "24·D² bytes"
}

// ridge trains the ridge learner in one pass. Unless λ is given, a seeded tenth of the rows
// goes into statistics of its own, which choose it.
func (f *fit) ridge(sum *dataset.Summary) error {
	d, k := f.learnDim(), f.m.info.Outputs
	main := moments.New(d, k)
	var held *moments.Stats
	if f.cfg.Lambda == 0 {
		held = moments.New(d, k)
	}
	y := make([]float64, chunk*k)
	var dense matrix.Dense
	err := f.each("train", func(b *matrix.Batch, z matrix.Rows) error {
		start := time.Now()
		defer func() { f.report.Solve += time.Since(start).Seconds() }()
		rows := z.Dense
		if z.CSR != nil {
			z.CSR.Densify(&dense)
			rows = &dense
		}
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
		return err
	}
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	f.progress("solve", 0, -1)
	linear, report, err := learn.FitRidge(main, held, learn.Ridge{Lambda: f.cfg.Lambda})
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.m.learned, f.m.info.Training.Ridge = linearModel{linear}, report
	return nil
}

// heldOut says whether a row is in the tenth that chooses λ.
func (f *fit) heldOut(held *moments.Stats, row int) bool {
	return held != nil && random.Hash(f.cfg.Seed, "held-out", uint64(row)) < math.MaxUint64/10
}
