package train

import (
	"context"
	"math"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/random"
	"mercer/kernel"
	"mercer/matrix"
)

// The γ of a step of a chain is that of what the steps before it make of the rows, and not that of
// the rows; a step that is given one keeps it, and steps of a sum all see the rows.
func TestStepGamma(t *testing.T) {
	const n, d = 400, 12
	r := random.New(1, "steps")
	x, y := matrix.NewDense(n, d), make([]float64, n)
	for i := range n {
		sum := float32(0)
		for j := range d {
			x.Row(i)[j] = float32(math.Exp(r.Normal()))
			sum += x.Row(i)[j]
		}
		for j := range d {
			x.Row(i)[j] /= 20 * sum // short rows: their distances are far smaller than those of their features
		}
		y[i] = float64(i % 2)
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := feature.Config{Map: "chebyshev", Kernel: kernel.Kernel{Name: "chi2"}}
	steps := func(cfg Config) []feature.Config {
		cfg.Scale, cfg.Learner, cfg.Lambda = "none", "ridge", 1
		m, _, err := Fit(context.Background(), src, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m.Info().Feature.Steps
	}
	z, err := feature.Fit(first, matrix.Rows{Dense: x})
	if err != nil {
		t.Fatal(err)
	}
	of := func(x matrix.Rows) float64 {
		g, err := kernel.MedianGamma(x, 1, "rbf")
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	raw, reached := of(matrix.Rows{Dense: x}), of(feature.Apply(z, matrix.Rows{Dense: x}, &matrix.Dense{}, &matrix.CSR{}))
	if raw < 5*reached {
		t.Fatalf("γ is %g of rows and %g of their features; the test cannot tell", raw, reached)
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got/want-1) < 0.1) {
			t.Errorf("%s: γ = %g, want about %g", what, got, want)
		}
	}
	last := feature.Config{Map: "rff", Features: 64}
	near("chain", steps(Config{Map: "chain", Steps: []feature.Config{first, last}})[1].Kernel.Gamma, reached)
	near("median*3", steps(Config{Map: "chain", Gamma: "median*3", Steps: []feature.Config{first, last}})[1].Kernel.Gamma, 3*reached)
	near("sum behind a map", steps(Config{Map: "chain", Steps: []feature.Config{first,
		{Map: "sum", Steps: []feature.Config{last, last}}}})[1].Steps[1].Kernel.Gamma, reached)
	near("chain in a sum", steps(Config{Map: "sum",
		Steps: []feature.Config{last, {Map: "chain", Steps: []feature.Config{first, last}}}})[1].Steps[1].Kernel.Gamma, reached)
	near("sum", steps(Config{Map: "sum", Steps: []feature.Config{last, last}})[1].Kernel.Gamma, raw)
	near("a number", steps(Config{Map: "chain", Gamma: "7", Steps: []feature.Config{first, last}})[1].Kernel.Gamma, 7)
	last.Kernel = kernel.Kernel{Name: "rbf", Gamma: 0.5}
	near("of the step", steps(Config{Map: "chain", Steps: []feature.Config{first, last}})[1].Kernel.Gamma, 0.5)
}
