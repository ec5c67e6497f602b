package pool

import (
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

func (f full) direct(y []float32, b *bag, w *work) {
	moments(y, b, w)
	if !b.two {
		mirror(y, b.d)
	}
}

func (f full) directBack(dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	m := w.take(f.d * f.e)
	copy(m, g)
	momentsBack(dx, dy, b, m, w)
}
