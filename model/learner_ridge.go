package model

import (
	"fmt"
	"time"

	"mercer/dataset"
	"mercer/learn"
)

var ridgeLearner = learner{
	name:    "ridge",
	about:   "ridge regression, also of classes; one pass, no memory for rows",
	tasks:   []string{"classify", "regress"},
	options: []string{"lambda"},

	statistics: true,

	memory: (*fit).ridgeMemory,
	train:  (*fit).ridge,
}

// ridgeMemory is how many bytes of statistics a ridge regression holds.
func (f *fit) ridgeMemory(*dataset.Summary) (bytes float64, formula string) {
	d, k := float64(f.learnDim()), float64(f.m.info.Outputs)
	return 24*d*d + 16*d*k, "24·D² bytes"
}

// ridge trains the ridge learner in one pass. Unless λ is given, a seeded tenth of the rows
// goes into statistics of its own, which choose it.
func (f *fit) ridge(*dataset.Summary) error {
	main, held, err := f.statistics(f.cfg.Lambda == 0)
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
