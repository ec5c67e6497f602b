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
//	skewed-chi2          independent coordinates with density sech(πω), on log(x+c)
//	skewed-intersection  independent coordinates with density ½/(π(¼ + ω²)), Cauchy's, on log(x+c)
//
// In each case ω = scale·stretch·g, where the coordinates of g are independent of each other
// and of stretch, which is 1 but for matern. Of the first three, the radial ones, g is normal,
// so that ω has a uniform direction and a length of its own.
type law struct {
	scale    float64
	draw     func(*random.Stream) float64 // a coordinate of g
	quantile func(p float64) float64      // of draw
	nu       float64                      // ν of matern, else 0
}

// newLaw is the law of a kernel that has one: the maps with frequencies take no other.
func newLaw(k kernel.Kernel) law {
	l := law{scale: 1, draw: (*random.Stream).Normal, quantile: random.NormalQuantile}
	switch k.Name {
	case "rbf":
		l.scale = math.Sqrt(2 * k.Gamma)
	case "matern":
		l.scale, l.nu = math.Sqrt(2*k.Gamma), k.Nu
	case "laplacian":
		l = law{scale: k.Gamma, draw: (*random.Stream).Cauchy, quantile: random.CauchyQuantile}
	case "cauchy":
		l = law{scale: k.Gamma, draw: (*random.Stream).Laplace, quantile: random.LaplaceQuantile}
	case "skewed-chi2":
		l = law{scale: 1, draw: (*random.Stream).Sech, quantile: random.SechQuantile}
	case "skewed-intersection":
		l = law{scale: 0.5, draw: (*random.Stream).Cauchy, quantile: random.CauchyQuantile}
	}
	return l
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
			return fmt.Errorf("feature: %s: gamma is %g, too large for float32; scale the data up and gamma down", cfg.Map, cfg.Kernel.Gamma)
		}
	}
	return nil
}
