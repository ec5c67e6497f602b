package feature

import (
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
)

// SORF is structured orthogonal random features (Yu, Suresh, Choromanski, Holtmann-Rice
// and Kumar, "Orthogonal random features", 2016): blocks of frequencies
//
//	S·H·D_3·H·D_2·H·D_1/n^(3/2)
//
// of order n, the power of two at or above d and option order. The D_i hold random signs, and S the lengths.
// The paper's are all √n (radius fixed), which is biased where n is small: by -0.037 for the
// rbf kernel at n = 16, ‖x-y‖ = 2σ. Otherwise they follow the kernel's own law in n dimensions, independently (radius
// chi) or evenly spread (coupled), as those of orf do; for the rbf kernel this is χ_n.
//
// The directions of the rows are nearly uniform, not quite. For the direction u of a row
//
//	E u_j⁴ = 3/n² - 6/n³ + 4/n⁴, and 3/(n(n+2)) = 3/n² - 6/n³ + 12/n⁴ - … if it were uniform
//
// and lower moments agree. So there is a bias, largest between rows that differ in a single
// dimension: at ‖x-y‖ = 2σ, for the rbf kernel, it is -0.21 for n = 2, where all frequencies lie
// on the diagonals, -0.14, -0.03 and -0.006 for n = 4, 8 and 16, and about -0.001 from 32 on. It
// is larger for kernels with heavy tails of frequencies (matern, ν = ½: 0.02 at n = 16, 0.002 at
// 64), and for the arccos kernel of order 0 between rows of a single element (1.2/n), since
// a few coordinates of u may all be 0. That is why a small order is padded: [Choose] sets option order to 32, for matern
// to 64 and for the steps of arccos to 256, with which the bias of all kernels is below 0.005 in any number of dimensions. A
// configuration without order, such as that of an older model, has the power of two at d as before, and its bias.
//
// The variance is about that of orf where D is at least 2n, the cost lower from 32 dimensions on and for
// single rows always. It is the map of choice for radial kernels and more than 16 dimensions; up to 16 orf and qmc cost as little.
//
// A row takes O(D log n) operations, sparse or not. The map holds 8D bytes in the form pair, 16D
// otherwise.
const SORF = "sorf"

func newSORF(cfg Config, dim int) (Map, error) {
	n := order(dim, cfg.Order)
	return newStructured(cfg, dim, n, func(l law, m int) func(first, size int) (blocks, error) {
		radius := l.radii(cfg, n, m)
		return func(first, size int) (blocks, error) {
			h := newChains(cfg.Seed, n, first, size, radius)
			return h, mustBeFinite(cfg, h.s)
		}
	})
}

// chains are blocks S·H·D_3·H·D_2·H·D_1.
type chains struct {
	n, size int
	d       []float32 // D_1, D_2, D_3 of all blocks
	s       []float32
}

// newChains draws blocks of which frequency j of the map has the length of radius.
func newChains(seed uint64, n, first, size int, radius func(r *random.Stream, j int) float64) *chains {
	h := &chains{n: n, size: size, d: make([]float32, 3*size), s: make([]float32, size)}
	unit := 1 / float64(float64(n)*math.Sqrt(float64(n))) // the rows of (H·D)³ have length n^(3/2)
	for b := 0; b < size; b += n {
		r := random.New(seed, "feature.sorf", uint64(first+b/n))
		for i := range 3 {
			r.FillSigns(h.d[i*size+b : i*size+b+n])
		}
		for i := range n {
			h.s[b+i] = float32(radius(r, first*n+b+i) * unit)
		}
	}
	return h
}

// radii returns the length of frequency j of n dimensions, which may take numbers from r.
func (l law) radii(cfg Config, n, count int) func(r *random.Stream, j int) float64 {
	switch cfg.Radius {
	case "coupled":
		lengths := l.coupled(cfg.Seed, n, count)
		return func(_ *random.Stream, j int) float64 {
			if j >= count {
				return 0 // no feature of the map
			}
			return lengths[j]
		}
	case "fixed":
		return func(r *random.Stream, _ int) float64 {
			l.radius(r, n) // the stream is that of chi
			return float64(l.scale * math.Sqrt(float64(n)) * l.stretch(r))
		}
	}
	return func(r *random.Stream, _ int) float64 { return l.radius(r, n) }
}

func (h *chains) scratch() int { return 0 }

func (h *chains) multiply(rows, width int, src []float32, lds int, dst []float32, ldd int, _ []float32) {
	vec.HD32(rows, h.n, h.size, width, h.d, h.s, src, lds, dst, ldd)
}
