package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// survey goes down a vector's worth of columns of float32, rows stride bytes apart, and adds to
// what is known of them: sums and squares (of differences from shift, in float64), least and
// greatest, and how many are not 0 and how many are not whole. A square is rounded before it is
// added, as Go's are.
func survey(level string) {
	s, wide := newISA(level, 4), newISA(level, 8)
	s.define("survey", "func(rows int, x *T, stride int, shift, sum, square *float64, least, greatest *T, nonZero, fractions *int32)",
		"adds rows to what is known of a vector's worth of columns; gen describes its arguments.")
	rows, x, stride := Load(Param("rows"), GP64()), Load(Param("x"), GP64()), Load(Param("stride"), GP64())
	next := GP64()
	IMUL3Q(operand.I8(40), stride, next)
	ADDQ(x, next)
	pointer := func(name string) reg.Register { return Load(Param(name), GP64()) }
	shift, sums, squares := pointer("shift"), pointer("sum"), pointer("square")
	leasts, greatests, nonZeros, fractions := pointer("least"), pointer("greatest"), pointer("nonZero"), pointer("fractions")

	sum, square := wide.vectors(2), wide.vectors(2)
	for i := range 2 {
		wide.load(wide.at(sums, i), sum[i])
		wide.load(wide.at(squares, i), square[i])
	}
	known := s.vectors(4)
	least, greatest, nonZero, fraction := known[0], known[1], known[2], known[3]
	for i, p := range []reg.Register{leasts, greatests, nonZeros, fractions} {
		s.load(s.at(p, 0), known[i])
	}
	v, whole, zero, difference := s.vector(), s.vector(), s.vector(), wide.vector()
	s.zero(zero)
	const notEqual, towardsZero = 4, 3
	count := func(a, b, to reg.VecVirtual) { VCMPPS(operand.U8(notEqual), a, b, whole); VPSUBD(whole, to, to) }
	round := func() { VROUNDPS(operand.U8(towardsZero), v, whole) }
	if level == "avx512" {
		one, bits, k := s.vector(), GP32(), K()
		MOVL(operand.U32(1), bits)
		VPBROADCASTD(bits, one)
		count = func(a, b, to reg.VecVirtual) { VCMPPS(operand.U8(notEqual), a, b, k); VPADDD(one, to, k, to) }
		round = func() { VRNDSCALEPS(operand.U8(towardsZero), v, whole) }
	}
	Label("loop")
	PREFETCHT1(operand.Mem{Base: next})
	s.load(s.at(x, 0), v)
	for i := range 2 {
		VCVTPS2PD(operand.Mem{Base: x, Disp: i * s.bytes / 2}, difference)
		wide.sub(wide.at(shift, i), difference, difference)
		wide.add(difference, sum[i], sum[i])
		wide.mul(difference, difference, difference)
		wide.add(difference, square[i], square[i])
	}
	s.min(least, v, least) // of equal numbers, as 0 and -0 are, the one that is known
	s.max(greatest, v, greatest)
	round()
	count(v, whole, fraction)
	count(v, zero, nonZero)
	ADDQ(stride, x)
	ADDQ(stride, next)
	DECQ(rows)
	JNZ(operand.LabelRef("loop"))
	for i := range 2 {
		wide.store(sum[i], wide.at(sums, i))
		wide.store(square[i], wide.at(squares, i))
	}
	for i, p := range []reg.Register{leasts, greatests, nonZeros, fractions} {
		s.store(known[i], s.at(p, 0))
	}
	VZEROUPPER()
	RET()
}

func surveys() {
	survey("avx512")
	survey("avx2")
}
