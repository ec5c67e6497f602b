package metric

import (
	"context"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/landmarks"
	"mercer/kernel"
	"mercer/matrix"
)

// function is f(u) = b + Σ_j α_j k(z_j, u) for several outputs: a kernel machine on landmarks z_j.
type function struct {
	kernel    kernel.Kernel
	landmarks *matrix.Dense // L×d
	alpha     []float64     // outputs×L: one row per output
	outputs   int
	held      []float64 // scores of held-out rows, less the mean of the targets
	seed      uint64

	raw *placed // nil: to be computed
}

// placed is what the kernel of the rows of outer and the landmarks is computed from, with the numbers of the landmarks among the rows.
type placed struct {
	*landmarks.Raw
	landmarks []int
}

// rawSlopesFrom is the number of dimensions from which slopes, too, come from what is placed; below they are computed anew, from products of
// rows that are not centred, and differ by rounding.
const rawSlopesFrom = 257

// With more than manyOutputs the sum over outputs is estimated: for a row's random signs s, fair and independent, the mean of
// ∇(Σ_l s_l f_l)∇(Σ_l s_l f_l)ᵀ is Σ_l ∇f_l∇f_lᵀ. signDraws are drawn for each row.
const (
	manyOutputs = 4
	signDraws   = 2
)

// gradientRows is the number of rows for which the gradients are computed at a time.
const gradientRows = 256

// outer adds Σ_i w_i Σ_l ∇f_l(u_i) ∇f_l(u_i)ᵀ over rows to g: its upper triangle, d×d, or if diagonal is set
// its diagonal, d numbers. If weights is nil all are 1. With many outputs it adds an estimate without bias. It takes O(n·L·d·outputs)
// operations, or O(n·L·(d + outputs)).
func (f *function) outer(ctx context.Context, x *matrix.Dense, weights, g []float64, diagonal bool) error {
	d := x.Cols
	return f.each(ctx, x, weights, func(grad *matrix.Dense) {
		if diagonal {
			addSquares(g, grad, grad.Rows)
			return
		}
		vec.SyrkAddWide(d, grad.Rows, grad.Data, grad.Stride, g, d)
	})
}

// each yields the gradients of some rows at a time, one output after the other, times the roots of their weights.
func (f *function) each(ctx context.Context, x *matrix.Dense, weights []float64, body func(grad *matrix.Dense)) error {
	d, m := x.Cols, f.landmarks.Rows
	one := &gradients{f: f, grad: matrix.NewDense(gradientRows, d)}
	if falling, ok := f.kernel.Falling(); ok && falling.Absolute {
		if err := one.prepareSides(falling.Rate); err != nil {
			return err
		}
	} else if f.kernel.Smooth() {
		one.along, one.back = make([]float32, gradientRows*m), make([]float64, gradientRows*m)
		one.scaled = make([]float32, gradientRows*m)
		if f.raw != nil && d >= rawSlopesFrom {
			for _, i := range f.raw.landmarks {
				_, norm := f.raw.Row(i)
				one.norms = append(one.norms, norm)
			}
		} else {
			one.norms = norms(f.landmarks)
			one.columns = vec.Pack64(d, m, transposed(f.landmarks), m)
		}
	}
	draws, share := f.outputs, 1.0
	draw := random.New(f.seed, "metric.signs")
	if f.outputs > manyOutputs {
		draws, share = signDraws, math.Sqrt(1.0/signDraws)
		one.mixed = make([]float64, gradientRows*m)
	}
	for i := 0; i < x.Rows; i += gradientRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := x.Slice(i, min(i+gradientRows, x.Rows))
		one.begin(rows, i)
		for l := range draws {
			alpha := func(int) []float64 { return f.alpha[l*m:][:m] }
			if one.mixed != nil {
				one.mix(rows.Rows, draw, share)
				alpha = func(r int) []float64 { return one.mixed[r*m:][:m] }
			}
			one.of(alpha, rows)
			if weights != nil {
				one.weigh(weights[i:])
			}
			body(one.grad.Slice(0, rows.Rows))
		}
	}
	return nil
}

// gradients computes the gradients at a block of rows.
type gradients struct {
	f    *function
	grad *matrix.Dense // ∇f_l(u_i), one row for each row

	// For smooth kernels, ∂k(z, u)/∂u = p·z + q·u.
	along   []float32            // p for every row and landmark
	back    []float64            // q
	scaled  []float32            // α·p
	norms   []float64            // ‖z‖²
	columns *vec.Packed[float64] // z, d×L

	mixed []float64 // α for every row, with its signs

	// Of exp(-rate·‖z - u‖₁), ∂k(z, u)/∂u_k = rate·k·sign(z_k - u_k).
	sides *sides
}

// sides are what gradients along the dimensions need.
type sides struct {
	rate    float64
	against *kernel.Against
	values  []float64 // k of every row of a block and landmark
	columns []float32 // z, d rows of padded numbers
	padded  int       // L, up to a multiple of what sums take
}

// prepareSides lays out the landmarks by dimensions.
func (g *gradients) prepareSides(rate float64) (err error) {
	z := g.f.landmarks
	s := &sides{rate: rate, padded: (z.Rows + vec.Lanes - 1) / vec.Lanes * vec.Lanes, values: make([]float64, gradientRows*z.Rows)}
	if s.against, err = kernel.NewAgainst(g.f.kernel, matrix.Rows{Dense: z}); err != nil {
		return err
	}
	s.columns = make([]float32, z.Cols*s.padded)
	for i := range z.Rows {
		for j, v := range z.Row(i) {
			s.columns[j*s.padded+i] = v
		}
	}
	g.sides = s
	return nil
}

// begin computes the kernel of a block of rows, the first of which has this number.
func (s *sides) begin(x *matrix.Dense, first int, raw *placed) {
	_, m := s.against.Dims()
	if raw != nil {
		vec.Parallel(x.Rows, 16, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				values, _ := raw.Row(first + i)
				s.against.Finish(nil, s.values[i*m:][:copy(s.values[i*m:], values)])
			}
		})
		return
	}
	vec.Parallel(x.Rows, 16, func(lo, hi int) {
		work := make([]float64, 16*s.against.Work())
		for i := lo; i < hi; i += 16 {
			s.against.Rows(matrix.Rows{Dense: x}, i, min(i+16, hi), s.values[i*m:], work)
		}
	})
}

// of computes the gradients of Σ_j α_j k(z_j, u), with α for every row.
func (s *sides) of(alpha func(row int) []float64, x, grad *matrix.Dense) {
	vec.Parallel(x.Rows, 4, func(lo, hi int) {
		terms := make([]float32, s.padded)
		for i := lo; i < hi; i++ {
			alpha := alpha(i)
			for j, a := range alpha {
				terms[j] = float32(-s.rate * a * s.values[i*len(alpha)+j])
			}
			vec.SideSums32(grad.Row(i), x.Row(i), terms, s.columns, s.padded)
		}
	})
}

// sameRow is the share of ‖u‖² + ‖z‖² below which ‖u - z‖² is rounding.
const sameRow = 1e-12

// begin prepares a block of rows, the first of which has this number, for all outputs.
func (g *gradients) begin(x *matrix.Dense, first int) {
	if g.sides != nil {
		g.sides.begin(x, first, g.f.raw)
	}
	if g.along == nil {
		return
	}
	d, m := x.Cols, g.f.landmarks.Rows
	const block = 16
	vec.Parallel((x.Rows+block-1)/block, 1, func(lo, hi int) {
		wide, products, p := make([]float64, block*d), make([]float64, block*m), make([]float64, m)
		for from := lo * block; from < min(hi*block, x.Rows); from += block {
			to := min(from+block, x.Rows)
			if g.columns != nil {
				for i := from; i < to; i++ {
					for j, v := range x.Row(i) {
						wide[(i-from)*d+j] = float64(v)
					}
				}
				g.columns.Multiply(to-from, wide, d, products, m, nil)
			}
			for i := from; i < to; i++ {
				products, q, norm := products[(i-from)*m:][:m], g.back[i*m:][:m], 0.0
				if g.columns != nil {
					norm = vec.Dot64(wide[(i-from)*d:][:d], wide[(i-from)*d:][:d])
				} else {
					products, norm = g.f.raw.Row(first + i)
				}
				g.f.kernel.SlopesOfRow(products, norm, g.norms, p, q)
				for j, v := range p {
					// A row has no direction from itself, where a kernel may be infinitely steep.
					if both := norm + g.norms[j]; both-2*products[j] <= sameRow*both {
						v, q[j] = 0, 0
					}
					g.along[i*m+j] = float32(v)
				}
			}
		}
	})
}

// mix draws signs for each of some rows, and computes share·Σ_l s_l α_l.
func (g *gradients) mix(rows int, draw *random.Stream, share float64) {
	m, k := g.f.landmarks.Rows, g.f.outputs
	signs := make([]float64, rows*k)
	for i := range signs {
		if signs[i] = share; draw.Uniform() < 0.5 {
			signs[i] = -share
		}
	}
	vec.Parallel(rows, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := g.mixed[i*m:][:m]
			clear(to)
			for l, s := range signs[i*k:][:k] {
				vec.Axpy64(s, g.f.alpha[l*m:][:m], to)
			}
		}
	})
}

// of computes the gradients of Σ_j α_j k(z_j, u), with α for every row.
func (g *gradients) of(alpha func(row int) []float64, x *matrix.Dense) {
	m := g.f.landmarks.Rows
	if g.sides != nil {
		g.sides.of(alpha, x, g.grad)
		return
	}
	if g.along == nil {
		vec.Parallel(x.Rows, 4, func(lo, hi int) {
			sum := make([]float64, x.Cols)
			for i := lo; i < hi; i++ {
				clear(sum)
				g.f.kernel.AddGradient(sum, alpha(i), g.f.landmarks, x.Row(i))
				for j, v := range sum {
					g.grad.Row(i)[j] = float32(v)
				}
			}
		})
		return
	}
	vec.Parallel(x.Rows, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			alpha, scaled := alpha(i), g.scaled[i*m:][:m]
			for j, p := range g.along[i*m:][:m] {
				scaled[j] = float32(alpha[j]) * p
			}
		}
	})
	z := g.f.landmarks
	vec.Gemm32(x.Rows, x.Cols, m, g.scaled, m, z.Data, z.Stride, g.grad.Data, g.grad.Stride)
	vec.Parallel(x.Rows, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			vec.Axpy32(float32(vec.Dot64(alpha(i), g.back[i*m:][:m])), x.Row(i), g.grad.Row(i))
		}
	})
}

// weigh multiplies the gradients by the square roots of the weights of their rows.
func (g *gradients) weigh(weights []float64) {
	for i := range min(g.grad.Rows, len(weights)) {
		root := float32(math.Sqrt(weights[i]))
		row := g.grad.Row(i)
		for j := range row {
			row[j] *= root
		}
	}
}

// addSquares adds the squares of the first rows of x to g, column by column.
func addSquares(g []float64, x *matrix.Dense, rows int) {
	for i := range rows {
		for j, v := range x.Row(i) {
			g[j] += float64(v) * float64(v)
		}
	}
}

// norms returns the squared lengths of rows.
func norms(x *matrix.Dense) []float64 {
	n := make([]float64, x.Rows)
	for i := range n {
		for _, v := range x.Row(i) {
			n[i] += float64(v) * float64(v)
		}
	}
	return n
}

// transposed returns xᵀ in float64.
func transposed(x *matrix.Dense) []float64 {
	t := make([]float64, x.Cols*x.Rows)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			t[j*x.Rows+i] = float64(v)
		}
	}
	return t
}
