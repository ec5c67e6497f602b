package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mercer/approx"
	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/present"
	"mercer/internal/random"
	"mercer/internal/units"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/pipeline"
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
	data        dataset.Options
	json        bool
	progress    string
	pages       pages

	kernel kernel.Kernel
	dim    int
	why    map[string]string
	name   string // of the data
	total  int    // rows of the data
	left   []approx.Skipped
	drawn  []present.VectorLine
}

func newApprox() *cobra.Command {
	a := &approximation{}
	cmd := &cobra.Command{
		Use:   "approx [flags] DATA",
		Short: "Measure how well feature maps approximate a kernel on data",
		Long: `Measure how far z(x)·z(y) is from the kernel k(x, y) over all pairs of some rows of DATA, for maps
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
20, and where not nearly all products of sparse entries are 0.`,
		Example: `  mercer approx letter.csv --label 0
  mercer approx digits.csv --map rff,orf,sorf,qmc --features 256,1024,4096
  mercer approx a9a --kernel poly --degree 2 --error 0.02 --report poly.html
  mercer approx a9a --map '{"map":"chain","steps":[{"map":"countsketch","features":64},{"map":"orf","features":1024}]}' --map orf`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	kernelFlags(cmd, &a.cfg)
	f.StringArrayVar(&a.asked, "map", nil, "maps to measure, separated by commas, see mercer maps; or a chain or sum in JSON, or @FILE with it; may be repeated (default: all that approximate the kernel and do not cost out of proportion)")
	f.Var(countsValue{&a.features}, "features", "numbers D of features, separated by commas, or a range that doubles, such as 256:4096 (default 256,1024,4096; of nystrom and its kin up to 1024)")
	mapOptions(f, &a.cfg.Options)
	f.IntVar(&a.rows, "rows", 1000, "rows to judge by, all pairs of them; half of the rows at most where maps are fitted")
	f.IntVar(&a.opt.Seeds, "seeds", 5, "how often each map is drawn")
	f.Uint64Var(&a.cfg.Seed, "seed", 1, "the first seed, and that of the rows")
	f.Float64Var(&a.opt.Lambda, "lambda", 0, "λ of Δ1, Δ2 and the effective dimension (default: a thousandth of the trace of K)")
	f.StringVar(&a.fitOn, "fit", "", "data to fit scaling, γ and maps on (default: DATA)")
	f.Float64Var(&a.goal.Error, "error", 0, "mean absolute error that is asked for: recommend the cheapest map and D")
	rel := f.Float64("rel", 0, "the same for the mean relative error, such as 0.05")
	f.Var(&a.memory, "memory", "most bytes that a map may hold (default 16GiB)")
	f.BoolVar(&a.correlation, "correlation", false, "look at how the coordinates of projection vectors depend on one another, of the maps pk-rp and d2pk-rp")
	scaleFlag(cmd, &a.cfg)
	dataFlags(cmd, &a.data)
	f.BoolVar(&a.json, "json", false, "print one JSON object instead of text")
	progressFlag(cmd, &a.progress)
	pageFlags(cmd, &a.pages)
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

func (a *approximation) run(cmd *cobra.Command, path string) error {
	ctx := cmd.Context()
	if err := a.check(cmd); err != nil {
		return err
	}
	if err := a.pages.check(path, a.fitOn); err != nil {
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
		any := false
		for _, c := range candidates {
			ok, err := checkVectors(c.Config)
			if err != nil {
				return err
			}
			any = any || ok
		}
		if !any {
			return usagef("--correlation: of the maps pk-rp and d2pk-rp, of the poly kernel, and none of them is measured")
		}
	}
	p, err := newProgress(cmd, a.progress)
	if err != nil {
		return err
	}
	defer p.done()
	rows, err := a.read(ctx, path, candidates, p)
	if err != nil {
		return err
	}
	if candidates, err = a.fill(candidates, rows); err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	a.opt.Seed, a.opt.MaxBytes = a.cfg.Seed, int64(a.memory)
	a.opt.Progress = func(what string, share float64) { p.report(what, 0, share) }
	r, err := approx.Measure(ctx, rows, candidates, a.opt)
	if err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	if len(a.asked) > 0 && len(r.Skipped) > 0 {
		return fmt.Errorf("%s: %s", a.name, r.Skipped[0].Reason)
	}
	sortCurves(r)
	if a.correlation {
		a.drawn = a.vectors(candidates)
	}
	var rec *approx.Recommendation
	if a.goal.Error > 0 {
		if rec, err = approx.Recommend(ctx, rows, r, a.goal, a.opt); err != nil {
			return a.outOfReach(err)
		}
	}
	p.done()
	found := &present.Approx{Data: a.name, Total: a.total, Dim: a.dim, Kernel: a.kernel, Scale: a.cfg.Scale, Why: a.why, FitOn: a.fitOn, FitRows: rows.Fit.Len(),
		Left: a.left, Vectors: a.drawn, Result: r, Recommendation: rec}
	if !a.json {
		found.Text(cmd.OutOrStdout())
	}
	if err := a.pages.writeTable(cmd, a.json, found.CSV); err != nil {
		return err
	}
	if a.json {
		if err := a.pages.write(cmd, found.Page(), true); err != nil {
			return err
		}
		return present.JSON(cmd.OutOrStdout(), found.JSON())
	}
	return a.pages.write(cmd, found.Page(), false)
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
	return fmt.Errorf("%s: no map comes to the error of %g that %s asks for; the least measured is %.3g: give a larger %s, larger --features (rates are followed to 16 times what was measured) or another --map",
		a.name, e.Goal.Error, flag, e.Least, flag)
}

// check finds what is wrong with the flags themselves.
func (a *approximation) check(cmd *cobra.Command) error {
	var err error
	if a.pipe, err = exactPipeline(cmd, &a.cfg); err != nil {
		return err
	}
	a.cfg.Kernel, a.cfg.Degree = a.pipe.Kernel.Name, a.pipe.Kernel.Degree
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

// candidates are the maps that are asked for, with kernels of which γ is not known yet.
func (a *approximation) candidates() ([]approx.Candidate, error) {
	a.kernel = a.pipe.Kernel
	a.kernel.Gamma = 1
	a.kernel = a.kernel.Own()
	names := approx.Maps(a.kernel)
	if len(a.asked) > 0 {
		names = nil
	}
	var configs []feature.Config
	for _, text := range a.asked {
		if strings.HasPrefix(strings.TrimSpace(text), "{") || strings.HasPrefix(text, "@") {
			var cfg feature.Config
			if err := (&mapValue{&cfg.Map, &cfg.Steps, &cfg.Weights}).Set(text); err != nil {
				return nil, usagef("--map %s: %w", text, err)
			}
			configs = append(configs, cfg)
			continue
		}
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
				names = append(names, name)
			}
		}
	}
	if len(names)+len(configs) == 0 {
		return nil, usagef("no map approximates the %s kernel itself; mercer maps lists the maps and their kernels", a.kernel)
	}
	given, err := a.givenOptions(names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		options, err := a.optionsOf(name, given)
		if err != nil {
			return nil, err
		}
		configs = append(configs, feature.Config{Map: name, Kernel: a.kernel, Options: options, Given: a.cfg.Given})
	}
	var list []approx.Candidate
	for _, cfg := range configs {
		if slices.ContainsFunc(list, func(c approx.Candidate) bool { return cfg.Steps == nil && c.Config.Map == cfg.Map }) {
			continue
		}
		c := approx.Candidate{Config: cfg, Features: a.featuresOf(cfg)}
		if err := a.probe(c); err != nil {
			if len(a.asked) == 0 {
				a.left = append(a.left, approx.Skipped{Map: c.Name(), Reason: err.Error()})
				continue
			}
			return nil, usageError{err}
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, usagef("%s", a.left[0].Reason)
	}
	return list, nil
}

// probe finds what is wrong with a candidate whatever the rows are.
func (a *approximation) probe(c approx.Candidate) error {
	cfg := a.pipe.Step(c.Config, func(string) float64 { return 1 })
	dims := c.Features
	if approx.Sizes(c.Config) != "features" {
		dims = []int{0}
	}
	for _, d := range dims {
		if d > 0 && cfg.Steps == nil {
			cfg.Features = d
		} else if d > 0 {
			cfg.Steps[len(cfg.Steps)-1].Features = d
		}
		if err := feature.Check(cfg); err != nil {
			return err
		}
	}
	return nil
}

// givenOptions are the options of maps that are set, by the names of their JSON. Each has to
// belong to one of the maps named.
func (a *approximation) givenOptions(names []string) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(a.cfg.Options)
	if err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, err
	}
	for option := range given {
		if !slices.ContainsFunc(names, func(name string) bool { return a.hasOption(name, option) }) {
			return nil, usagef("--%s: no map that is named has this option; mercer maps lists them (a map in JSON has its own)", option)
		}
	}
	return given, nil
}

// hasOption says whether a map has an option. A map of a kernel that has parts stands for a chain of two
// maps, which share the options.
func (a *approximation) hasOption(name, option string) bool {
	_, _, composite := a.kernel.Parts()
	return composite || slices.Contains(feature.OptionsOf(name), option)
}

// optionsOf are those of the given options that a map has.
func (a *approximation) optionsOf(name string, given map[string]json.RawMessage) (own feature.Options, err error) {
	has := maps.Clone(given)
	maps.DeleteFunc(has, func(option string, _ json.RawMessage) bool { return !a.hasOption(name, option) })
	text, err := json.Marshal(has)
	if err == nil {
		err = json.Unmarshal(text, &own)
	}
	return own, err
}

// featuresOf are the numbers of features to measure; those of maps of histograms, which have so
// many for each dimension, are known when the dimensions are.
func (a *approximation) featuresOf(cfg feature.Config) []int {
	sizes := approx.Sizes(cfg)
	switch {
	case sizes == "":
		return nil
	case len(a.features) > 0:
		return slices.Clone(a.features)
	case sizes == "terms":
		return a.termsTimesDim()
	case cfg.Given != nil:
		return []int{cfg.Given.Rows}
	}
	usual := feature.Usual(cfg.Map)
	return slices.DeleteFunc([]int{256, 1024, 4096}, func(d int) bool { return usual > 0 && d > usual })
}

// termsTimesDim are 3, 5 and 9 features a dimension.
func (a *approximation) termsTimesDim() []int {
	d := max(1, a.dim)
	return []int{3 * d, 5 * d, 9 * d}
}

// read draws rows of the data, scales them, and fixes γ.
func (a *approximation) read(ctx context.Context, path string, candidates []approx.Candidate, p *progress) (rows approx.Rows, err error) {
	fitRows := 0
	for _, c := range candidates {
		if cfg := c.Config; feature.NeedsSample(cfg) {
			for _, d := range c.Features {
				cfg.Features = max(cfg.Features, d)
			}
			fitRows = max(fitRows, 2000, feature.SampleRows(cfg))
		}
	}
	a.name = path
	from := path
	wanted := a.rows + fitRows
	if a.fitOn != "" {
		from, wanted = a.fitOn, max(fitRows, 2000)
	}
	src, err := dataset.Open(ctx, from, a.data)
	if err != nil {
		return rows, err
	}
	defer src.Close()
	sum, err := a.survey(ctx, src, wanted, p)
	if err != nil {
		return rows, err
	}
	schema := *src.Schema()
	schema.Dim = sum.Dim
	scaling, why, err := pipeline.SettleScaling(a.pipe, pipeline.Rows{Name: from, Schema: &schema, Summary: sum,
		Find: func(s *pipeline.Pipeline) error { return s.FindOutside(ctx, src) }})
	if err != nil {
		return rows, err
	}
	a.dim, a.total, a.cfg.Scale, a.why = sum.Dim, sum.Rows, scaling.Scaler().Kind, why
	sample, err := scaling.Scale(sum.Sample)
	if err != nil {
		return rows, fmt.Errorf("%s: %w", from, err)
	}
	if a.fitOn != "" {
		a.data.Schema = &schema
		other, err := dataset.Open(ctx, path, a.data)
		if err != nil {
			return rows, err
		}
		defer other.Close()
		judged, err := a.survey(ctx, other, a.rows, p)
		if err != nil {
			return rows, err
		}
		a.total = judged.Rows
		if scaling.Outside(judged.Sample) != nil {
			// The sample does not know where its rows stand: a pass over all finds the first.
			if err := scaling.FindOutside(ctx, other); err != nil {
				return rows, err
			}
		}
		rows.Fit = sample
		if rows.Judge, err = scaling.Scale(judged.Sample); err != nil {
			return rows, fmt.Errorf("%s: %w", path, err)
		}
	} else {
		n := sample.Len()
		judged := min(a.rows, n)
		if fitRows > 0 {
			judged = min(a.rows, (n+1)/2)
		}
		order := random.New(a.cfg.Seed, "approx.rows").Perm(n)
		rows.Judge = matrix.Pick(sample, order[:judged])
		rows.Fit = rows.Judge
		if judged < n {
			rows.Fit = matrix.Pick(sample, order[judged:])
		}
	}
	if rows.Judge.Len() < 2 {
		return rows, fmt.Errorf("%s: %d rows are too few: maps are judged by pairs of rows, and those that are fitted need others; give 4 rows or more", path, a.total)
	}
	if a.cfg.Given, err = scaling.Landmarks(a.cfg.Given, a.cfg.GivenFile, from, &schema); err != nil {
		return rows, err
	}
	a.kernel.Gamma, _, err = a.pipe.GammaOf(rows.Fit)
	if err != nil {
		return rows, fmt.Errorf("%s: %w", from, err)
	}
	return rows, nil
}

// survey reads data once and draws a sample.
func (a *approximation) survey(ctx context.Context, src *dataset.File, rows int, p *progress) (*dataset.Summary, error) {
	return dataset.Survey(ctx, src, dataset.SurveyOptions{Seed: a.cfg.Seed, Sample: rows,
		Progress: func(rows int, share float64) { p.report("read", rows, share) }})
}

// fill gives candidates what the rows told: γ, given landmarks, and how many features there are in
// so many dimensions.
func (a *approximation) fill(candidates []approx.Candidate, rows approx.Rows) ([]approx.Candidate, error) {
	var failed error
	var list []approx.Candidate
	for i := range candidates {
		c := &candidates[i]
		if c.Config.Steps == nil {
			c.Config.Kernel = a.kernel
			if c.Config.Given != nil {
				c.Config.Given = a.cfg.Given
			}
		}
		var err error
		if c.Config, err = a.pipe.SettleSteps(c.Config, rows.Fit); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if len(a.asked) == 0 && pipeline.Wide(a.dim) && a.kernel.Smooth() && !slices.Contains(frugal, c.Config.Map) {
			c.Config = pipeline.Shortened(c.Config)
		}
		c.Features = a.featuresOf(c.Config)
		if len(a.asked) == 0 && feature.Usual(c.Config.Map) > 0 {
			c.Features = slices.DeleteFunc(c.Features, func(d int) bool { return 8*int64(d)*int64(a.dim) > landmarkBytes })
			if len(c.Features) == 0 {
				a.left = append(a.left, approx.Skipped{Map: c.Name(), Reason: fmt.Sprintf("%s: landmarks of %s dimensions take more than %s; name it by --map to measure it nevertheless",
					c.Name(), units.Count(a.dim), units.Bytes(landmarkBytes))})
				continue
			}
		}
		list = append(list, *c)
	}
	return list, failed
}

// landmarkBytes is what landmarks may take that nobody asked for.
const landmarkBytes = 1 << 28

// frugal maps cost by what is in a row and not by its dimensions. The others are, by default, made of
// rows that are shortened first, as train does it, for kernels of x·y and ‖x-y‖, which a countsketch keeps.
var frugal = []string{"countsketch", "tensorsketch", "nystrom", "icholesky", "unary", "homogeneous", "chebyshev", "elementary"}

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
