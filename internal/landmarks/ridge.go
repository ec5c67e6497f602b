// Package landmarks solves kernel ridge regression on landmarks by normal equations: for up to a few
// thousand landmarks, and several λ at the price of one pass over the rows.
package landmarks

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/internal/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Ridge is min over α of Σᵢ wᵢ‖yᵢ - Σⱼ αⱼk(xᵢ, zⱼ)‖² + λ αᵀK_mm α, by
//
//	(K_nmᵀWK_nm + λK_mm)α = K_nmᵀWy.
//
// Values of the kernel are rounded to float32, sums are in float64. Results do not depend on the number of threads.
type Ridge struct {
	m, outputs int
	against    *kernel.Against
	square     []float64 // K_nmᵀWK_nm, upper triangle
	landmarks  []float64 // K_mm
	right      []float64 // K_nmᵀWy, m×outputs
	system     []float64
}

// New prepares a ridge on landmarks, dense rows, without any rows.
func New(k kernel.Kernel, landmarks *matrix.Dense, outputs int) (*Ridge, error) {
	z := matrix.Rows{Dense: landmarks}
	against, err := kernel.NewAgainst(k, z)
	if err != nil {
		return nil, err
	}
	m := landmarks.Rows
	r := &Ridge{m: m, outputs: outputs, against: against, square: make([]float64, m*m), landmarks: make([]float64, m*m),
		right: make([]float64, m*outputs), system: make([]float64, m*m)}
	vec.Parallel(m, 64, func(lo, hi int) {
		work := make([]float64, 64*against.Work())
		for i := lo; i < hi; i += 64 {
			against.Rows(z, i, min(i+64, hi), r.landmarks[i*m:], work)
		}
	})
	for _, v := range r.landmarks {
		if v-v != 0 {
			return nil, fmt.Errorf("the kernel of the rows is not finite; scale the data")
		}
	}
	return r, nil
}

// Landmarks is the number of landmarks.
func (r *Ridge) Landmarks() int { return r.m }

// Bytes is the memory of a ridge on m landmarks of d dimensions.
func Bytes(m, d, outputs int) int64 {
	return 24*int64(m)*int64(m) + 8*int64(m)*int64(d+outputs) + 8*int64(blockRows)*int64(m)
}

// blockRows is the number of rows that are added at a time.
const blockRows = 1024

// Add adds rows with their values of the kernel, which Values returned; y are their targets, rows×outputs, and weights are
// nil if all are 1.
func (r *Ridge) Add(ctx context.Context, values []float32, y, weights []float64) error {
	m, k := r.m, r.outputs
	n := len(values) / m
	rows, targets := make([]float64, min(n, blockRows)*m), make([]float64, min(n, blockRows)*k)
	for i := 0; i < n; i += blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		j := min(i+blockRows, n)
		copy(targets, y[i*k:j*k])
		vec.Parallel(j-i, 16, func(lo, hi int) {
			for s := lo; s < hi; s++ {
				root := 1.0
				if weights != nil {
					root = math.Sqrt(weights[i+s])
					for t := range k {
						targets[s*k+t] *= root
					}
				}
				to := rows[s*m:][:m]
				clear(to)
				vec.AxpyWide(root, values[(i+s)*m:][:m], to)
			}
		})
		vec.SyrkAdd(m, j-i, rows, m, r.square, m)
		vec.GemmAddTN(m, k, j-i, rows, m, targets, k, r.right, k)
	}
	return nil
}

// Values returns the kernel of rows and landmarks, rows×m.
func (r *Ridge) Values(x *matrix.Dense) []float32 {
	const block = 16
	m := r.m
	dst := make([]float32, x.Rows*m)
	vec.Parallel((x.Rows+block-1)/block, 1, func(lo, hi int) {
		out, work := make([]float64, block*m), make([]float64, block*r.against.Work())
		for b := lo; b < hi; b++ {
			i, j := b*block, min((b+1)*block, x.Rows)
			r.against.Rows(matrix.Rows{Dense: x}, i, j, out, work)
			vec.Round32(dst[i*m:j*m], out[:(j-i)*m])
		}
	})
	return dst
}

// Solve returns α of the first m landmarks, outputs×m; nil if there is none because numbers are not finite, or because the context ended.
func (r *Ridge) Solve(ctx context.Context, lambda float64, m int) []float64 {
	k := r.outputs
	if !r.factor(ctx, lambda, m) {
		return nil
	}
	b := slices.Clone(r.right[:m*k])
	if !vec.SolveCholesky(ctx, m, r.system, m, k, b, k) {
		return nil
	}
	alpha := make([]float64, k*m)
	for i := range m {
		for t := range k {
			alpha[t*m+i] = b[i*k+t]
		}
	}
	for _, v := range alpha {
		if v-v != 0 {
			return nil
		}
	}
	return alpha
}

// factor computes the Cholesky factor of K_nmᵀWK_nm + λK_mm of the first m landmarks; false if there is none
// because numbers are not finite, or because the context ended.
func (r *Ridge) factor(ctx context.Context, lambda float64, m int) bool {
	stride, trace := r.m, 0.0
	for i := range m {
		trace += r.square[i*stride+i]
	}
	// What is below the rounding of the values is noise.
	for jitter := 0x1p-44 * trace; ; jitter *= 10 {
		vec.Parallel(m, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				to := r.system[i*m+i : (i+1)*m]
				copy(to, r.square[i*stride+i:])
				vec.Axpy64(lambda, r.landmarks[i*stride+i:][:m-i], to)
				to[0] += jitter
			}
		})
		if vec.Cholesky(ctx, m, r.system, m) {
			return true
		}
		if !(jitter < trace) || ctx.Err() != nil {
			return false
		}
	}
}

// Scores returns the scores of rows with values of the kernel by α of the first landmarks, as Solve returned it: rows×outputs.
func (r *Ridge) Scores(values []float32, alpha []float64) []float64 {
	k, stride := r.outputs, r.m
	n, m := len(values)/stride, len(alpha)/k
	scores := make([]float64, n*k)
	vec.Parallel(n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for t := range k {
				scores[i*k+t] = vec.DotMixed(values[i*stride:][:m], alpha[t*m:][:m])
			}
		}
	})
	return scores
}
