package cli

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/engine/units"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/train"
)

// gram is the state of the command "kernel".
type gram struct {
	cfg      train.Config // the part on scaling, kernel and seed
	distance bool
	data     dataset.Options
	out      string
	yes      bool // write a large matrix
	json     bool
	progress string
}

func newKernel() *cobra.Command {
	g := &gram{}
	cmd := &cobra.Command{
		Use:   "kernel [flags] DATA [DATA2] -o K.npy",
		Short: "Compute an exact Gram matrix",
		Long: `Compute the exact kernel between all rows of DATA, or between the rows of DATA and of DATA2,
and write it as a float64 array of n×n (or n×m) in NumPy's format: 8·n·m bytes, of which more
than 1 GiB want --yes. The rows are in memory, the matrix never is. With --distance, the array
holds the squared distances of rows in the kernel's feature space, k(x, x) + k(y, y) - 2k(x, y),
to all digits.

Rows are scaled, and γ is chosen, as train does for a learner of the kernel itself; both by DATA
alone. --scale none leaves the numbers as they are.

` + kernelsHelp() + `
` + gammaHelp(),
		Example: `  mercer kernel digits.csv --kernel rbf -o k.npy
  mercer kernel digits.csv --scale none --kernel rbf --gamma 0.001 -o k.npy
  mercer kernel train.svm test.svm --kernel poly --degree 2 --coef0 1 --gamma 1 -o k.npy
  mercer kernel digits.csv --kernel matern --nu 2.5 --sigma 20 --distance -o d2.npy
  mercer kernel counts.svm --kernel exp-chi2 --scale l1 -o k.npy`,
		Args: nArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&g.out, "output", "o", "", "file to write the matrix to (NumPy's format)")
	kernelFlags(cmd, &g.cfg)
	f.BoolVar(&g.distance, "distance", false, "write squared distances in the kernel's feature space in place of values")
	f.Uint64Var(&g.cfg.Seed, "seed", 1, "seed of the pairs that give the median distance")
	f.BoolVar(&g.yes, "yes", false, "write a matrix of more than "+units.Bytes(largeMatrix))
	scaleFlag(cmd, &g.cfg)
	dataFlags(cmd, &g.data)
	f.BoolVar(&g.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &g.progress)
	return cmd
}

// kernelsHelp lists the kernels: name and formula, and under it what the kernel is for, and its parameters.
func kernelsHelp() string {
	var b strings.Builder
	b.WriteString("Kernels:\n")
	for _, kind := range kernel.Kinds() {
		fmt.Fprintf(&b, "  %-21s%s\n", kind, kind.Formula())
		about := kind.About()
		for i, p := range kind.Parameters() {
			sep := ", "
			if i == 0 {
				sep = " | "
			}
			about += sep + "--" + p.Name
		}
		fmt.Fprintf(&b, "  %-23s%s\n", "", about)
	}
	return b.String()
}

// gammaHelp says how γ follows from DATA: kernels with the same rule stand together.
func gammaHelp() string {
	type rule struct{ median, scale string }
	var rules []rule
	of := map[rule][]string{}
	for _, kind := range kernel.Kinds() {
		var r rule
		if r.median, r.scale = kind.GammaRule(); r.median == "" {
			continue
		}
		if of[r] == nil {
			rules = append(rules, r)
		}
		of[r] = append(of[r], kind.Name())
	}
	var b strings.Builder
	b.WriteString("γ by --gamma median, over random pairs of up to 2,000 rows of DATA, and by --gamma scale:\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "  %-21smedian: %s\n  %-21sscale: %s\n", strings.Join(of[r], ", "), r.median, "", r.scale)
	}
	b.WriteString("The variance is that of all numbers of DATA. All other kernels have no γ.")
	return b.String()
}

// largeMatrix is how many bytes of a matrix are written without --yes.
const largeMatrix = 1 << 30

// check finds what is wrong with the flags, and makes the configuration of scaling and kernel.
func (g *gram) check(cmd *cobra.Command) (pipeline.Config, error) {
	if g.out == "" {
		return pipeline.Config{}, usagef("no file to write the matrix to; give -o K.npy")
	}
	if ext := strings.ToLower(filepath.Ext(g.out)); ext != "" && ext != ".npy" {
		return pipeline.Config{}, usagef("-o %s: a matrix is written in NumPy's format; give a name that ends in .npy", g.out)
	}
	cfg, err := exactPipeline(cmd, &g.cfg)
	if err != nil {
		return cfg, err
	}
	return cfg, checkData(&g.data)
}

func (g *gram) run(cmd *cobra.Command, args []string) error {
	cfg, err := g.check(cmd)
	if err != nil {
		return err
	}
	p, err := NewProgress(cmd, g.progress)
	if err != nil {
		return err
	}
	defer p.Done()
	ctx := cmd.Context()

	needsNoLabels(&g.data)
	g.data.AsWritten = true
	src, err := dataset.Open(ctx, args[0], g.data)
	if err != nil {
		return err
	}
	defer src.Close()
	sum, err := dataset.Survey(ctx, src, dataset.SurveyOptions{Seed: cfg.Seed, Sample: dataset.ScaleSample(cfg.Scale),
		Progress: func(rows int, share float64) { p.Report("read", rows, share) }})
	if err != nil {
		return err
	}
	schema := *src.Schema()
	schema.Dim = sum.Dim
	other, m := src, sum.Rows
	if len(args) == 2 {
		g.data.Schema = &schema
		if other, err = dataset.Open(ctx, args[1], g.data); err != nil {
			return err
		}
		defer other.Close()
		second, err := dataset.Survey(ctx, other, dataset.SurveyOptions{Seed: cfg.Seed, Sample: 1})
		if err != nil {
			return err
		}
		m = second.Rows
	}
	if err := g.checkSize(sum.Rows, m, p); err != nil {
		return err
	}

	scaling, why, err := pipeline.Settle(ctx, cfg, pipeline.Rows{Name: src.Name(), Schema: &schema, Summary: sum,
		Find: func(s *pipeline.Pipeline) error { return s.FindOutside(ctx, src) }})
	if err != nil {
		return err
	}
	x, err := scaledRows(ctx, src, scaling)
	if err != nil {
		return err
	}
	y := x
	if other != src {
		if y, err = scaledRows(ctx, other, scaling); err != nil {
			return err
		}
	}
	k, err := kernel.NewGram(*scaling.Kernel(), x, y)
	if err != nil {
		return err
	}
	if err := g.write(ctx, k, src.Name(), p); err != nil {
		return err
	}
	p.Done()
	result := &render.Gram{Output: g.out, Rows: x.Len(), Of: y.Len(), Dim: x.Dim(), Bytes: matrixBytes(x.Len(), y.Len()),
		Scale: scaling.Scaler().Kind, Kernel: *scaling.Kernel(), Why: why, Distances: g.distance}
	sayLabel(cmd, args[0], &schema, &g.data, g.json)
	if g.json {
		return render.JSON(cmd.OutOrStdout(), result.JSON())
	}
	result.Text(cmd.OutOrStdout())
	return nil
}

// matrixBytes is the size of the file of n×m numbers.
func matrixBytes(n, m int) int64 { return 8 * int64(n) * int64(m) }

// checkSize refuses a large matrix without --yes, and announces one with it.
func (g *gram) checkSize(n, m int, p *Progress) error {
	size := matrixBytes(n, m)
	if size <= largeMatrix {
		return nil
	}
	if !g.yes {
		return usagef("the matrix of %s × %s numbers takes %s in %s; say --yes to write it", units.Count(n), units.Count(m),
			units.Bytes(size), g.out)
	}
	p.note(fmt.Sprintf("%s will take %s", g.out, units.Bytes(size)))
	return nil
}

// write computes the matrix, or the squared distances, of the rows of the data called name, some rows at a time.
func (g *gram) write(ctx context.Context, k *kernel.Gram, name string, p *Progress) error {
	rows, cols := k.Dims()
	w, err := dataset.CreateNPY(g.out, cols, dataset.Float64)
	if err != nil {
		return err
	}
	defer w.Close()
	compute := k.Rows
	if g.distance {
		compute = k.Distances2
	}
	const block = 256
	part := make([]float64, block*cols)
	for i := 0; i < rows; i += block {
		j := min(i+block, rows)
		part := part[:(j-i)*cols]
		compute(i, j, part)
		if err := finite(part, i, cols); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := w.WriteRows64(part); err != nil {
			return err
		}
		p.Report("kernel", j, float64(j)/float64(rows))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return w.Commit()
}

// finite finds the first value that is beyond what float64 holds, in a part of the matrix
// that starts with row first.
func finite(part []float64, first, cols int) error {
	for i, v := range part {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Errorf("the value of rows %d and %d (from 1) is too large for a float64; give a smaller --gamma or scale the data",
				first+i/cols+1, i%cols+1)
		}
	}
	return nil
}

// scaledRows reads all rows of a source and scales them; the kernel takes all of them.
func scaledRows(ctx context.Context, src dataset.Source, scaling *pipeline.Pipeline) (matrix.Rows, error) {
	d, _ := scaling.Dims()
	all, err := dataset.Collect(ctx, src, d)
	if err != nil {
		return matrix.Rows{}, err
	}
	if bad := scaling.Outside(all.X); bad != nil {
		return matrix.Rows{}, pipeline.Refused(bad, src, 0)
	}
	return scaling.Scale(all.X)
}
