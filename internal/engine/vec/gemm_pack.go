package vec

import "unsafe"

// panels is the memory of one goroutine.
type panels[T float32 | float64] struct {
	a, b, tile []T
	tiles      []T // a row of them
	scant      scant[T]
}

// packStrips packs strips [lo, hi) of a transposed αA.
func (mk *micro[T]) packStrips(p *product[T], lo, hi int) {
	for hi > lo {
		count := min(stripsAtOnce, hi-lo)
		strips := p.strips[lo*mk.mr*p.k : (lo+count)*mk.mr*p.k]
		mk.strip(&strips[0], &p.a[lo*mk.mr], p.k, p.acs*mk.size, count, mk.mr*p.k*mk.size)
		if p.alpha != 1 {
			for t := range strips {
				strips[t] *= p.alpha
			}
		}
		lo += count
	}
}

func (mk *micro[T]) packStripsParallel(p product[T], full int) {
	Parallel(full, 16, func(lo, hi int) { mk.packStrips(&p, lo, hi) })
}

// packBParallel packs all of B.
func (mk *micro[T]) packBParallel(p product[T], panels int) {
	Parallel(panels, 4*stripsAtOnce, func(lo, hi int) {
		mk.packB(&p, 0, p.k, lo*mk.nr, min(hi*mk.nr, p.n), p.packed[lo*mk.nr*p.k:])
	})
}

// mostKept is the largest number of numbers of a buffer that is kept for the next product.
const mostKept = 1 << 24

// keep keeps a buffer for the next product.
func (mk *micro[T]) keep(buffer []T) {
	if len(buffer) <= mostKept {
		mk.buffers.Put(buffer)
	}
}

func (mk *micro[T]) get() *panels[T] {
	w := mk.free.Get()
	if w.a == nil {
		w.a, w.b, w.tile = aligned[T](mk.mr*mk.copied()), aligned[T](mk.kc*mk.nc), aligned[T](mk.mr*mk.nr)
	}
	return w
}

func (mk *micro[T]) put(w *panels[T]) {
	w.scant.shrink()
	mk.free.Put(w)
}

// aligned makes a slice that starts at a cache line, which small Go slices need not.
func aligned[T float32 | float64](n int) []T {
	const line = 64
	size := int(unsafe.Sizeof(T(0)))
	s := make([]T, n+line/size)
	off := int(-uintptr(unsafe.Pointer(&s[0]))%line) / size
	return s[off : off+n : off+n]
}

// left returns rows [i, i+mb) of αA, inner indices [l, l+kb), in place or packed, or
// copied and padded with rows of zeros to the given height.
func (mk *micro[T]) left(p *product[T], l, kb, i, mb, height int, dst []T) (a *T, ars, acs int) {
	// Rows at distances of a multiple of 4 KB compete for the same few sets of the L1
	// cache, which matters if they are read for many columns.
	crowded := p.ars*mk.size%4096 == 0 && mb > 1 && p.n > 4*mk.nr
	switch {
	case p.strips != nil && mb == mk.mr:
		return &p.strips[i*p.k+l*mk.mr], mk.size, mk.mr * mk.size
	case p.alpha == 1 && mb == height && p.acs == 1 && !crowded:
		return &p.a[i*p.ars+l], p.ars * mk.size, mk.size
	}
	stride := mk.copied()
	mk.copyRows(p, l, kb, i, mb, height, dst, stride)
	return &dst[0], stride * mk.size, mk.size
}

// copied is the distance between rows of A that are copied: not a multiple of 4 KB.
func (mk *micro[T]) copied() int { return mk.kc + 64/mk.size }

// copyRows copies rows [i, i+mb) of αA, inner indices [l, l+kb), one after the other,
// padded with rows of zeros to the height.
func (mk *micro[T]) copyRows(p *product[T], l, kb, i, mb, height int, dst []T, stride int) {
	for r := range height {
		row := dst[r*stride : r*stride+kb]
		if r >= mb {
			clear(row)
			continue
		}
		from := p.a[(i+r)*p.ars+l*p.acs:]
		if p.acs == 1 {
			copy(row, from)
		} else {
			for t := range row {
				row[t] = from[t*p.acs]
			}
		}
		if p.alpha != 1 {
			for t := range row {
				row[t] *= p.alpha
			}
		}
	}
}

// packB packs columns [j0, j1) of B, inner indices [l, l+kb), as panels of nr columns, the
// last padded with zeros.
func (mk *micro[T]) packB(p *product[T], l, kb, j0, j1 int, dst []T) {
	n := j1 - j0
	if rest := n % mk.nr; rest > 0 {
		clear(dst[(n-rest)*kb : (n-rest+mk.nr)*kb])
	}
	if p.bcs == 1 {
		first := 0 // column that is left to Go
		for mk.panel != nil && n-first >= mk.nr {
			count := min(stripsAtOnce, (n-first)/mk.nr)
			for t := 0; t < kb; t += mk.kc {
				mk.panel(&dst[first*kb+t*mk.nr], &p.b[(l+t)*p.brs+j0+first], min(mk.kc, kb-t), p.brs*mk.size, count, mk.nr*kb*mk.size)
			}
			first += count * mk.nr
		}
		if first == n {
			return
		}
		for t := range kb {
			row := p.b[(l+t)*p.brs+j0:][:n]
			for j := first; j < n; j += mk.nr {
				copy(dst[j*kb+t*mk.nr:][:mk.nr], row[j:])
			}
		}
		return
	}
	for j := range n {
		from := p.b[l*p.brs+(j0+j)*p.bcs:]
		at := j / mk.nr * mk.nr * kb
		panel := dst[at+j%mk.nr:]
		for t := range kb {
			panel[t*mk.nr] = from[t*p.brs]
		}
	}
}
