package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The permutation of fastfood at random is dear for single numbers, 16 loads and more for a
// vector. Four rows side by side, as quads of 16 bytes, make it one load and an insertion for
// four numbers. A transform of quads is that of a row of 4n numbers without its first two
// stages, so that the passes between blocks are those of rows. What is particular to quads
// is here:
//
//	zip      four rows → quads in order
//	first    the stages within blocks, behind the signs
//	gather   the same behind the permutation; its output is shuffled: vector e of each four
//	         holds the quads e, e+4, …, one in each 16 bytes
//	unzip    shuffled quads → four rows, which takes no exchange across 16 bytes then

// quads is the quads in a vector.
func (t *transform) quads() int { return t.bytes / 16 }

// insert loads a quad into one place of a vector; the first one fills all places.
func (t *transform) insert(place int, from operand.Mem, v reg.VecVirtual) {
	switch {
	case t.level == "avx512" && place == 0:
		VBROADCASTF32X4(from, v)
	case t.level == "avx512":
		VINSERTF32X4(operand.Imm(uint64(place)), from, v, v)
	case place == 0:
		VBROADCASTF128(from, v)
	default:
		VINSERTF128(operand.Imm(uint64(place)), from, v, v)
	}
}

// transpose is a 4×4 transposition in each 16 bytes of four vectors.
func transpose(vector func() reg.VecVirtual, v []reg.VecVirtual) {
	a, b, c, d := vector(), vector(), vector(), vector()
	VUNPCKLPS(v[1], v[0], a)
	VUNPCKHPS(v[1], v[0], b)
	VUNPCKLPS(v[3], v[2], c)
	VUNPCKHPS(v[3], v[2], d)
	VUNPCKLPD(c, a, v[0])
	VUNPCKHPD(c, a, v[1])
	VUNPCKLPD(d, b, v[2])
	VUNPCKHPD(d, b, v[3])
}

func (t *transform) zip() {
	t.define("quadsZip", "func(dst, src *T, stride, fours int)",
		"interleaves four rows, stride bytes apart, four numbers of each at a time.")
	dst, src, stride, fours := Load(Param("dst"), GP64()), Load(Param("src"), GP64()),
		Load(Param("stride"), GP64()), Load(Param("fours"), GP64())
	third := GP64()
	LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, third)
	t.loop(fours, func() {
		v := []reg.VecVirtual{XMM(), XMM(), XMM(), XMM()}
		VMOVUPS(operand.Mem{Base: src}, v[0])
		VMOVUPS(operand.Mem{Base: src, Index: stride, Scale: 1}, v[1])
		VMOVUPS(operand.Mem{Base: src, Index: stride, Scale: 2}, v[2])
		VMOVUPS(operand.Mem{Base: src, Index: third, Scale: 1}, v[3])
		transpose(XMM, v)
		for i := range v {
			VMOVUPS(v[i], operand.Mem{Base: dst, Disp: 16 * i})
		}
		ADDQ(operand.U32(16), src)
		ADDQ(operand.U32(64), dst)
	})
	RET()
}

func (t *transform) unzip() {
	t.define("quadsUnzip", "func(dst, src, s *T, stride, vectors int)",
		"writes shuffled quads as four rows, stride bytes apart, times s, a vector of each at a time.")
	dst, src, s := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("s"), GP64())
	stride, vectors := Load(Param("stride"), GP64()), Load(Param("vectors"), GP64())
	third := GP64()
	LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, third)
	t.loop(vectors, func() {
		v := t.vectors(4)
		for i := range v {
			t.load(t.at(src, i), v[i])
		}
		transpose(t.vector, v)
		scale := t.vector()
		t.load(t.at(s, 0), scale)
		for i := range v {
			t.mul(scale, v[i], v[i])
		}
		t.store(v[0], operand.Mem{Base: dst})
		t.store(v[1], operand.Mem{Base: dst, Index: stride, Scale: 1})
		t.store(v[2], operand.Mem{Base: dst, Index: stride, Scale: 2})
		t.store(v[3], operand.Mem{Base: dst, Index: third, Scale: 1})
		ADDQ(operand.U32(uint32(4*t.bytes)), src)
		ADDQ(operand.U32(uint32(t.bytes)), dst)
		ADDQ(operand.U32(uint32(t.bytes)), s)
	})
	VZEROUPPER()
	RET()
}

// spread is a vector in memory that makes VPERMILPS repeat number i in the i-th 16 bytes.
func (t *transform) spread() operand.Mem {
	const name = "hadamard_spread"
	if m, known := tables[name]; known {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range 16 {
		DATA(4*i, operand.U32(uint32(i/4)))
	}
	tables[name] = m
	return m
}

func (t *transform) quadsFirst() {
	block := t.most * t.quads()
	t.define("quadsFirst", "func(dst, src, d *T, blocks int)",
		fmt.Sprintf("computes dst = H(d∘src) for quads in blocks of %d.", block))
	dst, src, d, blocks := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("d"), GP64()), Load(Param("blocks"), GP64())
	t.loadSigns()
	spread := t.vector()
	t.load(t.spread(), spread)
	t.loop(blocks, func() {
		v := t.vectors(t.most)
		for i := range v {
			if t.level == "avx512" {
				VBROADCASTF32X4(operand.Mem{Base: d, Disp: 16 * i}, v[i])
			} else {
				VBROADCASTSD(operand.Mem{Base: d, Disp: 8 * i}, v[i])
			}
			VPERMILPS(spread, v[i], v[i])
			t.mul(t.at(src, i), v[i], v[i])
		}
		t.within(v, 4, t.lanes())
		t.between(v)
		t.storeAll(v, dst)
		ADDQ(operand.U32(uint32(t.most*t.bytes)), dst)
		ADDQ(operand.U32(uint32(t.most*t.bytes)), src)
		ADDQ(operand.U32(uint32(4*block)), d)
	})
	VZEROUPPER()
	RET()
}

func (t *transform) quadsGather() {
	block := t.most * t.quads()
	t.define("quadsGather", "func(dst, src *T, p *int32, d *T, mask, blocks int)",
		fmt.Sprintf("computes dst = H(d∘x) with x_i = src[p_i & mask], for quads in blocks of %d, and leaves them shuffled.", block))
	dst, src, p, d := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("p"), GP64()), Load(Param("d"), GP64())
	mask, blocks := GP64(), Load(Param("blocks"), GP64())
	Load(Param("mask"), mask)
	ADDQ(mask, mask) // addresses are pairs of 8 bytes
	t.loadSigns()
	t.loop(blocks, func() {
		v := t.vectors(t.most)
		for i := range v {
			first := i/4*t.lanes() + i%4 // the number of the quad in place 0
			for place := range t.quads() {
				at := GP64()
				MOVL(operand.Mem{Base: p, Disp: 4 * (first + 4*place)}, at.As32())
				ADDL(at.As32(), at.As32())
				ANDL(mask.As32(), at.As32())
				t.insert(place, operand.Mem{Base: src, Index: at, Scale: 8}, v[i])
			}
			scale := t.vector()
			VPERMILPS(operand.Imm(uint64(0x55*(i%4))), operand.Mem{Base: d, Disp: i / 4 * t.bytes}, scale)
			t.mul(scale, v[i], v[i])
		}
		for i := 0; i < len(v); i += 4 {
			t.between(v[i : i+4])
		}
		t.within(v, 4, t.lanes())
		for e := range 4 {
			w := []reg.VecVirtual{}
			for i := e; i < len(v); i += 4 {
				w = append(w, v[i])
			}
			t.between(w)
			for i := range w {
				v[e+4*i] = w[i]
			}
		}
		t.storeAll(v, dst)
		ADDQ(operand.U32(uint32(t.most*t.bytes)), dst)
		ADDQ(operand.U32(uint32(4*block)), d)
		ADDQ(operand.U32(uint32(4*block)), p)
	})
	VZEROUPPER()
	RET()
}
