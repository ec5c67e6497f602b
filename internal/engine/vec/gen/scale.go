package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// toSingle is a function that rounds a vector of float64 to float32 and stores it.
func toSingle(s isa) func(v reg.VecVirtual, to operand.Mem) {
	if s.bytes == 64 {
		half := YMM()
		return func(v reg.VecVirtual, to operand.Mem) {
			VCVTPD2PS(v, half)
			VMOVUPS(half, to)
		}
	}
	half := XMM()
	return func(v reg.VecVirtual, to operand.Mem) {
		VCVTPD2PSY(v, half)
		VMOVUPS(half, to)
	}
}

// rescale writes (x - shift)·factor of n numbers, a multiple of twice the lanes, computed in float64 and rounded to float32;
// without a shift, x·factor.
func rescale(s isa, name string, shifted bool) {
	s.define(name, "func(n int, dst, x *float32, shift, factor *T)", "scales numbers; gen describes its arguments.")
	n, dst, x, factor := Load(Param("n"), GP64()), Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("factor"), GP64())
	var shift reg.Register
	if shifted {
		shift = Load(Param("shift"), GP64())
	}
	v, store := s.vectors(2), toSingle(s)
	Label("loop")
	for i := range v {
		VCVTPS2PD(operand.Mem{Base: x, Disp: i * s.bytes / 2}, v[i])
		if shifted {
			s.sub(s.at(shift, i), v[i], v[i])
		}
		s.mul(s.at(factor, i), v[i], v[i])
		store(v[i], operand.Mem{Base: dst, Disp: i * s.bytes / 2})
	}
	for _, p := range []reg.Register{x, dst} {
		ADDQ(operand.U8(s.bytes), p)
	}
	if shifted {
		ADDQ(operand.U32(2*s.bytes), shift)
	}
	ADDQ(operand.U32(2*s.bytes), factor)
	SUBQ(operand.U8(2*s.lanes()), n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// distances writes factor·max(0, norm + norms - 2s) over n numbers s, a multiple of twice the lanes.
func distances(s isa) {
	s.define("distances", "func(n int, s, norms *T, norm, factor T)", "turns products into distances; gen describes its arguments.")
	n, at, norms := Load(Param("n"), GP64()), Load(Param("s"), GP64()), Load(Param("norms"), GP64())
	norm, factor, zero := s.vector(), s.vector(), s.vector()
	s.broadcast(Load(Param("norm"), XMM()), norm)
	s.broadcast(Load(Param("factor"), XMM()), factor)
	s.zero(zero)
	v, t := s.vectors(2), s.vectors(2)
	Label("loop")
	for i := range v {
		s.add(s.at(norms, i), norm, v[i])
		s.load(s.at(at, i), t[i])
		s.add(t[i], t[i], t[i])
		s.sub(t[i], v[i], v[i])
		s.max(v[i], zero, v[i]) // the first operand where it is NaN
		s.mul(factor, v[i], v[i])
		s.store(v[i], s.at(at, i))
	}
	ADDQ(operand.U32(2*s.bytes), norms)
	ADDQ(operand.U32(2*s.bytes), at)
	SUBQ(operand.U8(2*s.lanes()), n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// round rounds n float64, a multiple of twice the lanes, to float32; those of less than least in absolute value become 0.
func round(s isa) {
	s.define("round", "func(n int, dst *float32, x *T, least T)", "rounds numbers to float32; gen describes its arguments.")
	n, dst, x := Load(Param("n"), GP64()), Load(Param("dst"), GP64()), Load(Param("x"), GP64())
	least, sign := s.vector(), wide(8, 1<<63-1)
	s.broadcast(Load(Param("least"), XMM()), least)
	v, size, store := s.vectors(2), s.vectors(2), toSingle(s)
	var large reg.OpmaskVirtual
	if s.bytes == 64 {
		large = K()
	}
	Label("loop")
	for i := range v {
		s.load(s.at(x, i), v[i])
		s.and(sign, v[i], size[i])
		if s.bytes == 64 {
			VCMPPD(operand.U8(notLess), least, size[i], large)
			VMOVAPD_Z(v[i], large, v[i])
		} else {
			VCMPPD(operand.U8(notLess), least, size[i], size[i])
			VANDPD(size[i], v[i], v[i])
		}
		store(v[i], operand.Mem{Base: dst, Disp: i * s.bytes / 2})
	}
	ADDQ(operand.U32(2*s.bytes), x)
	ADDQ(operand.U8(s.bytes), dst)
	SUBQ(operand.U8(2*s.lanes()), n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// notLess is the number of the comparison that also holds for what is no number.
const notLess = 0x15

// expand converts n float32, a multiple of twice the lanes, to float64.
func expand(s isa) {
	s.define("expand", "func(n int, dst *T, x *float32)", "converts numbers to float64; gen describes its arguments.")
	n, dst, x := Load(Param("n"), GP64()), Load(Param("dst"), GP64()), Load(Param("x"), GP64())
	v := s.vectors(2)
	Label("loop")
	for i := range v {
		VCVTPS2PD(operand.Mem{Base: x, Disp: i * s.bytes / 2}, v[i])
		s.store(v[i], s.at(dst, i))
	}
	ADDQ(operand.U32(2*s.bytes), dst)
	ADDQ(operand.U8(s.bytes), x)
	SUBQ(operand.U8(2*s.lanes()), n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// finite returns 0 if n numbers, a multiple of twice the lanes, are finite: v - v is then 0, and otherwise no number, which
// has other bits than 0.
func finite(s isa) {
	s.define("finite", "func(n int, x *T) int", "is 0 if all numbers are finite; gen describes its arguments.")
	n, x, found := Load(Param("n"), GP64()), Load(Param("x"), GP64()), GP64()
	XORQ(found, found)
	v, all := s.vectors(2), s.vectors(2)
	for _, a := range all {
		s.zero(a)
	}
	Label("loop")
	for i := range v {
		s.load(s.at(x, i), v[i])
		s.sub(v[i], v[i], v[i])
		s.or(v[i], all[i], all[i])
	}
	ADDQ(operand.U32(2*s.bytes), x)
	SUBQ(operand.U8(2*s.lanes()), n)
	JNZ(operand.LabelRef("loop"))
	s.or(all[0], all[1], all[1])
	if s.bytes == 64 {
		upper := YMM()
		VEXTRACTF64X4(operand.U8(1), all[1], upper)
		VORPS(all[1].AsY(), upper, upper)
		VPTEST(upper, upper)
	} else {
		VPTEST(all[1], all[1])
	}
	SETNE(found.As8())
	Store(found, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func scaling() {
	for _, level := range []string{"avx512", "avx2"} {
		wide := newISA(level, 8)
		rescale(wide, "shiftScale", true)
		rescale(wide, "scale", false)
		round(wide)
		expand(wide)
		distances(wide)
		finite(newISA(level, 4))
	}
}
