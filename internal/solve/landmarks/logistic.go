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
	s.scores, s.slopes = make([]float64, s.n*s.k), make([]float64, s.n*s.k)
	s.penalty = make([]float64, s.m*s.k)
	s.turned = make([]float64, s.m*s.k)
	return s.solve(ctx, start, gain)
}

// Solution is α of the first landmarks and the intercepts.
type Solution struct {
	m       int
	outputs int
	numbers []float64 // m×outputs, then outputs
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
	turned, penalty []float64 // α, k×m, and K_mm α, m×k
}

func (s *logistic) weight(i int) float64 {
	if s.Weights == nil {
		return 1
	}
	return s.Weights[i]
}

// value is what is minimised, at u, and writes its gradient.
func (s *logistic) value(u, gradient []float64) float64 {
	m, k, width, stride, c := s.m, s.k, len(s.Values)/s.n, s.r.m, Curvature(s.k)
	alpha, b := u[:m*k], u[m*k:]
	turn(s.turned, alpha, k)
	vec.Parallel(s.n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for t := range k {
				s.scores[i*k+t] = b[t] + vec.DotMixed(s.Values[i*width:][:m], s.turned[t*m:][:m])
			}
		}
		slopes := s.slopes[lo*k : hi*k]
		LogSlopes(slopes, s.scores[lo*k:hi*k], s.Y[lo*k:hi*k], k)
		for i := range slopes {
			slopes[i] *= s.weight(lo+i/k) / c
		}
	})
	clear(gradient)
	for i := range s.n {
		vec.Axpy64(1, s.slopes[i*k:][:k], gradient[m*k:])
	}
	vec.GemmAddTNWide(m, k, s.n, s.Values, width, s.slopes, k, gradient, k)
	clear(s.penalty)
	vec.GemmAddTN(m, k, m, s.r.landmarks, stride, alpha, k, s.penalty, k) // K_mm is symmetric
	vec.Axpy64(s.lambda, s.penalty, gradient)
	return LogLoss(s.scores, s.Y, s.Weights, k)/c + s.lambda/2*vec.Dot64(alpha, s.penalty)
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
	for i := range len(y) / outputs {
		loss := lossOf(scores[i*outputs:][:outputs], y[i*outputs:][:outputs])
		if weights != nil {
			loss *= weights[i]
		}
		sum += loss
	}
	return sum
}

// lossOf is the logistic loss of a row.
func lossOf(scores, y []float64) float64 {
	if len(scores) == 1 {
		margin := scores[0] * y[0]
		return max(0, -margin) + math.Log1p(math.Exp(-math.Abs(margin)))
	}
	top, own, sum := math.Inf(-1), 0.0, 0.0
	for t, s := range scores {
		top = max(top, s)
		if y[t] > 0 {
			own = s
		}
	}
	for _, s := range scores {
		sum += math.Exp(s - top)
	}
	return math.Log(sum) + top - own
}

// LogSlopes writes the derivatives of the loss of each row by its scores, rows×outputs.
func LogSlopes(dst, scores, y []float64, outputs int) {
	if outputs == 1 {
		for i, s := range scores {
			dst[i] = y[i] * s
		}
		vec.Exp64(dst, dst)
		for i, e := range dst {
			dst[i] = -y[i] / (1 + e)
		}
		return
	}
	for i := 0; i < len(scores); i += outputs {
		row := scores[i:][:outputs]
		top := slices.Max(row)
		for t, s := range row {
			dst[i+t] = s - top
		}
	}
	vec.Exp64(dst, dst)
	for i := 0; i < len(scores); i += outputs {
		row, y, sum := dst[i:][:outputs], y[i:][:outputs], 0.0
		for _, e := range row {
			sum += e
		}
		for t := range row {
			row[t] /= sum
			if y[t] > 0 {
				row[t]--
			}
		}
	}
}
