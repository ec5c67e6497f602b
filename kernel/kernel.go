// Package kernel evaluates kernels exactly, in float64: single values, Gram matrices and
// feature-space distances by blocks of rows, and the usual rules for γ. It is what the
// feature maps approximate and are measured against.
package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/vec"
	"mercer/matrix"
)

// Kernel is a kernel function with its parameters. Those that the kernel has no use for are
// ignored.
type Kernel struct {
	// Name is one of
	//	linear     x·y
	//	poly       (γ x·y + c)^p
	//	exp        exp(γ x·y)
	//	arccos     (1/π)‖x‖ᵖ‖y‖ᵖ J_p(θ), θ the angle between x and y, p = 0 or 1:
	//	           J_0 = π-θ, J_1 = sin θ + (π-θ) cos θ (Cho and Saul 2009); a row of zeros
	//	           is at a right angle to every row, itself among them
	//	rbf        exp(-γ‖x-y‖²)
	//	laplacian  exp(-γ‖x-y‖₁)
	//	cauchy     Π 1/(1 + γ²(x_j-y_j)²)
	//	matern     2^(1-ν)/Γ(ν)·(√(2ν)r)^ν K_ν(√(2ν)r), r = ‖x-y‖/σ with γ = 1/(2σ²): exp(-r)
	//	           for ν = 1/2, and for large ν the rbf kernel, from which it differs by
	//	           0.27/ν at most
	// or, of histograms, rows of numbers ≥ 0 (histogram.go has the formulas),
	//	hellinger, chi2, intersection, jensen-shannon: sums over the dimensions, homogeneous
	//	           of degree h
	//	exp-chi2   exp(-γ Σ (x_j-y_j)²/(x_j+y_j))
	//	skewed-chi2          Π 2√((x_j+c)(y_j+c))/(x_j+y_j+2c), x_j > -c (Li, Ionescu and
	//	                     Sminchisescu 2010)
	//	skewed-intersection  Π min(√((x_j+c)/(y_j+c)), √((y_j+c)/(x_j+c)))
	Name string `json:"name"`

	// Gamma is γ > 0.
	Gamma float64 `json:"gamma,omitempty"`

	// Degree is p: ≥ 1 for poly, 0 or 1 for arccos.
	Degree int `json:"degree,omitempty"`

	// Coef0 is c ≥ 0 of poly, below which the polynomial is no kernel, and c > 0 of the skewed
	// kernels.
	Coef0 float64 `json:"coef0,omitempty"`

	// Nu is ν > 0.
	Nu float64 `json:"nu,omitempty"`

	// Homogeneity is h > 0 of the additive kernels of histograms; 0 means 1.
	Homogeneity float64 `json:"homogeneity,omitempty"`
}

// parameters are the kernels and what parameters they have, by the names of their JSON.
var parameters = []struct {
	name string
	has  []string
}{
	{"linear", nil},
	{"poly", []string{"gamma", "degree", "coef0"}},
	{"exp", []string{"gamma"}},
	{"arccos", []string{"degree"}},
	{"rbf", []string{"gamma"}},
	{"laplacian", []string{"gamma"}},
	{"cauchy", []string{"gamma"}},
	{"matern", []string{"gamma", "nu"}},
	{"hellinger", []string{"homogeneity"}},
	{"chi2", []string{"homogeneity"}},
	{"intersection", []string{"homogeneity"}},
	{"jensen-shannon", []string{"homogeneity"}},
	{"exp-chi2", []string{"gamma"}},
	{"skewed-chi2", []string{"coef0"}},
	{"skewed-intersection", []string{"coef0"}},
}

// Names lists the kernels.
func Names() []string {
	var names []string
	for _, p := range parameters {
		names = append(names, p.name)
	}
	return names
}

// Has says whether the kernel of a name has a parameter, by the name of its JSON.
func Has(name, parameter string) bool {
	for _, p := range parameters {
		if p.name == name {
			return slices.Contains(p.has, parameter)
		}
	}
	return false
}

// Own returns the kernel without the parameters that it has no use for.
func (k Kernel) Own() Kernel {
	own := Kernel{Name: k.Name}
	if Has(k.Name, "gamma") {
		own.Gamma = k.Gamma
	}
	if Has(k.Name, "degree") {
		own.Degree = k.Degree
	}
	if Has(k.Name, "coef0") {
		own.Coef0 = k.Coef0
	}
	if Has(k.Name, "nu") {
		own.Nu = k.Nu
	}
	if Has(k.Name, "homogeneity") {
		own.Homogeneity = k.Homogeneity
	}
	return own
}

// Validate reports the first parameter that is missing or out of range.
func (k Kernel) Validate() error {
	if names := Names(); !slices.Contains(names, k.Name) {
		return fmt.Errorf("kernel: %q is not a kernel; known are %s", k.Name, strings.Join(names, ", "))
	}
	if Has(k.Name, "gamma") && !(k.Gamma > 0 && k.Gamma <= math.MaxFloat64) {
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
		if !(k.Nu >= minNu && k.Nu <= maxNu) {
			return fmt.Errorf("kernel: matern: nu is %g; it must be a number from %g to %g (rbf is the limit)", k.Nu, minNu, maxNu)
		}
	case "skewed-chi2", "skewed-intersection":
		if !(k.Coef0 >= math.SmallestNonzeroFloat32 && k.Coef0 <= math.MaxFloat32) {
			return fmt.Errorf("kernel: %s: coef0 is %g; it must be a positive number, from 1.4e-45 to 3.4e38", k.Name, k.Coef0)
		}
	}
	if k.additive() && !(k.Homogeneity >= 0 && k.Homogeneity <= 16) {
		return fmt.Errorf("kernel: %s: homogeneity is %g; it must be a positive number, 16 at most, or 0 for 1", k.Name, k.Homogeneity)
	}
	return nil
}

// unit says whether k(x, x) is 1 for every x.
func (k Kernel) unit() bool {
	switch k.Name {
	case "rbf", "laplacian", "cauchy", "matern", "exp-chi2", "skewed-chi2", "skewed-intersection":
		return true
	}
	return false
}

// Eval returns k(x, y) with full relative precision, but for what cancels in x·y; poly and
// exp may overflow to +Inf. It panics if the kernel is not valid or the lengths differ; what it
// gives for numbers below [Kernel.Lowest] has no meaning.
func (k Kernel) Eval(x, y []float32) float64 {
	k.check(x, y)
	if k.Name == "arccos" {
		return k.arccos(angleOf(x, y))
	}
	return k.of(k.argument(x, y))
}

func (k Kernel) check(x, y []float32) {
	if err := k.Validate(); err != nil {
		panic(err.Error())
	}
	if len(x) != len(y) {
		panic(fmt.Sprintf("kernel: rows of %d and %d dimensions", len(x), len(y)))
	}
}

// argument returns the one number that k(x, y) depends on: x·y, ‖x-y‖², ‖x-y‖₁,
// Π(1 + γ²(x_j-y_j)²) - 1, or of kernels of histograms what their functions say. Of arccos there
// is none.
func (k Kernel) argument(x, y []float32) float64 {
	switch k.Name {
	case "exp-chi2":
		return chi2Distance(x, y)
	case "skewed-chi2":
		return skewedChi2Distance(k.Coef0, x, y)
	case "skewed-intersection":
		return skewedDistance(k.Coef0, x, y)
	case "hellinger", "chi2", "intersection", "jensen-shannon":
		return k.additiveValue(x, y)
	case "rbf", "matern":
		return squared(x, y)
	case "laplacian":
		return absolute(x, y)
	case "cauchy":
		return excess(k.Gamma, x, y)
	}
	return dot(x, y)
}

// of returns the kernel's value from its argument.
func (k Kernel) of(s float64) float64 {
	switch k.Name {
	case "linear", "hellinger", "chi2", "intersection", "jensen-shannon":
		return s
	case "skewed-chi2", "skewed-intersection":
		return math.Exp(-s)
	case "poly":
		return power(k.Gamma*s+k.Coef0, k.Degree)
	case "exp":
		return math.Exp(k.Gamma * s)
	case "cauchy":
		return 1 / (1 + s)
	case "matern":
		return matern(k.Nu, k.Gamma*s)
	}
	return math.Exp(-k.Gamma * s)
}

// gap returns 1 - k from the argument of a kernel with k(x, x) = 1, without cancellation.
func (k Kernel) gap(s float64) float64 {
	switch k.Name {
	case "cauchy":
		return 1 / (1 + 1/s)
	case "matern":
		return maternGap(k.Nu, k.Gamma*s)
	case "skewed-chi2", "skewed-intersection":
		return -math.Expm1(-s)
	}
	return -math.Expm1(-k.Gamma * s)
}

// Diagonal returns k(x_i, x_i) of every row.
func (k Kernel) Diagonal(x matrix.Rows) []float64 {
	if err := k.Validate(); err != nil {
		panic(err.Error())
	}
	diagonal := make([]float64, x.Len())
	if k.additive() {
		vec.Parallel(len(diagonal), 64, func(lo, hi int) {
			var p pair
			for i := lo; i < hi; i++ {
				row, _ := p.of(x, i, x, i)
				diagonal[i] = k.additiveValue(row, row)
			}
		})
		return diagonal
	}
	if !k.unit() {
		copy(diagonal, norms(x, nil))
	}
	for i, xx := range diagonal {
		diagonal[i] = k.self(xx)
	}
	return diagonal
}

// self returns k(x, x) from ‖x‖².
func (k Kernel) self(xx float64) float64 {
	switch {
	case k.unit():
		return 1
	case k.Name == "arccos" && k.Degree == 1:
		return xx
	case k.Name == "arccos" && xx == 0:
		return 0.5
	case k.Name == "arccos":
		return 1
	}
	return k.of(xx)
}

func dot(x, y []float32) float64 {
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

// excess is Π(1 + γ²(x_j-y_j)²) - 1. As (1+s)(1+t) - 1 = s + t + st has no negative term,
// it keeps its digits however small it is.
func excess(gamma float64, x, y []float32) float64 {
	s := 0.0
	for i, v := range x {
		d := gamma * (float64(v) - float64(y[i]))
		d *= d
		s += d + s*d
	}
	if s == s {
		return s
	}
	// Infinity times 0: the product itself has no such terms.
	p := 1.0
	for i, v := range y {
		d := gamma * (float64(x[i]) - float64(v))
		p *= 1 + d*d
	}
	return p - 1
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
	case "skewed-chi2", "skewed-intersection":
		return fmt.Sprintf("%s, c = %.4g", k.Name, k.Coef0)
	}
	if k.additive() {
		if k.homogeneity() == 1 {
			return k.Name
		}
		return fmt.Sprintf("%s, homogeneous of degree %g", k.Name, k.Homogeneity)
	}
	return fmt.Sprintf("%s, γ = %.4g", k.Name, k.Gamma)
}
