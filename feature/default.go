package feature

import (
	"slices"

	"mercer/kernel"
)

// wide is the number of dimensions above which structured frequencies are as good as dense ones: they come in
// powers of two, and are too few in lower dimensions.
const wide = 16

// Default is the default map of a kernel, "" for the linear kernel, which needs none: the
// one with the least error for its cost on rows of dim dimensions, whatever the number of features. [Choose]
// looks at that too. It does not change, because configurations of exp-chi2 stand for a chain with it.
func Default(k kernel.Kernel, dim int) string {
	law, waves := k.Law()
	_, additive := k.Additive()
	_, series := k.Series(0)
	switch _, outer, composite := k.Parts(); {
	case k.Linear():
		return ""
	case composite: // its second map is for several features per dimension
		return Default(outer, wide+1)
	case additive:
		return Homogeneous
	case waves && law.Log:
		return Skewed
	case waves && !law.Radial():
		return RFF
	case waves && dim > wide:
		return SORF
	case waves:
		return ORF
	case k.Kind() == kernel.Poly:
		return TensorSketch
	case series:
		return Maclaurin
	}
	return Nystrom
}

// Choose fills in what a configuration for rows of dim dimensions leaves open: a map that is not named, and the options whose
// zero value is older than a better choice. It leaves an option that is set as it is, and a configuration without a number of
// features gets the map that is best for most of them. What it returns means the same map in
// every version; what it chooses may change, so keep that and not cfg.
//
// The map is the one with the least error for its cost, by measurements on data sets (docs/algorithms.md). Up to 16
// dimensions, where all maps with frequencies cost about the same, that is [QMC] where its points are dense: for rbf,
// matern and steps if D ≥ d³/2, for kernels without orthogonal maps (laplacian, cauchy) and for the ramps of arccos always.
// Below that it is [ORF], above 16 dimensions [SORF], or [RFF] if the kernel is not radial. Radii are
// coupled, and blocks of sorf so large that it has no bias that could be noticed.
func Choose(cfg Config, dim int) Config {
	if cfg.Steps != nil {
		cfg.Steps = slices.Clone(cfg.Steps)
		for i, s := range cfg.Steps {
			if s.Map != "" || s.Steps != nil {
				cfg.Steps[i] = Choose(s, dim)
			}
		}
		return cfg
	}
	if cfg.Map == "" {
		cfg.Map = cfg.defaultMap(dim)
	}
	law, of := cfg.Kernel, cfg.Map
	if chain := expanded(cfg, dim); chain.Steps != nil { // the options are those of its second step
		law, of = chain.Steps[1].Kernel, chain.Steps[1].Map
	}
	k, err := find(of)
	if err != nil {
		return cfg
	}
	if cfg.Radius == "" {
		cfg.Radius = k.chosen["radius"]
	}
	if cfg.Order == 0 && of == SORF {
		cfg.Order = evenOrder(law)
	}
	return cfg
}

// defaultMap is the default map of a configuration without one.
func (cfg *Config) defaultMap(dim int) string {
	usual := Default(cfg.Kernel, dim)
	law, waves := cfg.Kernel.Law()
	if !waves || law.Log || dim > wide || cfg.Features < 1 || cfg.Form == "phase" {
		return usual
	}
	if law.Radial() && law.Wave != kernel.Ramp && 2*cfg.Features < dim*dim*dim {
		return usual
	}
	if k, _ := find(QMC); cfg.foreign(k) != nil { // an option that only the usual map has
		return usual
	}
	return QMC
}

// evenOrder is the order from which on the directions of sorf are even enough for a kernel: where the bias is below 0.005 of
// k(x, x) for any rows.
func evenOrder(k kernel.Kernel) int {
	switch law, _ := k.Law(); {
	case law.Wave == kernel.Step:
		return 256 // rows of few elements have projections that are 0
	case law.Nu > 0:
		return 64 // long frequencies
	}
	return 32
}
