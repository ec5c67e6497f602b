// Package exact has kernel machines: exact ones, as baselines and for small data, and ways
// to train and use them at less than their full cost.
package exact

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/units"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Ridge is the configuration of kernel ridge regression,
//
//	min over f in the kernel's space of Σᵢ wᵢ‖yᵢ - b - f(xᵢ)‖² + λ‖f‖²,  b = Σ wᵢyᵢ / Σ wᵢ,
//
// whose solution is f = Σ αᵢk(xᵢ, ·), α = S(SKS + λI)⁻¹S(y - b) with S² = W.
type Ridge struct {
	// Lambda is λ > 0; 0 means that leave-one-out chooses it.
	Lambda float64

	// Memory bounds the bytes of a fit, RidgeBytes; 0 means 4 GiB.
	Memory int64
}

// RidgeReport describes the choices of FitRidge.
type RidgeReport struct {
	Lambda float64 `json:"lambda"`

	// LeaveOneOut is the weighted mean, over the rows, of the squared error, summed over
	// the outputs, of the machine trained without the row; 0 if λ was given.
	LeaveOneOut float64 `json:"leave_one_out,omitempty"`

	// Path has the λ that were tried, ascending; nil if λ was given.
	Path []RidgePoint `json:"path,omitempty"`
}

// RidgePoint is one λ that was tried.
type RidgePoint struct {
	Lambda      float64 `json:"lambda"`
	LeaveOneOut float64 `json:"leave_one_out"`
	Chosen      bool    `json:"chosen,omitempty"`
}

// The λ that are tried are tr(SKS)/n·10^e, e from pathLow to pathHigh in half steps. Smaller
// λ are below the rounding of the eigenvalues.
const (
	pathLow  = -10.0
	pathHigh = 2.0
	pathLen  = int(2*(pathHigh-pathLow)) + 1
)

// blockRows is how many rows of a Gram matrix, or of a product with it, are computed before the context is looked at.
const blockRows = 512

// RidgeBytes is the memory of FitRidge for n rows of d dimensions: the Gram matrix, 8n², or, if
// λ is chosen, its eigenvectors and their workspace, 24n², with 8n·(25·(K+2)) for the path;
// then the machine, 8n(d + 2K).
func RidgeBytes(n, d, outputs int, choose bool) int64 {
	rows, k := float64(n), float64(outputs)
	machine := 8 * rows * (float64(d) + 2*k)
	if choose {
		return saturated(24*rows*rows + 8*rows*(float64(pathLen)*(k+2)+1000) + machine)
	}
	return saturated(8*rows*rows + machine)
}

// saturated is a number of bytes that may exceed the range of int64.
func saturated(bytes float64) int64 {
	if bytes >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(bytes)
}

// FitRidge fits kernel ridge regression to rows x with targets y, n×outputs row by row, and
// weights, 0 or more, of which nil means that all are 1. A given λ takes n³/3 operations
// (Cholesky); choosing λ takes one eigendecomposition SKS = QΛQᵀ, which serves all λ, and with
// G = (SKS + λI)⁻¹ the residual of row i for a machine trained without it is,
//
//	sᵢ(yᵢ - b₋ᵢ - f₋ᵢ(xᵢ)) = ([G S(y-b)]ᵢ + (b - b₋ᵢ)·[G s]ᵢ) / Gᵢᵢ
//
// (for fixed b, Wahba 1990, section 4.2; the second term accounts for b without the row:
// the residual is linear in the targets). The machine keeps x.
func FitRidge(ctx context.Context, k kernel.Kernel, x matrix.Rows, y []float64, outputs int, weights []float64, opt Ridge) (*Machine,
	*RidgeReport, error) {
	n := x.Len()
	if err := checkTargets(k, x, y, outputs, weights); err != nil {
		return nil, nil, err
	}
	if !(opt.Lambda >= 0) || math.IsInf(opt.Lambda, 0) {
		return nil, nil, fmt.Errorf("lambda %g is not a positive number, or 0 to have it chosen", opt.Lambda)
	}
	choose := opt.Lambda == 0
	if need, limit := RidgeBytes(n, x.Dim(), outputs, choose), memory(opt.Memory); need > limit {
		what, instead := "8·n²", "fewer rows, Falkon or a feature map"
		if choose {
			what = "24·n²"
			if RidgeBytes(n, x.Dim(), outputs, false) <= limit {
				instead = "a given lambda, " + instead
			}
		}
		takes, allowed := units.BytesApart(need, limit)
		return nil, nil, fmt.Errorf("kernel ridge on %d rows takes %s and some more = %s, of %s allowed; use %s", n, what, takes, allowed,
			instead)
	}
	gram, err := kernel.NewGram(k, x, x)
	if err != nil {
		return nil, nil, err
	}
	b, _ := mean(y, weights, outputs)
	root := roots(weights, n)
	a := make([]float64, n*n)
	for i := 0; i < n; i += blockRows {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		end := min(i+blockRows, n)
		gram.Rows(i, end, a[i*n:end*n])
	}
	trace := 0.0
	for i := range n {
		row := a[i*n : (i+1)*n]
		for j := range row {
			row[j] *= root[i] * root[j]
		}
		trace += row[i]
	}
	if !finite(trace) {
		return nil, nil, fmt.Errorf("the kernel of the rows is not finite: the trace of the Gram matrix is %g; scale the data", trace)
	}
	beta := make([]float64, n*outputs)
	for i, v := range y {
		beta[i] = root[i/outputs] * (v - b[i%outputs])
	}
	report := &RidgeReport{Lambda: opt.Lambda}
	if choose {
		if err := leaveOneOut(ctx, a, trace, beta, root, outputs, report); err != nil {
			return nil, nil, err
		}
	} else {
		for i := range n {
			a[i*n+i] += opt.Lambda
		}
		if !vec.CholeskySolve(ctx, n, a, n, outputs, beta, outputs) {
			return nil, nil, cmp.Or(ctx.Err(), fmt.Errorf("the matrix K + λI is not positive definite with λ = %g; give a larger λ", opt.Lambda))
		}
	}
	for i := range beta {
		beta[i] *= root[i/outputs]
	}
	m, err := NewMachine(k, x, beta, b)
	if err != nil {
		return nil, nil, fmt.Errorf("λ = %g is too small: %w", report.Lambda, err)
	}
	return m, report, nil
}

// leaveOneOut chooses λ and overwrites r = S(y-b), n×K, with (A + λI)⁻¹r for it. A, n×n, is
// overwritten too.
func leaveOneOut(ctx context.Context, a []float64, trace float64, r, root []float64, outputs int, report *RidgeReport) error {
	n := len(root)
	values := make([]float64, n)
	if !vec.EigenSym(ctx, n, a, n, values, true) {
		return cmp.Or(ctx.Err(), fmt.Errorf("the eigenvalues of the Gram matrix of %d rows were not found; give a lambda", n))
	}
	scale := trace / float64(n)
	if scale <= 0 {
		scale = 1 // any λ will do: there is nothing to learn
	}
	lambdas := make([]float64, pathLen)
	for l := range lambdas {
		lambdas[l] = scale * math.Pow(10, pathLow+float64(l)/2)
	}
	// The columns [r, s] and their coefficients Q[r, s]; a's rows are the eigenvectors.
	k := outputs + 1
	columns, coefficients := make([]float64, k*n), make([]float64, n*k)
	for i, s := range root {
		for t, v := range r[i*outputs:][:outputs] {
			columns[t*n+i] = v
		}
		columns[outputs*n+i] = s
	}
	vec.GemmNT(n, k, n, a, n, columns, n, coefficients, k)
	// All λ at once: G[r, s] for λ_l in the columns from l·k on, and the diagonals of G.
	wide := pathLen * k
	right, solved := make([]float64, n*wide), make([]float64, n*wide)
	inverse, diagonal := make([]float64, n*pathLen), make([]float64, n*pathLen)
	for e, v := range values {
		for l, lambda := range lambdas {
			inverse[e*pathLen+l] = 1 / (max(v, 0) + lambda)
			for t, c := range coefficients[e*k:][:k] {
				right[e*wide+l*k+t] = c * inverse[e*pathLen+l]
			}
		}
	}
	for i := 0; i < n; i += blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		vec.GemmAddTN(min(blockRows, n-i), wide, n, a[i:], n, right, wide, solved[i*wide:], wide)
	}
	vec.Parallel(n*n, 1<<16, func(lo, hi int) {
		for i, v := range a[lo:hi] {
			a[lo+i] = v * v
		}
	})
	vec.GemmAddTN(n, pathLen, n, a, n, inverse, pathLen, diagonal, pathLen)
	total := 0.0
	for _, s := range root {
		total += s * s
	}
	best := 0
	for l, lambda := range lambdas {
		sum := 0.0
		for i, s := range root {
			g := solved[i*wide+l*k:][:k]
			for t, v := range r[i*outputs:][:outputs] {
				// b - b₋ᵢ = wᵢ(yᵢ - b)/(Σw - wᵢ), and v is s(yᵢ - b). Without the only row b is 0.
				moved := 0.0
				if rest := total - s*s; rest > 1e-12*total {
					moved = s * v / rest
				}
				e := (g[t] + moved*g[outputs]) / diagonal[i*pathLen+l]
				sum += e * e
			}
		}
		report.Path = append(report.Path, RidgePoint{Lambda: lambda, LeaveOneOut: sum / total})
		if sum/total < report.Path[best].LeaveOneOut {
			best = l
		}
	}
	report.Path[best].Chosen = true
	report.Lambda, report.LeaveOneOut = lambdas[best], report.Path[best].LeaveOneOut
	for i := range n {
		copy(r[i*outputs:][:outputs], solved[i*wide+best*k:])
	}
	return nil
}

// memory is how many bytes are allowed.
func memory(limit int64) int64 {
	if limit == 0 {
		return 4 << 30
	}
	return limit
}

// roots are the square roots of the weights.
func roots(weights []float64, n int) []float64 {
	root := make([]float64, n)
	for i := range root {
		root[i] = math.Sqrt(weight(weights, i))
	}
	return root
}

// checkTargets checks that a machine can be trained on the rows.
func checkTargets(k kernel.Kernel, x matrix.Rows, y []float64, outputs int, weights []float64) error {
	n := x.Len()
	if outputs < 1 || len(y) != n*outputs || weights != nil && len(weights) != n {
		panic(fmt.Sprintf("exact: %d rows, %d targets of %d outputs, %d weights", n, len(y), outputs, len(weights)))
	}
	if n == 0 {
		return fmt.Errorf("no rows to fit a kernel machine on")
	}
	if err := checkRows(k, x); err != nil {
		return err
	}
	for i, v := range y {
		if !finite(v) {
			return fmt.Errorf("row %d, output %d: the target %g is not a finite number", i/outputs+1, i%outputs+1, v)
		}
	}
	sum := 0.0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("row %d: the weight %g is not a finite number of 0 or more", i+1, w)
		}
		sum += w
	}
	if weights != nil && !(sum > 0 && finite(sum)) {
		return fmt.Errorf("the weights of all %d rows add up to %g; it takes a positive number", n, sum)
	}
	return nil
}
