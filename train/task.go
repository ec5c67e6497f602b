package train

import (
	"fmt"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/model"
)

// chooseTask decides between classification and regression.
func (f *fit) chooseTask(sum *dataset.Summary) error {
	if f.cfg.Outliers() {
		if err := f.checkWeights(sum); err != nil {
			return err
		}
		return f.chooseOutliers()
	}
	if f.cfg.clusters() {
		if err := f.checkWeights(sum); err != nil {
			return err
		}
		return f.chooseClusters()
	}
	task, why, err := sum.Task(f.cfg.Task)
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.info.Task = task
	f.info.Training.Why["task"] = why
	if l := f.cfg.Traits(); l != nil && !slices.Contains(l.tasks, task) {
		var can []string
		for _, other := range learners() {
			if slices.Contains(other.tasks, task) {
				can = append(can, other.name)
			}
		}
		its := l.tasks[0]
		return option.Errorf("%s: the task is to %s (%s), which the learner %s cannot do; use %s, or %s%s", f.src.Name(), task, why, l.name,
			option.Set("learner", strings.Join(can, " or ")), option.Set("task", its), map[string]string{
				"classify":   " if they are classes",
				"regress":    " if they are numbers to predict",
				"multilabel": " if a row may have several",
			}[its])
	}
	if err := f.checkWeights(sum); err != nil {
		return err
	}
	if task == "multilabel" {
		return f.chooseLabels(sum)
	}
	if task == "regress" {
		if f.cfg.ClassWeight != "" {
			return fmt.Errorf("%s: class weights are for classes, but the labels are numbers to be predicted (%s)", f.src.Name(), why)
		}
		f.info.Outputs = sum.Outputs
		f.chooseOffset(sum)
		return nil
	}
	if f.classes, err = sum.Classes(); err != nil {
		if f.cfg.surveyRows() > 0 {
			err = fmt.Errorf("of the %d rows that are looked at first: %w", sum.Rows, err)
		}
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.info.Classes = f.classes.Labels()
	f.info.Outputs = learn.TargetColumns(len(f.info.Classes))
	f.classWeights, err = f.cfg.classWeights(f.classes, sum)
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	return f.checkWeights(sum)
}

// checkWeights fails if the weights leave nothing to learn from, of all rows or of all but one class. If only the first rows were
// surveyed, the learner finds it out at the end.
func (f *fit) checkWeights(sum *dataset.Summary) error {
	if n := f.cfg.surveyRows(); n > 0 && sum.Rows >= n {
		return nil
	}
	if err := sum.CheckWeights(f.classes, f.classWeights); err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	return nil
}

// chooseLabels finds the labels when a row may have any number of them.
func (f *fit) chooseLabels(sum *dataset.Summary) (err error) {
	if f.cfg.ClassWeight != "" {
		return fmt.Errorf("%s: class weights are for classes, but rows have any number of labels", f.src.Name())
	}
	if f.labels, err = sum.LabelSets(f.src.Schema()); err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.info.Labels = f.labels.Labels()
	f.info.Outputs = len(f.info.Labels)
	return nil
}

// chooseOutliers starts a model that detects outliers. Labels play no part in it.
func (f *fit) chooseOutliers() error {
	if f.cfg.ClassWeight != "" {
		return fmt.Errorf("%s: class weights are for classes, and the task outliers has none", f.src.Name())
	}
	f.info.Task, f.info.Classes, f.info.Outputs = "outliers", model.OutlierClasses, 1
	f.info.Training.Why["task"] = "as asked"
	if f.cfg.Task != "outliers" {
		f.info.Training.Why["task"] = "of the learner"
	}
	return nil
}
