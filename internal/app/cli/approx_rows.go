package cli

import (
	"context"
	"fmt"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/search/approx"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// read draws rows of the data, scales them, and fixes γ.
func (a *approximation) read(ctx context.Context, path string, candidates []approx.Candidate, p *Progress) (rows approx.Rows, err error) {
	fitRows := max(sampleRows(candidates), dataset.ScaleSample(a.pipe.Scale))
	a.name = path
	from := path
	wanted := a.rows + fitRows
	if a.fitOn != "" {
		from, wanted = a.fitOn, max(fitRows, 2000)
	}
	needsNoLabels(&a.data)
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
		rows.Fit = sample
		if rows.Judge, err = a.judged(ctx, path, &schema, scaling, p); err != nil {
			return rows, err
		}
	} else {
		rows = a.divide(sample, fitRows > 0)
	}
	if rows.Judge.Len() < 2 {
		return rows, fmt.Errorf("%s: %d rows are too few: maps are judged by pairs of rows, and those that are fitted need others; "+
			"give 4 rows or more", path, a.total)
	}
	if a.cfg.Map.Given, err = scaling.Landmarks(a.cfg.Map.Given, a.cfg.Map.GivenFile, from, &schema); err != nil {
		return rows, err
	}
	a.kernel.Gamma, _, err = a.pipe.GammaOf(rows.Fit)
	if err != nil {
		return rows, fmt.Errorf("%s: %w", from, err)
	}
	return rows, nil
}

// sampleRows is how many rows the candidates that look at data are fitted to, 0 if none does.
func sampleRows(candidates []approx.Candidate) int {
	n := 0
	for _, c := range candidates {
		if cfg := c.Config; feature.NeedsSample(cfg) {
			for _, d := range c.Features {
				cfg.Features = max(cfg.Features, d)
			}
			n = max(n, 2000, feature.SampleRows(cfg))
		}
	}
	return n
}

// divide divides rows into those that maps are judged by and those that they are fitted to.
func (a *approximation) divide(sample matrix.Rows, fitted bool) (rows approx.Rows) {
	n := sample.Len()
	judged := min(a.rows, n)
	if fitted {
		judged = min(a.rows, (n+1)/2)
	}
	order := random.New(a.cfg.Seed, "approx.rows").Perm(n)
	rows.Judge = matrix.Pick(sample, order[:judged])
	rows.Fit = rows.Judge
	if judged < n {
		rows.Fit = matrix.Pick(sample, order[judged:])
	}
	return rows
}

// judged are scaled rows of DATA where the maps are fitted to those of another file.
func (a *approximation) judged(ctx context.Context, path string, schema *dataset.Schema, scaling *pipeline.Pipeline,
	p *Progress) (x matrix.Rows, err error) {
	a.data.Schema = schema
	src, err := dataset.Open(ctx, path, a.data)
	if err != nil {
		return x, err
	}
	defer src.Close()
	sum, err := a.survey(ctx, src, a.rows, p)
	if err != nil {
		return x, err
	}
	a.total = sum.Rows
	if scaling.Outside(sum.Sample) != nil {
		// The sample does not know where its rows stand: a pass over all finds the first.
		if err := scaling.FindOutside(ctx, src); err != nil {
			return x, err
		}
	}
	if x, err = scaling.Scale(sum.Sample); err != nil {
		return x, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// survey reads data once and draws a sample.
func (a *approximation) survey(ctx context.Context, src *dataset.File, rows int, p *Progress) (*dataset.Summary, error) {
	return dataset.Survey(ctx, src, dataset.SurveyOptions{Seed: a.cfg.Seed, Sample: rows,
		Progress: func(rows int, share float64) { p.Report("read", rows, share) }})
}
