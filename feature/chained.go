package feature

import (
	"fmt"
)

// Kernels on the feature space of another, [kernel.Kernel.Parts], are approximated by chains. If c(x) is a
// map of the inner kernel, ‖c(x) - c(y)‖² approximates the squared distance in its feature space, so features
// of the outer kernel on c(x) approximate the whole. Of exp-chi2, exp(-γ Σ (x_j-y_j)²/(x_j+y_j)), the
// parts are chi2 and the rbf kernel exp(-γ‖·‖²) (Li, Lebanon and Sminchisescu, "Chebyshev
// approximations to the histogram χ² kernel", 2012, algorithm 1). The mass that c loses by
// truncation must not be compensated: near rows lose the same parts.

// expanded returns the chain that a configuration of such a kernel stands for, and any other configuration
// unchanged. A map of either part stands for a chain with the default map of the other. Options of
// additive maps go to the first part, others to the second.
func expanded(cfg Config, dim int) Config {
	inner, outer, ok := cfg.Kernel.Parts()
	if !ok || cfg.Steps != nil {
		return cfg
	}
	k, err := find(cfg.Map)
	if err != nil || k.takes == nil || k.basis {
		return cfg
	}
	first := Config{Map: Default(inner, dim), Kernel: inner}
	second := Config{Map: Default(cfg.Kernel, dim), Kernel: outer, Features: cfg.Features}
	switch {
	case k.takes(outer):
		second.Map = k.name
	case k.takes(inner):
		first.Map = k.name
		if dim < 4 { // and their features few
			second.Map = Default(outer, dim)
		}
	default:
		return cfg
	}
	first.Options, second.Options = cfg.divided()
	return Config{Map: Chain, Seed: cfg.Seed, Features: cfg.Features, Steps: []Config{first, second}, MaxBytes: cfg.MaxBytes}
}

// explained adds a description of the chain to an error from a chain that a configuration was expanded to.
func explained(cfg Config, err error) error {
	inner, outer, ok := cfg.Kernel.Parts()
	if err == nil || !ok || cfg.Steps != nil {
		return err
	}
	chain := expanded(cfg, 4)
	if chain.Steps == nil {
		return err
	}
	return fmt.Errorf("feature: %s of the %s kernel is a chain of a map of %s (step 1) and one of %s (step 2): %w",
		cfg.Map, cfg.Kernel.Name, inner.Name, outer.Name, err)
}
