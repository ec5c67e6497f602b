package papers

import (
	"context"
	"errors"
	"strconv"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/search/approx"
	"mercer/kernel"
	"mercer/matrix"
)

// S14: J. Sivertsen, Scalable learning through linearithmic time kernel approximation
// techniques, 2014.
func sivertsen2014() []*Table {
	t := &Table{
		Name:   "S14-4.1",
		Cost:   2,
		Title:  "Kernel estimation error of Fastfood and TensorSketch",
		Source: "Sivertsen 2014, table 4.1: averages over 16 runs",
		Protocol: "10,000 pairs of rows uniform in [0, 1]^16; Fastfood for exp(-‖x-y‖²/(2σ²)), σ = 2, with D " +
			"frequencies (2D features), " +
			"TensorSketch for (x·y)² with D features. Mean absolute error, and mean relative error in % over the pairs where it is at most 100 %.",
		Corner:  "mean error, by D",
		Columns: []string{"Fastfood abs.", "Fastfood rel. %", "TensorSketch abs.", "TensorSketch rel. %"},
		Rows: []Row{
			{"16", figures("0.083 11.82 8.39 44.01")},
			{"32", figures("0.057 8.14 5.56 34.32")},
			{"64", figures("0.047 6.74 4.99 28.57")},
			{"128", figures("0.033 4.68 3.63 22.02")},
			{"256", figures("0.022 3.08 2.19 12.98")},
			{"512", figures("0.015 2.15 1.32 7.83")},
			{"1024", figures("0.011 1.56 0.81 4.95")},
			{"2048", figures("0.0077 1.08 0.39 2.74")},
			{"4096", figures("0.0052 0.73 0.32 2.04")},
			{"8192", figures("0.0036 0.51 0.31 1.73")},
		},
	}
	t.open = func(_ context.Context, _ string, quick bool) (run, error) {
		pairs := 10_000
		if quick {
			pairs = 500
		}
		return func(seed uint64) (experiment, error) {
			x, y := uniform(pairs, 16, seed, "papers.x"), uniform(pairs, 16, seed, "papers.y")
			return func(i int) ([]float64, error) {
				d, err := strconv.Atoi(t.Rows[i].Name)
				if err != nil {
					return nil, err
				}
				var all []float64
				for _, cfg := range []feature.Config{
					{Map: "fastfood", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1.0 / 8}, Features: 2 * d, Seed: seed},
					{Map: "tensorsketch", Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2}, Features: d, Seed: seed},
				} {
					abs, rel, err := kernelError(cfg, x, y)
					if err != nil {
						return nil, err
					}
					all = append(all, abs, 100*rel)
				}
				return all, nil
			}, nil
		}, nil
	}
	return []*Table{t}
}

// uniform draws rows uniform in [0, 1].
func uniform(n, d int, seed uint64, name string) *matrix.Dense {
	x := matrix.NewDense(n, d)
	r := random.New(seed, name)
	for i := range x.Data {
		x.Data[i] = float32(r.Uniform())
	}
	return x
}

// kernelError is how far z(x_i)·z(y_i) is from k(x_i, y_i) for rows of x and y: in the mean,
// absolutely and relative to k.
func kernelError(cfg feature.Config, x, y *matrix.Dense) (abs, rel float64, err error) {
	m, err := feature.New(cfg, x.Cols)
	if err != nil {
		return 0, 0, err
	}
	e := approx.Compare(approx.Values(cfg.Kernel, m, x, y))
	if e.MeanRel == nil {
		return 0, 0, errors.New("no pair has a relative error of at most 100 %")
	}
	return e.MeanAbs, *e.MeanRel, nil
}
