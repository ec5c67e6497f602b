package feature

import (
	"fmt"
	"math"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// sketches are the maps of dot-product kernels.
func sketches() []kind {
	return []kind{
		{name: "countsketch", about: "sums of coordinates that hash alike, for the linear kernel", options: []string{"hash"}, kernels: []string{"linear"}, check: checkHash,
			make: func(cfg Config, dim int) (Map, error) { return newCountSketch(cfg, dim) }},
		{name: "tensorsketch", about: "convolved count sketches, for polynomials", options: []string{"hash"}, kernels: []string{"poly"}, check: checkHash,
			make: func(cfg Config, dim int) (Map, error) { return newTensorSketch(cfg, dim) }},
		{name: "tensorsrht", about: "products of Hadamard projections, for polynomials", options: []string{"complex"}, kernels: []string{"poly"}, check: checkHalves,
			make: func(cfg Config, dim int) (Map, error) { return newTensorSRHT(cfg, dim) }},
		{name: "maclaurin", about: "products of random projections, for any dot-product kernel", options: []string{"complex", "series"}, kernels: []string{"poly", "exp"}, check: checkTerms,
			make: func(cfg Config, dim int) (Map, error) { return newMaclaurin(cfg, dim) }},
		{name: "explicit-poly", about: "all monomials, exact", dim: true, kernels: []string{"poly"},
			make: func(cfg Config, dim int) (Map, error) { return newExplicit(cfg, dim) }},
	}
}

func checkHalves(cfg Config) error {
	_, err := halves(cfg)
	return err
}

func checkTerms(cfg Config) error {
	if _, err := terms(cfg); err != nil {
		return err
	}
	return checkHalves(cfg)
}

func checkHash(cfg Config) error {
	switch cfg.Hash {
	case "", "pairwise", "balanced":
		return nil
	}
	return fmt.Errorf("feature: %s: %q is not a hash; known are pairwise, balanced", cfg.Map, cfg.Hash)
}

// homogeneous is the kernel (γ x·y + c)^p as the kernel (x̃·ỹ)^p of rows x̃ = [√γ·x, √c].
type homogeneous struct {
	degree   int
	scale    float32 // √γ
	constant float32 // √c
	dim      int     // of x
}

// newHomogeneous fails unless the kernel of cfg is poly, with numbers that float32 can hold.
func newHomogeneous(cfg Config, dim int) (homogeneous, error) {
	k := cfg.Kernel
	h := homogeneous{k.Degree, float32(math.Sqrt(k.Gamma)), float32(math.Sqrt(k.Coef0)), dim}
	return h, inRange(cfg, h.scale, h.constant)
}

// inRange fails unless √γ and √c are numbers of float32, the first not 0.
func inRange(cfg Config, scale, constant float32) error {
	if scale-scale != 0 || scale == 0 {
		return fmt.Errorf("feature: %s: the root of gamma = %g is no float32; scale the data", cfg.Map, cfg.Kernel.Gamma)
	}
	if constant-constant != 0 {
		return fmt.Errorf("feature: %s: the root of coef0 = %g is no float32; scale the data", cfg.Map, cfg.Kernel.Coef0)
	}
	return nil
}

// width is the number of coordinates of x̃.
func (h homogeneous) width() int {
	if h.constant != 0 {
		return h.dim + 1
	}
	return h.dim
}

// halves returns D, or D/2 if the features are complex: a real and an imaginary part each.
func halves(cfg Config) (int, error) {
	if !cfg.Complex {
		return cfg.Features, nil
	}
	if cfg.Features%2 != 0 {
		return 0, fmt.Errorf("feature: %s: features is %d, but a complex one makes two: use %d", cfg.Map, cfg.Features, cfg.Features+1)
	}
	return cfg.Features / 2, nil
}

// sign draws ±1, or one of 1, i, -1, -i: complex numbers of length 1 whose mean and whose
// square's mean are 0.
func sign(r *random.Stream, isComplex bool) (re, im float32) {
	s := float32(r.Sign())
	if isComplex && r.Sign() < 0 {
		return 0, s
	}
	return s, 0
}

// byRows is a map that treats rows one by one.
type byRows interface {
	// rows transforms rows [lo, hi) of x.
	rows(dst *matrix.Dense, x matrix.Rows, lo, hi int)
}

// eachRow transforms the rows of x, few of them on the caller's goroutine.
func eachRow(m byRows, dst *matrix.Dense, x matrix.Rows) {
	n := x.Len()
	if n <= few {
		m.rows(dst, x, 0, n)
		return
	}
	vec.Parallel(n, few, func(lo, hi int) { m.rows(dst, x, lo, hi) })
}
