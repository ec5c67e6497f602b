package landmarks

import (
	"context"
	"math"
	"slices"

	"mercer/internal/engine/vec"
)

// Logistic is what SolveLogistic fits: the rows that were added to a ridge, with their values of the kernel and their classes.
type Logistic struct {
	Values  []float32 // of the first landmarks, as many for each row
	Y       []float64 // rows×outputs, ±1: one output of two classes, or one for each class, of which one is 1
	Weights []float64 // nil: all 1
}

// Curvature is the most that a second derivative of the logistic loss is, by Böhning (1992): a fourth for two classes, half
// for more. The loss is divided by it, so that it is never steeper than half the squared error, and λ counts as in a ridge.
func Curvature(outputs int) float64 {
	if outputs == 1 {
		return 0.25
	}
	return 0.5
}

// Steps end after mostSteps. Each knows the last memory steps.
const (
	mostSteps  = 200
	memory     = 10
	sufficient = 1e-4 // of the gain that the slope promises
	leastStep  = 1e-9
)

// SolveLogistic returns α of the first m landmarks, outputs×m, and the intercepts b, with which
//
//	Σᵢ wᵢ ℓ(yᵢ, b + Σⱼ αⱼk(xᵢ, zⱼ)) / c + λ/2 Σ_t α_tᵀK_mm α_t
//
// is smallest, with the logistic loss ℓ, that of softmax for several outputs, and c its Curvature. Steps are those of L-BFGS (Liu and
// Nocedal 1989), which begins with the Hessian of the ridge: it bounds that of the loss, so that one factorisation serves all
// steps of a λ, where each of Newton's would take the sums over all rows and a factorisation anew. A step takes as long as to score the rows
// twice. It begins at the solution start, ends when one more step promises to gain less than gain for each row, and returns nil if there is
// no solution because numbers are not finite.
//
// The rows are those that were added.
func (r *Ridge) SolveLogistic(ctx context.Context, rows Logistic, lambda, gain float64, start *Solution) (*Solution, error) {
	s := &logistic{Logistic: rows, r: r, m: start.m, k: r.outputs, n: len(rows.Y) / r.outputs, lambda: lambda}
	if !r.factor(ctx, lambda, s.m) {
		return nil, ctx.Err()
	}
	for i := range s.n {
		s.total += s.weight(i)
	}
	s.scores, s.slopes, s.losses = make([]float64, s.n*s.k), make([]float64, s.n*s.k), make([]float64, s.n)
	s.turned, s.penalty = make([]float64, s.m*s.k), make([]float64, s.m*s.k)
	s.kernel = vec.Pack64(s.m, s.m, r.landmarks, r.m)
	return s.solve(ctx, start, gain)
}

// Solution is α of the first landmarks and the intercepts.
type Solution struct {
	m       int
	outputs int
	numbers []float64 // m×outputs, then outputs
}

// NewSolution is a solution of the first len(alpha)/len(b) landmarks.
func NewSolution(alpha, b []float64) *Solution {
	return &Solution{m: len(alpha) / len(b), outputs: len(b), numbers: slices.Concat(alpha, b)}
}

// Start is a solution to begin with for the first m landmarks: one of the first of these or fewer, or, if that is nil, scores of 0.
func (r *Ridge) Start(m int, from *Solution) *Solution {
	s := &Solution{m: m, outputs: r.outputs, numbers: make([]float64, (m+1)*r.outputs)}
	if from != nil && from.m <= m {
		copy(s.Alpha(), from.Alpha())
		copy(s.Intercepts(), from.Intercepts())
	}
	return s
}

// Alpha is α, landmarks×outputs, and Intercepts are those of the outputs.
func (s *Solution) Alpha() []float64 { return s.numbers[:s.m*s.outputs] }

// Intercepts are b.
func (s *Solution) Intercepts() []float64 { return s.numbers[s.m*s.outputs:] }

// Scores are those of rows with values of the kernel, rows×outputs.
func (s *Solution) Scores(r *Ridge, values []float32) []float64 {
	turned := make([]float64, s.m*s.outputs)
	turn(turned, s.Alpha(), s.outputs)
	scores := r.Scores(values, turned)
	for i := range scores {
		scores[i] += s.Intercepts()[i%s.outputs]
	}
	return scores
}

// turn writes α, m×k, as k×m.
func turn(dst, alpha []float64, k int) {
	m := len(alpha) / k
	for j := range m {
		for t := range k {
			dst[t*m+j] = alpha[j*k+t]
		}
	}
}

// logistic is the state of SolveLogistic.
type logistic struct {
	Logistic
	r       *Ridge
	m, k, n int
	lambda  float64
	total   float64 // of the weights

	scores, slopes  []float64 // n×k: and the derivatives of the loss
	losses          []float64 // of the rows
	turned, penalty []float64 // α and αK_mm, k×m
	kernel          *vec.Packed[float64]
}

func (s *logistic) weight(i int) float64 {
	if s.Weights == nil {
		return 1
	}
	return s.Weights[i]
}

// value is what is minimised, at u, and writes its gradient.
func (s *logistic) value(u, gradient []float64) float64 {
	m, k, width, c := s.m, s.k, len(s.Values)/s.n, Curvature(s.k)
	alpha, b := u[:m*k], u[m*k:]
	turn(s.turned, alpha, k)
	scoresOf(s.scores, s.Values, width, s.turned, k)
	vec.Parallel(s.n, 16, func(lo, hi int) {
		scores, slopes := s.scores[lo*k:hi*k], s.slopes[lo*k:hi*k]
		for ; len(scores) > 0; scores = scores[k:] {
			vec.Axpy64(1, b, scores[:k])
		}
		LogSlopes(slopes, s.losses[lo:hi], s.scores[lo*k:hi*k], s.Y[lo*k:hi*k], k)
		for i := lo; i < hi; i++ {
			w := s.weight(i)
			s.losses[i] *= w
			for t := range k {
				slopes[(i-lo)*k+t] *= w / c
			}
		}
	})
	clear(gradient)
	loss := 0.0
	for i, v := range s.losses {
		loss += v
		vec.Axpy64(1, s.slopes[i*k:][:k], gradient[m*k:])
	}
	vec.GemmAddTNWide(m, k, s.n, s.Values, width, s.slopes, k, gradient, k)
	s.kernel.Multiply(k, s.turned, m, s.penalty, m, nil)
	for j := range m {
		for t := range k {
			gradient[j*k+t] += float64(s.lambda * s.penalty[t*m+j])
		}
	}
	return loss/c + s.lambda/2*vec.Dot64(s.turned, s.penalty)
}

// newton overwrites a gradient with the inverse of the Hessian's bound times it.
func (s *logistic) newton(ctx context.Context, g []float64) {
	vec.SolveCholesky(ctx, s.m, s.r.system, s.m, s.k, g, s.k)
	for t := s.m * s.k; t < len(g); t++ {
		g[t] /= s.total
	}
}

// step is one of the last steps: by how much u and the gradient changed, and 1 divided by the product of both.
type step struct {
	u, gradient []float64
	inverse     float64
}

func (s *logistic) solve(ctx context.Context, start *Solution, gain float64) (*Solution, error) {
	size := len(start.numbers)
	u, g, next, gNext, q := append([]float64(nil), start.numbers...), make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	value := s.value(u, g)
	var last []step
	for range mostSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		copy(q, g)
		factors := make([]float64, len(last))
		for i := len(last) - 1; i >= 0; i-- {
			factors[i] = last[i].inverse * vec.Dot64(last[i].u, q)
			vec.Axpy64(-factors[i], last[i].gradient, q)
		}
		s.newton(ctx, q)
		for i, l := range last {
			vec.Axpy64(factors[i]-l.inverse*vec.Dot64(l.gradient, q), l.u, q)
		}
		slope := vec.Dot64(g, q)
		if !(slope > 2*gain*s.total) {
			break
		}
		length, to := 1.0, 0.0
		for ; length > leastStep; length /= 2 {
			copy(next, u)
			vec.Axpy64(-length, q, next)
			if to = s.value(next, gNext); to <= value-sufficient*length*slope {
				break
			}
		}
		if !(length > leastStep) {
			break
		}
		made := step{u: make([]float64, size), gradient: make([]float64, size)}
		for i := range size {
			made.u[i], made.gradient[i] = next[i]-u[i], gNext[i]-g[i]
		}
		if product := vec.Dot64(made.u, made.gradient); product > 0 {
			made.inverse = 1 / product
			last = append(last[max(0, len(last)+1-memory):], made)
		}
		u, next, g, gNext, value = next, u, gNext, g, to
	}
	if value-value != 0 {
		return nil, nil
	}
	return &Solution{m: s.m, outputs: s.k, numbers: u}, nil
}

// LogLoss is Σᵢ wᵢ ℓ(yᵢ, sᵢ) for scores and targets ±1, rows×outputs.
func LogLoss(scores, y, weights []float64, outputs int) (sum float64) {
	const block = 64
	slopes, losses := make([]float64, block*outputs), make([]float64, block)
	n := len(y) / outputs
	for i := 0; i < n; i += block {
		j := min(i+block, n)
		LogSlopes(slopes[:(j-i)*outputs], losses, scores[i*outputs:j*outputs], y[i*outputs:j*outputs], outputs)
		for r, loss := range losses[:j-i] {
			if weights != nil {
				loss *= weights[i+r]
			}
			sum += loss
		}
	}
	return sum
}

// LogSlopes writes the derivatives of the logistic loss of each row by its scores, rows×outputs, and the losses, unless these are nil.
func LogSlopes(dst, losses, scores, y []float64, outputs int) {
	if outputs == 1 {
		for i, s := range scores {
			dst[i] = y[i] * s
		}
		vec.Exp64(dst, dst)
		for i, e := range dst {
			if margin := y[i] * scores[i]; losses == nil {
			} else if margin > 0 {
				losses[i] = math.Log1p(1 / e)
			} else {
				losses[i] = math.Log1p(e) - margin
			}
			dst[i] = -y[i] / (1 + e)
		}
		return
	}
	for i := 0; i < len(scores); i += outputs {
		row, to := scores[i:][:outputs], dst[i:][:outputs]
		top := math.Inf(-1)
		for _, s := range row {
			if !(s <= top) {
				top = s
			}
		}
		for t, s := range row {
			to[t] = s - top
		}
	}
	if losses != nil { // less ln Σ exp, which is added below
		for i := range losses[:len(scores)/outputs] {
			losses[i] = 0
			for t, v := range y[i*outputs:][:outputs] {
				if v > 0 {
					losses[i] = -dst[i*outputs+t]
				}
			}
		}
	}
	vec.Exp64(dst, dst)
	for i := 0; i < len(scores); i += outputs {
		row, sum := dst[i:][:outputs], 0.0
		for _, e := range row {
			sum += e
		}
		if losses != nil {
			losses[i/outputs] += math.Log(sum)
		}
		inverse := 1 / sum
		for t, v := range y[i:][:outputs] {
			row[t] *= inverse
			if v > 0 {
				row[t]--
			}
		}
	}
}
