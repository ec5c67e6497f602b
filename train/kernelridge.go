package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/solve/exact"
	"mercer/internal/solve/learn"
	"mercer/model"
)

// KernelRidge are the options of kernel ridge regression.
type KernelRidge struct {
	// Lambda is λ in ‖y - Kα - b‖² + λ αᵀKα; 0 means that it is chosen by leave-one-out.
	Lambda float64 `json:"lambda,omitempty" range:"positive"`

	// Product says how to multiply by the Gram matrix: "exact" (or "") factorises
	// it; "threshold", "tree" and "gauss" iterate with approximate products.
	Product string `json:"product,omitempty"`

	// Accuracy bounds the error of an element of the Gram matrix in these; 0 means 10⁻⁴.
	Accuracy float64 `json:"accuracy,omitempty"`

	// Tolerance and MaxIter say where iterations stop, 0 being their defaults.
	Tolerance float64 `json:"tolerance,omitempty" range:"positive"`
	MaxIter   int     `json:"max_iter,omitempty" range:"positive"`

	Predict Prediction
}

func (KernelRidge) learner() string { return "kernel-ridge" }

// kernelRidgeLearner is kernel ridge regression, also for classes, without a map: exact with n² memory, or by
// conjugate gradients (Product).
var kernelRidgeLearner = Traits{
	name:    KernelRidge{}.learner(),
	tasks:   []string{"classify", "regress"},
	options: KernelRidge{},
	squares: true,
	help: map[string]*option.Phrase{
		"product":  option.Phrasef("Gram matrix of kernel-ridge: exact (factorised), threshold, tree, gauss (approximate products)"),
		"accuracy": option.Phrasef("largest error of an element of the Gram matrix in approximate products (default 1e-4)"),
	},
	exact:  true,
	check:  checked((*KernelRidge).check),
	memory: (*job).kernelRidgeMemory,
	train:  (*job).kernelRidge,
	tried: tried{variants: func(c Config, d Data) []Config {
		if d.Rows > 3000 || d.Task != "regress" || c.Kernel.Name != c.usualKernel() {
			return nil
		}
		return []Config{c}
	}},
	fix: func(c *Config, r model.Report) {
		switch r := r.(type) {
		case *exact.RidgeReport:
			c.Set("lambda", r.Lambda)
		case *exact.IterativeReport:
			c.Set("lambda", r.Lambda)
		}
	},
}

// products are the ways to multiply by a Gram matrix; exact factorises it.
var products = []string{"exact", "threshold", "tree", "gauss"}

// check rejects an unknown product, and options that belong to another.
func (o *KernelRidge) check(*Config) error {
	o.Product = strings.ToLower(o.Product)
	if o.Product == "" {
		o.Product = products[0]
	}
	if !slices.Contains(products, o.Product) {
		return fmt.Errorf("product %q is not known; known are %s", o.Product, strings.Join(products, ", "))
	}
	switch {
	case o.Product == "exact" && o.Accuracy != 0:
		return fmt.Errorf("accuracy belongs to the approximate products: threshold, tree, gauss")
	case o.Product == "exact" && (o.Tolerance != 0 || o.MaxIter != 0):
		return fmt.Errorf("tolerance and max-iter belong to the iterative products: threshold, tree, gauss")
	case o.Accuracy < 0 || o.Accuracy >= 1 || math.IsNaN(o.Accuracy):
		return fmt.Errorf("accuracy %g is not a number from 0 to below 1", o.Accuracy)
	}
	return nil
}

// kernelRidgeMemory is the number of bytes that the training holds: the Gram matrix, or as much as is
// known about the approximate products in advance. These fail by themselves if they exceed the limit.
func (f *job) kernelRidgeMemory() (bytes float64, formula string) {
	rows, _ := f.rowsMemory()
	rows += f.lookupMemory()
	n, d, k := float64(f.sum.Rows), f.learnDim(), f.outputs
	switch {
	case f.cfg.Learner.(KernelRidge).Product != "exact":
		return rows + n*(12*float64(d)+64*float64(k)), "4·n·D of rows, 12·n·D of boxes, 64·n·K, and pairs of boxes"
	case f.cfg.Learner.(KernelRidge).Lambda == 0:
		return rows + float64(exact.RidgeBytes(f.sum.Rows, d, k, true)), "24·n² to choose λ by leave-one-out; 8·n² where λ is given"
	}
	return rows + float64(exact.RidgeBytes(f.sum.Rows, d, k, false)), "8·n²"
}

// kernelRidge trains on all rows.
func (f *job) kernelRidge() (*solution, error) {
	all, err := f.gather()
	if err != nil {
		return nil, err
	}
	defer timed(&f.report.Solve)()
	f.progress("solve", 0, -1)
	rows, _ := f.rowsMemory()
	k, y, limit := *f.pipe.Kernel(), f.allTargets(all), f.machineMemory(rows)
	o := f.cfg.Learner.(KernelRidge)
	var machine *exact.Machine
	var report model.Report
	if o.Product == "exact" {
		machine, report, err = exact.FitRidge(f.ctx, k, all.x, y, f.outputs, all.weights,
			exact.Ridge{Lambda: o.Lambda, Memory: limit})
	} else {
		accuracy := o.Accuracy
		if accuracy == 0 {
			accuracy = 1e-4
		}
		var p exact.Product
		switch o.Product {
		case "threshold":
			p, err = exact.NewThresholdProduct(f.ctx, k, all.x, accuracy, limit)
		case "tree":
			p, err = exact.NewTreeProduct(f.ctx, k, all.x, accuracy, limit)
		default:
			p, err = exact.NewGaussProduct(k, all.x, accuracy, limit)
		}
		if err == nil {
			opt := exact.Iterative{Lambda: o.Lambda, Tolerance: o.Tolerance, MaxIter: o.MaxIter, Seed: f.cfg.Seed}
			machine, report, err = exact.FitIterative(f.ctx, k, all.x, p, y, f.outputs, all.weights, opt)
		}
	}
	if err != nil {
		return nil, f.located(err)
	}
	return f.expanded(machine, report)
}

// targetsOf returns the targets of classes, n×outputs.
func targetsOf(class []int, outputs int) []float64 {
	y := make([]float64, len(class)*outputs)
	for i, c := range class {
		learn.Target(y[i*outputs:(i+1)*outputs], c)
	}
	return y
}
