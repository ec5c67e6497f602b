package pool

import (
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// method is a bilinear pooling: a linear function of a bag's second moments G = Σ_l x_l y_lᵀ.
type method interface {
	features() int
	bytes() int64

	// direct writes Σ_l z(x_l) to y, for a bag of at least one vector.
	direct(y []float32, b *bag, w *work)

	// directBack writes the gradients with respect to the vectors of both streams to dx and dy, given the gradient with
	// respect to y. With one stream dx is both, and gets their sum.
	directBack(dx, dy *matrix.Dense, b *bag, g []float32, w *work)
}

// indirect is a method that can also be computed from the moments, which is cheaper for many vectors with
// few channels.
type indirect interface {
	method

	// throughMoments says whether that is cheaper for n vectors, forward or back. It depends on sizes
	// alone and so is the same on all machines, because it decides the last bits.
	throughMoments(n int, two, back bool) bool

	// fromMoments writes y. With one stream only the upper triangle of G is given; the rest may be overwritten.
	fromMoments(y, g []float32, two bool, w *work)

	// toMoments writes the gradient with respect to G, d×e, given that with respect to y.
	toMoments(m, g []float32, w *work)
}

// The costs that throughMoments assumes, in nanoseconds of a core with AVX-512.
const (
	multiplyTime = 0.01 // a multiply-add of a product of matrices
	scatterTime  = 1.   // an addition at some place
	laneTime     = 0.02 // an addition in a vector of 16, from the L2 cache
)

// momentsTime is the time to compute G.
func momentsTime(n, d, e int, two bool) float64 {
	t := multiplyTime * float64(n) * float64(d) * float64(e)
	if !two {
		t /= 2
	}
	return t
}

// sum writes Σ_l z(x_l) to y.
func sum(m method, y []float32, b *bag, w *work) {
	if b.n == 0 {
		clear(y)
		return
	}
	if f, ok := m.(indirect); ok && f.throughMoments(b.n, b.two, false) {
		sumThroughMoments(f, y, b, w)
		return
	}
	m.direct(y, b, w)
}

func sumThroughMoments(f indirect, y []float32, b *bag, w *work) {
	g := w.take(b.d * b.e)
	moments(g, b, w)
	f.fromMoments(y, g, b.two, w)
}

// backward writes the gradients with respect to the vectors, given that with respect to the sum.
func backward(m method, dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	if f, ok := m.(indirect); ok && f.throughMoments(b.n, b.two, true) {
		backThroughMoments(f, dx, dy, b, g, w)
		return
	}
	m.directBack(dx, dy, b, g, w)
}

func backThroughMoments(f indirect, dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	m := w.take(b.d * b.e)
	f.toMoments(m, g, w)
	momentsBack(dx, dy, b, m, w)
}

// moments writes G = Σ_l x_l y_lᵀ, d×e, of at least one vector; with one stream only the upper triangle.
func moments(g []float32, b *bag, w *work) {
	b.dense(w)
	if b.two {
		vec.GemmTN32(b.d, b.e, b.n, b.x, b.stride, b.y, b.stride, g, b.e)
		return
	}
	vec.Syrk32(b.d, b.n, b.x, b.stride, g, b.d)
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

// momentsBack writes the gradients with respect to x and y, given m, d×e, the gradient with respect to G:
// dx_l = m·y_l and dy_l = mᵀ·x_l, and for one stream the sum of both. m is overwritten.
func momentsBack(dx, dy *matrix.Dense, b *bag, m []float32, w *work) {
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
