// Package feature maps rows to random features z(x) with z(x)·z(y) ≈ k(x, y), so that a
// linear model on z does the work of a kernel machine on x, at linear cost.
package feature

import (
	"fmt"
	"strings"

	"mercer/kernel"
	"mercer/matrix"
)

// Config says which map is wanted. The same configuration gives the same map on every
// machine and for ever.
type Config struct {
	// Map is the name of the map; "" means rff.
	//	rff  random Fourier features of the rbf or laplacian kernel
	//	orf  the same with orthogonal frequencies, of the rbf kernel: more accurate, above
	//	     all between near rows, at the same cost
	Map string `json:"map,omitempty"`

	// Kernel is what the map approximates.
	Kernel kernel.Kernel `json:"kernel"`

	// Features is D, the number of outputs.
	Features int `json:"features"`

	// Form of the Fourier features; "" means pair.
	//	pair   √(2/D)·[cos ω_j·x, sin ω_j·x], j = 1 … D/2
	//	phase  √(2/D)·cos(ω_j·x + b_j), j = 1 … D; a little less accurate
	Form string `json:"form,omitempty"`

	// Seed selects the random numbers.
	Seed uint64 `json:"seed"`
}

// Map is a feature map. It never changes, and any number of goroutines may use it.
type Map interface {
	// Dims returns the numbers of input dimensions d and of features D.
	Dims() (in, out int)

	// Transform writes z(x) for every row of x into the same row of dst, which is
	// x.Len()×D. What a row gives does not depend on the rows around it, nor on the
	// number of threads. It panics if a size is wrong.
	Transform(dst *matrix.Dense, x matrix.Rows)
}

var maps = []string{"rff", "orf"}

// New draws the map of a configuration for rows of dim dimensions.
func New(cfg Config, dim int) (Map, error) {
	switch cfg.Map {
	case "":
		cfg.Map = "rff"
	case "rff", "orf":
	default:
		return nil, fmt.Errorf("feature: %q is not a map; known are %s", cfg.Map, strings.Join(maps, ", "))
	}
	if err := cfg.Kernel.Validate(); err != nil {
		return nil, fmt.Errorf("feature: map %s: %w", cfg.Map, err)
	}
	if dim < 1 {
		return nil, fmt.Errorf("feature: map %s: rows of %d dimensions; 1 or more are needed", cfg.Map, dim)
	}
	if cfg.Features < 1 {
		return nil, fmt.Errorf("feature: map %s: features is %d; it must be 1 or more", cfg.Map, cfg.Features)
	}
	return newFourier(cfg, dim)
}

// check panics unless dst and x fit a map of in dimensions and out features.
func check(in, out int, dst *matrix.Dense, x matrix.Rows) {
	if x.Dim() != in {
		panic(fmt.Sprintf("feature: Transform of rows of %d dimensions by a map of %d", x.Dim(), in))
	}
	if dst.Rows != x.Len() || dst.Cols != out {
		panic(fmt.Sprintf("feature: Transform of %d rows to %d features into %d×%d", x.Len(), out, dst.Rows, dst.Cols))
	}
}
