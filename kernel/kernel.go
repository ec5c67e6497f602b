package kernel

import (
	"fmt"

	"mercer/matrix"
)

// Kernel is a kernel function with its parameters. Parameters that the kernel does not have are ignored.
type Kernel struct {
	// Name is the name of one of [Kinds].
	Name string `json:"name"`

	// Gamma is γ > 0.
	Gamma float64 `json:"gamma,omitempty"`

	// Degree is p: ≥ 1 for poly, 0 or 1 for arccos.
	Degree int `json:"degree,omitempty"`

	// Coef0 is c ≥ 0 of poly (with c < 0 it is not positive definite), and c > 0 of the skewed kernels.
	Coef0 float64 `json:"coef0,omitempty"`

	// Nu is ν > 0 of matern.
	Nu float64 `json:"nu,omitempty"`

	// Homogeneity is the degree of homogeneity h > 0 of the additive kernels of histograms; 0 means 1.
	Homogeneity float64 `json:"homogeneity,omitempty"`
}

// Kind returns the kind of the kernel; nil if no kernel has the name.
func (k Kernel) Kind() *Kind { return byName[k.Name] }

// valid is the kind of a kernel. It panics if the kernel is not valid.
func (k Kernel) valid() *Kind {
	if err := k.Validate(); err != nil {
		panic(err.Error())
	}
	return k.Kind()
}

// family computes the kernels of one kind. A family that lacks a method does not compile.
type family interface {
	// value is k(x, y), with full relative precision except for cancellation in x·y.
	value(k Kernel, x, y []float32) float64

	// distance2 is k(x, x) + k(y, y) - 2k(x, y), without cancellation.
	distance2(k Kernel, x, y []float32) float64

	// unit says whether k(x, x) is 1 for every x.
	unit() bool

	// diagonal returns k(x_i, x_i) of every row.
	diagonal(k Kernel, x matrix.Rows) []float64

	// lowest is the smallest value that a row may have.
	lowest(k Kernel) float32

	// addGradient adds w ∂k(x, y)/∂y to dst.
	addGradient(k Kernel, dst []float64, w float64, x, y []float32)

	// engine computes blocks of values.
	engine(k Kernel) engine
}

// Eval returns k(x, y) with full relative precision, except for cancellation in x·y. poly and exp may
// overflow to +Inf. It panics if the kernel is not valid or the lengths differ. For values below
// [Kernel.Lowest] the result has no meaning.
func (k Kernel) Eval(x, y []float32) float64 { return k.check(x, y).value(k, x, y) }

// Distance2 returns the squared distance of x and y in the kernel's feature space,
//
//	d² = k(x, x) + k(y, y) - 2k(x, y),
//
// but not by this formula, whose terms cancel where x and y are near: d² is ≥ 0, has full relative
// precision however small it is, and is 0 for equal rows. For arccos its precision is that of an angle
// with an error of 10⁻¹⁶. poly and exp may overflow to +Inf. It panics if the kernel is not valid or the
// lengths differ.
func (k Kernel) Distance2(x, y []float32) float64 { return k.check(x, y).distance2(k, x, y) }

func (k Kernel) check(x, y []float32) family {
	kind := k.valid()
	if len(x) != len(y) {
		panic(fmt.Sprintf("kernel: rows of %d and %d dimensions", len(x), len(y)))
	}
	return kind.family
}

// Diagonal returns k(x_i, x_i) of every row.
func (k Kernel) Diagonal(x matrix.Rows) []float64 { return k.valid().family.diagonal(k, x) }

// unit says whether k(x, x) is 1 for every x.
func (k Kernel) unit() bool { return k.Kind().family.unit() }

// ones is the diagonal of kernels with k(x, x) = 1.
func ones(x matrix.Rows) []float64 {
	diagonal := make([]float64, x.Len())
	for i := range diagonal {
		diagonal[i] = 1
	}
	return diagonal
}
