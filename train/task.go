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

// findTask decides between classification and regression.
func (f *surveyed) findTask() (a answers, err error) {
	if f.cfg.Outliers() {
		if err := f.checkWeights(&a); err != nil {
			return a, err
		}
		return f.outliers()
	}
	if f.cfg.clusters() {
		if err := f.checkWeights(&a); err != nil {
			return a, err
		}
		return f.clusters()
	}
	task, why, err := f.sum.Task(f.cfg.Task)
	if err != nil {
		return a, f.located(err)
	}
	a.task, f.why["task"] = task, why
	if l := f.cfg.Traits(); l != nil && !slices.Contains(l.tasks, task) {
		var can []string
		for _, other := range learners() {
			if slices.Contains(other.tasks, task) {
				can = append(can, other.name)
			}
		}
		its := l.tasks[0]
		return a, option.Errorf("%s: the task is to %s (%s), which the learner %s cannot do; use %s, or %s%s", f.src.Name(), task, why, l.name,
			option.Set("learner", strings.Join(can, " or ")), option.Set("task", its), map[string]string{
				"classify":   " if they are classes",
				"regress":    " if they are numbers to predict",
				"multilabel": " if a row may have several",
			}[its])
	}
	if err := f.checkWeights(&a); err != nil {
		return a, err
	}
	if task == "multilabel" {
		if a.labels, err = f.labelSets(); err == nil {
			a.outputs = len(a.labels.Labels())
		}
		return a, err
	}
	if task == "regress" {
		if f.cfg.ClassWeight != "" {
			return a, fmt.Errorf("%s: class weights are for classes, but the labels are numbers to be predicted (%s)", f.src.Name(), why)
		}
		a.outputs, a.offset = f.sum.Outputs, f.farOffset()
		return a, f.checkSpread()
	}
	if a.classes, err = f.sum.Classes(); err != nil {
		if f.cfg.surveyRows() > 0 {
			err = fmt.Errorf("of the %d rows that are looked at first: %w", f.sum.Rows, err)
		}
		return a, f.located(err)
	}
	a.names = a.classes.Labels()
	if one, other, ok := a.classes.Alike(); ok {
		f.why["alike"] = fmt.Sprintf("%q and %q", one, other)
	}
	a.outputs = learn.TargetColumns(len(a.names))
	if a.classWeights, err = f.cfg.classWeights(a.classes, f.sum); err != nil {
		return a, f.located(err)
	}
	return a, f.checkWeights(&a)
}

// checkWeights fails if the weights leave nothing to learn from, of all rows or of all but one class. If only the first rows were
// surveyed, the learner finds it out at the end.
func (f *surveyed) checkWeights(a *answers) error {
	if n := f.cfg.surveyRows(); n > 0 && f.sum.Rows >= n {
		return nil
	}
	if err := f.sum.CheckWeights(a.classes, a.classWeights); err != nil {
		return f.located(err)
	}
	return nil
}

// labelSets finds the labels when a row may have any number of them.
func (f *surveyed) labelSets() (*dataset.LabelSets, error) {
	if f.cfg.ClassWeight != "" {
		return nil, fmt.Errorf("%s: class weights are for classes, but rows have any number of labels", f.src.Name())
	}
	labels, err := f.sum.LabelSets(f.src.Schema())
	if err != nil {
		return nil, f.located(err)
	}
	return labels, nil
}

// outliers are the answers of a model that detects outliers. Labels play no part in it.
func (f *surveyed) outliers() (a answers, err error) {
	if f.cfg.ClassWeight != "" {
		return a, fmt.Errorf("%s: class weights are for classes, and the task outliers has none", f.src.Name())
	}
	f.why["task"] = "as asked"
	if f.cfg.Task != "outliers" {
		f.why["task"] = "of the learner"
	}
	return answers{task: "outliers", names: model.OutlierClasses, outputs: 1}, nil
}
