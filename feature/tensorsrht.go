package feature

import (
	"fmt"
	"math"
	"math/bits"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// TensorSRHT approximates the poly kernel by features that are products of p projections
//
//	√(1/D)·Π_k (H·S_k·x̃)_{i_k},  x̃ = [√γ·x, √c],
//
// with H the Hadamard matrix of order n, the power of two at or above the width of x̃, S_k
// random signs, and i_k random positions (Hamid, Xiao, Gittens and DeCoste, "Compact random
// feature maps", 2014; Wacker, Kanagawa and Filippone, "Improved random features for dot
// product kernels", 2022). With option complex the signs are 1, i, -1, -i, and the D/2
// complex features become [Re, Im] (Wacker, Ohana and Filippone, "Complex-to-real sketches
// for tensor products with applications to the polynomial kernel", 2022).
//
// Positions are drawn without replacement. The papers do so within blocks of n features,
// each with its own signs: a block has each position of a factor once. Here n blocks share their
// signs, and any two positions of two factors meet in at most one of their n² features: feature
// l of block b has the positions π_k(l ⊕ α_k·b), for random permutations π_k and different
// elements α_k of the field of n elements (an orthogonal array of strength two: Bush,
// "Orthogonal arrays of index unity", 1952). So the variance due to single projections
// vanishes with n features, and that due to pairs of them with n²: for p = 2, n² features are
// exact. It also takes fewer transforms.
//
// z(x)·z(y) is unbiased, since H·S_k keeps dot products. Let N_t count, of all ordered pairs
// of M features with the same signs, those that agree in t of p positions. With a, b, c as for
// [TensorSketch] and V = b + c the variance is
//
//	(1/M²)·Σ_t N_t·[(a+V)^t·(a-V/(n-1))^(p-t) - a^p],  M = D.
//
// With option complex, M = D/2, and it is the mean of those with V = b and with V = c.
//
// A row, sparse or not, takes O(p·(⌈D/n²⌉·n·log n + D)) operations, and the map 4pD bytes for
// the positions and 8pn⌈D/n²⌉ for the signs, twice that if complex. Use it, complex, for
// dense rows and the least error.
const TensorSRHT = "tensorsrht"

// tensorSRHT is the map [TensorSRHT].
type tensorSRHT struct {
	augmented
	features int // D
	m        int // features, real or complex
	n        int // order of H
	complex  bool
	groups   int                      // of n blocks, each group with its own signs
	signs    []float32                // of each group, of each factor: n for the real parts, n for the imaginary
	scales   []float32                // of the projections: 1, and √(1/M) for those of the first factor
	places   []int32                  // of each factor, of each feature: where in the projections
	work     freelist.Slices[float32] // x̃, then the projections
}

func newTensorSRHT(cfg Config, dim int) (*tensorSRHT, error) {
	h, err := newAugmented(cfg, dim)
	if err != nil {
		return nil, err
	}
	m, err := halves(cfg)
	if err != nil {
		return nil, err
	}
	const largest = 1 << 20
	if h.width() > largest {
		return nil, fmt.Errorf("feature: tensorsrht: rows of %d dimensions; it takes %d at most, and tensorsketch any number", dim, largest)
	}
	t := &tensorSRHT{augmented: h, features: cfg.Features, m: m, complex: cfg.Complex}
	t.n = 1 << bits.Len(uint(h.width()-1))
	blocks := (m + t.n - 1) / t.n
	t.groups = (blocks + t.n - 1) / t.n
	parts := 1
	if t.complex {
		parts = 2
	}
	projections := float64(t.groups) * float64(h.degree) * float64(parts) * float64(t.n)
	if err := affordable(cfg, dim, 12*projections+4*float64(h.degree)*float64(m)); err != nil {
		return nil, err
	}
	if projections > math.MaxInt32 {
		return nil, fmt.Errorf("feature: tensorsrht: %d features of %d dimensions need %.3g projections; use fewer "+
			"features", cfg.Features, dim, projections)
	}
	t.signs, t.scales = make([]float32, int(projections)), make([]float32, int(projections))
	t.places = make([]int32, h.degree*m)
	for g := range t.groups {
		for k := range h.degree {
			t.draw(g, k, parts, random.New(cfg.Seed, "feature.tensorsrht", uint64(g), uint64(k)))
		}
	}
	return t, nil
}

// draw makes the signs and positions of factor k in group g.
func (t *tensorSRHT) draw(g, k, parts int, r *random.Stream) {
	start := (g*t.degree + k) * parts * t.n
	signs, scale := t.signs[start:start+parts*t.n], float32(1)
	if k == 0 {
		scale = float32(1 / math.Sqrt(float64(t.m)))
	}
	for i := range signs {
		t.scales[start+i] = scale
	}
	for i := range t.n {
		re, im := sign(r, t.complex)
		signs[i] = re
		if t.complex {
			signs[t.n+i] = im
		}
	}
	permutation := r.Perm(t.n)
	for b := range t.n {
		shift := b
		if k == 0 {
			shift = 0
		}
		for range k - 1 {
			shift = timesX(shift, t.n)
		}
		for l := range t.n {
			f := (g*t.n+b)*t.n + l
			if f >= t.m {
				return
			}
			t.places[k*t.m+f] = int32(start + permutation[l^shift])
		}
	}
}

// timesX multiplies by X in the field of n = 2^e elements, polynomials over {0, 1} modulo a
// primitive one: all powers of X up to the n-2nd are different.
func timesX(v, n int) int {
	v <<= 1
	if v >= n {
		v ^= n | primitive[bits.Len(uint(n))-1]
	}
	return v
}

// primitive has for each degree e a primitive polynomial without its X^e (Peterson and
// Weldon, "Error-correcting codes", 1972).
var primitive = [...]int{0, 1, 3, 3, 3, 5, 3, 3, 0x1d, 0x11, 9, 5, 0x53, 0x1b, 0x443, 3, 0x100b, 9, 0x81, 0x27, 9}

// Dims returns d and D.
func (t *tensorSRHT) Dims() (in, out int) { return t.dim, t.features }

// Bytes counts signs and positions.
func (t *tensorSRHT) Bytes() int64 {
	return 4 * (int64(len(t.signs)) + int64(len(t.scales)) + int64(len(t.places)))
}

// Transform projects each row once, and multiplies projections.
func (t *tensorSRHT) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(t.dim, t.features, dst, x)
	eachRow(t, dst, x)
}

func (t *tensorSRHT) rows(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	work := t.work.Get(t.n + len(t.signs))
	row, projections := work[:t.width()], work[t.n:t.n+len(t.signs)]
	for i := lo; i < hi; i++ {
		t.expand(row, x, i)
		vec.HD32(1, t.n, len(projections), len(row), t.signs, t.scales, row, len(row), projections, len(projections))
		if t.complex {
			t.complexProducts(dst.Row(i), projections)
		} else {
			t.products(dst.Row(i), projections)
		}
	}
	t.work.Put(work)
}

// expand writes x̃_i to row.
func (h *augmented) expand(row []float32, x matrix.Rows, i int) {
	if x.CSR != nil {
		clear(row)
		idx, val := x.CSR.Row(i)
		for k, j := range idx {
			row[j] = h.scale * val[k]
		}
	} else {
		for j, v := range x.Dense.Row(i) {
			row[j] = h.scale * v
		}
	}
	if h.constant != 0 {
		row[h.dim] = h.constant
	}
}

// products writes the features of real projections.
func (t *tensorSRHT) products(z, projections []float32) {
	for f, place := range t.places[:t.m] {
		z[f] = projections[place]
	}
	for k := 1; k < t.degree; k++ {
		z := z[:t.m]
		for f, place := range t.places[k*t.m : (k+1)*t.m] {
			z[f] *= projections[place]
		}
	}
}

// complexProducts writes those of complex ones, real parts first. The conversions
// prevent fused multiply-adds on every machine.
func (t *tensorSRHT) complexProducts(z, projections []float32) {
	re, im := z[:t.m], z[t.m:2*t.m]
	imaginary := projections[t.n:]
	for f, place := range t.places[:t.m] {
		re[f], im[f] = projections[place], imaginary[place]
	}
	for k := 1; k < t.degree; k++ {
		for f, place := range t.places[k*t.m : (k+1)*t.m] {
			u, v := projections[place], imaginary[place]
			a, b := re[f], im[f]
			re[f], im[f] = float32(a*u)-float32(b*v), float32(a*v)+float32(b*u)
		}
	}
}
