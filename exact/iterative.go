package exact

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Iterative says how to fit kernel ridge regression, as Ridge, from products with the Gram matrix
// alone, by conjugate gradients.
type Iterative struct {
	// Lambda is λ > 0. The smaller it is beside the eigenvalues of K, the more iterations.
	Lambda float64

	// Tolerance stops the iteration when the residual of every output is as small a part of its
	// targets'; 0 means 10⁻⁶.
	Tolerance float64

	// MaxIter is the most iterations; 0 means 1000.
	MaxIter int

	// Progress, if not nil, is told after every iteration how many there were, and the residual.
	Progress func(iterations int, residual float64)
}

// IterativeReport says how a fit went.
type IterativeReport struct {
	Lambda     float64 `json:"lambda"`
	Iterations int     `json:"iterations"`
	Residual   float64 `json:"residual"`
	Converged  bool    `json:"converged"`

	// Error is a number that ‖α̃ - α‖ is at most, as a part of ‖α̃‖, for the weights α of K
	// itself and equal weights of the rows: ‖K̃ - K‖₂/λ.
	Error float64 `json:"error"`

	// Bytes is the memory of the products.
	Bytes int64 `json:"bytes"`
}

// FitIterative fits kernel ridge regression with K̃ of p in place of K,
//
//	α = S(SK̃S + λI)⁻¹S(y - b),
//
// to rows x with targets y, n×outputs row by row, and weights, 0 or more, of which nil means that
// all are 1. The machine predicts with the kernel itself. It holds 8·6nK bytes beyond the
// products'. It fails where K̃ is too far from K for λ: K̃ + λI is then not positive definite.
func FitIterative(ctx context.Context, k kernel.Kernel, x matrix.Rows, p Product, y []float64, outputs int, weights []float64, opt Iterative) (*Machine, *IterativeReport, error) {
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
	case !(opt.Lambda > 0) || math.IsInf(opt.Lambda, 0):
		return nil, nil, fmt.Errorf("lambda %g is not a positive number", opt.Lambda)
	case !(opt.Tolerance > 0 && opt.Tolerance < 1) || opt.MaxIter < 1:
		return nil, nil, fmt.Errorf("tolerance %g and at most %d iterations; it takes a tolerance between 0 and 1, and 1 iteration or more", opt.Tolerance, opt.MaxIter)
	}
	n := x.Len()
	b, _ := mean(y, weights, outputs)
	root := roots(weights, n)
	r := make([]float64, n*outputs) // an output behind the other
	for i := range n {
		for t := range outputs {
			r[t*n+i] = root[i] * (y[i*outputs+t] - b[t])
		}
	}
	v, kv := make([]float64, n*outputs), make([]float64, n*outputs)
	product := func(q, d []float64) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range n {
			for t := range outputs {
				v[i*outputs+t] = root[i] * d[t*n+i]
			}
		}
		p.Apply(kv, v, outputs)
		for i := range n {
			for t := range outputs {
				q[t*n+i] = root[i]*kv[i*outputs+t] + opt.Lambda*d[t*n+i]
			}
		}
		return nil
	}
	beta, stop, err := conjugateGradients(outputs, n, r, product, opt.Tolerance, opt.MaxIter, opt.Progress)
	if err != nil {
		return nil, nil, err
	}
	if stop.indefinite && stop.residual > opt.Tolerance {
		return nil, nil, fmt.Errorf("the approximate Gram matrix, which is off by up to %.2g, is not positive definite with λ = %g; use a larger lambda or a higher accuracy", p.Bound(), opt.Lambda)
	}
	alpha := transposed(beta, outputs, n)
	for i := range alpha {
		alpha[i] *= root[i/outputs]
	}
	m, err := NewMachine(k, x, alpha, b)
	if err != nil {
		return nil, nil, fmt.Errorf("λ = %g is too small: %w", opt.Lambda, err)
	}
	return m, &IterativeReport{
		Lambda: opt.Lambda, Iterations: stop.iterations, Residual: stop.residual, Converged: stop.residual <= opt.Tolerance,
		Error: p.Bound() / opt.Lambda, Bytes: p.Bytes(),
	}, nil
}

// GramProduct multiplies by the Gram matrix itself, whose rows are computed anew for every
// product: n²d operations and no memory.
type GramProduct struct {
	against *kernel.Against
	x       matrix.Rows
}

// NewGramProduct prepares products with the Gram matrix of x. It holds 8nd bytes, up to three
// times as many for kernels of histograms.
func NewGramProduct(k kernel.Kernel, x matrix.Rows) (*GramProduct, error) {
	if err := checkRows(k, x); err != nil {
		return nil, err
	}
	against, err := kernel.NewAgainst(k, x)
	if err != nil {
		return nil, err
	}
	return &GramProduct{against, x}, nil
}

// Len is n.
func (p *GramProduct) Len() int { return p.x.Len() }

// Bound is 0.
func (p *GramProduct) Bound() float64 { return 0 }

// Bytes is the memory it holds, and takes for a product on each thread.
func (p *GramProduct) Bytes() int64 {
	return p.against.Bytes() + int64(vec.Threads())*8*scoreRows*int64(p.Len()+p.against.Work())
}

// Apply computes Kv.
func (p *GramProduct) Apply(dst, v []float64, outputs int) {
	n := p.Len()
	checkApply(n, dst, v, outputs)
	packed := vec.Pack64(n, outputs, v, outputs)
	vec.Parallel(n, scoreRows, func(lo, hi int) {
		values, work := make([]float64, scoreRows*n), make([]float64, scoreRows*p.against.Work())
		for i := lo; i < hi; i += scoreRows {
			j := min(i+scoreRows, hi)
			p.against.Rows(p.x, i, j, values, work)
			packed.Multiply(j-i, values, n, dst[i*outputs:], outputs, nil)
		}
	})
}
