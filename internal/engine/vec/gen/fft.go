package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of the real FFT; fft.go in the package above has the algorithm, the order of
// the numbers, and the tables. Two kinds of kernels:
//
//	split, join  take nodes that are at least a vector wide some levels down or up: all
//	             lanes of a vector belong to one node, twiddles are scalars
//	leaf, seed   do the last levels down and the first up, lanes are different nodes
//
// join and seed are the inverses of split and leaf but for a factor of 2 a level.
func fft() {
	wide, narrow := newISA("avx512", 4), newISA("avx2", 4)
	for _, s := range []isa{wide, narrow} {
		levels := []int{2, 3}
		if s.level == "avx2" {
			levels = []int{1, 2}
		}
		for _, e := range levels {
			for _, real := range []bool{true, false} {
				split(s, e, real)
				join(s, e, real)
			}
		}
		for _, first := range []bool{true, false} {
			for _, times := range []bool{false, true} {
				leaf(s, first, times)
				seed(s, first, times)
			}
		}
		product(s)
	}
}

// complexVector is as many complex numbers as a vector has lanes.
type complexVector struct{ r, i reg.VecVirtual }

// twiddle is w = c·(1 + i·t), a cosine and a tangent.
type twiddle struct{ c, t reg.VecVirtual }

// down takes x = a + bY mod Y² = w² to its residues at Y = w and Y = -w, a ± wb, in six
// multiply-adds (after Linzer and Feig 1993). turned: the twiddle is i·w.
func (s isa) down(a, b complexVector, w twiddle, turned bool) (plus, minus complexVector) {
	re := s.vector()
	s.move(b.r, re)
	s.fnma231(w.t, b.i, re)
	im := b.i
	s.fma231(w.t, b.r, im)
	minus = complexVector{s.vector(), s.vector()}
	s.move(a.r, minus.r)
	s.move(a.i, minus.i)
	if turned {
		s.fnma231(w.c, im, a.r)
		s.fma231(w.c, im, minus.r)
		s.fma231(w.c, re, a.i)
		s.fnma231(w.c, re, minus.i)
		return a, minus
	}
	s.fma231(w.c, re, a.r)
	s.fnma231(w.c, re, minus.r)
	s.fma231(w.c, im, a.i)
	s.fnma231(w.c, im, minus.i)
	return a, minus
}

// up is the inverse of down, times 2.
func (s isa) up(plus, minus complexVector, w twiddle, turned bool) (a, b complexVector) {
	a = complexVector{s.vector(), s.vector()}
	d := complexVector{s.vector(), s.vector()}
	s.add(plus.r, minus.r, a.r)
	s.add(plus.i, minus.i, a.i)
	copied := s.vector()
	if turned {
		// d = -i·w·2b.
		s.sub(plus.r, minus.r, d.r)
		s.sub(plus.i, minus.i, d.i)
		s.move(d.r, copied)
		s.fms213(d.i, w.t, d.r)
		s.fma231(w.t, d.i, copied)
		b = complexVector{d.r, copied}
	} else {
		s.sub(minus.r, plus.r, d.r)
		s.sub(minus.i, plus.i, d.i)
		s.move(d.r, copied)
		s.fma231(w.t, d.i, copied)
		s.fnma231(w.t, d.r, d.i)
		b = complexVector{copied, d.i}
	}
	s.mul(w.c, b.r, b.r)
	s.mul(w.c, b.i, b.i)
	return a, b
}

// downReal takes a block of reals (a.r, b.r, a.i, b.i in this order in memory) modulo
// X^m - 1 to its residues modulo X^(m/2) - 1 and X^(m/2) + 1.
func (s isa) downReal(a, b complexVector) (plus, minus complexVector) {
	plus, minus = complexVector{s.vector(), s.vector()}, complexVector{s.vector(), s.vector()}
	s.add(a.i, a.r, plus.r)
	s.sub(a.i, a.r, minus.r)
	s.add(b.i, b.r, plus.i)
	s.sub(b.i, b.r, minus.i)
	return plus, minus
}

// upReal is the inverse of downReal, times 2.
func (s isa) upReal(plus, minus complexVector) (a, b complexVector) {
	a, b = complexVector{s.vector(), s.vector()}, complexVector{s.vector(), s.vector()}
	s.add(minus.r, plus.r, a.r)
	s.sub(minus.r, plus.r, a.i)
	s.add(minus.i, plus.i, b.r)
	s.sub(minus.i, plus.i, b.i)
	return a, b
}

// stride holds the odd multiples of a distance in bytes up to 7.
type stride map[int]reg.GPVirtual

func newStride(one reg.GPVirtual, count int) stride {
	d := stride{1: one}
	for odd := 3; odd < min(count, 8); odd += 2 {
		d[odd] = GP64()
		LEAQ(operand.Mem{Base: d[odd-2], Index: one, Scale: 2}, d[odd])
	}
	return d
}

// stream is the address of the j-th stream, given those of the 0th and the 8th.
func (d stride) stream(low, high reg.GPVirtual, j int) operand.Mem {
	base := low
	if j >= 8 {
		base, j = high, j-8
	}
	if j == 0 {
		return operand.Mem{Base: base}
	}
	shift := bits.TrailingZeros(uint(j))
	return operand.Mem{Base: base, Index: d[j>>shift], Scale: 1 << shift}
}

// pass is the frame of split and join: loops over nodes, from node on in number nodes, and in
// each over columns of 2^(e+1) streams m numbers apart, a vector of each stream at a time. The
// nodes at dst and src, which may be the same, are one behind the other, so that with more
// nodes than one, columns are all of a stream. w is the table of cosines and tangents. real:
// the node is 0.
func pass(s isa, name, doc string, e int, real bool, body func(load, store func(int) operand.Mem, w func(level, q int) twiddle)) {
	count := 2 << e
	signature := "func(dst, src *T, m, columns int, w *T"
	if !real {
		signature += ", node, nodes int"
	}
	s.define(name, signature+")", doc)
	dst, src := Load(Param("dst"), GP64()).(reg.GPVirtual), Load(Param("src"), GP64()).(reg.GPVirtual)
	one := Load(Param("m"), GP64()).(reg.GPVirtual)
	SHLQ(operand.Imm(2), one)
	table := Load(Param("w"), GP64())
	d := newStride(one, count)
	dst8, src8 := dst, src
	if count > 8 {
		dst8, src8 = GP64(), GP64()
		LEAQ(operand.Mem{Base: dst, Index: one, Scale: 8}, dst8)
		LEAQ(operand.Mem{Base: src, Index: one, Scale: 8}, src8)
	}
	var k, nodes reg.Register
	if !real {
		k = Load(Param("node"), GP64())
		SHLQ(operand.Imm(3), k)
		nodes = Load(Param("nodes"), GP64())
		Label("nodes")
	}
	w := loadTwiddles(s, table, k, e, real)
	columns := Load(Param("columns"), GP64())
	Label("columns")
	body(
		func(j int) operand.Mem { return d.stream(src, src8, j) },
		func(j int) operand.Mem { return d.stream(dst, dst8, j) }, w)
	step := operand.Imm(uint64(s.bytes))
	ADDQ(step, src)
	ADDQ(step, dst)
	if count > 8 {
		ADDQ(step, src8)
		ADDQ(step, dst8)
	}
	DECQ(columns)
	JNZ(operand.LabelRef("columns"))
	if !real {
		// The columns are all of a node's: the pointers are m beyond its beginning.
		skip := GP64()
		MOVQ(one, skip)
		SHLQ(operand.Imm(uint64(e+1)), skip)
		SUBQ(one, skip)
		ADDQ(skip, src)
		ADDQ(skip, dst)
		if count > 8 {
			ADDQ(skip, src8)
			ADDQ(skip, dst8)
		}
		ADDQ(operand.Imm(8), k)
		DECQ(nodes)
		JNZ(operand.LabelRef("nodes"))
	}
	VZEROUPPER()
	RET()
}

// loadTwiddles loads the twiddles of e levels below node k, 8·k bytes: the pair of node 2^level·k + q, q even, is 8 bytes at
// 2^level·8k + 8q. real: the node is 0, where this is the same place at any level.
func loadTwiddles(s isa, table, k reg.Register, e int, real bool) (at func(level, q int) twiddle) {
	type place struct{ level, q int }
	loaded := map[place]twiddle{}
	where := func(level, q int) place {
		if real {
			level = 0
		}
		return place{level, q}
	}
	for level := range e {
		for q := 0; q < 1<<level; q += 2 {
			p := where(level, q)
			if _, done := loaded[p]; done || real && level == 0 {
				continue
			}
			m := operand.Mem{Base: table, Disp: 8 * q}
			if !real {
				m.Index, m.Scale = k, 1<<level
			}
			w := twiddle{s.vector(), s.vector()}
			s.broadcast(m, w.c)
			m.Disp += 4
			s.broadcast(m, w.t)
			loaded[p] = w
		}
	}
	return func(level, q int) twiddle { return loaded[where(level, q)] }
}

func kindOf(real bool) string {
	if real {
		return "Real"
	}
	return ""
}

// split takes nodes e levels down: a node's 2^e complex streams of m numbers, real parts
// first, become 2^e nodes of m.
func split(s isa, e int, real bool) {
	radix := 1 << e
	pass(s, fmt.Sprintf("split%s%dx", kindOf(real), radix), fmt.Sprintf("goes %d levels down; gen describes its arguments.", e), e, real,
		func(load, store func(int) operand.Mem, w func(level, q int) twiddle) {
			z := make([]complexVector, radix)
			for j := range z {
				z[j] = complexVector{s.vector(), s.vector()}
				s.load(load(j), z[j].r)
				s.load(load(radix+j), z[j].i)
			}
			for level := range e {
				half := radix >> level / 2
				for q := range 1 << level {
					for j := 2 * half * q; j < 2*half*q+half; j++ {
						if real && q == 0 {
							z[j], z[j+half] = s.downReal(z[j], z[j+half])
						} else {
							z[j], z[j+half] = s.down(z[j], z[j+half], w(level, q&^1), q&1 == 1)
						}
					}
				}
			}
			for j := range z {
				s.store(z[j].r, store(2*j))
				s.store(z[j].i, store(2*j+1))
			}
		})
}

// join is the inverse of split, times 2^e.
func join(s isa, e int, real bool) {
	radix := 1 << e
	pass(s, fmt.Sprintf("join%s%dx", kindOf(real), radix), fmt.Sprintf("goes %d levels up; gen describes its arguments.", e), e, real,
		func(load, store func(int) operand.Mem, w func(level, q int) twiddle) {
			z := make([]complexVector, radix)
			for j := range z {
				z[j] = complexVector{s.vector(), s.vector()}
				s.load(load(2*j), z[j].r)
				s.load(load(2*j+1), z[j].i)
			}
			for level := e - 1; level >= 0; level-- {
				half := radix >> level / 2
				for q := range 1 << level {
					for j := 2 * half * q; j < 2*half*q+half; j++ {
						if real && q == 0 {
							z[j], z[j+half] = s.upReal(z[j], z[j+half])
						} else {
							z[j], z[j+half] = s.up(z[j], z[j+half], w(level, q&^1), q&1 == 1)
						}
					}
				}
			}
			for j := range z {
				s.store(z[j].r, store(j))
				s.store(z[j].i, store(radix+j))
			}
		})
}
