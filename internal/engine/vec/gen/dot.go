package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Dot products and scaled sums. A dot product has 256 bytes of partial sums at every level,
// added up in the same order, so that all levels give the same bits.

const sums = 256 // bytes of partial sums

// product multiplies x and y into the partial sums, a vector of each.
type multiplier struct {
	s         isa // of the sums
	signature string
	name, doc string
	float     int // bytes of an element of x
	right     int // bytes of an element of y: as of x, or as of the sums
	load      func(m operand.Mem, v reg.VecVirtual)
}

func (p multiplier) write() {
	s := p.s
	count := sums / s.bytes
	s.define(p.name, p.signature, p.doc)
	x, y, n := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	acc := s.vectors(count)
	for _, v := range acc {
		s.zero(v)
	}
	step := s.bytes / s.float * p.float  // bytes of x for one vector of sums
	stepY := s.bytes / s.float * p.right // and of y
	block := func(vectors int) {
		a, b := s.vectors(2), s.vectors(2)
		for i := range vectors {
			at := operand.Mem{Base: x, Disp: i * step}
			bt := operand.Mem{Base: y, Disp: i * stepY}
			p.load(at, a[i%2])
			if p.right == s.float {
				s.fma231(bt, a[i%2], acc[i])
				continue
			}
			p.load(bt, b[i%2])
			s.fma231(b[i%2], a[i%2], acc[i])
		}
		ADDQ(operand.U32(vectors*step), x)
		ADDQ(operand.U32(vectors*stepY), y)
	}
	all, few := sums/s.float, 64/s.float // numbers of a turn
	SUBQ(operand.U32(all), n)
	JL(operand.LabelRef("few"))
	Label("loop")
	block(count)
	SUBQ(operand.U32(all), n)
	JGE(operand.LabelRef("loop"))
	Label("few")
	ADDQ(operand.U32(all-few), n)
	JL(operand.LabelRef("end"))
	Label("fewloop")
	block(64 / s.bytes)
	SUBQ(operand.U32(few), n)
	JGE(operand.LabelRef("fewloop"))
	Label("end")

	sum := s.total(acc)
	Store(sum, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// total adds up 256 bytes of partial sums, which are lost.
func (s isa) total(acc []reg.VecVirtual) reg.Register {
	// 256 bytes to 64, in pairs of 64.
	wide := 64 / s.bytes
	for width := len(acc) / 2; width >= wide; width /= 2 {
		for i := range width {
			half, at := i%wide, i/wide
			s.add(acc[(2*at+1)*wide+half], acc[2*at*wide+half], acc[i])
		}
	}
	low := YMM()
	if s.bytes == 64 {
		VEXTRACTF64X4(operand.U8(1), acc[0], low)
		s.add(low, acc[0].AsY(), low)
	} else {
		s.add(acc[1], acc[0], low)
	}
	quarter, sum := XMM(), low.AsX()
	VEXTRACTF128(operand.U8(1), low, quarter)
	s.add(quarter, sum, sum)
	VPERMILPD(operand.U8(1), sum, quarter)
	s.add(quarter, sum, sum)
	if s.float == 4 {
		VMOVSHDUP(sum, quarter)
		s.add(quarter, sum, sum)
	}
	return sum
}

// axpy writes y += alpha·x for n a multiple of 64 bytes of y.
func axpy(s isa, name string, float int, load func(m operand.Mem, v reg.VecVirtual), signature string) {
	s.define(name, signature, "adds alpha·x to y.")
	x, y, n := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	low, alpha := Load(Param("alpha"), XMM()), s.vector()
	s.broadcast(low, alpha)
	step := s.bytes / s.float * float
	block := func(vectors int) {
		v := s.vectors(vectors)
		for i := range v {
			load(operand.Mem{Base: x, Disp: i * step}, v[i])
			s.fma213(s.at(y, i), alpha, v[i])
			s.store(v[i], s.at(y, i))
		}
		ADDQ(operand.U32(vectors*step), x)
		ADDQ(operand.U32(vectors*s.bytes), y)
	}
	all, few := sums/s.float, 64/s.float
	SUBQ(operand.U32(all), n)
	JL(operand.LabelRef("few"))
	Label("loop")
	block(sums / s.bytes)
	SUBQ(operand.U32(all), n)
	JGE(operand.LabelRef("loop"))
	Label("few")
	ADDQ(operand.U32(all-few), n)
	JL(operand.LabelRef("end"))
	Label("fewloop")
	block(64 / s.bytes)
	SUBQ(operand.U32(few), n)
	JGE(operand.LabelRef("fewloop"))
	Label("end")
	VZEROUPPER()
	RET()
}

func dot() {
	widen := func(m operand.Mem, v reg.VecVirtual) { VCVTPS2PD(m, v) }
	everyISA(func(s isa) {
		plain := func(m operand.Mem, v reg.VecVirtual) { s.load(m, v) }
		multiplier{s, "func(x, y *T, n int) T", "dot", "is x·y for n a multiple of 64 bytes of x.", s.float, s.float, plain}.write()
		axpy(s, "axpy", s.float, plain, "func(alpha T, x, y *T, n int)")
		if s.float == 8 {
			fetch(s)
			multiplier{s, "func(x, y *float32, n int) T", "dotWide", "is x·y, summed in float64, for n a multiple of 8.", 4, 4, widen}.write()
			multiplier{s, "func(x *float32, y *T, n int) T", "dotMixed", "is x·y for n a multiple of 8.", 4, 8, widen}.write()
			axpy(s, "axpyWide", 4, widen, "func(alpha T, x *float32, y *T, n int)")
			subtractRows(s)
			divideAll(s)
		}
	})
}

// fetch asks for lines of 64 bytes to be brought into the second cache.
func fetch(s isa) {
	s.define("fetch", "func(x *T, lines int)", "asks for lines of 64 bytes to be brought into the second cache.")
	x, lines := Load(Param("x"), GP64()), Load(Param("lines"), GP64())
	Label("loop")
	PREFETCHT1(operand.Mem{Base: x})
	ADDQ(operand.U8(64), x)
	DECQ(lines)
	JNZ(operand.LabelRef("loop"))
	RET()
}

// subtractRows subtracts from y, of n elements, multiples of rows: for each element one chain of fused multiply-adds in
// the order of the rows, in a register.
func subtractRows(s isa) {
	s.define("subtractRows", "func(rows int, alpha *T, stride int, x *T, ldx int, y *T, n int)",
		"subtracts from y the rows of x, ldx bytes apart, each times its alpha, stride bytes apart.")
	rows, alpha, stride := Load(Param("rows"), GP64()), Load(Param("alpha"), GP64()), Load(Param("stride"), GP64())
	x, ldx := Load(Param("x"), GP64()), Load(Param("ldx"), GP64())
	y, n := Load(Param("y"), GP64()), Load(Param("n"), GP64())
	a, from, left := GP64(), GP64(), GP64()
	// block does some elements, as many as load, fnma and store are for in all, and goes on until fewer are left.
	block := func(label string, elements int, begin, row, end func(), next string) {
		Label(label)
		CMPQ(n, operand.U32(elements))
		JL(operand.LabelRef(next))
		begin()
		MOVQ(alpha, a)
		MOVQ(x, from)
		MOVQ(rows, left)
		Label(label + "rows")
		row()
		ADDQ(stride, a)
		ADDQ(ldx, from)
		DECQ(left)
		JNZ(operand.LabelRef(label + "rows"))
		end()
		ADDQ(operand.U32(elements*s.float), x)
		ADDQ(operand.U32(elements*s.float), y)
		SUBQ(operand.U32(elements), n)
		JMP(operand.LabelRef(label))
	}
	vectors := func(label string, count int, next string) {
		sum, factor := s.vectors(count), s.vector()
		block(label, count*s.lanes(), func() {
			for i, v := range sum {
				s.load(s.at(y, i), v)
			}
		}, func() {
			s.broadcast(operand.Mem{Base: a}, factor)
			for i, v := range sum {
				s.fnma231(s.at(from, i), factor, v)
			}
		}, func() {
			for i, v := range sum {
				s.store(v, s.at(y, i))
			}
		}, next)
	}
	vectors("many", 8, "few")
	vectors("few", 1, "one")
	sum, factor := XMM(), XMM()
	block("one", 1, func() { VMOVSD(operand.Mem{Base: y}, sum) }, func() {
		VMOVSD(operand.Mem{Base: a}, factor)
		VFNMADD231SD(operand.Mem{Base: from}, factor, sum)
	}, func() { VMOVSD(sum, operand.Mem{Base: y}) }, "end")
	Label("end")
	VZEROUPPER()
	RET()
}

// divideAll divides x, of n elements, a multiple of 64 bytes, by d.
func divideAll(s isa) {
	s.define("divide", "func(d T, x *T, n int)", "divides x by d for n a multiple of 8.")
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
	d := s.vector()
	s.broadcast(Load(Param("d"), XMM()), d)
	v := s.vector()
	Label("loop")
	for i := range 64 / s.bytes {
		s.load(s.at(x, i), v)
		s.div(d, v, v)
		s.store(v, s.at(x, i))
	}
	ADDQ(operand.U32(64), x)
	SUBQ(operand.U32(8), n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}
