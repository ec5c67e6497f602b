package model

import (
	"mercer/feature"
	"mercer/matrix"
)

// Settle is Step where γ follows from rows: gamma tells it of a kernel and of the rows of a sample
// that reach a step, which in a chain are what the steps before it make of x. These are fitted only
// where a step behind them lacks its γ.
func (c *Config) Settle(s feature.Config, x matrix.Rows, gamma func(kernel string, x matrix.Rows) (float64, error)) (feature.Config, error) {
	return c.settle(s, func() (matrix.Rows, error) { return x, nil }, gamma)
}

// settle is Settle on rows that are made when they are needed.
func (c *Config) settle(s feature.Config, rows func() (matrix.Rows, error), gamma func(kernel string, x matrix.Rows) (float64, error)) (feature.Config, error) {
	if s.Steps == nil {
		var err error
		s = c.Step(s, func(name string) (g float64) {
			var x matrix.Rows
			if x, err = rows(); err == nil {
				g, err = gamma(name, x)
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
		step, err := c.settle(step, reach, gamma)
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
