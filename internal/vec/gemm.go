package vec

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Matrix products after BLIS (Van Zee and van de Geijn 2015): the loops around a micro-kernel
// cut C into tiles that fit the registers, A and B into packed panels that fit the caches.
// Only the micro-kernel knows the machine.
//
// Every element of C is the sum, over blocks of kc of the inner dimension, of one chain of
// multiply-adds in order. That does not depend on where the element stands, on what is
// computed with it, or on the number of threads.

// micro is a pair of micro-kernels, for tiles of mr×nr and for single rows of nr.
type micro[T float32 | float64] struct {
	mr, nr    int
	tile, row func(k int, a, b *T, ldb int, c *T, ldc int, add int)
	kc        int             // inner dimension of a block: an A panel fits the L1 cache
	nc        int             // columns of a block: kc×nc numbers fit the L2 cache
	size      int             // bytes of a number
	free      chan *panels[T] // not in use; never given back to the collector
}

// panels is the memory of one goroutine.
type panels[T float32 | float64] struct {
	a, b, tile []T
}

// mc is how many rows a task has at most.
const mc = 1024

// smallWork is how many multiplications are not worth a second goroutine.
const smallWork = 1 << 22

// product describes C = αA·B or C += αA·B with A m×k, B k×n, element (i, l) of A at
// a[i*ars+l*acs], of B (l, j) at b[l*brs+j*bcs], C row-major.
type product[T float32 | float64] struct {
	m, n, k  int
	alpha    T
	a        []T
	ars, acs int
	b        []T
	brs, bcs int
	add      bool
	c        []T
	ldc      int
	upper    bool // only elements on and above the diagonal are needed
}

func (mk *micro[T]) multiply(p product[T]) {
	if p.m == 0 || p.n == 0 {
		return
	}
	if p.k == 0 {
		if !p.add {
			for i := range p.m {
				clear(p.c[i*p.ldc : i*p.ldc+p.n])
			}
		}
		return
	}
	rows, cols := (p.m+mc-1)/mc, (p.n+mk.nc-1)/mk.nc
	if threads := min(Threads(), rows*cols); threads > 1 && p.m*p.n*p.k >= smallWork {
		mk.parallel(p, threads, rows, cols)
		return
	}
	w := mk.get()
	for t := range rows * cols {
		mk.task(&p, t/cols, t%cols, w)
	}
	mk.put(w)
}

// parallel is multiply on several goroutines, each taking the next block of C.
func (mk *micro[T]) parallel(p product[T], threads, rows, cols int) {
	var next atomic.Int64
	work := func() {
		w := mk.get()
		defer mk.put(w)
		for t := int(next.Add(1)) - 1; t < rows*cols; t = int(next.Add(1)) - 1 {
			mk.task(&p, t/cols, t%cols, w)
		}
	}
	var wait sync.WaitGroup
	for range threads - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
}

func (mk *micro[T]) get() *panels[T] {
	select {
	case w := <-mk.free:
		return w
	default:
		return &panels[T]{
			a:    aligned[T](mk.mr * mk.kc),
			b:    aligned[T](mk.kc * mk.nc),
			tile: aligned[T](mk.mr * mk.nr),
		}
	}
}

func (mk *micro[T]) put(w *panels[T]) {
	select {
	case mk.free <- w:
	default:
	}
}

// aligned makes a slice that starts at a cache line, which small Go slices need not.
func aligned[T float32 | float64](n int) []T {
	const line = 64
	size := int(unsafe.Sizeof(T(0)))
	s := make([]T, n+line/size)
	off := int(-uintptr(unsafe.Pointer(&s[0]))%line) / size
	return s[off : off+n : off+n]
}

// task computes one block of C.
func (mk *micro[T]) task(p *product[T], row, col int, w *panels[T]) {
	i0, i1 := row*mc, min((row+1)*mc, p.m)
	j0, j1 := col*mk.nc, min((col+1)*mk.nc, p.n)
	if p.upper && i0 >= j1 {
		return
	}
	// A few rows do not pay for packing B.
	direct := p.m <= mk.mr && p.bcs == 1
	for l := 0; l < p.k; l += mk.kc {
		kb := min(mk.kc, p.k-l)
		if !direct {
			mk.packB(p, l, kb, j0, j1, w.b)
		}
		add := 0
		if p.add || l > 0 {
			add = 1
		}
		for i := i0; i < i1; i += mk.mr {
			mb := min(mk.mr, i1-i)
			kernel := mk.tile
			height := mk.mr
			if mb == 1 {
				kernel, height = mk.row, 1
			}
			mk.packA(p, l, kb, i, mb, height, w.a)
			for j := j0; j < j1; j += mk.nr {
				nb := min(mk.nr, j1-j)
				if p.upper && i >= j+nb {
					continue
				}
				b, ldb := (*T)(nil), mk.nr*mk.size
				switch {
				case !direct:
					b = &w.b[(j-j0)*kb]
				case nb == mk.nr:
					b, ldb = &p.b[l*p.brs+j], p.brs*mk.size
				default:
					mk.packB(p, l, kb, j, j1, w.b)
					b = &w.b[0]
				}
				if mb == height && nb == mk.nr {
					kernel(kb, &w.a[0], b, ldb, &p.c[i*p.ldc+j], p.ldc*mk.size, add)
					continue
				}
				kernel(kb, &w.a[0], b, ldb, &w.tile[0], mk.nr*mk.size, 0)
				for ii := range mb {
					from := w.tile[ii*mk.nr : ii*mk.nr+nb]
					to := p.c[(i+ii)*p.ldc+j : (i+ii)*p.ldc+j+nb]
					if add == 0 {
						copy(to, from)
						continue
					}
					for jj, v := range from {
						to[jj] += v
					}
				}
			}
		}
	}
}

// packA packs rows [i, i+mb) of αA, inner indices [l, l+kb), as panels of the given height
// filled up with zeros.
func (mk *micro[T]) packA(p *product[T], l, kb, i, mb, height int, dst []T) {
	if mb < height {
		clear(dst[:kb*height])
	}
	if p.ars == 1 {
		for t := range kb {
			from := p.a[i+(l+t)*p.acs:]
			to := dst[t*height:]
			if p.alpha == 1 {
				copy(to[:mb], from[:mb])
				continue
			}
			for ii := range mb {
				to[ii] = p.alpha * from[ii]
			}
		}
		return
	}
	for ii := range mb {
		from := p.a[(i+ii)*p.ars+l*p.acs:]
		if p.acs == 1 {
			from = from[:kb]
			for t, v := range from {
				dst[t*height+ii] = p.alpha * v
			}
			continue
		}
		for t := range kb {
			dst[t*height+ii] = p.alpha * from[t*p.acs]
		}
	}
}

// packB packs columns [j0, j1) of B, inner indices [l, l+kb), as panels of nr columns, the
// last filled up with zeros.
func (mk *micro[T]) packB(p *product[T], l, kb, j0, j1 int, dst []T) {
	for j := j0; j < j1; j += mk.nr {
		nb := min(mk.nr, j1-j)
		panel := dst[(j-j0)*kb:][:kb*mk.nr]
		if nb < mk.nr {
			clear(panel)
		}
		if p.bcs == 1 {
			for t := range kb {
				copy(panel[t*mk.nr:t*mk.nr+nb], p.b[(l+t)*p.brs+j:])
			}
			continue
		}
		for jj := range nb {
			from := p.b[l*p.brs+(j+jj)*p.bcs:]
			for t := range kb {
				panel[t*mk.nr+jj] = from[t*p.brs]
			}
		}
	}
}

// The sizes of blocks are the same for all micro-kernels, and so are the sums.
const (
	kc32, kc64 = 512, 256
	nc32, nc64 = 512, 512
)

var (
	micro32 = &micro[float32]{kc: kc32, nc: nc32, size: 4, free: make(chan *panels[float32], 64)}
	micro64 = &micro[float64]{kc: kc64, nc: nc64, size: 8, free: make(chan *panels[float64], 64)}
)

func init() { chooseKernels() }

// portableKernels are the micro-kernels of every machine.
func portableKernels() {
	micro32.mr, micro32.nr, micro32.tile, micro32.row = 4, 4, portable[float32], portableRow[float32]
	micro64.mr, micro64.nr, micro64.tile, micro64.row = 4, 4, portable[float64], portableRow[float64]
}

// portable is the 4×4 micro-kernel in Go.
func portable[T float32 | float64](k int, a, b *T, ldb int, c *T, ldc int, add int) {
	size := int(unsafe.Sizeof(T(0)))
	ldb, ldc = ldb/size, ldc/size
	as := unsafe.Slice(a, 4*k)
	bs := unsafe.Slice(b, (k-1)*ldb+4)
	cs := unsafe.Slice(c, 3*ldc+4)
	var t [4][4]T
	for l := range k {
		x := as[4*l : 4*l+4 : 4*l+4]
		y := bs[l*ldb : l*ldb+4 : l*ldb+4]
		for i, v := range x {
			r := &t[i]
			// The conversion keeps machines from fusing, so that all round alike.
			r[0] += T(v * y[0])
			r[1] += T(v * y[1])
			r[2] += T(v * y[2])
			r[3] += T(v * y[3])
		}
	}
	for i := range t {
		for j, v := range t[i] {
			if add != 0 {
				v += cs[i*ldc+j]
			}
			cs[i*ldc+j] = v
		}
	}
}

// portableRow is the 1×4 micro-kernel in Go.
func portableRow[T float32 | float64](k int, a, b *T, ldb int, c *T, _ int, add int) {
	ldb /= int(unsafe.Sizeof(T(0)))
	as := unsafe.Slice(a, k)
	bs := unsafe.Slice(b, (k-1)*ldb+4)
	cs := unsafe.Slice(c, 4)
	var t [4]T
	for l, v := range as {
		y := bs[l*ldb : l*ldb+4 : l*ldb+4]
		t[0] += T(v * y[0])
		t[1] += T(v * y[1])
		t[2] += T(v * y[2])
		t[3] += T(v * y[3])
	}
	for j, v := range t {
		if add != 0 {
			v += cs[j]
		}
		cs[j] = v
	}
}
