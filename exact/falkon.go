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

// Falkon says how to fit kernel ridge regression whose function is spanned by m centres c_j
// instead of all n rows, b the mean of the targets,
//
//	min over α of Σᵢ wᵢ‖yᵢ - b - Σⱼ αⱼk(xᵢ, cⱼ)‖² + λ αᵀK_mm α,
//
// that is, (K_nmᵀWK_nm + λK_mm)α = K_nmᵀW(y - b), by conjugate gradients with a preconditioner
// made of the centres alone (Rudi, Carratino and Rosasco, "FALKON: An Optimal Large Scale Kernel
// Method", 2017). To K_mm comes a jitter·I as small as the rounding of the kernel's values, so
// that centres which come twice, or nearly depend on each other, do no harm.
type Falkon struct {
	// Centres is m; n at most are used.
	Centres int

	// Landmarks is how centres are chosen, one of feature.LandmarkChoices but "given"; "" is
	// uniform.
	Landmarks string

	// Given are the centres themselves, if not nil: Centres and Landmarks then do not count.
	Given *matrix.Dense

	// Lambda is λ > 0, on the scale of Ridge: the paper's times n. 0 means that a tenth of the
	// rows, held out, chooses it.
	Lambda float64

	// Tolerance stops the iteration when the preconditioned residual of every output is as
	// small a part of its first; 0 means 10⁻⁶.
	Tolerance float64

	// MaxIter is the most iterations; 0 means 200.
	MaxIter int

	// Memory bounds the bytes of a fit, FalkonBytes; 0 means 4 GiB. The result does not depend
	// on it.
	Memory int64

	Seed uint64

	// Progress, if not nil, is told after every iteration how many there were, and the residual.
	Progress func(iterations int, residual float64)
}

// FalkonReport says how a fit went.
type FalkonReport struct {
	Lambda  float64 `json:"lambda"`
	Centres int     `json:"centres"`

	// Jitter is what was added to the diagonal of K_mm.
	Jitter float64 `json:"jitter"`

	// Iterations is how many products with K_nmᵀWK_nm the final fit took, and Residual the
	// relative residual at its end. Converged says that it is within the tolerance.
	Iterations int     `json:"iterations"`
	Residual   float64 `json:"residual"`
	Converged  bool    `json:"converged"`

	// Kept says that K_nm was held in memory; else it was computed anew in every iteration.
	Kept bool `json:"kept"`

	// HeldOut is the number of rows that chose λ, Path has what was tried, ascending.
	HeldOut int           `json:"held_out,omitempty"`
	Path    []LambdaPoint `json:"path,omitempty"`
}

// FalkonBytes is the memory of FitFalkon for n rows of d dimensions, m centres and K outputs
// beyond the rows and targets: the centres, 12md; two triangular factors and the work for them,
// 16m²; sums over parts of the rows and what iterates, 8mK(32 + 6); a block of K_nm a thread;
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

// falkonParts is how many parts the rows are cut into, each of which is summed by itself, so that
// no sum depends on the number of threads.
const falkonParts = 32

// falkonBlock is how many rows of K_nm are worked on at a time: 512 KB of them in float64.
func falkonBlock(m int) int { return min(256, max(8, 1<<16/m)) }

// FitFalkon fits to rows x with targets y, n×outputs row by row, and weights, 0 or more, of which
// nil means that all are 1. An iteration takes 2nmK multiply-adds, and nmd more if K_nm is not
// kept; the preconditioner takes m³. The values of K_nm are rounded to float32, sums are in
// float64. The machine keeps the centres, not x.
func FitFalkon(ctx context.Context, k kernel.Kernel, x matrix.Rows, y []float64, outputs int, weights []float64, opt Falkon) (*Machine, *FalkonReport, error) {
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
		return nil, nil, fmt.Errorf("Falkon with %d centres takes 16·m² and some more = %s, of %s allowed; use fewer centres or a feature map", m, takes, allowed)
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

// chooseCentres draws as many rows as the choice needs, and lets it choose.
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

func fitFalkon(ctx context.Context, k kernel.Kernel, x matrix.Rows, y []float64, outputs int, weights []float64, centres *matrix.Dense, opt Falkon) (*Machine, *FalkonReport, error) {
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
		return nil, nil, fmt.Errorf("tolerance %g and at most %d iterations; it takes a tolerance between 0 and 1, and 1 iteration or more", opt.Tolerance, opt.MaxIter)
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
		f.most = 1 // K_mm is 0, and there is nothing to learn
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

// falkon is a fit. Vectors of all outputs are K×m, an output a row.
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

// factorCentres computes T for λ.
//
// Where K_mm is singular to rounding, two roundings matter. That of K_mm itself, some m·2⁻⁵²,
// decides whether there is a T. And K_nm has errors of about 2⁻²⁶ times its values, as it is
// rounded to float32. In directions that K_nm has nothing else in, the targets would be fitted to
// these errors as to features of size Σw·2⁻⁵²; a penalty λ·jitter 2¹² times that size leaves
// nothing of them. It is felt by itself where λ/Σw is below some 2⁻²⁰/√m, which float32 has no
// more digits for.
func (f *falkon) factorCentres(total, lambda float64) error {
	m := f.m
	centres := matrix.Rows{Dense: f.centres}
	for f.jitter = max(float64(m)*0x1p-51*f.most, total*0x1p-40*f.most*f.most/lambda); ; f.jitter *= 10 {
		vec.Parallel(m, 64, func(lo, hi int) {
			work := make([]float64, 64*f.against.Work())
			for i := lo; i < hi; i += 64 {
				f.against.Rows(centres, i, min(i+64, hi), f.t[i*m:], work)
			}
		})
		for i := range m {
			f.t[i*m+i] += f.jitter
		}
		if vec.Cholesky(m, f.t, m) {
			break
		}
		if f.jitter > 1e-3*f.most {
			return fmt.Errorf("the kernel matrix of %d centres is not positive definite with λ = %g: give a larger λ", m, lambda)
		}
	}
	for i := range m {
		clear(f.t[i*m : i*m+i])
	}
	return nil
}

// factor computes T and A for λ: with rows that are like the centres, K_nmᵀWK_nm is about (Σw/m)·K_mm²
// = (Σw/m)·Tᵀ(TTᵀ)T.
func (f *falkon) factor(total, lambda float64) error {
	if err := f.factorCentres(total, lambda); err != nil {
		return err
	}
	m := f.m
	const block = 256
	for i := 0; i < m; i += block {
		for j := i; j < m; j += block {
			// The inner index starts at j: T is upper triangular.
			vec.GemmNT(min(block, m-i), min(block, m-j), m-j, f.t[i*m+j:], m, f.t[j*m+j:], m, f.a[i*m+j:], m)
		}
	}
	c := total / float64(m)
	for i := range m {
		row := f.a[i*m+i : (i+1)*m]
		for j := range row {
			row[j] *= c
		}
		row[0] += lambda
	}
	if !vec.Cholesky(m, f.a, m) {
		return fmt.Errorf("λ = %g is too small for %d centres: the preconditioner is not positive definite; give a larger λ", lambda, m)
	}
	return nil
}

// solveUpper overwrites each of the K rows of b with the solution of Ux = b.
func (f *falkon) solveUpper(u, b []float64) {
	m := f.m
	vec.Parallel(f.k, 1, func(lo, hi int) {
		for i := m - 1; i >= 0; i-- {
			row := u[i*m+i : (i+1)*m]
			for t := lo; t < hi; t++ {
				x := b[t*m+i : (t+1)*m]
				x[0] = (x[0] - vec.Dot64(row[1:], x[1:])) / row[0]
			}
		}
	})
}

// solveUpperT is solveUpper for Uᵀx = b.
func (f *falkon) solveUpperT(u, b []float64) {
	m := f.m
	vec.Parallel(f.k, 1, func(lo, hi int) {
		for i := range m {
			row := u[i*m+i : (i+1)*m]
			for t := lo; t < hi; t++ {
				x := b[t*m+i : (t+1)*m]
				x[0] /= row[0]
				vec.Axpy64(-x[0], row[1:], x[1:])
			}
		}
	})
}

// each calls do for blocks of rows of K_nm, a part of the rows after the other on each thread,
// and fails if the context is done. values are the rows [i, j) of K_nm and may be changed; out
// has room for their K outputs.
func (f *falkon) each(do func(part, i, j int, values, out []float64)) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	block := falkonBlock(f.m)
	step := (f.n + falkonParts - 1) / falkonParts
	step = (step + block - 1) / block * block
	if f.filled && f.k <= fewOutputs {
		block = 1 // outputs one by one go row by row anyway, and a row stays in the L1 cache
	}
	vec.Parallel(falkonParts, 1, func(lo, hi int) {
		values, out := make([]float64, block*f.m), make([]float64, block*f.k)
		var work []float64
		if !f.filled {
			work = make([]float64, block*f.against.Work())
		}
		for part := lo; part < hi; part++ {
			end := min((part+1)*step, f.n)
			for i := part * step; i < end; i += block {
				j := min(i+block, end)
				v := values[:(j-i)*f.m]
				if f.filled {
					clear(v)
					vec.AxpyWide(1, f.kept[i*f.m:j*f.m], v)
				} else {
					f.against.Rows(f.x, i, j, v, work)
					f.round(v, i)
				}
				do(part, i, j, v, out[:(j-i)*f.k])
			}
		}
	})
	f.filled = f.kept != nil
	return nil
}

// round rounds values of K_nm, from row i on, to float32, and keeps them if they are to be kept.
func (f *falkon) round(values []float64, i int) {
	if f.kept == nil {
		for c, v := range values {
			values[c] = float64(float32(v))
		}
		return
	}
	kept := f.kept[i*f.m:][:len(values)]
	for c, v := range values {
		kept[c] = float32(v)
		values[c] = float64(kept[c])
	}
}

// multiply writes the rows of K_nm times u into out.
func (f *falkon) multiply(out, values, u []float64) {
	if rows := len(values) / f.m; f.k > fewOutputs {
		vec.GemmNT(rows, f.k, f.m, values, f.m, u, f.m, out, f.k)
		return
	}
	for r := range len(values) / f.m {
		for t := range f.k {
			out[r*f.k+t] = vec.Dot64(values[r*f.m:][:f.m], u[t*f.m:][:f.m])
		}
	}
}

// addTransposed adds outᵀ times the rows of K_nm to g, K×m.
func (f *falkon) addTransposed(g, values, out []float64) {
	rows := len(values) / f.m
	if f.k > fewOutputs {
		vec.GemmAddTN(f.k, f.m, rows, out, f.k, values, f.m, g, f.m)
		return
	}
	for r := range rows {
		for t := range f.k {
			vec.Axpy64(out[r*f.k+t], values[r*f.m:][:f.m], g[t*f.m:][:f.m])
		}
	}
}

// fewOutputs is how many outputs take longer as a matrix product than one by one.
const fewOutputs = 2

// normal writes K_nmᵀW(K_nm·u) into g, or of a vector r, n×K, in place of the product with u.
func (f *falkon) normal(g, u, r, weights, sums []float64) error {
	clear(sums)
	size := f.k * f.m
	err := f.each(func(part, i, j int, values, out []float64) {
		if r != nil {
			copy(out, r[i*f.k:j*f.k])
		} else {
			f.multiply(out, values, u)
		}
		if weights != nil {
			for c := range out {
				out[c] *= weights[i+c/f.k]
			}
		}
		f.addTransposed(sums[part*size:][:size], values, out)
	})
	clear(g)
	for part := range falkonParts {
		vec.Axpy64(1, sums[part*size:][:size], g)
	}
	return err
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

// choose returns the λ that predicts a tenth of the rows best, fitted to the others. A row that
// is held out is a row of weight 0.
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
