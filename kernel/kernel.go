// Package kernel evaluates kernels exactly, in float64: single values, Gram matrices by
// blocks of rows, and the usual rules for the bandwidth γ. It is what the feature maps
// approximate and are measured against.
package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kernel is a kernel function with its parameters. Those that the kernel has no use for are
// ignored.
type Kernel struct {
	// Name is one of
	//	linear     x·y
	//	poly       (γ x·y + c)^p
	//	exp        exp(γ x·y)
	//	arccos     (1/π)‖x‖ᵖ‖y‖ᵖ J_p(θ), θ the angle between x and y, p = 0 or 1:
	//	           J_0 = π-θ, J_1 = sin θ + (π-θ) cos θ (Cho and Saul 2009)
	//	rbf        exp(-γ‖x-y‖²)
	//	laplacian  exp(-γ‖x-y‖₁)
	//	cauchy     Π 1/(1 + γ²(x_j-y_j)²)
	//	matern     2^(1-ν)/Γ(ν)·(√(2ν)r)^ν K_ν(√(2ν)r), r = ‖x-y‖/σ with γ = 1/(2σ²); the
	//	           rbf kernel is its limit for large ν
	Name string `json:"name"`

	// Gamma is γ > 0.
	Gamma float64 `json:"gamma,omitempty"`

	// Degree is p: ≥ 1 for poly, 0 or 1 for arccos.
	Degree int `json:"degree,omitempty"`

	// Coef0 is c ≥ 0; below 0 the polynomial is no kernel.
	Coef0 float64 `json:"coef0,omitempty"`

	// Nu is ν > 0.
	Nu float64 `json:"nu,omitempty"`
}

var names = []string{"linear", "poly", "exp", "arccos", "rbf", "laplacian", "cauchy", "matern"}

// Names lists the kernels.
func Names() []string { return slices.Clone(names) }

// Validate reports the first parameter that is missing or out of range.
func (k Kernel) Validate() error {
	if !slices.Contains(names, k.Name) {
		return fmt.Errorf("kernel: %q is not a kernel; known are %s", k.Name, strings.Join(names, ", "))
	}
	if k.Name != "linear" && k.Name != "arccos" && !(k.Gamma > 0 && k.Gamma <= math.MaxFloat64) {
		return fmt.Errorf("kernel: %s: gamma is %g; it must be a positive number", k.Name, k.Gamma)
	}
	switch k.Name {
	case "poly":
		if k.Degree < 1 {
			return fmt.Errorf("kernel: poly: degree is %d; it must be 1 or more", k.Degree)
		}
		if !(k.Coef0 >= 0 && k.Coef0 <= math.MaxFloat64) {
			return fmt.Errorf("kernel: poly: coef0 is %g; it must be 0 or more", k.Coef0)
		}
	case "arccos":
		if k.Degree != 0 && k.Degree != 1 {
			return fmt.Errorf("kernel: arccos: degree is %d; it must be 0 or 1", k.Degree)
		}
	case "matern":
		if !(k.Nu > 0 && k.Nu <= maxNu) {
			return fmt.Errorf("kernel: matern: nu is %g; it must be a positive number up to %d (rbf is the limit)", k.Nu, maxNu)
		}
	}
	return nil
}

// maxNu bounds ν: beyond it the matern kernel is the rbf kernel for all purposes.
const maxNu = 100

// Eval returns k(x, y). It panics if the kernel is not valid or the lengths differ.
func (k Kernel) Eval(x, y []float32) float64 {
	if err := k.Validate(); err != nil {
		panic(err.Error())
	}
	if len(x) != len(y) {
		panic(fmt.Sprintf("kernel: Eval of %d and %d dimensions", len(x), len(y)))
	}
	if k.Name == "arccos" {
		var xx, xy, yy float64
		for i, a := range x {
			a, b := float64(a), float64(y[i])
			xx += a * a
			xy += a * b
			yy += b * b
		}
		return k.arccos(xy, xx, yy)
	}
	sum := 0.0
	for i, a := range x {
		a, b := float64(a), float64(y[i])
		switch k.Name {
		case "rbf", "matern":
			sum += (a - b) * (a - b)
		case "laplacian":
			sum += math.Abs(a - b)
		case "cauchy":
			d := k.Gamma * (a - b)
			sum += math.Log1p(d * d)
		default:
			sum += a * b
		}
	}
	return k.of(sum)
}

// of returns the kernel's value from what it depends on: x·y, ‖x-y‖², ‖x-y‖₁ or
// Σ log(1 + γ²(x_j-y_j)²).
func (k Kernel) of(s float64) float64 {
	switch k.Name {
	case "linear":
		return s
	case "poly":
		return power(k.Gamma*s+k.Coef0, k.Degree)
	case "exp":
		return math.Exp(k.Gamma * s)
	case "cauchy":
		return math.Exp(-s)
	case "matern":
		return matern(k.Nu, math.Sqrt(4*k.Nu*k.Gamma*s))
	default:
		return math.Exp(-k.Gamma * s)
	}
}

// arccos returns the arc-cosine kernel from x·y, ‖x‖² and ‖y‖². A zero vector has angle π/2
// with everything, so that its value of order 0 is ½.
func (k Kernel) arccos(xy, xx, yy float64) float64 {
	norms := math.Sqrt(xx) * math.Sqrt(yy)
	cos := 0.0
	if norms > 0 {
		cos = min(1, max(-1, xy/norms))
	}
	theta := math.Acos(cos)
	if k.Degree == 0 {
		return (math.Pi - theta) / math.Pi
	}
	return norms / math.Pi * (math.Sqrt(1-cos*cos) + (math.Pi-theta)*cos)
}

// matern returns 2^(1-ν)/Γ(ν)·z^ν K_ν(z).
func matern(nu, z float64) float64 {
	switch {
	case z == 0:
		return 1
	case nu == 0.5:
		return math.Exp(-z)
	case nu == 1.5:
		return (1 + z) * math.Exp(-z)
	case nu == 2.5:
		return (1 + z + z*z/3) * math.Exp(-z)
	}
	// K_ν(z) = ∫ exp(-z cosh t) cosh(νt) dt over t > 0 by the trapezoidal rule, which converges
	// geometrically for such integrands; in logarithms, so that nothing overflows.
	gamma, _ := math.Lgamma(nu)
	log := (1-nu)*math.Ln2 - gamma + nu*math.Log(z)
	h := 0.125 / math.Sqrt(1+z/4)
	sum := 0.5 * math.Exp(log-z)
	for i := 1; ; i++ {
		t := float64(i) * h
		term := math.Exp(log-z*math.Cosh(t)+nu*t) * (1 + math.Exp(-2*nu*t)) / 2
		sum += term
		if z*math.Sinh(t) > nu && term < 1e-18*sum {
			return min(1, h*sum)
		}
		if log-z*math.Cosh(t)+nu*t < -800 && z*math.Sinh(t) > nu {
			return min(1, h*sum)
		}
	}
}

// power returns xⁿ for n ≥ 1 by repeated squaring.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 1; n /= 2 {
		if n%2 == 1 {
			y *= x
		}
		x *= x
	}
	return x * y
}

// String writes the kernel with the parameters that it has.
func (k Kernel) String() string {
	switch k.Name {
	case "linear":
		return "linear"
	case "arccos":
		return fmt.Sprintf("arccos, order %d", k.Degree)
	case "poly":
		return fmt.Sprintf("poly, γ = %.4g, degree %d, coef0 = %g", k.Gamma, k.Degree, k.Coef0)
	case "matern":
		return fmt.Sprintf("matern, ν = %g, γ = %.4g", k.Nu, k.Gamma)
	}
	return fmt.Sprintf("%s, γ = %.4g", k.Name, k.Gamma)
}
