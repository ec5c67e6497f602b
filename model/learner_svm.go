package model

import (
	"time"

	"mercer/dataset"
	"mercer/learn"
)

var svmLearner = learner{
	name:    "svm",
	about:   "support vector machines, one against all, on features in memory",
	tasks:   []string{"classify", "multilabel"},
	options: []string{"c", "loss", "tolerance", "max-iter"},
	losses:  []string{"squared_hinge", "hinge"},
	memory:  (*fit).rowsMemory,
	train:   (*fit).svm,
}

// svm maps all rows into memory and trains there.
func (f *fit) svm(sum *dataset.Summary) error {
	all, err := f.gather(sum)
	if err != nil {
		return err
	}
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	opt := learn.SVM{
		C: f.cfg.C, Loss: f.cfg.Loss, Tolerance: f.cfg.Tolerance, MaxIter: f.cfg.MaxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) },
	}
	if f.labels != nil {
		linear, report, err := f.svmLabels(all, opt)
		if err != nil {
			return err
		}
		f.m.learned, f.m.info.Training.SVM = linearModel{linear}, report
		return nil
	}
	classes := len(f.m.info.Classes)
	var path []learn.CPoint
	if opt.C == 0 {
		if opt.C, path, err = learn.ChooseC(f.ctx, learn.InMemory(all.x), all.class, classes, all.weights, opt); err != nil {
			return err
		}
	}
	linear, report, err := learn.FitSVM(f.ctx, learn.InMemory(all.x), all.class, classes, all.weights, opt)
	if err != nil {
		return err
	}
	report.Path = path
	f.m.learned, f.m.info.Training.SVM = linearModel{linear}, report
	return nil
}
