package train

import (
	"fmt"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/solve/exact"
	"mercer/model"
)

// KNN are the options of nearest neighbours: scores are means of the targets of the rows nearest in the kernel's feature space, which for linear, rbf
// and matern are the nearest rows.
type KNN struct {
	// Neighbours is their number; 0 means that leave-one-out chooses it, up to 100.
	Neighbours int `json:"neighbours,omitempty" range:"positive"`

	// Weighting is "uniform", or "distance" for 1 over the distance; "" means that leave-one-out chooses.
	Weighting string `json:"neighbour_weights,omitempty"`
}

func (KNN) learner() string { return "knn" }

// knnLearner is nearest neighbours, without a map: nothing is trained, and a prediction takes as long as a scan of all rows.
var knnLearner = Traits{
	name:    KNN{}.learner(),
	tasks:   []string{"classify", "regress"},
	options: KNN{},
	implied: []string{"neighbours", "neighbour_weights"},
	squares: true,
	help: map[string]*option.Phrase{
		"neighbours": option.Phrasef("rows whose targets knn averages (default: what leave-one-out finds best, up to 100)"),
		"neighbour_weights": option.Phrasef("how much each of them counts: uniform, alike, or distance, 1 over its distance " +
			"(default: what leave-one-out finds best)"),
	},
	exact:  true,
	orders: true,
	check:  checked((*KNN).check),
	memory: (*job).knnMemory,
	train:  (*job).knn,
	fix: func(c *Config, r model.Report) {
		if r, ok := r.(*exact.NearestReport); ok {
			c.Set("neighbours", r.Neighbours)
			c.Set("neighbour_weights", r.Weighting)
		}
	},
}

func (o *KNN) check(*Config) error {
	o.Weighting = strings.ToLower(o.Weighting)
	if o.Weighting != "" && !slices.Contains(exact.Weightings, o.Weighting) {
		return option.Errorf("%s is not known; known are %s", option.Set("neighbour_weights", o.Weighting), strings.Join(exact.Weightings, ", "))
	}
	return nil
}

// knnMemory is the number of bytes that the training holds.
func (f *job) knnMemory() (bytes float64, formula string) {
	rows, _ := f.rowsMemory()
	n, d, k := float64(f.sum.Rows), f.learnDim(), float64(f.outputs)
	if f.sum.Sparse && f.pipe.KeepsSparse() && f.sum.Density() < 1./16 {
		return rows + 8*n*k, "rows, and 8·n·K"
	}
	return rows + n*(16*float64(d)+8*k), "4·n·D of rows, 16·n·D and 8·n·K"
}

// knn keeps all rows.
func (f *job) knn() (*solution, error) {
	all, err := f.gather()
	if err != nil {
		return nil, err
	}
	defer timed(&f.report.Solve)()
	f.progress("solve", 0, -1)
	o := f.cfg.Learner.(KNN)
	if n := f.sum.Rows; o.Neighbours > n {
		return nil, f.located(fmt.Errorf("%d neighbours of %d rows; ask for fewer", o.Neighbours, n))
	}
	nearest, report, err := exact.FitNearest(f.ctx, *f.pipe.Kernel(), all.x, f.allTargets(all), f.outputs, all.weights,
		exact.NearestOptions{Neighbours: o.Neighbours, Weighting: o.Weighting}, f.cfg.Seed)
	if err != nil {
		return nil, f.located(err)
	}
	return &solution{predictor: model.Nearest{Of: nearest}, report: report}, nil
}
