package train

import (
	"fmt"
	"time"
)

// choosing adds the time until the returned function is called to the time spent choosing.
func (f *fit) choosing() func() {
	start := time.Now()
	return func() { f.report.Choose += time.Since(start).Seconds() }
}

// choose resolves the learner "auto": the svm or ridge, whichever has the given
// options.
func (f *fit) choose() error {
	if f.cfg.automatic() {
		f.cfg.SetLearner(f.auto(f.sum))
		f.info.Training.Why["learner"] += f.lacking
	}
	// Now the task is known, and some options do not go with it.
	c := f.cfg
	if c.Task = f.info.Task; f.cfg.clusters() {
		c.Task = f.cfg.Task // classes are what it finds
	}
	err := c.settleLearner()
	if err == nil {
		err = c.checkLearner()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	c.Task, f.cfg = f.cfg.Task, c
	f.learner = f.cfg.Traits()
	f.info.Training.Learner = f.learner.name
	return nil
}
