package random

import "math"

// CauchyQuantile returns the x = -cot(πp) below which a number with density 1/(π(1+x²))
// falls with probability p, 0 < p < 1.
func CauchyQuantile(p float64) float64 {
	q := min(p, 1-p)
	var x float64
	if q <= 0.25 {
		x = 1 / tan(q)
	} else if q < 0.5 {
		x = tan(0.5 - q)
	}
	if p < 0.5 {
		return -x
	}
	return x
}

// LaplaceQuantile returns the x below which a number with density ½e^-|x| falls with
// probability p, 0 < p < 1.
func LaplaceQuantile(p float64) float64 {
	if p < 0.5 {
		return log(2 * p)
	}
	return -log(2 * (1 - p))
}

// Laplace returns a number with density ½e^-|x|, through its quantile.
func (r *Stream) Laplace() float64 {
	return LaplaceQuantile(r.UniformOpen())
}

// SechQuantile returns the x = log(tan(πp/2))/π below which a number with density sech(πx) falls
// with probability p, 0 < p < 1.
func SechQuantile(p float64) float64 {
	if p > 0.5 {
		return -SechQuantile(1 - p)
	}
	return log(tan(p/2)) / math.Pi
}

// Sech returns a number with density sech(πx), through its quantile.
func (r *Stream) Sech() float64 {
	return SechQuantile(r.UniformOpen())
}

// ChiSquaredQuantile returns the x below which the sum of the squares of k independent standard
// normal numbers, or its continuation to real k > 0, falls with probability p, 0 < p < 1.
//
// With a = k/2 and x = 2eᵗ it solves ln P(a, eᵗ) = ln p, P the regularised incomplete gamma
// function, by Newton's method. P is at most e^(at)/Γ(a+1), so that the solution for this
// bound lies to the left, and ln P is concave in t: from there the steps only go right, until
// rounding stops them. Below the range of numbers it returns 0.
func ChiSquaredQuantile(p, k float64) float64 {
	a := k / 2
	lnp, constant := log(p), logGamma1(a)
	t := (lnp + constant) / a
	for range 200 {
		if t < -690 {
			return 0
		}
		x := exp(t)
		// P = e^(at-x)/Γ(a+1)·(1 + x/(a+1) + x²/((a+1)(a+2)) + …) and dP/dt = a·e^(at-x)/Γ(a+1).
		sum, term := 1.0, 1.0
		for n := 1.0; term > 1e-17*sum; n++ {
			term = float64(term*x) / (a + n)
			sum += term
		}
		next := t + float64(sum*(lnp-(float64(a*t)-x-constant)-log(sum)))/a
		if next-t <= 1e-15*math.Abs(t) {
			break
		}
		t = next
	}
	return 2 * exp(t)
}

// logGamma1 returns ln Γ(a+1) for a > 0, by Stirling's series where it is good to 16 digits.
func logGamma1(a float64) float64 {
	z, product := a+1, 1.0
	for ; z < 16; z++ {
		product = float64(product * z)
	}
	const halfLog2Pi = 0.91893853320467274178
	w := 1 / float64(z*z)
	series := float64(w*(1.0/1188)) - 1.0/1680
	series = float64(w*series) + 1.0/1260
	series = float64(w*series) - 1.0/360
	series = float64(w*series) + 1.0/12
	return float64((z-0.5)*log(z)) - z + halfLog2Pi + series/z - log(product)
}
