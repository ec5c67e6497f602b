// Package landmarks solves kernel ridge regression on landmarks by normal equations: for up to a few
// thousand landmarks, and several λ at the price of one pass over the rows.
package landmarks

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/vec"
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
	rough      bool
	against    *kernel.Against
	square     []float64 // K_nmᵀWK_nm, upper triangle
	landmarks  []float64 // K_mm
	right      []float64 // K_nmᵀWy, m×outputs
	system     []float64

	// A block of rows, times the roots of their weights.
	wide    []float64
	narrow  []float32 // if rough
	targets []float64
}

// Begin prepares a ridge on landmarks, dense rows, without any rows, in the memory that it has. A rough one has sums over blocks of rows in float32, too, which takes a
// fraction of the time; λ for a row should be RoughLambda or more: what is smaller drowns in rounding.
func (r *Ridge) Begin(k kernel.Kernel, landmarks *matrix.Dense, outputs int, rough bool) error {
	m := landmarks.Rows
	r.m, r.outputs, r.rough = m, outputs, rough
	r.square, r.landmarks, r.system = room(r.square, m*m), room(r.landmarks, m*m), room(r.system, m*m)
	r.right = room(r.right, m*outputs)
	return r.Reset(k, landmarks)
}

// room is n numbers, whatever they are, in the memory of numbers if that suffices.
func room[T any](numbers []T, n int) []T {
	if cap(numbers) >= n {
		return numbers[:n]
	}
	return make([]T, n)
}

// RoughLambda is the least λ for a row whose machines a rough ridge finds as well: about what 24 bits are of k(x, x) = 1, times 16.
const RoughLambda = 1e-6

// Reset begins anew, with another kernel and as many other landmarks.
func (r *Ridge) Reset(k kernel.Kernel, landmarks *matrix.Dense) error {
	clear(r.square)
	clear(r.right)
	return r.begin(k, landmarks)
}

// begin computes the kernel of the landmarks.
func (r *Ridge) begin(k kernel.Kernel, landmarks *matrix.Dense) error {
	z, m := matrix.Rows{Dense: landmarks}, r.m
	against, err := kernel.NewAgainst(k, z)
	if err != nil {
		return err
	}
	r.against = against
	vec.Parallel(m, 64, func(lo, hi int) {
		work := make([]float64, 64*against.Work())
		for i := lo; i < hi; i += 64 {
			against.Rows(z, i, min(i+64, hi), r.landmarks[i*m:], work)
		}
	})
	return r.check()
}

// check refuses a kernel of the landmarks that is not finite.
func (r *Ridge) check() error {
	for _, v := range r.landmarks {
		if v-v != 0 {
			return fmt.Errorf("the kernel of the rows is not finite; scale the data")
		}
	}
	return nil
}

// Landmarks is the number of landmarks.
func (r *Ridge) Landmarks() int { return r.m }

// LambdaLandmarks is the number of landmarks that choose λ: half of them tell as much about it as all, in an eighth of the time, unless they
// are few.
func (r *Ridge) LambdaLandmarks() int {
	if r.m > fewLandmarks {
		return (r.m + 1) / 2
	}
	return r.m
}

const fewLandmarks = 200

// Bytes is the memory of a ridge on m landmarks of d dimensions.
func Bytes(m, d, outputs int) int64 {
	return 24*int64(m)*int64(m) + 8*int64(m)*int64(d+outputs) + 8*int64(blockRows)*int64(m)
}

// Rows are added by blocks.
const (
	blockRows      = 1024
	roughBlockRows = 2048
)

// Add adds rows with their values of the kernel, which Values returned; y are their targets, rows×outputs, and weights are
// nil if all are 1.
func (r *Ridge) Add(ctx context.Context, values []float32, y, weights []float64) error {
	m, k, block := r.m, r.outputs, blockRows
	if r.rough {
		block = roughBlockRows
	}
	n := len(values) / m
	for i := 0; i < n; i += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		j := min(i+block, n)
		rows, targets, roots := values[i*m:j*m], append(r.targets[:0], y[i*k:j*k]...), []float64(nil)
		r.targets = targets
		if weights != nil {
			roots = make([]float64, j-i)
			for s := range roots {
				roots[s] = math.Sqrt(weights[i+s])
				for t := range k {
					targets[s*k+t] *= roots[s]
				}
			}
		}
		if r.rough {
			rows = r.times(rows, roots)
			vec.SyrkAddWide(m, j-i, rows, m, r.square, m)
			vec.GemmAddTNWide(m, k, j-i, rows, m, targets, k, r.right, k)
			continue
		}
		wide := r.timesWide(rows, roots)
		vec.SyrkAdd(m, j-i, wide, m, r.square, m)
		vec.GemmAddTN(m, k, j-i, wide, m, targets, k, r.right, k)
	}
	return nil
}

// times returns rows times roots, nil if all are 1.
func (r *Ridge) times(rows []float32, roots []float64) []float32 {
	if roots == nil {
		return rows
	}
	r.narrow = room(r.narrow, len(rows))
	vec.Parallel(len(roots), 16, func(lo, hi int) {
		for s := lo; s < hi; s++ {
			to := r.narrow[s*r.m:][:r.m]
			clear(to)
			vec.Axpy32(float32(roots[s]), rows[s*r.m:][:r.m], to)
		}
	})
	return r.narrow
}

// timesWide is times in float64.
func (r *Ridge) timesWide(rows []float32, roots []float64) []float64 {
	r.wide = room(r.wide, len(rows))
	vec.Parallel(len(rows)/r.m, 16, func(lo, hi int) {
		for s := lo; s < hi; s++ {
			root := 1.0
			if roots != nil {
				root = roots[s]
			}
			to := r.wide[s*r.m:][:r.m]
			clear(to)
			vec.AxpyWide(root, rows[s*r.m:][:r.m], to)
		}
	})
	return r.wide
}

// valueRows is the number of rows for which values are computed at a time.
const valueRows = 16

// Values returns the kernel of rows and landmarks, rows×m, in the memory of dst if that suffices.
func (r *Ridge) Values(dst []float32, x *matrix.Dense) []float32 {
	m := r.m
	dst = room(dst, x.Rows*m)
	vec.Parallel((x.Rows+valueRows-1)/valueRows, 1, func(lo, hi int) {
		out, work := make([]float64, valueRows*m), make([]float64, valueRows*r.against.Work())
		for b := lo; b < hi; b++ {
			i, j := b*valueRows, min((b+1)*valueRows, x.Rows)
			r.against.Rows(matrix.Rows{Dense: x}, i, j, out, work)
			vec.RoundValues(dst[i*m:j*m], out[:(j-i)*m])
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
	// What is below the rounding of the sums is noise.
	unit := 0x1p-44
	if r.rough {
		unit = 0x1p-33
	}
	_, ok := Factor(ctx, m, r.system, unit*trace, trace, func() {
		vec.Parallel(m, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				to := r.system[i*m+i : (i+1)*m]
				copy(to, r.square[i*stride+i:])
				vec.Axpy64(lambda, r.landmarks[i*stride+i:][:m-i], to)
			}
		})
	})
	return ok
}

// Scores returns the scores of rows with values of the kernel by α of the first landmarks, as Solve returned it: rows×outputs.
func (r *Ridge) Scores(values []float32, alpha []float64) []float64 {
	scores := make([]float64, len(values)/r.m*r.outputs)
	scoresOf(scores, values, r.m, alpha, r.outputs)
	return scores
}

// fewOutputs are so few that one product of two vectors for each takes less time than one of matrices for all, which wants the values in
// float64.
const fewOutputs = 3

// scoresOf computes the scores of rows, each with width values of the kernel, by α, outputs×m, of the first m of these.
func scoresOf(scores []float64, values []float32, width int, alpha []float64, outputs int) {
	n, m := len(values)/width, len(alpha)/outputs
	if outputs > fewOutputs {
		packed := vec.PackT64(outputs, m, alpha, m)
		vec.Parallel(n, valueRows, func(lo, hi int) {
			wide := make([]float64, valueRows*m)
			for i := lo; i < hi; i += valueRows {
				rows := min(valueRows, hi-i)
				for r := range rows {
					vec.Expand32(wide[r*m:][:m], values[(i+r)*width:][:m])
				}
				packed.Multiply(rows, wide, m, scores[i*outputs:], outputs, nil)
			}
		})
		return
	}
	vec.Parallel(n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for t := range outputs {
				scores[i*outputs+t] = vec.DotMixed(values[i*width:][:m], alpha[t*m:][:m])
			}
		}
	})
}
