package kernel

import "math"

// The arguments of kernels: functions of two rows.

// product is x·y.
func product(x, y []float32) float64 {
	sum := 0.0
	for i, a := range x {
		sum += float64(float64(a) * float64(y[i]))
	}
	return sum
}

// squared is ‖x-y‖².
func squared(x, y []float32) float64 {
	sum := 0.0
	for i, a := range x {
		d := float64(a) - float64(y[i])
		sum += float64(d * d)
	}
	return sum
}

// absolute is ‖x-y‖₁.
func absolute(x, y []float32) float64 {
	sum := 0.0
	for i, a := range x {
		sum += math.Abs(float64(a) - float64(y[i]))
	}
	return sum
}

// positive is x, but 0 for negative x, which rounding may give, and +Inf for NaN, which is Inf - Inf of a
// distance that overflows.
func positive(x float64) float64 {
	if x >= 0 {
		return x
	}
	if x < 0 {
		return 0
	}
	return math.Inf(1)
}

// term is the product of two numbers of equal sign, bounded to the range of a logProduct. A factor of a
// kernel value below 10⁻¹⁵⁰ may as well be 10⁻¹⁵⁰.
func term(d, e float64) float64 { return min(d*e, 1e150) }

// logProduct is the logarithm of a product of factors 1 + t, t from 0 to 10¹⁵⁰. It does not take a
// logarithm for each factor.
type logProduct struct{ sum, excess float64 }

func (p *logProduct) multiply(t float64) {
	p.excess += t + p.excess*t
	if p.excess > 1e150 {
		p.sum += math.Log1p(p.excess)
		p.excess = 0
	}
}

func (p *logProduct) log() float64 { return p.sum + math.Log1p(p.excess) }
