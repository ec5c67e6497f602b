package train

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/solve/exact"
	"mercer/kernel"
	"mercer/model"
)

// KernelSVM are the options of support vector machines with the kernel itself.
type KernelSVM struct {
	// C weighs the losses; 0 means 1.
	C float64 `json:"c,omitempty" range:"positive"`

	// Epsilon is half the width of the tube within which a regression counts no error. 0 means 0.1 unless EpsilonGiven is set.
	Epsilon      float64 `json:"epsilon,omitempty"`
	EpsilonGiven bool    `json:"epsilon_given,omitempty" search:"no"`

	// Nu is ν in (0, 1]. It replaces C for classification and Epsilon for
	// regression. At least this share of the rows are support vectors, and at most this share lie within
	// the margin or outside the tube. 0 means C and Epsilon.
	Nu float64 `json:"svm_nu,omitempty" range:"share"`

	// Multiclass says how to handle more than two classes: "ovo" (or ""), a machine for each
	// pair of classes, which vote, or "ovr", each class against the rest.
	Multiclass string `json:"multiclass,omitempty"`

	// Outliers is the share of rows that may lie outside, for the task of that name; 0 means 0.1.
	Outliers float64 `json:"outliers,omitempty"`

	// Tolerance and MaxIter say where iterations stop, 0 being their defaults.
	Tolerance float64 `json:"tolerance,omitempty" range:"positive"`
	MaxIter   int     `json:"max_iter,omitempty" range:"positive"`

	Predict Prediction
}

func (KernelSVM) learner() string { return "kernel-svm" }

// kernelSVMLearner is support vector machines with the kernel itself, by sequential minimal optimisation;
// time grows like n² or faster.
var kernelSVMLearner = Traits{
	name:    KernelSVM{}.learner(),
	tasks:   []string{"classify", "regress", "outliers"},
	options: KernelSVM{},
	help: map[string]*option.Phrase{
		"svm_nu": option.Phrasef("ν of kernel-svm, in place of %s for classes and of %s for numbers: the least share of the rows "+
			"that become support vectors, above 0 and up to 1 (-n of svm-train)", option.Ref("c"), option.Ref("epsilon")),
	},
	exact:   true,
	check:   checked((*KernelSVM).check),
	memory:  (*job).kernelSVMMemory,
	train:   (*job).kernelSVM,
	sharing: sharing{setting: "c"},
	tried: tried{variants: func(c Config, d Data) (all []Config) {
		_, local := kernel.Kernel{Name: c.Kernel.Name}.Falling()
		if d.Rows > 10_000 || d.Task != "classify" || d.Classes > manyClasses || !local {
			return nil
		}
		for _, weight := range []float64{1, 10, 100} { // it does not choose C itself
			c.Set("c", weight)
			all = append(all, c)
		}
		return all
	}},
}

// ExactSVM is the learner that approximations are compared with: support vector machines with the
// kernel itself.
func ExactSVM() *Traits { return LearnerOf(kernelSVMLearner.name) }

// check rejects values that the learner does not support.
func (o *KernelSVM) check(c *Config) error {
	o.Multiclass = strings.ToLower(o.Multiclass)
	if o.Multiclass != "" && o.Multiclass != "ovo" && o.Multiclass != "ovr" {
		return fmt.Errorf("the learner kernel-svm has no multiclass %q; it has ovo, ovr", o.Multiclass)
	}
	if o.Outliers != 0 && c.Task != "outliers" {
		return errors.New("the learner kernel-svm has the option outliers only for detecting them; give the task outliers as well")
	}
	if !(o.Epsilon >= 0) {
		return fmt.Errorf("epsilon %g is not a number of 0 or more", o.Epsilon)
	}
	if !(o.Nu >= 0 && o.Nu <= 1) {
		return fmt.Errorf("svm-nu %g is not a number above 0 and up to 1", o.Nu)
	}
	epsilon := o.Epsilon != 0 || o.EpsilonGiven
	switch {
	case c.Task == "outliers" && o.Nu != 0:
		return errors.New("svm-nu is for classes and for numbers to predict; the share of outliers is called outliers")
	case c.Task == "classify" && o.Nu != 0 && o.C != 0:
		return errors.New("svm-nu takes the place of c; leave out one of them")
	case c.Task == "regress" && o.Nu != 0 && epsilon:
		return errors.New("svm-nu chooses epsilon; leave out one of them")
	case c.Task == "outliers" && (o.C != 0 || epsilon || o.Multiclass != ""):
		return errors.New("outliers are detected by their share; leave out c, epsilon and multiclass")
	case c.Task == "outliers":
		return c.checkOutliers(o.Outliers)
	case c.Task == "classify" && (epsilon || o.Outliers != 0):
		return errors.New("epsilon is for numbers to predict and outliers for one class; the labels are classes")
	case c.Task == "regress" && (o.Multiclass != "" || o.Outliers != 0):
		return errors.New("multiclass is for classes and outliers for one class; the labels are numbers to predict")
	}
	return nil
}

// kernelSVMBytes bounds the memory for rows of the Gram matrix and everything else except the
// data. It is fixed so that a model does not depend on the machine:
// if it cannot hold all the rows that are requested, the solver takes a different path.
const kernelSVMBytes = 2 << 30

// kernelSVMMemory is the number of bytes that the training holds.
func (f *job) kernelSVMMemory() (bytes float64, formula string) {
	rows, _ := f.rowsMemory()
	rows += f.lookupMemory()
	bytes, formula = rows+float64(f.kernelSVMRoom()), "rows, and 4·n² + 8·n·D, or 2 GiB if that is less, or 2048·n if that is more"
	if k := f.outputs; f.task == "regress" && k > 1 {
		return bytes + 20*float64(f.sum.Rows)*float64(k), formula + ", and 20·n·K"
	}
	return bytes, formula
}

// kernelSVMRoom is the number of bytes that it holds besides the rows.
func (f *job) kernelSVMRoom() int64 {
	least, most := exact.SVMMemory(f.sum.Rows, f.learnDim(), f.sum.Sparse && f.pipe.KeepsSparse())
	return min(most+4*int64(f.sum.Rows)*int64(f.learnDim()), max(least, kernelSVMBytes))
}

// kernelSVM trains on all rows.
func (f *job) kernelSVM() (*solution, error) {
	all, err := f.gather()
	if err != nil {
		return nil, err
	}
	defer timed(&f.report.Solve)()
	o := f.cfg.Learner.(KernelSVM)
	opt := exact.SVM{
		C: o.C, Nu: o.Nu, Epsilon: o.Epsilon, Weights: all.weights, Multiclass: o.Multiclass,
		Tolerance: o.Tolerance, MaxSteps: o.MaxIter, Memory: f.kernelSVMRoom(),
		Progress: func(machine, machines int, violation float64) {
			f.progress("solve", f.sum.Rows*machine/machines, float64(machine)/float64(machines))
		},
	}
	k := *f.pipe.Kernel()
	var s solution
	switch {
	case f.task == "outliers":
		if opt.Nu = o.Outliers; opt.Nu == 0 {
			opt.Nu = 0.1
		}
		var machine *exact.Machine
		if machine, s.report, err = exact.FitOneClass(f.ctx, k, all.x, opt); err == nil {
			s.predictor, err = f.cfg.predictor(machine)
		}
	case f.classes == nil:
		s.predictor, s.report, err = f.kernelSVR(all, opt)
	default:
		var c *exact.Classifier
		if err = f.checkNu(all); err != nil {
			break
		}
		if c, s.report, err = exact.FitSVC(f.ctx, k, all.x, all.class, len(f.names), opt); err == nil {
			s.predictor, err = f.classifier(c, s.report)
		}
	}
	if err != nil {
		return nil, f.located(err)
	}
	return &s, nil
}

// checkNu rejects classes for which ν-SVC has no solution, and names them by their labels.
func (f *problem) checkNu(all *gathered) error {
	o := f.cfg.Learner.(KernelSVM)
	if o.Nu == 0 {
		return nil
	}
	sums := make([]float64, len(f.names))
	for i, c := range all.class {
		w := 1.0
		if all.weights != nil {
			w = all.weights[i]
		}
		sums[c] += w
	}
	most, class, against := exact.MostNu(sums, o.Multiclass)
	if o.Nu <= most*(1+1e-12) {
		return nil
	}
	name, other, sum := f.names[class], "all others", -sums[class]
	for _, s := range sums {
		sum += s
	}
	if against >= 0 {
		other, sum = f.names[against], sums[against]
	}
	unit := "rows"
	if all.weights != nil {
		unit = "in weight"
	}
	return fmt.Errorf("svm-nu is %g, but the classes %s and %s, %.6g and %.6g %s, allow %.4g at most; give less, "+
		"or a class-weight that balances them",
		o.Nu, name, other, sums[class], sum, unit, math.Floor(1e4*most)/1e4)
}

// kernelSVR trains a regression, one machine per target.
func (f *job) kernelSVR(all *gathered, opt exact.SVM) (model.Predictor, *exact.SVMReport, error) {
	if opt.Epsilon == 0 && !f.cfg.Learner.(KernelSVM).EpsilonGiven {
		opt.Epsilon = 0.1
		f.inUnitOfTargets(&opt)
	}
	machine, report, err := exact.FitSVR(f.ctx, *f.pipe.Kernel(), all.x, all.y, f.outputs, opt)
	if err != nil {
		return nil, nil, err
	}
	p, err := f.cfg.predictor(machine)
	return p, report, err
}

// inUnitOfTargets counts the usual C, ε and tolerance in the deviation of targets that is far from 1, for which LIBSVM's are constants
// of no meaning.
func (f *job) inUnitOfTargets(opt *exact.SVM) {
	largest := 0.0
	for t := range f.outputs {
		_, deviation := f.sum.Target(t)
		largest = max(largest, deviation)
	}
	if opt.C != 0 || opt.Nu != 0 || opt.Tolerance != 0 || !(largest > 0) || math.IsInf(largest, 0) || math.Abs(math.Log2(largest)) <= 10 {
		return
	}
	opt.C, opt.Epsilon, opt.Tolerance = largest, opt.Epsilon*largest, 1e-3*largest
}

// classifier makes the predictor of a classifier. With two classes the machine scores the second, so
// its signs are flipped; the outputs of ovr are used as scores; those of ovo vote.
func (f *job) classifier(c *exact.Classifier, report model.Report) (model.Predictor, error) {
	machine := c.Machine()
	if c.Classes() == 2 {
		var err error
		machine, err = exact.NewMachine(machine.Kernel(), machine.Rows(), negated(machine.Alpha()), negated(machine.Intercepts()))
		if err != nil {
			return nil, err
		}
	}
	p, err := f.cfg.predictor(machine)
	info := f.info(&solution{report: report})
	if err != nil || !model.Votes(&info) {
		return p, err
	}
	return model.NewVotes(p, c.Classes()), nil
}

func negated(v []float64) []float64 {
	n := make([]float64, len(v))
	for i, x := range v {
		n[i] = 0 - x // no -0
	}
	return n
}
