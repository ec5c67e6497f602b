package feature

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
)

// The lengths of orthogonal frequencies. Of independent ones (radius chi) one block has too many long
// ones, another too few, and that is much of the variance that orthogonal directions leave. Coupled
// lengths are the quantiles
//
//	r_j = F⁻¹(u_j), F the law of χ_n
//
// of the points u_0, u_1, … of a scrambled Sobol sequence. Of 2^k consecutive points that begin at a multiple of 2^k one
// falls into each of 2^k equal parts of (0, 1), so that lengths are even within a block and over all of them. Each u_j
// alone is uniform, and independent of the directions: every frequency has its law, and z(x)·z(y) is
// unbiased. Lengths that are random permutations of n strata in each block do as well where n
// is 8 or more, and worse below. The stretch of matern, by which the length is multiplied, is the quantile of the
// sequence's second dimension.

// radii are the names of the ways to draw lengths, of orf and, with fixed, of sorf.
var radii = []string{"chi", "coupled", "fixed"}

// coupled returns the lengths of the frequencies 0 … count-1 of n dimensions.
func (l law) coupled(seed uint64, n, count int) []float64 {
	r := make([]float64, count)
	vec.Parallel(count, 64, func(lo, hi int) {
		u := scrambled(random.New(seed, "feature.coupled", 0), 0)
		u.skip(uint32(lo))
		for j := lo; j < hi; j++ {
			r[j] = float64(l.scale * random.ChiQuantile(u.next(), float64(n)))
		}
		if l.nu == 0 {
			return
		}
		v := scrambled(random.New(seed, "feature.coupled", 1), 1)
		v.skip(uint32(lo))
		for j := lo; j < hi; j++ {
			r[j] = float64(r[j] * stretched(l.nu, random.ChiSquaredQuantile(v.next(), 2*l.nu)))
		}
	})
	return r
}

// checkRadius checks the form, the lengths and the order.
func checkRadius(cfg Config) error {
	known := radii
	if cfg.Map != SORF {
		known = known[:2]
	}
	if cfg.Radius != "" && !slices.Contains(known, cfg.Radius) {
		return fmt.Errorf("feature: %s: radius %q is not known; known are %s", cfg.Map, cfg.Radius, strings.Join(known, ", "))
	}
	if n := cfg.Order; n < 0 || n > mostOrder || bits.OnesCount(uint(n)) > 1 {
		return fmt.Errorf("feature: %s: order is %d; it must be a power of two, %d at most", cfg.Map, n, mostOrder)
	}
	return checkForm(cfg)
}
