package train

import (
	"context"
	"errors"
	"fmt"

	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/model"
)

// SVR are the options of support vector regression of features.
type SVR struct {
	// C weighs the losses against the penalty ½‖w‖²; 0 means that held-out rows choose it.
	C float64 `json:"c,omitempty" range:"positive"`

	// Loss is "squared_epsilon" (or "") or "epsilon".
	Loss string `json:"loss,omitempty"`

	// Epsilon is half the width of the tube within which no error counts.
	Epsilon      float64 `json:"epsilon,omitempty"`
	EpsilonGiven bool    `json:"epsilon_given,omitempty" search:"no"`

	// Solver is "auto" (or ""), "dual" or "primal"; Tolerance and MaxIter are those of SVM.
	Solver    string  `json:"solver,omitempty"`
	Tolerance float64 `json:"tolerance,omitempty" range:"positive"`
	MaxIter   int     `json:"max_iter,omitempty" range:"positive"`
}

func (SVR) learner() string { return "svr" }

// svrLearner is support vector regression.
var svrLearner = Traits{
	name:    SVR{}.learner(),
	tasks:   []string{"regress"},
	options: SVR{},
	help: map[string]*option.Phrase{
		"epsilon": option.Phrasef("distance that costs nothing, of svr (default 0), of kernel-svm (default 0.1), " +
			"and of online with the loss epsilon (default 0)"),
	},
	check:  checked((*SVR).check),
	memory: (*job).iteratedMemory,
	newton: func(*Config) bool { return true },
	train:  (*job).svr,
	sharing: sharing{
		setting: "c",
		able:    func(c *Config, _ string) bool { o := As[SVR](c.Learner); return o.C > 0 && o.Solver != "primal" },
		path:    svrPath,
	},
}

// svrPath trains for each C.
func svrPath(ctx context.Context, rows *PathRows, info *model.Info, cfg *Config, cs []float64, solved func(i int, l *learn.Linear)) error {
	o := cfg.Learner.(SVR)
	opt := learn.SVR{Loss: o.Loss, Epsilon: o.Epsilon, Tolerance: o.Tolerance, MaxIter: o.MaxIter, Seed: cfg.Seed}
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

// check checks the options. The primal is for the squared loss.
func (o *SVR) check(*Config) error {
	loss := choice{"loss", &o.Loss, []string{"squared_epsilon", "epsilon"}}
	if err := loss.settle(o.learner()); err != nil {
		return err
	}
	solver := choice{"solver", &o.Solver, []string{"auto", "dual", "primal"}}
	if err := solver.settle(o.learner()); err != nil {
		return err
	}
	if o.Solver == "primal" && o.Loss == "epsilon" {
		return errors.New("the primal is for the loss squared_epsilon, not for epsilon; leave out one of them")
	}
	return nil
}

// svr maps all rows and trains on them.
func (f *job) svr() (*solution, error) {
	all, err := f.gatherFeatures()
	if err != nil {
		return nil, err
	}
	defer all.close()
	defer timed(&f.report.Solve)()
	maxIter, told := f.passes()
	o := f.cfg.Learner.(SVR)
	opt := learn.SVR{
		C: o.C, Loss: o.Loss, Epsilon: o.Epsilon, Tolerance: o.Tolerance, MaxIter: maxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*f.sum.Rows, share) },
	}
	var path []learn.CPoint
	if opt.C == 0 {
		chosen := timed(&f.report.Choose)
		opt.C, path, err = learn.ChooseSVRC(f.ctx, all.z, all.y, f.outputs, all.weights, opt)
		if chosen(); err != nil {
			return nil, err
		}
	}
	if o.Solver == "primal" {
		in := learn.Primal{C: opt.C, Epsilon: opt.Epsilon, Tolerance: opt.Tolerance, MaxIter: opt.MaxIter, Progress: opt.Progress}
		linear, report, err := learn.FitPrimalSVR(f.ctx, all.z, all.y, f.outputs, all.weights, in)
		if err != nil {
			return nil, f.located(err)
		}
		if len(path) > 0 {
			f.why["c"] = fmt.Sprintf("the best of %d on held-out rows", len(path))
		}
		return &solution{predictor: model.Linear{Linear: linear}, report: report}, nil
	}
	linear, report, err := learn.FitSVR(f.ctx, all.z, all.y, f.outputs, all.weights, opt)
	if err != nil {
		return nil, err
	}
	told(report.Converged)
	report.Path, report.Usual = path, o.C == 0 && path == nil
	return &solution{predictor: model.Linear{Linear: linear}, report: report}, nil
}
