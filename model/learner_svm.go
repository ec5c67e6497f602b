package model

import (
	"time"

	"mercer/dataset"
	"mercer/learn"
)

var svmLearner = learner{
	name:    "svm",
	about:   "support vector machines, one class against the rest or all at once",
	tasks:   []string{"classify", "multilabel"},
	options: []string{"c", "loss", "multiclass", "tolerance", "max-iter"},
	losses:  []string{"squared_hinge", "hinge"},
	memory:  (*fit).iteratedMemory,
	train:   (*fit).svm,
}

// crammerSinger is the multiclass machine whose classes are one problem.
const crammerSinger = "crammer-singer"

// svm maps all rows and trains on them.
func (f *fit) svm(sum *dataset.Summary) error {
	all, err := f.gatherFeatures(sum)
	if err != nil {
		return err
	}
	defer all.close()
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	opt := learn.SVM{
		C: f.cfg.C, Loss: f.cfg.Loss, Tolerance: f.cfg.Tolerance, MaxIter: f.cfg.MaxIter, Seed: f.cfg.Seed,
		CrammerSinger: f.cfg.Multiclass == crammerSinger,
		Progress:      func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) },
	}
	if opt.CrammerSinger {
		opt.Loss = "hinge" // the only one
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
		if opt.C, path, err = learn.ChooseC(f.ctx, all.z, all.class, classes, all.weights, opt); err != nil {
			return err
		}
	}
	linear, report, err := learn.FitSVM(f.ctx, all.z, all.class, classes, all.weights, opt)
	if err != nil {
		return err
	}
	report.Path = path
	f.m.learned, f.m.info.Training.SVM = linearModel{linear.Outputs(f.m.info.Outputs)}, report
	return nil
}
