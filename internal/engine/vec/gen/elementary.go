package main

import (
	"fmt"
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Elementary functions over slices, a group of vectors at a time: reduction of the argument,
// a polynomial, and what undoes the reduction. The polynomials minimise the largest error
// (Remez' algorithm, in 60 digits).
//
// A group is stored only if every element is one that the method is good for. At the first
// group that has another, the kernel stops and returns how many elements are done: the
// caller treats the rest of that group one by one.

// polynomials has the coefficients of a function, lowest first, for one kind of number.
var (
	// cos r = 1 + zP(z) and sin r = r + rzQ(z) with z = r², |r| ≤ π/2: largest absolute
	// error 6·10⁻⁸ and 4·10⁻¹⁸; largest relative error 9·10⁻⁹ and 4·10⁻¹⁹.
	cosP = map[int][]float64{
		4: {-0.49999929020200069597, 0.041663893185063986142, -0.0013855145487173712624, 0.000023175632163059316286},
		8: {-0.49999999999999982525, 0.041666666666664369367, -0.0013888888888785655242, 0.00002480158727914944392,
			-2.7557316525261172251e-7, 2.0876567742518097124e-9, -1.1463039404556958022e-11, 4.6102944997275548733e-14},
	}
	sinQ = map[int][]float64{
		4: {-0.16666660161811207666, 0.0083330793294994277457, -0.00019810395260889712144, 2.607211461642944377e-6},
		8: {-0.16666666666666665744, 0.0083333333333332120668, -0.00019841269841215352115, 2.7557319212143794826e-6,
			-2.5052106961304723418e-8, 1.6058943988310541331e-10, -7.6430989916423962648e-13, 2.7222688827352822635e-15},
	}
	// exp r = 1 + r + r²P(r), |r| ≤ ½ln2: largest relative error 3·10⁻⁹ and 4·10⁻¹⁸.
	expP = map[int][]float64{
		4: {0.49999993449713122036, 0.16666520631544604534, 0.041668387407261712586, 0.0083687169613359740447, 0.0013814639130251203927},
		8: {0.50000000000000106275, 0.16666666666666412514, 0.041666666666530157119, 0.0083333333334944708123, 0.0013888888943630360335,
			0.00019841269506555355966, 0.000024801493098733353686, 2.7557586396741580802e-6, 2.7630248422432851047e-7, 2.5000053878886232513e-8},
	}
	// log((1+s)/(1-s)) = 2s + szP(z) with z = s², √½ ≤ (1+s)/(1-s) ≤ √2: largest error
	// 4·10⁻¹⁰ and 5·10⁻¹⁹.
	logP = map[int][]float64{
		4: {0.66666754264290320853, 0.3997973081987375454, 0.29821559479438293864},
		8: {0.66666666666667345058, 0.39999999999413970563, 0.28571428742561256647, 0.22222198553858155093,
			0.18183565403852457669, 0.1531402119800601875, 0.14796260464213280742},
	}
)

// twoParts writes v as hi + lo, hi the nearest number of s's kind, lo what it misses.
func twoParts(s isa, hi float64, lo float64) (float64, float64) {
	if s.float == 8 {
		return hi, lo
	}
	h := float64(float32(hi))
	return h, hi - h
}

// mantissa and bias of a kind of number.
func (s isa) mantissa() uint64 { return map[int]uint64{4: 23, 8: 52}[s.float] }
func (s isa) bias() uint64     { return map[int]uint64{4: 127, 8: 1023}[s.float] }

// function writes one kernel: done = name(dst…, x, n[, scale]) with n a multiple of the
// group. prepare gets the constants, vector computes the results of one vector of x at m.
type function struct {
	s       isa
	name    string
	outputs []string
	scaled  bool
	group   int // vectors
	spare   int // registers for constants
	doc     string
	stream  bool // past the caches: outputs are aligned

	c     *constants
	scale reg.VecVirtual
	acc   reg.VecVirtual // collects bits that tell of unsuitable elements
	first bool
}

func (f *function) write(prepare func(), vector func(m operand.Mem) []reg.VecVirtual, unsuitable func() operand.Op) {
	s := f.s
	signature := "func("
	signature += strings.Join(f.outputs, ", ") + ", x *T, n int"
	if f.scaled {
		signature += ", scale T"
	}
	s.define(f.name, signature+") (done int)", f.doc)
	f.c = newConstants(s, f.spare)
	var out []reg.Register
	for _, o := range f.outputs {
		out = append(out, Load(Param(o), GP64()))
	}
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	if f.scaled {
		low := Load(Param("scale"), XMM())
		f.scale = s.vector()
		s.broadcast(low, f.scale)
	}
	if prepare != nil {
		prepare()
	}
	at := GP64()
	XORQ(at, at)
	SHLQ(operand.U8(s.float/4+1), n)
	Label("loop")
	CMPQ(at, n)
	JGE(operand.LabelRef("end"))
	f.acc, f.first = s.vector(), true
	results := make([][]reg.VecVirtual, f.group)
	for i := range results {
		results[i] = vector(operand.Mem{Base: x, Index: at, Scale: 1, Disp: i * s.bytes})
	}
	if unsuitable != nil {
		mask := unsuitable()
		if s.bytes == 64 {
			k := K()
			VPTESTMD(mask, f.acc, k)
			KORTESTW(k, k)
		} else {
			VPTEST(mask, f.acc)
		}
		JNZ(operand.LabelRef("end"))
	}
	store := s.store
	if f.stream {
		store = func(ops ...operand.Op) { VMOVNTPS(ops[0], ops[1]) }
	}
	for i, r := range results {
		for j, v := range r {
			store(v, operand.Mem{Base: out[j], Index: at, Scale: 1, Disp: i * s.bytes})
		}
	}
	ADDQ(operand.U32(f.group*s.bytes), at)
	JMP(operand.LabelRef("loop"))
	Label("end")
	SHRQ(operand.U8(s.float/4+1), at)
	Store(at, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// suspect adds the bits of v, or of v xor w, to those that tell of unsuitable elements.
func (f *function) suspect(v reg.VecVirtual, w operand.Op) {
	s := f.s
	switch {
	case f.first && w != nil:
		s.xor(w, v, f.acc)
	case f.first:
		s.move(v, f.acc)
	case w == nil:
		s.or(v, f.acc, f.acc)
	case s.bytes == 64:
		const orXor = 0b11110110 // a | b^c
		if s.float == 4 {
			VPTERNLOGD(operand.U8(orXor), w, v, f.acc)
		} else {
			VPTERNLOGQ(operand.U8(orXor), w, v, f.acc)
		}
	default:
		t := s.vector()
		s.xor(w, v, t)
		s.or(t, f.acc, f.acc)
	}
	f.first = false
}

// horner computes p(z) + … for coefficients lowest first, into a new register.
func (f *function) horner(z reg.VecVirtual, coefficients []operand.Op) reg.VecVirtual {
	p := f.s.vector()
	last := len(coefficients) - 1
	f.s.load(coefficients[last], p)
	for i := last - 1; i >= 0; i-- {
		f.s.fma213(coefficients[i], z, p)
	}
	return p
}

// waves writes cos, sin or both of x, times scale. x = πn + r with an integer n, to which a
// large number is added, so that it stands in the low bits: cos x = (-1)ⁿ cos r. π is two
// numbers; the first multiply-add of the reduction is exact, as both x and nπ₁ are multiples
// of the last place of π₁ and their difference is small. That holds, and the quotient is
// near enough, for |n| below a limit; beyond it the large number's upper bits change.
func waves(s isa, name string, group, spare int) {
	limit := map[int]float64{4: 1 << 16, 8: 1 << 30}[s.float]
	magic := math.Ldexp(1, int(s.mantissa())) + limit
	pi1, pi2 := twoParts(s, math.Pi, 1.2246467991473532e-16)
	if s.float == 4 {
		// The one below π, as π₂ must be positive to keep the sign of -0.
		pi1 = float64(math.Nextafter32(math.Pi, 0))
		pi2 = math.Pi - pi1
	}
	both := strings.HasPrefix(name, "sincos")
	f := &function{s: s, name: name, stream: name == "sincosStream", outputs: []string{"dst"}, scaled: true, group: group, spare: spare,
		doc: fmt.Sprintf("computes %s of x, times scale; gen describes it.", name)}
	if f.stream {
		f.doc = "is sincos for outputs that are aligned to vectors, past the caches."
	}
	if both {
		f.outputs = []string{"sin", "cos"}
	}
	var big, inverse reg.VecVirtual
	var hi, lo, base operand.Op
	var p, q []operand.Op
	f.write(func() {
		big, inverse = f.c.register(magic), f.c.register(1/math.Pi)
		hi, lo = f.c.number(pi1), f.c.number(pi2)
		base = f.c.number(math.Ldexp(1, int(s.mantissa())))
		if name != "sin" {
			p = append(p, f.scale)
			for _, v := range cosP[s.float] {
				p = append(p, f.c.scaled(v, f.scale))
			}
		}
		if name != "cos" {
			q = append(q, f.scale)
			for _, v := range sinQ[s.float] {
				q = append(q, f.c.scaled(v, f.scale))
			}
		}
	}, func(m operand.Mem) []reg.VecVirtual {
		t, n, r, z := s.vector(), s.vector(), s.vector(), s.vector()
		s.load(m, t)
		s.fma213(big, inverse, t)
		s.sub(big, t, n)
		f.suspect(t, base)
		s.load(m, r)
		s.fnma231(hi, n, r)
		s.fnma231(lo, n, r)
		s.mul(r, r, z)
		s.shiftLeft(operand.U8(8*s.float-1), t, t)
		var results []reg.VecVirtual
		if name != "cos" {
			v := f.horner(z, q)
			s.mul(r, v, v)
			s.xor(t, v, v)
			results = append(results, v)
		}
		if name != "sin" {
			v := f.horner(z, p)
			s.xor(t, v, v)
			results = append(results, v)
		}
		return results
	}, func() operand.Op {
		return f.c.bits(^uint64(2*limit-1) & (1<<(8*s.float-1)<<1 - 1))
	})
}

// exponential writes exp: x = n·ln2 + r, exp x = 2ⁿ·exp r. The power of two comes in two
// factors, so that results below the smallest normal number round once. x is first brought
// between limits beyond which the result is 0 or Inf.
func exponential(s isa, group, spare int) {
	f := &function{s: s, name: "exp", outputs: []string{"dst"}, group: group, spare: spare, doc: "computes exp x; gen describes it."}
	least, most := map[int]float64{4: -105, 8: -746}[s.float], map[int]float64{4: 89, 8: 710}[s.float]
	bits := s.mantissa()
	magic := 1.5 * math.Ldexp(1, int(bits))
	ln1, ln2 := twoParts(s, math.Ln2, 2.3190468138462996e-17)
	if s.float == 4 {
		ln2 = math.Ln2 - ln1
	}
	var big, inverse reg.VecVirtual
	var lowest, highest, hi, lo, one operand.Op
	var p []operand.Op
	f.write(func() {
		big, inverse = f.c.register(magic), f.c.register(math.Log2E)
		lowest, highest, hi, lo, one = f.c.number(least), f.c.number(most), f.c.number(ln1), f.c.number(ln2), f.c.number(1)
		p = []operand.Op{one, one}
		for _, v := range expP[s.float] {
			p = append(p, f.c.number(v))
		}
	}, func(m operand.Mem) []reg.VecVirtual {
		x, t, n := s.vector(), s.vector(), s.vector()
		// The first operand is the result where one is NaN.
		s.load(lowest, x)
		s.max(m, x, x)
		s.load(highest, t)
		s.min(x, t, x)
		s.move(x, t)
		s.fma213(big, inverse, t)
		s.sub(big, t, n)
		s.fnma231(hi, n, x)
		s.fnma231(lo, n, x)
		v := f.horner(x, p)
		f.timesPower(magic, t, n, v)
		return []reg.VecVirtual{v}
	}, nil)
}

// decay writes p(z)·exp(-z) of z = √x, where p is 1, 1+z or 1+z+z²/3 by its degree, with the steps of exponential. z is
// first brought below a limit beyond which the result is 0.
func decay(s isa, degree, group, spare int) {
	f := &function{s: s, name: fmt.Sprintf("decay%dof", degree), outputs: []string{"dst"}, group: group, spare: spare,
		doc: "computes a polynomial of √x times exp(-√x); gen describes it."}
	const most = 1000
	bits := s.mantissa()
	magic := 1.5 * math.Ldexp(1, int(bits))
	ln1, ln2 := twoParts(s, math.Ln2, 2.3190468138462996e-17)
	var big, inverse reg.VecVirtual
	var highest, hi, lo, one, sign operand.Op
	var p []operand.Op
	f.write(func() {
		big, inverse = f.c.register(magic), f.c.register(math.Log2E)
		highest, hi, lo, one, sign = f.c.number(most), f.c.number(ln1), f.c.number(ln2), f.c.number(1), f.c.bits(1<<63)
		p = []operand.Op{one, one}
		for _, v := range expP[s.float] {
			p = append(p, f.c.number(v))
		}
	}, func(m operand.Mem) []reg.VecVirtual {
		x, t, n := s.vector(), s.vector(), s.vector()
		s.sqrt(m, x)
		// The first operand is the result where one is NaN.
		s.load(highest, t)
		s.min(x, t, x)
		var q reg.VecVirtual
		switch degree {
		case 1:
			q = s.vector()
			s.add(one, x, q)
		case 2:
			q = f.horner(x, []operand.Op{one, one, f.c.number(1.0 / 3)})
		}
		s.xor(sign, x, x)
		s.move(x, t)
		s.fma213(big, inverse, t)
		s.sub(big, t, n)
		s.fnma231(hi, n, x)
		s.fnma231(lo, n, x)
		v := f.horner(x, p)
		if degree > 0 {
			s.mul(q, v, v)
		}
		f.timesPower(magic, t, n, v)
		return []reg.VecVirtual{v}
	}, nil)
}

// timesPower multiplies v by 2ⁿ, where t = magic + n.
func (f *function) timesPower(magic float64, t, n, v reg.VecVirtual) {
	s := f.s
	if s.bytes == 64 {
		if s.float == 4 {
			VSCALEFPS(n, v, v)
		} else {
			VSCALEFPD(n, v, v)
		}
		return
	}
	// Of i = n + 2·bias+2 > 0, the first factor takes the half.
	half, i := s.vector(), s.vector()
	bias := s.bias()
	s.minus(f.c.bits(s.pattern(magic)-(2*bias+2)), t, i)
	s.shiftRight(operand.U8(1), i, half)
	s.minus(half, i, i)
	s.minus(f.c.bits(1), half, half)
	s.minus(f.c.bits(1), i, i)
	s.shiftLeft(operand.U8(s.mantissa()), half, half)
	s.shiftLeft(operand.U8(s.mantissa()), i, i)
	s.mul(half, v, v)
	s.mul(i, v, v)
}

// logarithm writes log of normal positive numbers: x = 2ᵉ(1+f) with √½ ≤ 1+f < √2, and with
// s = f/(2+f), log(1+f) = f - (f²/2 - s(f²/2 + zP(z))). ln2 is two numbers, the first with so
// few bits that its product with e is exact.
func logarithm(s isa, group, spare int) {
	f := &function{s: s, name: "log", outputs: []string{"dst"}, group: group, spare: spare, doc: "computes log x; gen describes it."}
	bits, bias := s.mantissa(), s.bias()
	ln1 := map[int]float64{4: 0.693359375, 8: 6.93147180369123816490e-01}[s.float]
	ln2 := map[int]float64{4: -2.12194440054690583e-4, 8: 1.90821492927058770002e-10}[s.float]
	infinity := (2*bias + 1) << bits
	magic := math.Ldexp(1, int(bits))
	root := s.pattern(math.Sqrt(0.5))
	var one, two, half, ln1Op, ln2Op operand.Op
	var p []operand.Op
	f.write(func() {
		one, half, two = f.c.number(1), f.c.number(0.5), f.c.number(2)
		ln1Op, ln2Op = f.c.number(ln1), f.c.number(ln2)
		for _, v := range logP[s.float] {
			p = append(p, f.c.number(v))
		}
	}, func(m operand.Mem) []reg.VecVirtual {
		x, t, e, u := s.vector(), s.vector(), s.vector(), s.vector()
		s.load(m, x)
		s.minus(f.c.bits(1<<bits), x, t)
		f.suspect(t, nil)
		s.load(f.c.bits(infinity-1), t)
		s.minus(x, t, t)
		f.suspect(t, nil)
		s.minus(f.c.bits(root-bias<<bits), x, e)
		s.shiftRight(operand.U8(bits), e, e)
		s.shiftLeft(operand.U8(bits), e, t)
		s.minus(t, x, x)
		s.plus(f.c.bits(bias<<bits), x, x)
		s.or(f.c.bits(s.pattern(magic)), e, e)
		s.sub(f.c.number(magic+float64(bias)), e, e)
		s.sub(one, x, x)
		s.add(two, x, t)
		s.div(t, x, t)
		z, square := s.vector(), s.vector()
		s.mul(t, t, z)
		s.mul(x, x, square)
		s.mul(half, square, square)
		r := f.horner(z, p)
		s.fma213(square, z, r) // f²/2 + zP
		s.mul(ln2Op, e, u)
		s.fma213(u, t, r) // s(f²/2 + zP) + e·ln2₂
		s.sub(r, square, square)
		s.sub(square, x, x)
		s.fma231(ln1Op, e, x)
		return []reg.VecVirtual{x}
	}, func() operand.Op {
		return f.c.bits(1 << (8*s.float - 1))
	})
}

// signedRoot writes the square root of |x| with the sign of x.
func signedRoot(s isa, group int) {
	f := &function{s: s, name: "signedRoot", outputs: []string{"dst"}, group: group, spare: 1, doc: "computes √|x| with the sign of x."}
	var sign operand.Op
	f.write(func() {
		sign = f.c.bits(1 << (8*s.float - 1))
	}, func(m operand.Mem) []reg.VecVirtual {
		x, v := s.vector(), s.vector()
		s.load(m, x)
		s.and(sign, x, v)
		s.xor(v, x, x)
		s.sqrt(x, x)
		s.or(v, x, x)
		return []reg.VecVirtual{x}
	}, nil)
}

// fence writes what ends a series of stores past the caches.
func fence(level string) {
	TEXT("fence_"+level, NOSPLIT, "func()")
	Doc("fence_" + level + " orders stores past the caches before those that follow.")
	SFENCE()
	RET()
}

func elementary() {
	fence("avx512")
	fence("avx2")
	everyISA(func(s isa) {
		if s.level == "avx512" {
			waves(s, "cos", 4, 12)
			waves(s, "sin", 4, 12)
			waves(s, "sincos", 2, 20)
			if s.float == 4 {
				waves(s, "sincosStream", 2, 20)
			}
			exponential(s, 4, 16)
			if s.float == 8 {
				for degree := range 3 {
					decay(s, degree, 4, 14)
				}
			}
			logarithm(s, 4, 10)
			signedRoot(s, 4)
			return
		}
		waves(s, "cos", 2, 4)
		waves(s, "sin", 2, 4)
		waves(s, "sincos", 2, 3)
		if s.float == 4 {
			waves(s, "sincosStream", 2, 3)
		}
		exponential(s, 2, 4)
		if s.float == 8 {
			for degree := range 3 {
				decay(s, degree, 2, 3)
			}
		}
		logarithm(s, 2, 4)
		signedRoot(s, 2)
	})
}
