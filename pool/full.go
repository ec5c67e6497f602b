package pool

import (
	"mercer/internal/vec"
	"mercer/matrix"
)

// full is bilinear pooling itself: Σ_l x_l⊗y_l, row-major, d·e numbers. It costs a product of
// matrices, n·d·e multiplications (half of them for one stream), and holds nothing. A classifier on it has d·e weights a class.
type full struct{ d, e int }

func newFull(cfg Config, d, e int) (method, error) {
	if err := affordable(cfg, 0, float64(d)*float64(e)); err != nil {
		return nil, err
	}
	return full{d, e}, nil
}

func (f full) features() int { return f.d * f.e }
func (f full) bytes() int64  { return 0 }

func (f full) sum(y []float32, b *bag, w *work) { moments(y, b, w) }

func (f full) backward(dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	m := w.take(f.d * f.e)
	copy(m, g)
	throughMoments(dx, dy, b, m, w)
}

// moments writes G = Σ_l x_l y_lᵀ, d×e.
func moments(g []float32, b *bag, w *work) {
	upperMoments(g, b, w)
	if !b.two {
		mirror(g, b.d)
	}
}

// upperMoments writes G, but for one stream only its upper triangle.
func upperMoments(g []float32, b *bag, w *work) {
	b.dense(w)
	switch {
	case b.n == 0:
		clear(g)
	case b.two:
		vec.GemmTN32(b.d, b.e, b.n, b.x, b.stride, b.y, b.stride, g, b.e)
	default:
		vec.Syrk32(b.d, b.n, b.x, b.stride, g, b.d)
	}
}

// mirror copies the upper triangle of a d×d matrix to the lower one, in blocks.
func mirror(g []float32, d int) {
	const block = 64
	for i := 0; i < d; i += block {
		end := min(i+block, d)
		for r := i; r < end; r++ {
			for c := r + 1; c < end; c++ {
				g[c*d+r] = g[r*d+c]
			}
		}
		if end < d {
			vec.Transpose32(g[end*d+i:], d, g[i*d+end:], d, end-i, d-end)
		}
	}
}

// throughMoments writes the gradients by x and y, given m, d×e, that by G: dx_l = m·y_l and
// dy_l = mᵀ·x_l, and for one stream the sum of both. m is lost.
func throughMoments(dx, dy *matrix.Dense, b *bag, m []float32, w *work) {
	t := w.take(b.d * b.e)
	vec.Transpose32(t, b.d, m, b.e, b.d, b.e)
	if b.two {
		vec.Gemm32(b.n, b.d, b.e, b.y, b.stride, t, b.d, dx.Data, dx.Stride)
		vec.Gemm32(b.n, b.e, b.d, b.x, b.stride, m, b.e, dy.Data, dy.Stride)
		return
	}
	vec.Axpy32(1, t, m)
	vec.Gemm32(b.n, b.d, b.d, b.x, b.stride, m, b.d, dx.Data, dx.Stride)
}
