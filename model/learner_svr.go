package model

import (
	"time"

	"mercer/dataset"
	"mercer/learn"
)

var svrLearner = learner{
	name:    "svr",
	about:   "support vector regression",
	tasks:   []string{"regress"},
	options: []string{"c", "loss", "epsilon", "tolerance", "max-iter"},
	losses:  []string{"squared_epsilon", "epsilon"},
	memory:  (*fit).iteratedMemory,
	train:   (*fit).svr,
}

// svr maps all rows and trains on them.
func (f *fit) svr(sum *dataset.Summary) error {
	all, err := f.gatherFeatures(sum)
	if err != nil {
		return err
	}
	defer all.close()
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	opt := learn.SVR{
		C: f.cfg.C, Loss: f.cfg.Loss, Epsilon: f.cfg.Epsilon, Tolerance: f.cfg.Tolerance, MaxIter: f.cfg.MaxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) },
	}
	var path []learn.CPoint
	if opt.C == 0 {
		chosen := f.choosing()
		opt.C, path, err = learn.ChooseSVRC(f.ctx, all.z, all.y, f.m.info.Outputs, all.weights, opt)
		if chosen(); err != nil {
			return err
		}
	}
	linear, report, err := learn.FitSVR(f.ctx, all.z, all.y, f.m.info.Outputs, all.weights, opt)
	if err != nil {
		return err
	}
	report.Path, report.Usual = path, f.cfg.C == 0 && path == nil
	f.m.learned, f.m.info.Training.SVR = linearModel{linear}, report
	return nil
}
