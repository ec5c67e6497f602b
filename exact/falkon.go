package exact

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/feature"
	"mercer/internal/random"
	"mercer/internal/units"
	"mercer/internal/vec"
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
	// on a held-out tenth of the rows.
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
// beyond the rows and targets: the centres, 12md; two triangular factors and their workspace, 16m²;
// sums over parts of the rows and the vectors of the iteration, 8mK(32 + 6); a block of K_nm per thread;
// and K_nm in float32, 4nm, if it is kept.
func FalkonBytes(n, d, m, outputs int, kept bool) int64 {
	rows, centres := float64(n), float64(m)
	bytes := centres*(12*float64(d)+16*centres+8*float64(outputs)*(falkonParts+6)) +
		float64(vec.Threads())*8*float64(falkonBlock(m)*(m+d+1+outputs)) + 16*rows*float64(outputs)
	if kept {
		bytes += 4 * rows * centres
	}
	return saturated(bytes)
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
	if need, limit := FalkonBytes(n, x.Dim(), m, outputs, false), memory(opt.Memory); need > limit {
		takes, allowed := units.BytesApart(need, limit)
		return nil, nil, fmt.Errorf("Falkon with %d centres takes 16·m² and some more = %s, of %s allowed; use fewer "+
			"centres or a feature map", m,
			takes, allowed)
	}
	centres := opt.Given
	if centres == nil {
		var err error
		if centres, err = chooseCentres(k, x, m, opt); err != nil {
			return nil, nil, err
		}
	}
	return fitFalkon(ctx, k, x, y, outputs, weights, centres, opt)
}

// chooseCentres draws as many rows as the choice of landmarks needs, and runs it.
func chooseCentres(k kernel.Kernel, x matrix.Rows, m int, opt Falkon) (*matrix.Dense, error) {
	sample := m
	if opt.Landmarks != "" && opt.Landmarks != "uniform" {
		sample = max(2000, min(20*m, max(20_000, 2*m)))
	}
	if sample < x.Len() {
		chosen := random.New(opt.Seed, "exact.falkon.sample").Perm(x.Len())[:sample]
		slices.Sort(chosen)
		x = matrix.Pick(x, chosen)
	}
	return feature.Landmarks(k, x, opt.Landmarks, m, opt.Seed)
}

func fitFalkon(ctx context.Context, k kernel.Kernel, x matrix.Rows, y []float64, outputs int, weights []float64, centres *matrix.Dense,
	opt Falkon) (*Machine, *FalkonReport, error) {
	if !(opt.Lambda >= 0) || math.IsInf(opt.Lambda, 0) {
		return nil, nil, fmt.Errorf("lambda %g is not a positive number, or 0 to have it chosen", opt.Lambda)
	}
	if opt.Tolerance == 0 {
		opt.Tolerance = 1e-6
	}
	if opt.MaxIter == 0 {
		opt.MaxIter = 200
	}
	if !(opt.Tolerance > 0 && opt.Tolerance < 1) || opt.MaxIter < 1 {
		return nil, nil, fmt.Errorf("tolerance %g and at most %d iterations; it takes a tolerance between 0 and 1, and 1 iteration or more",
			opt.Tolerance, opt.MaxIter)
	}
	f := &falkon{ctx: ctx, opt: opt, x: x, centres: centres, n: x.Len(), m: centres.Rows, k: outputs}
	var err error
	if f.against, err = kernel.NewAgainst(k, matrix.Rows{Dense: centres}); err != nil {
		return nil, nil, err
	}
	f.most = slices.Max(k.Diagonal(matrix.Rows{Dense: centres}))
	if !finite(f.most) {
		return nil, nil, fmt.Errorf("the kernel of the rows is not finite; scale the data")
	}
	if f.most == 0 {
		f.most = 1 // K_mm is 0, so there is nothing to learn
	}
	f.t, f.a = make([]float64, f.m*f.m), make([]float64, f.m*f.m)
	report := &FalkonReport{Lambda: opt.Lambda, Centres: f.m, Kept: FalkonBytes(f.n, x.Dim(), f.m, outputs, true) <= memory(opt.Memory)}
	if report.Kept {
		f.kept = make([]float32, f.n*f.m)
	}
	if opt.Lambda == 0 {
		if report.Lambda, err = f.choose(y, weights, report); err != nil {
			return nil, nil, err
		}
	}
	b, total := mean(y, weights, outputs)
	alpha, err := f.solve(y, weights, b, total, report.Lambda, report)
	if err != nil {
		return nil, nil, err
	}
	machine, err := NewMachine(k, matrix.Rows{Dense: centres}, transposed(alpha, outputs, f.m), b)
	if err != nil {
		return nil, nil, fmt.Errorf("λ = %g is too small: %w", report.Lambda, err)
	}
	return machine, report, nil
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
	filled  bool      // kept has the values

	t      []float64 // m×m upper: TᵀT = K_mm + jitter·I
	jitter float64
	a      []float64 // m×m upper: AᵀA = (Σw/m)·TTᵀ + λI
	most   float64   // the largest k(c, c)
}

// solve returns α of a λ, K×m. With α = T⁻¹A⁻¹β it solves
//
//	A⁻ᵀ[T⁻ᵀK_nmᵀWK_nm T⁻¹ + λI]A⁻¹β = A⁻ᵀT⁻ᵀK_nmᵀW(y - b)
//
// by conjugate gradients, all outputs at once, each with its own steps.
func (f *falkon) solve(y, weights, b []float64, total, lambda float64, report *FalkonReport) ([]float64, error) {
	if err := f.factor(total, lambda); err != nil {
		return nil, err
	}
	size := f.k * f.m
	sums, g := make([]float64, falkonParts*size), make([]float64, size)
	centred := make([]float64, len(y))
	for i, v := range y {
		centred[i] = v - b[i%f.k]
	}
	r := make([]float64, size)
	if err := f.normal(r, nil, centred, weights, sums); err != nil {
		return nil, err
	}
	f.solveUpperT(f.t, r)
	f.solveUpperT(f.a, r)
	product := func(q, p []float64) error {
		copy(q, p)
		f.solveUpper(f.a, q) // v = A⁻¹p
		u := slices.Clone(q)
		f.solveUpper(f.t, u)
		if err := f.normal(g, u, nil, weights, sums); err != nil {
			return err
		}
		f.solveUpperT(f.t, g)
		for i, v := range g {
			q[i] = v + lambda*q[i]
		}
		f.solveUpperT(f.a, q)
		return nil
	}
	beta, stop, err := conjugateGradients(f.k, f.m, r, product, f.opt.Tolerance, f.opt.MaxIter, f.opt.Progress)
	if err != nil {
		return nil, err
	}
	report.Jitter = f.jitter
	report.Iterations, report.Residual, report.Converged = stop.iterations, stop.residual, stop.residual <= f.opt.Tolerance
	f.solveUpper(f.a, beta)
	f.solveUpper(f.t, beta)
	return beta, nil
}

// choose returns the λ that predicts a tenth of the rows best, fitted to the others.
// Held-out rows have weight 0.
func (f *falkon) choose(y, weights []float64, report *FalkonReport) (float64, error) {
	h := holdOut(f.n, weights, f.opt.Seed)
	if h == nil {
		return float64(f.n) * f.most * math.Pow(10, chooseStart), nil // too few rows to choose by
	}
	b, _ := mean(y, h.main, f.k)
	path, best, err := downhill(h.sumMain*f.most, func(lambda float64) (float64, int, error) {
		var run FalkonReport
		alpha, err := f.solve(y, h.main, b, h.sumMain, lambda, &run)
		if f.ctx.Err() != nil {
			return 0, 0, f.ctx.Err()
		}
		if err != nil {
			return math.Inf(1), 0, nil // λ is too small
		}
		e, err := f.squaredError(alpha, y, b, h.held, h.sumHeld)
		return e, run.Iterations, err
	})
	if err != nil {
		return 0, err
	}
	report.HeldOut, report.Path = h.rows, path
	return best * (h.sumMain + h.sumHeld) / h.sumMain, nil
}

// squaredError is the mean squared error of α, by the weights, summed over the outputs.
func (f *falkon) squaredError(alpha, y, b, weights []float64, total float64) (float64, error) {
	var parts [falkonParts]float64
	err := f.each(func(part, i, j int, values, out []float64) {
		f.multiply(out, values, alpha)
		for c, v := range out {
			e := y[i*f.k+c] - b[c%f.k] - v
			parts[part] += float64(weights[i+c/f.k] * e * e)
		}
	})
	sum := 0.0
	for _, v := range parts {
		sum += v
	}
	return sum / total, err
}
