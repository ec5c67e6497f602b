package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// hamming counts the bits in which codes of whole vectors of 256 bits differ from one, four codes a turn: a table of the ones of
// half a byte is looked up for each half, and 64-bit lanes hold the sums of their bytes. Wider vectors would take two codes of 256 bits,
// so AVX-512 has the same.
func hamming() {
	table := GLOBL("ones", attr.RODATA|attr.NOPTR)
	DATA(0, operand.U64(0x0302020102010100))
	DATA(8, operand.U64(0x0403030203020201))
	for _, level := range []string{"avx512", "avx2"} {
		newISA(level, 8).define("hamming", "func(dst *uint16, codes, code *uint64, turns, bytes int)",
			"writes how many bits differ in each of 4 codes of so many bytes a turn, a multiple of 32.")
		dst, codes, code := Load(Param("dst"), GP64()), Load(Param("codes"), GP64()), Load(Param("code"), GP64())
		turns, bytes := Load(Param("turns"), GP64()), Load(Param("bytes"), GP64())
		third := GP64()
		LEAQ(operand.Mem{Base: bytes, Index: bytes, Scale: 2}, third)
		ones, halves, zero := YMM(), YMM(), YMM()
		VBROADCASTI128(table, ones)
		mask := GP32()
		MOVL(operand.U32(0x0f0f0f0f), mask)
		VMOVD(mask, halves.AsX())
		VPBROADCASTD(halves.AsX(), halves)
		VPXOR(zero, zero, zero)

		Label("turn")
		sums := newISA("avx2", 8).vectors(4)
		for _, s := range sums {
			VPXOR(s, s, s)
		}
		at := GP64()
		XORQ(at, at)
		row := GP64()
		MOVQ(codes, row)
		Label("words")
		same, low, high := YMM(), YMM(), YMM()
		VMOVDQU(operand.Mem{Base: code, Index: at, Scale: 1}, same)
		for i, from := range []operand.Mem{{Base: row}, {Base: row, Index: bytes, Scale: 1}, {Base: row, Index: bytes, Scale: 2}, {Base: row, Index: third, Scale: 1}} {
			VPXOR(from, same, low)
			VPSRLW(operand.U8(4), low, high)
			VPAND(halves, low, low)
			VPAND(halves, high, high)
			VPSHUFB(low, ones, low)
			VPSHUFB(high, ones, high)
			VPADDB(low, high, low)
			VPSADBW(zero, low, low)
			VPADDQ(low, sums[i], sums[i])
		}
		ADDQ(operand.U8(32), row)
		ADDQ(operand.U8(32), at)
		CMPQ(at, bytes)
		JLT(operand.LabelRef("words"))

		// A sum takes 16 bits of a lane.
		for i, s := range sums[1:] {
			VPSLLQ(operand.U8(16*(i+1)), s, s)
			VPOR(s, sums[0], sums[0])
		}
		other := YMM()
		VEXTRACTI128(operand.U8(1), sums[0], other.AsX())
		VPADDQ(other.AsX(), sums[0].AsX(), sums[0].AsX())
		VPSHUFD(operand.U8(0x4e), sums[0].AsX(), other.AsX())
		VPADDQ(other.AsX(), sums[0].AsX(), sums[0].AsX())
		VMOVQ(sums[0].AsX(), operand.Mem{Base: dst})
		ADDQ(operand.U8(8), dst)
		LEAQ(operand.Mem{Base: codes, Index: bytes, Scale: 4}, codes)
		DECQ(turns)
		JNZ(operand.LabelRef("turn"))
		VZEROUPPER()
		RET()
	}
}
