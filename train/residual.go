package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/option"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/reduce"
	"mercer/matrix"
	"mercer/model"
)

// Residual are the options of the detector of outliers by what principal components of the features leave out: rows far from the plane of the others.
type Residual struct {
	// Kept is the number of components; 0 means as many as hold 95 % of the variance.
	Kept int `json:"kept,omitempty" range:"positive"`

	// Outliers is the share of the rows that lie outside; 0 means 0.1.
	Outliers float64 `json:"outliers,omitempty"`
}

func (Residual) learner() string { return "residual" }

// residualLearner finds the plane of principal components near which most rows lie, to detect outliers.
var residualLearner = Traits{
	name:    Residual{}.learner(),
	tasks:   []string{"outliers"},
	options: Residual{},
	help: map[string]*option.Phrase{
		"kept": option.Phrasef("principal components of the features from whose plane residual measures (default: those of 95 %% of the variance)"),
	},
	check: checked((*Residual).check),
	memory: func(f *job) (float64, string) {
		d := float64(f.learnDim())
		return 40*d*d + 8*float64(f.sum.Rows), "40·D² bytes, and 8·n"
	},
	train: (*job).residual,
}

// usualShare is the share of the variance that components hold if their number is not given.
const usualShare = 0.95

func (o *Residual) check(c *Config) error {
	if c.reduces() {
		return errors.New("the learner residual finds components itself; give their number as kept, and leave out those before it")
	}
	return c.checkOutliers(o.Outliers)
}

// residual finds the components in one pass, and in another the limit that leaves out a share of the rows.
func (f *job) residual() (*solution, error) {
	o := f.cfg.Learner.(Residual)
	d := f.mapDim()
	all := moments.New(d, 1)
	if _, err := f.collectParts([]*moments.Stats{all}, []int{d}); err != nil {
		return nil, err
	}
	pca := reduce.PCA{Components: o.Kept}
	if o.Kept == 0 {
		pca.Share = usualShare
	}
	p, found, err := pca.Fit(f.ctx, all.Moments())
	if err != nil {
		return nil, f.located(err)
	}
	if found.Components == d {
		return nil, f.located(fmt.Errorf("%d components of %d features leave nothing out; keep fewer", d, d))
	}
	r := &reduce.Residual{Projection: p}
	type row struct{ score, weight float64 }
	var rows []row
	total, scores := 0.0, matrix.NewDense(0, 0)
	err = f.each("solve", func(b *matrix.Batch, z matrix.Rows) error {
		defer timed(&f.report.Solve)()
		scores.Reshape(z.Len(), 1)
		r.Scores(scores, z)
		for i := range z.Len() {
			w := f.weight(b, i)
			total += w
			rows = append(rows, row{float64(scores.Row(i)[0]), w})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	f.lastPass()
	report := &reduce.ResidualReport{Outliers: cmp.Or(o.Outliers, 0.1), Report: *found}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.score, b.score) })
	at := 0
	for ; at < len(rows)-1 && report.Outside+rows[at].weight <= report.Outliers*total*(1+1e-12); at++ {
		report.Outside += rows[at].weight
	}
	report.Outside /= total
	// The first row inside has a score of 0 or more, although its residual was rounded.
	r.Limit = float64(math.Nextafter32(float32(-rows[at].score), float32(math.Inf(1))))
	return &solution{predictor: model.Residual{Residual: r}, report: report}, nil
}
