package feature

import (
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// RFF is random Fourier features (Rahimi and Recht, "Random features for large-scale
// kernel machines", 2007; for the arccos kernels Cho and Saul, "Kernel methods for deep
// learning", 2009): independent frequencies ω_j from the kernel's own distribution ([kernel.Law]), and sines and
// cosines of the projections on them. Option form is
//
//	pair   z(x) = √(2/D)·[cos ω_j·x, sin ω_j·x], j = 1 … D/2
//	phase  z(x) = √(2/D)·cos(ω_j·x + b_j), j = 1 … D, with b_j uniform on [0, 2π)
//
// and for the arccos kernels, which have no form, z(x) is √(2/D)·Θ(ω_j·x) in order 0 and
// √(2/D)·max(0, ω_j·x) in order 1. z(x)·z(y) is unbiased; with Δ = x-y its variance is
// [1 + k(2Δ) - 2k(Δ)²]/D for pair, [1 + ½k(2Δ) - k(Δ)²]/D for phase.
//
// The map works for every kernel that has frequencies, and is the reference for the
// others: orf and sorf vary less if the kernel is radial, qmc in few dimensions.
//
// A row takes O(dD) operations, a sparse one O(nnz·D). The map holds 2dD bytes in the form pair, 4dD
// otherwise.
const RFF = "rff"

func newRFF(cfg Config, dim int) (Map, error) {
	return newFourier(cfg, dim, func(w *matrix.Dense, waves *waves) {
		independent(w, cfg.Seed, newLaw(cfg.Kernel))
		waves.drawPhases(cfg.Seed)
	})
}

// Frequency j of a map depends only on the seed, j and the dimension: a map with more
// features begins with the frequencies of one with fewer.

// independent fills w with independent frequencies. Column j has its own stream.
func independent(w *matrix.Dense, seed uint64, l law) {
	const group = 16 // columns of one cache line
	vec.Parallel(w.Cols, group, func(lo, hi int) {
		for ; lo < hi; lo += group {
			var streams [group]*random.Stream
			var scale [group]float64
			for c := range streams {
				streams[c] = random.New(seed, "feature.rff", uint64(lo+c))
				scale[c] = float64(l.scale * l.stretch(streams[c]))
			}
			for i := range w.Rows {
				row := w.Row(i)[lo:min(lo+group, hi)]
				for c := range row {
					row[c] = float32(scale[c] * l.draw(streams[c]))
				}
			}
		}
	})
}

// fourier is a map that holds its frequencies as a matrix. Transforming a row takes O(dm)
// operations, a sparse one O(nnz·m), for m frequencies (D/2 of them in the pair form); the
// map holds 4dm bytes (twice that while it is drawn) and works in dst alone.
type fourier struct {
	waves
	w *vec.Packed[float32] // d×m: column j is ω_j
}

// newFourier makes a map with the frequencies that fill writes into the columns of a d×m
// matrix, and with the phases that it draws.
func newFourier(cfg Config, dim int, fill func(*matrix.Dense, *waves)) (Map, error) {
	waves := newWaves(cfg)
	// The matrix is held twice while it is packed.
	if err := affordable(cfg, dim, 8*float64(dim)*float64(waves.m)); err != nil {
		return nil, err
	}
	w := matrix.NewDense(dim, waves.m)
	fill(w, &waves)
	if err := mustBeFinite(cfg, w.Data); err != nil {
		return nil, err
	}
	return &fourier{waves, vec.Pack32(dim, waves.m, w.Data, w.Stride)}, nil
}

func (f *fourier) Dims() (in, out int) {
	d, _ := f.w.Dims()
	return d, f.features
}

// Bytes counts the frequencies and phases.
func (f *fourier) Bytes() int64 {
	d, m := f.w.Dims()
	return 4 * (int64(d)*int64(m) + int64(len(f.phases)))
}

// few is how many rows are mapped on the caller's goroutine, without allocation.
const few = 8

// Transform writes the projections x·ω where the sines or the features will be, and turns
// each block of them into features as soon as it is computed.
func (f *fourier) Transform(dst *matrix.Dense, x matrix.Rows) {
	d, m := f.w.Dims()
	check(d, f.features, dst, x)
	n := x.Len()
	if n == 0 {
		return
	}
	var after func(i, j, rows, cols int)
	if n > few {
		after = func(i, j, rows, cols int) { f.finish(dst, i, j, rows, cols) }
	}
	if x.CSR != nil {
		f.w.MultiplySparse(x.CSR.Ptr[:n+1], x.CSR.Idx, x.CSR.Val, dst.Data[f.at():], dst.Stride, after)
	} else {
		f.w.Multiply(n, x.Dense.Data, x.Dense.Stride, dst.Data[f.at():], dst.Stride, after)
	}
	if n <= few {
		f.finish(dst, 0, 0, n, m)
	}
}
