package papers

import (
	"context"
	"math"
	"time"

	"mercer/feature"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/exact"
	"mercer/kernel"
	"mercer/matrix"
)

// sivertsenDigits is S14's table of MNIST: linear machines on Fastfood and TensorSketch
// beside exact kernel machines.
func sivertsenDigits() *Table {
	const c = 100
	type row struct {
		name, theirs string
		cfg          feature.Config // of the map; its kernel alone for the kernel's own machine
	}
	gaussian := kernel.Kernel{Name: "rbf", Gamma: 1 / (2 * 8.27 * 8.27)}
	rows := []row{
		{"SVM, (x·y)⁴ itself", "1.8 10029 -", feature.Config{Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: 4}}},
		{"TensorSketch (x·y)⁴, D = 4096", "2.6 509 35",
			feature.Config{Map: "tensorsketch", Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: 4}, Features: 4096}},
		{"TensorSketch (x·y)², D = 4096", "2.6 509 35",
			feature.Config{Map: "tensorsketch", Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2}, Features: 4096}},
		{"SVM, Gaussian kernel itself", "1.5 76299 -", feature.Config{Kernel: gaussian}},
		{"Fastfood, 4096 frequencies", "1.9 1177 93", feature.Config{Map: "fastfood", Kernel: gaussian, Features: 8192}},
	}
	t := &Table{
		Name:  "S14-4.6",
		Title: "MNIST by TensorSketch and Fastfood with linear SVMs, and by SVMs of their kernels",
		Source: "Sivertsen 2014, table 4.6: averages of 10 runs for the maps; seconds on one 2.1 GHz core of its " +
			"time, ours on the machine that made this table",
		Protocol: "60,000 images to train on, 10,000 to test. Pixels in [0, 1], divided by a row's length for " +
			"TensorSketch and its kernel; σ = 8.27; C = 100, one against all, squared hinge on features, hinge with kernels. " +
			"The paper has p = 2 beside a table of degree 4, so both are here. The kernels' machines depend on no " +
			"random number and run once; they have no transformation.",
		Data: "mnist", Corner: "MNIST", Columns: []string{"error, %", "training, s", "transformation, s"},
		Unmarked: []int{1, 2}, Timed: true, Cost: 270, // of the first seed; 80 of others
	}
	for _, r := range rows {
		t.Rows = append(t.Rows, Row{r.name, figures(r.theirs)})
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		s, err := digits(ctx, dir)
		if err != nil {
			return nil, err
		}
		scale(s.train.x, func(int) float32 { return 1. / 255 })
		scale(s.test.x, func(int) float32 { return 1. / 255 })
		unit := split{labelled{unitRows(s.train.x), s.train.class}, labelled{unitRows(s.test.x), s.test.class}, s.classes}
		if quick {
			s.train, unit.train = s.train.first(quickTrain), unit.train.first(quickTrain)
		}
		exactly := make([][]float64, len(rows)) // of the kernels' own machines
		return func(seed uint64) (experiment, error) {
			return func(i int) ([]float64, error) {
				cfg, rows := rows[i].cfg, s
				cfg.Seed = seed
				if cfg.Kernel.Kind() == kernel.Poly {
					rows = unit
				}
				if cfg.Map == "" {
					if exactly[i] == nil {
						var err error
						if exactly[i], err = kernelDigits(ctx, cfg.Kernel, rows, c); err != nil {
							return nil, err
						}
					}
					return exactly[i], nil
				}
				start := time.Now()
				z, err := mapSplit(cfg, rows)
				if err != nil {
					return nil, err
				}
				mapped := time.Since(start).Seconds()
				start = time.Now()
				l, _, err := machine(ctx, z.train, z.classes, c, seed)
				if err != nil {
					return nil, err
				}
				trained := time.Since(start).Seconds()
				return []float64{100 - right(l, z.test), trained, mapped}, nil
			}, nil
		}, nil
	}
	return t
}

// kernelDigits is the error in percent of a kernel's exact support vector machines, and the
// seconds for training and for mapping, which are 0.
func kernelDigits(ctx context.Context, k kernel.Kernel, s split, c float64) ([]float64, error) {
	start := time.Now()
	m, _, err := exact.FitSVC(ctx, k, s.train.x, s.train.class, s.classes, exact.SVM{C: c, Multiclass: "ovr"})
	if err != nil {
		return nil, err
	}
	trained := time.Since(start).Seconds()
	right, err := predictedRight(m, s.test)
	return []float64{100 - right, trained, 0}, err
}

// unitRows are copies of dense rows divided by their lengths.
func unitRows(x matrix.Rows) matrix.Rows {
	out := matrix.NewDense(x.Len(), x.Dim())
	for i := range x.Len() {
		row := x.Dense.Row(i)
		length := math.Sqrt(vec.DotWide(row, row))
		for j, v := range row {
			out.Row(i)[j] = float32(float64(v) / max(length, math.SmallestNonzeroFloat64))
		}
	}
	return matrix.Rows{Dense: out}
}
