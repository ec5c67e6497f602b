package vec

import (
	"fmt"
	"unsafe"
)

// Products with the structured random matrices of random features. Both stack blocks of order
// n, the power of two at or above the width of the data, to m rows in all:
//
//	sorf      S·H·D_k⋯H·D_1   (Yu, Suresh, Choromanski, Holtmann-Rice, Kumar 2016)
//	fastfood  S·H·G·Π·H·B     (Le, Sarlós, Smola 2013)
//
// The diagonals are vectors, and their products are done in the adjacent pass
// over memory, as is the permutation. Blocks of up to a few hundred numbers stay
// in registers throughout.
//
// If D_i and B hold signs, ±1, every instruction level gives the same bits. For other
// values they may differ in the last place, since some fuse the product with an addition.

// HD32 computes the rows dst_r = V·src_r for V of m rows, in blocks
//
//	V_b = S_b·H·D_kb⋯H·D_1b,  b = 0 … m/n-1,
//
// of order n. src has width ≤ n columns, padded with zeros to n. d holds D_1, D_2, … one
// after another, m numbers each, and s holds S. Rows of src are lds apart, those of dst ldd.
// The cost is k·log₂n additions for an element of dst; the diagonals are read once for each
// row, block by block, so that several rows at a time cost less than one by one.
//
// It panics unless n is a power of two up to 2^20, m a multiple of n, len(d) a multiple of m
// and not 0, len(s) = m, and src and dst hold the rows. dst must not overlap src.
func HD32(rows, n, m, width int, d, s []float32, src []float32, lds int, dst []float32, ldd int) {
	chains(rows, n, m, width, d, s, src, lds, dst, ldd)
}

// HD64 is HD32 in float64.
func HD64(rows, n, m, width int, d, s []float64, src []float64, lds int, dst []float64, ldd int) {
	chains(rows, n, m, width, d, s, src, lds, dst, ldd)
}

// Fastfood32 computes the rows dst_r = V·src_r for V of m rows, in blocks
//
//	V_c = S_c·H·G_c·Π_c·H·B_c,  c = 0 … m/n-1,
//
// of order n. src has width ≤ n columns, padded with zeros to n. b, g and s hold the
// diagonals and p the permutations, (Π·x)_i = x[p_i], of all blocks, m numbers each; p is
// taken modulo n. work is scratch of FastfoodWork(n) numbers. The cost is 2·log₂n additions
// and one random access for an element of dst.
//
// It panics unless n is a power of two up to 2^20, m a multiple of n, b, p, g and s have m
// elements, work is long enough, and src and dst hold the rows. Neither dst nor work may
// overlap any other.
func Fastfood32(rows, n, m, width int, b []float32, p []int32, g, s []float32, src []float32, lds int, dst []float32,
	ldd int, work []float32) {
	mustBeFastfood(rows, n, m, width, b, p, g, s, src, lds, dst, ldd, work)
	quads := fastfoodQuads(rows, n, m, width, b, p, g, s, src, lds, dst, ldd, work)
	if quads < rows {
		fastfood(rows-quads, n, m, width, b, p, g, s, src[quads*lds:], lds, dst[quads*ldd:], ldd, work)
	}
}

// Fastfood64 is Fastfood32 in float64.
func Fastfood64(rows, n, m, width int, b []float64, p []int32, g, s []float64, src []float64, lds int, dst []float64,
	ldd int, work []float64) {
	mustBeFastfood(rows, n, m, width, b, p, g, s, src, lds, dst, ldd, work)
	fastfood(rows, n, m, width, b, p, g, s, src, lds, dst, ldd, work)
}

// FastfoodWork is the length of the scratch for a product of order n.
func FastfoodWork(n int) int { return max(12*n, 2*hadamardBlock) }

func mustBeBlocks[T float32 | float64](rows, n, m, width int, src []T, lds int, dst []T, ldd int) {
	mustBeOrder(n)
	if m < 0 || m%n != 0 || width < 0 || width > n {
		panic(fmt.Sprintf("vec: %d rows in blocks of order %d for %d columns", m, n, width))
	}
	mustHold("src", len(src), rows, width, lds)
	mustHold("dst", len(dst), rows, m, ldd)
}

func mustHave(name string, length, want int) {
	if length != want {
		panic(fmt.Sprintf("vec: %s has %d elements, not %d", name, length, want))
	}
}

func chains[T float32 | float64](rows, n, m, width int, d, s []T, src []T, lds int, dst []T, ldd int) {
	mustBeBlocks(rows, n, m, width, src, lds, dst, ldd)
	if m == 0 {
		return
	}
	rounds := max(1, len(d)/m)
	mustHave("d", len(d), rounds*m)
	mustHave("s", len(s), m)
	if block, _ := hadamardShape[T](); n <= block {
		for i := range rows {
			var padded [hadamardBlock]T
			x := repeated(&padded, src[i*lds:i*lds+width], n)
			smallChains(n, m, rounds, d, m, s, x, 0, dst[i*ldd:i*ldd+m])
		}
		return
	}
	for b := 0; b < m; b += n {
		for i := 0; i < rows; i += chainRows {
			var tile [chainRows]round[T]
			some := tile[:min(chainRows, rows-i)]
			for j := range some {
				some[j].dst = dst[(i+j)*ldd+b : (i+j)*ldd+b+n]
				some[j].src = src[(i+j)*lds : (i+j)*lds+width]
			}
			for k := range rounds {
				var scale []T
				if k == rounds-1 {
					scale = s[b : b+n]
				}
				runAll(some, d[k*m+b:k*m+b+n], scale)
			}
		}
	}
}

// chainRows is how many rows are processed alternately.
const chainRows = 4

// runAll does a round with d and s for each row, and makes dst the source of the next round.
func runAll[T float32 | float64](rows []round[T], d, s []T) {
	n := len(d)
	turns := n*int(unsafe.Sizeof(T(0))) <= hadamardCache
	for i := range rows {
		r := &rows[i]
		r.d, r.s = d, s
		if turns {
			r.first(0, n)
		} else {
			r.run(0, n)
		}
	}
	for i := range rows {
		r := &rows[i]
		if turns {
			r.later(0, n, n)
		}
		r.src = r.dst
	}
}

// repeated is x padded with zeros to n, and repeated to the length of a vector: a slice of
// padded, unless x already has that form.
func repeated[T float32 | float64](padded *[hadamardBlock]T, x []T, n int) []T {
	lanes := hadamardLanes[T]()
	if len(x) == n && n >= lanes {
		return x
	}
	for i := 0; i < max(n, lanes); i += n {
		copy(padded[i:], x)
	}
	return padded[:max(n, lanes)]
}

// smallChains is y = s∘H(d_k∘…H(d_1∘x)) for blocks of n numbers that fit the registers, m
// numbers in all; d_i are stride apart. The blocks share x, or have their own if step = n.
func smallChains[T float32 | float64](n, m, rounds int, d []T, stride int, s, x []T, step int, y []T) {
	unit := max(n, hadamardLanes[T]())
	whole := m / unit * unit
	if n == 1 {
		whole = 0
	}
	for lo := 0; lo < whole; lo += hadamardCall {
		hi := min(lo+hadamardCall, whole)
		hadamardChain(y[lo:hi], x[lo/n*step:], d[lo:], s[lo:hi], n, rounds, stride, step*(unit/n), (hi-lo)/unit)
	}
	if whole < m {
		portableChain(y[whole:], x[step*(whole/n):], d[whole:], s[whole:], n, rounds, stride, step, (m-whole)/n)
	}
}

func mustBeFastfood[T float32 | float64](rows, n, m, width int, b []T, p []int32, g, s []T, src []T, lds int, dst []T, ldd int, work []T) {
	mustBeBlocks(rows, n, m, width, src, lds, dst, ldd)
	mustHave("b", len(b), m)
	mustHave("p", len(p), m)
	mustHave("g", len(g), m)
	mustHave("s", len(s), m)
	if len(work) < FastfoodWork(n) {
		panic(fmt.Sprintf("vec: %d numbers of scratch, not %d", len(work), FastfoodWork(n)))
	}
}

func fastfood[T float32 | float64](rows, n, m, width int, b []T, p []int32, g, s []T, src []T, lds int, dst []T, ldd int, work []T) {
	if block, _ := hadamardShape[T](); n <= block {
		for i := range rows {
			var padded [hadamardBlock]T
			x := repeated(&padded, src[i*lds:i*lds+width], n)
			smallFastfood(n, b, p, g, s, x, dst[i*ldd:i*ldd+m], work)
		}
		return
	}
	work = work[:n]
	for c := 0; c < m; c += n {
		for i := range rows {
			r := round[T]{dst: work, src: src[i*lds : i*lds+width], d: b[c : c+n]}
			r.run(0, n)
			r = round[T]{dst: dst[i*ldd+c : i*ldd+c+n], src: work, p: p[c : c+n], d: g[c : c+n], s: s[c : c+n]}
			r.run(0, n)
		}
	}
}

// smallFastfood is y = V·x for blocks that fit the registers, as many at a time as fit the
// scratch.
func smallFastfood[T float32 | float64](n int, b []T, p []int32, g, s, x, y, work []T) {
	mixed, permuted := work[:hadamardBlock], work[hadamardBlock:2*hadamardBlock]
	var ones [hadamardBlock]T
	for i := range ones {
		ones[i] = 1
	}
	for lo := 0; lo < len(y); lo += hadamardBlock {
		hi := min(lo+hadamardBlock, len(y))
		smallChains(n, hi-lo, 1, b[lo:hi], 0, ones[:hi-lo], x, 0, mixed)
		hadamardPermute(permuted[:hi-lo], mixed[:hi-lo], p[lo:hi], n)
		smallChains(n, hi-lo, 1, g[lo:hi], 0, s[lo:hi], permuted, n, y[lo:hi])
	}
}
