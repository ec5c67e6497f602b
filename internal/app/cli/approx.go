package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/search/approx"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/train"
)

// approximation is the state of the command "approx".
type approximation struct {
	pipe        pipeline.Config
	cfg         train.Config // of the kernel, the scaling, the options of maps and the seed
	asked       []string     // maps, as given
	features    []int
	rows        int
	fitOn       string
	goal        approx.Goal
	opt         approx.Options
	memory      bytesValue
	correlation bool // of projection vectors
	convert     string
	data        dataset.Options
	json        bool
	progress    string
	pages       Pages

	kernel    kernel.Kernel
	convertTo kernel.Kernel
	dim       int
	why       map[string]string
	name      string // of the data
	total     int    // rows of the data
	left      []approx.Skipped
}

const approxHelp = `Measure how far z(x)·z(y) is from the kernel k(x, y) over all pairs of some rows of DATA, for maps
and numbers of features D, and say how fast the error falls with D and what a row costs. With
--error or --rel, say which map at which D is the cheapest for such an error; of a map with one
number of features another is measured then, to know how fast its error falls.

Rows are scaled, and γ is chosen, as by train. Maps that are fitted to data (nystrom, say) are
fitted to other rows than they are judged on: the rest of a sample of DATA, or rows of --fit.

  D                  features that the map has; "360 of 1,024" where rows to fit to give no more
  mean abs, max abs  of |z(x)·z(y) - k(x, y)|
  rel, within        mean of |z(x)·z(y) - k(x, y)|/k(x, y) over the pairs where it is at most
                     100 %, and the share of pairs that they are
  max rel            the largest over all pairs
  bias               mean of z(x)·z(y) - k(x, y): 0 but for chance if the map is unbiased
  Frob.              ‖K̃ - K‖/‖K‖ of the Gram matrices
  dist.              distortion, the mean of |‖z(x)-z(y)‖²/d² - 1|, d the distance in the kernel's feature space
  Δ1, Δ2             spectral closeness: (1-Δ1)(K+λI) ≤ K̃+λI ≤ (1+Δ2)(K+λI) as matrices, on up to
                     500 rows; the accuracy of a ridge regression follows it
  dim                effective dimension tr K̃(K̃+λI)⁻¹, to be compared with that of K
  µs, one            microseconds a row in a batch, and for rows that come one by one
All are means over --seeds draws of the map. Maps that keep distances and not inner products, such as
kg-rp, are compared with the kernel after both are centred; the line "centred" names them.

With --correlation, for pk-rp and d2pk-rp: the mean absolute correlation and distance correlation of
the coordinates of projection vectors, by how many terms are summed, beside independent ones.
Coordinates with common factors depend on one another, which sums of many terms hide. Up to degree
20, and where not nearly all products of sparse entries are 0.

With --convert KERNEL: how good estimates of KERNEL are that are made from those of the maps, by
‖x-y‖² = ‖x‖² + ‖y‖² - 2x·y, of the rbf kernel from polynomial ones and back: with the lengths of
rows that z(x)·z(x) tells (of rbf it is 1, and tells none), and with those of the rows themselves.
Estimates that no rows have (an even power or a value of rbf that is not positive) are taken for
the nearest that some have; "impossible" is their share.`

func newApprox() *cobra.Command {
	a := &approximation{}
	cmd := &cobra.Command{
		Use:   "approx [flags] DATA",
		Short: "Measure how well feature maps approximate a kernel on data",
		Long:  approxHelp,
		Example: `  mercer approx letter.csv --label 0
  mercer approx digits.csv --map rff,orf,sorf,qmc --features 256,1024,4096
  mercer approx a9a --kernel poly --degree 2 --error 0.02 --report poly.html
  mercer approx a9a --kernel poly --degree 2 --coef0 0 --map tensorsketch --convert rbf
  mercer approx a9a --map '{"map":"chain","steps":[{"map":"countsketch","features":64},{"map":"orf","features":1024}]}' --map orf`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	kernelFlags(cmd, &a.cfg)
	f.StringArrayVar(&a.asked, "map", nil, "maps to measure, separated by commas (mercer maps lists them); or a chain or sum "+
		"in JSON, or @FILE with it; may be repeated (default: all maps that approximate the kernel at a reasonable cost)")
	f.Var(countsValue{&a.features}, "features", "numbers D of features, separated by commas, or a range that doubles, such as 256:4096 "+
		"(default 256,1024,4096; up to 1024 for nystrom and other maps with landmarks)")
	mapOptions(f, &a.cfg.Map.Options)
	f.IntVar(&a.rows, "rows", 1000, "rows to judge by, all pairs of them; half of the rows at most where maps are fitted")
	f.IntVar(&a.opt.Seeds, "seeds", 5, "how often each map is drawn")
	f.Uint64Var(&a.cfg.Seed, "seed", 1, "the first seed, and that of the rows")
	f.Float64Var(&a.opt.Lambda, "lambda", 0, "λ of Δ1, Δ2 and the effective dimension (default: a thousandth of the trace of K)")
	f.StringVar(&a.fitOn, "fit", "", "data to fit scaling, γ and maps on (default: DATA)")
	f.Float64Var(&a.goal.Error, "error", 0, "mean absolute error that is asked for: recommend the cheapest map and D")
	rel := f.Float64("rel", 0, "the same for the mean relative error, such as 0.05")
	f.Var(&a.memory, "memory", "most bytes that a map may hold (default 16GiB)")
	f.BoolVar(&a.correlation, "correlation", false, "for the maps pk-rp and d2pk-rp, measure how the coordinates of projection vectors "+
		"depend on one another")
	f.StringVar(&a.convert, "convert", "", "kernel, poly or rbf, whose values to estimate from the estimates of --kernel, the other one: its name, or "+
		"JSON such as {\"name\":\"poly\",\"gamma\":1,\"degree\":2} (γ by default from the rows)")
	scaleFlag(cmd, &a.cfg)
	dataFlags(cmd, &a.data)
	f.BoolVar(&a.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &a.progress)
	PageFlags(cmd, &a.pages)
	tableFlag(cmd, &a.pages)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		asked := 0
		for _, name := range []string{"error", "rel"} {
			if flag := f.Lookup(name); flag.Changed {
				asked++
			}
		}
		if f.Changed("rel") {
			a.goal = approx.Goal{Error: *rel, Relative: true}
		}
		switch {
		case asked > 1:
			return usagef("give one of --error and --rel")
		case asked == 1 && !(a.goal.Error > 0 && !math.IsInf(a.goal.Error, 0)):
			return usagef("the error asked for is %g; give a positive number", a.goal.Error)
		}
		return nil
	}
	return cmd
}

// check finds what is wrong with the flags themselves.
func (a *approximation) check(cmd *cobra.Command) error {
	var err error
	if a.pipe, err = exactPipeline(cmd, &a.cfg); err != nil {
		return err
	}
	a.cfg.Kernel.Name, a.cfg.Kernel.Degree = a.pipe.Kernel.Name, a.pipe.Kernel.Degree
	if err := checkData(&a.data); err != nil {
		return err
	}
	switch {
	case a.rows < 2:
		return usagef("--rows %d: give 2 or more", a.rows)
	case a.rows > 8000:
		return usagef("--rows %d: give 8000 at most; all pairs of them are compared", a.rows)
	case a.opt.Seeds < 1:
		return usagef("--seeds %d: give 1 or more", a.opt.Seeds)
	case a.opt.Lambda < 0 || math.IsNaN(a.opt.Lambda) || math.IsInf(a.opt.Lambda, 0):
		return usagef("--lambda %g: give a positive number", a.opt.Lambda)
	}
	for _, d := range a.features {
		if d < 1 {
			return usagef("--features %d: give 1 or more", d)
		}
	}
	return nil
}

func (a *approximation) run(cmd *cobra.Command, path string) error {
	ctx := cmd.Context()
	if err := a.check(cmd); err != nil {
		return err
	}
	if err := a.pages.Check(path, a.fitOn); err != nil {
		return err
	}
	if err := readLandmarks(ctx, &a.cfg, a.data); err != nil {
		return err
	}
	candidates, err := a.candidates()
	if err != nil {
		return err
	}
	if a.correlation {
		if err := checkCorrelation(candidates); err != nil {
			return err
		}
	}
	if err := a.checkConvert(candidates); err != nil {
		return err
	}
	p, err := NewProgress(cmd, a.progress)
	if err != nil {
		return err
	}
	defer p.Done()
	found, err := a.measure(ctx, path, candidates, p)
	if err != nil {
		return err
	}
	p.Done()
	return a.show(cmd, found)
}

// measure measures the candidates on rows of the data.
func (a *approximation) measure(ctx context.Context, path string, candidates []approx.Candidate, p *Progress) (*render.Approx, error) {
	rows, err := a.read(ctx, path, candidates, p)
	if err != nil {
		return nil, err
	}
	if candidates, err = a.fill(ctx, candidates, rows); err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	a.opt.Seed, a.opt.MaxBytes = a.cfg.Seed, int64(a.memory)
	a.opt.Progress = func(what string, share float64) { p.Report(what, 0, share) }
	r, err := approx.Measure(ctx, rows, candidates, a.opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	if len(a.asked) > 0 && len(r.Skipped) > 0 {
		return nil, fmt.Errorf("%s: %s", a.name, r.Skipped[0].Reason)
	}
	sortCurves(r)
	found := &render.Approx{
		Data: a.name, Total: a.total, Dim: a.dim, Kernel: a.kernel, Scale: a.cfg.Scale, Why: a.why,
		FitOn: a.fitOn, FitRows: rows.Fit.Len(), Left: a.left, Result: r,
	}
	if a.correlation {
		found.Vectors = a.vectors(candidates)
	}
	if a.convert != "" {
		if found.Converted, err = a.converted(ctx, rows, candidates); err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
	}
	if a.goal.Error > 0 {
		if found.Recommendation, err = approx.Recommend(ctx, rows, r, a.goal, a.opt); err != nil {
			return nil, a.outOfReach(err)
		}
	}
	return found, nil
}

// show prints what was found, and writes it to the files that were asked for.
func (a *approximation) show(cmd *cobra.Command, found *render.Approx) error {
	if !a.json {
		found.Text(cmd.OutOrStdout())
	}
	if err := a.pages.writeTable(cmd, a.json, found.CSV); err != nil {
		return err
	}
	if err := a.pages.Write(cmd, found.Page(), a.json); err != nil || !a.json {
		return err
	}
	return render.JSON(cmd.OutOrStdout(), found.JSON())
}

// sortCurves puts the map with the least error at its largest D first.
func sortCurves(r *approx.Result) {
	last := func(c approx.Curve) float64 { return c.Points[len(c.Points)-1].MeanAbs.Mean }
	slices.SortStableFunc(r.Curves, func(x, y approx.Curve) int {
		switch a, b := last(x), last(y); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
}

// outOfReach says by which flags an error can be had that no map comes to.
func (a *approximation) outOfReach(err error) error {
	var e *approx.OutOfReach
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	flag := "--error"
	if e.Goal.Relative {
		flag = "--rel"
	}
	return fmt.Errorf("%s: no map comes to the error of %g that %s asks for; the least measured is %.3g: give a larger %s, "+
		"larger --features (rates are followed to 16 times what was measured) or another --map", a.name, e.Goal.Error, flag, e.Least, flag)
}
