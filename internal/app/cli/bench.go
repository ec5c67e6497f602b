package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mercer/internal/app/bench"
	"mercer/internal/app/render"
	"mercer/internal/engine/units"
	"mercer/kernel"
)

func newBench() *cobra.Command {
	var (
		asJSON bool
		job    bench.Job
		of     bench.MapJob
	)
	cmd := &cobra.Command{
		Use:   "bench [flags]",
		Short: "Measure the vector kernels and the maps on this machine",
		Long: `Measure how fast the loops are that everything rests on, at one thread and at all, beside
what this machine can do at most: multiply-adds that wait for nothing, and memory read and
written in order. The two alternate, several rounds; a figure is the median, a share that of
the peak next to it. Shares of functions count the instructions that their method needs.

With --map, measure one map instead: generated rows of --d dimensions to --features.

The environment variable MERCER_CPU=generic, avx2 or avx512 chooses lesser instructions than
the machine has.`,
		Example: `  mercer bench
  mercer bench --only sgemm,dgemm --json
  mercer bench --map orf --d 784 --features 4096 --rows 10000`,
		Args: nArgs(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if of.Config.Map != "" {
				return benchMap(cmd, of, asJSON)
			}
			return benchKernels(cmd, job, asJSON)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	f.BoolVar(&job.Quick, "quick", false, "small shapes and one round: to see that it runs, not how fast")
	f.StringSliceVar(&job.Only, "only", nil, "measure these alone, by name")

	k := &of.Config.Kernel
	f.StringVar(&of.Config.Map, "map", "", "measure this map (mercer maps lists them) instead of the kernels")
	f.StringVar(&k.Name, "kernel", kernel.RBF.Name(), "with --map: kernel: "+strings.Join(kernel.Names(), ", "))
	f.Float64Var(&k.Gamma, "gamma", 0.01, "with --map: "+kernel.ParameterHelp("gamma"))
	f.IntVar(&k.Degree, "degree", 0, "with --map: "+kernel.ParameterHelp("degree"))
	f.Float64Var(&k.Coef0, "coef0", 1, "with --map: "+kernel.ParameterHelp("coef0"))
	f.Float64Var(&k.Nu, "nu", 1.5, "with --map: "+kernel.ParameterHelp("nu"))
	mapOptions(f, &of.Config.Options)
	f.IntVar(&of.D, "d", 784, "with --map: dimensions of the rows")
	f.IntVar(&of.Config.Features, "features", 4096, "with --map: features, unless the map decides")
	f.IntVar(&of.Rows, "rows", 10000, "with --map: rows")
	f.IntVar(&of.NNZ, "nnz", 0, "with --map: elements of a sparse row; 0: dense rows")
	return cmd
}

func benchKernels(cmd *cobra.Command, job bench.Job, asJSON bool) error {
	known := bench.Names()
	for _, name := range job.Only {
		if !slices.Contains(known, name) {
			return usagef("--only %q is not known; known are %s", name, strings.Join(known, ", "))
		}
	}
	if !asJSON {
		job.Started = func(r bench.Report) { benchHead(cmd.OutOrStdout(), r) }
		job.Done = func(r bench.Result) { benchLine(cmd.OutOrStdout(), r) }
	}
	report, err := job.Run(cmd.Context())
	if err != nil || !asJSON {
		return err
	}
	return render.JSON(cmd.OutOrStdout(), report)
}

func benchHead(w io.Writer, r bench.Report) {
	fmt.Fprintf(w, "Instructions: %s. At most, on one thread: %.0f GFLOP/s in float32, %.0f in float64; %.1f GB/s read, %.1f GB/s x + 3y\n\n",
		r.Level, r.Peak.F32, r.Peak.F64, r.Peak.Read, r.Peak.Triad)
	fmt.Fprintf(w, "  %-12s %-18s %8s %10s  %-14s %s\n", "", "shape", "threads", "", "", "share of peak")
}

func benchLine(w io.Writer, r bench.Result) {
	value := fmt.Sprintf("%.3g", r.Value)
	fmt.Fprintf(w, "  %-12s %-18s %8d %10s  %-14s %5.0f %%\n", r.Name, r.Shape, r.Threads, value, r.Unit, 100*r.Share)
}

func benchMap(cmd *cobra.Command, job bench.MapJob, asJSON bool) error {
	cfg := &job.Config
	if kind := cfg.Kernel.Kind(); kind != nil && !cmd.Flags().Changed("degree") {
		cfg.Kernel.Degree = kind.Usual().Degree
	}
	if !cmd.Flags().Changed("features") && cfg.Decides() {
		cfg.Features = 0
	}
	r, err := job.Run(cmd.Context())
	if stopped := cmd.Context().Err(); stopped != nil {
		return stopped
	}
	if err != nil {
		return UsageError{err}
	}
	if asJSON {
		return render.JSON(cmd.OutOrStdout(), r)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s (%s), %d dimensions to %d features: %.3g µs a row of %s on %d threads, "+
		"%.3g µs a row alone\n", r.Map, r.Kernel, r.D, r.Features, r.PerRow, units.Count(r.Rows), r.Threads, r.OneRow)
	return err
}
