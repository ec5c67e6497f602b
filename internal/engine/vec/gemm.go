package vec

import (
	"context"
	"sync/atomic"
	"unsafe"

	"mercer/internal/engine/freelist"
)

// Matrix products after BLIS (Van Zee and van de Geijn 2015): the loops around a micro-kernel
// cut C into tiles that fit the registers, A and B into packed panels that fit the caches.
// Only the micro-kernel depends on the machine.
//
// Every element of C is the sum, over blocks of at most kc of the inner dimension, of one
// chain of multiply-adds in order; if C is wide, wideBlocks of those sums are added up in
// float32 before they are added to it. That depends neither on the position of the element, nor on
// what else is computed, nor on the number of threads.

// micro is a pair of micro-kernels, for tiles of mr×nr and for single rows of nr.
type micro[T float32 | float64] struct {
	mr, nr            int
	tile, row         microKernel[T]
	blocks            [2][2]blocksKernel[T]                               // of a row: one and blocksAtOnce, of a vector and two; may be nil
	strip, panel      stripKernel[T]                                      // of mr and of nr numbers; may be nil
	widen             func(dst *float64, ldd int, src *float32, rows int) // adds nr numbers of each row
	expect            func(dst *float64, ldd, rows int)                   // prefetches what widen adds to
	sparse, sparseOne sparseKernel[T]                                     // of sparsePanels panels, and of one
	nonzeros          func(n int, x *T, first, idx *int32, val *T) int    // lists the nonzeros in lines of 64 bytes; may be nil
	kc                int                                                 // inner dimension of a block: A panels fit L1
	nc                int                                                 // columns of a block of kc: kc×nc numbers fit the L2 cache
	size              int                                                 // bytes of a number
	free              freelist.List[panels[T]]
	buffers           freelist.Slices[T] // for strips
}

// microKernel computes a tile of C as A·B, or adds to it. A's element (i, l) is i·ars +
// l·acs bytes after a; B's rows are ldb and C's ldc bytes apart.
type microKernel[T float32 | float64] func(k int, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add int)

// stripKernel copies a strip of a few numbers of each of many rows, stride bytes apart, to contiguous
// memory, and likewise the adjacent strips, count in all, to destinations next bytes apart.
type stripKernel[T float32 | float64] func(dst, src *T, rows, stride, count, next int)

// stripsAtOnce is how many strips a kernel copies in one call, which cannot be preempted.
const stripsAtOnce = 4

// fewestRows is how many rows a task has at least, so that packing B pays. If B is already packed,
// it has two strips.
const fewestRows = 256

// smallWork is the number of multiplications up to which a second goroutine is not worthwhile.
const smallWork = 1 << 22

// work is how many multiplications a product takes, which may overflow a 32-bit int.
func work(m, n, k int) int64 { return int64(m) * int64(n) * int64(k) }

// product describes C = αA·B or C += αA·B with A m×k, B k×n, element (i, l) of A at
// a[i*ars+l*acs], of B (l, j) at b[l*brs+j*bcs], C row-major.
type product[T float32 | float64] struct {
	m, n, k  int
	alpha    T
	a        []T
	ars, acs int
	b        []T
	brs, bcs int
	packed   []T // B in panels of nr columns, instead of b
	ptr      []int
	idx      []int32 // with ptr: A is sparse, a its elements
	scant    bool    // A is sparse or mostly zero, B is packed
	infinite bool    // B is not finite: nothing may be multiplied by a zero of a sparse A
	strips   []T     // the rows of αA, if not nil, as strips of mr, except the remaining ones
	add      bool
	c        []T
	wide     []float64 // instead of c: to be added to, by wideBlocks blocks of kc
	ldc      int
	part     triangle // of C that is needed and touched

	// ctx, if not nil, ends the product between two blocks: C is then garbage.
	ctx context.Context

	// after, if not nil, is called for each block of rows and columns of C when it is
	// done and still in cache, by several goroutines.
	after func(i, j, rows, cols int)
}

type triangle int

const (
	full triangle = iota
	upper
	lower
)

// ended is whether the product is no longer wanted.
func (p *product[T]) ended() bool { return p.ctx != nil && p.ctx.Err() != nil }

// relation is whether the block of rows [i, i1) and columns [j, j1) lies in the triangle
// wholly, in part, or not at all.
func (t triangle) relation(i, i1, j, j1 int) (some, all bool) {
	switch t {
	case upper:
		return j1 > i, j >= i1-1
	case lower:
		return j < i1, j1-1 <= i
	}
	return true, true
}

func (mk *micro[T]) multiply(p product[T]) {
	if p.m == 0 || p.n == 0 {
		return
	}
	if p.k == 0 {
		if !p.add && p.wide == nil {
			for i := range p.m {
				clear(p.c[i*p.ldc : i*p.ldc+p.n])
			}
		}
		if p.after != nil {
			p.after(0, 0, p.m, p.n)
		}
		return
	}
	p.check()
	if p.wide != nil || p.ars == 1 && p.acs > 1 && p.m >= mk.mr && mk.strip != nil && p.packed == nil {
		mk.multiplyStrips(p)
		return
	}
	mk.compute(p)
}

// check panics if a matrix does not lie within its slice: the kernels do not check.
func (p *product[T]) check() {
	_ = p.a[(p.m-1)*p.ars+(p.k-1)*p.acs]
	if p.packed == nil {
		_ = p.b[(p.k-1)*p.brs+(p.n-1)*p.bcs]
	}
	if end := (p.m-1)*p.ldc + p.n - 1; p.wide != nil {
		_ = p.wide[end]
	} else {
		_ = p.c[end]
	}
}

// multiplyStrips is multiply for a transposed A, whose rows are spread over memory: for each
// block of the inner dimension, or a few if C is wide, all of them are packed first, which reads
// A in order. For several goroutines so is B: otherwise each row of blocks would pack it again, and there may
// be as many rows of blocks as keep the goroutines busy.
func (mk *micro[T]) multiplyStrips(p product[T]) {
	full, panels := p.m/mk.mr, (p.n+mk.nr-1)/mk.nr
	if mk.strip == nil {
		full = 0
	}
	kc := mk.block(p.k)
	shared := mk.threads(&p) > 1
	if p.wide != nil && p.k > kc {
		kc, shared = wideBlocks*kc, true
	}
	size := full * mk.mr * kc
	if shared {
		size = max(size, panels*mk.nr*kc) // buffers of one size serve for both
	}
	strips, packed := mk.buffers.Get(size), []T(nil)
	if shared {
		packed = mk.buffers.Get(size)
	}
	q := p
	for l := 0; l < p.k && !p.ended(); l += kc {
		q.k = min(kc, p.k-l)
		q.a, q.b, q.add = p.a[l*p.acs:], p.b[l*p.brs:], p.add || l > 0
		if full > 0 {
			q.strips = strips[:full*mk.mr*q.k]
		}
		if work(full, mk.mr, q.k) < smallWork/16 {
			mk.packStrips(&q, 0, full) // without the allocations of goroutines
		} else {
			mk.packStripsParallel(q, full)
		}
		if shared {
			q.packed = packed[:panels*mk.nr*q.k]
			mk.packBParallel(q, panels)
		}
		if l+kc < p.k {
			q.after = nil
		} else {
			q.after = p.after
		}
		mk.compute(q)
	}
	mk.keep(strips)
	mk.keep(packed)
}

// block is the length of the blocks of an inner dimension of k: all about as long.
func (mk *micro[T]) block(k int) int {
	blocks := (k + mk.kc - 1) / mk.kc
	return (k + blocks - 1) / blocks
}

// threads is how many goroutines are worthwhile for the product.
func (mk *micro[T]) threads(p *product[T]) int {
	if p.work() < smallWork {
		return 1
	}
	return Threads()
}

// work is how many multiplications the product takes.
func (p *product[T]) work() int64 {
	switch {
	case p.ptr != nil:
		return work(1, p.n, p.ptr[p.m]-p.ptr[0])
	case p.scant:
		return work(p.m, p.n, p.k) / scarce
	}
	return work(p.m, p.n, p.k)
}

// compute is multiply for an A that is packed or can be read in place.
func (mk *micro[T]) compute(p product[T]) {
	threads := mk.threads(&p)
	g := mk.cut(&p, threads)
	if threads = min(threads, g.rows*g.cols); threads > 1 {
		mk.parallel(p, threads, g)
		return
	}
	w := mk.get()
	for t := 0; t < g.rows*g.cols && !p.ended(); t++ {
		mk.task(&p, g, t, w)
	}
	mk.put(w)
}

// grid is how C is cut into blocks, a task each: one column of blocks after the other, since
// those of a column share B.
type grid struct {
	height, width int // of a block
	rows, cols    int // blocks
}

// widest is the largest number of columns of a block, however short the inner dimension is.
const widest = 2048

// wideBlocks is how many blocks of kc are added up in float32 before they are added to a wide C.
const wideBlocks = 2

// cut makes the fewest rows of blocks that keep all goroutines busy to the end.
func (mk *micro[T]) cut(p *product[T], threads int) grid {
	if p.scant {
		return mk.cutScant(p, threads)
	}
	width := min(widest, mk.kc*mk.nc/mk.block(p.k)) / mk.nr * mk.nr
	g := grid{rows: 1, width: width, cols: (p.n + width - 1) / width}
	if threads > 1 {
		tasks := 4 * threads
		if p.part != full {
			tasks *= 4 // they differ in size
		}
		fewest := fewestRows
		if p.packed != nil {
			fewest = 2 * mk.mr
		}
		g.rows = max(1, min((tasks+g.cols-1)/g.cols, p.m/fewest))
	}
	g.height = ((p.m+g.rows-1)/g.rows + mk.mr - 1) / mk.mr * mk.mr
	g.rows = (p.m + g.height - 1) / g.height
	return g
}

// parallel is multiply on several goroutines, each taking the next block of C.
func (mk *micro[T]) parallel(p product[T], threads int, g grid) {
	var next atomic.Int64
	together(threads, func() {
		w := mk.get()
		defer mk.put(w)
		for t := int(next.Add(1)) - 1; t < g.rows*g.cols && !p.ended(); t = int(next.Add(1)) - 1 {
			mk.task(&p, g, t, w)
		}
	})
}

// task computes the t-th block of C.
func (mk *micro[T]) task(p *product[T], g grid, t int, w *panels[T]) {
	switch {
	case p.scant:
		mk.scantTask(p, g, t, w)
	case p.wide != nil && p.k > mk.kc:
		mk.wideTask(p, g, t, w)
	case mk.isNarrowRow(p):
		mk.rowTask(p, w)
	default:
		mk.denseTask(p, g, t, w)
	}
}

func (mk *micro[T]) denseTask(p *product[T], g grid, t int, w *panels[T]) {
	row, col := t%g.rows, t/g.rows
	if p.part == upper {
		col = g.cols - 1 - col // those with the most work first
	}
	i0, i1 := row*g.height, min((row+1)*g.height, p.m)
	j0, j1 := col*g.width, min((col+1)*g.width, p.n)
	if some, _ := p.part.relation(i0, i1, j0, j1); !some {
		return
	}
	// For a few rows packing B does not pay.
	direct := p.packed == nil && p.m <= mk.mr && p.bcs == 1
	kc := mk.block(p.k)
	for l := 0; l < p.k && (l == 0 || !p.ended()); l += kc {
		kb := min(kc, p.k-l)
		if !direct && p.packed == nil {
			mk.packB(p, l, kb, j0, j1, w.b)
		}
		for i := i0; i < i1; i += mk.mr {
			mb := min(mk.mr, i1-i)
			if some, _ := p.part.relation(i, i+mb, j0, j1); !some {
				continue
			}
			kernel, height := mk.tile, mk.mr
			if mb == 1 {
				kernel, height = mk.row, 1
			}
			a, ars, acs := mk.left(p, l, kb, i, mb, height, w.a)
			for j := j0; j < j1; j += mk.nr {
				nb := min(mk.nr, j1-j)
				some, all := p.part.relation(i, i+mb, j, j+nb)
				if !some {
					continue
				}
				b, ldb := (*T)(nil), mk.nr*mk.size
				switch {
				case p.packed != nil:
					b = &p.packed[j*p.k+l*mk.nr]
				case !direct:
					b = &w.b[(j-j0)*kb]
				case nb == mk.nr:
					b, ldb = &p.b[l*p.brs+j], p.brs*mk.size
				default:
					mk.packB(p, l, kb, j, j1, w.b)
					b = &w.b[0]
				}
				whole := all && mb == height && nb == mk.nr
				if whole && p.wide == nil {
					add := 0
					if p.add || l > 0 {
						add = 1
					}
					kernel(kb, a, ars, acs, b, ldb, &p.c[i*p.ldc+j], p.ldc*mk.size, add)
					continue
				}
				if whole && mk.expect != nil { // C is wide, and read while the products are computed
					mk.expect(&p.wide[i*p.ldc+j], 8*p.ldc, mb)
				}
				kernel(kb, a, ars, acs, b, ldb, &w.tile[0], mk.nr*mk.size, 0)
				mk.store(p, w.tile, i, j, mb, nb, p.add || l > 0, whole)
			}
			if p.after != nil && l+kb == p.k {
				p.after(i, j0, mb, j1-j0)
			}
		}
	}
}

// wideTask is denseTask for a wide C and an inner dimension of several blocks: their sums are
// added in float32, one row of tiles after the other, which stays in the L2 cache, so that
// C is read and written once and not for every block.
func (mk *micro[T]) wideTask(p *product[T], g grid, t int, w *panels[T]) {
	row, col := t%g.rows, g.cols-1-t/g.rows
	i0, i1 := row*g.height, min((row+1)*g.height, p.m)
	j0, j1 := col*g.width, min((col+1)*g.width, p.n)
	if some, _ := p.part.relation(i0, i1, j0, j1); !some {
		return
	}
	if need := mk.mr * g.width; len(w.tiles) < need {
		w.tiles = aligned[T](need)
	}
	kc := mk.block(p.k)
	for i := i0; i < i1; i += mk.mr {
		mb := min(mk.mr, i1-i)
		first := j0
		if p.part == upper {
			first += max(0, i-j0) / mk.nr * mk.nr // tiles before lie below the diagonal
		}
		for l := 0; l < p.k; l += kc {
			kb := min(kc, p.k-l)
			a, ars, acs := mk.left(p, l, kb, i, mb, mk.mr, w.a)
			for j := first; j < j1; j += mk.nr {
				add := 0
				if l > 0 {
					add = 1
				}
				if l+kb == p.k && mk.expect != nil && j+mk.nr <= j1 {
					mk.expect(&p.wide[i*p.ldc+j], 8*p.ldc, mb)
				}
				mk.tile(kb, a, ars, acs, &p.packed[j*p.k+l*mk.nr], mk.nr*mk.size, &w.tiles[(j-j0)*mk.mr], mk.nr*mk.size, add)
				if l+kb < p.k {
					continue
				}
				_, all := p.part.relation(i, i+mb, j, j+mk.nr)
				nb := min(mk.nr, j1-j)
				mk.store(p, w.tiles[(j-j0)*mk.mr:], i, j, mb, nb, true, all && mb == mk.mr && nb == mk.nr)
			}
		}
	}
}

// store writes or adds a tile that is incomplete or not of C's type.
func (mk *micro[T]) store(p *product[T], tile []T, i, j, rows, cols int, add, whole bool) {
	if p.wide != nil && whole && mk.widen != nil { // T is float32
		mk.widen(&p.wide[i*p.ldc+j], 8*p.ldc, (*float32)(unsafe.Pointer(&tile[0])), rows)
		return
	}
	for r := range rows {
		from, first := tile[r*mk.nr:r*mk.nr+cols], j
		switch p.part {
		case upper:
			if skip := i + r - j; skip > 0 {
				from, first = from[min(skip, cols):], j+skip
			}
		case lower:
			from = from[:max(0, min(cols, i+r-j+1))]
		}
		if len(from) == 0 {
			continue
		}
		at := (i+r)*p.ldc + first
		if p.wide != nil {
			to := p.wide[at : at+len(from)]
			for t, v := range from {
				to[t] += float64(v)
			}
			continue
		}
		to := p.c[at : at+len(from)]
		if !add {
			copy(to, from)
			continue
		}
		for t, v := range from {
			to[t] += v
		}
	}
}

// The sizes of blocks are the same for all micro-kernels, and so are the sums.
const (
	kc32, kc64 = 560, 280
	nc32, nc64 = 512, 512
)

var (
	micro32 = newMicro[float32](kc32, nc32)
	micro64 = newMicro[float64](kc64, nc64)
)

func newMicro[T float32 | float64](kc, nc int) *micro[T] {
	return &micro[T]{kc: kc, nc: nc, size: int(unsafe.Sizeof(T(0)))}
}

func init() { chooseKernels() }

func (mk *micro[T]) use(mr, nr int, tile, row microKernel[T], strip, panel stripKernel[T], sparse, sparseOne sparseKernel[T]) {
	mk.mr, mk.nr, mk.tile, mk.row, mk.strip, mk.panel, mk.sparse, mk.sparseOne = mr, nr, tile, row, strip, panel, sparse, sparseOne
	mk.nonzeros, mk.widen, mk.expect = nil, nil, nil
	mk.blocks = [2][2]blocksKernel[T]{}
	mk.free, mk.buffers = freelist.List[panels[T]]{}, freelist.Slices[T]{Most: 16, Make: aligned[T]}
}
