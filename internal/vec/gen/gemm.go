package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A micro-kernel computes an mr×nr tile of C, C = A·B or C += A·B, as mr·nr/lanes vectors
// that stay in registers over the whole inner dimension:
//
//	a  packed: mr numbers for each l, contiguous
//	b  nr contiguous numbers for each l, ldb bytes apart
//	c  rows ldc bytes apart
//
// Each element is one chain of fused multiply-adds in the order of l, the same in every
// kernel, so that kernels of any shape agree to the bit.
func microKernel(s isa, name string, mr, vectors int) {
	s.define(name, "func(k int, a, b *T, ldb int, c *T, ldc int, add int)",
		fmt.Sprintf("computes a %d×%d tile; gen describes its arguments.", mr, vectors*s.lanes()))
	k := Load(Param("k"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	ldb := Load(Param("ldb"), GP64())
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	add := Load(Param("add"), GP64())

	acc := make([][]reg.VecVirtual, mr)
	for i := range acc {
		for range vectors {
			v := s.vector()
			s.zero(v)
			acc[i] = append(acc[i], v)
		}
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
		s.broadcast(operand.Mem{Base: a, Disp: i * s.float}, av)
		for j := range bs {
			s.fma231(bs[j], av, acc[i][j])
		}
	}
	ADDQ(operand.Imm(uint64(mr*s.float)), a)
	ADDQ(ldb, b)
	DECQ(k)
	JNZ(operand.LabelRef(label))

	Label("store")
	TESTQ(add, add)
	JZ(operand.LabelRef("overwrite"))
	row := GP64()
	MOVQ(c, row)
	for i := range mr {
		for j := range bs {
			s.add(s.at(row, j), acc[i][j], acc[i][j])
		}
		if i+1 < mr {
			ADDQ(ldc, row)
		}
	}
	Label("overwrite")
	for i := range mr {
		for j := range bs {
			s.store(acc[i][j], s.at(c, j))
		}
		if i+1 < mr {
			ADDQ(ldc, c)
		}
	}
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
	})
}
