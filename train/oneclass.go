package train

import (
	"fmt"
	"time"

	"mercer/dataset"
	"mercer/learn"
	"mercer/model"
)

// oneClassLearner finds the half-space that contains most rows, to detect outliers.
var oneClassLearner = Learner{
	name:    "one-class",
	tasks:   []string{"outliers"},
	options: []string{"outliers", "tolerance", "max-iter"},
	check:   (*Config).checkOneClass,
	memory:  (*fit).iteratedMemory,
	newton:  func(*Config) bool { return true },
	train:   (*fit).oneClass,
}

// oneClass maps all rows and trains on them.
func (f *fit) oneClass(sum *dataset.Summary) error {
	all, err := f.gatherFeatures(sum)
	if err != nil {
		return err
	}
	defer all.close()
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	maxIter, told := f.passes(sum)
	linear, report, err := learn.FitOneClass(f.ctx, all.z, all.weights, learn.OneClass{
		Outliers: f.cfg.Outliers, Tolerance: f.cfg.Tolerance, MaxIter: maxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) },
	})
	if err != nil {
		return err
	}
	told(report.Converged)
	f.learned, f.info.Training.Report = model.Linear{Linear: linear}, report
	return nil
}

// checkOneClass checks the options of one-class.
func (c *Config) checkOneClass() error {
	switch {
	case !(c.Outliers >= 0 && c.Outliers <= 1):
		return fmt.Errorf("outliers %g is not a share of the rows, above 0 and up to 1", c.Outliers)
	case c.calibrates():
		return fmt.Errorf("outliers have no probabilities; leave out calibrate")
	}
	return nil
}
