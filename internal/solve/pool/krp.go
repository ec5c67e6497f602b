package pool

import (
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// krp is compact bilinear pooling by kernelized random projection (López-Sánchez 2019, algorithm 3
// and appendix A; there m is p and D is k): from a pool of m sparse random vectors,
//
//	y_c = scale·Σ_{i<t} Σ_l (x_l·a_I(c,i))(y_l·b_J(c,i)) = scale·Σ_i a_I(c,i)ᵀ G b_J(c,i),
//
// scale = s/√(tD) for entries of 0 and ±1. For one vector it equals the map pk-rp of degree 2
// with the same options and seed; with two streams, each has a pool of m vectors. An
// output never uses a vector twice.
//
// It takes O(n(md/s + tD)) operations, or O(nd² + tD(d/s)²) through the moments, and
// holds 4md/s + 8tD bytes; vectors that are not sparse, s < 8, take 4md.
type krp struct {
	outputs int
	t       int
	a, b    *vectors // the same for one stream
	index   []int32  // I and J: those of term i of output c at 2i·D+c and (2i+1)·D+c
	scale   float32
	chosen  string
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
	// The number of vectors of a pool that one output uses.
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
	if entries := float64(max(d, e)) * float64(m) / s; listed(s) && entries > 1<<30 {
		return nil, fmt.Errorf("pool: cbp-krp: a pool of %d vectors with %.0f entries; there may be 2³⁰", m, entries)
	}
	vectorBytes := vectorsBytes(d, m, s)
	if two {
		vectorBytes += vectorsBytes(e, m, s)
	}
	if err := affordable(cfg, vectorBytes+4*factors, float64(cfg.Features)); err != nil {
		return nil, err
	}

	p := &krp{outputs: cfg.Features, t: t, scale: float32(s / math.Sqrt(float64(t)*float64(cfg.Features)))}
	p.chosen = fmt.Sprintf("pool %d, t %d, sparsity %.3g", m, t, s)
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

func (p *krp) features() int { return p.outputs }

// choice says how large the pool is, how many products an output sums, and how sparse the
// vectors of the pool are.
func (p *krp) choice() string { return p.chosen }

func (p *krp) bytes() int64 {
	n := p.a.bytes() + 4*int64(len(p.index))
	if p.b != p.a {
		n += p.b.bytes()
	}
	return n
}

// pair is the two factors of term i of output c.
func (p *krp) pair(c, i int) (a, b int) {
	at := 2*i*p.outputs + c
	return int(p.index[at]), int(p.index[at+p.outputs])
}

// width is the number of the n vectors that are projected together: as many as have their projections in
// the L2 cache.
func (p *krp) width(n int) int {
	const numbers = 1 << 19
	most := min(256, max(lanes, numbers/p.a.m/lanes*lanes))
	blocks := (n + most - 1) / most
	return ((n+blocks-1)/blocks + lanes - 1) / lanes * lanes
}

func (p *krp) direct(y []float32, b *bag, w *work) {
	clear(y)
	b.dense(w)
	width := p.width(b.n)
	xt, yt := w.take(p.a.d*width), w.take(p.b.d*width)
	k := w.take(p.a.m * width)
	h := k
	if b.two {
		h = w.take(p.b.m * width)
	}
	for l := 0; l < b.n; l += width {
		p.project(k, h, xt, yt, b, l, min(l+width, b.n), width)
		for at := 0; at < len(p.index); at += 2 * p.outputs {
			vec.PairDots32(y, k, h, width, p.index[at:][:p.outputs], p.index[at+p.outputs:][:p.outputs])
		}
	}
	scale(y, p.scale)
}

// project writes the products of vectors [lo, hi) of a bag with those of a to k, m×width, and with
// those of b to h, which is k for one stream.
func (p *krp) project(k, h, xt, yt []float32, b *bag, lo, hi, width int) {
	abreast(xt, width, b.x[lo*b.stride:], b.stride, hi-lo, b.d)
	p.a.project(k, xt, width)
	if b.two {
		abreast(yt, width, b.y[lo*b.stride:], b.stride, hi-lo, b.e)
		p.b.project(h, yt, width)
	}
}

// throughMoments compares sums over the entries of vectors for 16 locations at a time with
// sums over the products of entries for each pair. The way back does the same sums
// twice and also writes what it reads: its factors were measured at 512 channels.
func (p *krp) throughMoments(n int, two, back bool) bool {
	pairs := float64(p.t) * float64(p.outputs)
	entries, dense, products, m := float64(len(p.a.list)), float64(len(p.a.dense)), 0., float64(p.a.m)
	if two {
		entries, dense = entries+float64(len(p.b.list)), dense+float64(len(p.b.dense))
	}
	locations, blocks := float64(n), math.Ceil(float64(n)/float64(p.width(n)))
	direct := blocks*(2*entries+8*pairs) + locations*laneTime*(entries+2*pairs)
	if p.a.dense != nil {
		direct += multiplyTime * locations * dense
		products = m*float64(p.a.d)*float64(p.b.d)*multiplyTime + pairs*float64(p.b.d)*laneTime
	} else {
		products = 2 * scatterTime * pairs * float64(len(p.a.list)) / m * float64(len(p.b.list)) / m
	}
	through := momentsTime(n, p.a.d, p.b.d, two) + products
	if back {
		direct = 3*direct + 2*locations*laneTime*(entries+2*pairs)
		through += momentsTime(n, p.a.d, p.b.d, true)
	}
	return through < direct
}

// fromMoments adds up aᵀGb.
func (p *krp) fromMoments(y, g []float32, two bool, w *work) {
	if !two {
		mirror(g, p.a.d)
	}
	e := p.b.d
	if p.a.dense != nil {
		ga := w.take(p.a.m * e)
		p.a.project(ga, g, e)
		for c := range y {
			var sum float32
			for i := range p.t {
				first, second := p.pair(c, i)
				sum += vec.Dot32(p.b.row(second), ga[first*e:][:e])
			}
			y[c] = p.scale * sum
		}
		return
	}
	for c := range y {
		var sum float32
		for i := range p.t {
			first, second := p.pair(c, i)
			b := p.b.entries(second)
			for _, k := range p.a.entries(first) {
				row := g[int(k&^negative)*e:][:e]
				for _, l := range b {
					sum += signed(row[l&^negative], k^l)
				}
			}
		}
		y[c] = p.scale * sum
	}
}

// toMoments adds up g_c·a⊗b.
func (p *krp) toMoments(m, g []float32, w *work) {
	e := p.b.d
	if p.a.dense != nil {
		gb := w.take(p.a.m * e) // what each vector of a is multiplied by
		clear(gb)
		for c, v := range g {
			for i := range p.t {
				first, second := p.pair(c, i)
				vec.Axpy32(v*p.scale, p.b.row(second), gb[first*e:][:e])
			}
		}
		vec.GemmTN32(p.a.d, e, p.a.m, p.a.dense, p.a.d, gb, e, m, e)
		return
	}
	clear(m)
	for c, v := range g {
		v *= p.scale
		for i := range p.t {
			first, second := p.pair(c, i)
			b := p.b.entries(second)
			for _, k := range p.a.entries(first) {
				row := m[int(k&^negative)*e:][:e]
				for _, l := range b {
					row[l&^negative] += signed(v, k^l)
				}
			}
		}
	}
}

// directBack follows appendix B: term i of output c adds g_c(y_l·b)·a to the gradient with respect to x_l and
// g_c(x_l·a)·b to that with respect to y_l. These are first summed for each vector of the pool.
func (p *krp) directBack(dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	width := p.width(b.n)
	xt, yt := w.take(p.a.d*width), w.take(p.b.d*width)
	k, dk := w.take(p.a.m*width), w.take(p.a.m*width)
	h, dh := k, dk
	if b.two {
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
		vec.Transpose32(dx.Data[l*dx.Stride:], dx.Stride, xt, width, p.a.d, n)
		if b.two {
			p.b.back(yt, dh, width)
			vec.Transpose32(dy.Data[l*dy.Stride:], dy.Stride, yt, width, p.b.d, n)
		}
	}
}
