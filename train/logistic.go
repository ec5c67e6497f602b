package train

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mercer/internal/solve/learn"
	"mercer/model"
)

// Logistic are the options of logistic regression.
type Logistic struct {
	// C weighs the losses against the penalty; 0 means that held-out rows choose it.
	C float64 `json:"c,omitempty" range:"positive"`

	// Multiclass says how to handle more than two classes: "multinomial" (or ""), all in one problem, or "ovr", each against the
	// rest, the default with l1.
	Multiclass string `json:"multiclass,omitempty"`

	// Penalty is "l2" (or "") or "l1", which leaves most weights at 0.
	Penalty string `json:"penalty,omitempty"`

	// Solver is "auto" (or ""), "dual" or "primal"; Tolerance and MaxIter say where it stops, 0 being its default.
	Solver    string  `json:"solver,omitempty"`
	Tolerance float64 `json:"tolerance,omitempty" range:"positive"`
	MaxIter   int     `json:"max_iter,omitempty" range:"positive"`
}

func (Logistic) learner() string { return "logistic" }

// logLoss is log(1 + exp(-y·s)), the loss of one class against the rest, by its name in learn.
const logLoss = "logistic"

// logisticLearner is logistic regression, whose scores are probabilities.
var logisticLearner = Traits{
	name:    Logistic{}.learner(),
	tasks:   []string{"classify", "multilabel"},
	options: Logistic{},
	check:   checked((*Logistic).check),
	primal:  func(c *Config) bool { o := c.Learner.(Logistic); return o.Penalty == "l1" || o.Solver != "dual" },
	memory:  (*job).primalMemory,
	train:   (*job).logistic,
	passes:  (*job).primalPasses,
	shared: func(c *Config) string {
		switch o := c.Learner.(Logistic); {
		case o.Penalty == "l1" || o.Solver == "dual":
			return ""
		case o.Multiclass == "ovr":
			return logLoss
		}
		return "multinomial"
	},
	fix:    fixC,
	likely: func(c *Config) (joint bool) { return As[Logistic](c.Learner).Multiclass != "ovr" },
	sharing: sharing{
		setting: "c",
		able: func(c *Config, task string) bool {
			o := As[Logistic](c.Learner)
			return o.C > 0 && o.Penalty != "l1" && o.Solver != "dual" && task == "classify"
		},
		path: logisticPath,
	},
	tried: tried{variants: func(c Config, d Data) []Config {
		if d.Task == "classify" && d.Classes <= manyClasses {
			return []Config{c}
		}
		return nil
	}},
}

// logisticPath trains for each C, starting from the weights of the last.
func logisticPath(ctx context.Context, rows *PathRows, info *model.Info, cfg *Config, cs []float64,
	solved func(i int, l *learn.Linear)) error {
	o := cfg.Learner.(Logistic)
	opt := learn.Primal{Loss: logLoss, Tolerance: o.Tolerance, MaxIter: o.MaxIter}
	if o.Multiclass == "multinomial" {
		opt.Loss = "multinomial"
	}
	for i, c := range cs {
		opt.C = c
		l, _, err := learn.FitPrimal(ctx, rows.Z, rows.Class, len(info.Classes), rows.Weights, opt)
		if err != nil {
			return err
		}
		solved(i, l)
		opt.Start = l
	}
	return nil
}

// check checks the options and fills in defaults. By default all classes
// are one problem, unless the penalty is l1, the solver dual, or a row may have several labels (which is
// known only with the task). The solver auto is primal: a pass of the dual reads the rows for one class at
// a time.
func (o *Logistic) check(c *Config) error {
	o.Penalty, o.Solver = strings.ToLower(o.Penalty), strings.ToLower(o.Solver)
	multiclass := []string{"multinomial", "ovr"}
	if o.Penalty == "l1" || o.Solver == "dual" || c.Task == "multilabel" {
		multiclass = []string{"ovr", "multinomial"}
	}
	for _, word := range []choice{
		{"penalty", &o.Penalty, []string{"l2", "l1"}},
		{"multiclass", &o.Multiclass, multiclass},
		{"solver", &o.Solver, []string{"auto", "primal", "dual"}},
	} {
		if word.name == "multiclass" && o.Multiclass == "" && c.Task == "auto" {
			continue
		}
		if err := word.settle(o.learner()); err != nil {
			return err
		}
	}
	switch {
	case c.Task == "multilabel" && o.Multiclass == "multinomial":
		return fmt.Errorf("multiclass multinomial takes one class a row; of several labels a row each has a regression of its own")
	case c.Task == "multilabel" && o.Penalty == "l1":
		return fmt.Errorf("the penalty l1 is for one class a row; take the penalty l2, or another learner such as lasso")
	case o.Penalty == "l1" && o.Multiclass == "multinomial":
		return errors.New("with the penalty l1, logistic takes each class against the rest; leave out multiclass multinomial, " +
			"or take the penalty l2")
	case o.Penalty == "l1" && o.Solver == "dual":
		return fmt.Errorf("the penalty l1 has a solver of the primal only; leave out solver dual")
	case o.Solver == "dual" && o.Multiclass == "multinomial":
		return fmt.Errorf("the dual of logistic takes each class against the rest; leave out multiclass multinomial, or solver dual")
	}
	return nil
}

// logistic maps all rows into memory and trains there.
func (f *job) logistic() (*solution, error) {
	all, err := f.gatherFeatures()
	if err != nil {
		return nil, err
	}
	defer all.close()
	o := f.cfg.Learner.(Logistic)
	if o.Solver == "dual" {
		return f.dual(all)
	}
	loss := logLoss
	if o.Multiclass == "multinomial" {
		loss = "multinomial"
	}
	return f.primal(all, loss)
}

// likely is what a linear learner came to whose scores may be those of a logistic regression.
func (f *job) likely(l *learn.Linear, report model.Report) *solution {
	s := &solution{report: report}
	info := f.info(s)
	s.predictor = model.Likely(model.Linear{Linear: l}, &info)
	return s
}

// dual trains by dual coordinate descent.
func (f *job) dual(all *gathered) (*solution, error) {
	defer timed(&f.report.Solve)()
	o := f.cfg.Learner.(Logistic)
	choose := learn.Primal{Loss: logLoss, C: o.C}
	path, err := f.primalC(all, &choose)
	if err != nil {
		return nil, err
	}
	opt := learn.SVM{
		C: choose.C, Loss: logLoss, Tolerance: o.Tolerance, MaxIter: o.MaxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*f.sum.Rows, share) },
	}
	train := f.fitDual
	if f.labels != nil {
		train = f.svmLabels
	}
	linear, report, err := train(all, opt)
	if err != nil {
		return nil, err
	}
	for _, t := range path {
		report.Path = append(report.Path, learn.CPoint{C: t.C, Error: t.Error, Chosen: t.Chosen})
	}
	report.Usual = o.C == 0 && path == nil
	return f.likely(linear, report), nil
}

// primal trains a linear classifier on gathered rows in the primal, with the loss logistic,
// squared_hinge or, with the penalty l2, multinomial; for multiple labels with logistic.
func (f *job) primal(all *gathered, loss string) (*solution, error) {
	defer timed(&f.report.Solve)()
	z, classes := all.z, len(f.names)
	var linear *learn.Linear
	var path []learn.Trial
	var err error
	o := As[SVM](f.cfg.Learner) // or those of the logistic regression
	if o.Penalty == "l1" {
		opt := learn.L1{Loss: loss, C: o.C, Tolerance: o.Tolerance, MaxIter: o.MaxIter, Seed: f.cfg.Seed}
		opt.Progress = func(outputs int, share float64) { f.progress("solve", f.sum.Rows, share) }
		if opt.C == 0 {
			chosen := timed(&f.report.Choose)
			opt.C, path, err = learn.ChooseL1C(f.ctx, z, all.class, classes, all.weights, opt)
			if chosen(); err != nil {
				return nil, err
			}
		}
		var report *learn.L1Report
		if linear, report, err = learn.FitL1(f.ctx, z, all.class, classes, all.weights, opt); err != nil {
			return nil, f.located(err)
		}
		report.Path = path
		return f.likely(linear, report), nil
	}

	opt := learn.Primal{Loss: loss, C: o.C, Tolerance: o.Tolerance, MaxIter: o.MaxIter}
	opt.Progress = func(passes int, share float64) { f.progress("solve", passes*f.sum.Rows, share) }
	if path, err = f.primalC(all, &opt); err != nil {
		return nil, err
	}
	var report *learn.PrimalReport
	if f.labels != nil {
		linear, report, err = learn.FitPrimalLabels(f.ctx, z, all.y, f.outputs, all.weights, opt)
	} else {
		linear, report, err = learn.FitPrimal(f.ctx, z, all.class, classes, all.weights, opt)
	}
	if err != nil {
		return nil, f.located(err)
	}
	report.Path = path
	return f.likely(linear, report), nil
}

// primalC chooses C if it is not given, by the log-loss of held-out rows, or their error with
// squared_hinge. For multiple labels, one label chooses for all.
func (f *job) primalC(all *gathered, opt *learn.Primal) (path []learn.Trial, err error) {
	if opt.C != 0 {
		return nil, nil
	}
	defer timed(&f.report.Choose)()
	class, classes := all.class, len(f.names)
	if f.labels != nil {
		if class, classes = f.middleLabel(all), 2; class == nil {
			opt.C = 1
			return nil, nil
		}
	}
	opt.C, path, err = learn.ChoosePrimalC(f.ctx, all.z, class, classes, all.weights, *opt, f.cfg.Seed)
	return path, err
}

// primalMemory is the number of bytes that a primal solver holds: the features, with an L1 penalty
// also by columns, and its state for each row and output.
func (f *job) primalMemory() (bytes float64, formula string) {
	if As[SVM](f.cfg.Learner).Penalty != "l1" {
		return f.iteratedMemory()
	}
	n, d, k := float64(f.sum.Rows), float64(f.learnDim()), float64(f.outputs)
	bytes, _ = f.rowsMemory()
	return 2*bytes + 84*n + 16*d*k, "8·n·D bytes"
}
