package pipeline

import (
	"strings"
	"testing"

	"mercer/feature"
	"mercer/matrix"
)

// flat are so many equal steps side by side or one after the other.
func flat(name string, n int) Config {
	steps := make([]feature.Config, n)
	for i := range steps {
		steps[i] = feature.Config{Map: "rff", Features: 4}
	}
	return Config{Map: name, Steps: steps, Seed: 1}
}

// A hundred thousand steps are refused, in time that is linear in them.
func TestVeryManyStepsAreRefused(t *testing.T) {
	for _, name := range []string{"sum", "chain"} {
		if _, err := flat(name, 100_000).WithDefaults("rbf"); err == nil || !strings.Contains(err.Error(), "more than 4,096 maps") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// The work to settle steps is linear in their number: those of a sum share their γ, and those of a chain are fitted once each.
func TestStepsAreSettledOnce(t *testing.T) {
	x := matrix.NewDense(50, 3)
	for i := range x.Data {
		x.Data[i] = float32(i*7919%101) / 100
	}
	for _, name := range []string{"sum", "chain"} {
		allocations := func(n int) float64 {
			cfg, err := flat(name, n).WithDefaults("rbf")
			if err != nil {
				t.Fatal(err)
			}
			of := feature.Config{Map: name, Steps: cfg.Steps, Seed: 1}
			return testing.AllocsPerRun(1, func() {
				s, err := cfg.SettleSteps(t.Context(), of, matrix.Rows{Dense: x})
				if err != nil || len(s.Steps) != n || s.Steps[n-1].Kernel.Gamma == 0 {
					t.Fatal(len(s.Steps), err)
				}
			})
		}
		if few, many := allocations(40), allocations(160); many > 5*few {
			t.Errorf("%s: 40 steps allocate %g times, 160 steps %g times", name, few, many)
		}
	}
}
