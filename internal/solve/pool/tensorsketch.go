package pool

import (
	"fmt"
	"math"
	"math/bits"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// tensorSketch is the count sketch of Σ_l x_l⊗y_l (Pham and Pagh 2013; Gao et al. 2016):
//
//	y[(h(i) + h'(j)) mod D] += s(i)s'(j)·G_ij
//
// for two pairs of a hash function and signs. For one vector it equals the map tensorsketch of degree 2
// with the same seed. There are two ways to compute it, and the cheaper one is used: the second moments G,
// once per bag, and d·e additions; or, for few vectors with many channels, the convolution of the sketches
// of x_l and y_l for each vector, whose spectra are summed before the inverse transform.
type tensorSketch struct {
	buckets int
	d, e    int
	x, y    []uint32 // the bucket of each channel, and the top bit for -1
	fft     *vec.FFT // of length D, or for D not a power of two of 2D at least: the convolution then does not wrap
}

func newTensorSketch(cfg Config, d, e int) (method, error) {
	const most = 1 << 28
	if cfg.Features > most {
		return nil, fmt.Errorf("pool: tensorsketch: features is %d; it must be %d at most", cfg.Features, most)
	}
	if err := affordable(cfg, 4*(float64(d)+float64(e)), 4*float64(cfg.Features)); err != nil {
		return nil, err
	}
	t := &tensorSketch{buckets: cfg.Features, d: d, e: e}
	for k, table := range []*[]uint32{&t.x, &t.y} {
		r := random.New(cfg.Seed, "feature.tensorsketch", uint64(k))
		*table = make([]uint32, []int{d, e}[k])
		for i := range *table {
			(*table)[i] = uint32(r.Intn(t.buckets))
		}
		for i := range *table {
			if r.Sign() < 0 {
				(*table)[i] |= negative
			}
		}
	}
	n := t.buckets
	if n&(n-1) != 0 {
		n = 1 << bits.Len(uint(2*n-2))
	}
	t.fft = vec.NewFFT(n)
	return t, nil
}

// negative is the bit of a table's entry that says that its sign is -1.
const negative = 1 << 31

func (t *tensorSketch) features() int { return t.buckets }

// bytes counts the tables and the plan of the Fourier transform.
func (t *tensorSketch) bytes() int64 { return 4 * int64(t.d+t.e+t.fft.Len()) }

// signed is v with the sign of a table's entry.
func signed(v float32, entry uint32) float32 {
	return math.Float32frombits(math.Float32bits(v) ^ entry&negative)
}

// throughMoments compares the moments, with one addition for each, with two transforms per vector.
func (t *tensorSketch) throughMoments(n int, two, back bool) bool {
	d, e, length := float64(t.d), float64(t.e), float64(t.fft.Len())
	transform := 0.03 * length * math.Log2(length)
	return momentsTime(n, t.d, t.e, two)+scatterTime*d*e < float64(n)*(2*transform+0.1*length+d+e)+transform
}

// fromMoments sums the moments in their buckets.
func (t *tensorSketch) fromMoments(y, g []float32, two bool, w *work) {
	long := w.take(2 * t.buckets) // bucket h(i)+h'(j), before the reduction mod D
	clear(long)
	if !two {
		// An element of the triangle stands for two.
		for i, hi := range t.x {
			hj := t.y[i]
			row := g[i*t.e:][:t.e]
			first, second := long[hi&^negative:][:t.buckets], long[hj&^negative:][:t.buckets]
			first[hj&^negative] += signed(row[i], hi^hj)
			row = row[i+1:]
			ys := t.y[i+1:][:len(row)]
			xs := t.x[i+1:][:len(row)]
			for j, v := range row {
				h, k := ys[j], xs[j]
				first[h&^negative] += signed(v, h^hi)
				second[k&^negative] += signed(v, k^hj)
			}
		}
		t.fold(y, long)
		return
	}
	for i, hi := range t.x {
		to := long[hi&^negative:][:t.buckets]
		for j, v := range g[i*t.e:][:t.e] {
			h := t.y[j]
			to[h&^negative] += signed(v, h^hi)
		}
	}
	t.fold(y, long)
}

// direct sums the spectra of the convolutions of the sketches.
func (t *tensorSketch) direct(y []float32, b *bag, w *work) {
	n := t.fft.Len()
	sum, first, second := w.take(n), w.take(n), w.take(n)
	clear(sum)
	for l := range b.n {
		t.sketches(first, second, b, l)
		t.fft.Forward(first, first)
		t.fft.MulForward(first, second)
		vec.Axpy32(1, first, sum)
	}
	t.fft.Inverse(sum, sum)
	t.fold(y, sum)
}

// fold reduces buckets mod D.
func (t *tensorSketch) fold(y, long []float32) {
	copy(y, long)
	for c, v := range long[t.buckets:min(len(long), 2*t.buckets)] {
		y[c] += v
	}
}

// sketches writes the count sketches of x_l and y_l.
func (t *tensorSketch) sketches(first, second []float32, b *bag, l int) {
	clear(first)
	clear(second)
	if b.csr != nil {
		idx, val := b.csr.Row(l)
		for k, i := range idx {
			j := int(i)
			if b.two {
				j -= b.d
			}
			if int(i) < b.d {
				e := t.x[i]
				first[e&^negative] += signed(val[k], e)
			}
			if j >= 0 {
				e := t.y[j]
				second[e&^negative] += signed(val[k], e)
			}
		}
		return
	}
	for i, v := range b.x[l*b.stride:][:b.d] {
		e := t.x[i]
		first[e&^negative] += signed(v, e)
	}
	for i, v := range b.y[l*b.stride:][:b.e] {
		e := t.y[i]
		second[e&^negative] += signed(v, e)
	}
}

func (t *tensorSketch) toMoments(m, g []float32, w *work) {
	long := w.take(2 * t.buckets)
	copy(long, g)
	copy(long[t.buckets:], g)
	for i, hi := range t.x {
		from, row := long[hi&^negative:][:t.buckets], m[i*t.e:][:t.e]
		for j, h := range t.y {
			row[j] = signed(from[h&^negative], h^hi)
		}
	}
}

// directBack: the gradient by channel i of x_l is s(i) Σ_j s'(j) y_lj g[h(i)+h'(j)]: a convolution of g
// with the sketch of y_l that has its buckets at -h'(j).
func (t *tensorSketch) directBack(dx, dy *matrix.Dense, b *bag, g []float32, w *work) {
	n := t.fft.Len()
	spectrum, first, second := w.take(n), w.take(n), w.take(n)
	copy(spectrum, g)
	if n > t.buckets {
		copy(spectrum[t.buckets:], g[:t.buckets-1])
		clear(spectrum[2*t.buckets-1:])
	}
	t.fft.Forward(spectrum, spectrum)
	back := func(z []float32) {
		reverse(z)
		t.fft.Forward(z, z)
		t.fft.InverseMul(z, z, spectrum)
	}
	for l := range b.n {
		t.sketches(first, second, b, l)
		back(first)
		back(second)
		to := dx.Data[l*dx.Stride:][:t.d]
		for i, e := range t.x {
			to[i] = signed(second[e&^negative], e)
		}
		other := dy.Data[l*dy.Stride:][:t.e]
		if !b.two {
			for i, e := range t.y {
				other[i] += signed(first[e&^negative], e)
			}
			continue
		}
		for i, e := range t.y {
			other[i] = signed(first[e&^negative], e)
		}
	}
}

// reverse puts z[k] at -k mod len(z).
func reverse(z []float32) {
	for i, j := 1, len(z)-1; i < j; i, j = i+1, j-1 {
		z[i], z[j] = z[j], z[i]
	}
}
