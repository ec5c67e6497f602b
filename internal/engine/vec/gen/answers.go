package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// answers asks n groups of six questions, is the number of the row at an index larger than a threshold?, and writes the bits of each group as
// a byte. Two indices and thresholds behind the last group are read, too; the indices must be those of numbers.
func answers() {
	s := newISA("avx2", 4)
	const questions = 6
	s.define("answers", "func(n int, dst *byte, columns *int32, thresholds, row *T)", "asks groups of six questions; gen describes its arguments.")
	n, dst, row := Load(Param("n"), GP64()), Load(Param("dst"), GP64()), Load(Param("row"), GP64())
	columns, thresholds := Load(Param("columns"), GP64()), Load(Param("thresholds"), GP64())
	index, v, mask := YMM(), YMM(), YMM()
	bits := GP32()
	Label("loop")
	VMOVDQU(operand.Mem{Base: columns}, index)
	VPCMPEQD(mask, mask, mask)
	VXORPS(v, v, v) // or the gather would wait for what was there
	VGATHERDPS(mask, operand.Mem{Base: row, Index: index, Scale: 4}, v)
	const greater = 0x1e // ordered, without exceptions
	VCMPPS(operand.U8(greater), operand.Mem{Base: thresholds}, v, v)
	VMOVMSKPS(v, bits)
	ANDL(operand.U8(1<<questions-1), bits)
	MOVB(bits.(reg.GPVirtual).As8(), operand.Mem{Base: dst})
	ADDQ(operand.U8(4*questions), columns)
	ADDQ(operand.U8(4*questions), thresholds)
	INCQ(dst)
	DECQ(n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}
