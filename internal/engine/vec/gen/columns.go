package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// columns multiplies two vectors' worth of columns of a matrix A of float32, rows lda bytes
// apart, with count columns of B, rows ldb bytes apart: element t, j of c is the sum over the
// rows of b's element t times a's element j, one chain of fused multiply-adds in the order of
// the rows. The sums stay in registers. A line of A is all that is read of a row. Rows are often a
// multiple of 4 KB apart, which the processor does not foresee, so lines are asked for some rows
// ahead; to the second cache, since the first has eight places for all of them.
func columns(s isa, count int) {
	const vectors, ahead = 2, 40
	s.define(fmt.Sprintf("columns%dx", count), "func(rows int, a *float32, lda int, b *T, ldb int, c *T)",
		fmt.Sprintf("multiplies %d columns of A with %d of B; gen describes its arguments.", vectors*s.lanes(), count))
	rows, a, lda := Load(Param("rows"), GP64()), Load(Param("a"), GP64()), Load(Param("lda"), GP64())
	b, ldb := Load(Param("b"), GP64()), Load(Param("ldb"), GP64())
	next, at := GP64(), GP64()
	IMUL3Q(operand.I8(ahead), lda, next)
	ADDQ(a, next)

	acc := s.vectors(vectors * count)
	for _, v := range acc {
		s.zero(v)
	}
	x, y := s.vectors(vectors), s.vector()
	Label("loop")
	PREFETCHT1(operand.Mem{Base: next})
	for i := range x {
		VCVTPS2PD(operand.Mem{Base: a, Disp: i * s.bytes / 2}, x[i])
	}
	for t := range count {
		s.broadcast(operand.Mem{Base: b, Disp: 8 * t}, y)
		for i := range x {
			s.fma231(x[i], y, acc[t*vectors+i])
		}
	}
	ADDQ(lda, a)
	ADDQ(lda, next)
	ADDQ(ldb, b)
	DECQ(rows)
	JNZ(operand.LabelRef("loop"))
	Load(Param("c"), at)
	for i, v := range acc {
		s.store(v, s.at(at, i))
	}
	VZEROUPPER()
	RET()
}

func wideColumns() {
	for _, level := range []string{"avx512", "avx2"} {
		s := newISA(level, 8)
		few, many := 2, 6
		if level == "avx512" {
			few, many = 4, 12
		}
		columns(s, few)
		columns(s, many)
	}
}
