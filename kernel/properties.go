package kernel

import "math"

// What callers may ask of a kernel, whatever it is called. Of a name that is no kernel's nothing
// holds.

// Linear says whether k(x, y) is x·y, so that rows need no map.
func (k Kernel) Linear() bool { return k.Kind() == Linear }

// Powers says whether the kernel grows as a power of the rows' length above the second, or faster,
// so that a few long rows can be most of it.
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

// Series returns the kernel's power series up to the most-th power at least; ok is false if the
// kernel has none.
func (k Kernel) Series(most int) (s Series, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.series == nil {
		return Series{}, false
	}
	return kind.series(k, most), true
}

// Parts returns two kernels of which k is the second on the feature space of the first: with φ that
// of inner, k(x, y) = outer(φ(x), φ(y)). ok is false if k is not of this sort.
func (k Kernel) Parts() (inner, outer Kernel, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.parts == nil {
		return Kernel{}, Kernel{}, false
	}
	inner, outer = kind.parts(k)
	return inner, outer, true
}

// Falling is a kernel that falls with |x_j - y_j| in every dimension j,
//
//	k(x, y) = exp(-Rate·Σ Term(|x_j - y_j|)),
//
// so that its range between two boxes is that of their distances in every dimension.
type Falling struct {
	Rate float64
	Term func(distance float64) float64
}

// Falling returns what the kernel's logarithm is the sum of; ok is false if it is none.
func (k Kernel) Falling() (f Falling, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.falls == nil {
		return Falling{}, false
	}
	return kind.falls(k), true
}

// Additive is a sum over the dimensions of k₁(x, y) = (xy)^(h/2)·𝒦(log(y/x)), x, y ≥ 0.
type Additive struct {
	// Homogeneity is the degree h: k₁(ax, ay) = aʰ·k₁(x, y).
	Homogeneity float64

	// Signature is 𝒦.
	Signature func(omega float64) float64

	// Spectrum is κ(λ) ≥ 0 with 𝒦(ω) = ∫ κ(λ) cos(λω) dλ. It is nil where 𝒦 is 1 everywhere: k₁ is
	// then the product of two roots.
	Spectrum func(lambda float64) float64
}

// Roots says that k₁ is x^(h/2)·y^(h/2).
func (a Additive) Roots() bool { return a.Spectrum == nil }

// Additive returns what the kernel is the sum of; ok is false if it is no such sum.
func (k Kernel) Additive() (a Additive, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.sum == nil {
		return Additive{}, false
	}
	return kind.sum(k), true
}
