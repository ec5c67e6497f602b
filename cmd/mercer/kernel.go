package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

// gram is the state of the command "kernel".
type gram struct {
	cfg      model.Config // the part on scaling, γ and seed
	kernel   kernel.Kernel
	data     dataset.Options
	out      string
	json     bool
	progress string
}

func newKernel() *cobra.Command {
	g := &gram{}
	cmd := &cobra.Command{
		Use:   "kernel [flags] DATA [DATA2] -o K.npy",
		Short: "Compute an exact Gram matrix",
		Long: `Compute the exact kernel between all rows of DATA, or between the rows of DATA and of DATA2,
and write it as a float64 array of n×n (or n×m) in NumPy's format. The rows are in memory,
the matrix never is.

Kernels:  linear     x·y
          rbf        exp(-γ‖x-y‖²)
          laplacian  exp(-γ‖x-y‖₁)
          poly       (γ x·y + coef0)^degree`,
		Example: `  mercer kernel digits.csv --kernel rbf --gamma 0.001 -o k.npy
  mercer kernel train.svm test.svm --kernel poly --degree 2 --coef0 1 --gamma 1 -o k.npy`,
		Args: nArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&g.out, "output", "o", "", "file to write the matrix to (NumPy's format)")
	f.StringVar(&g.kernel.Name, "kernel", "rbf", "kernel: linear, rbf, laplacian, poly")
	f.StringVar(&g.cfg.Gamma, "gamma", "median", "γ of the kernel: a number, median or scale")
	f.Float64Var(&g.cfg.Sigma, "sigma", 0, "σ in place of γ = 1/(2σ²)")
	f.IntVar(&g.kernel.Degree, "degree", 3, "degree of the poly kernel")
	f.Float64Var(&g.kernel.Coef0, "coef0", 1, "constant of the poly kernel")
	f.Uint64Var(&g.cfg.Seed, "seed", 1, "seed of the pairs that give the median distance")
	scaleFlag(cmd, &g.cfg, "none")
	dataFlags(cmd, &g.data)
	f.BoolVar(&g.json, "json", false, "print one JSON object instead of text")
	progressFlag(cmd, &g.progress)
	return cmd
}

func (g *gram) run(cmd *cobra.Command, args []string) error {
	if g.out == "" {
		return usagef("no file to write the matrix to; give -o K.npy")
	}
	g.cfg.Kernel = "linear" // the mapping is to scale, no more
	if err := g.cfg.Check(); err != nil {
		return usageError{err}
	}
	probe := g.kernel
	probe.Gamma = 1
	if err := probe.Validate(); err != nil {
		return usageError{err}
	}
	if err := checkData(&g.data); err != nil {
		return err
	}
	p, err := newProgress(cmd, g.progress)
	if err != nil {
		return err
	}
	defer p.done()
	ctx := cmd.Context()

	src, err := dataset.Open(ctx, args[0], g.data)
	if err != nil {
		return err
	}
	defer src.Close()
	scaling, _, err := model.FitMapping(ctx, src, g.cfg, model.Options{Progress: p.report})
	if err != nil {
		return err
	}
	x, err := scaledRows(ctx, src, scaling)
	if err != nil {
		return err
	}
	y := x
	if len(args) == 2 {
		schema := *src.Schema()
		schema.Dim = x.Dim()
		g.data.Schema = &schema
		src2, err := dataset.Open(ctx, args[1], g.data)
		if err != nil {
			return err
		}
		defer src2.Close()
		if y, err = scaledRows(ctx, src2, scaling); err != nil {
			return err
		}
	}
	if g.kernel.Gamma, err = g.gamma(x); err != nil {
		return fmt.Errorf("%s: %w", src.Name(), err)
	}
	k, err := kernel.NewGram(g.kernel, x, y)
	if err != nil {
		return err
	}
	w, err := dataset.CreateNPY(g.out, y.Len(), dataset.Float64)
	if err != nil {
		return err
	}
	defer w.Close()
	const block = 256
	part := make([]float64, block*y.Len())
	for i := 0; i < x.Len(); i += block {
		j := min(i+block, x.Len())
		part := part[:(j-i)*y.Len()]
		k.Rows(i, j, part)
		if err := w.WriteRows64(part); err != nil {
			return err
		}
		p.report("kernel", j, float64(j)/float64(x.Len()))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := w.Commit(); err != nil {
		return err
	}
	p.done()
	if g.json {
		return printJSON(cmd.OutOrStdout(), map[string]any{"output": g.out, "n": x.Len(), "m": y.Len(), "d": x.Dim(), "kernel": g.kernel})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "  %-10s%s, %s × %s, float64\n  %-10s%s\n", "saved", g.out, comma(x.Len()), comma(y.Len()), "kernel", g.kernel)
	return nil
}

// gamma is the γ that the flags ask for on the rows x.
func (g *gram) gamma(x matrix.Rows) (float64, error) {
	switch {
	case g.kernel.Name == "linear":
		return 1, nil
	case g.cfg.Sigma > 0:
		return 1 / (2 * g.cfg.Sigma * g.cfg.Sigma), nil
	case g.cfg.Gamma == "median":
		return kernel.MedianGamma(x, g.cfg.Seed, g.kernel.Name)
	case g.cfg.Gamma == "scale":
		return kernel.ScaleGamma(x.Dim(), model.Variance(x), g.kernel.Name)
	}
	return strconv.ParseFloat(g.cfg.Gamma, 64)
}

// scaledRows reads all rows of a source and scales them.
func scaledRows(ctx context.Context, src dataset.Source, scaling *model.Mapping) (matrix.Rows, error) {
	d, _ := scaling.Dims()
	all, err := dataset.Collect(ctx, src, d)
	if err != nil {
		return matrix.Rows{}, err
	}
	return scaling.Scale(all.X)
}
