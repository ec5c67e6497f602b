package tune

import (
	"cmp"
	"slices"

	"mercer/kernel"
	"mercer/train"
)

// The default space: γ around that of the median distance, which is right to within a factor of a few on
// most data, and the whole path of λ or C, which costs little.
var (
	usualGamma  = Axis{Name: "gamma", Values: []string{"median*0.0625", "median*0.25", "median", "median*4", "median*16"}}
	usualLambda = Axis{Name: "lambda", Values: []string{"trace*1e-06", "trace*1e-05", "trace*0.0001", "trace*0.001",
		"trace*0.01", "trace*0.1", "trace*1"}}
	usualC = Axis{Name: "c", Values: []string{"0.01", "0.1", "1", "10", "100"}}
)

// withDefaults adds the axes of the default space for settings that the base leaves open, and replaces
// "auto" by the learner that it stands for.
func (s Space) withDefaults(learner, task string) Space {
	has := func(name string) bool {
		return slices.ContainsFunc(s.Axes, func(a Axis) bool { return a.Name == name })
	}
	b := &s.Base
	s.Axes = slices.Clone(s.Axes)
	if b.LearnerName() == "" || b.LearnerName() == "auto" {
		b.SetLearner(learner)
	}
	for i, a := range s.Axes {
		if a.Name == "learner" {
			s.Axes[i].Values = slices.Clone(a.Values)
			for j, v := range a.Values {
				if v == "auto" {
					s.Axes[i].Values[j] = learner
				}
			}
		}
	}
	kernels := []string{b.Kernel.Name}
	if at := slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == "kernel" }); at >= 0 {
		kernels = s.Axes[at].Values
	}
	learners := []string{b.LearnerName()}
	if at := slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == "learner" }); at >= 0 {
		learners = s.Axes[at].Values
	}
	some := slices.ContainsFunc(learners, func(l string) bool {
		return slices.ContainsFunc(kernels, func(k string) bool { return train.LearnerOf(l).Uses(cmp.Or(k, kernel.RBF.Name()), "gamma") })
	})
	if !has("gamma") && !has("sigma") && (b.Kernel.Gamma == "" || b.Kernel.Gamma == "median") && b.Kernel.Sigma == 0 && b.Map.Steps == nil && some {
		s.Axes = append(s.Axes, usualGamma)
	}
	if r := train.As[train.Ridge](b.Learner); !has("lambda") && r.Lambda == 0 && r.LambdaBy == "" && !r.Path && !r.Variance {
		lambda := usualLambda
		lambda.learners = searching(lambda.Name)
		s.Axes = append(s.Axes, lambda)
	}
	if svm := train.As[train.KernelSVM](b.Learner); !has("c") && svm.C == 0 {
		c := usualC
		c.learners = searching(c.Name)
		if task == "classify" && (has("svm_nu") || svm.Nu != 0) { // ν takes its place
			c.learners = slices.DeleteFunc(c.learners, func(l string) bool {
				nu, _ := train.LearnerOf(l).Has("svm_nu")
				return nu
			})
		}
		s.Axes = append(s.Axes, c)
	}
	return s
}

// searching are the learners for which the setting of this name is searched by default.
func searching(setting string) (learners []string) {
	names := train.Learners()
	for _, name := range names {
		if train.LearnerOf(name).Setting() == setting {
			learners = append(learners, name)
		}
	}
	return learners
}
