package pipeline

import (
	"slices"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// Step fills in the kernel of a step of a composed map, and of its steps, where it has none or one
// without γ: that of the configuration, of which gamma tells the γ by its name.
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
// rows: in a chain γ is that of what the steps before make of x. These are fitted only where a step
// behind them lacks its γ.
func (c *Config) SettleSteps(s feature.Config, x matrix.Rows) (feature.Config, error) {
	return c.settleSteps(s, func() (matrix.Rows, error) { return x, nil })
}

// settleSteps is SettleSteps on rows that are made when they are needed.
func (c *Config) settleSteps(s feature.Config, rows func() (matrix.Rows, error)) (feature.Config, error) {
	if s.Steps == nil {
		var err error
		s = c.Step(s, func(name string) (g float64) {
			var x matrix.Rows
			if x, err = rows(); err == nil {
				g, _, err = c.gamma(name, x)
			}
			return g
		})
		return s, err
	}
	whole := s
	s.Steps = nil
	for i, step := range whole.Steps {
		before := s
		reach := rows
		if s.Map == "chain" && i > 0 {
			reach = func() (matrix.Rows, error) { return mapped(before, rows) }
		}
		step, err := c.settleSteps(step, reach)
		if err != nil {
			return s, err
		}
		s.Steps = append(s.Steps[:i:i], step)
	}
	return s, nil
}

// mapped is what a map makes of rows.
func mapped(cfg feature.Config, rows func() (matrix.Rows, error)) (matrix.Rows, error) {
	x, err := rows()
	if err != nil {
		return x, err
	}
	cfg.Features = 0 // of the whole
	m, err := feature.Fit(cfg, x)
	if err != nil {
		return x, err
	}
	return feature.Apply(m, x, &matrix.Dense{}, &matrix.CSR{}), nil
}
