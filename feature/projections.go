package feature

import (
	"math"

	"mercer/internal/spare"
	"mercer/internal/vec"
	"mercer/matrix"
)

// projections are random projections, of the rows themselves and from kernels' feature spaces.
func projections() []kind {
	return []kind{
		{name: "rp", about: "random projection of the rows themselves", options: []string{"entries", "sparsity"}, kernels: []string{"linear"}, check: checkEntries,
			make: func(cfg Config, dim int) (Map, error) { return newRP(cfg, dim) }},
		{name: "explicit-rp", about: "random projection from the polynomial kernel's feature space, gone through monomial by monomial",
			options: []string{"entries", "sparsity"}, kernels: []string{"poly"}, check: checkEntries,
			make: func(cfg Config, dim int) (Map, error) { return newExplicitRP(cfg, dim) }},
		{name: "reduced-poly", about: "all products of two different coordinates, exactly", dim: true, kernels: []string{"poly"},
			make: func(cfg Config, dim int) (Map, error) { return newReduced(cfg, dim) }},
		{name: "d2pk-rp", about: "random projection from the feature space of the polynomial kernel of degree two",
			options: []string{"sparsity", "t"}, kernels: []string{"poly"},
			make: func(cfg Config, dim int) (Map, error) { return newD2PK(cfg, dim) }},
		{name: "pk-rp", about: "random projection from the feature space of a polynomial kernel, by products of a pool of projections",
			options: []string{"entries", "sparsity", "pool", "t", "reuse"}, kernels: []string{"poly"}, check: checkEntries,
			make: func(cfg Config, dim int) (Map, error) { return newPKRP(cfg, dim) }},
		{name: "kg-rp", about: "random projection from any kernel's feature space, on sums of rows of a sample (Kulis and Grauman)",
			options: []string{"pool", "t"}, fit: fitKernelRP, restore: restoreKernelRP},
		{name: "korp", about: "kg-rp with orthonormal directions", options: []string{"pool", "t"}, fit: fitKernelRP, restore: restoreKernelRP},
		{name: "kpca-rp", about: "random projection of the kernel principal components of a sample",
			options: []string{"pool", "rank"}, fit: fitKernelRP, restore: restoreKernelRP},
	}
}

func checkEntries(cfg Config) error {
	_, err := projectionEntries(cfg)
	return err
}

// rp maps by random projection (Achlioptas 2001; López-Sánchez, "Low computational cost
// machine learning", 2019, section 2.1): z(x) = Rᵀx/√D with independent entries of mean 0
// and variance 1, so that E[z(x)·z(y)] = x·y, the linear kernel.
//
// The variance of z(x)·z(y) is [‖x‖²‖y‖² + (x·y)²]/D for normal entries, and for sparse ones
// (s-3)·Σx_i²y_i²/D more, which s = 1 makes less.
//
// Transforming a row takes O(dD) operations, a sparse one O(nnz·D), and the map holds 4dD
// bytes; with very sparse entries O(dD/s), O(nnz·D/s) and 8dD/s bytes.
type rp struct {
	*projection
	free spare.Slices[float32]
}

func newRP(cfg Config, dim int) (*rp, error) {
	e, err := projectionEntries(cfg)
	if err != nil {
		return nil, err
	}
	if err := affordable(cfg, dim, e.bytes(dim, cfg.Features)); err != nil {
		return nil, err
	}
	p := newProjection(e, dim, cfg.Features, 1/math.Sqrt(float64(cfg.Features)), 0, cfg.Seed, "feature.rp")
	return &rp{projection: p}, nil
}

func (f *rp) Dims() (in, out int) { return f.d, f.m }

func (f *rp) Bytes() int64 { return f.bytes() }

func (f *rp) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(f.d, f.m, dst, x)
	n := x.Len()
	switch {
	case n <= few || f.packed != nil:
		f.multiply(dst.Data, dst.Stride, x, 0, n, nil)
	default:
		vec.Parallel(n, 14, func(lo, hi int) {
			work := f.free.Get(f.work(tile))
			defer f.free.Put(work)
			for ; lo < hi; lo += tile {
				f.multiply(dst.Data[lo*dst.Stride:], dst.Stride, x, lo, min(lo+tile, hi), work)
			}
		})
	}
}
