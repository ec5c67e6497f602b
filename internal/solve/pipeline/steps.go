package pipeline

import (
	"context"
	"slices"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// Step fills in the kernel of a step of a composed map, and of its steps, if it has none or one
// without γ: the kernel of the configuration, whose γ gamma returns by the kernel's name.
func (c *Config) Step(s feature.Config, gamma func(kernel string) float64) feature.Config {
	if s.Steps != nil {
		s.Steps = slices.Clone(s.Steps)
		for i := range s.Steps {
			s.Steps[i] = c.Step(s.Steps[i], gamma)
		}
		return s
	}
	switch {
	case s.Kernel.Name != "":
	case feature.OfLinear(s.Map):
		s.Kernel = kernel.Linear.Usual()
	default:
		s.Kernel = c.kernel(0)
	}
	if k := s.Kernel; k.Gamma == 0 && kernel.Has(k.Name, "gamma") {
		s.Kernel.Gamma = gamma(k.Name)
	}
	return s
}

// SettleSteps is a composed map with the kernel and the γ of each step, for a sample x of scaled
// rows. In a chain, γ is found from the output of the steps before. These are fitted only if a later step
// has no γ yet.
func (c *Config) SettleSteps(ctx context.Context, s feature.Config, x matrix.Rows) (feature.Config, error) {
	return c.settleSteps(ctx, s, func() (matrix.Rows, error) { return x, nil })
}

// settleSteps is SettleSteps on rows that are computed only when needed.
func (c *Config) settleSteps(ctx context.Context, s feature.Config, rows func() (matrix.Rows, error)) (feature.Config, error) {
	if group := s.Group; group.Dims != nil || group.Norm != "" {
		whole := rows
		rows = func() (matrix.Rows, error) {
			x, err := whole()
			if err == nil {
				x = group.Pick(x, &matrix.Dense{}, &matrix.CSR{})
			}
			return x, err
		}
		s.Group = feature.Group{}
		s, err := c.settleSteps(ctx, s, rows)
		s.Group = group
		return s, err
	}
	if s.Steps == nil {
		var err error
		s = c.Step(s, func(name string) (g float64) {
			var x matrix.Rows
			if x, err = rows(); err == nil {
				g, _, err = c.gamma(name, x)
			}
			return g
		})
		if s.Map != "" { // what it leaves open besides its γ
			s = feature.Choose(s, 1)
		}
		return s, err
	}
	whole := s
	s.Steps = nil
	for i, step := range whole.Steps {
		before := s
		reach := rows
		if s.Map == "chain" && i > 0 {
			reach = func() (matrix.Rows, error) { return mapped(ctx, before, rows) }
		}
		step, err := c.settleSteps(ctx, step, reach)
		if err != nil {
			return s, err
		}
		s.Steps = append(s.Steps[:i:i], step)
	}
	return s, nil
}

// mapped is the output of a map.
func mapped(ctx context.Context, cfg feature.Config, rows func() (matrix.Rows, error)) (matrix.Rows, error) {
	x, err := rows()
	if err != nil {
		return x, err
	}
	cfg.Features = 0 // that of the whole
	m, err := feature.Fit(ctx, cfg, x)
	if err != nil {
		return x, err
	}
	return feature.Apply(m, x, &matrix.Dense{}, &matrix.CSR{}), nil
}
