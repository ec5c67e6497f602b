package train

import (
	"errors"
	"fmt"

	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/model"
)

// A threshold is chosen on the scores of rows that the learner has not seen: those that probabilities are fitted to, if they
// are, else found in the same way. The rows of a test are not among them, since they are no rows of the training.

// checkThreshold checks the threshold that is asked for.
func (c *Config) checkThreshold() error {
	if c.Threshold == "" {
		return nil
	}
	r, err := learn.ParseThreshold(c.Threshold)
	switch {
	case err != nil:
		return err
	case c.Task != "auto" && c.Task != "classify":
		return option.Errorf("a threshold divides two classes, which the task %s does not have; leave out %s", c.Task, option.Ref("threshold"))
	case r.Kind == "probability" && c.Calibrate.Method == "none":
		return option.Errorf("the threshold %s is a probability, and %s leaves these out; give score=%s, or another calibration", c.Threshold,
			option.Set("calibrate", "none"), c.Threshold)
	case c.surveyRows() > 0 && r.Chosen():
		return option.Errorf("a training that looks at the first rows alone (%s) reads the rows once, and a threshold is chosen in passes of its own; "+
			"give one as a number", option.Ref("survey_rows"))
	}
	return nil
}

// checkThreshold rejects a threshold that the task or the rows do not allow.
func (f *problem) checkThreshold() error {
	if f.cfg.Threshold == "" {
		return nil
	}
	info := f.answers.info()
	if err := info.CheckThreshold(); err != nil {
		return f.located(err)
	}
	if f.sum.Rows < 2*f.cfg.folds() {
		return fmt.Errorf("%s: %d rows are too few to choose a threshold by %d folds", f.src.Name(), f.sum.Rows, f.cfg.folds())
	}
	return nil
}

// divide finds the threshold between two classes.
func (f *job) divide(s *solution) error {
	if f.cfg.Threshold == "" {
		return nil
	}
	r, err := learn.ParseThreshold(f.cfg.Threshold)
	if err != nil {
		return err
	}
	if r.Chosen() {
		if len(s.unseen.weights) == 0 {
			if _, err := f.scoreUnseen(s); err != nil {
				return err
			}
		}
		positive := make([]bool, len(s.unseen.y))
		for i, y := range s.unseen.y {
			positive[i] = y > 0
		}
		cut, err := r.Choose(s.unseen.scores, positive, s.unseen.weights)
		if err != nil {
			return option.Errorf("%s: %s: %w", f.src.Name(), option.Set("threshold", f.cfg.Threshold), err)
		}
		s.threshold = model.NewThreshold(f.cfg.Threshold, cut, len(positive))
		return nil
	}
	m, err := f.unjudged(s)
	if err != nil {
		return err
	}
	if r.Kind == "probability" && !m.HasProbabilities() {
		if f.cfg.surveyRows() > 0 {
			return errors.New("the threshold is a probability, which this learner has in passes of its own; give score=NUMBER")
		}
		f.cfg.Calibrate.Method = "platt"
		if err := f.calibrate(s); err != nil {
			return err
		}
		if m, err = f.unjudged(s); err != nil {
			return err
		}
	}
	if m, err = m.WithThreshold(f.cfg.Threshold); err == nil {
		s.threshold = m.Info().Threshold
	}
	return err
}
