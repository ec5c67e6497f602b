package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set for one kind of number: what is written once against it becomes
// a kernel for each. Operands are in Go's order: sources first, the destination last.
type isa struct {
	level string // avx2 or avx512
	bytes int    // of a vector
	float int    // bytes of a number: 4 or 8

	load, store        func(...operand.Op) // unaligned
	broadcast          func(...operand.Op) // of a number in memory
	add, sub, mul, div func(...operand.Op)
	min, max, sqrt     func(...operand.Op)

	// fma231: c += a·b as fma231(b, a, c); fma213: c = b·c + a as fma213(a, b, c);
	// fma132: c = a·c + b as fma132(a, b, c); fnma: minus the product; fms: minus the sum.
	fma231, fma213, fma132, fnma231, fnma213, fms231, fms213 func(...operand.Op)

	and, or, xor, andnot  func(...operand.Op) // of bits; andnot(a, b, c): c = a &^ b
	plus, minus           func(...operand.Op) // of integers as wide as a number
	shiftLeft, shiftRight func(...operand.Op) // by an immediate; to the right without sign
	unpackLow, unpackHigh func(...operand.Op)
}

func newISA(level string, float int) isa {
	s := isa{level: level, bytes: map[string]int{"avx2": 32, "avx512": 64}[level], float: float}
	pick := func(single, double func(...operand.Op)) func(...operand.Op) {
		if float == 4 {
			return single
		}
		return double
	}
	s.load = pick(VMOVUPS, VMOVUPD)
	s.store = s.load
	s.broadcast = pick(VBROADCASTSS, VBROADCASTSD)
	s.add, s.sub, s.mul, s.div = pick(VADDPS, VADDPD), pick(VSUBPS, VSUBPD), pick(VMULPS, VMULPD), pick(VDIVPS, VDIVPD)
	s.min, s.max, s.sqrt = pick(VMINPS, VMINPD), pick(VMAXPS, VMAXPD), pick(VSQRTPS, VSQRTPD)
	s.fma231, s.fma213, s.fma132 = pick(VFMADD231PS, VFMADD231PD), pick(VFMADD213PS, VFMADD213PD), pick(VFMADD132PS, VFMADD132PD)
	s.fnma231, s.fnma213 = pick(VFNMADD231PS, VFNMADD231PD), pick(VFNMADD213PS, VFNMADD213PD)
	s.fms231, s.fms213 = pick(VFMSUB231PS, VFMSUB231PD), pick(VFMSUB213PS, VFMSUB213PD)
	s.and, s.or, s.xor, s.andnot = pick(VANDPS, VANDPD), pick(VORPS, VORPD), pick(VXORPS, VXORPD), pick(VANDNPS, VANDNPD)
	s.plus, s.minus = pick(VPADDD, VPADDQ), pick(VPSUBD, VPSUBQ)
	s.shiftLeft, s.shiftRight = pick(VPSLLD, VPSLLQ), pick(VPSRLD, VPSRLQ)
	s.unpackLow, s.unpackHigh = pick(VUNPCKLPS, VUNPCKLPD), pick(VUNPCKHPS, VUNPCKHPD)
	return s
}

// everyISA calls f for each instruction set and kind of number.
func everyISA(f func(isa)) {
	for _, level := range []string{"avx512", "avx2"} {
		for _, float := range []int{4, 8} {
			f(newISA(level, float))
		}
	}
}

func (s isa) lanes() int { return s.bytes / s.float }

// kind is 32 or 64, the name of the numbers.
func (s isa) kind() string { return fmt.Sprint(8 * s.float) }

func (s isa) vector() reg.VecVirtual {
	if s.bytes == 64 {
		return ZMM()
	}
	return YMM()
}

func (s isa) vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = s.vector()
	}
	return v
}

func (s isa) zero(v reg.VecVirtual) { s.xor(v, v, v) }

// move copies a register.
func (s isa) move(from, to reg.VecVirtual) {
	if s.float == 4 {
		VMOVAPS(from, to)
		return
	}
	VMOVAPD(from, to)
}

// at is the i-th vector behind a pointer.
func (s isa) at(p reg.Register, i int) operand.Mem {
	return operand.Mem{Base: p, Disp: i * s.bytes}
}

// define starts a function. signature may say T for the kind of number.
func (s isa) define(name, signature, doc string) {
	TEXT(fmt.Sprintf("%s%s_%s", name, s.kind(), s.level), NOSPLIT, replaceT(signature, "float"+s.kind()))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s%s_%s %s", name, s.kind(), s.level, doc))
}

// rowPointers address rows that are a stride apart, by one pointer for every three.
type rowPointers struct {
	third  []reg.Register
	stride reg.Register
}

func pointToRows(first, stride reg.Register, count int) rowPointers {
	p := rowPointers{[]reg.Register{first}, stride}
	if count <= 3 {
		return p
	}
	three := GP64()
	LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, three)
	for i := 3; i < count; i += 3 {
		next := GP64()
		LEAQ(operand.Mem{Base: p.third[len(p.third)-1], Index: three, Scale: 1}, next)
		p.third = append(p.third, next)
	}
	return p
}

func (p rowPointers) row(i int) operand.Mem {
	m := operand.Mem{Base: p.third[i/3]}
	if i%3 > 0 {
		m.Index, m.Scale = p.stride, uint8(i%3)
	}
	return m
}

func (p rowPointers) advance(bytes operand.Op) {
	for _, r := range p.third {
		ADDQ(bytes, r)
	}
}
