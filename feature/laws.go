package feature

import (
	"fmt"
	"math"

	"mercer/internal/random"
	"mercer/kernel"
)

// law is that of the frequencies of a kernel: for a kernel k(x-y) its Fourier transform
// (Bochner's theorem), so that E cos ω·(x-y) = k(x, y).
//
//	rbf        N(0, 2γI)
//	matern     a multivariate Student t of 2ν degrees of freedom: √(2ν/χ²_2ν)·N(0, 2γI), one χ²
//	           for all coordinates of a frequency
//	arccos     N(0, I)
//	laplacian  independent coordinates with density γ/(π(γ² + ω²)), Cauchy's
//	cauchy     independent coordinates with density exp(-|ω|/γ)/(2γ), Laplace's
//
// In each case ω = scale·stretch·g, where the coordinates of g are independent of each other
// and of stretch, which is 1 but for matern.
type law struct {
	scale    float64
	draw     func(*random.Stream) float64 // a coordinate of g
	quantile func(p float64) float64      // of draw
	nu       float64                      // ν of matern, else 0
	radial   bool                         // g is normal: ω has no preferred direction
}

func newLaw(k kernel.Kernel) (law, error) {
	l := law{scale: 1, draw: (*random.Stream).Normal, quantile: random.NormalQuantile, radial: true}
	switch k.Name {
	case "rbf":
		l.scale = math.Sqrt(2 * k.Gamma)
	case "matern":
		l.scale, l.nu = math.Sqrt(2*k.Gamma), k.Nu
	case "arccos":
	case "laplacian":
		l = law{scale: k.Gamma, draw: (*random.Stream).Cauchy, quantile: random.CauchyQuantile}
	case "cauchy":
		l = law{scale: k.Gamma, draw: (*random.Stream).Laplace, quantile: random.LaplaceQuantile}
	default:
		return l, fmt.Errorf("the %s kernel has no random frequencies; those of rbf, laplacian, cauchy, matern and arccos have", k.Name)
	}
	return l, nil
}

// lawOf is the law of cfg's kernel, for a map of any kernel that has one.
func lawOf(cfg Config) (law, error) {
	l, err := newLaw(cfg.Kernel)
	if err != nil {
		return l, fmt.Errorf("feature: map %s: %w", cfg.Map, err)
	}
	return l, nil
}

// radialLawOf is lawOf for a map whose frequencies have uniform directions.
func radialLawOf(cfg Config) (law, error) {
	l, err := lawOf(cfg)
	if err == nil && !l.radial {
		err = fmt.Errorf("feature: map %s: frequencies of the %s kernel prefer directions along the axes, those of this map have none (rbf, matern and arccos are such kernels); use map rff or qmc", cfg.Map, cfg.Kernel.Name)
	}
	return l, err
}

// stretch draws the common factor of the coordinates of a frequency, √(2ν/χ²_2ν) or 1.
func (l law) stretch(r *random.Stream) float64 {
	if l.nu == 0 {
		return 1
	}
	return stretched(l.nu, r.ChiSquared(2*l.nu))
}

// stretched is √(2ν/chi2), bounded where float32 rows could not tell the difference: a
// frequency above 10¹⁸/σ turns between any two of them.
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
			return fmt.Errorf("feature: map %s: gamma is %g, too large for float32; scale the data up and gamma down", cfg.Map, cfg.Kernel.Gamma)
		}
	}
	return nil
}
