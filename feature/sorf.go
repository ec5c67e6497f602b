package feature

import (
	"fmt"
	"math"

	"mercer/internal/random"
	"mercer/internal/vec"
)

// SORF is structured orthogonal random features (Yu, Suresh, Choromanski, Holtmann-Rice
// and Kumar, "Orthogonal random features", 2016): blocks of frequencies
//
//	S·H·D_3·H·D_2·H·D_1/n^(3/2)
//
// of order n, the power of two at or above d. The D_i hold random signs, and S the lengths.
// The paper's are all √n (radius fixed), which is biased where n is small: by -0.037 for the
// rbf kernel at n = 16, ‖x-y‖ = 2σ. Here they follow the kernel's own law in n dimensions
// (radius chi), as those of orf do; for the rbf kernel this is χ_n.
//
// The directions of the rows are nearly uniform, not quite. For the direction u of a row
//
//	E u_j⁴ = 3/n² - 6/n³ + 4/n⁴, and 3/(n(n+2)) = 3/n² - 6/n³ + 12/n⁴ - … if it were uniform
//
// and lower moments agree. So there is a bias, largest between rows that differ in a single
// dimension: at ‖x-y‖ = 2σ, for the rbf kernel, it is -0.21 for n = 2, where all frequencies lie
// on the diagonals, -0.14, -0.03 and -0.006 for n = 4, 8 and 16, and below 0.001 from 32 on. It
// is larger for kernels with heavy tails of frequencies (matern, ν = ½: 0.02 at n = 16, 0.003 at
// 64), and for the arccos kernel of order 0 between rows of a single element (1.2/n), since
// a few coordinates of u may all be 0. Up to 16 dimensions orf costs as little: use that.
//
// The variance is about that of orf from 8 dimensions on, the cost lower from 32 on and for
// single rows always. It is the map of choice for radial kernels and more than 16 dimensions.
//
// A row takes O(D log d) operations, sparse or not. The map holds 8D bytes in the form pair, 16D
// otherwise.
const SORF = "sorf"

func newSORF(cfg Config, dim int) (Map, error) {
	return newStructured(cfg, dim, func(l law, n, first, size int) (blocks, error) {
		h := newChains(cfg, l, n, first, size)
		return h, mustBeFinite(cfg, h.s)
	})
}

func checkRadius(cfg Config) error {
	switch cfg.Radius {
	case "", "chi", "fixed":
		return checkForm(cfg)
	}
	return fmt.Errorf("feature: sorf: radius %q is not known; known are chi, fixed", cfg.Radius)
}

// chains are blocks S·H·D_3·H·D_2·H·D_1.
type chains struct {
	n, size int
	d       []float32 // D_1, D_2, D_3 of all blocks
	s       []float32
}

func newChains(cfg Config, l law, n, first, size int) *chains {
	h := &chains{n: n, size: size, d: make([]float32, 3*size), s: make([]float32, size)}
	unit := 1 / float64(float64(n)*math.Sqrt(float64(n))) // the rows of (H·D)³ have length n^(3/2)
	for b := 0; b < size; b += n {
		r := random.New(cfg.Seed, "feature.sorf", uint64(first+b/n))
		for i := range 3 {
			r.FillSigns(h.d[i*size+b : i*size+b+n])
		}
		for i := range n {
			radius := l.radius(r, n)
			if cfg.Radius == "fixed" {
				radius = float64(l.scale * math.Sqrt(float64(n)) * l.stretch(r))
			}
			h.s[b+i] = float32(radius * unit)
		}
	}
	return h
}

func (h *chains) scratch() int { return 0 }

func (h *chains) multiply(rows, width int, src []float32, lds int, dst []float32, ldd int, _ []float32) {
	vec.HD32(rows, h.n, h.size, width, h.d, h.s, src, lds, dst, ldd)
}
