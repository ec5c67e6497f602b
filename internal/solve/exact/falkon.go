package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/engine/units"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Falkon is the configuration of kernel ridge regression with a function spanned by m centres
// c_j instead of all n rows, and b the mean of the targets,
//
//	min over α of Σᵢ wᵢ‖yᵢ - b - Σⱼ αⱼk(xᵢ, cⱼ)‖² + λ αᵀK_mm α,
//
// that is, (K_nmᵀWK_nm + λK_mm)α = K_nmᵀW(y - b), by conjugate gradients with a preconditioner
// computed from the centres alone (Rudi, Carratino and Rosasco, "FALKON: An Optimal Large Scale Kernel
// Method", 2017). A jitter·I as small as the rounding of the kernel's values is added
// to K_mm, so that duplicate or nearly dependent centres do no harm.
type Falkon struct {
	// Centres is m; at most n are used.
	Centres int

	// Landmarks is how centres are chosen, one of feature.LandmarkChoices but "given"; "" is
	// uniform.
	Landmarks string

	// Given are the centres themselves, if not nil: Centres and Landmarks are then ignored.
	Given *matrix.Dense

	// Lambda is λ > 0, on the scale of Ridge: the paper's times n. 0 means that it is chosen
	// on a held-out tenth of the rows; systems for it are solved to a residual of 10⁻³.
	Lambda float64

	// Tolerance stops the iteration when the preconditioned residual of every output, relative
	// to its first, is at most that; 0 means 10⁻⁶.
	Tolerance float64

	// MaxIter is the most iterations; 0 means 200.
	MaxIter int

	// Memory bounds the bytes of a fit, FalkonBytes; 0 means 4 GiB. The result does not depend
	// on it.
	Memory int64

	Seed uint64

	// Progress, if not nil, is called after every iteration with their number and the residual.
	Progress func(iterations int, residual float64)
}

// FalkonReport describes a fit.
type FalkonReport struct {
	Lambda  float64 `json:"lambda"`
	Centres int     `json:"centres"`

	// Jitter is what was added to the diagonal of K_mm.
	Jitter float64 `json:"jitter"`

	// Iterations is how many products with K_nmᵀWK_nm the final fit took, and Residual
	// the relative residual at its end. Converged means that it is within the tolerance.
	Iterations int     `json:"iterations"`
	Residual   float64 `json:"residual"`
	Converged  bool    `json:"converged"`

	// Kept means that K_nm was held in memory; otherwise it was recomputed in every iteration.
	Kept bool `json:"kept"`

	// HeldOut is the number of rows that chose λ, Path has what was tried, ascending.
	HeldOut int           `json:"held_out,omitempty"`
	Path    []LambdaPoint `json:"path,omitempty"`
}

// FalkonBytes is the memory of FitFalkon for n rows of d dimensions, m centres and K outputs
// beyond the rows and targets: the centres, 12md; two squares for three triangular factors, 16m²;
// sums over parts of the rows and the vectors of the iteration, 8mK(32 + 12); targets and weights, 16n(K + 1); rows of K_nm
// per thread; and K_nm in float32, 4nm, if it is kept.
func FalkonBytes(n, d, m, outputs int, kept bool) int64 {
	rows, centres := float64(n), float64(m)
	bytes := centres*(12*float64(d)+16*centres+8+8*float64(outputs)*(falkonParts+12)) +
		float64(vec.Threads())*float64(falkonRowsBytes(d, m, outputs)) + 16*rows*float64(outputs+1)
	if kept {
		bytes += 4 * rows * centres
	}
	return saturated(bytes)
}

// affordable says what is too much for the memory.
func affordable(n, d, m, outputs int, most int64) error {
	need, limit := FalkonBytes(n, d, m, outputs, false), memory(most)
	if need <= limit {
		return nil
	}
	takes, allowed := units.BytesApart(need, limit)
	return fmt.Errorf("Falkon with %d centres takes 16·m² and some more = %s, of %s allowed; use fewer centres or a feature map", m, takes, allowed)
}

// FitFalkon fits to rows x with targets y, n×outputs row by row, and weights, 0 or more, of which
// nil means that all are 1. An iteration takes 2nmK multiply-adds, and nmd more if K_nm is not
// kept; the preconditioner takes m³. The values of K_nm are rounded to float32, sums are in
// float64. The machine keeps the centres, not x.
func FitFalkon(ctx context.Context, k kernel.Kernel, x matrix.Rows, y []float64, outputs int, weights []float64, opt Falkon) (*Machine,
	*FalkonReport, error) {
	if err := checkTargets(k, x, y, outputs, weights); err != nil {
		return nil, nil, err
	}
	n := x.Len()
	m := min(opt.Centres, n)
	if opt.Given != nil {
		if m = opt.Given.Rows; m > 0 && opt.Given.Cols != x.Dim() {
			return nil, nil, fmt.Errorf("the centres have %d dimensions, but the rows have %d", opt.Given.Cols, x.Dim())
		}
		if err := checkRows(k, matrix.Rows{Dense: opt.Given}); err != nil {
			return nil, nil, fmt.Errorf("the centres: %w", err)
		}
	}
	if m < 1 {
		return nil, nil, fmt.Errorf("%d centres; it takes 1 or more", m)
	}
	if err := affordable(n, x.Dim(), m, outputs, opt.Memory); err != nil {
		return nil, nil, err
	}
	centres := opt.Given
	if centres == nil {
		var err error
		if centres, err = chooseCentres(ctx, k, x, m, opt); err != nil {
			return nil, nil, err
		}
	}
	return fitFalkon(ctx, k, x, y, outputs, weights, centres, opt)
}

// chooseCentres draws as many rows as the choice of landmarks needs, and runs it.
func chooseCentres(ctx context.Context, k kernel.Kernel, x matrix.Rows, m int, opt Falkon) (*matrix.Dense, error) {
	if sample := FalkonSample(opt.Landmarks, m); sample < x.Len() {
		chosen := random.New(opt.Seed, "exact.falkon.sample").Perm(x.Len())[:sample]
		slices.Sort(chosen)
		x = matrix.Pick(x, chosen)
	}
	return feature.Landmarks(ctx, k, x, opt.Landmarks, m, opt.Seed)
}

func fitFalkon(ctx context.Context, k kernel.Kernel, x matrix.Rows, y []float64, outputs int, weights []float64, centres *matrix.Dense,
	opt Falkon) (*Machine, *FalkonReport, error) {
	f, err := newFalkonOn(ctx, k, centres, outputs, opt)
	if err != nil {
		return nil, nil, err
	}
	opt, f.x, f.n = f.opt, x, x.Len()
	f.room()
	report := &FalkonReport{Lambda: opt.Lambda, Centres: f.m, Kept: FalkonBytes(f.n, x.Dim(), f.m, outputs, true) <= memory(opt.Memory)}
	if report.Kept {
		if err := f.keep(); err != nil {
			return nil, nil, err
		}
	}
	var start []float64
	if opt.Lambda == 0 {
		if report.Lambda, start, err = f.choose(y, weights, report); err != nil {
			return nil, nil, err
		}
	}
	b, total := mean(y, weights, outputs)
	s, err := f.system(y, weights, b, total)
	if err != nil {
		return nil, nil, err
	}
	alpha, err := f.solve(s, report.Lambda, start, opt.Tolerance, report)
	if err != nil {
		return nil, nil, err
	}
	machine, err := machineOf(k, centres, alpha, b, report.Lambda)
	if err != nil {
		return nil, nil, err
	}
	return machine, report, nil
}

// newFalkonOn is a fit on centres without any rows, with defaults in its options.
func newFalkonOn(ctx context.Context, k kernel.Kernel, centres *matrix.Dense, outputs int, opt Falkon) (*falkon, error) {
	if !(opt.Lambda >= 0) || math.IsInf(opt.Lambda, 0) {
		return nil, fmt.Errorf("lambda %g is not a positive number, or 0 to have it chosen", opt.Lambda)
	}
	if opt.Tolerance == 0 {
		opt.Tolerance = 1e-6
	}
	if opt.MaxIter == 0 {
		opt.MaxIter = 200
	}
	if !(opt.Tolerance > 0 && opt.Tolerance < 1) || opt.MaxIter < 1 {
		return nil, fmt.Errorf("tolerance %g and at most %d iterations; it takes a tolerance between 0 and 1, and 1 iteration or more",
			opt.Tolerance, opt.MaxIter)
	}
	f := &falkon{ctx: ctx, opt: opt, centres: centres, m: centres.Rows, k: outputs}
	var err error
	if f.against, err = kernel.NewAgainst(k, matrix.Rows{Dense: centres}); err != nil {
		return nil, err
	}
	f.most = slices.Max(k.Diagonal(matrix.Rows{Dense: centres}))
	if !finite(f.most) {
		return nil, errors.New("the kernel of the rows is not finite; scale the data")
	}
	if f.most == 0 {
		f.most = 1 // K_mm is 0, so there is nothing to learn
	}
	return f, nil
}

// room makes room for the preconditioner.
func (f *falkon) room() {
	f.t, f.a, f.diagonal = make([]float64, f.m*f.m), make([]float64, f.m*f.m), make([]float64, f.m)
}

// machineOf is the machine with α, K×m, and the intercepts b.
func machineOf(k kernel.Kernel, centres *matrix.Dense, alpha, b []float64, lambda float64) (*Machine, error) {
	machine, err := NewMachine(k, matrix.Rows{Dense: centres}, transposed(alpha, len(b), centres.Rows), b)
	if err != nil {
		return nil, fmt.Errorf("λ = %g is too small: %w", lambda, err)
	}
	return machine, nil
}

// transposed is a, rows×cols, as cols×rows.
func transposed(a []float64, rows, cols int) []float64 {
	t := make([]float64, len(a))
	for i := range rows {
		for j := range cols {
			t[j*rows+i] = a[i*cols+j]
		}
	}
	return t
}

// falkon is a fit. Vectors of all outputs are K×m, one output per row.
type falkon struct {
	ctx     context.Context
	opt     Falkon
	x       matrix.Rows
	centres *matrix.Dense
	n, m, k int
	against *kernel.Against
	kept    []float32 // K_nm, or nil
	most    float64   // the largest k(c, c)

	t        []float64 // m×m: T on and above the diagonal, TTᵀ below it
	diagonal []float64 // of TTᵀ
	jitter   float64   // of T, 0 if there is none
	a        []float64 // m×m upper: A
	ratio    float64   // λ/Σw of A, 0 if there is none
}

// system is a problem to solve for some λ.
type system struct {
	y, weights []float64 // the targets without b, n×K, and the rows' weights
	total      float64   // Σw
	right      []float64 // K_nmᵀWy
	sums       []float64 // room for a sum per part of the rows
}

// system subtracts b from y.
func (f *falkon) system(y, weights, b []float64, total float64) (*system, error) {
	s := &system{y: make([]float64, len(y)), weights: weights, total: total, right: make([]float64, f.k*f.m),
		sums: make([]float64, falkonParts*f.k*f.m)}
	for i, v := range y {
		s.y[i] = v - b[i%f.k]
	}
	return s, f.normal(s.right, nil, s.y, weights, s.sums)
}

// solve returns α of a λ, K×m, from the given start (nil: 0). With α = T⁻¹A⁻¹β it solves
//
//	A⁻ᵀ[T⁻ᵀK_nmᵀWK_nm T⁻¹ + λI]A⁻¹β = A⁻ᵀT⁻ᵀK_nmᵀWy
//
// by conjugate gradients, all outputs at once, each with its own steps.
func (f *falkon) solve(s *system, lambda float64, start []float64, tolerance float64, report *FalkonReport) ([]float64, error) {
	if err := f.precondition(s.total, lambda); err != nil {
		return nil, err
	}
	right := slices.Clone(s.right)
	f.solveUpperT(f.t, right)
	r := right
	if start != nil {
		r = make([]float64, len(right))
		if err := f.normal(r, start, s.y, s.weights, s.sums); err != nil {
			return nil, err
		}
		f.solveUpperT(f.t, r)
		f.subtractT(r, lambda, start)
		f.solveUpperT(f.a, right)
	}
	f.solveUpperT(f.a, r)
	g, u := make([]float64, len(r)), make([]float64, len(r))
	product := func(q, p []float64) error {
		f.forth(q, u, p)
		if err := f.normal(g, u, nil, s.weights, s.sums); err != nil {
			return err
		}
		f.back(q, g, lambda)
		return nil
	}
	if start == nil {
		right = nil
	}
	beta, stop, err := conjugateGradients(f.k, f.m, r, right, product, tolerance, f.opt.MaxIter, f.opt.Progress)
	if err != nil {
		return nil, err
	}
	report.Jitter = f.jitter
	report.Iterations, report.Residual, report.Converged = stop.iterations, stop.residual, stop.residual <= tolerance
	f.solveUpper(f.a, beta)
	f.solveUpper(f.t, beta)
	if start != nil {
		vec.Axpy64(1, start, beta)
	}
	return beta, nil
}

// forth and back are the two halves of a product with the preconditioned matrix: forth writes v = A⁻¹p and u = T⁻¹v, and back makes
// A⁻ᵀ(T⁻ᵀg + λv) of v, with g = K_nmᵀWK_nm u, which it overwrites.
func (f *falkon) forth(v, u, p []float64) {
	copy(v, p)
	f.solveUpper(f.a, v)
	copy(u, v)
	f.solveUpper(f.t, u)
}

func (f *falkon) back(v, g []float64, lambda float64) {
	f.solveUpperT(f.t, g)
	for i, t := range g {
		v[i] = t + lambda*v[i]
	}
	f.solveUpperT(f.a, v)
}

// subtractT subtracts λTα from v for each of the K rows.
func (f *falkon) subtractT(v []float64, lambda float64, alpha []float64) {
	m := f.m
	vec.Parallel(m, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for t := range f.k {
				v[t*m+i] -= lambda * vec.Dot64(f.t[i*m+i:(i+1)*m], alpha[t*m+i:(t+1)*m])
			}
		}
	})
}
