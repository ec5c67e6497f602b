package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The Walsh-Hadamard transform is log₂ n stages of butterflies (a, b) → (a+b, a-b) between
// numbers h = 1, 2, 4, … apart. Every kernel takes its stages in ascending order, so that all
// of them, and the portable Go, give the same bits. With L numbers in a vector:
//
//	h < L  within vectors: exchange the halves of each group of 2h lanes, and add the
//	       vector itself with the signs + and - in the halves, in one multiply-add
//	h ≥ L  between vectors
//
// Every additional pass over memory is paid in loads and stores, so that a block of as many
// vectors as registers allow (16 of 32, 8 of 16) goes through all its stages at once, and
// the passes over blocks take up to four stages (three with AVX2).

// transform is what the kernels of one instruction set share.
type transform struct {
	isa
	most  int                 // vectors in the largest block
	signs []reg.VecVirtual    // of the stages within vectors, by log₂ h
	label func(string) string // one that is not used elsewhere in the function
}

func (s isa) transform() *transform {
	n := 0
	t := &transform{isa: s, most: 8, label: func(l string) string { n++; return fmt.Sprintf("%s%d", l, n) }}
	if s.level == "avx512" {
		t.most = 16
	}
	return t
}

// loadSigns fills the registers that within needs.
func (t *transform) loadSigns() {
	t.signs = nil
	for h := 1; h < t.lanes(); h *= 2 {
		v := t.vector()
		t.load(t.sign(h), v)
		t.signs = append(t.signs, v)
	}
}

// sign is a vector in memory: -1 where the bit h of the lane's number is set, else 1.
func (s isa) sign(h int) operand.Mem {
	name := fmt.Sprintf("hadamard_sign%s_%d", s.kind(), h)
	if m, known := tables[name]; known {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range 64 / s.float {
		v := 1.0
		if i&h != 0 {
			v = -1
		}
		if s.float == 4 {
			DATA(4*i, operand.U32(math.Float32bits(float32(v))))
		} else {
			DATA(8*i, operand.U64(math.Float64bits(v)))
		}
	}
	tables[name] = m
	return m
}

// swapHalves swaps the halves of each group of 2h lanes.
func (s isa) swapHalves(h int, from, to reg.VecVirtual) {
	switch bytes := h * s.float; {
	case bytes == 4:
		VPERMILPS(operand.Imm(0xb1), from, to)
	case bytes == 8:
		VPERMILPD(operand.Imm(0x55), from, to)
	case bytes == 16 && s.level == "avx2":
		VPERM2F128(operand.Imm(1), from, from, to)
	case bytes == 16:
		VSHUFF64X2(operand.Imm(0xb1), from, from, to)
	case bytes == 32:
		VSHUFF64X2(operand.Imm(0x4e), from, from, to)
	}
}

// within does the stages from h to below n inside each vector.
func (t *transform) within(v []reg.VecVirtual, from, n int) {
	for i, h := 0, 1; h < min(n, t.lanes()); i, h = i+1, 2*h {
		if h < from {
			continue
		}
		for j, x := range v {
			y := t.vector()
			t.swapHalves(h, x, y)
			t.fma231(x, t.signs[i], y)
			v[j] = y
		}
	}
}

// between does all stages between the vectors.
func (s isa) between(v []reg.VecVirtual) {
	for h := 1; h < len(v); h *= 2 {
		for i := range v {
			if i&h == 0 {
				sum := s.vector()
				s.add(v[i+h], v[i], sum)
				s.sub(v[i+h], v[i], v[i+h])
				v[i] = sum
			}
		}
	}
}

// firstStage loads vectors and does the stage h = 1. Single numbers come from memory already
// doubled, which saves the exchange.
func (t *transform) firstStage(v []reg.VecVirtual, x reg.Register, n int) {
	for i := range v {
		v[i] = t.vector()
		if t.float == 8 {
			t.load(t.at(x, i), v[i])
			continue
		}
		high := t.vector()
		VMOVSLDUP(t.at(x, i), v[i])
		VMOVSHDUP(t.at(x, i), high)
		t.fma231(high, t.signs[0], v[i])
	}
	if t.float == 8 {
		t.within(v, 1, 2)
	}
}

// firstProduct is firstStage of d∘x: both products are exact for signs d, and one of them is
// free in the multiply-add.
func (t *transform) firstProduct(v []reg.VecVirtual, x, d reg.Register) {
	for i := range v {
		v[i] = t.vector()
		if t.float == 8 {
			t.load(t.at(x, i), v[i])
			t.mul(t.at(d, i), v[i], v[i])
			continue
		}
		high, low, highD := t.vector(), t.vector(), t.vector()
		VMOVSLDUP(t.at(x, i), v[i])
		VMOVSHDUP(t.at(x, i), high)
		VMOVSLDUP(t.at(d, i), low)
		VMOVSHDUP(t.at(d, i), highD)
		t.mul(highD, high, high)
		VFMSUBADD213PS(high, low, v[i])
	}
	if t.float == 8 {
		t.within(v, 1, 2)
	}
}

func (t *transform) storeAll(v []reg.VecVirtual, x reg.Register) {
	for i := range v {
		t.store(v[i], t.at(x, i))
	}
}

// choose jumps to the code for the value of x, and writes that code: one section a value.
func (t *transform) choose(x reg.Register, values []int, section func(value int)) {
	labels := make([]string, len(values))
	for i, v := range values {
		labels[i] = t.label("case")
		if i > 0 {
			CMPQ(x, operand.U32(uint32(v)))
			JE(operand.LabelRef(labels[i]))
		}
	}
	for i, v := range values {
		Label(labels[i])
		section(v)
		VZEROUPPER()
		RET()
	}
}

// loop repeats body count times; count is at least 1.
func (t *transform) loop(count reg.Register, body func()) {
	label := t.label("loop")
	Label(label)
	body()
	DECQ(count)
	JNZ(operand.LabelRef(label))
}

func argument(name string) operand.Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// rows writes the transform of rows that stay in registers.
func (t *transform) rows() {
	t.define("hadamardRows", "func(x *T, n, stride, rows int)",
		fmt.Sprintf("transforms rows of n numbers, 2 ≤ n ≤ %d, stride bytes apart; "+
			"where n < %d, rows are contiguous and rows·n is a multiple of %[2]d.", t.most*t.lanes(), t.lanes()))
	x, n, stride, rows := Load(Param("x"), GP64()), Load(Param("n"), GP64()), Load(Param("stride"), GP64()), Load(Param("rows"), GP64())
	t.loadSigns()
	t.choose(n, t.orders(), func(m int) {
		vectors := max(1, m/t.lanes())
		if m < t.lanes() {
			IMULQ(n, rows)
			SHRQ(operand.Imm(log2(t.lanes())), rows)
			MOVQ(operand.U32(uint32(t.bytes)), stride)
		}
		t.loop(rows, func() {
			v := make([]reg.VecVirtual, vectors)
			t.firstStage(v, x, m)
			t.within(v, 2, m)
			t.between(v)
			t.storeAll(v, x)
			ADDQ(stride, x)
		})
	})
}

// chain writes the whole chain of small blocks, which stay in registers from end to end. Few
// vectors would wait for each other from stage to stage, so that short blocks are done several
// at a time.
func (t *transform) chain() {
	t.define("hadamardChain", "func(dst, src, d, s *T, n, rounds, round, step, count int)",
		fmt.Sprintf("computes dst = s∘H(d_k∘…H(d_1∘src)) for count blocks of n numbers, 2 ≤ n ≤ %d, "+
			"which follow each other, in src every step bytes; d_i are round bytes apart. "+
			"Where n < %d, a block is as long as a vector and holds several of n.", t.most*t.lanes(), t.lanes()))
	dst, src, d, s := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("d"), GP64()), Load(Param("s"), GP64())
	n, round, step, count := Load(Param("n"), GP64()), Load(Param("round"), GP64()), Load(Param("step"), GP64()), Load(Param("count"), GP64())
	t.loadSigns()
	blocks := func(m, several int) {
		length := max(1, m/t.lanes())
		v := t.vectors(length * several)
		for i := range v {
			t.load(t.at(src, i%length), v[i])
			if i%length == length-1 {
				ADDQ(step, src)
			}
		}
		rounds, di := GP64(), GP64()
		MOVQ(argument("rounds"), rounds)
		MOVQ(d, di)
		t.loop(rounds, func() {
			w := t.vectors(len(v))
			for i := range v {
				t.mul(t.at(di, i), v[i], w[i])
			}
			t.within(w, 1, m)
			for i := 0; i < len(w); i += length {
				t.between(w[i : i+length])
			}
			for i := range v {
				t.move(w[i], v[i])
			}
			ADDQ(round, di)
		})
		for i := range v {
			t.mul(t.at(s, i), v[i], v[i])
		}
		t.storeAll(v, dst)
		for _, p := range []reg.Register{dst, d, s} {
			ADDQ(operand.U32(uint32(len(v)*t.bytes)), p)
		}
	}
	t.choose(n, t.orders(), func(m int) {
		several := max(1, t.most/2*t.lanes()/max(m, t.lanes()))
		if several > 1 {
			most, few := t.label("most"), t.label("few")
			Label(most)
			SUBQ(operand.Imm(uint64(several)), count)
			JL(operand.LabelRef(few))
			blocks(m, several)
			JMP(operand.LabelRef(most))
			Label(few)
			ADDQ(operand.Imm(uint64(several)), count)
			end := t.label("end")
			JZ(operand.LabelRef(end))
			t.loop(count, func() { blocks(m, 1) })
			Label(end)
			return
		}
		t.loop(count, func() { blocks(m, 1) })
	})
}

// orders are those of transforms that stay in registers, the largest first.
func (t *transform) orders() []int {
	var n []int
	for m := t.most * t.lanes(); m >= 2; m /= 2 {
		n = append(n, m)
	}
	return n
}

// first writes the first pass of a longer transform.
func (t *transform) first() {
	t.define("hadamardFirst", "func(dst, src, d *T, blocks int)",
		fmt.Sprintf("computes dst = H(d∘src) for consecutive blocks of %d numbers.", t.most*t.lanes()))
	dst, src, d, blocks := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("d"), GP64()), Load(Param("blocks"), GP64())
	t.loadSigns()
	t.loop(blocks, func() {
		v := make([]reg.VecVirtual, t.most)
		t.firstProduct(v, src, d)
		t.within(v, 2, t.lanes())
		t.between(v)
		t.storeAll(v, dst)
		for _, p := range []reg.Register{dst, src, d} {
			ADDQ(operand.U32(uint32(t.most*t.bytes)), p)
		}
	})
	VZEROUPPER()
	RET()
}

func log2(n int) uint64 {
	l := uint64(0)
	for ; n > 1; n /= 2 {
		l++
	}
	return l
}

func hadamard() {
	everyISA(func(s isa) {
		t := s.transform()
		t.rows()
		t.chain()
		t.first()
		t.gather()
		t.permute()
		t.radix(false)
		t.radix(true)
		if s.float == 4 {
			t.zip()
			t.quadsFirst()
			t.quadsGather()
			t.unzip()
		}
	})
}
