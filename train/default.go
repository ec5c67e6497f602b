package train

import (
	"fmt"
	"reflect"
	"strings"

	"mercer/internal/engine/units"
)

// The default, if nothing is asked for that it does not have, is rfm for tables with enough rows to hold some out. Rows are
// wide above wideRows dimensions. Then time grows with their size, which mostNumbers and widestRows bound: a training takes
// about ten minutes of one core at either. Wide rows of mostly zeros are pictures, texts or counts, for which features of
// the rbf kernel do better in less time; the zeros of categories do not count for that.
const (
	fewestRows   = 50
	wideRows     = 256
	widestRows   = 10_000
	mostNumbers  = 100_000_000
	mostOutputs  = 100
	densestShare = 0.5 // of numbers that are not 0, below which rows are mostly zeros
	sparseRows   = 100 // dimensions up to which rows that are read as sparse ones are a table all the same
)

// withoutKernel returns c without a kernel and the parameters of one.
func (c Config) withoutKernel() Config {
	c.Kernel.Name, c.Kernel.Degree, c.Kernel.Coef0, c.Kernel.Nu, c.Kernel.Homogeneity = "", 0, 0, 0, 0
	return c
}

// open says whether the configuration leaves kernel, map and learner to the data.
func (c Config) open() bool {
	if c.Quick || !c.automatic() || len(optionsOf(c.Learner)) > 0 || c.Bag != nil {
		return false
	}
	switch strings.ToLower(c.Task) {
	case "", "auto", "classify", "regress":
	default:
		return false
	}
	if c.Kernel.Name == "" {
		c = c.withoutKernel()
	}
	allowed := Config{Task: c.Task, Scale: c.Scale, Learner: c.Learner, Seed: c.Seed, ClassWeight: c.ClassWeight,
		Calibrate: Calibration{Method: c.Calibrate.Method, Folds: c.Calibrate.Folds}, Threshold: c.Threshold, Kernel: Kernel{Gamma: c.Kernel.Gamma}}
	return (c.Kernel.Gamma == "" || c.Kernel.Gamma == "median") && reflect.DeepEqual(c, allowed)
}

// Default returns c with the learner that is the default for such data, where c leaves kernel, map and learner
// to them and they are a table; ok is false otherwise.
func (d Data) Default(c Config) (with Config, ok bool) {
	if !c.open() || d.Task != "classify" && d.Task != "regress" || d.noTable() != "" {
		return c, false
	}
	c.Learner, c.Kernel.Gamma = RFM{}, ""
	return c.withoutKernel(), true
}

// noTable says why the learner of tables is not the default for such data, as a clause that follows its name; "" if it is.
func (d Data) noTable() string {
	switch {
	case d.Rows < fewestRows:
		return fmt.Sprintf("which wants %s rows to choose by", units.Count(fewestRows))
	case d.Classes > mostOutputs:
		return fmt.Sprintf("which is for up to %d outputs", mostOutputs)
	case d.Sparse && d.Density < densestShare && d.Dim > sparseRows:
		return "as rows of so many zeros are texts or counts rather than tables"
	case d.Dim <= wideRows:
		return ""
	case !d.Sparse && d.Numbers > wideRows && d.Filled < densestShare:
		return "as wide rows of so many zeros are pictures, texts or counts rather than tables"
	case d.Dim > widestRows:
		return fmt.Sprintf("as more than %s dimensions take it long", units.Count(widestRows))
	case d.Rows > mostNumbers/d.Dim:
		return fmt.Sprintf("as %s rows of %s dimensions take it long", units.Count(d.Rows), units.Count(d.Dim))
	}
	return ""
}

// dataOf is what the choice of a learner depends on.
func (f *problem) dataOf() Data {
	s := f.sum
	d := Data{Task: f.task, Rows: s.Rows, Classes: f.outputs, Dim: s.Dim, Sparse: s.Sparse, Density: s.Density()}
	d.Numbers, d.Filled = f.schema.Numbers(s)
	return d
}

// meansNeeded says that rows are a table if categories have mean targets in place of dimensions of their own, and otherwise too
// wide or too sparse for one.
func (f *problem) meansNeeded() bool {
	d := f.dataOf()
	narrow := d
	narrow.Dim, narrow.Sparse = f.schema.MeanDim(f.outputs), false
	return d.noTable() != "" && narrow.Dim < d.Dim && narrow.noTable() == "" && f.outputs <= mostMeanOutputs
}

// chooseDefault is the configuration with the learner rfm where nothing else was asked for and the rows suit it. Otherwise lacking says why not.
func (f *problem) chooseDefault() (cfg Config, lacking string, err error) {
	if f.bag != nil || f.opt.Unlabelled != nil || f.opt.Keep != nil {
		return f.cfg, "", nil
	}
	d, with := f.dataOf(), *f
	if f.meansNeeded() { // learnMeans will take means
		sum := *f.sum
		sum.Dim = f.schema.MeanDim(f.outputs)
		with.sum = &sum
		d.Dim, d.Sparse = sum.Dim, false
	}
	c, ok := d.Default(f.asked)
	if !ok {
		if f.asked.open() && (f.task == "classify" || f.task == "regress") {
			lacking = fmt.Sprintf("; not %s, %s (name it to have it)", rfmLearner.name, d.noTable())
		}
		return f.cfg, lacking, nil
	}
	if with.cfg, err = c.withDefaults(); err != nil {
		return with.cfg, "", err
	}
	if bytes, _ := with.rfmMemory(); f.opt.Memory > 0 && bytes > float64(f.opt.Memory) {
		return f.cfg, fmt.Sprintf("; %s would hold %s, of %s allowed: more memory allows it", rfmLearner.name, units.Bytes(bytes),
			units.Bytes(float64(f.opt.Memory))), nil
	}
	f.why["learner"] = "for a table"
	return with.cfg, "", nil
}

// auto is the learner of features, where the default learner is not taken: the svm or ridge, whichever has the given options.
func (f *job) auto() string {
	rows, _ := f.rowsMemory()
	statistics, _ := f.ridgeMemory()
	why := f.why
	switch {
	case f.classes == nil && f.labels == nil:
		why["learner"] = "for numbers to predict"
		return ridgeLearner.name
	case svmLearner.lacks(&f.cfg) != "" && ridgeLearner.lacks(&f.cfg) == "":
		why["learner"] = "for the option " + svmLearner.lacks(&f.cfg)
		return ridgeLearner.name
	case ridgeLearner.lacks(&f.cfg) != "":
		why["learner"] = "for the option " + ridgeLearner.lacks(&f.cfg)
		return svmLearner.name
	case rows > svmBytes && rows > statistics:
		why["learner"] = fmt.Sprintf("an svm would hold %.1f GB of features", rows/1e9)
		return ridgeLearner.name
	}
	why["learner"] = "for classes whose features fit into memory"
	return svmLearner.name
}

// svmBytes is the largest size of features on which the automatic choice trains an SVM. It is
// fixed so that a model does not depend on the machine.
const svmBytes = 2 << 30
