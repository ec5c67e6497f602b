package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// projections are random projections, of the rows themselves and from kernels' feature spaces.
func projections() []kind {
	entries := map[string][]string{"entries": {"normal", "sparse"}}
	return []kind{
		{name: RP, about: "random projection of the rows themselves",
			cost: "dD", source: "Achlioptas 2001",
			options: []string{"entries", "sparsity"}, words: map[string][]string{"entries": {"normal", "sparse", "orthonormal"}},
			takes: only(kernel.Linear), check: checkRP,
			make: func(cfg Config, dim int) (Map, error) { return newRP(cfg, dim) }},
		{name: ExplicitRP, about: "random projection from the polynomial kernel's feature space, monomial by monomial",
			cost: "d^p·D", source: "López-Sánchez 2019",
			options: []string{"entries", "sparsity"}, words: entries, takes: only(kernel.Poly), check: checkEntries,
			make: func(cfg Config, dim int) (Map, error) { return newExplicitRP(cfg, dim) }},
		{name: ReducedPoly, about: "all products of two different coordinates, exactly",
			cost: "D", source: "López-Sánchez et al. 2018", dim: true, takes: only(kernel.Poly),
			make: func(cfg Config, dim int) (Map, error) { return newReduced(cfg, dim) }},
		{name: D2PKRP, about: "random projection from the feature space of the polynomial kernel of degree two",
			cost: "tdD", source: "López-Sánchez et al. 2018",
			options: []string{"sparsity", "t"}, takes: only(kernel.Poly),
			make: func(cfg Config, dim int) (Map, error) { return newD2PK(cfg, dim) }},
		{name: PKRP, about: "random projection from the feature space of a polynomial kernel, by products of a pool of projections",
			cost: "dm + ptD", source: "López-Sánchez 2019",
			options: []string{"entries", "sparsity", "pool", "t", "reuse"},
			words:   map[string][]string{"entries": entries["entries"], "reuse": {"even", "random"}},
			takes:   only(kernel.Poly), check: checkEntries,
			make: func(cfg Config, dim int) (Map, error) { return newPKRP(cfg, dim) }},
		{name: KGRP, about: "random projection of the centred kernel's feature space, on sums of rows of a sample: keeps distances, not z·z",
			cost: "md + mD", source: "Kulis and Grauman 2009", centred: true,
			options: []string{"pool", "t"}, fit: fitKernelRP, restore: restoreKernelRP},
		{name: KORP, about: "kg-rp with orthonormal directions: keeps distances, not z·z",
			cost: "md + mD", source: "Alavi et al. 2014; Zhao et al. 2016",
			centred: true, options: []string{"pool", "t"}, fit: fitKernelRP, restore: restoreKernelRP},
		{name: KPCARP, about: "random projection of the centred kernel's principal components on a sample: keeps distances, not z·z",
			cost: "md + mD", source: "Alavi et al. 2014; Zhao et al. 2016", centred: true,
			options: []string{"pool", "rank"}, fit: fitKernelRP, restore: restoreKernelRP},
	}
}

func checkEntries(cfg Config) error {
	_, err := projectionEntries(cfg)
	return err
}

// checkRP checks the entries of rp, which may be those of orthonormal columns.
func checkRP(cfg Config) error {
	switch cfg.Entries {
	case "orthonormal":
		if cfg.Sparsity != 0 {
			return fmt.Errorf("feature: rp: orthonormal entries have no sparsity; use entries sparse")
		}
		return nil
	case "", "normal", "sparse":
		return checkEntries(cfg)
	}
	return fmt.Errorf("feature: rp: %q are not entries; known are normal, sparse, orthonormal", cfg.Entries)
}

// RP maps by random projection (Achlioptas 2001; López-Sánchez, "Low computational cost
// machine learning", 2019, section 2.1): z(x) = Rᵀx/√D with independent entries of mean 0
// and variance 1, so that E[z(x)·z(y)] = x·y, the linear kernel.
//
// The variance of z(x)·z(y) is [‖x‖²‖y‖² + (x·y)²]/D for normal entries, and for sparse ones
// (s-3)·Σx_i²y_i²/D more, which is negative for s = 1.
//
// With entries orthonormal R/√d has orthonormal columns (Johnson and Lindenstrauss 1984, the first form of such projections): those of a
// Haar-distributed orthogonal matrix, in blocks of d if D is more. A whole block keeps all dot products, so that only the last m = D mod d
// columns have a variance,
//
//	d·m·(d-m)/(D²·(d-1)·(d+2))·[‖x‖²‖y‖² + (1-2/d)·(x·y)²]:
//
// for D < d about 1 - D/d times that of normal entries. Drawing them takes O(d²D) operations.
//
// Transforming a row takes O(dD) operations, a sparse one O(nnz·D), and the map holds 4dD
// bytes; with very sparse entries O(dD/s), O(nnz·D/s) and 8dD/s bytes.
const RP = "rp"

// rp is the map [RP].
type rp struct {
	*projection
	free freelist.Slices[float32]
}

func newRP(cfg Config, dim int) (*rp, error) {
	if cfg.Entries == "orthonormal" {
		return newOrthonormal(cfg, dim)
	}
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

// newOrthonormal draws the columns as [ORF] draws the directions of its frequencies.
func newOrthonormal(cfg Config, dim int) (*rp, error) {
	if err := affordable(cfg, dim, 8*float64(dim)*(float64(cfg.Features)+float64(min(dim, cfg.Features)))); err != nil {
		return nil, err
	}
	w := matrix.NewDense(dim, cfg.Features)
	scale := math.Sqrt(float64(dim) / float64(cfg.Features))
	for lo := 0; lo < w.Cols; lo += dim {
		reflections := make([]reflection, min(dim, w.Cols-lo))
		vec.Parallel(len(reflections), 1, func(a, b int) {
			for k := a; k < b; k++ {
				reflections[k] = newReflection(random.New(cfg.Seed, "feature.rp.orthonormal", uint64(lo+k)), dim-k)
			}
		})
		haar(reflections, dim, func(j, c int, q [][width]float64) {
			for i := range q {
				row := w.Row(i)[lo+j:][:c]
				for k := range row {
					row[k] = float32(scale * q[i][k])
				}
			}
		})
	}
	return &rp{projection: &projection{d: dim, m: cfg.Features, packed: vec.Pack32(dim, cfg.Features, w.Data, w.Stride)}}, nil
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
