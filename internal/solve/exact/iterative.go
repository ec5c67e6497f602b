package exact

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/kernel"
	"mercer/matrix"
)

// Iterative is the configuration of kernel ridge regression, as in Ridge, by conjugate gradients, from
// products with the Gram matrix alone.
type Iterative struct {
	// Lambda is λ > 0. The smaller it is compared with the eigenvalues of K, the more iterations.
	// 0 means that it is chosen on a held-out tenth of the rows.
	Lambda float64

	// Tolerance stops the iteration when the residual of every output, relative to its targets, is
	// at most that; 0 means 10⁻⁶.
	Tolerance float64

	// MaxIter is the most iterations; 0 means 1000.
	MaxIter int

	// Seed chooses the rows that are held out.
	Seed uint64

	// Progress, if not nil, is called after every iteration with their number and the residual.
	Progress func(iterations int, residual float64)
}

// IterativeReport describes a fit.
type IterativeReport struct {
	Lambda     float64 `json:"lambda"`
	Iterations int     `json:"iterations"`
	Residual   float64 `json:"residual"`
	Converged  bool    `json:"converged"`

	// Error is a bound on ‖α̃ - α‖/‖α̃‖, for the weights α of K itself
	// and equal weights of the rows: ‖K̃ - K‖₂/λ.
	Error float64 `json:"error"`

	// Bytes is the memory of the products.
	Bytes int64 `json:"bytes"`

	// HeldOut is the number of rows that chose λ, Path has what was tried, ascending.
	HeldOut int           `json:"held_out,omitempty"`
	Path    []LambdaPoint `json:"path,omitempty"`
}

// FitIterative fits kernel ridge regression with K̃ of p instead of K,
//
//	α = S(SK̃S + λI)⁻¹S(y - b),
//
// to rows x with targets y, n×outputs row by row, and weights, 0 or more, of which nil means that
// all are 1. The machine predicts with the exact kernel. It holds 8·6nK bytes beyond
// the products'. It fails if K̃ is too far from K for λ: K̃ + λI is then not positive definite.
func FitIterative(ctx context.Context, k kernel.Kernel, x matrix.Rows, p Product, y []float64, outputs int, weights []float64,
	opt Iterative) (*Machine, *IterativeReport, error) {
	if p.Len() != x.Len() {
		panic(fmt.Sprintf("exact: a product of %d rows for %d rows", p.Len(), x.Len()))
	}
	if err := checkTargets(k, x, y, outputs, weights); err != nil {
		return nil, nil, err
	}
	if opt.Tolerance == 0 {
		opt.Tolerance = 1e-6
	}
	if opt.MaxIter == 0 {
		opt.MaxIter = 1000
	}
	switch {
	case !(opt.Lambda >= 0) || math.IsInf(opt.Lambda, 0):
		return nil, nil, fmt.Errorf("lambda %g is not a positive number, or 0 to have it chosen", opt.Lambda)
	case !(opt.Tolerance > 0 && opt.Tolerance < 1) || opt.MaxIter < 1:
		return nil, nil, fmt.Errorf("tolerance %g and at most %d iterations; it takes a tolerance between 0 and 1, and 1 iteration or more",
			opt.Tolerance, opt.MaxIter)
	}
	report := &IterativeReport{Lambda: opt.Lambda, Bytes: p.Bytes()}
	if opt.Lambda == 0 {
		if err := chooseIterative(ctx, k, x, p, y, outputs, weights, opt, report); err != nil {
			return nil, nil, err
		}
	}
	alpha, b, stop, err := solveIterative(ctx, p, y, outputs, weights, report.Lambda, opt)
	if err != nil {
		return nil, nil, err
	}
	if stop.indefinite && stop.residual > opt.Tolerance {
		return nil, nil, errIndefinite(p, report.Lambda)
	}
	m, err := NewMachine(k, x, alpha, b)
	if err != nil {
		return nil, nil, fmt.Errorf("λ = %g is too small: %w", report.Lambda, err)
	}
	report.Iterations, report.Residual, report.Converged = stop.iterations, stop.residual, stop.residual <= opt.Tolerance
	report.Error = p.Bound() / report.Lambda
	return m, report, nil
}

func errIndefinite(p Product, lambda float64) error {
	return fmt.Errorf("the approximate Gram matrix, which is off by up to %.2g, is not positive definite with λ = %.3g; use a larger "+
		"lambda or a higher accuracy", p.Bound(), lambda)
}

// chooseIterative sets the report's λ.
func chooseIterative(ctx context.Context, k kernel.Kernel, x matrix.Rows, p Product, y []float64, outputs int, weights []float64,
	opt Iterative, report *IterativeReport) error {
	n := x.Len()
	most := slices.Max(k.Diagonal(x))
	if most == 0 {
		most = 1
	}
	h := holdOut(n, weights, opt.Seed)
	if h == nil {
		report.Lambda = float64(n) * most * math.Pow(10, chooseStart) // too few rows to choose by
		return nil
	}
	f := make([]float64, n*outputs)
	indefinite := false
	// The best λ is clear long before the solution has converged.
	opt.Tolerance, opt.MaxIter, opt.Progress = max(opt.Tolerance, 1e-3), min(opt.MaxIter, 200), nil
	path, best, err := downhill(h.sumMain*most, func(lambda float64) (float64, int, error) {
		alpha, b, stop, err := solveIterative(ctx, p, y, outputs, h.main, lambda, opt)
		if err != nil {
			return 0, 0, err
		}
		if stop.indefinite && stop.residual > opt.Tolerance {
			indefinite = true
			return math.Inf(1), stop.iterations, nil
		}
		p.Apply(ctx, f, alpha, outputs)
		sum := 0.0
		for i, v := range f {
			e := y[i] - b[i%outputs] - v
			sum += float64(h.held[i/outputs] * e * e)
		}
		return sum / h.sumHeld, stop.iterations, nil
	})
	if err != nil && indefinite {
		return errIndefinite(p, h.sumMain*most*math.Pow(10, chooseHigh))
	}
	if err != nil {
		return err
	}
	report.HeldOut, report.Path, report.Lambda = h.rows, path, best*(h.sumMain+h.sumHeld)/h.sumMain
	return nil
}

// solveIterative returns α, n×K, and b.
func solveIterative(ctx context.Context, p Product, y []float64, outputs int, weights []float64, lambda float64, opt Iterative) (alpha,
	b []float64, stop stopped, err error) {
	n := p.Len()
	b, _ = mean(y, weights, outputs)
	root := roots(weights, n)
	r := make([]float64, n*outputs) // one output after the other
	for i := range n {
		for t := range outputs {
			r[t*n+i] = root[i] * (y[i*outputs+t] - b[t])
		}
	}
	v, kv := make([]float64, n*outputs), make([]float64, n*outputs)
	product := func(q, d []float64) error {
		for i := range n {
			for t := range outputs {
				v[i*outputs+t] = root[i] * d[t*n+i]
			}
		}
		p.Apply(ctx, kv, v, outputs)
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range n {
			for t := range outputs {
				q[t*n+i] = root[i]*kv[i*outputs+t] + lambda*d[t*n+i]
			}
		}
		return nil
	}
	beta, stop, err := conjugateGradients(outputs, n, r, nil, product, opt.Tolerance, opt.MaxIter, opt.Progress)
	if err != nil {
		return nil, nil, stop, err
	}
	alpha = transposed(beta, outputs, n)
	for i := range alpha {
		alpha[i] *= root[i/outputs]
	}
	return alpha, b, stop, nil
}
