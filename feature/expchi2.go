package feature

import (
	"fmt"
	"slices"

	"mercer/kernel"
)

// The exp-chi2 kernel exp(-γ Σ (x_j-y_j)²/(x_j+y_j)) has two parts: with c(x) a map of the chi2
// kernel, ‖c(x) - c(y)‖² ≈ Σ (x_j-y_j)²/(x_j+y_j), so that features of the rbf kernel exp(-γ‖·‖²)
// on c(x) approximate it (Li, Lebanon and Sminchisescu, "Chebyshev approximations to the
// histogram χ² kernel", 2012, algorithm 1). The mass that c loses by its truncation is not to be
// made up for: the lost parts of near rows agree.

// gaussian and chi2Maps are the maps that the two parts may be. Each stands for a chain with the
// first of the others.
var (
	gaussian = []string{"sorf", "orf", "rff", "qmc", "fastfood"}
	chi2Maps = []string{"homogeneous", "chebyshev", "elementary"}
)

// expanded returns the chain that a configuration of the exp-chi2 kernel stands for, and every
// other one as it is. Options of additive maps go to the first part, others to the second.
func expanded(cfg Config, dim int) Config {
	if cfg.Kernel.Name != "exp-chi2" || cfg.Steps != nil {
		return cfg
	}
	k, err := find(cfg.Map)
	if err != nil {
		return cfg
	}
	first := Config{Map: chi2Maps[0], Kernel: kernel.Kernel{Name: "chi2"}}
	second := Config{Map: gaussian[0], Kernel: kernel.Kernel{Name: "rbf", Gamma: cfg.Kernel.Gamma}, Features: cfg.Features}
	switch {
	case slices.Contains(gaussian, k.name):
		second.Map = k.name
	case slices.Contains(chi2Maps, k.name):
		first.Map = k.name
		if dim < 4 { // and their features few
			second.Map = "orf"
		}
	default:
		return cfg
	}
	first.Options, second.Options = cfg.divided()
	return Config{Map: "chain", Seed: cfg.Seed, Features: cfg.Features, Steps: []Config{first, second}, MaxBytes: cfg.MaxBytes}
}

// explained says of an error of the chain that a configuration was expanded to what the chain is.
func explained(cfg Config, err error) error {
	if err == nil || cfg.Kernel.Name != "exp-chi2" || cfg.Steps != nil {
		return err
	}
	chain := expanded(cfg, 4)
	if chain.Steps == nil {
		return err
	}
	return fmt.Errorf("feature: %s of the exp-chi2 kernel is a chain of a map of chi2 (step 1) and one of rbf (step 2): %w", cfg.Map, err)
}
