package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A group is V/2 nodes of V complex numbers, V the lanes of a vector: V vectors in memory,
// two a node. In leaf, vector ri·V/2 + i of V registers starts as part ri (real or
// imaginary) of node i. Each level exchanges one bit of a number's lane with one bit of i, so
// that the halves of a node, which are lanes apart, come into different registers, and
// goes a level down. In the end lane l holds nodes V·group + l of the level two above V/2, and
// i tells the node below.
//
// Node 0 is real. Its butterflies differ, so the group that has it, the first, has kernels
// of its own, which compute both kinds and blend them.

// stages is the number of levels of a leaf.
func (s isa) stages() int {
	v := 0
	for 1<<v < s.lanes() {
		v++
	}
	return v
}

// exchanged is the bit of i that a stage exchanges, flag the one that tells whether the
// twiddle is turned (0 if none is).
func (s isa) exchanged(stage int) (bit, flag int) {
	v := s.stages()
	switch {
	case stage == v:
		return 1 << (v - 2), 1
	case stage == 1:
		return 1 << (v - 2), 0
	}
	return 1 << (v - 1 - stage), 1 << (v - stage)
}

// spread loads numbers that repeat through the lanes: with AVX-512, 2^stage different ones.
func (s isa) spread(stage int, m operand.Mem) reg.VecVirtual {
	r := s.vector()
	switch {
	case s.level == "avx2" || stage == 4:
		s.load(m, r)
	case stage == 1:
		VBROADCASTSD(m, r)
	case stage == 2:
		VBROADCASTF32X4(m, r)
	case stage == 3:
		VBROADCASTF32X8(m, r)
	}
	return r
}

// period is how many numbers spread loads.
func (s isa) period(stage int) int {
	if s.level == "avx512" {
		return 1 << stage
	}
	return s.lanes()
}

// butterflies are those of a stage that have the same twiddle, or that twiddle turned.
type butterflies struct {
	stage  int
	offset int    // of the twiddle in the table of a group
	pairs  []int  // the first register i of each
	turned []bool // by pair
}

// leafSteps lists the butterflies of a leaf, in order of stages and of i.
func (s isa) leafSteps() (steps []butterflies) {
	offset := 0
	for stage := 1; stage <= s.stages(); stage++ {
		bit, flag := s.exchanged(stage)
		for i := range s.lanes() / 2 {
			if i&(bit|flag) != 0 {
				continue
			}
			b := butterflies{stage, offset, []int{i}, []bool{false}}
			if flag != 0 {
				b.pairs, b.turned = append(b.pairs, i|flag), append(b.turned, true)
			}
			steps = append(steps, b)
			offset += 2 * s.period(stage)
		}
	}
	return steps
}

// tableSize is the numbers of a group in the table of twiddles.
func (s isa) tableSize() int {
	steps := s.leafSteps()
	last := steps[len(steps)-1]
	return last.offset + 2*s.period(last.stage)
}

func (s isa) loadTwiddle(table reg.Register, b butterflies) twiddle {
	return twiddle{
		c: s.spread(b.stage, operand.Mem{Base: table, Disp: 4 * b.offset}),
		t: s.spread(b.stage, operand.Mem{Base: table, Disp: 4 * (b.offset + s.period(b.stage))}),
	}
}

func firstName(first bool) string {
	if first {
		return "First"
	}
	return ""
}

// leafOrder is the register i whose nodes are the s-th below those of the lanes.
func (s isa) leafOrder(i int) int {
	h := s.lanes() / 4
	return i%h*2 + i/h
}

// leaf takes groups from src to the end at dst. w is their part of the table of twiddles, in
// the order of leafSteps. times: what it computes multiplies the numbers at dst.
func leaf(s isa, first, times bool) {
	name, signature := "leaf"+firstName(first), "func(dst, src, w *T"
	if times {
		name += "Times"
	}
	if !first {
		signature += ", groups int"
	}
	s.define(name, signature+")", "does the last levels of groups; gen describes its arguments.")
	dst, src, w := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("w"), GP64())
	h := s.shuffles(false)
	var groups reg.Register
	var masks []reg.Register
	if first {
		masks = s.masks()
	} else {
		groups = Load(Param("groups"), GP64())
		Label("groups")
	}
	half := s.lanes() / 2
	z := make([]complexVector, half)
	for i := range z {
		z[i] = complexVector{s.vector(), s.vector()}
		s.load(s.at(src, 2*i), z[i].r)
		s.load(s.at(src, 2*i+1), z[i].i)
	}
	before := 0
	for _, p := range s.leafSteps() {
		bit, _ := s.exchanged(p.stage)
		if p.stage != before {
			for j := range z {
				if j&bit == 0 {
					z[j].r, z[j|bit].r = s.exchange(h, p.stage, z[j].r, z[j|bit].r)
					z[j].i, z[j|bit].i = s.exchange(h, p.stage, z[j].i, z[j|bit].i)
				}
			}
			before = p.stage
		}
		t := s.loadTwiddle(w, p)
		for n, j := range p.pairs {
			if first && j == 0 {
				plus, minus := s.downReal(z[0], z[bit])
				z[0], z[bit] = s.down(z[0], z[bit], t, p.turned[n])
				s.blendNode0(masks, p.stage, plus, z[0])
				s.blendNode0(masks, p.stage, minus, z[bit])
				continue
			}
			z[j], z[j|bit] = s.down(z[j], z[j|bit], t, p.turned[n])
		}
	}
	for i, x := range z {
		at := 2 * s.leafOrder(i)
		if times {
			x = s.times(x, s.at(dst, at), s.at(dst, at+1), first && i == 0)
		}
		s.store(x.r, s.at(dst, at))
		s.store(x.i, s.at(dst, at+1))
	}
	if !first {
		s.nextGroup(groups, w, src, dst)
	}
	VZEROUPPER()
	RET()
}

// blendNode0 puts the lane of node 0, which is real, into x.
func (s isa) blendNode0(masks []reg.Register, stage int, real, x complexVector) {
	s.blend(masks, stage, real.r, x.r)
	s.blend(masks, stage, real.i, x.i)
}

// nextGroup moves the pointers to the next group, and w to its twiddles, if there is one.
func (s isa) nextGroup(groups, w reg.Register, pointers ...reg.Register) {
	for _, p := range pointers {
		ADDQ(operand.U32(s.lanes()*s.bytes), p)
	}
	ADDQ(operand.U32(4*s.tableSize()), w)
	DECQ(groups)
	JNZ(operand.LabelRef("groups"))
}

// times is x·y for y in memory. In the first lane of the first vector, node 0, these are
// polynomials modulo X² - 1, not X² + 1.
func (s isa) times(x complexVector, yr, yi operand.Mem, first bool) complexVector {
	p := complexVector{s.vector(), s.vector()}
	s.mul(yr, x.r, p.r)
	s.mul(yr, x.i, p.i)
	s.fma231(yi, x.r, p.i)
	if first {
		VXORPS(firstSign(), x.i, x.i)
	}
	s.fnma231(yi, x.i, p.r)
	return p
}

var sign operand.Mem

// firstSign is the sign bit of the first lane.
func firstSign() operand.Mem {
	if sign.Base == nil {
		sign = indices("sign", func(i int) int {
			if i == 0 {
				return 1 << 31
			}
			return 0
		})
	}
	return sign
}

// product multiplies pairs of vectors, real parts and imaginary parts.
func product(s isa) {
	s.define("product", "func(dst, a, b *T, pairs int)", "multiplies complex numbers.")
	dst, a, b := Load(Param("dst"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64())
	pairs := Load(Param("pairs"), GP64())
	Label("pairs")
	x := complexVector{s.vector(), s.vector()}
	s.load(s.at(a, 0), x.r)
	s.load(s.at(a, 1), x.i)
	x = s.times(x, s.at(b, 0), s.at(b, 1), false)
	s.store(x.r, s.at(dst, 0))
	s.store(x.i, s.at(dst, 1))
	for _, p := range []reg.Register{dst, a, b} {
		ADDQ(operand.Imm(uint64(2*s.bytes)), p)
	}
	DECQ(pairs)
	JNZ(operand.LabelRef("pairs"))
	VZEROUPPER()
	RET()
}

// seed is the inverse of leaf, times scale·V. times: of the product of the numbers at src
// and at by.
func seed(s isa, first, times bool) {
	name, signature := "seed"+firstName(first), "func(dst, src, w *T"
	if times {
		name += "Times"
		signature = "func(dst, src, by, w *T"
	}
	if !first {
		signature += ", groups int"
	}
	s.define(name, signature+", scale T)", fmt.Sprintf("does the first %d levels of the inverse; gen describes its arguments.", s.stages()))
	dst, src, w := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("w"), GP64())
	var by reg.Register
	if times {
		by = Load(Param("by"), GP64())
	}
	h := s.shuffles(true)
	scale := s.vector()
	at, err := Param("scale").Resolve()
	if err != nil {
		panic(err)
	}
	s.broadcast(at.Addr, scale)
	var groups reg.Register
	var masks []reg.Register
	if first {
		masks = s.masks()
	} else {
		groups = Load(Param("groups"), GP64())
		Label("groups")
	}
	half := s.lanes() / 2
	z := make([]complexVector, half)
	for i := range z {
		z[i] = complexVector{s.vector(), s.vector()}
		at := 2 * s.leafOrder(i)
		s.mul(s.at(src, at), scale, z[i].r)
		s.mul(s.at(src, at+1), scale, z[i].i)
		if times {
			z[i] = s.times(z[i], s.at(by, at), s.at(by, at+1), first && i == 0)
		}
	}
	steps := s.leafSteps()
	for n := len(steps) - 1; n >= 0; n-- {
		p := steps[n]
		bit, _ := s.exchanged(p.stage)
		t := s.loadTwiddle(w, p)
		for n, j := range p.pairs {
			if first && j == 0 {
				a, b := s.upReal(z[0], z[bit])
				z[0], z[bit] = s.up(z[0], z[bit], t, p.turned[n])
				s.blendNode0(masks, p.stage, a, z[0])
				s.blendNode0(masks, p.stage, b, z[bit])
				continue
			}
			z[j], z[j|bit] = s.up(z[j], z[j|bit], t, p.turned[n])
		}
		if n == 0 || steps[n-1].stage != p.stage {
			for j := range z {
				if j&bit == 0 {
					z[j].r, z[j|bit].r = s.exchangeBack(h, p.stage, z[j].r, z[j|bit].r)
					z[j].i, z[j|bit].i = s.exchangeBack(h, p.stage, z[j].i, z[j|bit].i)
				}
			}
		}
	}
	for i := range z {
		s.store(z[i].r, s.at(dst, 2*i))
		s.store(z[i].i, s.at(dst, 2*i+1))
	}
	if !first {
		pointers := []reg.Register{src, dst}
		if times {
			pointers = []reg.Register{src, by, dst}
		}
		s.nextGroup(groups, w, pointers...)
	}
	VZEROUPPER()
	RET()
}
