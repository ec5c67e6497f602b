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
	b.dense(w)
	switch {
	case b.n == 0:
		clear(g)
	case b.two:
		vec.GemmTN32(b.d, b.e, b.n, b.x, b.stride, b.y, b.stride, g, b.e)
	default:
		vec.Syrk32(b.d, b.n, b.x, b.stride, g, b.d)
		mirror(g, b.d)
	}
}

// mirror copies the upper triangle of a d×d matrix to the lower one, in blocks that stay in
// the cache.
func mirror(g []float32, d int) {
	const block = 16
	for i := 0; i < d; i += block {
		for j := 0; j <= i; j += block {
			for r := i; r < min(i+block, d); r++ {
				row := g[r*d:][:r]
				for c := j; c < min(j+block, r); c++ {
					row[c] = g[c*d+r]
				}
			}
		}
	}
}

// throughMoments writes the gradients by x and y, given m, d×e, that by G: dx_l = m·y_l and
// dy_l = mᵀ·x_l, and for one stream the sum of both. m is lost.
func throughMoments(dx, dy *matrix.Dense, b *bag, m []float32, w *work) {
	if b.two {
		t := w.take(b.d * b.e)
		for i := range b.d {
			for j, v := range m[i*b.e:][:b.e] {
				t[j*b.d+i] = v
			}
		}
		vec.Gemm32(b.n, b.d, b.e, b.y, b.stride, t, b.d, dx.Data, dx.Stride)
		vec.Gemm32(b.n, b.e, b.d, b.x, b.stride, m, b.e, dy.Data, dy.Stride)
		return
	}
	d := b.d
	for i := range d {
		for j := range i + 1 {
			v := m[i*d+j] + m[j*d+i]
			m[i*d+j], m[j*d+i] = v, v
		}
	}
	vec.Gemm32(b.n, d, d, b.x, b.stride, m, d, dx.Data, dx.Stride)
}
