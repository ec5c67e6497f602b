package train

import (
	"fmt"
	"time"

	"mercer/dataset"
)

// choosing adds the time until the returned function is called to the time spent choosing.
func (f *fit) choosing() func() {
	start := time.Now()
	return func() { f.report.Choose += time.Since(start).Seconds() }
}

// choose resolves the learner "auto": the svm or ridge, whichever has the given
// options.
func (f *fit) choose() error {
	if f.cfg.Learner == "auto" {
		f.cfg.Learner = f.auto(f.sum)
		f.info.Training.Why["learner"] += f.lacking
	}
	// Now the task is known, and some options do not go with it.
	c := f.cfg
	c.Task = f.info.Task
	if err := c.checkLearner(); err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	c.Task, f.cfg = f.cfg.Task, c
	f.learner = LearnerOf(f.cfg.Learner)
	f.info.Training.Learner = f.learner.name
	if f.cfg.Loss == "" && f.learner.losses != nil && !f.learner.byTask {
		f.cfg.Loss = f.learner.losses[0]
	}
	return nil
}

func (f *fit) auto(sum *dataset.Summary) string {
	rows, _ := f.rowsMemory(sum)
	statistics, _ := f.ridgeMemory(sum)
	why := f.info.Training.Why
	switch {
	case f.classes == nil && f.labels == nil:
		why["learner"] = "for numbers to predict"
		return "ridge"
	case svmLearner.lacks(&f.cfg) != "" && ridgeLearner.lacks(&f.cfg) == "":
		why["learner"] = "for the option " + svmLearner.lacks(&f.cfg)
		return "ridge"
	case ridgeLearner.lacks(&f.cfg) != "":
		why["learner"] = "for the option " + ridgeLearner.lacks(&f.cfg)
		return "svm"
	case rows > svmBytes && rows > statistics:
		why["learner"] = fmt.Sprintf("an svm would hold %.1f GB of features", rows/1e9)
		return "ridge"
	}
	why["learner"] = "for classes whose features fit into memory"
	return "svm"
}

// svmBytes is the largest size of features on which the automatic choice trains an SVM. It is
// fixed so that a model does not depend on the machine.
const svmBytes = 2 << 30
