package random

import (
	"fmt"
	"math"
)

// Exponential returns a number with density e⁻ˣ, x > 0.
func (r *Stream) Exponential() float64 {
	return -log(r.UniformOpen())
}

// Gamma returns a number with density ∝ x^(shape-1) e⁻ˣ, x > 0 (Marsaglia and Tsang, "A
// simple method for generating gamma variables", 2000). It panics unless shape is positive
// and finite.
func (r *Stream) Gamma(shape float64) float64 {
	if !(shape > 0) || math.IsInf(shape, 1) {
		panic(fmt.Sprintf("random: Gamma of shape %g", shape))
	}
	if shape < 1 {
		// Their section 6: γ(shape) = γ(shape+1)·U^(1/shape). Where that falls below the
		// range of exp, it is 0 for every purpose.
		lnU := log(r.UniformOpen()) / shape
		return float64(r.Gamma(shape+1) * exp(max(lnU, -690)))
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(float64(9*d))
	for {
		x := r.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		bound := float64(float64(0.5*x)*x) + (d - float64(d*v)) + float64(d*log(v))
		if log(r.UniformOpen()) < bound {
			return float64(d * v)
		}
	}
}

// ChiSquared returns the sum of the squares of k independent standard normal numbers, or
// its continuation to any real k > 0.
func (r *Stream) ChiSquared(k float64) float64 {
	return 2 * r.Gamma(k/2)
}

// Chi returns the length of a standard normal vector of dimension k.
func (r *Stream) Chi(k float64) float64 {
	return math.Sqrt(r.ChiSquared(k))
}

// StudentT returns a number of Student's t distribution with nu degrees of freedom.
func (r *Stream) StudentT(nu float64) float64 {
	return float64(r.Normal() * math.Sqrt(nu/r.ChiSquared(nu)))
}

// Cauchy returns a number with density 1/(π(1+x²)), through its quantile.
func (r *Stream) Cauchy() float64 {
	return CauchyQuantile(r.UniformOpen())
}
