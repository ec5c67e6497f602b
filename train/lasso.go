package train

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
	"mercer/model"
)

// Lasso are the options of the lasso, which minimises ‖y - Zw - b‖²/(2n) + λ‖w‖₁.
type Lasso struct {
	// Lambda is λ; 0 means that a held-out tenth of the rows chooses it.
	Lambda float64 `json:"lambda,omitempty" range:"positive"`

	// Tolerance and MaxIter say where iterations stop, 0 being their defaults.
	Tolerance float64 `json:"tolerance,omitempty" range:"positive"`
	MaxIter   int     `json:"max_iter,omitempty" range:"positive"`
}

// ElasticNet are the options of the elastic net, whose penalty is λ(α‖w‖₁ + (1-α)/2·‖w‖²).
type ElasticNet struct {
	// Lambda, Tolerance and MaxIter are those of Lasso, and L1Ratio is α; 0 means 0.5.
	Lambda    float64 `json:"lambda,omitempty" range:"positive"`
	L1Ratio   float64 `json:"l1_ratio,omitempty"`
	Tolerance float64 `json:"tolerance,omitempty" range:"positive"`
	MaxIter   int     `json:"max_iter,omitempty" range:"positive"`
}

// GroupLasso are the options of the group lasso, those of Lasso.
type GroupLasso Lasso

func (Lasso) learner() string      { return "lasso" }
func (ElasticNet) learner() string { return "elastic-net" }
func (GroupLasso) learner() string { return "group-lasso" }

// lassoLearner is least squares with few nonzero weights; one pass, no memory for rows.
var lassoLearner = Traits{
	name:    Lasso{}.learner(),
	tasks:   []string{"classify", "regress", "multilabel"},
	options: Lasso{},
	squares: true,

	parts:  (*job).lassoParts,
	sparse: true,

	memory: (*job).lassoMemory,
	fix:    fixLasso,
	solver: func(f *job) (solver, error) {
		return func(parts []*moments.Stats) (*solution, error) { return f.lasso(parts, 1, learn.FitLasso) }, nil
	},
}

// elasticNetLearner is a mixture of lasso and ridge regression.
var elasticNetLearner = Traits{
	name:    ElasticNet{}.learner(),
	tasks:   []string{"classify", "regress", "multilabel"},
	options: ElasticNet{},
	squares: true,
	help: map[string]*option.Phrase{
		"l1_ratio": option.Phrasef("α of the elastic-net, the part of λ that goes to |w| (default 0.5)"),
	},

	check:  checked((*ElasticNet).check),
	parts:  (*job).lassoParts,
	sparse: true,

	memory: (*job).lassoMemory,
	fix:    fixLasso,
	solver: func(f *job) (solver, error) {
		ratio := cmp.Or(f.cfg.Learner.(ElasticNet).L1Ratio, 0.5)
		return func(parts []*moments.Stats) (*solution, error) { return f.lasso(parts, ratio, learn.FitLasso) }, nil
	},
}

// groupLassoLearner is least squares that uses few of the maps of a sum, or few columns of the input.
var groupLassoLearner = Traits{
	name:    GroupLasso{}.learner(),
	tasks:   []string{"classify", "regress", "multilabel"},
	options: GroupLasso{},
	squares: true,

	parts:  (*job).lassoParts,
	sparse: true,

	memory: (*job).lassoMemory,
	fix:    fixLasso,
	solver: func(f *job) (solver, error) {
		if f.groups() == nil {
			return nil, option.Errorf("%s: group-lasso chooses among the maps of a sum, or among the columns of the input, but %s: take %s with a sum "+
				"of maps, the linear kernel, one of the maps %v, or the learner lasso", f.src.Name(), f.ungrouped(), option.Ref("map"), feature.ByColumn())
		}
		return func(parts []*moments.Stats) (*solution, error) { return f.lasso(parts, 0, learn.FitGroupLasso) }, nil
	},
}

func fixLasso(c *Config, r model.Report) { c.Set("lambda", r.(*learn.LassoReport).Lambda) }

func (o *ElasticNet) check(*Config) error {
	if !(o.L1Ratio >= 0 && o.L1Ratio <= 1) {
		return fmt.Errorf("l1_ratio %g is not a number above 0 and up to 1", o.L1Ratio)
	}
	return nil
}

// lassoMemory is the number of bytes that a lasso holds: the statistics of two parts of the rows, their
// products in full, and the systems of two targets with all weights nonzero, or the
// eigenvectors of groups.
func (f *job) lassoMemory() (bytes float64, formula string) {
	d, k := float64(f.learnDim()), float64(f.outputs)
	return 40*d*d + 128*d*k, "40·D² bytes"
}

// lassoParts is the number of parts of the rows: one is held out to choose λ.
func (f *job) lassoParts() int {
	if As[Lasso](f.cfg.Learner).Lambda == 0 {
		return 2
	}
	return 1
}

// lassoFit is one of the fits of learn.
type lassoFit func(context.Context, *moments.Stats, *moments.Stats, learn.Lasso) (*learn.Linear, *learn.LassoReport, error)

// lasso trains with one of them.
func (f *job) lasso(parts []*moments.Stats, ratio float64, fit lassoFit) (*solution, error) {
	main, held := parts[0], (*moments.Stats)(nil)
	if len(parts) == 2 {
		held = parts[1]
	}
	defer timed(&f.report.Solve)()
	f.progress("solve", 0, -1)
	o := As[Lasso](f.cfg.Learner)
	linear, report, err := fit(f.ctx, main, held, learn.Lasso{
		Lambda: o.Lambda, L1Ratio: ratio, Groups: f.groups(), Tolerance: o.Tolerance, MaxIter: o.MaxIter,
		Progress: func(int) { f.progress("solve", f.sum.Rows, -1) },
	})
	if err != nil {
		if f.ctx.Err() != nil {
			return nil, err
		}
		return nil, f.located(err)
	}
	return &solution{predictor: model.Linear{Linear: linear}, report: report}, nil
}

// groups returns the maps of a sum, or otherwise the columns of the input, as groups of features; nil
// if features belong to no group or are principal components.
func (f *job) groups() []learn.Group {
	if f.cfg.reduces() {
		return nil
	}
	var groups []learn.Group
	if sum, ok := f.pipe.Map().(feature.Parted); ok {
		first := 0
		for i, width := range sum.Parts() {
			g := learn.Group{Name: fmt.Sprintf("map %d (%s)", i+1, f.pipe.Feature().Steps[i].Map)}
			for j := range width {
				g.Features = append(g.Features, first+j)
			}
			first += width
			groups = append(groups, g)
		}
		return groups
	}
	if f.pipe.Feature() != nil && !slices.Contains(feature.ByColumn(), f.pipe.Feature().Map) {
		return nil
	}
	schema, d, all := &f.schema, f.schema.Dim, f.mapDim()
	group := func(name string, first, width int) {
		g := learn.Group{Name: name}
		for i := 0; i < all; i += d {
			for j := range width {
				g.Features = append(g.Features, i+first+j)
			}
		}
		groups = append(groups, g)
	}
	first := 0
	for i := range schema.Columns {
		c := &schema.Columns[i]
		group(fmt.Sprintf("column %q", c.Name), first, c.Width())
		first += c.Width()
	}
	for ; first < d; first++ {
		group(schema.DimName(first), first, 1)
	}
	return groups
}

// ungrouped says why there are no groups.
func (f *job) ungrouped() string {
	if f.cfg.reduces() {
		return "principal components are of all of them"
	}
	return fmt.Sprintf("features of the map %s belong to all columns", f.pipe.Feature().Map)
}
