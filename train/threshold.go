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
func (f *fit) checkThreshold() error {
	if f.cfg.Threshold == "" {
		return nil
	}
	if err := f.info.CheckThreshold(); err != nil {
		return f.located(err)
	}
	if f.sum.Rows < 2*f.folds() {
		return fmt.Errorf("%s: %d rows are too few to choose a threshold by %d folds", f.src.Name(), f.sum.Rows, f.folds())
	}
	return nil
}

// divide finds the threshold between two classes.
func (f *fit) divide() error {
	if f.cfg.Threshold == "" {
		return nil
	}
	r, err := learn.ParseThreshold(f.cfg.Threshold)
	if err != nil {
		return err
	}
	if r.Chosen() {
		if len(f.solved.unseen.weights) == 0 {
			if _, err := f.scoreUnseen(); err != nil {
				return err
			}
		}
		positive := make([]bool, len(f.solved.unseen.y))
		for i, y := range f.solved.unseen.y {
			positive[i] = y > 0
		}
		cut, err := r.Choose(f.solved.unseen.scores, positive, f.solved.unseen.weights)
		if err != nil {
			return option.Errorf("%s: %s: %w", f.src.Name(), option.Set("threshold", f.cfg.Threshold), err)
		}
		f.info.Threshold = model.NewThreshold(f.cfg.Threshold, cut, len(positive))
		return nil
	}
	m, err := f.unjudged()
	if err != nil {
		return err
	}
	if r.Kind == "probability" && !m.HasProbabilities() {
		if f.cfg.surveyRows() > 0 {
			return errors.New("the threshold is a probability, which this learner has in passes of its own; give score=NUMBER")
		}
		f.cfg.Calibrate.Method = "platt"
		if err := f.calibrate(); err != nil {
			return err
		}
		if m, err = f.unjudged(); err != nil {
			return err
		}
	}
	if m, err = m.WithThreshold(f.cfg.Threshold); err == nil {
		f.info.Threshold = m.Info().Threshold
	}
	return err
}

// unjudged is the model as it is now.
func (f *fit) unjudged() (*model.Model, error) { return model.New(f.parts()) }
