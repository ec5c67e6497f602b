package feature

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Maps by random projection of any kernel's feature space, as far as m rows x_i that a map
// keeps of a sample span it (Kulis and Grauman, "Kernelized locality-sensitive hashing",
// 2009; Alavi et al., "Random projections on manifolds of symmetric positive definite matrices
// for image classification", 2014; Zhao et al., "Efficient clustering on Riemannian manifolds:
// a kernelised random projection approach", 2016; López-Sánchez 2019, section 2.4):
//
//	z_c(x) = Σ_i w_ic k(x_i, x)
//
// Let K = VΛVᵀ be the kept rows' centred Gram matrix without its zero eigenvalues, and a(x) =
// Λ^(-1/2) Vᵀ k_m(x) the kernel principal components of x, where k_m(x) are the k(x_i, x).
// Then a(x)·a(y) = k_m(x)ᵀK⁺k_m(y), and the three maps are random projections z(x) = Gᵀa(x).
//
// They preserve distances, not the kernel's values: ‖a(x)-a(y)‖ is the distance in the kernel's
// feature space between the projections of x and y onto the span of the differences of kept rows.
// a(x)·a(y) is k(x, y) minus a constant, the squared distance from the origin of the affine span of
// the kept rows. The inner products agree with the kernel's once both are centred at the mean of some
// rows ([Centred]). To a model with an intercept this makes no difference.
//
// Distances lack what lies outside the span, at any D: this error falls only with m. pk-rp, for
// poly, has no such floor and no constant.
//
// Eigenvalues below 10⁻¹⁰ of the largest are dropped. Fitting takes O(m²d + m³ + m·r·D)
// operations, about half a second for 1000 rows; a row then O(md + mD), in float64. The map
// holds 12md + 16mD bytes.
const (
	// KGRP has the columns √(m/t)·Vᵀe_c/√D of G, e_c the indicator of t of the kept rows at random:
	// nearly normal by the central limit theorem. E[z(x)·z(y)] is (m-t)/(m-1) times a(x)·a(y), as
	// 1ᵀV = 0. t is 30 as in the papers, but at most m/32 by default, for this factor's sake.
	KGRP = "kg-rp"

	// KORP has the same directions, orthonormalised and of length √(r/D), r the rank of K. If D > r,
	// every r of them are orthonormal. E[z(x)·z(y)] is a(x)·a(y) if r = m-1, otherwise close to it;
	// if r divides D, z(x)·z(y) equals it.
	KORP = "korp"

	// KPCARP has independent normal numbers over √D, on the leading components (rank; all by
	// default). E[z(x)·z(y)] is a(x)·a(y) on these, and the variance
	// [‖a(x)‖²‖a(y)‖² + (a(x)·a(y))²]/D.
	KPCARP = "kpca-rp"
)

// kernelRP is the maps [KGRP], [KORP] and [KPCARP].
type kernelRP struct {
	*weighted
	rank int
}

// smallest is the eigenvalue, relative to the largest, below which they are dropped. Kernel
// values have about 15 digits, and features keep as many as the eigenvalue's root.
const smallest = 1e-10

func fitKernelRP(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	m, t, err := sizesRP(cfg, sample.Len())
	if err != nil {
		return nil, err
	}
	dim := float64(sample.Dim())
	if err := affordable(cfg, sample.Dim(), 8*float64(m)*(dim+2*float64(cfg.Features)+4*float64(m))); err != nil {
		return nil, err
	}
	kept := keep(sample, m, cfg.Seed)
	against, err := kernel.NewAgainst(cfg.Kernel, matrix.Rows{Dense: kept})
	if err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	values, v, err := centredEigen(ctx, against, kept)
	if err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	r := len(values)
	if cfg.Rank > 0 {
		r = min(r, cfg.Rank)
	}
	w := weightsRP(values, v, directionsRP(cfg, v, m, r, t), r)
	f, err := newWeighted(cfg.Kernel, kept, w, cfg.Features, false)
	if err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	return &kernelRP{f, r}, nil
}

// sizesRP is how many rows m of a sample of n a map keeps, and how many t of these a direction is a sum of.
func sizesRP(cfg Config, n int) (m, t int, err error) {
	m, t = cfg.Pool, cfg.T
	if t < 0 || m < 0 || cfg.Rank < 0 {
		return 0, 0, fmt.Errorf("feature: %s: pool is %d, t %d and rank %d; they must be 1 or more, or 0 for the map's "+
			"choice", cfg.Map, m, t, cfg.Rank)
	}
	if m == 0 {
		m = int(math.Ceil(4 * math.Sqrt(float64(n))))
	}
	m = min(m, n)
	if m < 2 {
		return 0, 0, fmt.Errorf("feature: %s keeps %d rows of a sample of %d; it needs 2 or more", cfg.Map, m, n)
	}
	if t == 0 {
		t = max(1, min(30, m/32))
	}
	if t >= m {
		return 0, 0, fmt.Errorf("feature: %s: t is %d; it must be less than the %d rows that are kept", cfg.Map, t, m)
	}
	return m, t, nil
}

// directionsRP draws the D×r matrix Gᵀ, line by line.
func directionsRP(cfg Config, v []float64, m, r, t int) (g []float64) {
	var scale float64
	switch cfg.Map {
	case KPCARP:
		g = make([]float64, cfg.Features*r)
		for c := range cfg.Features {
			stream := random.New(cfg.Seed, "feature.kpca-rp", uint64(c))
			for k := range r {
				g[c*r+k] = stream.Normal() / math.Sqrt(float64(cfg.Features))
			}
		}
		return g
	case KGRP:
		g = indicators(cfg.Seed, v, m, r, t, cfg.Features)
		scale = math.Sqrt(float64(m) / float64(t) / float64(cfg.Features))
	default:
		g = indicators(cfg.Seed, v, m, r, t, cfg.Features)
		orthonormalise(g, r, cfg.Seed)
		scale = math.Sqrt(float64(r) / float64(cfg.Features))
	}
	for i := range g {
		g[i] *= scale
	}
	return g
}

// weightsRP is W = VΛ^(-1/2)G on the r leading components, a line for each kept row, of directions Gᵀ. K⁺ removes the mean, up to
// rounding.
func weightsRP(values, v, g []float64, r int) []float64 {
	m, features := len(v)/len(values), len(g)/r
	b := make([]float64, m*r)
	for i := range m {
		for k := range r {
			b[i*r+k] = v[i*len(values)+k] / math.Sqrt(values[k])
		}
	}
	w := make([]float64, m*features)
	vec.GemmNT(m, features, r, b, r, g, r, w, features)
	mean := make([]float64, features)
	for i := range m {
		for c, v := range w[i*features:][:features] {
			mean[c] += v / float64(m)
		}
	}
	for i := range m {
		for c := range mean {
			w[i*features+c] -= mean[c]
		}
	}
	return w
}

// keep copies m rows of a sample, chosen at random and in their order.
func keep(sample matrix.Rows, m int, seed uint64) *matrix.Dense {
	chosen := random.New(seed, "feature.kernel-rp.rows").Perm(sample.Len())[:m]
	slices.Sort(chosen)
	return gather(sample, chosen)
}

// gather copies the rows of x that chosen names.
func gather(x matrix.Rows, chosen []int) *matrix.Dense {
	rows := matrix.NewDense(len(chosen), x.Dim())
	for i, from := range chosen {
		if x.CSR != nil {
			laidOut(x.CSR, from, rows.Row(i))
		} else {
			copy(rows.Row(i), x.Dense.Row(from))
		}
	}
	return rows
}

// centredEigen returns the eigenvalues, largest first, of the centred Gram matrix of rows with
// themselves, without those that are 0 up to rounding, and the eigenvectors as columns of a
// matrix with a line for each row.
func centredEigen(ctx context.Context, a *kernel.Against, rows *matrix.Dense) (values, vectors []float64, err error) {
	m := rows.Rows
	gram, largest, err := gramOf(ctx, a, rows)
	if err != nil {
		return nil, nil, err
	}
	mean, all := make([]float64, m), 0.0
	for i := range m {
		for _, v := range gram[i*m:][:m] {
			mean[i] += v / float64(m)
		}
		all += mean[i] / float64(m)
	}
	for i := range m {
		for j := range gram[i*m:][:m] {
			gram[i*m+j] -= mean[i] + mean[j] - all
		}
	}
	if values, vectors, err = positiveEigen(ctx, m, gram, largest); err == nil && len(values) == 0 {
		err = fmt.Errorf("to the kernel all rows of the sample are alike; it takes different ones")
	}
	return values, vectors, err
}

// gramOf returns the Gram matrix of rows with themselves, where a evaluates the kernel against
// them, and its largest absolute value.
func gramOf(ctx context.Context, a *kernel.Against, rows *matrix.Dense) (gram []float64, largest float64, err error) {
	m := rows.Rows
	gram = make([]float64, m*m)
	vec.Parallel(m, 14, func(lo, hi int) {
		work := make([]float64, 14*a.Work())
		for ; lo < hi && ctx.Err() == nil; lo += 14 {
			end := min(lo+14, hi)
			a.Rows(matrix.Rows{Dense: rows}, lo, end, gram[lo*m:end*m], work)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	for i := range m {
		for j := range i {
			gram[j*m+i] = gram[i*m+j] // they may differ in the last digit
		}
	}
	for _, v := range gram {
		if v-v != 0 {
			return nil, 0, errNotFinite
		}
		largest = max(largest, math.Abs(v))
	}
	return gram, largest, nil
}

// positiveEigen returns the eigenvalues, largest first, of a Gram matrix of order m, without
// those that are 0 up to rounding, of kernel values of which one is as large as size; and
// the eigenvectors as columns of a matrix with m lines. It overwrites gram.
func positiveEigen(ctx context.Context, m int, gram []float64, size float64) (values, vectors []float64, err error) {
	ascending := make([]float64, m)
	if !vec.EigenSym(ctx, m, gram, m, ascending, true) {
		return nil, nil, cmp.Or(ctx.Err(), fmt.Errorf("the eigenvalues of the sample's kernel matrix did not converge"))
	}
	// Rounding errors of the kernel's values produce spurious eigenvalues.
	floor := max(smallest*ascending[m-1], 1e-15*float64(m)*size)
	r := 0
	for r < m && ascending[m-1-r] > floor {
		r++
	}
	values, vectors = make([]float64, r), make([]float64, m*r)
	for k := range r {
		values[k] = ascending[m-1-k]
		vector := gram[(m-1-k)*m:][:m]
		// Its sign, which depends on rounding, is made that of its largest element, so that
		// maps are the same on all machines, up to rounding.
		largest, sign := 0.0, 1.0
		for _, v := range vector {
			if math.Abs(v) > largest {
				largest, sign = math.Abs(v), math.Copysign(1, v)
			}
		}
		for i, v := range vector {
			vectors[i*r+k] = sign * v
		}
	}
	return values, vectors, nil
}

// indicators returns Vᵀe_c for each c, line by line, for indicators e_c of t of the m lines of
// V.
func indicators(seed uint64, v []float64, m, r, t, features int) []float64 {
	g := make([]float64, features*r)
	vec.Parallel(features, 16, func(lo, hi int) {
		order := make([]int, m)
		for c := lo; c < hi; c++ {
			stream := random.New(seed, "feature.kg-rp", uint64(c))
			for i := range order {
				order[i] = i
			}
			for i := range t {
				j := i + stream.Intn(m-i)
				order[i], order[j] = order[j], order[i]
				vec.Axpy64(1, v[order[i]*r:][:r], g[c*r:][:r])
			}
		}
	})
	return g
}

// orthonormalise makes every r lines of g orthonormal, one after the other, by the Gram-Schmidt
// method, twice, which is enough. A line in the span of the previous ones is replaced by
// a random one.
func orthonormalise(g []float64, r int, seed uint64) {
	for c := 0; c*r < len(g); c++ {
		line := g[c*r:][:r]
		before := g[c/r*r*r : c*r]
		stream := random.New(seed, "feature.korp", uint64(c))
		for {
			length := math.Sqrt(vec.Dot64(line, line))
			for range 2 {
				for at := 0; at < len(before); at += r {
					q := before[at:][:r]
					vec.Axpy64(-vec.Dot64(q, line), q, line)
				}
			}
			if rest := math.Sqrt(vec.Dot64(line, line)); rest > 1e-8*length {
				for k := range line {
					line[k] /= rest
				}
				break
			}
			for k := range line {
				line[k] = stream.Normal()
			}
		}
	}
}

// State has the rank in addition to the rows and weights.
func (f *kernelRP) State() map[string]*matrix.Dense {
	state := f.weighted.State()
	state["rank"] = matrix.NewDense(1, 1)
	state["rank"].Data[0] = float32(f.rank)
	return state
}

func restoreKernelRP(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	f, err := restoreWeighted(cfg, dim, state)
	if err != nil {
		return nil, err
	}
	rank := state["rank"]
	if f.low == nil || rank == nil || f.at.Rows < 2 || f.w.Cols != cfg.Features || rank.Rows != 1 || rank.Cols != 1 {
		return nil, fmt.Errorf("feature: %s: the state is not that of %d features of %d dimensions", cfg.Map, cfg.Features, dim)
	}
	r := rank.Row(0)[0]
	if !(r >= 1 && r < float32(f.at.Rows)) {
		return nil, fmt.Errorf("feature: %s: the state has rank %g of %d rows", cfg.Map, r, f.at.Rows)
	}
	return &kernelRP{f, int(r)}, nil
}

// Chosen is the number of kernel principal components that are projected.
func (f *kernelRP) Chosen() string {
	return fmt.Sprintf("on %d kernel principal components", f.rank)
}
