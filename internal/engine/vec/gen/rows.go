package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Sums and products of rows of a matrix that lists name, and its transposition.

func listedRows() {
	for _, level := range []string{"avx512", "avx2"} {
		s := newISA(level, 4)
		signedSums(s)
		pairDots(s)
		transposeMatrix(s)
		signTables(s)
		signProducts(s)
	}
}

// Products of a matrix of signs with 16 columns: the 16 sums of each four rows with all their signs
// stand in a table, and four signs together choose one (the "four Russians").

// signTables writes the sums ±x₀±x₁±x₂±x₃ of each four rows of 16 numbers: bit i of an index is the minus of x_i.
func signTables(s isa) {
	s.define("signTables", "func(table, x *T, groups int)", "writes the 16 signed sums of each four rows of 16 numbers.")
	table, x, groups := Load(Param("table"), GP64()), Load(Param("x"), GP64()), Load(Param("groups"), GP64())
	parts := 64 / s.bytes
	zero := s.vector()
	s.zero(zero)
	Label("group")
	for part := range parts {
		pair := func(i int) (u [4]reg.VecVirtual) { // the sums of rows i and i+1
			a, b := s.vector(), s.vector()
			s.load(s.at(x, i*parts+part), a)
			s.load(s.at(x, (i+1)*parts+part), b)
			u = [4]reg.VecVirtual{s.vector(), s.vector(), s.vector(), s.vector()}
			s.add(b, a, u[0])
			s.sub(a, b, u[1])
			s.sub(b, a, u[2])
			s.sub(u[0], zero, u[3])
			return u
		}
		u, v := pair(0), pair(2)
		sum := s.vector()
		for q := range 16 {
			s.add(v[q/4], u[q%4], sum)
			s.store(sum, s.at(table, q*parts+part))
		}
	}
	ADDQ(operand.U32(4*64), x)
	ADDQ(operand.U32(16*64), table)
	DECQ(groups)
	JNZ(operand.LabelRef("group"))
	VZEROUPPER()
	RET()
}

// signProducts adds up, for each of n rows of codes, the sums that they choose in the tables.
func signProducts(s isa) {
	s.define("signProducts", "func(dst, table *T, codes *byte, stride, pairs, n, add int)",
		"writes n rows of 16 sums of numbers of tables, chosen by pairs of bytes, or adds to them.")
	dst, table, codes, stride := Load(Param("dst"), GP64()), Load(Param("table"), GP64()),
		Load(Param("codes"), GP64()), Load(Param("stride"), GP64())
	pairs, n, add := Load(Param("pairs"), GP64()), Load(Param("n"), GP64()), Load(Param("add"), GP64())
	parts := 64 / s.bytes
	var acc [4][]reg.VecVirtual
	for k := range acc {
		acc[k] = s.vectors(parts)
	}
	from, code, left := GP64(), GP64(), GP64()
	Label("row")
	for _, a := range acc {
		for _, v := range a {
			s.zero(v)
		}
	}
	MOVQ(table, from)
	MOVQ(codes, code)
	MOVQ(pairs, left)
	Label("pair")
	bits := GP32()
	MOVWLZX(operand.Mem{Base: code}, bits)
	for k, a := range acc {
		place := GP32()
		MOVL(bits, place)
		if shift := 4*k - 6; shift < 0 {
			SHLL(operand.U8(-shift), place)
		} else {
			SHRL(operand.U8(shift), place)
		}
		ANDL(operand.U32(15*64), place)
		for part, v := range a {
			s.add(operand.Mem{Base: from, Index: place.As64(), Scale: 1, Disp: k*16*64 + part*s.bytes}, v, v)
		}
	}
	ADDQ(operand.U32(4*16*64), from)
	ADDQ(operand.U32(2), code)
	DECQ(left)
	JNZ(operand.LabelRef("pair"))
	for part := range parts {
		s.add(acc[1][part], acc[0][part], acc[0][part])
		s.add(acc[3][part], acc[2][part], acc[2][part])
		s.add(acc[2][part], acc[0][part], acc[0][part])
	}
	CMPQ(add, operand.U8(0))
	JE(operand.LabelRef("store"))
	for part := range parts {
		s.add(s.at(dst, part), acc[0][part], acc[0][part])
	}
	Label("store")
	for part := range parts {
		s.store(acc[0][part], s.at(dst, part))
	}
	ADDQ(operand.U32(64), dst)
	ADDQ(stride, codes)
	DECQ(n)
	JNZ(operand.LabelRef("row"))
	VZEROUPPER()
	RET()
}

// sumStrip is how many vectors of a sum are in registers at a time.
const sumStrip = 8

// signedSums writes n rows of dst, each the sum of rows of x of width bytes, a multiple of 64.
func signedSums(s isa) {
	s.define("signedSums", "func(dst, x *T, width, n int, ptr *int32, list *uint32)",
		"writes n rows of signed sums of rows of x, of width bytes, a multiple of 64.")
	dst, x, width, n := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("width"), GP64()), Load(Param("n"), GP64())
	ptr, list := Load(Param("ptr"), GP64()), Load(Param("list"), GP64())
	lo, hi, left, from := GP64(), GP64(), GP64(), GP64()
	acc, sign := s.vectors(sumStrip), s.vector()

	// sum sums up the next vectors of a row.
	sum := func(vectors int) {
		name := fmt.Sprint(vectors)
		for _, v := range acc[:vectors] {
			s.zero(v)
		}
		entry := GP64()
		MOVQ(lo, entry)
		CMPQ(entry, hi)
		JGE(operand.LabelRef("summed" + name))
		Label("sum" + name)
		place, bits := GP32(), GP32()
		MOVL(operand.Mem{Base: entry}, place)
		MOVL(place, bits)
		ANDL(operand.U32(1<<31), bits)
		ORL(operand.U32(0x3f800000), bits) // 1 or -1
		ANDL(operand.U32(1<<31-1), place)
		row := place.As64()
		IMULQ(width, row)
		ADDQ(from, row)
		low := XMM()
		VMOVD(bits, low)
		s.broadcast(low, sign)
		for i, v := range acc[:vectors] {
			s.fma231(s.at(row, i), sign, v)
		}
		ADDQ(operand.U32(4), entry)
		CMPQ(entry, hi)
		JLT(operand.LabelRef("sum" + name))
		Label("summed" + name)
		for i, v := range acc[:vectors] {
			s.store(v, s.at(dst, i))
		}
		ADDQ(operand.U32(vectors*s.bytes), dst)
	}

	Label("row")
	MOVLQSX(operand.Mem{Base: ptr}, lo)
	MOVLQSX(operand.Mem{Base: ptr, Disp: 4}, hi)
	ADDQ(operand.U32(4), ptr)
	LEAQ(operand.Mem{Base: list, Index: lo, Scale: 4}, lo)
	LEAQ(operand.Mem{Base: list, Index: hi, Scale: 4}, hi)
	MOVQ(width, left)
	MOVQ(x, from)
	SUBQ(operand.U32(sumStrip*s.bytes), left)
	JL(operand.LabelRef("rest"))
	Label("strip")
	sum(sumStrip)
	ADDQ(operand.U32(sumStrip*s.bytes), from)
	SUBQ(operand.U32(sumStrip*s.bytes), left)
	JGE(operand.LabelRef("strip"))
	Label("rest")
	ADDQ(operand.U32(sumStrip*s.bytes), left)
	step := max(1, 64/s.bytes)
	for vectors := sumStrip - step; vectors > 0; vectors -= step {
		CMPQ(left, operand.U32(vectors*s.bytes))
		JNE(operand.LabelRef(fmt.Sprint("not", vectors)))
		sum(vectors)
		JMP(operand.LabelRef("next"))
		Label(fmt.Sprint("not", vectors))
	}
	Label("next")
	DECQ(n)
	JNZ(operand.LabelRef("row"))
	VZEROUPPER()
	RET()
}

// pairDots adds to each of n numbers the product of two rows, summed like a dot product.
func pairDots(s isa) {
	s.define("pairDots", "func(y, k, h *T, width, n int, a, b *int32)",
		"adds k[a[c]]·h[b[c]], rows of width bytes, a multiple of 64, to n numbers y[c].")
	y, k, h, width, n := Load(Param("y"), GP64()), Load(Param("k"), GP64()),
		Load(Param("h"), GP64()), Load(Param("width"), GP64()), Load(Param("n"), GP64())
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	count := sums / s.bytes
	acc, v := s.vectors(count), s.vector()
	p, q, left := GP64(), GP64(), GP64()
	Label("pair")
	MOVLQSX(operand.Mem{Base: a}, p)
	MOVLQSX(operand.Mem{Base: b}, q)
	IMULQ(width, p)
	IMULQ(width, q)
	ADDQ(k, p)
	ADDQ(h, q)
	for _, v := range acc {
		s.zero(v)
	}
	block := func(vectors int) {
		for i := range vectors {
			s.load(s.at(p, i), v)
			s.fma231(s.at(q, i), v, acc[i])
		}
		ADDQ(operand.U32(vectors*s.bytes), p)
		ADDQ(operand.U32(vectors*s.bytes), q)
	}
	MOVQ(width, left)
	SUBQ(operand.U32(sums), left)
	JL(operand.LabelRef("few"))
	Label("loop")
	block(count)
	SUBQ(operand.U32(sums), left)
	JGE(operand.LabelRef("loop"))
	Label("few")
	ADDQ(operand.U32(sums-64), left)
	JL(operand.LabelRef("end"))
	Label("fewloop")
	block(64 / s.bytes)
	SUBQ(operand.U32(64), left)
	JGE(operand.LabelRef("fewloop"))
	Label("end")
	sum := s.total(acc)
	VADDSS(operand.Mem{Base: y}, sum, sum)
	VMOVSS(sum, operand.Mem{Base: y})
	for _, p := range []reg.Register{y, a, b} {
		ADDQ(operand.U32(4), p)
	}
	DECQ(n)
	JNZ(operand.LabelRef("pair"))
	VZEROUPPER()
	RET()
}

// transposeMatrix writes blocks of 8×8 numbers of src, rows and cols of them, in their places in dst.
func transposeMatrix(s isa) {
	s.define("transpose", "func(dst *T, ldd int, src *T, lds, rows, cols int)",
		"transposes 8·rows × 8·cols numbers; ldd and lds are bytes.")
	dst, ldd, src, lds := Load(Param("dst"), GP64()), Load(Param("ldd"), GP64()), Load(Param("src"), GP64()), Load(Param("lds"), GP64())
	rows, cols := Load(Param("rows"), GP64()), Load(Param("cols"), GP64())
	// Three strides reach four rows; four more stand behind a second pointer.
	lds3, ldd3 := GP64(), GP64()
	LEAQ(operand.Mem{Base: lds, Index: lds, Scale: 2}, lds3)
	LEAQ(operand.Mem{Base: ldd, Index: ldd, Scale: 2}, ldd3)
	row := func(low, high, ld, ld3 reg.Register, r, disp int) operand.Mem {
		m := operand.Mem{Base: low, Disp: disp}
		if r >= 4 {
			m.Base = high
		}
		switch r % 4 {
		case 1:
			m.Index, m.Scale = ld, 1
		case 2:
			m.Index, m.Scale = ld, 2
		case 3:
			m.Index, m.Scale = ld3, 1
		}
		return m
	}
	Label("rows")
	from, to, left := GP64(), GP64(), GP64()
	MOVQ(src, from)
	MOVQ(dst, to)
	MOVQ(cols, left)
	Label("cols")
	fromHigh, toHigh := GP64(), GP64()
	LEAQ(operand.Mem{Base: from, Index: lds, Scale: 4}, fromHigh)
	LEAQ(operand.Mem{Base: to, Index: ldd, Scale: 4}, toHigh)
	for half := range 2 {
		var t [4]reg.VecVirtual // rows r and r+4, four numbers of each
		for r := range t {
			t[r] = YMM()
			VMOVUPS(row(from, fromHigh, lds, lds3, r, 16*half), t[r].AsX())
			VINSERTF128(operand.U8(1), row(from, fromHigh, lds, lds3, r+4, 16*half), t[r], t[r])
		}
		u := [4]reg.VecVirtual{YMM(), YMM(), YMM(), YMM()}
		VUNPCKLPS(t[1], t[0], u[0])
		VUNPCKHPS(t[1], t[0], u[1])
		VUNPCKLPS(t[3], t[2], u[2])
		VUNPCKHPS(t[3], t[2], u[3])
		VUNPCKLPD(u[2], u[0], t[0])
		VUNPCKHPD(u[2], u[0], t[1])
		VUNPCKLPD(u[3], u[1], t[2])
		VUNPCKHPD(u[3], u[1], t[3])
		for c := range t {
			VMOVUPS(t[c], row(to, toHigh, ldd, ldd3, 4*half+c, 0))
		}
	}
	ADDQ(operand.U32(32), from)
	LEAQ(operand.Mem{Base: to, Index: ldd, Scale: 8}, to)
	DECQ(left)
	JNZ(operand.LabelRef("cols"))
	LEAQ(operand.Mem{Base: src, Index: lds, Scale: 8}, src)
	ADDQ(operand.U32(32), dst)
	DECQ(rows)
	JNZ(operand.LabelRef("rows"))
	VZEROUPPER()
	RET()
}
