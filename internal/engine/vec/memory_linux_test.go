package vec

import (
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas"

	"mercer/internal/engine/freelist"
)

// border is memory between two pages that may not be touched.
type border[T float32 | float64 | int32] struct{ all []T }

func newBorder[T float32 | float64](t *testing.T, bytes int) border[T] {
	page := os.Getpagesize()
	n := (bytes + page - 1) / page * page / int(unsafe.Sizeof(T(0)))
	return border[T]{fenced(t, numbers[T](rand.New(rand.NewPCG(40, 1)), n), true)}
}

// slice is n numbers that begin or end at one of the pages.
func (b border[T]) slice(n int, atEnd bool) []T {
	if atEnd {
		return b.all[len(b.all)-n:]
	}
	return b.all[:n:n]
}

// matrix is as many numbers as rows×cols take with a stride: none behind the last row.
func (b border[T]) matrix(rows, cols, stride int, atEnd bool) []T {
	if rows == 0 || cols == 0 {
		return nil
	}
	return b.slice((rows-1)*stride+cols, atEnd)
}

// edges are m, n and k: each of them all small numbers and those around the blocks, with
// small numbers for the others.
func edges() [][3]int {
	r := rand.New(rand.NewPCG(41, 1))
	var all [][3]int
	for d := range 3 {
		add := func(size int) {
			s := [3]int{1 + r.IntN(40), 1 + r.IntN(40), 1 + r.IntN(40)}
			s[d] = size
			all = append(all, s)
		}
		for size := range 71 {
			add(size)
		}
		for _, size := range []int{415, 416, 417, 447, 448, 449, 831, 832, 833, 897} {
			add(size)
		}
	}
	// Several goroutines; rows of A that are copied, being 4 KB apart with a pad of 3 or 4.
	return append(all, [3]int{530, 449, 33}, [3]int{40, 300, 1021}, [3]int{40, 300, 509}, [3]int{40, 150, 1664},
		[3]int{1, 10, 2300}, [3]int{1, 40, 2800}) // blocks of a row side by side
}

// withinBorders calls f at every level, for edges at both ends. pad is what strides exceed
// the width by. The kernels in Go are slow, and a few edges have to do for them.
func withinBorders(t *testing.T, f func(m, n, k, pad int, atEnd bool)) {
	everyLevel(t, func(t *testing.T) {
		for i, s := range edges() {
			if level == generic && i%7 > 0 {
				continue
			}
			for _, atEnd := range []bool{false, true} {
				f(s[0], s[1], s[2], i%2*3, atEnd)
			}
		}
	})
}

// Not even a read goes beside a slice: it would end the test.
func TestProductsStayWithinTheirSlices(t *testing.T) {
	a32, b32, c32 := newBorder[float32](t, 8<<20), newBorder[float32](t, 8<<20), newBorder[float32](t, 8<<20)
	a64, b64, c64 := newBorder[float64](t, 8<<20), newBorder[float64](t, 8<<20), newBorder[float64](t, 8<<20)
	withinBorders(t, func(m, n, k, pad int, end bool) {
		Gemm32(m, n, k, a32.matrix(m, k, k+pad, end), k+pad, b32.matrix(k, n, n+pad, end), n+pad, c32.matrix(m, n, n+pad, end), n+pad)
		GemmAddTN(m, n, k, a64.matrix(k, m, m+pad, end), m+pad, b64.matrix(k, n, n+pad, end), n+pad, c64.matrix(m, n, n+pad, end), n+pad)
		GemmNT(m, n, k, a64.matrix(m, k, k+pad, end), k+pad, b64.matrix(n, k, k+pad, end), k+pad, c64.matrix(m, n, n+pad, end), n+pad)
		SyrkAdd(n, k, a64.matrix(k, n, n+pad, end), n+pad, c64.matrix(n, n, n+pad, end), n+pad)
		SyrkAddWide(n, k, a32.matrix(k, n, n+pad, end), n+pad, c64.matrix(n, n, n+pad, end), n+pad)
		GemmAddTNWide(m, min(n, 20), k, a32.matrix(k, m, m+pad, end), m+pad, b64.matrix(k, min(n, 20), n+pad, end), n+pad,
			c64.matrix(m, n, n+pad, end), n+pad)
	})
}

func TestPackedProductsStayWithinTheirSlices(t *testing.T) {
	t.Run("float32", func(t *testing.T) { packedWithinBorders(t, Pack32) })
	t.Run("float64", func(t *testing.T) { packedWithinBorders(t, Pack64) })
	t.Run("transposed", func(t *testing.T) {
		b := newBorder[float64](t, 4<<20)
		withinBorders(t, func(_, n, k, pad int, end bool) { PackT64(n, k, b.matrix(n, k, k+pad, end), k+pad) })
	})
}

func packedWithinBorders[T float32 | float64](t *testing.T, pack func(k, n int, b []T, ldb int) *Packed[T]) {
	a, b, c, panels := newBorder[T](t, 4<<20), newBorder[T](t, 4<<20), newBorder[T](t, 4<<20), newBorder[T](t, 4<<20)
	idx := border[int32]{fenced(t, make([]int32, 1024), true)}
	withinBorders(t, func(m, n, k, pad int, end bool) {
		p := pack(k, n, b.matrix(k, n, n+pad, end), n+pad)
		packed := panels.slice(len(p.panels), end)
		copy(packed, p.panels)
		p.panels = packed
		p.Multiply(m, a.matrix(m, k, k+pad, end), k+pad, c.matrix(m, n, n+pad, end), n+pad, nil)
		if k == 0 {
			m = 0
		}
		at := idx.slice(m, end)
		for t := range at {
			at[t] = int32(t * 7 % k)
			if t == 0 || t == m-1 {
				at[t] = int32(k - 1)
			}
		}
		p.MultiplySparse([]int{0, m}, at, a.slice(m, end), c.slice(n, end), n, nil) // a row with all elements
		ptr := make([]int, m+1)
		for t := range ptr {
			ptr[t] = t
		}
		p.MultiplySparse(ptr, at, a.slice(m, end), c.matrix(m, n, n+pad, end), n+pad, nil) // rows of one
		zeros := a.matrix(m, k, k+pad, end)
		clear(zeros)
		p.Multiply(m, zeros, k+pad, c.matrix(m, n, n+pad, end), n+pad, nil)
	})
}

// The memory of goroutines is between borders too.
func TestProductsStayWithinTheirPanels(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		panelsBetweenBorders(t, micro32)
		panelsBetweenBorders(t, micro64)
	})
}

func panelsBetweenBorders[T float32 | float64](t *testing.T, mk *micro[T]) {
	r := rand.New(rand.NewPCG(42, 1))
	for _, atEnd := range []bool{false, true} {
		for _, s := range [][3]int{{mk.mr + 1, mk.nc + 1, mk.kc}, {2*mk.mr + 1, mk.nr + 1, 2 * mk.kc}, {mk.mr - 1, mk.nr - 1, mk.kc}} {
			m, n, k := s[0], s[1], s[2]
			for _, transposed := range []bool{false, true} {
				mk.free, mk.buffers = freelist.List[panels[T]]{Most: 1}, freelist.Slices[T]{Most: 1, Make: aligned[T]}
				w := mk.get()
				mk.put(&panels[T]{a: fenced(t, w.a, atEnd), b: fenced(t, w.b, atEnd), tile: fenced(t, w.tile, atEnd)})
				mk.buffers.Put(fenced(t, make([]T, m/mk.mr*mk.mr*mk.kc+1), atEnd)[1:])
				p := product[T]{m: m, n: n, k: k, alpha: 2, a: numbers[T](r, m*k), ars: k, acs: 1, b: numbers[T](r, k*n),
					brs: n, bcs: 1, c: make([]T, m*n), ldc: n}
				if transposed {
					p.ars, p.acs = 1, m
				}
				mk.multiply(p)
			}
		}
	}
	chooseKernels()
}

func TestLevel3StaysWithinItsSlices(t *testing.T) {
	t.Run("float32", func(t *testing.T) { level3WithinBorders(t, ours32) })
	t.Run("float64", func(t *testing.T) { level3WithinBorders(t, ours64) })
}

func level3WithinBorders[T float32 | float64](t *testing.T, l level3[T]) {
	a, b, c := newBorder[T](t, 8<<20), newBorder[T](t, 8<<20), newBorder[T](t, 8<<20)
	withinBorders(t, func(m, n, k, pad int, end bool) {
		if m == 0 || n == 0 || k == 0 || m*n*k > 3e6 {
			return
		}
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			am, an := m, k
			if tA == blas.Trans {
				am, an = k, m
			}
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				bm, bn := k, n
				if tB == blas.Trans {
					bm, bn = n, k
				}
				l.gemm(tA, tB, m, n, k, 0.5, a.matrix(am, an, an+pad, end), an+pad, b.matrix(bm, bn, bn+pad, end), bn+pad,
					0.5, c.matrix(m, n, n+pad, end), n+pad)
			}
			for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
				x, y, cc := a.matrix(am, an, an+pad, end), b.matrix(am, an, an+pad, end), c.matrix(m, m, m+pad, end)
				l.syrk(ul, tA, m, k, 0.5, x, an+pad, 0.5, cc, m+pad)
				l.syr2k(ul, tA, m, k, 0.5, x, an+pad, y, an+pad, 0.5, cc, m+pad)
				if m > 200 || n > 200 {
					continue
				}
				for side, order := range map[blas.Side]int{blas.Left: m, blas.Right: n} {
					x, y, cc := a.matrix(order, order, order+pad, end), b.matrix(m, n, n+pad, end), c.matrix(m, n, n+pad, end)
					if tA == blas.NoTrans {
						l.symm(side, ul, m, n, 0.5, x, order+pad, y, n+pad, 0.5, cc, n+pad)
					}
					clear(cc) // what a random triangular system does to numbers is of no interest
					l.trmm(side, ul, tA, blas.NonUnit, m, n, 0.5, x, order+pad, cc, n+pad)
					l.trsm(side, ul, tA, blas.Unit, m, n, 0.5, x, order+pad, cc, n+pad)
				}
			}
		}
	})
}
