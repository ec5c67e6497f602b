package kernel

import (
	"math"
	"sync/atomic"
)

// A Matérn kernel is a mixture of Gaussian ones: with x = γ‖x-y‖² it is the mean of
// exp(-x/w) over w from the Gamma distribution of shape ν and mean 1. With w = e^t,
//
//	k(x) = C ∫ exp(-ν(e^t - 1 - t) - x e^-t) dt,  C = ν^ν e^-ν/Γ(ν),
//
// which is one of the integrals for K_ν (DLMF 10.32.10), and
//
//	1 - k(x) = C ∫ exp(-ν(e^t - 1 - t))·(1 - exp(-x e^-t)) dt.
//
// Both integrands are positive and analytic for |Im t| < π/2, so that the trapezoidal rule
// converges geometrically, without cancellation.

// Bounds of ν. The sum for 1-k takes 1/ν steps; rbf is 0.003 away at the upper one.
const minNu, maxNu = 0.001, 100.0

// matern returns k(x), from its closed form if it has a short one.
func matern(nu, x float64) float64 {
	if x == 0 {
		return 1
	}
	if p := closedForm(nu); p != nil {
		z := min(2*math.Sqrt(nu)*math.Sqrt(x), mostZ)
		return math.Exp(-z) * horner(p, z)
	}
	return math.Exp(-maternLog(nu, x))
}

// mostZ is an argument at which e^-z is 0, and the polynomials of closed forms are not
// infinite.
const mostZ = 1000

// closedForm returns the coefficients of the polynomial p of degree n for which the kernel of
// ν = n + ½ is p(z)e^-z, z = √(4νx); nil where ν is no such number, or n above 8.
func closedForm(nu float64) []float64 {
	n := int(nu)
	if nu != float64(n)+0.5 || n > 8 {
		return nil
	}
	p := make([]float64, n+1)
	p[0] = 1
	for m := range n {
		p[m+1] = p[m] * float64(2*(n-m)) / float64((2*n-m)*(m+1))
	}
	return p
}

func horner(p []float64, z float64) float64 {
	sum := 0.0
	for i := len(p) - 1; i >= 0; i-- {
		sum = sum*z + p[i]
	}
	return sum
}

// logC returns log C, by Stirling's series where ν is large.
func logC(nu float64) float64 {
	if nu < 8 {
		gamma, _ := math.Lgamma(nu)
		return nu*math.Log(nu) - nu - gamma
	}
	r := 1 / (nu * nu)
	series := (1.0/12 - r*(1.0/360-r*(1.0/1260-r*(1.0/1680-r*(1.0/1188-r*(691.0/360360-r/156)))))) / nu
	return 0.5*math.Log(nu/(2*math.Pi)) - series
}

// step is a distance of points at which the rule has double precision: about half the width
// of the integrand's peak, and of the strip where it is analytic.
func step(nu, x float64) float64 {
	return min(0.2, 0.5/math.Sqrt(math.Sqrt(nu)*math.Sqrt(nu+4*x)))
}

// negligible is a share of a sum that is lost in its rounding.
const negligible = 1e-18

// maternLog returns -log k(x) for x > 0.
func maternLog(nu, x float64) float64 {
	if x < 0.5 {
		if gap := maternGap(nu, x); gap < 0.5 {
			return -math.Log1p(-gap)
		}
	}
	if !(x <= vanished/nu) {
		return math.Inf(1) + x // NaN of NaN
	}
	// The peak, where ν(e^t - 1) = x e^-t.
	peak := math.Log1p((math.Sqrt(1+4*x/nu) - 1) / 2)
	exponent := func(t float64) float64 { return -nu*(math.Expm1(t)-t) - x*math.Exp(-t) }
	top, h := exponent(peak), step(nu, x)
	sum := 1.0
	for _, h := range [2]float64{h, -h} {
		for i := 1.0; ; i++ {
			term := math.Exp(exponent(peak+i*h) - top)
			sum += term
			if term < negligible*sum {
				break
			}
		}
	}
	return -(logC(nu) + top + math.Log(h*sum))
}

// vanished/ν is an x at which k < 10⁻³²³.
const vanished = 1e6

// maternGap returns 1 - k(x).
func maternGap(nu, x float64) float64 {
	if x == 0 {
		return 0
	}
	if !(x <= 1) {
		return -math.Expm1(-maternLog(nu, x))
	}
	h, c := step(nu, x), logC(nu)
	sum := 0.0
	for i := 0.0; ; i++ {
		t := i * h
		term := math.Exp(c-nu*(math.Expm1(t)-t)) * -math.Expm1(-x*math.Exp(-t))
		sum += term
		if term < negligible*sum {
			break
		}
	}
	for i := 1.0; ; i++ {
		t := -i * h
		inner := x * math.Exp(-t)
		term := math.Exp(c-nu*(math.Expm1(t)-t)) * -math.Expm1(-inner)
		sum += term
		if inner > 40 && -t > 40 {
			// What is left is a geometric series: e^t has gone from the exponent, and
			// the second factor is 1.
			return h * (sum + term/math.Expm1(nu*h))
		}
		if term < negligible*sum && (nu > 1.5 || inner > 1) {
			return h * sum
		}
	}
}

// maternTable is -log k as a function of x, for Gram matrices: polynomials of degree 7 on
// the sixteenths of [2^e, 2^(e+1)), found by the bits of x and computed when first asked for.
// The logarithm is as smooth as a power of x over all scales, so that the relative error
// of a polynomial is 10⁻¹⁴ at most, and k and 1-k have it as well.
type maternTable struct {
	nu      float64
	binades [2047]atomic.Pointer[[16][8]float64] // by the exponent's bits
}

// lastTable saves the table when several Gram matrices of one ν follow one another.
var lastTable atomic.Pointer[maternTable]

func newMaternTable(nu float64) *maternTable {
	if t := lastTable.Load(); t != nil && t.nu == nu {
		return t
	}
	t := &maternTable{nu: nu}
	lastTable.Store(t)
	return t
}

// log writes -log k(x) over every x ≥ 0 of s.
func (t *maternTable) log(s []float64) {
	for i, x := range s {
		bits := math.Float64bits(x)
		exponent := bits >> 52
		if exponent == 0 || !(x <= vanished/t.nu) {
			if x != 0 {
				s[i] = maternLog(t.nu, x)
			}
			continue
		}
		b := t.binades[exponent].Load()
		if b == nil {
			b = t.fill(int(exponent))
		}
		p := &b[bits>>48&15]
		u := float64(int64(bits&(1<<48-1)))*(1.0/(1<<47)) - 1
		// Two halves that do not wait for each other.
		u2 := u * u
		even := p[0] + u2*(p[2]+u2*(p[4]+u2*p[6]))
		odd := p[1] + u2*(p[3]+u2*(p[5]+u2*p[7]))
		s[i] = even + u*odd
	}
}

// fill computes the polynomials of one power of two.
func (t *maternTable) fill(exponent int) *[16][8]float64 {
	b := new([16][8]float64)
	low := math.Ldexp(1, exponent-1023)
	for i := range b {
		middle, half := low*(1+(float64(i)+0.5)/16), low/32
		// Chebyshev coefficients from the values at the zeros of T_8.
		var c [8]float64
		for k := range 8 {
			at := math.Pi * (float64(k) + 0.5) / 8
			v := maternLog(t.nu, middle+half*math.Cos(at))
			for j := range c {
				c[j] += v * math.Cos(float64(j)*at) / 4
			}
		}
		c[0] /= 2
		// T_j in powers of u.
		before, poly := [8]float64{}, [8]float64{1}
		for j := range c {
			for m, v := range poly {
				b[i][m] += c[j] * v
			}
			var next [8]float64
			for m := range 7 {
				next[m+1] = 2 * poly[m]
			}
			if j == 0 {
				next[1] = 1
			}
			for m := range next {
				next[m] -= before[m]
			}
			before, poly = poly, next
		}
	}
	t.binades[exponent].Store(b)
	return b
}
