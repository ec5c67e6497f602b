package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Kernels for rows that stand side by side, one in each lane of a vector.

// transposed returns registers with the columns of the square matrix whose rows are v: as many
// of float32 as a vector has lanes. It takes v.
func (s isa) transposed(v []reg.VecVirtual) []reg.VecVirtual {
	n := len(v)
	pair := func(low, high func(...operand.Op), a, b reg.VecVirtual) (l, h reg.VecVirtual) {
		l, h = s.vector(), s.vector()
		low(b, a, l)
		high(b, a, h)
		return l, h
	}
	// Of each four rows, u[g][e] has in its quarter q the elements 4q+e.
	u := make([][4]reg.VecVirtual, n/4)
	for g := range u {
		l0, h0 := pair(VUNPCKLPS, VUNPCKHPS, v[4*g], v[4*g+1])
		l1, h1 := pair(VUNPCKLPS, VUNPCKHPS, v[4*g+2], v[4*g+3])
		u[g][0], u[g][1] = pair(VUNPCKLPD, VUNPCKHPD, l0, l1)
		u[g][2], u[g][3] = pair(VUNPCKLPD, VUNPCKHPD, h0, h1)
	}
	columns := make([]reg.VecVirtual, n)
	for e := range 4 {
		if n == 8 {
			quarters := func(which operand.Constant) func(...operand.Op) {
				return func(ops ...operand.Op) { VPERM2F128(which, ops[0], ops[1], ops[2]) }
			}
			columns[e], columns[4+e] = pair(quarters(operand.U8(0x20)), quarters(operand.U8(0x31)), u[0][e], u[1][e])
			continue
		}
		quarters := func(which operand.Constant) func(...operand.Op) {
			return func(ops ...operand.Op) { VSHUFF32X4(which, ops[0], ops[1], ops[2]) }
		}
		even, odd := quarters(operand.U8(0b10_00_10_00)), quarters(operand.U8(0b11_01_11_01))
		a0, a1 := pair(even, odd, u[0][e], u[1][e]) // quarters 0 and 2, 1 and 3 of both
		b0, b1 := pair(even, odd, u[2][e], u[3][e])
		columns[e], columns[8+e] = pair(even, odd, a0, b0)
		columns[4+e], columns[12+e] = pair(even, odd, a1, b1)
	}
	return columns
}

// through is the place offsets[i] bytes behind p.
func through(p, offsets reg.Register, i int) operand.Mem {
	at := GP64()
	MOVQ(operand.Mem{Base: offsets, Disp: 8 * i}, at)
	return operand.Mem{Base: p, Index: at, Scale: 1}
}

// scatter stores v[i] offsets[i] bytes behind p. Where offsets are equal, the first counts: that
// is how rows that are not there are written.
func (s isa) scatter(v []reg.VecVirtual, p, offsets reg.Register) {
	for i := len(v) - 1; i >= 0; i-- {
		s.store(v[i], through(p, offsets, i))
	}
}

// laneBlocks writes the transposition of square blocks.
func laneBlocks(s isa) {
	s.define("laneBlocks", "func(dst, src *T, to, from *int, dstStep, srcStep, blocks int)",
		"transposes square blocks. Their rows stand from[i] bytes behind src and dstStep, srcStep bytes "+
			"from block to block; their columns go to[i] bytes behind dst, the first one last.")
	dst, src, to, from := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("to"), GP64()), Load(Param("from"), GP64())
	dstStep, srcStep, blocks := Load(Param("dstStep"), GP64()), Load(Param("srcStep"), GP64()), Load(Param("blocks"), GP64())
	Label("loop")
	v := s.vectors(s.lanes())
	for i := range v {
		s.load(through(src, from, i), v[i])
	}
	s.scatter(s.transposed(v), dst, to)
	ADDQ(srcStep, src)
	ADDQ(dstStep, dst)
	DECQ(blocks)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// laneSums writes sums of columns with the signs of lists, for 64 rows side by side.
func laneSums(s isa) {
	const rows = 64
	s.define("laneSums", "func(dst *T, step, group int, src *T, ptr *int, idx *int32, lists int, scale T, shift *T)",
		"computes, for each of some lists, scale·(Σ src[i] - Σ src[j]), i from idx[ptr[0]:ptr[1]] and j from idx[ptr[1]:ptr[2]], "+
			"plus shift, if that is not nil. Each element of src is 64 numbers. The result goes to dst, 16 numbers each group bytes; "+
			"the next list's step bytes further.")
	dst, step, group := Load(Param("dst"), GP64()), Load(Param("step"), GP64()), Load(Param("group"), GP64())
	src, ptr, idx, lists := Load(Param("src"), GP64()), Load(Param("ptr"), GP64()), Load(Param("idx"), GP64()), Load(Param("lists"), GP64())
	shift := Load(Param("shift"), GP64())
	scale := s.vector()
	s.broadcast(argument("scale"), scale)
	at, end := GP64(), GP64()
	MOVQ(operand.Mem{Base: ptr}, at)
	Label("list")
	sums := s.vectors(rows / s.lanes())
	for _, v := range sums {
		s.zero(v)
	}
	for sign, add := range []func(...operand.Op){s.add, s.sub} {
		loop, done := []string{"plus", "minus"}[sign], []string{"plussed", "minussed"}[sign]
		MOVQ(operand.Mem{Base: ptr, Disp: 8 * (sign + 1)}, end)
		CMPQ(at, end)
		JGE(operand.LabelRef(done))
		Label(loop)
		i := GP64()
		MOVL(operand.Mem{Base: idx, Index: at, Scale: 4}, i.As32())
		SHLQ(operand.U8(8), i)
		for k, v := range sums {
			add(operand.Mem{Base: src, Index: i, Scale: 1, Disp: k * s.bytes}, v, v)
		}
		INCQ(at)
		CMPQ(at, end)
		JL(operand.LabelRef(loop))
		Label(done)
	}
	ADDQ(operand.U8(16), ptr)
	for _, v := range sums {
		s.mul(scale, v, v)
	}
	TESTQ(shift, shift)
	JZ(operand.LabelRef("store"))
	constant := s.vector()
	s.broadcast(operand.Mem{Base: shift}, constant)
	for _, v := range sums {
		s.add(constant, v, v)
	}
	ADDQ(operand.U8(4), shift)
	Label("store")
	to := GP64()
	MOVQ(dst, to)
	parts := 64 / s.bytes
	for k, v := range sums {
		s.store(v, operand.Mem{Base: to, Disp: k % parts * s.bytes})
		if k%parts == parts-1 && k < len(sums)-1 {
			ADDQ(group, to)
		}
	}
	ADDQ(step, dst)
	DECQ(lists)
	JNZ(operand.LabelRef("list"))
	VZEROUPPER()
	RET()
}

// products writes sums of products of the numbers of rows side by side.
func products(s isa) {
	n := s.lanes()
	s.define("products", "func(dst *T, to *int, src *T, index *uint16, stride, degree, terms, blocks int, zero, scale T)",
		"computes as many outputs as a vector has lanes, for as many rows, and that for some blocks: "+
			"scale·(zero + Σ Π src[index]), sums of so many terms of degree factors. "+
			"Each element of src is 16 numbers, of which it takes the first. "+
			"A factor's indices for all outputs are stride bytes from those of the one before. "+
			"Row i goes to[i] bytes behind dst, the first one last.")
	dst, to, src, index := Load(Param("dst"), GP64()), Load(Param("to"), GP64()), Load(Param("src"), GP64()), Load(Param("index"), GP64())
	stride, blocks := Load(Param("stride"), GP64()), Load(Param("blocks"), GP64())
	Label("block")
	sums := s.vectors(n)
	for _, v := range sums {
		s.broadcast(argument("zero"), v)
	}
	at, terms := GP64(), GP64()
	MOVQ(index, at)
	MOVQ(argument("terms"), terms)
	factor := func(c int) operand.Mem {
		i := GP64()
		MOVWLZX(operand.Mem{Base: at, Disp: 2 * c}, i.As32())
		SHLQ(operand.U8(6), i)
		return operand.Mem{Base: src, Index: i, Scale: 1}
	}
	Label("term")
	product := s.vectors(n)
	for c, v := range product {
		s.load(factor(c), v)
	}
	ADDQ(stride, at)
	factors := GP64()
	MOVQ(argument("degree"), factors)
	DECQ(factors)
	JZ(operand.LabelRef("sum"))
	Label("factor")
	for c, v := range product {
		s.mul(factor(c), v, v)
	}
	ADDQ(stride, at)
	DECQ(factors)
	JNZ(operand.LabelRef("factor"))
	Label("sum")
	for c, v := range product {
		s.add(v, sums[c], sums[c])
	}
	DECQ(terms)
	JNZ(operand.LabelRef("term"))
	scale := s.vector()
	s.broadcast(argument("scale"), scale)
	for _, v := range sums {
		s.mul(scale, v, v)
	}
	s.scatter(s.transposed(sums), dst, to)
	ADDQ(operand.U32(uint32(s.bytes)), dst)
	ADDQ(operand.U32(uint32(2*n)), index)
	DECQ(blocks)
	JNZ(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

// productsRow writes products for a single row, whose numbers are gathered.
func productsRow(s isa) {
	const group = 2 // vectors of outputs
	n := s.lanes()
	s.define("productsRow", "func(dst, src *T, index *uint16, stride, degree, terms, blocks int, zero, scale T)",
		fmt.Sprintf("computes %d outputs of a row, and that for some blocks: "+
			"scale·(zero + Σ Π src[index]), sums of so many terms of degree factors. "+
			"A factor's indices for all outputs are stride bytes from those of the one before.", group*n))
	dst, src, index := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("index"), GP64())
	stride, blocks := Load(Param("stride"), GP64()), Load(Param("blocks"), GP64())
	// The masks of all lanes: a gather clears its own.
	var every reg.Register
	ones := s.vector()
	if s.level == "avx512" {
		every = K()
		KXNORW(every, every, every)
	} else {
		s.zero(ones)
		VPCMPEQD(ones, ones, ones)
	}
	Label("block")
	sums := s.vectors(group)
	for _, v := range sums {
		s.broadcast(argument("zero"), v)
	}
	at, terms := GP64(), GP64()
	MOVQ(index, at)
	MOVQ(argument("terms"), terms)
	factor := func(c int, v reg.VecVirtual) {
		i := s.vector()
		VPMOVZXWD(operand.Mem{Base: at, Disp: 2 * c * n}, i)
		from := operand.Mem{Base: src, Index: i, Scale: 4}
		s.zero(v) // or the gather would wait for what was there
		if s.level == "avx512" {
			k := K()
			KXNORW(every, every, k)
			VGATHERDPS(from, k, v)
			return
		}
		all := s.vector()
		s.move(ones, all)
		VGATHERDPS(all, from, v)
	}
	Label("term")
	product := s.vectors(group)
	for c, v := range product {
		factor(c, v)
	}
	ADDQ(stride, at)
	factors := GP64()
	MOVQ(argument("degree"), factors)
	DECQ(factors)
	JZ(operand.LabelRef("sum"))
	Label("factor")
	for c, v := range product {
		w := s.vector()
		factor(c, w)
		s.mul(w, v, v)
	}
	ADDQ(stride, at)
	DECQ(factors)
	JNZ(operand.LabelRef("factor"))
	Label("sum")
	for c, v := range product {
		s.add(v, sums[c], sums[c])
	}
	DECQ(terms)
	JNZ(operand.LabelRef("term"))
	scale := s.vector()
	s.broadcast(argument("scale"), scale)
	for c, v := range sums {
		s.mul(scale, v, v)
		s.store(v, operand.Mem{Base: dst, Disp: c * s.bytes})
	}
	ADDQ(operand.U32(uint32(group*s.bytes)), dst)
	ADDQ(operand.U32(uint32(2*group*n)), index)
	DECQ(blocks)
	JNZ(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

func lanes() {
	for _, level := range []string{"avx512", "avx2"} {
		s := newISA(level, 4)
		laneBlocks(s)
		laneSums(s)
		products(s)
		productsRow(s)
	}
}
