package train

import (
	"fmt"
	"math"
	"time"

	"mercer/dataset"
	"mercer/exact"
	"mercer/kernel"
	"mercer/learn"
	"mercer/model"
)

// kernelRidgeLearner is kernel ridge regression, also for classes, without a map: exact with n² memory, or by
// conjugate gradients (Product).
var kernelRidgeLearner = Learner{
	name:    "kernel-ridge",
	tasks:   []string{"classify", "regress"},
	options: []string{"lambda", "product", "accuracy", "lookup", "lookup-form", "subsample", "tolerance", "max-iter"},
	exact:   true,
	check:   (*Config).checkProduct,
	memory:  (*fit).kernelRidgeMemory,
	train:   (*fit).kernelRidge,
	tried: tried{variants: func(c Config, d Data) []Config {
		if d.Rows > 3000 || d.Task != "regress" || c.Kernel.Name != kernel.RBF.Name() {
			return nil
		}
		return []Config{c}
	}},
	fix: func(c *Config, r model.Report) {
		switch r := r.(type) {
		case *exact.RidgeReport:
			c.Lambda = r.Lambda
		case *exact.IterativeReport:
			c.Lambda = r.Lambda
		}
	},
}

// products are the ways to multiply by a Gram matrix; exact factorises it.
var products = []string{"exact", "threshold", "tree", "gauss"}

// checkProduct rejects an unknown product, and options that belong to another.
func (c *Config) checkProduct() error {
	switch known := false; {
	case c.Product == "":
		c.Product = "exact"
	default:
		for _, name := range products {
			known = known || name == c.Product
		}
		if !known {
			return fmt.Errorf("product %q is not known; known are exact, threshold, tree, gauss", c.Product)
		}
	}
	switch {
	case c.Product == "exact" && c.Accuracy != 0:
		return fmt.Errorf("accuracy belongs to the approximate products: threshold, tree, gauss")
	case c.Product == "exact" && (c.Tolerance != 0 || c.MaxIter != 0):
		return fmt.Errorf("tolerance and max-iter belong to the iterative products: threshold, tree, gauss")
	case c.Accuracy < 0 || c.Accuracy >= 1 || math.IsNaN(c.Accuracy):
		return fmt.Errorf("accuracy %g is not a number from 0 to below 1", c.Accuracy)
	}
	return nil
}

// kernelRidgeMemory is the number of bytes that the training holds: the Gram matrix, or as much as is
// known about the approximate products in advance. These fail by themselves if they exceed the limit.
func (f *fit) kernelRidgeMemory(sum *dataset.Summary) (bytes float64, formula string) {
	rows, _ := f.rowsMemory(sum)
	rows += f.lookupMemory()
	n, d, k := float64(sum.Rows), f.learnDim(), f.info.Outputs
	switch {
	case f.cfg.Product != "exact":
		return rows + n*(12*float64(d)+64*float64(k)), "4·n·D of rows, 12·n·D of boxes, 64·n·K, and pairs of boxes"
	case f.cfg.Lambda == 0:
		return rows + float64(exact.RidgeBytes(sum.Rows, d, k, true)), "24·n² to choose λ by leave-one-out; 8·n² where λ is given"
	}
	return rows + float64(exact.RidgeBytes(sum.Rows, d, k, false)), "8·n²"
}

// kernelRidge trains on all rows.
func (f *fit) kernelRidge(sum *dataset.Summary) error {
	all, err := f.gather(sum)
	if err != nil {
		return err
	}
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	f.progress("solve", 0, -1)
	rows, _ := f.rowsMemory(sum)
	k, y, limit := *f.info.Kernel, f.allTargets(all), f.machineMemory(rows)
	training := &f.info.Training
	var machine *exact.Machine
	if f.cfg.Product == "exact" {
		machine, training.Report, err = exact.FitRidge(f.ctx, k, all.x, y, f.info.Outputs, all.weights, exact.Ridge{Lambda: f.cfg.Lambda, Memory: limit})
	} else {
		accuracy := f.cfg.Accuracy
		if accuracy == 0 {
			accuracy = 1e-4
		}
		var p exact.Product
		switch f.cfg.Product {
		case "threshold":
			p, err = exact.NewThresholdProduct(f.ctx, k, all.x, accuracy, limit)
		case "tree":
			p, err = exact.NewTreeProduct(f.ctx, k, all.x, accuracy, limit)
		default:
			p, err = exact.NewGaussProduct(k, all.x, accuracy, limit)
		}
		if err == nil {
			opt := exact.Iterative{Lambda: f.cfg.Lambda, Tolerance: f.cfg.Tolerance, MaxIter: f.cfg.MaxIter, Seed: f.cfg.Seed}
			machine, training.Report, err = exact.FitIterative(f.ctx, k, all.x, p, y, f.info.Outputs, all.weights, opt)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.learned, err = f.predictor(machine)
	return err
}

// targetsOf returns the targets of classes, n×outputs.
func targetsOf(class []int, outputs int) []float64 {
	y := make([]float64, len(class)*outputs)
	for i, c := range class {
		learn.Target(y[i*outputs:(i+1)*outputs], c)
	}
	return y
}
