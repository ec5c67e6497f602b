// Command gen writes the assembly of internal/vec: the micro-kernels of matrix products for
// AVX2 and AVX-512. It is a module of its own so that users of Mercer do not depend on avo.
//
//	go generate ./internal/vec
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// level is an instruction set: its vector registers.
type level struct {
	name  string
	bytes int // of a vector
}

// A micro-kernel computes an mr×nr tile of C, C = A·B or C += A·B, as mr·nr/lanes vectors
// that stay in registers over the whole inner dimension:
//
//	a  packed: mr numbers for each l, contiguous
//	b  nr contiguous numbers for each l, ldb bytes apart
//	c  rows ldc bytes apart
//
// Each element is one chain of fused multiply-adds in the order of l, the same in every
// kernel, so that kernels of any shape agree to the bit.
func kernel(l level, float, mr, vectors int) {
	kind := map[int]string{4: "32", 8: "64"}[float]
	name := fmt.Sprintf("gemm%s_%s_%dx%d", kind, l.name, mr, vectors*l.bytes/float)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(k int, a, b *float%[1]s, ldb int, c *float%[1]s, ldc int, add int)", kind))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s computes a %d×%d tile; gen describes its arguments.", name, mr, vectors*l.bytes/float))
	k := Load(Param("k"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	ldb := Load(Param("ldb"), GP64())
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	add := Load(Param("add"), GP64())

	vector := func() reg.VecVirtual {
		if l.bytes == 64 {
			return ZMM()
		}
		return YMM()
	}
	pick := func(single, double func(...operand.Op)) func(...operand.Op) {
		if float == 4 {
			return single
		}
		return double
	}
	fma := pick(func(o ...operand.Op) { VFMADD231PS(o...) }, func(o ...operand.Op) { VFMADD231PD(o...) })
	load := pick(func(o ...operand.Op) { VMOVUPS(o...) }, func(o ...operand.Op) { VMOVUPD(o...) })
	plus := pick(func(o ...operand.Op) { VADDPS(o...) }, func(o ...operand.Op) { VADDPD(o...) })
	broadcast := pick(func(o ...operand.Op) { VBROADCASTSS(o...) }, func(o ...operand.Op) { VBROADCASTSD(o...) })

	acc := make([][]reg.VecVirtual, mr)
	for i := range acc {
		for range vectors {
			v := vector()
			if l.bytes == 64 {
				VPXORQ(v, v, v)
			} else {
				VPXOR(v, v, v)
			}
			acc[i] = append(acc[i], v)
		}
	}
	bs := make([]reg.VecVirtual, vectors)
	for j := range bs {
		bs[j] = vector()
	}
	av := vector()
	label := "loop"
	TESTQ(k, k)
	JZ(operand.LabelRef("store"))
	Label(label)
	for j := range bs {
		load(operand.Mem{Base: b, Disp: j * l.bytes}, bs[j])
	}
	for i := range mr {
		broadcast(operand.Mem{Base: a, Disp: i * float}, av)
		for j := range bs {
			fma(bs[j], av, acc[i][j])
		}
	}
	ADDQ(operand.Imm(uint64(mr*float)), a)
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
			plus(operand.Mem{Base: row, Disp: j * l.bytes}, acc[i][j], acc[i][j])
		}
		if i+1 < mr {
			ADDQ(ldc, row)
		}
	}
	Label("overwrite")
	for i := range mr {
		for j := range bs {
			load(acc[i][j], operand.Mem{Base: c, Disp: j * l.bytes})
		}
		if i+1 < mr {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()
}

func main() {
	ConstraintExpr("amd64,!purego")
	avx512, avx2 := level{"avx512", 64}, level{"avx2", 32}
	for _, float := range []int{4, 8} {
		kernel(avx512, float, 14, 2)
		kernel(avx512, float, 1, 2)
		kernel(avx2, float, 6, 2)
		kernel(avx2, float, 1, 2)
	}
	Generate()
}
