package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What a leaf does across the lanes of its vectors.

// shuffles are the constants of an exchange.
type shuffles struct{ low, high, even, odd reg.VecVirtual }

// indices is a vector of lane numbers in memory.
func indices(name string, lane func(i int) int) operand.Mem {
	m := GLOBL(family+"_"+name, 8|16) // read-only, no pointers
	for i := range 16 {
		DATA(4*i, operand.U32(uint32(lane(i))))
	}
	return m
}

var lowLanes, highLanes, evenLanes, oddLanes operand.Mem

func (s isa) shuffles(inverse bool) shuffles {
	var h shuffles
	if s.level != "avx512" {
		return h
	}
	if lowLanes.Base == nil {
		lowLanes = indices("low", func(i int) int { return i/2 + i%2*16 })
		highLanes = indices("high", func(i int) int { return 8 + i/2 + i%2*16 })
		evenLanes = indices("even", func(i int) int { return 2 * i })
		oddLanes = indices("odd", func(i int) int { return 2*i + 1 })
	}
	load := func(m operand.Mem) reg.VecVirtual {
		v := s.vector()
		s.load(m, v)
		return v
	}
	if inverse {
		h.even, h.odd = load(evenLanes), load(oddLanes)
	} else {
		h.low, h.high = load(lowLanes), load(highLanes)
	}
	return h
}

// exchange swaps the bit that tells p from q with a bit of their lanes: with AVX-512, the
// highest, the others moving up and the new one coming in below: p becomes the lower halves
// of p and q interleaved, q the upper. With AVX2, the first time, the highest bit's place is
// kept: p becomes the lower halves one behind the other. Then as with AVX-512 but on the lower
// two bits of the lanes.
func (s isa) exchange(h shuffles, stage int, p, q reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
	x, y := s.vector(), s.vector()
	switch {
	case s.level == "avx512":
		s.move(p, x)
		VPERMT2PS(q, h.low, x)
		VPERMT2PS(q, h.high, p)
		return x, p
	case stage == 1:
		VPERM2F128(operand.Imm(0x20), q, p, x)
		VPERM2F128(operand.Imm(0x31), q, p, y)
	default:
		s.unpackLow(q, p, x)
		s.unpackHigh(q, p, y)
	}
	return x, y
}

// exchangeBack is the inverse of exchange.
func (s isa) exchangeBack(h shuffles, stage int, p, q reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
	x, y := s.vector(), s.vector()
	switch {
	case s.level == "avx512":
		s.move(p, x)
		VPERMT2PS(q, h.even, x)
		VPERMT2PS(q, h.odd, p)
		return x, p
	case stage == 1:
		VPERM2F128(operand.Imm(0x20), q, p, x)
		VPERM2F128(operand.Imm(0x31), q, p, y)
	default:
		VSHUFPS(operand.Imm(0x88), q, p, x)
		VSHUFPS(operand.Imm(0xdd), q, p, y)
	}
	return x, y
}

// realLanes are the lanes of node 0 at a stage.
func (s isa) realLanes(stage int) uint64 {
	if s.level == "avx512" {
		return []uint64{0, 0x5555, 0x1111, 0x0101, 0x0001}[stage]
	}
	return []uint64{0, 0x0f, 0x05, 0x01}[stage]
}

// masks are the lanes of node 0 at each stage, if a machine wants them in registers.
func (s isa) masks() []reg.Register {
	k := make([]reg.Register, 5)
	if s.level == "avx512" {
		for stage := 1; stage <= 4; stage++ {
			m := GP32()
			MOVL(operand.U32(s.realLanes(stage)), m)
			k[stage] = K()
			KMOVW(m, k[stage])
		}
	}
	return k
}

// blend puts the lanes of node 0 from x into y.
func (s isa) blend(masks []reg.Register, stage int, x, y reg.VecVirtual) {
	if s.level == "avx512" {
		VMOVAPS(x, masks[stage], y)
		return
	}
	VBLENDPS(operand.Imm(s.realLanes(stage)), x, y, y)
}
