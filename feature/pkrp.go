package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// PKRP maps by the random projection of polynomial kernels (López-Sánchez, "Low computational
// cost machine learning", 2019, algorithm 2 and appendix A; there m is p and the degree p is
// g): from a pool of m random vectors s_l,
//
//	z_c(x) = 1/√(tD) Σ_{i<t} Π_{j<p} s_{I(c,i,j)}·u,  u = (√γ x, √c)
//
// so that E[z(x)·z(y)] = (γ x·y + c)^p, for any entries, as long as no vector occurs
// twice in one output, which the choice ensures.
//
// With reuse even the pool is dealt out like cards, and reshuffled whenever all are used,
// so that all vectors are used equally often (repetition minimisation; the paper shuffles
// all repetitions together, so an output may get a vector twice). With reuse random each output
// draws its p·t vectors independently. A pool of m = ptD vectors is used once with reuse even;
// outputs are then independent, and with q = ‖u‖²‖v‖² + 2(u·v)² + (κ-3)Σu_i²v_i², κ = 3 for
// normal entries and s for sparse ones, the variance of z(x)·z(y) is
//
//	[q^p/t + (1-1/t)(k(x,x)k(y,y) + 2k(x,y)²) - k(x,y)²]/D
//
// which falls to that of a projection from the feature space, [k(x,x)k(y,y) + k(x,y)²]/D, as t
// grows. Smaller pools add the covariance of outputs with common vectors, which does not vanish
// with D: with reuse random and t = 1 the variance is
//
//	ζ_p/D + (1-1/D) Σ_{c=1..p} C(p,c)C(m-p,p-c)/C(m,p)·ζ_c,  ζ_c = (u·v)^(2p-2c) (q^c - (u·v)^(2c))
//
// whose second term is about p²ζ_1/m. For a row with itself, at degree 2, it is as large
// as the first when m = D: that is the default (at least p·t and at most p·t·D), which costs
// as much as random Fourier features.
//
// A row takes O(dm + ptD) operations, a sparse one O(nnz·m + ptD); the map holds 4dm + 2ptD
// bytes (twice the latter if m > 2¹⁶, and 8dm/s instead of 4dm if entries are very sparse),
// and about 1 MB of work memory per goroutine.
const PKRP = "pk-rp"

// pkrp is the map [PKRP].
type pkrp struct {
	pool     *projection
	features int
	degree   int
	index    []int32       // I, t·p lists of D: output c's factor j of term i is index[(i·p+j)·D+c]
	short    []uint16      // in its place if m ≤ 2¹⁶
	sums     *vec.Products // of short
	scale    float32       // of products
	rows     int           // of a block
	chosen   string
	free     freelist.Slices[float32]
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
	// The number of factors of an output; as a float64 it does not overflow.
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

	f := &pkrp{features: cfg.Features, degree: k.Degree, chosen: fmt.Sprintf("pool %d, t %d", m, t)}
	if e.sparse {
		f.chosen += fmt.Sprintf(", sparsity %g", e.s)
	}
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
	// In degrees 1 and 2 the pool already contains the factor 1/√(tD).
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
	if m <= 1<<16 {
		f.short = make([]uint16, len(f.index))
		for i, l := range f.index {
			f.short[i] = uint16(l)
		}
		var start float32
		if k.Degree == 2 {
			start = float32(math.Copysign(0, -1))
		}
		f.sums = vec.NewProducts(m, f.features, k.Degree, t, f.short, start, f.scale)
		f.index = nil
	}
	if f.rows = vec.SignLanes; f.pool.packed != nil {
		f.rows = max(vec.Lanes, min(tall, 1<<18/m/vec.Lanes*vec.Lanes))
	}
	return f, nil
}

// tall is how many rows are projected together: a multiple of the height of a tile of the
// product and of vec.Lanes.
const tall = 224

func (f *pkrp) Dims() (in, out int) { return f.pool.d, f.features }

// Chosen is the size of the pool, the number of products that an output adds up, and the
// sparsity of the pool's vectors.
func (f *pkrp) Chosen() string { return f.chosen }

// Bytes counts the pool and the index.
func (f *pkrp) Bytes() int64 { return f.pool.bytes() + 4*int64(len(f.index)) + 2*int64(len(f.short)) }

// Transform projects a block of rows on the pool, which stays in the cache while its products
// are formed.
func (f *pkrp) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(f.pool.d, f.features, dst, x)
	if n := x.Len(); n <= few {
		f.blocks(dst, x, 0, n)
		return
	}
	vec.Parallel(x.Len(), vec.Lanes, func(lo, hi int) { f.blocks(dst, x, lo, hi) })
}

// blocks transforms rows [i, end) of x. After projection, rows are processed side by side,
// unless there are few.
func (f *pkrp) blocks(dst *matrix.Dense, x matrix.Rows, i, end int) {
	m := f.pool.m
	rows := min(f.rows, end-i)
	padded := (rows + vec.Lanes - 1) / vec.Lanes * vec.Lanes
	if f.pool.table != nil {
		padded = vec.SignLanes
	}
	work := f.free.Get((padded+vec.Lanes)*m + f.pool.work(rows))
	defer f.free.Put(work)
	k, kt := work[:padded*m], work[padded*m:][:vec.Lanes*m]
	work = work[(padded+vec.Lanes)*m:]
	for ; i < end; i += rows {
		n := min(rows, end-i)
		if f.sums == nil || n <= few {
			f.pool.multiply(k, m, x, i, i+n, work)
			for r := range n {
				f.row(dst.Row(i+r), k[r*m:][:m])
			}
			continue
		}
		listed := f.pool.table != nil && x.CSR == nil
		if listed {
			f.pool.interleave(work, x.Dense, i, n)
			f.pool.side(k, m, 0, m, work)
		} else {
			f.pool.multiply(k, m, x, i, i+n, work)
		}
		for r := 0; r < n; r += vec.Lanes {
			side, count := k[r*m:], min(vec.Lanes, n-r)
			if !listed {
				vec.Interleave32(count, m, kt, vec.Lanes, side, m)
				side = kt
			}
			f.sums.Rows(count, dst.Data[(i+r)*dst.Stride:], dst.Stride, side)
		}
	}
}

// row forms a row's features from its projections on the pool.
func (f *pkrp) row(z, k []float32) {
	if f.sums != nil {
		f.sums.Row(z, k)
		return
	}
	for c := range z {
		var sum float32
		for at := c; at < len(f.index); {
			product := k[f.index[at]]
			at += f.features
			for range f.degree - 1 {
				product *= k[f.index[at]]
				at += f.features
			}
			sum += float32(product)
		}
		z[c] = f.scale * sum
	}
}
