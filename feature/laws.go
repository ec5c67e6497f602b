package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/kernel"
)

// law draws what [kernel.Law] describes: frequencies ω = scale·stretch·g.
type law struct {
	scale    float64
	draw     func(*random.Stream) float64 // a coordinate of g
	quantile func(p float64) float64      // of draw
	nu       float64                      // ν of the stretch √(2ν/χ²_2ν), 0 if it is 1
	wave     kernel.Wave
}

// samplers draw the coordinates of g.
var samplers = map[kernel.Distribution]struct {
	draw     func(*random.Stream) float64
	quantile func(p float64) float64
}{
	kernel.Normal:        {(*random.Stream).Normal, random.NormalQuantile},
	kernel.CauchyLaw:     {(*random.Stream).Cauchy, random.CauchyQuantile},
	kernel.LaplaceLaw:    {(*random.Stream).Laplace, random.LaplaceQuantile},
	kernel.HyperbolicLaw: {(*random.Stream).Sech, random.SechQuantile},
}

// newLaw is the law of a kernel. It panics if there is none: maps with frequencies take no other
// kernels.
func newLaw(k kernel.Kernel) law {
	of, ok := k.Law()
	s, known := samplers[of.Coordinates]
	if !ok || !known {
		panic("feature: the " + k.Name + " kernel has no frequencies that can be drawn")
	}
	return law{scale: of.Scale, draw: s.draw, quantile: s.quantile, nu: of.Nu, wave: of.Wave}
}

// stretch draws the common factor of the coordinates of a frequency, √(2ν/χ²_2ν) or 1.
func (l law) stretch(r *random.Stream) float64 {
	if l.nu == 0 {
		return 1
	}
	return stretched(l.nu, r.ChiSquared(2*l.nu))
}

// stretched is √(2ν/chi2), bounded at a size beyond the resolution of float32 rows: the wave
// of a frequency above 10¹⁸/σ oscillates between any two of them.
func stretched(nu, chi2 float64) float64 {
	const most = 1e18
	if chi2 < 2*nu/(most*most) {
		return most
	}
	return math.Sqrt(2 * nu / chi2)
}

// radius draws the length of a frequency of n dimensions, scale·stretch·χ_n, for a radial law.
func (l law) radius(r *random.Stream, n int) float64 {
	return float64(l.scale * r.Chi(float64(n)) * l.stretch(r))
}

// mustBeFinite fails if a frequency is too large for float32.
func mustBeFinite(cfg Config, w []float32) error {
	for _, v := range w {
		if v-v != 0 {
			return fmt.Errorf("feature: %s: gamma is %g, too large for float32; scale the data up and gamma down", cfg.Map, cfg.Kernel.Gamma)
		}
	}
	return nil
}
