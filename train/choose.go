package train

// choose resolves the learner "auto": the svm or ridge, whichever has the given
// options. lacking ends the reason.
func (f *job) choose(lacking string) error {
	if f.cfg.automatic() {
		f.cfg.SetLearner(f.auto())
		f.why["learner"] += lacking
	}
	// Now the task is known, and some options do not go with it.
	c := f.cfg
	if c.Task = f.task; f.cfg.clusters() {
		c.Task = f.cfg.Task // classes are what it finds
	}
	err := c.settleLearner()
	if err == nil {
		err = c.checkLearner()
	}
	if err != nil {
		return f.located(err)
	}
	c.Task, f.cfg = f.cfg.Task, c
	f.learner = f.cfg.Traits()
	return nil
}
