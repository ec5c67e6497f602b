package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Sums over the dimensions of one row x with the 32 rows y of a panel, which has the 32 numbers
// of each dimension one behind the other. A pass treats a few vectors of a panel's rows.

const panelRows = 32

// entropyP has the coefficients of log((1+s)/(1-s)) = 2s + szP(z) with z = s², 0 ≤ s ≤ 1/3,
// lowest first, by interpolation at Chebyshev's points: largest relative error 7·10⁻¹⁸.
var entropyP = []float64{
	0.66666666666666658561, 0.40000000000014582673, 0.28571428567108757162, 0.22222222717427862989, 0.18181789436132858169,
	0.15385570064958623103, 0.1331414420965493615, 0.12001072809590712535, 0.088007384861446738822, 0.16164045611943532221}

// pairTurn is how many dimensions a turn of the loop treats.
const pairTurn = 4

// tiny is 0 beside every positive float32, and products of four are normal numbers.
const tiny = 0x1p-210

// pairs is a kernel that is being written.
type pairs struct {
	s      isa
	c      *constants
	arrays int
	sums   []reg.VecVirtual
	x, y   [3]reg.GPVirtual // of each array
	dim    int              // the first that is treated, of those of a turn
}

// broadcast returns x's number of an array in every lane, of the dimension j after the first.
func (p *pairs) broadcast(array, j int) reg.VecVirtual {
	v := p.s.vector()
	p.s.broadcast(operand.Mem{Base: p.x[array], Disp: (p.dim + j) * p.s.float}, v)
	return v
}

// number is vector i of y's numbers of an array.
func (p *pairs) number(array, i, j int) operand.Mem {
	return operand.Mem{Base: p.y[array], Disp: (p.dim+j)*panelRows*p.s.float + i*p.s.bytes}
}

// write writes one kernel. turn adds dims dimensions from p.dim on to the sums.
func (p *pairs) write(name, doc string, vectors, dims int, turn func()) {
	s := p.s
	s.define(name, "func(x, y, sums *T, d, n int)", doc)
	p.c = newConstants(s, map[string]int{"avx2": 0, "avx512": 14}[s.level])
	for first := 0; first < panelRows/s.lanes(); first += vectors {
		sums, n := Load(Param("sums"), GP64()), Load(Param("n"), GP64())
		p.x[0], p.y[0] = GP64(), GP64()
		Load(Param("x"), p.x[0])
		Load(Param("y"), p.y[0])
		ADDQ(operand.U32(first*s.bytes), p.y[0])
		if p.arrays > 1 {
			toX, toY := GP64(), GP64()
			Load(Param("d"), toX)
			MOVQ(toX, toY)
			SHLQ(operand.U8(3), toX)
			SHLQ(operand.U8(8), toY)
			for a := 1; a < p.arrays; a++ {
				p.x[a], p.y[a] = GP64(), GP64()
				LEAQ(operand.Mem{Base: p.x[a-1], Index: toX, Scale: 1}, p.x[a])
				LEAQ(operand.Mem{Base: p.y[a-1], Index: toY, Scale: 1}, p.y[a])
			}
		}
		p.sums = s.vectors(vectors)
		for i, v := range p.sums {
			s.load(s.at(sums, first+i), v)
		}
		loop := fmt.Sprintf("loop%d", first)
		Label(loop)
		for p.dim = 0; p.dim < pairTurn; p.dim += dims {
			turn()
		}
		for a := range p.arrays {
			ADDQ(operand.U32(pairTurn*s.float), p.x[a])
			ADDQ(operand.U32(pairTurn*panelRows*s.float), p.y[a])
		}
		SUBQ(operand.U8(pairTurn), n)
		JG(operand.LabelRef(loop))
		for i, v := range p.sums {
			s.store(v, s.at(sums, first+i))
		}
	}
	VZEROUPPER()
	RET()
}

// fraction is a numerator and a denominator.
type fraction struct{ above, below reg.VecVirtual }

// plus makes a the sum of a and b, without a division.
func (p *pairs) plus(a, b fraction) {
	p.s.mul(b.below, a.above, a.above)
	p.s.fma231(b.above, a.below, a.above)
	p.s.mul(b.below, a.below, a.below)
}

// chi2 adds fractions over x+y of four dimensions with one division: a division takes the time
// of some sixteen other operations. Positive numbers lose no digits by it.
func (p *pairs) chi2(above func(x reg.VecVirtual, y operand.Op, to reg.VecVirtual)) func() {
	return func() {
		s := p.s
		var x, positive [4]reg.VecVirtual
		for j := range x {
			x[j], positive[j] = p.broadcast(0, j), s.vector()
			s.add(p.c.number(tiny), x[j], positive[j])
		}
		for i, sum := range p.sums {
			var f [4]fraction
			one := func(j int) {
				y := p.number(0, i, j)
				f[j] = fraction{s.vector(), s.vector()}
				above(x[j], y, f[j].above)
				s.add(y, positive[j], f[j].below)
			}
			one(0)
			one(1)
			p.plus(f[0], f[1])
			one(2)
			one(3)
			p.plus(f[2], f[3])
			p.plus(f[0], f[2])
			s.div(f[0].below, f[0].above, f[0].above)
			s.add(f[0].above, sum, sum)
		}
	}
}

// divide divides two numerators by their denominators with one division.
func (p *pairs) divide(a, b fraction) {
	s := p.s
	product, inverse := s.vector(), s.vector()
	s.mul(a.below, b.below, product)
	s.load(p.c.number(1), inverse)
	s.div(product, inverse, inverse)
	s.mul(b.below, a.above, a.above)
	s.mul(a.below, b.above, b.above)
	s.mul(inverse, a.above, a.above)
	s.mul(inverse, b.above, b.above)
}

// weighted adds terms of the dimension j after the first to the sums, times uv if weights is
// an array.
func (p *pairs) weighted(i, j int, term reg.VecVirtual, weights int) {
	if weights == 0 {
		p.s.add(term, p.sums[i], p.sums[i])
		return
	}
	w := p.broadcast(weights, j)
	p.s.mul(p.number(weights, i, j), w, w)
	p.s.fma231(w, term, p.sums[i])
}

func (p *pairs) weightedChi2() {
	s := p.s
	for i := range p.sums {
		var f [2]fraction
		for j := range f {
			x := p.broadcast(0, j)
			f[j] = fraction{s.vector(), s.vector()}
			s.mul(p.number(0, i, j), x, f[j].above)
			s.add(p.c.number(tiny), x, f[j].below)
			s.add(p.number(0, i, j), f[j].below, f[j].below)
		}
		p.divide(f[0], f[1])
		for j := range f {
			p.weighted(i, j, f[j].above, 1)
		}
	}
}

func (p *pairs) least(weights int) func() {
	return func() {
		x := p.broadcast(0, 0)
		for i := range p.sums {
			v := p.s.vector()
			p.s.min(p.number(0, i, 0), x, v)
			p.weighted(i, 0, v, weights)
		}
	}
}

func (p *pairs) absolute() {
	x := p.broadcast(0, 0)
	for i, sum := range p.sums {
		v := p.s.vector()
		p.s.sub(p.number(0, i, 0), x, v)
		p.s.and(p.c.bits(1<<63-1), v, v)
		p.s.add(v, sum, sum)
	}
}

// entropy is (x+y)log(1+min/max) + min·|log x - log y|, with 1+min/max = (1+s)/(1-s) for
// s = min/(2max+min).
func (p *pairs) entropy(weights int) func() {
	return func() {
		s := p.s
		x, logX, positive := p.broadcast(0, 0), p.broadcast(1, 0), s.vector()
		s.add(p.c.number(tiny), x, positive)
		for i := range p.sums {
			y := p.number(0, i, 0)
			whole, low, t, z, h := s.vector(), s.vector(), s.vector(), s.vector(), s.vector()
			s.max(y, x, t)
			s.min(y, x, low)
			s.add(y, positive, whole)
			s.add(t, whole, t)
			s.div(t, low, t)
			s.mul(t, t, z)
			s.load(p.c.number(entropyP[len(entropyP)-1]), h)
			for k := len(entropyP) - 2; k >= 0; k-- {
				s.fma213(p.c.number(entropyP[k]), z, h)
			}
			s.fma213(p.c.number(2), z, h)
			s.mul(t, h, h)
			s.sub(p.number(1, i, 0), logX, t)
			s.and(p.c.bits(1<<63-1), t, t)
			s.mul(low, t, t)
			s.fma231(whole, h, t)
			p.weighted(i, 0, t, weights)
		}
	}
}

func (p *pairs) excess() {
	s := p.s
	x, r := p.broadcast(0, 0), p.broadcast(1, 0)
	for i, sum := range p.sums {
		d, e := s.vector(), s.vector()
		s.sub(p.number(0, i, 0), x, d)
		s.mul(p.number(1, i, 0), d, e)
		s.mul(r, d, d)
		s.mul(d, e, e)
		s.add(e, sum, d)
		s.fma213(d, e, sum)
	}
}

func pairSums() {
	for _, level := range []string{"avx512", "avx2"} {
		s := newISA(level, 8)
		few := map[string]int{"avx512": 4, "avx2": 2}[level]
		p := &pairs{s: s, arrays: 1}
		p.write("pairChi", "adds xy/(x+y) to the sums.", few, 4, p.chi2(func(x reg.VecVirtual, y operand.Op, to reg.VecVirtual) {
			s.mul(y, x, to)
		}))
		p = &pairs{s: s, arrays: 1}
		p.write("pairChiDistance", "adds (x-y)²/(x+y) to the sums.", few, 4, p.chi2(func(x reg.VecVirtual, y operand.Op, to reg.VecVirtual) {
			s.sub(y, x, to)
			s.mul(to, to, to)
		}))
		p = &pairs{s: s, arrays: 2}
		p.write("pairWeightedChi", "adds uv·xy/(x+y) to the sums.", 4, 2, p.weightedChi2)
		p = &pairs{s: s, arrays: 1}
		p.write("pairMin", "adds min(x, y) to the sums.", 4, 1, p.least(0))
		p = &pairs{s: s, arrays: 2}
		p.write("pairWeightedMin", "adds uv·min(x, y) to the sums.", 4, 1, p.least(1))
		p = &pairs{s: s, arrays: 1}
		p.write("pairAbs", "adds |x-y| to the sums.", 4, 1, p.absolute)
		p = &pairs{s: s, arrays: 2}
		p.write("pairEntropy", "adds (x+y)log(x+y) - x log x - y log y to the sums.", 4, 1, p.entropy(0))
		p = &pairs{s: s, arrays: 3}
		p.write("pairWeightedEntropy", "adds uv·((x+y)log(x+y) - x log x - y log y) to the sums.", 4, 1, p.entropy(2))
		p = &pairs{s: s, arrays: 2}
		p.write("pairExcess", "makes sums s of s + 1 times 1 + (x-y)²rs.", 4, 1, p.excess)
	}
}
