package papers

import (
	"context"
	"fmt"
	"math"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/search/approx"
	"mercer/kernel"
	"mercer/matrix"
)

// method is a row of a table of distortions: a map without D and the seed.
type method struct {
	name   string
	theirs string // the figures, as printed
	cfg    feature.Config
}

// distortions describes a table of mean distortions of pairs of rows: methods by D.
type distortions struct {
	degree  int // p of (x·y)^p
	dims    []int
	rows    int // how many are mapped
	methods []method

	// open reads the data. Its function draws rows to be mapped,
	// and rows to fit maps to.
	open func(ctx context.Context, dir string) (func(n int, seed uint64) (test, train matrix.Rows), error)
}

// A quick run maps quickRows rows, and leaves out maps that are fitted to more than quickPool.
const (
	quickRows = 100
	quickPool = 500
)

// table completes a table from its description.
func (d distortions) table(t Table) *Table {
	t.Corner = "mean distortion"
	for _, dim := range d.dims {
		t.Columns = append(t.Columns, fmt.Sprintf("D = %d", dim))
	}
	for _, m := range d.methods {
		t.Rows = append(t.Rows, Row{m.name, figures(m.theirs)})
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		rows, dims := d.rows, d.dims
		if quick {
			rows, dims = min(rows, quickRows), dims[:1]
		}
		choose, err := d.open(ctx, dir)
		if err != nil {
			return nil, err
		}
		return func(seed uint64) (experiment, error) {
			x, train := choose(rows, seed)
			k := kernel.Kernel{Name: "poly", Gamma: 1, Degree: d.degree}
			exact, err := approx.Distances2(k, x)
			if err != nil {
				return nil, err
			}
			return func(i int) ([]float64, error) {
				cfg := d.methods[i].cfg
				if quick && cfg.Map == "kg-rp" && cfg.Pool > quickPool {
					return nil, nil
				}
				cfg.Kernel, cfg.Seed = k, random.Hash(seed, "papers.map", uint64(i))
				features, err := mapped(cfg, dims, x, train)
				if err != nil {
					return nil, err
				}
				all := make([]float64, len(dims))
				for j, z := range features {
					if all[j], err = distortion(z, exact); err != nil {
						return nil, err
					}
				}
				return all, nil
			}, nil
		}, nil
	}
	return &t
}

// mapped returns the features of x under the map of a configuration for several D, with
// independent random numbers.
func mapped(cfg feature.Config, dims []int, x, train matrix.Rows) ([]*matrix.Dense, error) {
	if feature.NeedsSample(cfg) && cfg.Map != "nystrom" {
		return fitted(cfg, dims, x, train)
	}
	var all []*matrix.Dense
	for j, dim := range dims {
		cfg := cfg
		cfg.Features, cfg.Seed = dim, random.Hash(cfg.Seed, "papers.features", uint64(j))
		sample := x // not used by a map that is drawn
		if cfg.Map == "nystrom" {
			sample = draw(train, dim, cfg.Seed, "nystrom") // all are landmarks
		}
		z, err := transformed(cfg, x, sample)
		if err != nil {
			return nil, err
		}
		all = append(all, z)
	}
	return all, nil
}

// fitted is mapped for a map that is fitted to cfg.Pool rows of train. Fitting is nearly
// all of the work, so it is done once, for the total outputs of all dims, each of which
// gets separate outputs: given the rows, outputs are independent.
func fitted(cfg feature.Config, dims []int, x, train matrix.Rows) ([]*matrix.Dense, error) {
	for _, d := range dims {
		cfg.Features += d
	}
	z, err := transformed(cfg, x, draw(train, cfg.Pool, cfg.Seed, "sample"))
	if err != nil {
		return nil, err
	}
	var all []*matrix.Dense
	at := 0
	for _, d := range dims {
		part := z.Columns(at, at+d)
		at += d
		factor := float32(math.Sqrt(float64(cfg.Features) / float64(d))) // 1/√D is in the map
		for i := range part.Rows {
			for j := range part.Row(i) {
				part.Row(i)[j] *= factor
			}
		}
		all = append(all, part)
	}
	return all, nil
}

// transformed returns the features of x.
func transformed(cfg feature.Config, x, sample matrix.Rows) (*matrix.Dense, error) {
	if cfg.Map == "explicit-rp" {
		cfg.MaxBytes = 2 << 30 // it is used once, so that a larger matrix need not be kept
	}
	m, err := feature.Fit(context.Background(), cfg, sample)
	if err != nil {
		return nil, err
	}
	_, out := m.Dims()
	z := matrix.NewDense(x.Len(), out)
	m.Transform(z, x)
	return z, nil
}

// distortion returns the mean distortion of the features' distances, by the kernel's.
func distortion(z *matrix.Dense, distances2 []float64) (float64, error) {
	ours, err := approx.Gram(kernel.Kernel{Name: "linear"}, matrix.Rows{Dense: z})
	if err != nil {
		return 0, err
	}
	mean, ok := approx.Distortion(z.Rows, ours, distances2)
	if !ok {
		return 0, fmt.Errorf("all %d rows are equal", z.Rows)
	}
	return mean, nil
}
