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
	//	rbf        exp(-γ‖x-y‖²)
	//	laplacian  exp(-γ‖x-y‖₁)
	//	poly       (γ x·y + c)^p
	Name string `json:"name"`

	// Gamma is γ > 0.
	Gamma float64 `json:"gamma,omitempty"`

	// Degree is p ≥ 1.
	Degree int `json:"degree,omitempty"`

	// Coef0 is c ≥ 0; below 0 the polynomial is no kernel.
	Coef0 float64 `json:"coef0,omitempty"`
}

var names = []string{"linear", "rbf", "laplacian", "poly"}

// Validate reports the first parameter that is missing or out of range.
func (k Kernel) Validate() error {
	if !slices.Contains(names, k.Name) {
		return fmt.Errorf("kernel: %q is not a kernel; known are %s", k.Name, strings.Join(names, ", "))
	}
	if k.Name != "linear" && !(k.Gamma > 0 && k.Gamma <= math.MaxFloat64) {
		return fmt.Errorf("kernel: %s: gamma is %g; it must be a positive number", k.Name, k.Gamma)
	}
	if k.Name == "poly" {
		if k.Degree < 1 {
			return fmt.Errorf("kernel: poly: degree is %d; it must be 1 or more", k.Degree)
		}
		if !(k.Coef0 >= 0 && k.Coef0 <= math.MaxFloat64) {
			return fmt.Errorf("kernel: poly: coef0 is %g; it must be 0 or more", k.Coef0)
		}
	}
	return nil
}

// Eval returns k(x, y). It panics if the kernel is not valid or the lengths differ.
func (k Kernel) Eval(x, y []float32) float64 {
	if err := k.Validate(); err != nil {
		panic(err.Error())
	}
	if len(x) != len(y) {
		panic(fmt.Sprintf("kernel: Eval of %d and %d dimensions", len(x), len(y)))
	}
	sum := 0.0
	for i, a := range x {
		a, b := float64(a), float64(y[i])
		switch k.Name {
		case "rbf":
			sum += (a - b) * (a - b)
		case "laplacian":
			sum += math.Abs(a - b)
		default:
			sum += a * b
		}
	}
	return k.of(sum)
}

// of returns the kernel's value from what it depends on: x·y, ‖x-y‖² or ‖x-y‖₁.
func (k Kernel) of(s float64) float64 {
	switch k.Name {
	case "linear":
		return s
	case "poly":
		return power(k.Gamma*s+k.Coef0, k.Degree)
	default:
		return math.Exp(-k.Gamma * s)
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
	case "poly":
		return fmt.Sprintf("poly, γ = %.4g, degree %d, coef0 = %g", k.Gamma, k.Degree, k.Coef0)
	}
	return fmt.Sprintf("%s, γ = %.4g", k.Name, k.Gamma)
}
