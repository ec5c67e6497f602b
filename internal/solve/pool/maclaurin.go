package pool

import (
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// maclaurin has outputs that are products of two projections on vectors of signs (Kar and
// Karnick 2012; Gao et al. 2016),
//
//	y_c = (1/√D)·Σ_l (x_l·a_c)(y_l·b_c) = (1/√D)·a_cᵀ G b_c.
//
// For one vector it equals the map maclaurin of degree 2 with the same seed. It takes
// O(n(d+e)D) operations, additions of four signs at a time, and O((n+D)de) on the way back; it holds one
// bit per sign, (d+e)D/8 bytes.
type maclaurin struct {
	outputs int
	d, e    int
	a, b    *vec.Signs // D×d and D×e
	same    []int32    // 0 … D-1
	scale   float32
}

func newMaclaurin(cfg Config, d, e int) (method, error) {
	features := float64(cfg.Features)
	if err := affordable(cfg, features*(float64(d)+float64(e))/8+4*features, features); err != nil {
		return nil, err
	}
	p := &maclaurin{outputs: cfg.Features, d: d, e: e, scale: float32(1 / math.Sqrt(features))}
	p.a, p.b = drawSigns(cfg, 0, d), drawSigns(cfg, 1, e)
	p.same = make([]int32, cfg.Features)
	for c := range p.same {
		p.same[c] = int32(c)
	}
	return p, nil
}

// drawSigns draws the vectors of factor k.
func drawSigns(cfg Config, k uint64, width int) *vec.Signs {
	s := vec.NewSigns(cfg.Features, width)
	vec.Parallel(cfg.Features, 16, func(lo, hi int) {
		row := make([]float32, width)
		for c := lo; c < hi; c++ {
			random.New(cfg.Seed, "feature.maclaurin", k, uint64(c)).FillSigns(row)
			s.SetRow(c, row)
		}
	})
	return s
}

func (p *maclaurin) features() int { return p.outputs }
func (p *maclaurin) bytes() int64  { return p.a.Bytes() + p.b.Bytes() + 4*int64(len(p.same)) }

// direct processes 16 locations at a time.
func (p *maclaurin) direct(y []float32, b *bag, w *work) {
	b.dense(w)
	xt, yt := w.take(lanes*p.a.Padded()), w.take(lanes*p.b.Padded())
	clear(xt[lanes*p.d:])
	clear(yt[lanes*p.e:])
	k, h := w.take(lanes*p.outputs), w.take(lanes*p.outputs)
	clear(y)
	for l := 0; l < b.n; l += lanes {
		n := min(lanes, b.n-l)
		abreast(xt, lanes, b.x[l*b.stride:], b.stride, n, p.d)
		p.a.Multiply16(k, xt)
		if b.two {
			abreast(yt, lanes, b.y[l*b.stride:], b.stride, n, p.e)
			p.b.Multiply16(h, yt)
		} else {
			p.b.Multiply16(h, xt)
		}
		vec.PairDots32(y, k, h, lanes, p.same, p.same)
	}
	scale(y, p.scale)
}

// directBack computes the gradient with respect to the moments, Σ_c g_c·a_c b_cᵀ, some outputs at a time.
func (p *maclaurin) directBack(dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	const most = 512
	some := min(most, p.outputs)
	a, scaled, m := w.take(some*p.d), w.take(some*p.e), w.take(p.d*p.e)
	clear(m)
	for c := 0; c < p.outputs; c += most {
		n := min(most, p.outputs-c)
		for i := range n {
			p.a.Row(a[i*p.d:], c+i, p.scale)
			p.b.Row(scaled[i*p.e:], c+i, g[c+i])
		}
		vec.GemmAddTN32(p.d, p.e, n, a, p.d, scaled, p.e, m, p.e)
	}
	momentsBack(dx, dy, b, m, w)
}
