package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The permutation of fastfood for single numbers, by the machine's gathers.

// gatherer loads numbers at indices in memory, of which only the bits of a mask count, so
// that no index leads outside.
type gatherer struct {
	*transform
	mask reg.VecVirtual
	all  reg.Register // a mask of all lanes
	ones reg.VecVirtual
}

// index is a register for one int32 a lane.
func (t *transform) index() reg.VecVirtual {
	switch 4 * t.lanes() {
	case 64:
		return ZMM()
	case 32:
		return YMM()
	}
	return XMM()
}

func (t *transform) gatherer(mask operand.Mem) *gatherer {
	q := &gatherer{transform: t, mask: t.index()}
	VPBROADCASTD(mask, q.mask)
	if t.level == "avx512" {
		k := K()
		KXNORW(k, k, k)
		q.all = k
		return q
	}
	q.ones = t.vector()
	t.zero(q.ones)
	VPCMPEQD(q.ones, q.ones, q.ones)
	return q
}

// load sets v to the numbers behind src at the indices in memory.
func (q *gatherer) load(src reg.Register, indices operand.Mem, v reg.VecVirtual) {
	at := q.index()
	from := operand.Mem{Base: src, Index: at, Scale: uint8(q.float)}
	q.zero(v) // or the gather would wait for what was there
	if q.level == "avx512" {
		k := K() // a gather clears its mask
		VPANDD(indices, q.mask, at)
		KXNORW(q.all, q.all, k)
		if q.float == 4 {
			VGATHERDPS(from, k, v)
		} else {
			VGATHERDPD(from, k, v)
		}
		return
	}
	all := q.vector()
	VPAND(indices, q.mask, at)
	q.move(q.ones, all)
	if q.float == 4 {
		VGATHERDPS(all, from, v)
	} else {
		VGATHERDPD(all, from, v)
	}
}

// gather writes the first pass behind a permutation.
func (t *transform) gather() {
	t.define("hadamardGather", "func(dst, src *T, p *int32, d *T, mask, blocks int)",
		fmt.Sprintf("computes dst = H(d∘x) with x_i = src[p_i & mask], for consecutive blocks of %d numbers.", t.most*t.lanes()))
	dst, src, p, d := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("p"), GP64()), Load(Param("d"), GP64())
	blocks := Load(Param("blocks"), GP64())
	t.loadSigns()
	from := t.gatherer(argument("mask"))
	t.loop(blocks, func() {
		v := t.vectors(t.most)
		for i := range v {
			from.load(src, operand.Mem{Base: p, Disp: i * t.lanes() * 4}, v[i])
			t.mul(t.at(d, i), v[i], v[i])
		}
		t.within(v, 1, t.lanes())
		t.between(v)
		t.storeAll(v, dst)
		ADDQ(operand.U32(uint32(t.most*t.bytes)), dst)
		ADDQ(operand.U32(uint32(t.most*t.bytes)), d)
		ADDQ(operand.U32(uint32(t.most*t.lanes()*4)), p)
	})
	VZEROUPPER()
	RET()
}

// permute writes the permutation alone, for the blocks that chain does.
func (t *transform) permute() {
	t.define("hadamardPermute", "func(dst, src *T, p *int32, mask, vectors, blocks int)",
		"computes dst_i = src[p_i & mask] for consecutive blocks of mask+1 numbers, so many vectors.")
	dst, src, p := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("p"), GP64())
	blocks := Load(Param("blocks"), GP64())
	from := t.gatherer(argument("mask"))
	t.loop(blocks, func() {
		vectors, block := GP64(), GP64()
		MOVQ(argument("vectors"), vectors)
		MOVQ(src, block)
		t.loop(vectors, func() {
			v := t.vector()
			from.load(block, operand.Mem{Base: p}, v)
			t.store(v, operand.Mem{Base: dst})
			ADDQ(operand.U32(uint32(t.bytes)), dst)
			ADDQ(operand.U32(uint32(t.bytes)), src)
			ADDQ(operand.U32(uint32(4*t.lanes())), p)
		})
	})
	VZEROUPPER()
	RET()
}
