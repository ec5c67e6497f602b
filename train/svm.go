package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/learn"
	"mercer/model"
)

// svmLearner is support vector machines, one class against the rest or all at once.
var svmLearner = Learner{
	name:    "svm",
	tasks:   []string{"classify", "multilabel"},
	options: []string{"c", "loss", "multiclass", "penalty", "solver", "tolerance", "max-iter"},
	losses:  []string{"squared_hinge", "hinge"},
	check:   (*Config).checkSVM,
	memory:  (*fit).svmMemory,
	shared: func(c *Config) string {
		if c.Penalty == "l1" || c.Multiclass == crammerSinger || c.Loss != "" && c.Loss != "squared_hinge" || c.Solver == "dual" {
			return ""
		}
		return "squared_hinge"
	},
	newton: func(c *Config) bool { return c.Multiclass != crammerSinger },
	train:  (*fit).svm,
	fix:    fixC,
	sharing: sharing{
		setting: "c",
		able: func(c *Config, task string) bool {
			return c.C > 0 && c.Penalty != "l1" && c.Solver != "primal" && task == "classify"
		},
		path: svmPath,
	},
	tried: tried{first: func(d Data) bool { return d.Task != "regress" && d.Classes <= manyClasses }},
}

// svmPath trains for each C, starting from the dual variables of the last.
func svmPath(ctx context.Context, rows *PathRows, info *model.Info, cfg *Config, cs []float64, solved func(i int, l *learn.Linear)) error {
	opt := learn.SVM{
		Loss: cfg.Loss, Tolerance: cfg.Tolerance, MaxIter: cfg.MaxIter, Seed: cfg.Seed,
		CrammerSinger: cfg.Multiclass == crammerSinger,
	}
	next := 0
	return learn.SVMPath(ctx, rows.Z, rows.Class, len(info.Classes), rows.Weights, opt, cs, func(l *learn.Linear, _ *learn.SVMReport) error {
		solved(next, l.Outputs(info.Outputs))
		next++
		return nil
	})
}

// fixC fixes C as a training chose it.
func fixC(c *Config, r model.Report) {
	switch r := r.(type) {
	case *learn.SVMReport:
		c.C = r.C
	case *learn.PrimalReport:
		c.C = r.C
	case *learn.L1Report:
		c.C = r.C
	}
}

// checkSVM checks the options of the svm. L1 penalties and the primal are for the
// squared hinge, one class against the rest.
func (c *Config) checkSVM() error {
	for _, o := range []choice{
		{"penalty", &c.Penalty, []string{"l2", "l1"}},
		{"multiclass", &c.Multiclass, []string{"ovr", crammerSinger}},
		{"solver", &c.Solver, []string{"auto", "dual", "primal"}},
	} {
		if err := o.settle("svm"); err != nil {
			return err
		}
	}
	switch {
	case c.Multiclass == crammerSinger && c.Task == "multilabel":
		return fmt.Errorf("multiclass %s takes one class a row; of several labels a row each has a machine of its own", crammerSinger)
	case c.Multiclass == crammerSinger && c.Loss != "" && c.Loss != "hinge":
		return fmt.Errorf("multiclass %s has its own loss, hinge; leave out the loss %s", crammerSinger, c.Loss)
	case c.Multiclass == crammerSinger:
		c.Loss = "hinge"
	}
	if !c.primalSVM() {
		return nil
	}
	switch {
	case c.Penalty == "l1" && c.Solver == "dual":
		return errors.New("the penalty l1 has a solver of the primal only; leave out solver dual")
	case c.Loss != "" && c.Loss != "squared_hinge":
		return fmt.Errorf("the penalty l1 and the primal are for the loss squared_hinge, not for %s", c.Loss)
	case c.Multiclass != "ovr" || c.Task == "multilabel":
		return errors.New("the penalty l1 and the primal tell one class from the rest; leave out multiclass and labels of any number, " +
			"or take penalty l2 and the solver dual")
	}
	return nil
}

// primalSVM says whether the svm is solved in the primal.
func (c *Config) primalSVM() bool { return c.Penalty == "l1" || c.Solver == "primal" }

// primalSolver says whether a primal solver goes over the rows.
func (c *Config) primalSolver() bool {
	return c.primalSVM() || c.Learner == logisticName && c.Solver != "dual"
}

// choice is an option of a learner with few values, the default first.
type choice struct {
	name  string
	value *string
	known []string
}

// settle fills in the default and rejects an unknown value.
func (o *choice) settle(learner string) error {
	if *o.value == "" {
		*o.value = o.known[0]
	}
	if !slices.Contains(o.known, *o.value) {
		return fmt.Errorf("the learner %s has no %s %q; it has %s", learner, o.name, *o.value, strings.Join(o.known, ", "))
	}
	return nil
}

func (f *fit) svmMemory(sum *dataset.Summary) (bytes float64, formula string) {
	if f.cfg.primalSVM() {
		return f.primalMemory(sum)
	}
	return f.iteratedMemory(sum)
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
	if f.cfg.primalSVM() {
		return f.primal(sum, all, "squared_hinge")
	}
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	maxIter, told := f.passes(sum)
	opt := learn.SVM{
		C: f.cfg.C, Loss: f.cfg.Loss, Tolerance: f.cfg.Tolerance, MaxIter: maxIter, Seed: f.cfg.Seed,
		CrammerSinger: f.cfg.Multiclass == crammerSinger,
		Progress:      func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) },
	}
	if f.labels != nil {
		linear, report, err := f.svmLabels(all, opt)
		if err != nil {
			return err
		}
		told(report.Converged)
		f.learned, f.info.Training.Report = model.Linear{Linear: linear}, report
		return nil
	}
	linear, report, err := f.fitDual(all, opt)
	if err != nil {
		return err
	}
	told(report.Converged)
	f.learned, f.info.Training.Report = model.Linear{Linear: linear}, report
	return nil
}

// fitDual trains on gathered rows by dual coordinate descent, choosing C on held-out rows if it is
// not given.
func (f *fit) fitDual(all *gathered, opt learn.SVM) (linear *learn.Linear, report *learn.SVMReport, err error) {
	classes := len(f.info.Classes)
	var path []learn.CPoint
	if opt.C == 0 {
		chosen := f.choosing()
		opt.C, path, err = learn.ChooseC(f.ctx, all.z, all.class, classes, all.weights, opt)
		if chosen(); err != nil {
			return nil, nil, err
		}
	}
	if linear, report, err = learn.FitSVM(f.ctx, all.z, all.class, classes, all.weights, opt); err != nil {
		return nil, nil, err
	}
	report.Path, report.Usual = path, f.cfg.C == 0 && path == nil
	return linear.Outputs(f.info.Outputs), report, nil
}
