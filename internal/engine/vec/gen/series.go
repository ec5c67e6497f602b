package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Loops over several slices of which element i depends on elements i alone, for n a multiple of
// 64 bytes. Sums and products are rounded each, as those of the Go twins are.

// elements writes a kernel. body computes the results from the numbers, each in all elements of a
// vector, and the inputs of one vector, which it may change; they are stored in outputs.
type elements struct {
	name            string
	numbers         []string
	inputs, outputs []string
	doc             string
	body            func(s isa, c *constants, numbers, inputs []reg.VecVirtual) []reg.VecVirtual
}

func (e elements) write(s isa) {
	signature := "func("
	for _, name := range e.numbers {
		signature += name + " T, "
	}
	for _, name := range append(append([]string{}, e.inputs...), e.outputs...) {
		signature += name + " *T, "
	}
	s.define(e.name, signature+"n int)", e.doc)
	c := newConstants(s, 0)
	numbers := s.vectors(len(e.numbers))
	for i, name := range e.numbers {
		s.broadcast(Load(Param(name), XMM()), numbers[i])
	}
	pointers := func(names []string) (p []reg.Register) {
		for _, name := range names {
			p = append(p, Load(Param(name), GP64()))
		}
		return p
	}
	in, out := pointers(e.inputs), pointers(e.outputs)
	n, at := Load(Param("n"), GP64()), GP64()
	XORQ(at, at)
	SHLQ(operand.U8(2), n)
	Label("loop")
	CMPQ(at, n)
	JGE(operand.LabelRef("end"))
	for i := range 64 / s.bytes {
		v := s.vectors(len(in))
		for k, p := range in {
			s.load(operand.Mem{Base: p, Index: at, Scale: 1, Disp: i * s.bytes}, v[k])
		}
		for k, r := range e.body(s, c, numbers, v) {
			s.store(r, operand.Mem{Base: out[k], Index: at, Scale: 1, Disp: i * s.bytes})
		}
	}
	ADDQ(operand.U32(64), at)
	JMP(operand.LabelRef("loop"))
	Label("end")
	VZEROUPPER()
	RET()
}

func series() {
	kernels := []elements{
		{"roots", nil, []string{"x"}, []string{"positive", "root"}, "computes max(x, the smallest normal number) and √x.",
			func(s isa, c *constants, _, v []reg.VecVirtual) []reg.VecVirtual {
				positive := s.vector()
				// Of a number and a NaN these instructions take the first operand.
				s.load(c.number(0x1p-126), positive)
				s.max(v[0], positive, positive)
				s.sqrt(v[0], v[0])
				return []reg.VecVirtual{positive, v[0]}
			}},
		{"sech", nil, []string{"a", "root", "power"}, []string{"first", "tanh"}, "computes power·2r/(1+r²) and (r²-1)/(r²+1), r = a·root.",
			func(s isa, c *constants, _, v []reg.VecVirtual) []reg.VecVirtual {
				r, bound := v[0], s.vector()
				s.mul(v[1], r, r)
				s.load(c.number(1e-18), bound)
				s.max(r, bound, r)
				s.load(c.number(1e18), bound)
				s.min(r, bound, r)
				one, square, inverse, sum := s.vector(), s.vector(), s.vector(), s.vector()
				s.load(c.number(1), one)
				s.mul(r, r, square)
				s.add(one, square, sum)
				s.div(sum, one, inverse)
				s.add(r, r, r)
				s.mul(inverse, r, r)
				s.mul(r, v[2], v[2])
				s.sub(one, square, square)
				s.mul(inverse, square, square)
				return []reg.VecVirtual{v[2], square}
			}},
		{"recur", []string{"alpha", "beta"}, []string{"t", "last", "before"}, []string{"next"}, "computes alpha·t·last + beta·before.",
			func(s isa, _ *constants, f, v []reg.VecVirtual) []reg.VecVirtual {
				s.mul(f[0], v[0], v[0])
				s.mul(v[1], v[0], v[0])
				s.mul(f[1], v[2], v[2])
				s.add(v[2], v[0], v[0])
				return v[:1]
			}},
		{"rotate", []string{"w"}, []string{"cos", "sin", "re", "im"}, []string{"nextRe", "nextIm", "even", "odd"},
			"turns (re, im) by the angle of cos and sin, and computes w times that.",
			func(s isa, _ *constants, w, v []reg.VecVirtual) []reg.VecVirtual {
				cos, sin, re, im := v[0], v[1], v[2], v[3]
				x, y := s.vector(), s.vector()
				s.mul(cos, re, x)
				s.mul(sin, im, y)
				s.sub(y, x, x)
				s.mul(cos, im, im)
				s.mul(sin, re, re)
				s.add(re, im, im)
				even, odd := s.vector(), s.vector()
				s.mul(w[0], x, even)
				s.mul(w[0], im, odd)
				return []reg.VecVirtual{x, im, even, odd}
			}},
	}
	for _, level := range []string{"avx512", "avx2"} {
		for _, e := range kernels {
			e.write(newISA(level, 4))
		}
	}
}
