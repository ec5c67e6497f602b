package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/present"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/pipeline"
	"mercer/train"
)

// gram is the state of the command "kernel".
type gram struct {
	cfg      train.Config // the part on scaling, γ and seed
	kernel   kernel.Kernel
	distance bool
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
the matrix never is. With --distance, the array holds the squared distances of rows in the
kernel's feature space, k(x, x) + k(y, y) - 2k(x, y), to all digits.

Kernels:  linear     x·y
          poly       (γ x·y + coef0)^degree
          exp        exp(γ x·y)
          arccos     ‖x‖ᵖ‖y‖ᵖ J(θ)/π, θ the angle between x and y, p the degree:
                     p = 0: J = π-θ;  p = 1: J = sin θ + (π-θ) cos θ
          rbf        exp(-γ‖x-y‖²)
          laplacian  exp(-γ‖x-y‖₁)
          cauchy     Π 1/(1 + γ²(x_j-y_j)²)
          matern     2^(1-ν)/Γ(ν)·z^ν K_ν(z), z = √(2ν)‖x-y‖/σ: exp(-‖x-y‖/σ) for ν = 0.5,
                     close to rbf for large ν; σ is its length scale, γ = 1/(2σ²)
of histograms, rows of numbers of 0 or more:
          hellinger       Σ √(x_j y_j)
          chi2            Σ 2x_j y_j/(x_j+y_j)
          intersection    Σ min(x_j, y_j)
          jensen-shannon  Σ x_j/2·log₂((x_j+y_j)/x_j) + y_j/2·log₂((x_j+y_j)/y_j)
                          With --homogeneity h every term of these four is times
                          (x_j y_j)^((h-1)/2), so that k(ax, ay) = aʰ·k(x, y).
          exp-chi2        exp(-γ Σ (x_j-y_j)²/(x_j+y_j))
and of numbers above -coef0:
          skewed-chi2          Π 2√(u_j v_j)/(u_j+v_j), u = x+coef0 and v = y+coef0
          skewed-intersection  Π min(√(u_j/v_j), √(v_j/u_j))

Gamma:    median     rbf, matern 1/median‖x-y‖², laplacian 1/median‖x-y‖₁, cauchy
                     1/√median‖x-y‖² and exp-chi2 1/median Σ(x_j-y_j)²/(x_j+y_j) over random
                     pairs of DATA's rows; poly, exp 1/median‖x‖²
          scale      1/(d·variance of all values); cauchy: its square root; exp-chi2:
                     1/(d·standard deviation of all values)
                     All other kernels have no γ.`,
		Example: `  mercer kernel digits.csv --kernel rbf --gamma 0.001 -o k.npy
  mercer kernel train.svm test.svm --kernel poly --degree 2 --coef0 1 --gamma 1 -o k.npy
  mercer kernel digits.csv --kernel matern --nu 2.5 --sigma 20 --distance -o d2.npy
  mercer kernel counts.svm --kernel exp-chi2 --scale l1 -o k.npy`,
		Args: nArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&g.out, "output", "o", "", "file to write the matrix to (NumPy's format)")
	f.StringVar(&g.kernel.Name, "kernel", "rbf", "kernel: "+strings.Join(kernel.Names(), ", "))
	f.StringVar(&g.cfg.Gamma, "gamma", "median", "γ of the kernel: a number, median or scale, or one of these times a number, such as median*4")
	f.Float64Var(&g.cfg.Sigma, "sigma", 0, "σ in place of γ = 1/(2σ²); of the matern kernel, the length scale")
	f.Float64Var(&g.kernel.Nu, "nu", 1.5, "ν of the matern kernel")
	f.IntVar(&g.kernel.Degree, "degree", 3, "degree of the poly kernel; of arccos, 0 or 1 (default of arccos: 1)")
	f.Float64Var(&g.kernel.Coef0, "coef0", 1, "constant of the poly and the skewed kernels")
	f.Float64Var(&g.kernel.Homogeneity, "homogeneity", 1, "degree of the kernels hellinger, chi2, intersection and jensen-shannon")
	f.BoolVar(&g.distance, "distance", false, "write squared distances in the kernel's feature space in place of values")
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
	if g.kernel.Name == "arccos" && !cmd.Flags().Changed("degree") {
		g.kernel.Degree = 1
	}
	g.kernel = g.kernel.Own()
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
	scaling, _, err := train.FitPipeline(ctx, src, g.cfg, train.Options{Progress: p.report})
	if err != nil {
		return err
	}
	x, err := scaledRows(ctx, src, scaling)
	if err != nil {
		return err
	}
	if err := outside(g.kernel, src, 0, x, g.cfg.Scale); err != nil {
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
		if err := outside(g.kernel, src2, 0, y, g.cfg.Scale); err != nil {
			return err
		}
	}
	if g.kernel.Gamma, _, err = (&pipeline.Config{Kernel: g.kernel, Gamma: g.cfg.Gamma, Sigma: g.cfg.Sigma, Seed: g.cfg.Seed}).GammaOf(x); err != nil {
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
	compute := k.Rows
	if g.distance {
		compute = k.Distances2
	}
	const block = 256
	part := make([]float64, block*y.Len())
	for i := 0; i < x.Len(); i += block {
		j := min(i+block, x.Len())
		part := part[:(j-i)*y.Len()]
		compute(i, j, part)
		if err := finite(part, i, y.Len()); err != nil {
			return fmt.Errorf("%s: %w", src.Name(), err)
		}
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
	result := &present.Gram{Output: g.out, Rows: x.Len(), Of: y.Len(), Dim: x.Dim(), Kernel: g.kernel, Distances: g.distance}
	if g.json {
		return present.JSON(cmd.OutOrStdout(), result.JSON())
	}
	result.Text(cmd.OutOrStdout())
	return nil
}

// outside is an error about the first number of scaled rows that a kernel does not take, nil if
// there is none; first is the number of the first row.
func outside(k kernel.Kernel, src dataset.Source, first int, x matrix.Rows, scale string) error {
	var e *kernel.DomainError
	if err := k.CheckRows(x); !errors.As(err, &e) {
		return err
	}
	scaled := ""
	if scale != "none" {
		scaled = fmt.Sprintf(" after --scale %s (--scale none leaves the numbers as they are)", scale)
	}
	return fmt.Errorf("%s, %s%s: %s", dataset.RowPlace(src, first+e.Row), src.Schema().DimName(e.Dim), scaled, e.Reason())
}

// finite finds the first value that is beyond what float64 holds, in a part of the matrix
// that starts with row first.
func finite(part []float64, first, cols int) error {
	for i, v := range part {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Errorf("the value of rows %d and %d (from 1) is too large for a float64; give a smaller --gamma or scale the data", first+i/cols+1, i%cols+1)
		}
	}
	return nil
}

// scaledRows reads all rows of a source and scales them.
func scaledRows(ctx context.Context, src dataset.Source, scaling *pipeline.Pipeline) (matrix.Rows, error) {
	d, _ := scaling.Dims()
	all, err := dataset.Collect(ctx, src, d)
	if err != nil {
		return matrix.Rows{}, err
	}
	return scaling.Scale(all.X)
}
