package kernel

import "math"

// Properties of kernels, which callers ask for in place of the name. A name that is no kernel's has none of
// them.

// Linear says whether k(x, y) is x·y, so that rows need no map.
func (k Kernel) Linear() bool { return k.Kind() == Linear }

// Powers says whether the kernel grows faster than the square of the rows' length, so that a few long rows
// can dominate it.
func (k Kernel) Powers() bool {
	kind := k.Kind()
	return kind != nil && kind.powers != nil && kind.powers(k)
}

// LengthScale returns σ = 1/√(2γ) of kernels whose formula has ‖x-y‖/σ; ok is false for all others.
func (k Kernel) LengthScale() (sigma float64, ok bool) {
	kind := k.Kind()
	if kind == nil || !kind.length {
		return 0, false
	}
	return 1 / math.Sqrt(2*k.Gamma), true
}

// Series is a kernel as a power series, Σ a_n (γ x·y + c)ⁿ with all a_n ≥ 0.
type Series struct {
	Gamma    float64
	Constant float64 // c
	Powers   []Power // by n, those with a_n > 0
}

// Power is a term of a series.
type Power struct {
	N int     // n
	A float64 // a_n
}

// Series returns the kernel's power series, at least up to the power most; ok is false if the kernel has
// none.
func (k Kernel) Series(most int) (s Series, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.series == nil {
		return Series{}, false
	}
	return kind.series(k, most), true
}

// Parts returns the two kernels that k is composed of: k(x, y) = outer(φ(x), φ(y)), φ being the feature map
// of inner. ok is false if k is not composed.
func (k Kernel) Parts() (inner, outer Kernel, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.parts == nil {
		return Kernel{}, Kernel{}, false
	}
	inner, outer = kind.parts(k)
	return inner, outer, true
}

// Falling describes a kernel that falls with |x_j - y_j| in every dimension j:
//
//	k(x, y) = exp(-Rate·Σ Term(|x_j - y_j|)).
//
// The range of k over two boxes follows from the ranges of their distances in every dimension.
type Falling struct {
	Rate float64
	Term func(distance float64) float64

	// Absolute means that Term is the distance itself.
	Absolute bool
}

// Falling returns the terms of the kernel's logarithm; ok is false if the kernel is not of this form.
func (k Kernel) Falling() (f Falling, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.falls == nil {
		return Falling{}, false
	}
	return kind.falls(k), true
}

// Additive describes a kernel that is the sum of k₁(x_j, y_j) over the dimensions, with
// k₁(x, y) = (xy)^(h/2)·𝒦(log(y/x)), x, y ≥ 0.
type Additive struct {
	// Homogeneity is the degree h: k₁(ax, ay) = aʰ·k₁(x, y).
	Homogeneity float64

	// Signature is 𝒦.
	Signature func(omega float64) float64

	// Spectrum is κ(λ) ≥ 0 with 𝒦(ω) = ∫ κ(λ) cos(λω) dλ. It is nil if 𝒦 is 1 everywhere: then k₁ is a
	// product of two roots.
	Spectrum func(lambda float64) float64
}

// Roots says that k₁ is x^(h/2)·y^(h/2).
func (a Additive) Roots() bool { return a.Spectrum == nil }

// Additive returns the terms of an additive kernel; ok is false for all others.
func (k Kernel) Additive() (a Additive, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.sum == nil {
		return Additive{}, false
	}
	return kind.sum(k), true
}
