package reduce

import (
	"fmt"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Residual tells rows that principal components explain from others: its score is a limit less the squared distance of a row's features from the
// plane of the components,
//
//	‖z - z̄‖² - ‖Uᵀ(z - z̄)‖²,
//
// negative for outliers (kernel PCA for novelty detection: Hoffmann 2007). It does not change and is safe for concurrent use.
type Residual struct {
	*Projection
	Limit float64

	spare freelist.List[residualWork]
}

type residualWork struct{ centred, components matrix.Dense }

// NewResidual is the residual of K components u of D features, a component a row and orthonormal, and of their mean, D. Its arguments may come from a file.
func NewResidual(u, mean []float64, limit float64) (*Residual, error) {
	d := len(mean)
	if d == 0 || len(u) == 0 || len(u)%d != 0 {
		return nil, fmt.Errorf("reduce: components of %d numbers for %d features", len(u), d)
	}
	for _, list := range [][]float64{u, mean, {limit}} {
		for i, v := range list {
			if v-v != 0 {
				return nil, fmt.Errorf("reduce: number %d of the residual is %g, not a finite number", i+1, v)
			}
		}
	}
	p := &Projection{d: d, k: len(u) / d, mean: mean, u: u}
	p.narrow()
	return &Residual{Projection: p, Limit: limit}, nil
}

// Scores writes the scores of the rows z into dst, Len×1. A row's does not depend on the rows beside it.
func (r *Residual) Scores(dst *matrix.Dense, z matrix.Rows) {
	w := r.spare.Get()
	defer r.spare.Put(w)
	w.components.Reshape(z.Len(), r.k)
	r.Transform(&w.components, z, &w.centred)
	for i := range z.Len() {
		row, c := w.centred.Row(i), w.components.Row(i)
		dst.Row(i)[0] = float32(r.Limit - (vec.DotWide(row, row) - vec.DotWide(c, c)))
	}
}

// ResidualReport describes a fit.
type ResidualReport struct {
	// Outliers is the share of rows that may lie outside, Outside the share that does: less if rows are alike.
	Outliers float64 `json:"outliers"`
	Outside  float64 `json:"outside"`

	// Report is that of the components.
	Report Report `json:"components"`
}

// Lines describe the fit.
func (r *ResidualReport) Lines() []string {
	return []string{r.Report.Lines()[0], fmt.Sprintf("%.3g %% of the rows lie farther from them than the others, and so outside", 100*r.Outside)}
}
