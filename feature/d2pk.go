package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// D2PKRP maps by the random projection from the feature space of the polynomial kernel of degree
// two (López-Sánchez, Corchado and González Arrieta, "Data-independent random projections from
// the feature-map of the homogeneous polynomial kernel of degree two", 2018, where t is m;
// López-Sánchez 2019, algorithm 1): with t matrices of Achlioptas's entries of variance
// 1/√(2t),
//
//	z_c(x) = 1/√D [Σ_{i≤t/2} (u·r_ic)² - Σ_{i>t/2} (u·r_ic)²],  u = (√γ x, √c)
//
// What z(x)·z(y) estimates depends on the sparsity s, which the papers overlook: they say that the
// influence of the coordinates u_i² of the feature space, whose weights r_i² are not those of
// a random projection, vanishes as d grows. In fact, for an even t,
//
//	E[z(x)·z(y)] = k_s = (u·v)² + (s-3)/2·Σu_i²v_i²
//
// so s = 3, the default, is unbiased in any dimension. s = 1, as in the papers' experiments,
// drops the squares altogether, which gives the kernel of equation 12 of 2018 (map
// reduced-poly computes it exactly), and other s are biased. t = 1 has no second sum to subtract: E
// is k_s + ½‖u‖²‖v‖², and squared distances are too large by ½(‖u‖²-‖v‖²)².
//
// The variance, for an even t and with b = (u·ρ)² - ‖u‖², b' of v alike, ρ of entries of
// variance 1, is
//
//	[E[b²b'²]/(4t) + (1-1/t)(k_s(x,x)k_s(y,y) + 2k_s(x,y)²) - k_s(x,y)²]/D
//
// A row takes O(tdD) operations and the map holds 4tdD bytes, t times as much as rp, and less,
// like rp, with very sparse entries; pk-rp is as good at a lower cost. Work memory is 4D bytes
// for each of up to 252 rows per goroutine.
const D2PKRP = "d2pk-rp"

// d2pk is the map [D2PKRP].
type d2pk struct {
	matrices []*projection
	free     freelist.Slices[float32]
}

func newD2PK(cfg Config, dim int) (*d2pk, error) {
	k := cfg.Kernel
	if k.Degree != 2 {
		return nil, fmt.Errorf("feature: d2pk-rp approximates the poly kernel of degree 2, not %s; pk-rp has all degrees", k)
	}
	if err := representable(cfg); err != nil {
		return nil, err
	}
	cfg.Entries = "sparse"
	e, err := projectionEntries(cfg)
	if err != nil {
		return nil, err
	}
	t := cfg.T
	if t == 0 {
		t = 2
	}
	if t < 1 || t > 1 && t%2 != 0 {
		return nil, fmt.Errorf("feature: d2pk-rp: t is %d; it must be even, as half of the terms are subtracted, or 1, which is biased", t)
	}
	if err := affordable(cfg, dim, float64(t)*e.bytes(dim, cfg.Features)); err != nil {
		return nil, err
	}
	f := &d2pk{}
	factor := 1 / math.Sqrt(math.Sqrt(2*float64(t)*float64(cfg.Features)))
	for i := range t {
		f.matrices = append(f.matrices, newProjection(e, dim, cfg.Features, factor*math.Sqrt(k.Gamma),
			factor*math.Sqrt(k.Coef0), cfg.Seed, "feature.d2pk-rp", uint64(i)))
	}
	return f, nil
}

func (f *d2pk) Dims() (in, out int) { return f.matrices[0].d, f.matrices[0].m }

func (f *d2pk) Bytes() int64 {
	bytes := int64(0)
	for _, r := range f.matrices {
		bytes += r.bytes()
	}
	return bytes
}

func (f *d2pk) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	if n := x.Len(); n <= few {
		f.blocks(dst, x, 0, n)
		return
	}
	vec.Parallel(x.Len(), 14, func(lo, hi int) { f.blocks(dst, x, lo, hi) })
}

// blocks transforms rows [i, end) of x.
func (f *d2pk) blocks(dst *matrix.Dense, x matrix.Rows, i, end int) {
	_, m := f.Dims()
	rows := min(tile, end-i)
	work := f.free.Get(rows*m + f.matrices[0].work(rows))
	defer f.free.Put(work)
	for ; i < end; i += rows {
		j := min(i+rows, end)
		for l, r := range f.matrices {
			r.multiply(work, m, x, i, j, work[rows*m:])
			for row := i; row < j; row++ {
				f.add(dst.Row(row), work[(row-i)*m:][:m], l)
			}
		}
	}
}

// add adds or, in the second half of the terms, subtracts the squares of term l.
func (f *d2pk) add(z, k []float32, l int) {
	k = k[:len(z)]
	switch {
	case l == 0:
		for c, v := range k {
			z[c] = v * v
		}
	case l < len(f.matrices)/2:
		for c, v := range k {
			z[c] += float32(v * v)
		}
	default:
		for c, v := range k {
			z[c] -= float32(v * v)
		}
	}
}
