package feature

import (
	"fmt"
	"math"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// pkrp maps by the random projection of polynomial kernels (López-Sánchez, "Low computational
// cost machine learning", 2019, algorithm 2 and appendix A; there m is p and the degree p is
// g): from a pool of m random vectors s_l,
//
//	z_c(x) = 1/√(tD) Σ_{i<t} Π_{j<p} s_{I(c,i,j)}·u,  u = (√γ x, √c)
//
// so that E[z(x)·z(y)] = (γ x·y + c)^p, whatever the entries, as long as no vector comes
// twice in one output; they are chosen so.
//
// With reuse even the pool is dealt out like cards, shuffled anew whenever all are used, so
// that all vectors are used as often (repetition minimisation; the paper shuffles all
// repetitions together, and an output may get a vector twice). With reuse random each output
// draws its p·t vectors on its own. A pool of m = ptD vectors is used once with reuse even;
// outputs are then independent, and with q = ‖u‖²‖v‖² + 2(u·v)² + (κ-3)Σu_i²v_i², κ = 3 for
// normal entries and s for sparse ones, the variance of z(x)·z(y) is
//
//	[q^p/t + (1-1/t)(k(x,x)k(y,y) + 2k(x,y)²) - k(x,y)²]/D
//
// which falls to that of a projection from the feature space, [k(x,x)k(y,y) + k(x,y)²]/D, as t
// grows. Smaller pools add the covariance of outputs with common vectors, which no D takes
// away: with reuse random and t = 1 the variance is
//
//	ζ_p/D + (1-1/D) Σ_{c=1..p} C(p,c)C(m-p,p-c)/C(m,p)·ζ_c,  ζ_c = (u·v)^(2p-2c) (q^c - (u·v)^(2c))
//
// whose second term is about p²ζ_1/m. Of a row with itself it is as large as the first, at
// degree 2, when m = D: that is the default (p·t at least, and p·t·D at most), which costs
// what random Fourier features cost.
//
// A row takes O(dm + ptD) operations, a sparse one O(nnz·m + ptD); the map holds 4dm + 4ptD
// bytes (half of the latter at degree 2 if m ≤ 2¹⁶, and 8dm/s in place of 4dm if entries are
// very sparse), and work memory of about 1 MB a goroutine.
type pkrp struct {
	pool     *projection
	features int
	degree   int
	index    []int32  // I, t·p lists of D: output c's factor j of term i is index[(i·p+j)·D+c]
	pairs    []uint32 // in its place at degree 2 if m ≤ 2¹⁶: both factors of output c in term i, at i·D+c
	scale    float32  // of products
	rows     int      // of a block
	free     spare[float32]
}

func newPKRP(cfg Config, dim int) (*pkrp, error) {
	k := cfg.Kernel
	if err := representable(cfg); err != nil {
		return nil, err
	}
	e, err := projectionEntries(cfg)
	if err != nil {
		return nil, err
	}
	t, m := cfg.T, cfg.Pool
	if t < 0 || m < 0 {
		return nil, fmt.Errorf("feature: pk-rp: t is %d and pool is %d; they must be 1 or more, or 0 for the map's choice", t, m)
	}
	if t == 0 {
		t = 1
	}
	// An output has so many factors. As a float64 it does not overflow.
	factors := float64(k.Degree) * float64(t)
	if err := affordable(cfg, dim, 4*factors*float64(cfg.Features)); err != nil {
		return nil, err
	}
	if m == 0 {
		m = int(max(factors, min(factors*float64(cfg.Features), float64(cfg.Features))))
	}
	if float64(m) < factors {
		return nil, fmt.Errorf("feature: pk-rp: the pool of %d is too small for outputs of degree·t = %.0f different vectors", m, factors)
	}
	if err := affordable(cfg, dim, e.bytes(dim, m)+4*factors*float64(cfg.Features)); err != nil {
		return nil, err
	}
	if m > math.MaxInt32 {
		return nil, fmt.Errorf("feature: pk-rp: pool is %d; it must be at most %d", m, math.MaxInt32)
	}

	f := &pkrp{features: cfg.Features, degree: k.Degree, free: newSpare[float32]()}
	length := k.Degree * t
	r := random.New(cfg.Seed, "feature.pk-rp.index")
	switch cfg.Reuse {
	case "", "even":
		f.index = r.Deal(m, length, cfg.Features)
	case "random":
		f.index = r.DrawSets(m, length, cfg.Features)
	default:
		return nil, fmt.Errorf("feature: pk-rp: %q is not a reuse; known are even, random", cfg.Reuse)
	}
	// In degrees 1 and 2 the factor 1/√(tD) is in the pool already.
	factor := 1 / math.Sqrt(float64(t)*float64(cfg.Features))
	f.scale = 1
	switch k.Degree {
	case 1:
	case 2:
		factor = math.Sqrt(factor)
	default:
		f.scale, factor = float32(factor), 1
	}
	f.pool = newProjection(e, dim, m, factor*math.Sqrt(k.Gamma), factor*math.Sqrt(k.Coef0), cfg.Seed, "feature.pk-rp")
	if k.Degree == 2 && m <= len(pool{}) {
		for at := 0; at < len(f.index); at += 2 * f.features {
			for c, a := range f.index[at:][:f.features] {
				f.pairs = append(f.pairs, uint32(a)|uint32(f.index[at+f.features+c])<<16)
			}
		}
		f.index = nil
	}
	f.rows = max(14, min(tile, 1<<18/m/14*14))
	return f, nil
}

// pool is a row's projections on a pool of at most 2¹⁶ vectors, and whatever is behind: an
// array that no 16 bits lead out of.
type pool [1 << 16]float32

func (f *pkrp) Dims() (in, out int) { return f.pool.d, f.features }

// Bytes counts the pool and the index.
func (f *pkrp) Bytes() int64 { return f.pool.bytes() + 4*int64(len(f.index)+len(f.pairs)) }

// Transform projects a block of rows on the pool, which stays in the cache while its products
// are formed.
func (f *pkrp) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(f.pool.d, f.features, dst, x)
	if n := x.Len(); n <= few {
		f.blocks(dst, x, 0, n)
		return
	}
	vec.Parallel(x.Len(), 14, func(lo, hi int) { f.blocks(dst, x, lo, hi) })
}

// blocks transforms rows [i, end) of x.
func (f *pkrp) blocks(dst *matrix.Dense, x matrix.Rows, i, end int) {
	m := f.pool.m
	rows := min(f.rows, end-i)
	work := f.free.get(max(rows*m+f.pool.work(rows), (rows-1)*m+len(pool{})))
	defer f.free.put(work)
	for ; i < end; i += rows {
		j := min(i+rows, end)
		f.pool.multiply(work, m, x, i, j, work[rows*m:])
		for r := i; r < j; r++ {
			k := work[(r-i)*m:]
			if f.pairs != nil {
				f.squares(dst.Row(r), (*pool)(k))
			} else {
				f.products(dst.Row(r), k[:m])
			}
		}
	}
}

// squares forms a row's features of degree 2 from its projections on the pool.
func (f *pkrp) squares(z []float32, k *pool) {
	for c, p := range f.pairs[:len(z)] {
		z[c] = k[uint16(p)] * k[p>>16]
	}
	for pairs := f.pairs[len(z):]; len(pairs) > 0; pairs = pairs[len(z):] {
		for c, p := range pairs[:len(z)] {
			z[c] += float32(k[uint16(p)] * k[p>>16])
		}
	}
}

// products forms a row's features of any degree.
func (f *pkrp) products(z, k []float32) {
	for c := range z {
		var sum float32
		for at := c; at < len(f.index); {
			product := k[f.index[at]]
			at += f.features
			for range f.degree - 1 {
				product *= k[f.index[at]]
				at += f.features
			}
			sum += product
		}
		z[c] = f.scale * sum
	}
}
