package pool

import (
	"fmt"
	"math"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// projections are features that are products of projections on random vectors,
//
//	y_c = scale·Σ_{i<t} Σ_l (x_l·a_I(c,i))(y_l·b_J(c,i)) = scale·Σ_i a_I(c,i)ᵀ G b_J(c,i).
//
// maclaurin has dense vectors of signs, all used once: O(n·d·D) operations, 4·2dD bytes. cbp-krp
// (López-Sánchez 2019, algorithm 3 and appendix A; there m is p, D is k) has a pool of m sparse vectors, which
// come in several outputs each: O(n(md/s + tD)) operations, 8md/s + 8tD bytes.
type projections struct {
	outputs int
	t       int
	a, b    *vectors // the same for one stream of cbp-krp
	index   []int32  // I and J: those of term i of output c at 2i·D+c and (2i+1)·D+c; nil: both c
	scale   float32
}

func newMaclaurin(cfg Config, d, e int) (method, error) {
	if err := affordable(cfg, 4*float64(cfg.Features)*(float64(d)+float64(e)), float64(cfg.Features)); err != nil {
		return nil, err
	}
	p := &projections{outputs: cfg.Features, t: 1, scale: float32(1 / math.Sqrt(float64(cfg.Features)))}
	for k, v := range []**vectors{&p.a, &p.b} {
		width := []int{d, e}[k]
		*v = &vectors{m: cfg.Features, d: width, dense: make([]float32, cfg.Features*width)}
		vec.Parallel(cfg.Features, 16, func(lo, hi int) {
			for c := lo; c < hi; c++ {
				random.New(cfg.Seed, "feature.maclaurin", uint64(k), uint64(c)).FillSigns((*v).row(c))
			}
		})
	}
	return p, nil
}

func newKRP(cfg Config, d, e int) (method, error) {
	t, m, s := cfg.T, cfg.Pool, cfg.Sparsity
	if t < 0 || m < 0 {
		return nil, fmt.Errorf("pool: cbp-krp: t is %d and pool is %d; they must be 1 or more, or 0 for the default", t, m)
	}
	if t == 0 {
		t = 2
	}
	two := cfg.Streams == 2
	// An output takes so many vectors of a pool.
	length := 2 * t
	if two {
		length = t
	}
	factors := 2 * float64(t) * float64(cfg.Features)
	if m == 0 {
		m = int(max(float64(length), min(5000, factors)))
	}
	if m < length {
		return nil, fmt.Errorf("pool: cbp-krp: the pool of %d is too small for outputs of %d different vectors", m, length)
	}
	if m > math.MaxInt32 {
		return nil, fmt.Errorf("pool: cbp-krp: pool is %d; it must be at most %d", m, math.MaxInt32)
	}
	if s == 0 {
		s = min(100, max(1, float64(max(d, e))/5))
	}
	if !(s >= 1 && s <= mostSparsity) {
		return nil, fmt.Errorf("pool: cbp-krp: sparsity is %g; it must be from 1 to %d", s, mostSparsity)
	}
	vectorBytes := vectorsBytes(d, m, s)
	if two {
		vectorBytes += vectorsBytes(e, m, s)
	}
	if err := affordable(cfg, vectorBytes+4*factors, float64(cfg.Features)); err != nil {
		return nil, err
	}

	p := &projections{outputs: cfg.Features, t: t, scale: float32(s / math.Sqrt(float64(t)*float64(cfg.Features)))}
	p.a = newSparse(cfg.Seed, s, m, d)
	p.b = p.a
	if two {
		p.b = newSparse(cfg.Seed, s, m, e, 1)
	}
	r := random.New(cfg.Seed, "feature.pk-rp.index")
	choose := r.Deal
	switch cfg.Reuse {
	case "", "even":
	case "random":
		choose = r.DrawSets
	default:
		return nil, fmt.Errorf("pool: cbp-krp: %q is not a reuse; known are even, random", cfg.Reuse)
	}
	if !two {
		p.index = choose(m, length, cfg.Features)
		return p, nil
	}
	first, second := choose(m, t, cfg.Features), choose(m, t, cfg.Features)
	for i := range t {
		at := i * cfg.Features
		p.index = append(p.index, first[at:at+cfg.Features]...)
		p.index = append(p.index, second[at:at+cfg.Features]...)
	}
	return p, nil
}

func (p *projections) features() int { return p.outputs }

func (p *projections) bytes() int64 {
	n := p.a.bytes() + 4*int64(len(p.index))
	if p.b != p.a {
		n += p.b.bytes()
	}
	return n
}

// pair is the factors of term i of output c.
func (p *projections) pair(c, i int) (a, b int) {
	if p.index == nil {
		return c, c
	}
	at := 2*i*p.outputs + c
	return int(p.index[at]), int(p.index[at+p.outputs])
}

// width is how many locations of a bag of n are projected together.
func (p *projections) width(n int) int {
	const most = 256
	return min(most, (n+lanes-1)/lanes*lanes)
}

// lanes is what widths are multiples of.
const lanes = 16

func (p *projections) sum(y []float32, b *bag, w *work) {
	clear(y)
	if b.n == 0 {
		return
	}
	if p.throughMoments(b.n) {
		g := w.take(p.a.d * p.b.d)
		moments(g, b, w)
		p.forms(y, g, w)
		return
	}
	b.dense(w)
	width := p.width(b.n)
	xt, yt := w.take(p.a.d*width), w.take(p.b.d*width)
	k := w.take(p.a.m * width)
	h := k
	if p.b != p.a {
		h = w.take(p.b.m * width)
	}
	for l := 0; l < b.n; l += width {
		p.project(k, h, xt, yt, b, l, min(l+width, b.n), width)
		for c := range y {
			var sum float32
			for i := range p.t {
				first, second := p.pair(c, i)
				sum += vec.Dot32(k[first*width:][:width], h[second*width:][:width])
			}
			y[c] += sum
		}
	}
	scale(y, p.scale)
}

// project writes the products of vectors [lo, hi) of a bag with those of a to k, m×width, and with
// those of b to h, which may be k.
func (p *projections) project(k, h, xt, yt []float32, b *bag, lo, hi, width int) {
	abreast(xt, width, b.x[lo*b.stride:], b.stride, hi-lo, b.d)
	p.a.project(k, xt, width)
	if p.b == p.a {
		return
	}
	if b.two {
		abreast(yt, width, b.y[lo*b.stride:], b.stride, hi-lo, b.e)
	} else {
		yt = xt
	}
	p.b.project(h, yt, width)
}

// throughMoments says whether a bag of n vectors goes through its moments.
func (p *projections) throughMoments(n int) bool { return n > 2*p.a.d }

// forms adds up aᵀGb.
func (p *projections) forms(y, g []float32, w *work) {
	e := p.b.d
	ga := w.take(p.a.m * e)
	p.a.project(ga, g, e)
	for c := range y {
		var sum float32
		for i := range p.t {
			first, second := p.pair(c, i)
			sum += p.b.dot(second, ga[first*e:][:e])
		}
		y[c] = p.scale * sum
	}
}

// backward follows appendix B: term i of output c adds g_c(y_l·b)·a to the gradient by x_l and
// g_c(x_l·a)·b to that by y_l. These are summed up for each vector of the pool first.
func (p *projections) backward(dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	width := p.width(b.n)
	xt, yt := w.take(p.a.d*width), w.take(p.b.d*width)
	k, dk := w.take(p.a.m*width), w.take(p.a.m*width)
	h, dh := k, dk
	if p.b != p.a {
		h, dh = w.take(p.b.m*width), w.take(p.b.m*width)
	}
	for l := 0; l < b.n; l += width {
		n := min(width, b.n-l)
		p.project(k, h, xt, yt, b, l, l+n, width)
		clear(dk)
		clear(dh)
		for c, v := range g {
			v *= p.scale
			for i := range p.t {
				first, second := p.pair(c, i)
				first, second = first*width, second*width
				vec.Axpy32(v, h[second:][:width], dk[first:][:width])
				vec.Axpy32(v, k[first:][:width], dh[second:][:width])
			}
		}
		p.a.back(xt, dk, width)
		switch {
		case b.two:
			p.b.back(yt, dh, width)
			transpose(dy.Data[l*dy.Stride:], dy.Stride, yt, width, p.b.d, n)
		case p.b != p.a:
			p.b.back(yt, dh, width)
			vec.Axpy32(1, yt, xt)
		}
		transpose(dx.Data[l*dx.Stride:], dx.Stride, xt, width, p.a.d, n)
	}
}

// abreast writes rows×cols numbers of src to dst, cols×width, with zeros behind its rows.
func abreast(dst []float32, width int, src []float32, lds, rows, cols int) {
	transpose(dst, width, src, lds, rows, cols)
	for j := range cols {
		clear(dst[j*width:][rows:width])
	}
}

// transpose writes rows×cols numbers of src to dst, cols×rows.
func transpose(dst []float32, ldd int, src []float32, lds, rows, cols int) {
	for j := range cols {
		to := dst[j*ldd:][:rows]
		for i := range to {
			to[i] = src[i*lds+j]
		}
	}
}
