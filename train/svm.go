package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/model"
)

// SVM are the options of support vector machines of features.
type SVM struct {
	// C weighs the losses against the penalty, ½‖w‖² or ‖w‖₁; 0 means that held-out rows choose it.
	C float64 `json:"c,omitempty" range:"positive"`

	// Loss is "squared_hinge" (or "") or "hinge".
	Loss string `json:"loss,omitempty"`

	// Multiclass says how to handle more than two classes: "ovr" (or ""), each class against the rest, or
	// "crammer-singer", all at once with the hinge loss.
	Multiclass string `json:"multiclass,omitempty"`

	// Penalty is "l2" (or "") or "l1", which leaves most weights at 0.
	Penalty string `json:"penalty,omitempty"`

	// Solver is "auto" (or ""), "dual" or "primal".
	Solver string `json:"solver,omitempty"`

	// Tolerance is the largest violation of the optimality conditions at which to stop; 0 means to stop at a duality gap of a
	// thousandth.
	Tolerance float64 `json:"tolerance,omitempty" range:"positive"`

	// MaxIter bounds the passes over the rows; 0 means the learner's default.
	MaxIter int `json:"max_iter,omitempty" range:"positive"`
}

func (SVM) learner() string { return "svm" }

// svmLosses are the losses of the svm, the default first.
var svmLosses = []string{"squared_hinge", "hinge"}

// svmLearner is support vector machines, one class against the rest or all at once.
var svmLearner = Traits{
	name:    SVM{}.learner(),
	tasks:   []string{"classify", "multilabel"},
	options: SVM{},
	help: map[string]*option.Phrase{
		"c": option.Phrasef("C of svm, svr and logistic (default: chosen on held-out rows); of kernel-svm (default 1); of online, " +
			"λ = 1/(C·rows)"),
		"loss": option.Phrasef("loss, of the svm: squared_hinge, hinge; of svr: squared_epsilon, epsilon; of online: logistic, hinge, " +
			"squared_hinge, squared for classes, squared, epsilon, quantile, huber for numbers (default: the first named for the learner)"),
		"multiclass": option.Phrasef("how several classes are told apart: ovr, each against the rest (default of svm and l1); " +
			"crammer-singer (svm) or multinomial (default of logistic), all at once; ovo (kernel-svm), every two"),
		"penalty": option.Phrasef("penalty of svm and logistic: l2, l1 (most weights are 0) (default l2)"),
		"solver": option.Phrasef("solver of svm, svr and logistic: auto, dual, primal " +
			"(default auto: primal for logistic, dual for the others)"),
		"tolerance": option.Phrasef("where iterations stop (default: the learner's; svm, svr and one-class at a duality gap of 0.1 %%)"),
		"max_iter":  option.Phrasef("most passes or iterations (default: the learner's)"),
	},
	check:  checked((*SVM).check),
	memory: (*job).svmMemory,
	passes: (*job).primalPasses,
	shared: func(c *Config) string {
		o := c.Learner.(SVM)
		if o.Penalty == "l1" || o.Multiclass == crammerSinger || o.Loss != "" && o.Loss != "squared_hinge" || o.Solver == "dual" {
			return ""
		}
		return "squared_hinge"
	},
	sharded: func(c *Config) { c.Set("solver", "primal") },

	primal: func(c *Config) bool { return c.Learner.(SVM).primal() },
	newton: func(c *Config) bool { return c.Learner.(SVM).Multiclass != crammerSinger },
	train:  (*job).svm,
	fix:    fixC,
	sharing: sharing{
		setting: "c",
		able: func(c *Config, task string) bool {
			o := As[SVM](c.Learner)
			return o.C > 0 && o.Penalty != "l1" && o.Solver != "primal" && task == "classify"
		},
		path: svmPath,
	},
	tried: tried{first: func(d Data) bool { return d.Task != "regress" && d.Classes <= manyClasses }},
}

// svmPath trains for each C, starting from the dual variables of the last.
func svmPath(ctx context.Context, rows *PathRows, info *model.Info, cfg *Config, cs []float64, solved func(i int, l *learn.Linear)) error {
	o := cfg.Learner.(SVM)
	opt := learn.SVM{
		Loss: o.Loss, Tolerance: o.Tolerance, MaxIter: o.MaxIter, Seed: cfg.Seed,
		CrammerSinger: o.Multiclass == crammerSinger,
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
		c.Set("c", r.C)
	case *learn.PrimalReport:
		c.Set("c", r.C)
	case *learn.L1Report:
		c.Set("c", r.C)
	}
}

// check checks the options. L1 penalties and the primal are for the
// squared hinge, one class against the rest.
func (o *SVM) check(c *Config) error {
	loss := choice{"loss", &o.Loss, svmLosses}
	if err := loss.known(o.learner()); err != nil {
		return err
	}
	for _, word := range []choice{
		{"penalty", &o.Penalty, []string{"l2", "l1"}},
		{"multiclass", &o.Multiclass, []string{"ovr", crammerSinger}},
		{"solver", &o.Solver, []string{"auto", "dual", "primal"}},
	} {
		if err := word.settle(o.learner()); err != nil {
			return err
		}
	}
	switch {
	case o.Multiclass == crammerSinger && c.Task == "multilabel":
		return fmt.Errorf("multiclass %s takes one class a row; of several labels a row each has a machine of its own", crammerSinger)
	case o.Multiclass == crammerSinger && o.Loss != "" && o.Loss != "hinge":
		return fmt.Errorf("multiclass %s has its own loss, hinge; leave out the loss %s", crammerSinger, o.Loss)
	case o.Multiclass == crammerSinger:
		o.Loss = "hinge"
	}
	switch {
	case !o.primal():
	case o.Penalty == "l1" && o.Solver == "dual":
		return errors.New("the penalty l1 has a solver of the primal only; leave out solver dual")
	case o.Loss != "" && o.Loss != "squared_hinge":
		return fmt.Errorf("the penalty l1 and the primal are for the loss squared_hinge, not for %s", o.Loss)
	case o.Multiclass != "ovr" || c.Task == "multilabel":
		return errors.New("the penalty l1 and the primal tell one class from the rest; leave out multiclass and labels of any number, " +
			"or take penalty l2 and the solver dual")
	}
	return loss.settle(o.learner())
}

// primal says whether a solver of the primal goes over the rows.
func (o SVM) primal() bool { return o.Penalty == "l1" || o.Solver == "primal" }

// choice is an option of a learner with few values, the default first.
type choice struct {
	name   string
	value  *string
	values []string
}

// settle fills in the default and rejects an unknown value.
func (o *choice) settle(learner string) error {
	if *o.value == "" {
		*o.value = o.values[0]
	}
	return o.known(learner)
}

// known rejects an unknown value.
func (o *choice) known(learner string) error {
	if *o.value = strings.ToLower(*o.value); *o.value != "" && !slices.Contains(o.values, *o.value) {
		return fmt.Errorf("the learner %s has no %s %q; it has %s", learner, o.name, *o.value, strings.Join(o.values, ", "))
	}
	return nil
}

func (f *job) svmMemory() (bytes float64, formula string) {
	if f.cfg.Learner.(SVM).primal() {
		return f.primalMemory()
	}
	return f.iteratedMemory()
}

// crammerSinger is the multiclass machine whose classes are one problem.
const crammerSinger = "crammer-singer"

// svm maps all rows and trains on them.
func (f *job) svm() (*solution, error) {
	all, err := f.gatherFeatures()
	if err != nil {
		return nil, err
	}
	defer all.close()
	o := f.cfg.Learner.(SVM)
	if o.primal() {
		return f.primal(all, "squared_hinge")
	}
	defer timed(&f.report.Solve)()
	maxIter, told := f.passes()
	opt := learn.SVM{
		C: o.C, Loss: o.Loss, Tolerance: o.Tolerance, MaxIter: maxIter, Seed: f.cfg.Seed,
		CrammerSinger: o.Multiclass == crammerSinger,
		Progress:      func(passes int, share float64) { f.progress("solve", passes*f.sum.Rows, share) },
	}
	if f.labels != nil {
		linear, report, err := f.svmLabels(all, opt)
		if err != nil {
			return nil, err
		}
		told(report.Converged)
		return &solution{predictor: model.Linear{Linear: linear}, report: report}, nil
	}
	var judged unseen
	if f.givesProbabilities() {
		opt.Judged = func(rows []int, scores []float32) {
			if len(scores) == 2*len(rows) && f.outputs == 1 { // as learn.Linear.Outputs has them
				for i := range rows {
					scores[i] = scores[2*i+1] - scores[2*i]
				}
				scores = scores[:len(rows)]
			}
			judged = f.unseenOf(all, rows, scores)
		}
	}
	linear, report, err := f.fitDual(all, opt)
	if err != nil {
		return nil, err
	}
	told(report.Converged)
	return &solution{predictor: model.Linear{Linear: linear}, report: report, judged: judged}, nil
}

// fitDual trains on gathered rows by dual coordinate descent, choosing C on held-out rows if it is
// not given.
func (f *job) fitDual(all *gathered, opt learn.SVM) (linear *learn.Linear, report *learn.SVMReport, err error) {
	classes := len(f.names)
	var path []learn.CPoint
	given := opt.C != 0
	if !given {
		chosen := timed(&f.report.Choose)
		opt.C, path, err = learn.ChooseC(f.ctx, all.z, all.class, classes, all.weights, opt)
		if chosen(); err != nil {
			return nil, nil, err
		}
	}
	if linear, report, err = learn.FitSVM(f.ctx, all.z, all.class, classes, all.weights, opt); err != nil {
		return nil, nil, err
	}
	report.Path, report.Usual = path, !given && path == nil
	return linear.Outputs(f.outputs), report, nil
}
