package pool

import (
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// full is bilinear pooling itself: Σ_l x_l⊗y_l, row-major, d·e numbers. It costs a product of
// matrices, n·d·e multiplications (half of them for one stream), and holds no memory. A classifier on it
// has d·e weights per class.
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

// normalised is direct and the norm for one stream. Working on the triangle before it is mirrored halves the
// work.
func (f full) normalised(y []float32, b *bag, n norm, w *work) {
	moments(y, b, w)
	if n != noNorm {
		sum := 0.0
		for i := range f.d {
			row := y[i*f.d+i : (i+1)*f.d]
			if n == rootL2 {
				vec.SignedRoot32(row, row)
			}
			sum += 2*vec.DotWide(row, row) - float64(float64(row[0])*float64(row[0]))
		}
		if sum > 0 {
			by := float32(1 / math.Sqrt(sum))
			for i := range f.d {
				scale(y[i*f.d+i:(i+1)*f.d], by)
			}
		}
	}
	mirror(y, f.d)
}

func (f full) directBack(dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	m := w.take(f.d * f.e)
	copy(m, g)
	momentsBack(dx, dy, b, m, w)
}
