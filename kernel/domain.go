package kernel

import (
	"fmt"
	"math"

	"mercer/matrix"
)

// anything is the smallest value of rows for kernels that take any.
var anything = float32(math.Inf(-1))

// Lowest returns the smallest value that a row may have: 0 for kernels of histograms, the first float32
// above -c for the skewed kernels, and -Inf for all others.
func (k Kernel) Lowest() float32 {
	if kind := k.Kind(); kind != nil {
		return kind.family.lowest(k)
	}
	return anything
}

// DomainError is a value of a row that is outside a kernel's domain.
type DomainError struct {
	Kernel   Kernel
	Row, Dim int // from 0
	Value    float32
}

// Error counts rows and dimensions from 1.
func (e *DomainError) Error() string {
	return fmt.Sprintf("kernel: row %d, dimension %d: %s", e.Row+1, e.Dim+1, e.Reason())
}

// Reason is the part of the error without the place.
func (e *DomainError) Reason() string {
	takes := "of 0 or more"
	if e.Kernel.Lowest() != 0 { // then it is above -c
		takes = fmt.Sprintf("above %g, which is -coef0", -e.Kernel.Coef0)
	}
	return fmt.Sprintf("%g is too small; %s takes numbers %s", e.Value, e.Kernel.Name, takes)
}

// CheckRows reports the first value of x below [Kernel.Lowest], as a *[DomainError].
func (k Kernel) CheckRows(x matrix.Rows) error {
	lowest := k.Lowest()
	if math.IsInf(float64(lowest), -1) {
		return nil
	}
	for i := range x.Len() {
		var row []float32
		var idx []int32
		if x.CSR != nil {
			idx, row = x.CSR.Row(i)
		} else {
			row = x.Dense.Row(i)
		}
		for j, v := range row {
			if v < lowest {
				if idx != nil {
					j = int(idx[j])
				}
				return &DomainError{Kernel: k, Row: i, Dim: j, Value: v}
			}
		}
	}
	return nil
}
