package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows is a kernel over a few rows of a matrix, each lda bytes behind the one before, of n
// columns. A number of the matrix is read once for both of what it does:
//
//	sums[r] += Σ_c row_r[c]·x[c]       if dots
//	y[c] += Σ_r row_r[c]·factors[r]    if adds
type rows struct {
	s          isa
	height     int
	dots, adds bool
}

func (p rows) write(name string) {
	s := p.s
	doc := fmt.Sprintf("takes %d rows of n columns, a multiple of 8; gen describes its arguments.", p.height)
	s.define(name, "func(n int, a *T, lda int, x, sums, factors, y *T)", doc)
	n := Load(Param("n"), GP64())
	a := Load(Param("a"), GP64())
	lines := pointToRows(a, Load(Param("lda"), GP64()), p.height)

	var x, y reg.Register
	turn := 64 / s.bytes // vectors of a row in a turn, each with sums of its own
	var acc, factor []reg.VecVirtual
	if p.dots {
		x = Load(Param("x"), GP64())
		acc = s.vectors(p.height * turn)
		for _, v := range acc {
			s.zero(v)
		}
	}
	if p.adds {
		from := Load(Param("factors"), GP64())
		y = Load(Param("y"), GP64())
		factor = s.vectors(p.height)
		for i, v := range factor {
			s.broadcast(operand.Mem{Base: from, Disp: i * s.float}, v)
		}
	}
	xv, yv, av := s.vector(), s.vector(), s.vector()
	Label("loop")
	for t := range turn {
		if p.dots {
			s.load(s.at(x, t), xv)
		}
		if p.adds {
			s.load(s.at(y, t), yv)
		}
		for i := range p.height {
			from := lines.row(i)
			from.Disp = t * s.bytes
			s.load(from, av)
			if p.dots {
				s.fma231(av, xv, acc[i*turn+t])
			}
			if p.adds {
				s.fma231(av, factor[i], yv)
			}
		}
		if p.adds {
			s.store(yv, s.at(y, t))
		}
	}
	lines.advance(operand.U8(64))
	if p.dots {
		ADDQ(operand.U8(64), x)
	}
	if p.adds {
		ADDQ(operand.U8(64), y)
	}
	SUBQ(operand.U8(8), n)
	JG(operand.LabelRef("loop"))

	if p.dots {
		p.addSums(acc)
	}
	VZEROUPPER()
	RET()
}

// addSums adds what the lanes of each row's vectors have collected to its sum.
func (p rows) addSums(acc []reg.VecVirtual) {
	s, turn := p.s, len(acc)/p.height
	sums := Load(Param("sums"), GP64())
	for i := range p.height {
		v := acc[i*turn]
		low, high := v.AsY(), acc[i*turn+turn-1].AsY()
		if turn == 1 {
			high = YMM()
			VEXTRACTF64X4(operand.U8(1), v, high)
		}
		s.add(high, low, low)
		quarter, sum := XMM(), v.AsX()
		VEXTRACTF128(operand.U8(1), low, quarter)
		s.add(quarter, sum, sum)
		VPERMILPD(operand.U8(1), sum, quarter)
		s.add(quarter, sum, sum)
		to := operand.Mem{Base: sums, Disp: i * s.float}
		VADDSD(to, sum, sum)
		VMOVSD(sum, to)
	}
}

func symv() {
	for _, level := range []string{"avx512", "avx2"} {
		s := newISA(level, 8)
		height := 4
		if level == "avx512" {
			height = 8
		}
		rows{s: s, height: height, dots: true, adds: true}.write("symv")
		rows{s: s, height: 4, dots: true}.write("rowDots")
		rows{s: s, height: 4, adds: true}.write("rowSums")
	}
}
