package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// Loops that tell what the machine can do at most: multiply-adds that wait for nothing, and
// memory read or written in order.
const (
	peakChains    = 12 // more than latency × ports
	peakUnroll    = 4
	memoryVectors = 8 // a turn of the loops over memory
)

func peak() {
	everyISA(func(s isa) {
		s.define("multiplyAdds", "func(turns int)", "does 48 vector multiply-adds a turn, in 12 chains.")
		turns := Load(Param("turns"), GP64())
		acc, x := s.vectors(peakChains), s.vector()
		s.zero(x)
		for _, v := range acc {
			s.zero(v)
		}
		Label("loop")
		for range peakUnroll {
			for _, v := range acc {
				s.fma231(x, x, v)
			}
		}
		DECQ(turns)
		JNZ(operand.LabelRef("loop"))
		VZEROUPPER()
		RET()
	})
	for _, level := range []string{"avx512", "avx2"} {
		s := newISA(level, 4)
		s.define("read", "func(x *T, turns int) T", "reads 8 vectors a turn and returns something of them.")
		x, turns := Load(Param("x"), GP64()), Load(Param("turns"), GP64())
		acc := s.vectors(memoryVectors)
		for _, v := range acc {
			s.zero(v)
		}
		Label("loop")
		for i, v := range acc {
			s.add(s.at(x, i), v, v)
		}
		ADDQ(operand.U32(memoryVectors*s.bytes), x)
		DECQ(turns)
		JNZ(operand.LabelRef("loop"))
		for _, v := range acc[1:] {
			s.add(v, acc[0], acc[0])
		}
		Store(acc[0].AsX(), ReturnIndex(0))
		VZEROUPPER()
		RET()

		s.define("triad", "func(dst, x, y *T, turns int)", "computes dst = x + 3y, 8 vectors a turn.")
		dst, x, y, turns := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("turns"), GP64())
		three := s.vector()
		s.load(wide(s.float, s.pattern(3)), three)
		v := s.vectors(memoryVectors)
		Label("loop")
		for i := range v {
			s.load(s.at(y, i), v[i])
			s.fma213(s.at(x, i), three, v[i])
			s.store(v[i], s.at(dst, i))
		}
		for _, p := range []operand.Op{dst, x, y} {
			ADDQ(operand.U32(memoryVectors*s.bytes), p)
		}
		DECQ(turns)
		JNZ(operand.LabelRef("loop"))
		VZEROUPPER()
		RET()
	}
}
