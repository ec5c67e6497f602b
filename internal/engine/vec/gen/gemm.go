package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A micro-kernel computes an mr×nr tile of C, C = A·B or C += A·B, as mr·nr/lanes vectors
// that stay in registers over the whole inner dimension:
//
//	a  row i at l stands i·ars + l·acs bytes on: packed, or as it is
//	b  nr contiguous numbers for each l, ldb bytes apart
//	c  rows ldc bytes apart
//
// Each element is one chain of fused multiply-adds in the order of l, the same in every
// kernel, so that kernels of any shape agree to the bit.
func microKernel(s isa, name string, mr, vectors int) {
	s.define(name, "func(k int, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add int)",
		fmt.Sprintf("computes a %d×%d tile; gen describes its arguments.", mr, vectors*s.lanes()))
	k := Load(Param("k"), GP64())
	ars := Load(Param("ars"), GP64())
	acs := Load(Param("acs"), GP64())
	b := Load(Param("b"), GP64())
	ldb := Load(Param("ldb"), GP64())

	a := pointToRows(Load(Param("a"), GP64()), ars, mr)

	acc := make([][]reg.VecVirtual, mr)
	for i := range acc {
		for range vectors {
			v := s.vector()
			s.zero(v)
			acc[i] = append(acc[i], v)
		}
	}
	if mr > 1 {
		prefetchTile(s, mr, vectors)
	}
	bs, av := s.vectors(vectors), s.vector()
	label := "loop"
	TESTQ(k, k)
	JZ(operand.LabelRef("store"))
	Label(label)
	for j := range bs {
		s.load(s.at(b, j), bs[j])
	}
	for i := range mr {
		s.broadcast(a.row(i), av)
		for j := range bs {
			s.fma231(bs[j], av, acc[i][j])
		}
	}
	a.advance(acs)
	ADDQ(ldb, b)
	DECQ(k)
	JNZ(operand.LabelRef(label))

	Label("store")
	storeTile(s, acc)
	VZEROUPPER()
	RET()
}

// prefetchTile has the tile on its way to the cache while the products are computed.
func prefetchTile(s isa, mr, vectors int) {
	to, step := Load(Param("c"), GP64()), Load(Param("ldc"), GP64())
	for i := range mr {
		PREFETCHT0(operand.Mem{Base: to})
		if vectors*s.bytes > 64 {
			PREFETCHT0(operand.Mem{Base: to, Disp: 64})
		}
		if i+1 < mr {
			ADDQ(step, to)
		}
	}
}

// storeTile writes the rows of a tile to C, or adds them to what is there.
func storeTile(s isa, acc [][]reg.VecVirtual) {
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	add := Load(Param("add"), GP64())
	TESTQ(add, add)
	JZ(operand.LabelRef("overwrite"))
	at := GP64()
	MOVQ(c, at)
	for i, row := range acc {
		for j := range row {
			s.add(s.at(at, j), row[j], row[j])
		}
		if i+1 < len(acc) {
			ADDQ(ldc, at)
		}
	}
	Label("overwrite")
	for i, row := range acc {
		for j := range row {
			s.store(row[j], s.at(c, j))
		}
		if i+1 < len(acc) {
			ADDQ(ldc, c)
		}
	}
}

// blocksOfRow multiplies, for one row of A, count blocks of k numbers, one after the other, with as many blocks of rows of B,
// ldb bytes apart, and stores the sums as rows of C, two vectors apart. The chains side by side hide how long
// a multiply-add takes. Of the last vector of columns it touches those whose mask, of int32, is -1. Vectors
// have 8 lanes at every level: rows of B start anywhere, and vectors of 16 would always lie in two cache lines.
func blocksOfRow(s isa, count, vectors int) {
	s.bytes = 32
	s.define(fmt.Sprintf("row%dx%dx", count, vectors), "func(k int, a, b *T, ldb int, mask *int32, c *T)",
		fmt.Sprintf("computes %d blocks of up to %d columns of a row; gen describes its arguments.", count, vectors*s.lanes()))
	k, a, b, ldb := Load(Param("k"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64()), Load(Param("ldb"), GP64())
	mask, c := Load(Param("mask"), GP64()), Load(Param("c"), GP64())
	lanes, some, y := s.vector(), K(), s.vector()
	VMOVDQU(operand.Mem{Base: mask}, lanes)
	if s.level == "avx512" {
		VPMOVD2M(lanes, some)
	}
	multiply := func(j int, m operand.Mem, v, acc reg.VecVirtual) {
		switch {
		case j+1 < vectors:
			s.fma231(m, v, acc)
		case s.level == "avx512":
			VFMADD231PS(m, v, some, acc)
		default:
			VMASKMOVPS(m, lanes, y)
			s.fma231(y, v, acc)
		}
	}
	block := func(p reg.Register, bytes reg.Register) func(i, disp int) operand.Mem {
		if count == 1 {
			return func(_, disp int) operand.Mem { return operand.Mem{Base: p, Disp: disp} }
		}
		three := GP64()
		LEAQ(operand.Mem{Base: bytes, Index: bytes, Scale: 2}, three)
		return func(i, disp int) operand.Mem {
			switch i {
			case 0:
				return operand.Mem{Base: p, Disp: disp}
			case 3:
				return operand.Mem{Base: p, Index: three, Scale: 1, Disp: disp}
			}
			return operand.Mem{Base: p, Index: bytes, Scale: uint8(i), Disp: disp}
		}
	}
	ofA, ofB := GP64(), GP64()
	MOVQ(k, ofA)
	SHLQ(operand.U8(bits.TrailingZeros(uint(s.float))), ofA)
	MOVQ(k, ofB)
	IMULQ(ldb, ofB)
	atA, atB := block(a, ofA), block(b, ofB)
	acc, v := s.vectors(count*vectors), s.vector()
	for _, x := range acc {
		s.zero(x)
	}
	Label("loop")
	for i := range count {
		s.broadcast(atA(i, 0), v)
		for j := range vectors {
			multiply(j, atB(i, j*s.bytes), v, acc[i*vectors+j])
		}
	}
	ADDQ(operand.U8(s.float), a)
	ADDQ(ldb, b)
	DECQ(k)
	JNZ(operand.LabelRef("loop"))
	for i := range count {
		for j := range vectors {
			s.store(acc[i*vectors+j], s.at(c, 2*i+j))
		}
	}
	VZEROUPPER()
	RET()
}

// strip copies, of each of many rows, n numbers to the place behind those of the row before;
// and the same for the n numbers beside them, count times, next bytes on.
func strip(s isa, name string, n int) {
	s.define(name, "func(dst, src *T, rows, stride, count, next int)",
		fmt.Sprintf("copies strips of %d numbers; gen describes its arguments.", n))
	dst0, src0, rows, stride := Load(Param("dst"), GP64()), Load(Param("src"), GP64()),
		Load(Param("rows"), GP64()), Load(Param("stride"), GP64())
	count0, next := Load(Param("count"), GP64()), Load(Param("next"), GP64())
	dst, src, count := GP64(), GP64(), GP64()
	full, rest := n/s.lanes(), n%s.lanes()
	v := s.vector()
	copyRest := func() {}
	switch {
	case rest == 0:
	case s.bytes == 64:
		mask, bits := K(), GP32()
		MOVL(operand.U32(1<<rest-1), bits)
		KMOVW(bits, mask)
		copyRest = func() {
			if s.float == 4 {
				VMOVUPS_Z(s.at(src, full), mask, v)
				VMOVUPS(v, mask, s.at(dst, full))
				return
			}
			VMOVUPD_Z(s.at(src, full), mask, v)
			VMOVUPD(v, mask, s.at(dst, full))
		}
	default:
		// 6 float32 are 24 bytes, 6 float64 a vector and 16 bytes.
		copyRest = func() {
			x := XMM()
			VMOVUPS(s.at(src, full), x)
			VMOVUPS(x, s.at(dst, full))
			if left := rest*s.float - 16; left == 8 {
				at, to := s.at(src, full), s.at(dst, full)
				at.Disp, to.Disp = at.Disp+16, to.Disp+16
				VMOVSD(at, x)
				VMOVSD(x, to)
			}
		}
	}
	Label("loop")
	MOVQ(dst0, dst)
	MOVQ(src0, src)
	MOVQ(count0, count)
	Label("strips")
	for i := range full {
		s.load(s.at(src, i), v)
		s.store(v, s.at(dst, i))
	}
	copyRest()
	ADDQ(operand.U32(n*s.float), src)
	ADDQ(next, dst)
	DECQ(count)
	JNZ(operand.LabelRef("strips"))
	ADDQ(operand.U32(n*s.float), dst0)
	ADDQ(stride, src0)
	DECQ(rows)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// expect brings the rows that widen will add to on their way to the cache.
func expect(s isa, vectors int) {
	s.define("expect", "func(dst *float64, ldd, rows int)", "prefetches a tile of float64.")
	dst, ldd, rows := Load(Param("dst"), GP64()), Load(Param("ldd"), GP64()), Load(Param("rows"), GP64())
	Label("loop")
	for at := 0; at < 2*vectors*s.bytes; at += 64 {
		PREFETCHT0(operand.Mem{Base: dst, Disp: at})
	}
	ADDQ(ldd, dst)
	DECQ(rows)
	JNZ(operand.LabelRef("loop"))
	RET()
}

// widen adds rows of float32, two vectors wide and one behind the other, to rows of float64
// that are ldd bytes apart.
func widen(s isa, vectors int) {
	s.define("widen", "func(dst *float64, ldd int, src *T, rows int)", "adds a tile of float32 to one of float64.")
	dst, ldd, src, rows := Load(Param("dst"), GP64()), Load(Param("ldd"), GP64()), Load(Param("src"), GP64()), Load(Param("rows"), GP64())
	Label("loop")
	for i := range 2 * vectors {
		v := s.vector()
		VCVTPS2PD(operand.Mem{Base: src, Disp: i * s.bytes / 2}, v)
		VADDPD(s.at(dst, i), v, v)
		VMOVUPD(v, s.at(dst, i))
	}
	ADDQ(operand.U32(vectors*s.bytes), src)
	ADDQ(ldd, dst)
	DECQ(rows)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// sparse computes columns of a row of C, those of packed panels of B, step bytes apart, from the
// elements of a row of A: element t is val[t] of column idx[t]. Those of a block of the inner
// dimension, of which there are counts, are one chain, as in the micro-kernels. There must be a
// block, and an element in each. The eight chains of four panels hide how long a multiply-add
// takes; those of one do not.
func sparse(s isa, name string, vectors, panels int) {
	s.define(name, "func(blocks int, counts, idx *int32, val, panel *T, step int, c *T, add int)",
		"computes columns of a row; gen describes its arguments.")
	blocks, counts, idx, val, c, add := Load(Param("blocks"), GP64()), Load(Param("counts"), GP64()),
		Load(Param("idx"), GP64()), Load(Param("val"), GP64()), Load(Param("c"), GP64()), Load(Param("add"), GP64())
	panel := []reg.Register{Load(Param("panel"), GP64())}
	if panels > 1 {
		step := Load(Param("step"), GP64())
		for i := 1; i < panels; i++ {
			next := GP64()
			LEAQ(operand.Mem{Base: panel[i-1], Index: step, Scale: 1}, next)
			panel = append(panel, next)
		}
	}
	acc := s.vectors(panels * vectors)
	v, row, n := s.vector(), GP64(), GP64()
	Label("block")
	MOVLQSX(operand.Mem{Base: counts}, n)
	ADDQ(operand.U8(4), counts)
	for _, a := range acc {
		s.zero(a)
	}
	Label("element")
	MOVLQSX(operand.Mem{Base: idx}, row)
	SHLQ(operand.U8(bits.TrailingZeros(uint(vectors*s.bytes))), row)
	s.broadcast(operand.Mem{Base: val}, v)
	for i, p := range panel {
		for j := range vectors {
			s.fma231(operand.Mem{Base: p, Index: row, Scale: 1, Disp: j * s.bytes}, v, acc[i*vectors+j])
		}
	}
	ADDQ(operand.U8(4), idx)
	ADDQ(operand.U8(s.float), val)
	DECQ(n)
	JNZ(operand.LabelRef("element"))
	TESTQ(add, add)
	JZ(operand.LabelRef("store"))
	for j, a := range acc {
		s.add(s.at(c, j), a, a)
	}
	Label("store")
	for j, a := range acc {
		s.store(a, s.at(c, j))
	}
	MOVQ(operand.U32(1), add)
	DECQ(blocks)
	JNZ(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

// nonzeros lists the numbers of x that are not zero, and their columns, the first of which is
// given. Behind the lists a vector more may be written.
func nonzeros(s isa) {
	s.define("nonzeros", "func(n int, x *T, first *int32, idx *int32, val *T) int",
		"lists what is not zero in x, n a multiple of the lanes; first is the columns of the first vector.")
	n, x, idx, val := Load(Param("n"), GP64()), Load(Param("x"), GP64()), Load(Param("idx"), GP64()), Load(Param("val"), GP64())
	vector := func() reg.VecVirtual { // of int32, as many as the lanes
		if s.float == 4 {
			return ZMM()
		}
		return YMM()
	}
	columns, step, v, zero, listed, listedColumns := vector(), vector(), s.vector(), s.vector(), s.vector(), vector()
	VMOVDQU32(operand.Mem{Base: Load(Param("first"), GP64())}, columns)
	lanes, count, found, k := GP32(), GP64(), GP32(), K()
	MOVL(operand.U32(s.lanes()), lanes)
	VPBROADCASTD(lanes, step)
	s.zero(zero)
	XORQ(count, count)
	Label("loop")
	s.load(operand.Mem{Base: x}, v)
	const notEqual = 4 // or not a number
	if s.float == 4 {
		VCMPPS(operand.U8(notEqual), zero, v, k)
		VCOMPRESSPS(v, k, listed)
	} else {
		VCMPPD(operand.U8(notEqual), zero, v, k)
		VCOMPRESSPD(v, k, listed)
	}
	VPCOMPRESSD(columns, k, listedColumns)
	s.store(listed, operand.Mem{Base: val, Index: count, Scale: uint8(s.float)})
	VMOVDQU32(listedColumns, operand.Mem{Base: idx, Index: count, Scale: 4})
	KMOVW(k, found)
	POPCNTL(found, found)
	ADDQ(found.As64(), count)
	VPADDD(step, columns, columns)
	ADDQ(operand.U8(s.bytes), x)
	SUBQ(operand.U8(s.lanes()), n)
	JNZ(operand.LabelRef("loop"))
	Store(count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func gemm() {
	everyISA(func(s isa) {
		mr := 6
		if s.level == "avx512" {
			mr = 14
		}
		microKernel(s, "tile", mr, 2)
		microKernel(s, "row", 1, 2)
		strip(s, "strip", mr)
		strip(s, "panel", 2*s.lanes())
		sparse(s, "sparse", 2, 4)
		sparse(s, "sparseOne", 2, 1)
		if s.level == "avx512" {
			nonzeros(s)
		}
		if s.float == 4 {
			for _, count := range []int{1, 4} {
				blocksOfRow(s, count, 1)
				blocksOfRow(s, count, 2)
			}
			widen(s, 2)
			expect(s, 2)
		}
	})
}
