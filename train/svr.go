package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mercer/dataset"
	"mercer/learn"
	"mercer/model"
)

// svrLearner is support vector regression.
var svrLearner = Learner{
	name:    "svr",
	tasks:   []string{"regress"},
	options: []string{"c", "loss", "epsilon", "solver", "tolerance", "max-iter"},
	losses:  []string{"squared_epsilon", "epsilon"},
	check:   (*Config).checkSVR,
	memory:  (*fit).iteratedMemory,
	newton:  func(*Config) bool { return true },
	train:   (*fit).svr,
	sharing: sharing{
		setting: "c",
		able:    func(c *Config, _ string) bool { return c.C > 0 && c.Solver != "primal" },
		path:    svrPath,
	},
}

// svrPath trains for each C.
func svrPath(ctx context.Context, rows *PathRows, info *model.Info, cfg *Config, cs []float64, solved func(i int, l *learn.Linear)) error {
	opt := learn.SVR{Loss: cfg.Loss, Epsilon: cfg.Epsilon, Tolerance: cfg.Tolerance, MaxIter: cfg.MaxIter, Seed: cfg.Seed}
	for i, c := range cs {
		opt.C = c
		l, _, err := learn.FitSVR(ctx, rows.Z, rows.Y, info.Outputs, rows.Weights, opt)
		if err != nil {
			return err
		}
		solved(i, l)
	}
	return nil
}

// checkSVR checks the options of the svr. The primal is for the squared loss.
func (c *Config) checkSVR() error {
	solver := choice{"solver", &c.Solver, []string{"auto", "dual", "primal"}}
	if err := solver.settle("svr"); err != nil {
		return err
	}
	if c.Solver == "primal" && c.Loss == "epsilon" {
		return errors.New("the primal is for the loss squared_epsilon, not for epsilon; leave out one of them")
	}
	return nil
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
	maxIter, told := f.passes(sum)
	opt := learn.SVR{
		C: f.cfg.C, Loss: f.cfg.Loss, Epsilon: f.cfg.Epsilon, Tolerance: f.cfg.Tolerance, MaxIter: maxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) },
	}
	var path []learn.CPoint
	if opt.C == 0 {
		chosen := f.choosing()
		opt.C, path, err = learn.ChooseSVRC(f.ctx, all.z, all.y, f.info.Outputs, all.weights, opt)
		if chosen(); err != nil {
			return err
		}
	}
	if f.cfg.Solver == "primal" {
		in := learn.Primal{C: opt.C, Epsilon: opt.Epsilon, Tolerance: opt.Tolerance, MaxIter: opt.MaxIter, Progress: opt.Progress}
		linear, report, err := learn.FitPrimalSVR(f.ctx, all.z, all.y, f.info.Outputs, all.weights, in)
		if err != nil {
			return fmt.Errorf("%s: %w", f.src.Name(), err)
		}
		if len(path) > 0 {
			f.info.Training.Why["c"] = fmt.Sprintf("the best of %d on held-out rows", len(path))
		}
		f.learned, f.info.Training.Report = model.Linear{Linear: linear}, report
		return nil
	}
	linear, report, err := learn.FitSVR(f.ctx, all.z, all.y, f.info.Outputs, all.weights, opt)
	if err != nil {
		return err
	}
	told(report.Converged)
	report.Path, report.Usual = path, f.cfg.C == 0 && path == nil
	f.learned, f.info.Training.Report = model.Linear{Linear: linear}, report
	return nil
}
