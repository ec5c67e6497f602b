package kernel

import (
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// The kernels that are functions of x·y: polynomials and other power series without negative coefficients.

// Linear is x·y, the inner product of the rows themselves. It needs no map.
var Linear = &Kind{
	name:    "linear",
	formula: "x·y",
	about:   "the rows themselves; needs no map",
	family:  inner{},
}

// Poly is (γ x·y + c)^p: all products of up to p columns, or of exactly p if c (Coef0) is 0. It is for
// interactions of columns. Scale the rows so that γ x·y stays near 1.
var Poly = &Kind{
	name:    "poly",
	formula: "(γ x·y + c)^p",
	about:   "products of up to p columns",
	source:  "Boser, Guyon and Vapnik 1992",
	parameters: []Parameter{
		gammaParameter(),
		{
			Name: "degree", About: "degree p", Usual: 3, Least: 1, Most: math.MaxInt, must: "1 or more",
			text: func(v float64) string { return fmt.Sprintf("degree %d", int(v)) },
		},
		{
			Name: "coef0", About: "constant c", Usual: 1, Least: 0, Most: math.MaxFloat64, must: "0 or more",
			text: func(v float64) string { return fmt.Sprintf("coef0 = %g", v) },
		},
	},
	gamma:  gammaOfLengths,
	powers: func(k Kernel) bool { return k.Degree != 1 },
	series: func(k Kernel, _ int) Series { return Series{k.Gamma, k.Coef0, []Power{{k.Degree, 1}}} },
	family: dot{
		of:    polyOf,
		slope: polySlope,
		all: func(k Kernel, s []float64) {
			gamma, coef0, degree := k.Gamma, k.Coef0, k.Degree
			for c, xy := range s {
				s[c] = power(float64(gamma*xy)+coef0, degree)
			}
		},
		apart:    polyDistance,
		mirrored: polyMirrored,
	},
}

// Exp is exp(γ x·y): products of any number of columns; those of n columns have weight γⁿ/n!. It
// overflows for γ x·y > 709.
var Exp = &Kind{
	name:       "exp",
	formula:    "exp(γ x·y)",
	about:      "products of any number of columns",
	source:     "Kar and Karnick 2012",
	parameters: []Parameter{gammaParameter()},
	gamma:      gammaOfLengths,
	powers:     func(Kernel) bool { return true },
	series:     expSeries,
	family: dot{
		of:    func(k Kernel, xy float64) float64 { return math.Exp(k.Gamma * xy) },
		slope: func(k Kernel, xy float64) float64 { return k.Gamma * math.Exp(k.Gamma*xy) },
		all: func(k Kernel, s []float64) {
			for c := range s {
				s[c] *= k.Gamma
			}
			vec.Exp64(s, s)
		},
		apart:    expDistance,
		mirrored: func(Kernel, float64) bool { return false },
	},
}

// dot is the family of the kernels f(x·y), except linear.
type dot struct {
	of    func(k Kernel, xy float64) float64 // f
	slope func(k Kernel, xy float64) float64 // its derivative
	all   func(k Kernel, s []float64)        // f of many numbers

	// apart is the squared distance d² from x·y, a = x·(x-y), b = y·(y-x) and s = ‖x-y‖² = a + b. If
	// mirrored(k, x·y), a, b and s are those of x and -y, as the rows are near where x is near -y.
	apart    func(k Kernel, xy, a, b, s float64) float64
	mirrored func(k Kernel, xy float64) bool
}

func (f dot) value(k Kernel, x, y []float32) float64 { return f.of(k, product(x, y)) }

func (f dot) distance2(k Kernel, x, y []float32) float64 {
	xy := product(x, y)
	sign := 1.0
	if f.mirrored(k, xy) {
		sign = -1
	}
	a, b, s := apart(x, y, sign)
	return f.apart(k, xy, a, b, s)
}

// apart returns a = x·(x-y), b = y·(y-x) and s = ‖x-y‖² for sign·y in place of y.
func apart(x, y []float32, sign float64) (a, b, s float64) {
	for i, v := range x {
		v, w := float64(v), sign*float64(y[i])
		a += v * (v - w)
		b += w * (w - v)
		s += (v - w) * (v - w)
	}
	return a, b, s
}

func (f dot) unit() bool { return false }

func (f dot) diagonal(k Kernel, x matrix.Rows) []float64 {
	diagonal := norms(x, nil)
	for i, xx := range diagonal {
		diagonal[i] = f.of(k, xx)
	}
	return diagonal
}

func (f dot) lowest(Kernel) float32 { return anything }

func (f dot) ofProducts(k Kernel, xy, _, _ float64) float64 { return f.of(k, xy) }

func (f dot) slopes(k Kernel, xy, _, _ float64) (p, q float64) { return f.slope(k, xy), 0 }

func (f dot) addGradient(k Kernel, dst []float64, w float64, x, y []float32) {
	addAlong(dst, w, x, y, f.slope(k, product(x, y)), 0)
}

func (f dot) engine(k Kernel) engine { return dotEngine{f, k} }

// dotEngine computes blocks of f(x·y).
type dotEngine struct {
	dot
	kernel Kernel
}

func (e dotEngine) sums(bool) *sums { return nil }

func (e dotEngine) numbers() func(float64) float64 { return nil }

func (e dotEngine) moves() bool { return false }

func (e dotEngine) frame(g *Gram, distances bool) frame {
	if !distances {
		return frame{}
	}
	return g.lengths(false)
}

func (e dotEngine) values(_ *block, _, _ int, s []float64) { e.all(e.kernel, s) }

func (e dotEngine) against(_ *Against, _ float64, s []float64) { e.all(e.kernel, s) }

func (e dotEngine) distances2(b *block, r, lo int, s []float64) {
	xx := b.xNorm[r]
	for c, xy := range s {
		yy, towards := b.yNorm[lo+c], xy
		if e.mirrored(e.kernel, xy) {
			towards = -xy
		}
		if s2 := xx + yy - 2*towards; s2 < nearRows*(xx+yy) {
			x, y := b.rowsOf(r, lo+c)
			s[c] = e.distance2(e.kernel, x, y)
		} else {
			s[c] = e.apart(e.kernel, xy, xx-towards, yy-towards, s2)
		}
	}
}

// inner is the family of the linear kernel, and its engine.
type inner struct{}

func (inner) value(_ Kernel, x, y []float32) float64 { return product(x, y) }

func (inner) distance2(_ Kernel, x, y []float32) float64 { return squared(x, y) }

func (inner) unit() bool { return false }

func (inner) diagonal(_ Kernel, x matrix.Rows) []float64 { return norms(x, nil) }

func (inner) lowest(Kernel) float32 { return anything }

func (inner) ofProducts(_ Kernel, xy, _, _ float64) float64 { return xy }

func (inner) slopes(Kernel, float64, float64, float64) (p, q float64) { return 1, 0 }

func (inner) addGradient(_ Kernel, dst []float64, w float64, x, y []float32) {
	addAlong(dst, w, x, y, 1, 0)
}

func (e inner) engine(Kernel) engine { return e }

func (inner) sums(bool) *sums { return nil }

func (inner) numbers() func(float64) float64 { return nil }

func (inner) moves() bool { return false }

func (inner) frame(g *Gram, distances bool) frame {
	if !distances {
		return frame{}
	}
	return g.lengths(true)
}

func (inner) values(*block, int, int, []float64) {}

func (inner) against(*Against, float64, []float64) {}

func (inner) distances2(b *block, r, lo int, s []float64) { b.squares(r, lo, s, true) }

func polyOf(k Kernel, xy float64) float64 { return power(float64(k.Gamma*xy)+k.Coef0, k.Degree) }

func polySlope(k Kernel, xy float64) float64 {
	if k.Degree == 1 {
		return k.Gamma
	}
	return float64(k.Degree) * k.Gamma * power(k.Gamma*xy+k.Coef0, k.Degree-1)
}

// polyMirrored says that the degree is even and γ x·y + c is negative.
func polyMirrored(k Kernel, xy float64) bool { return k.Degree%2 == 0 && k.Gamma*xy+k.Coef0 < 0 }

// polyDistance returns d². With k(x, x) = u^p, k(x, y) = w^p and k(y, y) = v^p, u = w + a and
// v = w + b. For P_j = u^j - w^j, Q_j = v^j - w^j and S_j = P_j + Q_j,
//
//	P_j = u P_(j-1) + a w^(j-1),  S_j = w S_(j-1) + a P_(j-1) + b Q_(j-1) + s w^(j-1),
//
// in which no term of S_j is negative if w is not.
func polyDistance(k Kernel, xy, a, b, s float64) float64 {
	a, b, s = k.Gamma*a, k.Gamma*b, k.Gamma*s
	w := k.Gamma*xy + k.Coef0
	if polyMirrored(k, xy) {
		w, a, b, s = -w, a+2*k.Coef0, b+2*k.Coef0, s+4*k.Coef0
	}
	u, v := max(0, w+a), max(0, w+b)
	if w < 0 || k.Degree > 100 {
		return positive(power(u, k.Degree) + power(v, k.Degree) - 2*power(w, k.Degree))
	}
	P, Q, S, W := 0.0, 0.0, 0.0, 1.0
	for range k.Degree {
		S = w*S + a*P + b*Q + s*W
		P, Q = u*P+a*W, v*Q+b*W
		W *= w
	}
	return positive(S)
}

// expDistance returns e^w (e^a + e^b - 2), with e^a - 1 = a + (e^a - 1 - a).
func expDistance(k Kernel, xy, a, b, s float64) float64 {
	a, b, s = k.Gamma*a, k.Gamma*b, k.Gamma*s
	w := k.Gamma * xy
	if max(a, b) > 1 {
		return positive(math.Exp(w+a) + math.Exp(w+b) - 2*math.Exp(w))
	}
	return positive(math.Exp(w) * (s + expm2(a) + expm2(b)))
}

// expSeries has the coefficients 1/n!.
func expSeries(k Kernel, most int) Series {
	s := Series{Gamma: k.Gamma}
	a := 1.0
	for n := range most + 1 {
		s.Powers = append(s.Powers, Power{n, a})
		a /= float64(n + 1)
	}
	return s
}

// expm2 returns e^x - 1 - x.
func expm2(x float64) float64 {
	if math.Abs(x) > 0.5 {
		return math.Expm1(x) - x
	}
	sum, term := 0.0, x
	for i := 2.0; i < 18; i++ {
		term *= x / i
		sum += term
	}
	return sum
}

// power returns xⁿ for n ≥ 1 by repeated squaring.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 1; n /= 2 {
		if n%2 == 1 {
			y *= x
		}
		x *= x
	}
	return x * y
}
