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
	if chooser := train.Chooser(); c.Learner == chooser.Name() && c.Kernel.Name == "" {
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
	if c.Learner != "" && c.Learner != "auto" {
		add("%s", c.Learner)
	}
	if c.C != 0 {
		add("C %g", c.C)
	}
	switch {
	case c.LambdaBy == "trace":
		add("λ trace*%g", c.Lambda)
	case c.Lambda != 0:
		add("λ %g", c.Lambda)
	}
	return strings.Join(parts, " ")
}
