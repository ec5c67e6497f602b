package pool

import (
	"math"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// maclaurin has outputs that are products of two projections on vectors of signs (Kar and
// Karnick 2012; Gao et al. 2016),
//
//	y_c = (1/√D)·Σ_l (x_l·a_c)(y_l·b_c) = (1/√D)·a_cᵀ G b_c.
//
// Of one vector it is what the map maclaurin of degree 2 makes of it with the same seed. It takes
// O(min(n, d)·(d+e)·D) operations, as products of matrices, and holds 4(d+e)D bytes.
type maclaurin struct {
	outputs int
	d, e    int
	a, b    []float32 // D×d and D×e, scaled by 1/√D both together
}

func newMaclaurin(cfg Config, d, e int) (method, error) {
	if err := affordable(cfg, 4*float64(cfg.Features)*(float64(d)+float64(e)), float64(cfg.Features)); err != nil {
		return nil, err
	}
	p := &maclaurin{outputs: cfg.Features, d: d, e: e, a: make([]float32, cfg.Features*d), b: make([]float32, cfg.Features*e)}
	draw := func(signs []float32, k uint64, width int) {
		vec.Parallel(cfg.Features, 16, func(lo, hi int) {
			for c := lo; c < hi; c++ {
				random.New(cfg.Seed, "feature.maclaurin", k, uint64(c)).FillSigns(signs[c*width:][:width])
			}
		})
	}
	draw(p.a, 0, d)
	draw(p.b, 1, e)
	scale(p.a, float32(1/math.Sqrt(float64(cfg.Features))))
	return p, nil
}

func (p *maclaurin) features() int { return p.outputs }
func (p *maclaurin) bytes() int64  { return 4 * int64(len(p.a)+len(p.b)) }

// throughMoments counts multiplications.
func (p *maclaurin) throughMoments(n int, two, back bool) bool {
	d, e := float64(p.d), float64(p.e)
	if back {
		return 2*float64(n)*(d+e) > d*e // the projections, and the way back
	}
	return float64(n)*(d+e) > d*e
}

// chunk is how many outputs have their projections side by side, near the core.
const chunk = 1024

func (p *maclaurin) fromMoments(y, g []float32, two bool, w *work) {
	if !two {
		mirror(g, p.d)
	}
	k := w.take(min(chunk, p.outputs) * p.e)
	for c := 0; c < p.outputs; c += chunk {
		some := y[c:min(c+chunk, p.outputs)]
		vec.Gemm32(len(some), p.e, p.d, p.a[c*p.d:], p.d, g, p.e, k, p.e)
		for i := range some {
			some[i] = vec.Dot32(k[i*p.e:][:p.e], p.b[(c+i)*p.e:][:p.e])
		}
	}
}

func (p *maclaurin) direct(y []float32, b *bag, w *work) {
	xt, yt, width := b.abreast(w)
	k, h := w.take(min(chunk, p.outputs)*width), w.take(min(chunk, p.outputs)*width)
	for c := 0; c < p.outputs; c += chunk {
		some := y[c:min(c+chunk, p.outputs)]
		p.project(k, h, xt, yt, width, c, len(some))
		for i := range some {
			some[i] = vec.Dot32(k[i*width:][:width], h[i*width:][:width])
		}
	}
}

// project writes the projections of all vectors on those of outputs [c, c+n).
func (p *maclaurin) project(k, h, xt, yt []float32, width, c, n int) {
	vec.Gemm32(n, width, p.d, p.a[c*p.d:], p.d, xt, width, k, width)
	vec.Gemm32(n, width, p.e, p.b[c*p.e:], p.e, yt, width, h, width)
}

// toMoments adds up g_c·a_c b_cᵀ.
func (p *maclaurin) toMoments(m, g []float32, w *work) {
	scaled := w.take(p.outputs * p.e)
	for c, v := range g {
		row := scaled[c*p.e:][:p.e]
		for j, u := range p.b[c*p.e:][:p.e] {
			row[j] = v * u
		}
	}
	vec.GemmTN32(p.d, p.e, p.outputs, p.a, p.d, scaled, p.e, m, p.e)
}

// directBack adds g_c(y_l·b_c)·a_c to the gradient by x_l and g_c(x_l·a_c)·b_c to that by y_l.
func (p *maclaurin) directBack(dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	d, e := p.d, p.e
	xt, yt, width := b.abreast(w)
	k, h := w.take(p.outputs*width), w.take(p.outputs*width)
	p.project(k, h, xt, yt, width, 0, p.outputs)
	for c, v := range g {
		scale(k[c*width:][:width], v)
		scale(h[c*width:][:width], v)
	}
	vec.GemmTN32(b.n, d, p.outputs, h, width, p.a, d, dx.Data, dx.Stride)
	if b.two {
		vec.GemmTN32(b.n, e, p.outputs, k, width, p.b, e, dy.Data, dy.Stride)
		return
	}
	more := w.take(b.n * e)
	vec.GemmTN32(b.n, e, p.outputs, k, width, p.b, e, more, e)
	for l := range b.n {
		vec.Axpy32(1, more[l*e:][:e], dx.Data[l*dx.Stride:][:e])
	}
}
