package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/learn"
	"mercer/reduce"
)

var logisticLearner = learner{
	name:    "logistic",
	about:   "logistic regression, whose scores are probabilities, on features in memory",
	tasks:   []string{"classify"},
	options: []string{"c", "multiclass", "penalty", "solver", "tolerance", "max-iter"},
	check:   (*Config).checkLogistic,
	memory:  (*fit).primalMemory,
	train:   (*fit).logistic,
}

// checkLogistic finds what is wrong with the options of logistic regression and gives those
// that are not given their usual values: all classes in one problem, unless the penalty is l1 or
// the solver dual. auto is primal: a pass of the dual reads the rows for one class at a time.
func (c *Config) checkLogistic() error {
	usual := "multinomial"
	if c.Penalty == "l1" || c.Solver == "dual" {
		usual = "ovr"
	}
	for _, o := range []struct {
		name  string
		value *string
		known []string
	}{
		{"penalty", &c.Penalty, []string{"l2", "l1"}},
		{"multiclass", &c.Multiclass, []string{usual, "multinomial", "ovr"}},
		{"solver", &c.Solver, []string{"auto", "primal", "dual"}},
	} {
		if *o.value == "" {
			*o.value = o.known[0]
		}
		if !slices.Contains(o.known, *o.value) {
			return fmt.Errorf("the learner logistic has no %s %q; it has %s", o.name, *o.value, strings.Join(o.known, ", "))
		}
	}
	if c.Penalty == "l1" && c.Multiclass == "multinomial" {
		return fmt.Errorf("with the penalty l1, logistic takes each class against the rest; leave out multiclass multinomial, or take the penalty l2")
	}
	if c.Solver == "dual" && (c.Penalty == "l1" || c.Multiclass == "multinomial") {
		return fmt.Errorf("the solver dual takes each class against the rest, and the penalty l2; leave out solver dual, or multiclass and penalty")
	}
	return nil
}

// logistic maps all rows into memory and trains there.
func (f *fit) logistic(sum *dataset.Summary) error {
	all, err := f.gather(sum)
	if err != nil {
		return err
	}
	loss := "logistic"
	if f.cfg.Multiclass == "multinomial" {
		loss = "multinomial"
	}
	if f.cfg.Solver == "dual" {
		return f.logisticDual(sum, all)
	}
	return f.primal(sum, all, loss)
}

// logisticDual trains each class against the rest by dual coordinate descent.
func (f *fit) logisticDual(sum *dataset.Summary, all *gathered) error {
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	z, classes := learn.InMemory(all.x), len(f.m.info.Classes)
	opt := learn.SVM{
		C: f.cfg.C, Loss: "logistic", Tolerance: f.cfg.Tolerance, MaxIter: f.cfg.MaxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) },
	}
	var path []learn.Trial
	var err error
	if opt.C == 0 {
		if opt.C, path, err = learn.ChoosePrimalC(f.ctx, z, all.class, classes, all.weights, learn.Primal{Loss: "logistic"}, f.cfg.Seed); err != nil {
			return err
		}
	}
	linear, report, err := learn.FitSVM(f.ctx, z, all.class, classes, all.weights, opt)
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	for _, t := range path {
		report.Path = append(report.Path, learn.CPoint{C: t.C, Error: t.Error, Chosen: t.Chosen})
	}
	f.m.info.Training.SVM = report
	f.m.learned = f.m.lossModel(linearModel{linear})
	return nil
}

// primal trains a linear classifier on gathered rows in the primal: with the loss logistic,
// squared_hinge or, with the penalty l2, multinomial.
func (f *fit) primal(sum *dataset.Summary, all *gathered, loss string) error {
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	z, classes, training := learn.InMemory(all.x), len(f.m.info.Classes), &f.m.info.Training
	var linear *learn.Linear
	var path []learn.Trial
	var err error
	if f.cfg.Penalty == "l1" {
		opt := learn.L1{Loss: loss, C: f.cfg.C, Tolerance: f.cfg.Tolerance, MaxIter: f.cfg.MaxIter, Seed: f.cfg.Seed}
		opt.Progress = func(outputs int, share float64) { f.progress("solve", sum.Rows, share) }
		if opt.C == 0 {
			if opt.C, path, err = learn.ChooseL1C(f.ctx, z, all.class, classes, all.weights, opt); err != nil {
				return err
			}
		}
		if linear, training.L1, err = learn.FitL1(f.ctx, z, all.class, classes, all.weights, opt); err != nil {
			return fmt.Errorf("%s: %w", f.src.Name(), err)
		}
		training.L1.Path = path
	} else {
		opt := learn.Primal{Loss: loss, C: f.cfg.C, Tolerance: f.cfg.Tolerance, MaxIter: f.cfg.MaxIter}
		opt.Progress = func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) }
		if opt.C == 0 {
			if opt.C, path, err = learn.ChoosePrimalC(f.ctx, z, all.class, classes, all.weights, opt, f.cfg.Seed); err != nil {
				return err
			}
		}
		if linear, training.Primal, err = learn.FitPrimal(f.ctx, z, all.class, classes, all.weights, opt); err != nil {
			return fmt.Errorf("%s: %w", f.src.Name(), err)
		}
		training.Primal.Path = path
	}
	f.m.learned = f.m.lossModel(linearModel{linear})
	return nil
}

// lossModel is the predictor of a linear model: if its loss was logistic, its scores stand for
// probabilities.
func (m *Model) lossModel(l linearModel) predictor {
	loss := ""
	switch t := &m.info.Training; {
	case t.Primal != nil:
		loss = t.Primal.Loss
	case t.L1 != nil:
		loss = t.L1.Loss
	case t.SVM != nil:
		loss = t.SVM.Loss
	}
	switch loss {
	case "logistic", "multinomial":
		return logisticModel{l, loss == "multinomial"}
	}
	return l
}

// logisticModel is the predictor of logistic regression.
type logisticModel struct {
	linearModel
	joint bool // all classes in one problem
}

// probabilities are those of learn.Probabilities.
func (l logisticModel) probabilities(dst []float64, scores []float32) bool {
	learn.Probabilities(dst, scores, l.joint)
	return true
}

func (l logisticModel) folded(p *reduce.Projection) predictor {
	return logisticModel{l.linearModel.folded(p).(linearModel), l.joint}
}

// primalMemory is how many bytes a solver in the primal holds: the features, with an L1 penalty
// by columns too, and what it keeps of each row and output.
func (f *fit) primalMemory(sum *dataset.Summary) (bytes float64, formula string) {
	n, d, k := float64(sum.Rows), float64(f.learnDim()), float64(f.m.info.Outputs)
	bytes, _ = f.rowsMemory(sum)
	if f.cfg.Penalty == "l1" {
		return 2*bytes + 84*n + 16*d*k, "8·n·D bytes"
	}
	return bytes + (4*k+16)*n + 192*d*k, "4·n·D bytes"
}
