package vec

import (
	"fmt"
	"unsafe"
)

// The Walsh-Hadamard transform H·x, with H the Sylvester-Hadamard matrix of order n = 2^k in
// its natural order: H_ij = (-1)^popcount(i & j), symmetric, H·H = n·I, no factor in front.
//
// It is k stages of butterflies (a, b) → (a+b, a-b) between numbers 1, 2, 4, …, n/2 apart,
// and every level of instructions takes the stages in this order: an element is the same
// tree of sums everywhere, to the bit. Levels differ in how many stages are done in
// registers between a load and a store:
//
//	a first pass takes the stages within blocks of consecutive numbers,
//	later passes take the stages between radix rows of numbers.
//
// A transform that exceeds the L1 cache is radix smaller ones and one pass between them.

// hadamardLimit is the largest order.
const hadamardLimit = 1 << 20

// hadamardCache is the bytes of the largest transform whose passes process all of it, one
// after another: with its operands it fits the L1 cache.
const hadamardCache = 16 << 10

// hadamardTile is the numbers in rows that are processed alternately, so that a pass over one does not
// wait for the previous pass.
const hadamardTile = 4096

// hadamardCall is about how many numbers a call of assembly handles, which cannot be
// preempted: a few microseconds, or tens if they come from memory.
const hadamardCall = 1 << 14

// Hadamard32 replaces x by H·x in n·log₂n additions, n = len(x). It panics unless n is a
// power of two up to 2^20.
func Hadamard32(x []float32) { hadamardBatch(1, len(x), x, len(x)) }

// Hadamard64 is Hadamard32 in float64.
func Hadamard64(x []float64) { hadamardBatch(1, len(x), x, len(x)) }

// HadamardRows32 replaces every row of x by H times it, for rows of n numbers ldx apart. It
// panics unless n is a power of two up to 2^20, ldx ≥ n and x holds the rows.
func HadamardRows32(rows, n int, x []float32, ldx int) { hadamardBatch(rows, n, x, ldx) }

// HadamardRows64 is HadamardRows32 in float64.
func HadamardRows64(rows, n int, x []float64, ldx int) { hadamardBatch(rows, n, x, ldx) }

func hadamardBatch[T float32 | float64](rows, n int, x []T, ldx int) {
	mustBeOrder(n)
	mustHold("x", len(x), rows, n, ldx)
	if n == 1 {
		return
	}
	if block, _ := hadamardShape[T](); n <= block {
		hadamardSmall(rows, n, x, ldx)
		return
	}
	if tile := hadamardTile / n; ldx == n && tile > 1 {
		for ; rows >= tile; rows -= tile {
			r := round[T]{dst: x[:tile*n]}
			r.first(0, tile*n)
			r.later(0, tile*n, n)
			x = x[tile*n:]
		}
	}
	for i := range rows {
		r := round[T]{dst: x[i*ldx : i*ldx+n]}
		r.run(0, n)
	}
}

// hadamardSmall transforms rows that stay in registers.
func hadamardSmall[T float32 | float64](rows, n int, x []T, ldx int) {
	for step := hadamardCall / n; rows > 0; rows -= step {
		some := min(rows, step)
		hadamardRows(x[:(some-1)*ldx+n], n, ldx, some)
		if some < rows {
			x = x[some*ldx:]
		}
	}
}

func mustBeOrder(n int) {
	if n < 1 || n > hadamardLimit || n&(n-1) != 0 {
		panic(fmt.Sprintf("vec: a Hadamard matrix of order %d, not a power of two up to 2^20", n))
	}
}

func mustHold(name string, length, rows, n, ld int) {
	if rows < 0 || ld < n || rows > 0 && length < (rows-1)*ld+n {
		panic(fmt.Sprintf("vec: %s has %d numbers, not %d rows of %d with stride %d", name, length, rows, n, ld))
	}
}

// round is dst = s∘H(d∘x) for a transform longer than a block, where x_i is src[p_i mod n],
// or without p src_i, padded with zeros, or without d the contents of dst. s may be nil.
type round[T float32 | float64] struct {
	dst, src []T
	p        []int32
	d, s     []T
	quads    bool // four rows side by side, in dst and src
}

// run does all stages within dst[lo:hi], and the product with s if that is all of dst.
func (r *round[T]) run(lo, hi int) {
	n := hi - lo
	if bytes := n * int(unsafe.Sizeof(T(0))); bytes > hadamardCache {
		_, radix := hadamardShape[T]()
		radix = min(radix, bytes/hadamardCache, 8)
		for i := range radix {
			r.run(lo+i*(n/radix), lo+(i+1)*(n/radix))
		}
		r.pass(lo, hi, radix, n/radix)
		return
	}
	r.first(lo, hi)
	r.later(lo, hi, n)
}

// later does the stages between blocks, in each n of dst[lo:hi].
func (r *round[T]) later(lo, hi, n int) {
	block, most := hadamardShape[T]()
	for h := block; h < n; {
		radix := min(most, n/h)
		if n/h > most && n/h < most*most {
			radix = most / 2
		}
		r.pass(lo, hi, radix, h)
		h *= radix
	}
}

// first does the stages within blocks.
func (r *round[T]) first(lo, hi int) {
	block, _ := hadamardShape[T]()
	switch {
	case r.quads && r.p != nil:
		quadsGather(r.dst[lo:hi], r.src, r.p[lo/4:hi/4], r.d[lo/4:hi/4])
	case r.quads:
		quadsFirst(r.dst[lo:hi], r.src[lo:hi], r.d[lo/4:hi/4])
	case r.d == nil:
		hadamardRows(r.dst[lo:hi], block, block, (hi-lo)/block)
	case r.p != nil:
		hadamardGather(r.dst[lo:hi], r.src, r.p[lo:hi], r.d[lo:hi])
	default:
		whole := min(max(lo, len(r.src)/block*block), hi)
		if whole > lo {
			hadamardFirst(r.dst[lo:whole], r.src[lo:whole], r.d[lo:whole])
		}
		if whole < min(hi, len(r.src)) {
			var padded [hadamardBlock]T
			copy(padded[:], r.src[whole:])
			hadamardFirst(r.dst[whole:whole+block], padded[:block], r.d[whole:whole+block])
			whole += block
		}
		clear(r.dst[whole:hi])
	}
}

// hadamardBlock is the largest block of any level.
const hadamardBlock = 256

// pass does the log₂ radix stages from h on: butterflies between rows h apart.
func (r *round[T]) pass(lo, hi, radix, h int) {
	n := hi - lo
	x := r.dst[lo:hi]
	last := r.s != nil && radix*h == len(r.dst)
	if n <= hadamardCall && !last {
		hadamardRadix(x, radix, h, h, n/(radix*h))
		return
	}
	columns := min(h, max(hadamardCall/radix, 64))
	for j := 0; j < n; j += radix * h {
		for c := 0; c < h; c += columns {
			if last {
				hadamardScaled(x[j+c:j+c+(radix-1)*h+columns], r.s[j+c:j+c+(radix-1)*h+columns], radix, h, columns)
				continue
			}
			hadamardRadix(x[j+c:j+c+(radix-1)*h+columns], radix, h, columns, 1)
		}
	}
}
