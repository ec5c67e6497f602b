package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sides adds up numbers c by the side of a number u on which those of z are: for dims rows of z, ldz bytes
// apart, each with a u of its own, the sums of c where z < u and where z > u. Sums are in 16 lanes, each
// in the order of the numbers; n is a multiple of 16.
func sides(level string, dims int) {
	s := newISA(level, 4)
	const lanes = 16
	vectors := lanes / s.lanes()
	s.define("sides", "func(n int, c, z *T, ldz int, u, below, above *T)",
		"adds up c by the side of u on which z is; gen describes its arguments.")
	n, c, ldz, u := Load(Param("n"), GP64()), Load(Param("c"), GP64()), Load(Param("ldz"), GP64()), Load(Param("u"), GP64())
	z := make([]reg.Register, dims)
	z[0] = Load(Param("z"), GP64())
	for k := 1; k < dims; k++ {
		z[k] = GP64()
		MOVQ(z[k-1], z[k])
		ADDQ(ldz, z[k])
	}
	at := s.vectors(dims)
	for k := range at {
		s.broadcast(operand.Mem{Base: u, Disp: 4 * k}, at[k])
	}
	below, above := s.vectors(dims*vectors), s.vectors(dims*vectors)
	for i := range below {
		s.zero(below[i])
		s.zero(above[i])
	}
	const greater, less = 0x1e, 0x11 // ordered, without exceptions
	add := func(side uint8, number operand.Mem, from, v, to reg.VecVirtual) {
		if level == "avx512" {
			k := K()
			VCMPPS(operand.U8(side), number, from, k)
			VADDPS(v, to, k, to)
			return
		}
		mask := s.vector()
		VCMPPS(operand.U8(side), number, from, mask)
		VANDPS(v, mask, mask)
		VADDPS(mask, to, to)
	}
	v := s.vector()
	Label("loop")
	for i := range vectors {
		s.load(s.at(c, i), v)
		for k := range dims {
			add(greater, s.at(z[k], i), at[k], v, below[k*vectors+i])
			add(less, s.at(z[k], i), at[k], v, above[k*vectors+i])
		}
	}
	ADDQ(operand.U8(4*lanes), c)
	for k := range dims {
		ADDQ(operand.U8(4*lanes), z[k])
	}
	SUBQ(operand.U8(lanes), n)
	JNZ(operand.LabelRef("loop"))
	for side, name := range []string{"below", "above"} {
		to := Load(Param(name), GP64())
		for i, v := range [][]reg.VecVirtual{below, above}[side] {
			s.store(v, s.at(to, i))
		}
	}
	VZEROUPPER()
	RET()
}

func allSides() {
	sides("avx512", 4)
	sides("avx2", 2)
}
