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
	switch k := s.Kernel; {
	case k.Gamma != 0 || !kernel.Has(k.Name, "gamma"):
	case s.Kernelless():
		s.Kernel.Gamma = 1
	default:
		s.Kernel.Gamma = gamma(k.Name)
	}
	return s
}

// SettleSteps is a composed map with the kernel and the γ of each step, for a sample x of scaled
// rows. In a chain, γ is found from the output of the steps before. These are fitted only if a later step
// has no γ yet.
func (c *Config) SettleSteps(ctx context.Context, s feature.Config, x matrix.Rows) (feature.Config, error) {
	return c.settleSteps(ctx, s, &reaching{find: func() (matrix.Rows, error) { return x, nil }})
}

// reaching are the rows that reach a step, computed when they are first needed, and what was found of them.
type reaching struct {
	find  func() (matrix.Rows, error)
	x     matrix.Rows
	err   error
	found bool
	gamma map[string]float64 // by kernel
}

func (r *reaching) rows() (matrix.Rows, error) {
	if !r.found {
		r.x, r.err = r.find()
		r.found = true
	}
	return r.x, r.err
}

// gammaOf is the γ of a kernel for the rows: the same for each step of a sum.
func (r *reaching) gammaOf(c *Config, kernel string) (float64, error) {
	if g, known := r.gamma[kernel]; known {
		return g, nil
	}
	x, err := r.rows()
	if err != nil {
		return 0, err
	}
	g, _, err := c.gamma(kernel, x)
	if r.gamma == nil {
		r.gamma = map[string]float64{}
	}
	r.gamma[kernel] = g
	return g, err
}

// settleSteps is SettleSteps on rows that are computed only when needed.
func (c *Config) settleSteps(ctx context.Context, s feature.Config, rows *reaching) (feature.Config, error) {
	if err := ctx.Err(); err != nil {
		return s, err
	}
	if group := s.Group; group.Dims != nil || group.Norm != "" {
		s.Group = feature.Group{}
		s, err := c.settleSteps(ctx, s, &reaching{find: func() (matrix.Rows, error) {
			x, err := rows.rows()
			if err == nil {
				x = group.Pick(x, &matrix.Dense{}, &matrix.CSR{})
			}
			return x, err
		}})
		s.Group = group
		return s, err
	}
	if s.Steps == nil {
		var err error
		s = c.Step(s, func(name string) (g float64) {
			g, err = rows.gammaOf(c, name)
			return g
		})
		if s.Map != "" { // what it leaves open besides its γ
			s = feature.Choose(s, 1)
		}
		return s, err
	}
	steps := s.Steps
	s.Steps = make([]feature.Config, 0, len(steps))
	for i, step := range steps {
		step, err := c.settleSteps(ctx, step, rows)
		if err != nil {
			return s, err
		}
		s.Steps = append(s.Steps, step)
		if s.Map == feature.Chain {
			before, fitted := rows, s.Step(i)
			rows = &reaching{find: func() (matrix.Rows, error) { return mapped(ctx, fitted, before) }}
		}
	}
	return s, nil
}

// mapped is the output of a map.
func mapped(ctx context.Context, cfg feature.Config, rows *reaching) (matrix.Rows, error) {
	x, err := rows.rows()
	if err != nil {
		return x, err
	}
	m, err := feature.Fit(ctx, cfg, x)
	if err != nil {
		return x, err
	}
	return feature.Apply(m, x, &matrix.Dense{}, &matrix.CSR{}), nil
}
