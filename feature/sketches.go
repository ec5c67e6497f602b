package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// sketches are the maps of dot-product kernels.
func sketches() []kind {
	hash := map[string][]string{"hash": {"pairwise", "balanced"}}
	return []kind{
		{name: CountSketch, about: "sums of coordinates that hash alike, for the linear kernel",
			cost: "nnz", source: "Charikar, Chen and Farach-Colton 2002",
			options: []string{"hash"}, words: hash, frugal: true, takes: only(kernel.Linear), check: checkHash,
			make: func(cfg Config, dim int) (Map, error) { return newCountSketch(cfg, dim) }},
		{name: TensorSketch, about: "convolved count sketches, for polynomials",
			cost: "p(nnz + D log D)", source: "Pham and Pagh 2013",
			options: []string{"hash"}, words: hash, frugal: true, takes: only(kernel.Poly), check: checkHash,
			make: func(cfg Config, dim int) (Map, error) { return newTensorSketch(cfg, dim) }},
		{name: TensorSRHT, about: "products of Hadamard projections, for polynomials",
			cost: "p(d log d + D)", source: "Hamid et al. 2014; Wacker et al. 2022",
			options: []string{"complex"}, takes: only(kernel.Poly), check: checkHalves,
			make: func(cfg Config, dim int) (Map, error) { return newTensorSRHT(cfg, dim) }},
		{name: Maclaurin, about: "products of random projections, for any dot-product kernel",
			cost: "pdD", source: "Kar and Karnick 2012; Wacker et al. 2022",
			options: []string{"complex", "series"}, takes: hasSeries, check: checkTerms,
			make: func(cfg Config, dim int) (Map, error) { return newMaclaurin(cfg, dim) }},
		{name: TaylorSketch, about: "tensor sketches of the terms of the exponential series, for exp, and for rbf by it",
			cost: "p²·nnz + pD log D", source: "Pham and Pagh 2013",
			options: []string{"hash"}, words: map[string][]string{"hash": {"balanced", "pairwise"}}, takes: takesTaylor, check: checkTaylor,
			fit: fitTaylorSketch, restore: restoreTaylorSketch},
		{name: ExplicitPoly, about: "all monomials, exact",
			cost: "D", dim: true, takes: only(kernel.Poly),
			make: func(cfg Config, dim int) (Map, error) { return newExplicit(cfg, dim) }},
	}
}

// hasSeries says that a kernel is a power series of γ x·y + c.
func hasSeries(k kernel.Kernel) bool {
	_, ok := k.Series(0)
	return ok
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

// augmented is the kernel (γ x·y + c)^p as the kernel (x̃·ỹ)^p of rows x̃ = [√γ·x, √c].
type augmented struct {
	degree   int
	scale    float32 // √γ
	constant float32 // √c
	dim      int     // of x
}

// newAugmented fails unless the numbers of the poly kernel of cfg are ones that float32 can hold.
func newAugmented(cfg Config, dim int) (augmented, error) {
	k := cfg.Kernel
	h := augmented{k.Degree, float32(math.Sqrt(k.Gamma)), float32(math.Sqrt(k.Coef0)), dim}
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
func (h augmented) width() int {
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
