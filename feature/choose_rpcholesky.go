package feature

import (
	"context"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// rpcholesky chooses by randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber, "Randomly
// pivoted Cholesky: practical approximation of a kernel matrix with few entry evaluations",
// 2025): one row after the other, with a probability proportional to its residual of k(x,
// x) after the previous rows, the diagonal of the Schur complement. The expected trace of the
// residual is within a factor 1 + ε of that of the best approximation of rank r after about
// r/ε + r·log(1/(ε·share)) rows, where share is its part of the trace.
//
// Rows are drawn in blocks (Epperly, Tropp and Webber, "Embrace rejection: kernel matrix
// approximation by accelerated randomly pivoted Cholesky", 2024): proposals follow the diagonal
// before the block, and each is accepted with the ratio by which earlier rows of the block
// have reduced its own. This gives the same distribution, by matrix products.
//
// O(nm(d + m)) operations and 8nm bytes for n rows and m landmarks.
func rpcholesky(c choice) (*matrix.Dense, error) {
	f, err := newPartial(c.ctx, c.kernel, c.sample, c.m)
	if err != nil {
		return nil, err
	}
	stream := random.New(c.seed, "feature.landmarks.rpcholesky")
	for len(f.pivots) < c.m && f.trace() > exhausted*f.whole {
		if err := f.random(stream, min(c.m-len(f.pivots), max(1, min(128, c.m/8)))); err != nil {
			return nil, err
		}
	}
	chosen := slices.Clone(f.pivots)
	slices.Sort(chosen)
	return gather(c.sample, chosen), nil
}

// exhausted is the share of the trace that counts as rounding: no rows are chosen for it.
const exhausted = 1e-13

// partial is a partial Cholesky factor of the Gram matrix K of n rows: K ≈ FFᵀ is exact in
// the rows and columns of the pivots.
type partial struct {
	ctx    context.Context
	kernel kernel.Kernel
	x      matrix.Rows
	most   int       // columns that F has room for
	f      []float64 // n×most
	pivots []int
	left   []float64 // the diagonal of K - FFᵀ
	whole  float64   // the trace of K
}

func newPartial(ctx context.Context, k kernel.Kernel, x matrix.Rows, most int) (*partial, error) {
	f := &partial{ctx: ctx, kernel: k, x: x, most: most, left: k.Diagonal(x)}
	f.whole = f.trace()
	if f.whole-f.whole != 0 {
		return nil, errNotFinite
	}
	f.f = make([]float64, x.Len()*most)
	return f, nil
}

// trace is that of K - FFᵀ.
func (f *partial) trace() float64 { return total(f.left) }

// random adds rows at random: of b proposals those that are accepted.
func (f *partial) random(stream *random.Stream, b int) error {
	cumulated := make([]float64, len(f.left))
	sum := 0.0
	for i, v := range f.left {
		sum += v
		cumulated[i] = sum
	}
	proposed := make([]int, b)
	for t := range proposed {
		proposed[t] = random.Pick(cumulated, stream.Uniform())
	}
	rows := matrix.Rows{Dense: gather(f.x, proposed)}
	h, err := gramRows(f.ctx, f.kernel, rows, rows)
	if err != nil {
		return err
	}
	// The residual of the proposals' Gram matrix after F, and then after the accepted ones.
	r := len(f.pivots)
	for s := range b {
		for t := range b {
			h[s*b+t] -= vec.Dot64(f.row(proposed[s])[:r], f.row(proposed[t])[:r])
		}
	}
	var accepted []int
	for s, p := range proposed {
		rest := h[s*b+s]
		u := stream.Uniform()
		if rest <= exhausted*f.whole/float64(len(f.left)) {
			f.left[p] = 0
			continue
		}
		if !(u*f.left[p] < rest) {
			continue
		}
		accepted = append(accepted, p)
		column := make([]float64, b)
		for t := s; t < b; t++ {
			column[t] = h[t*b+s] / math.Sqrt(rest)
		}
		for t := s + 1; t < b; t++ {
			for u := s + 1; u < b; u++ {
				h[t*b+u] -= float64(column[t] * column[u])
			}
		}
	}
	return f.add(accepted)
}

func (f *partial) row(i int) []float64 { return f.f[i*f.most:][:f.most] }

// add makes rows the next pivots: their columns of K - FFᵀ = GLᵀ, L the Cholesky factor of
// those rows themselves, go to F as G.
func (f *partial) add(rows []int) error {
	r, b := len(f.pivots), len(rows)
	if b == 0 {
		return nil
	}
	g, err := kernel.NewGram(f.kernel, f.x, matrix.Rows{Dense: gather(f.x, rows)})
	if err != nil {
		return err
	}
	pivots := make([]float64, b*r) // their rows of F
	for s, p := range rows {
		copy(pivots[s*r:][:r], f.row(p))
	}
	// First the rows themselves, which give L.
	n, l := len(f.left), make([]float64, b*b)
	own, err := gramRows(f.ctx, f.kernel, matrix.Rows{Dense: gather(f.x, rows)}, matrix.Rows{Dense: gather(f.x, rows)})
	if err != nil {
		return err
	}
	for s := range b {
		for t := range s + 1 {
			v := own[s*b+t] - vec.Dot64(pivots[s*r:][:r], pivots[t*r:][:r])
			v -= vec.Dot64(l[s*b:][:t], l[t*b:][:t])
			if s == t {
				l[s*b+s] = math.Sqrt(max(v, math.SmallestNonzeroFloat64))
			} else {
				l[s*b+t] = v / l[t*b+t]
			}
		}
	}
	const step = 512
	values, products := make([]float64, step*b), make([]float64, step*b)
	for i := 0; i < n; i += step {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		end := min(i+step, n)
		g.Rows(i, end, values[:(end-i)*b])
		if r > 0 {
			vec.GemmNT(end-i, b, r, f.f[i*f.most:], f.most, pivots, r, products, b)
		}
		vec.Parallel(end-i, 16, func(lo, hi int) {
			for t := lo; t < hi; t++ {
				f.solve(i+t, r, values[t*b:][:b], products[t*b:][:b], l)
			}
		})
	}
	for _, p := range rows {
		f.left[p] = 0
	}
	f.pivots = append(f.pivots, rows...)
	return nil
}

// solve writes row i of G from column r on, from its kernel values and their part in FFᵀ,
// and reduces the residual.
func (f *partial) solve(i, r int, values, products, l []float64) {
	row := f.row(i)[r:]
	b, less := len(values), 0.0
	for s, v := range values {
		v -= products[s]
		v = (v - vec.Dot64(row[:s], l[s*b:][:s])) / l[s*b+s]
		row[s] = v
		less += float64(v * v)
	}
	f.left[i] = max(0, f.left[i]-less)
}
