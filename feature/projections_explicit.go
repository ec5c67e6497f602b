package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// lifting turns rows x into u = (√γ x, √c), so that u·v = γ x·y + c. If c is 0 the last coordinate is left out.
type lifting struct {
	dim       int // of x
	d         int // of u
	root, one float32
}

func newLifting(k kernel.Kernel, dim int) lifting {
	l := lifting{dim: dim, d: dim, root: float32(math.Sqrt(k.Gamma)), one: float32(math.Sqrt(k.Coef0))}
	if k.Coef0 > 0 {
		l.d++
	}
	return l
}

// fill writes u of row i of x.
func (l lifting) fill(u []float32, x matrix.Rows, i int) {
	if x.CSR != nil {
		clear(u)
		idx, val := x.CSR.Row(i)
		for k, j := range idx {
			u[j] = l.root * val[k]
		}
	} else {
		for j, v := range x.Dense.Row(i) {
			u[j] = l.root * v
		}
	}
	if l.d > l.dim {
		u[l.dim] = l.one
	}
}

// monomialList are the coordinates of the feature space of the kernel (u·v)^p in d dimensions:
// √(p!/α!)·u^α for the C(d+p-1, p) exponents α of sum p, the products of a set of p
// coordinates, with repetition, only once. They are in the order of the sorted tuples
// of coordinates i_1 ≤ … ≤ i_p.
type monomialList struct {
	d, p  int
	count float64
}

func newMonomialList(d, p int) monomialList {
	m := monomialList{d: d, p: p, count: 1}
	for i := 1; i <= p && !math.IsInf(m.count, 1); i++ {
		m.count *= float64(d-1+i) / float64(i)
	}
	m.count = math.Round(m.count)
	return m
}

// fill writes the monomials of u from that of tuple on into dst, and leaves the next
// one in tuple.
func (m monomialList) fill(dst, u []float32, tuple []int) {
	last := m.p - 1
	for len(dst) > 0 {
		// The contribution of all but the last of the tuple: their product times √(p!/α!).
		x, c, equal := 1.0, float64(m.p), 0
		for k, i := range tuple[:last] {
			if k > 0 && i == tuple[k-1] {
				equal++
			} else {
				equal = 1
			}
			c = float64(c*float64(k+1)) / float64(equal)
			x = float64(x * float64(u[i]))
		}
		x = float64(x * math.Sqrt(c))
		j := tuple[last]
		if last > 0 && j == tuple[last-1] {
			dst[0] = float32(float64(x*float64(u[j])) / math.Sqrt(float64(equal+1)))
			dst = dst[1:]
			j++
		}
		n := min(m.d-j, len(dst))
		f := float32(x)
		for k, v := range u[j:][:n] {
			dst[k] = f * v
		}
		dst = dst[n:]
		tuple[last] = j + n
		m.carry(tuple)
	}
}

// skip moves tuple n monomials on.
func (m monomialList) skip(tuple []int, n int) {
	last := m.p - 1
	for n > 0 {
		step := min(n, m.d-tuple[last])
		n -= step
		tuple[last] += step
		m.carry(tuple)
	}
}

// carry turns a tuple whose last coordinate may have passed the end into the next valid one:
// the last coordinate that can grow is incremented, and the later ones follow it. After the last tuple
// comes the first.
func (m monomialList) carry(tuple []int) {
	if tuple[m.p-1] < m.d {
		return
	}
	k := m.p - 2
	for k >= 0 && tuple[k] == m.d-1 {
		k--
	}
	v := 0
	if k >= 0 {
		v = tuple[k] + 1
	}
	for k = max(k, 0); k < m.p; k++ {
		tuple[k] = v
	}
}

// ExplicitRP maps by random projection of the polynomial kernel's feature space itself: z(x) =
// Rᵀφ(u)/√D, where φ are the N = C(d'+p-1, p) monomials of degree p of u = (√γ x, √c), d' = d
// + 1 or, if c = 0, d (López-Sánchez 2019, section 3.3 and chapter 4, φ(·)+RP). It is
// unbiased, and the variance of z(x)·z(y) is that of rp: [k(x,x)k(y,y) + k(x,y)²]/D for normal
// entries, and (s-3)·Σφ_i(u)²φ_i(v)²/D more for sparse ones.
//
// It is the reference for d2pk-rp and pk-rp, which come close to it at a tiny fraction of the
// cost: a row takes O(ND) operations. φ is never held except in blocks of 4096 monomials of up to
// 252 rows per goroutine. R takes 4ND bytes (8ND/s if entries are very sparse) and is held if these are
// 4 GiB or less, and no more than half of Config.MaxBytes, since a learner needs memory too; otherwise
// every Transform draws it again, 16 kB·D at a time, which takes about ND·10 ns, so it should get many
// rows at once. The features are the same.
const ExplicitRP = "explicit-rp"

// explicitRP is the map [ExplicitRP].
type explicitRP struct {
	lift      lifting
	monomials monomialList
	features  int
	entries   entries
	seed      uint64
	starts    [][]int // the first tuple of each block
	held      []*projection
	free      freelist.List[explicitWork]
}

// explicitWork is the memory of one goroutine.
type explicitWork struct {
	u, work, sum []float32
	phi          matrix.Dense
	tuple        []int
}

const (
	monomialBlock = 4096
	mostHeld      = 4 << 30

	// mostDrawn bounds N·D: drawing so many takes minutes.
	mostDrawn = 1 << 34
)

func newExplicitRP(cfg Config, dim int) (*explicitRP, error) {
	k := cfg.Kernel
	if err := representable(cfg); err != nil {
		return nil, err
	}
	e, err := projectionEntries(cfg)
	if err != nil {
		return nil, err
	}
	f := &explicitRP{lift: newLifting(k, dim), features: cfg.Features, entries: e, seed: cfg.Seed}
	f.monomials = newMonomialList(f.lift.d, k.Degree)
	n := f.monomials.count
	if entries := n * float64(cfg.Features); entries > mostDrawn || n > math.MaxInt32 || k.Degree > math.MaxInt16 {
		return nil, fmt.Errorf("feature: explicit-rp: the kernel has %.4g monomials of degree %d in %d dimensions, "+
			"and %d features of them a matrix of %.3g bytes; use pk-rp",
			n, k.Degree, f.lift.d, cfg.Features, 4*entries)
	}
	hold := f.holds(cfg.MaxBytes)
	tuple := make([]int, k.Degree)
	for b := range int((n + monomialBlock - 1) / monomialBlock) {
		f.starts = append(f.starts, append([]int(nil), tuple...))
		f.monomials.skip(tuple, monomialBlock)
		if hold {
			f.held = append(f.held, f.draw(b))
		}
	}
	return f, nil
}

// holds reports whether R is kept, given how much a map may hold.
func (f *explicitRP) holds(most int64) bool {
	bound := float64(mostHeld)
	if most > 0 {
		bound = min(bound, float64(most)/2)
	}
	row := min(f.entries.bytes(monomialBlock, f.features)/monomialBlock, 4*float64(f.features))
	return f.monomials.count*row <= bound
}

// draw draws the rows of R that belong to block b.
func (f *explicitRP) draw(b int) *projection {
	n := min(monomialBlock, int(f.monomials.count)-b*monomialBlock)
	return newProjection(f.entries, n, f.features, 1/math.Sqrt(float64(f.features)), 0, f.seed, "feature.explicit-rp", uint64(b))
}

func (f *explicitRP) Dims() (in, out int) { return f.lift.dim, f.features }

// Bytes counts R, if it is held, and where its blocks begin.
func (f *explicitRP) Bytes() int64 {
	bytes := 8 * int64(len(f.starts)*f.monomials.p)
	for _, r := range f.held {
		bytes += r.bytes()
	}
	return bytes
}

func (f *explicitRP) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(f.lift.dim, f.features, dst, x)
	n := x.Len()
	switch {
	case n == 0:
	case f.held == nil:
		for b := range f.starts {
			r := f.draw(b)
			vec.Parallel(n, 14, func(lo, hi int) { f.blocks(dst, x, lo, hi, b, b+1, r) })
		}
	case n <= few:
		f.blocks(dst, x, 0, n, 0, len(f.starts), nil)
	default:
		vec.Parallel(n, 14, func(lo, hi int) { f.blocks(dst, x, lo, hi, 0, len(f.starts), nil) })
	}
}

// blocks adds what blocks [b, end) of the monomials give to rows [i, j) of dst; block 0 sets
// them. r is the matrix of block b if none are held.
func (f *explicitRP) blocks(dst *matrix.Dense, x matrix.Rows, i, j, b, end int, r *projection) {
	rows := min(tile, j-i)
	if rows == 0 {
		return
	}
	w := f.get(rows)
	for ; i < j; i += rows {
		n := min(rows, j-i)
		for b := b; b < end; b++ {
			if f.held != nil {
				r = f.held[b]
			}
			w.phi.Reshape(n, r.d)
			for k := range n {
				f.lift.fill(w.u, x, i+k)
				copy(w.tuple, f.starts[b])
				f.monomials.fill(w.phi.Row(k), w.u, w.tuple)
			}
			if b == 0 {
				r.multiply(dst.Data[i*dst.Stride:], dst.Stride, matrix.Rows{Dense: &w.phi}, 0, n, w.work)
				continue
			}
			r.multiply(w.sum, f.features, matrix.Rows{Dense: &w.phi}, 0, n, w.work)
			for k := range n {
				vec.Axpy32(1, w.sum[k*f.features:][:f.features], dst.Row(i+k))
			}
		}
	}
	f.free.Put(w)
}

// get returns work memory for so many rows.
func (f *explicitRP) get(rows int) *explicitWork {
	w := f.free.Get()
	if w.u == nil {
		w.u, w.tuple = make([]float32, f.monomials.d), make([]int, f.monomials.p)
	}
	width := min(monomialBlock, int(f.monomials.count))
	w.phi.Reshape(rows, width)
	if n := rows * f.features; len(w.sum) < n && len(f.starts) > 1 {
		w.sum = make([]float32, n)
	}
	if n := f.work(rows, width); len(w.work) < n {
		w.work = make([]float32, n)
	}
	return w
}

// work is what the widest block's projection needs.
func (f *explicitRP) work(rows, width int) int {
	if !f.entries.listed(width, f.features) {
		return 0
	}
	p := projection{d: width, m: f.features}
	return p.work(rows)
}

// ReducedPoly maps to √2·u_i u_j, i < j, u = (√γ x, √c): exactly the polynomial kernel of degree
// two without the squares,
//
//	(u·v)² - Σu_i²v_i²
//
// (López-Sánchez et al. 2018, equation 12), which d2pk-rp estimates with sparsity 1. It has D
// = d'(d'-1)/2 features, takes as many multiplications per row, and holds nothing.
const ReducedPoly = "reduced-poly"

// reduced is the map [ReducedPoly].
type reduced struct {
	lift lifting
	free freelist.Slices[float32]
}

// mostReduced bounds the features of reduced: 16 MB a row.
const mostReduced = 1 << 22

func newReduced(cfg Config, dim int) (*reduced, error) {
	k := cfg.Kernel
	if k.Degree != 2 {
		return nil, fmt.Errorf("feature: reduced-poly is a part of the poly kernel of degree 2, not of %s", k)
	}
	if err := representable(cfg); err != nil {
		return nil, err
	}
	f := &reduced{lift: newLifting(k, dim)}
	n := float64(f.lift.d) * float64(f.lift.d-1) / 2
	if n > mostReduced {
		return nil, fmt.Errorf("feature: reduced-poly makes %.0f features of %d dimensions, %.3g bytes a row; use "+
			"d2pk-rp with sparsity 1, which projects from there", n, dim, 4*n)
	}
	if n == 0 {
		return nil, fmt.Errorf("feature: reduced-poly multiplies different coordinates, and the rows have one only")
	}
	return f, nil
}

func (f *reduced) Dims() (in, out int) { return f.lift.dim, f.lift.d * (f.lift.d - 1) / 2 }

// Bytes is 0.
func (f *reduced) Bytes() int64 { return 0 }

func (f *reduced) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	if n := x.Len(); n <= few {
		f.rows(dst, x, 0, n)
		return
	}
	vec.Parallel(x.Len(), few, func(lo, hi int) { f.rows(dst, x, lo, hi) })
}

// rows transforms rows [i, end) of x.
func (f *reduced) rows(dst *matrix.Dense, x matrix.Rows, i, end int) {
	u := f.free.Get(f.lift.d)
	defer f.free.Put(u)
	for ; i < end; i++ {
		f.lift.fill(u, x, i)
		z := dst.Row(i)
		for j, v := range u {
			v *= math.Sqrt2
			for k, w := range u[j+1:] {
				z[k] = v * w
			}
			z = z[len(u)-j-1:]
		}
	}
}
