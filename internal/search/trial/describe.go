package trial

import (
	"fmt"
	"strings"

	"mercer/train"
)

// Describe describes a configuration in a few words that distinguish candidates: kernel, its parameters,
// learner and everything else that is not automatic.
func Describe(c train.Config) string {
	parts := []string{c.KernelName()}
	if chooser := train.Chooser(); c.LearnerName() == chooser.Name() && c.Kernel.Name == "" {
		parts = nil
	}
	add := func(format string, v any) { parts = append(parts, fmt.Sprintf(format, v)) }
	if c.Kernel.Degree != 0 {
		add("%d", c.Kernel.Degree)
	}
	if c.Kernel.Gamma != "" && c.Kernel.Gamma != "median" {
		add("γ %s", c.Kernel.Gamma)
	}
	if c.Kernel.Sigma != 0 {
		add("σ %g", c.Kernel.Sigma)
	}
	if c.Map.Name != "" {
		add("%s", c.Map.Name)
	}
	if c.Map.Features != 0 {
		add("D %d", c.Map.Features)
	}
	if c.Scale != "" && c.Scale != "auto" {
		add("%s", c.Scale)
	}
	if c.LearnerName() != "" && c.LearnerName() != "auto" {
		add("%s", c.LearnerName())
	}
	if weight := train.As[train.SVM](c.Learner).C; weight != 0 {
		add("C %g", weight)
	}
	switch ridge := train.As[train.Ridge](c.Learner); {
	case ridge.LambdaBy == "trace":
		add("λ trace*%g", ridge.Lambda)
	case ridge.Lambda != 0:
		add("λ %g", ridge.Lambda)
	}
	return strings.Join(parts, " ")
}
