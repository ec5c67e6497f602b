package train

import (
	"fmt"

	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/model"
)

// OneClass are the options of the one-class machine of features.
type OneClass struct {
	// Outliers is ν, the largest share of rows that it may leave outside; 0 means 0.1.
	Outliers float64 `json:"outliers,omitempty"`

	// Tolerance and MaxIter are those of SVM.
	Tolerance float64 `json:"tolerance,omitempty" range:"positive"`
	MaxIter   int     `json:"max_iter,omitempty" range:"positive"`
}

func (OneClass) learner() string { return "one-class" }

// oneClassLearner finds the half-space that contains most rows, to detect outliers.
var oneClassLearner = Traits{
	name:    OneClass{}.learner(),
	tasks:   []string{"outliers"},
	options: OneClass{},
	help: map[string]*option.Phrase{
		"outliers": option.Phrasef("ν of one-class, of residual and of kernel-svm for outliers, the share of the rows that may lie outside " +
			"(default 0.1)"),
	},
	check:  checked((*OneClass).check),
	memory: (*job).iteratedMemory,
	newton: func(*Config) bool { return true },
	train:  (*job).oneClass,
}

// oneClass maps all rows and trains on them.
func (f *job) oneClass() (*solution, error) {
	all, err := f.gatherFeatures()
	if err != nil {
		return nil, err
	}
	defer all.close()
	defer timed(&f.report.Solve)()
	maxIter, told := f.passes()
	o := f.cfg.Learner.(OneClass)
	linear, report, err := learn.FitOneClass(f.ctx, all.z, all.weights, learn.OneClass{
		Outliers: o.Outliers, Tolerance: o.Tolerance, MaxIter: maxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*f.sum.Rows, share) },
	})
	if err != nil {
		return nil, err
	}
	told(report.Converged)
	return &solution{predictor: model.Linear{Linear: linear}, report: report}, nil
}

func (o *OneClass) check(c *Config) error { return c.checkOutliers(o.Outliers) }

// checkOutliers checks the share of rows that may lie outside.
func (c *Config) checkOutliers(share float64) error {
	switch {
	case !(share >= 0 && share <= 1):
		return fmt.Errorf("outliers %g is not a share of the rows, above 0 and up to 1", share)
	case c.calibrates():
		return fmt.Errorf("outliers have no probabilities; leave out calibrate")
	}
	return nil
}
