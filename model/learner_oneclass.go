package model

import (
	"fmt"
	"time"

	"mercer/dataset"
	"mercer/learn"
)

var oneClassLearner = learner{
	name:    "one-class",
	about:   "the half-space that most rows are in, which tells outliers",
	tasks:   []string{"outliers"},
	options: []string{"outliers", "tolerance", "max-iter"},
	check:   (*Config).checkOneClass,
	memory:  (*fit).iteratedMemory,
	train:   (*fit).oneClass,
}

// outlierClasses are what a one-class model predicts: -1 of an outlier, 1 of all other rows.
var outlierClasses = []string{"-1", "1"}

// chooseOutliers starts a model that tells outliers. Labels play no part in it.
func (f *fit) chooseOutliers() error {
	if f.cfg.ClassWeight != "" {
		return fmt.Errorf("%s: class weights are for classes, and telling outliers knows none", f.src.Name())
	}
	f.m.info.Task, f.m.info.Classes, f.m.info.Outputs = "outliers", outlierClasses, 1
	f.m.info.Training.Why["task"] = "as asked"
	if f.cfg.Task != "outliers" {
		f.m.info.Training.Why["task"] = "of the learner"
	}
	return nil
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
	linear, report, err := learn.FitOneClass(f.ctx, all.z, all.weights, learn.OneClass{
		Outliers: f.cfg.Outliers, Tolerance: f.cfg.Tolerance, MaxIter: f.cfg.MaxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) },
	})
	if err != nil {
		return err
	}
	f.m.learned, f.m.info.Training.OneClass = linearModel{linear}, report
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
