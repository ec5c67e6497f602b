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

// closedForms holds, for ν = n + ½, the coefficients of the polynomial p of degree n for which
// the kernel is p(z)e^-z, z = √(4νx). All are positive.
var closedForms = func() (forms [9][]float64) {
	for n := range forms {
		p := make([]float64, n+1)
		p[0] = 1
		for m := range n {
			p[m+1] = p[m] * float64(2*(n-m)) / float64((2*n-m)*(m+1))
		}
		forms[n] = p
	}
	return forms
}()

// closedForm returns ν's polynomial, nil if there is no short one.
func closedForm(nu float64) []float64 {
	n := int(nu)
	if nu != float64(n)+0.5 || n >= len(closedForms) {
		return nil
	}
	return closedForms[n]
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
			if !(term > negligible*sum) {
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
		return 1 - matern(nu, x)
	}
	if closedForm(nu) != nil {
		if gap := 1 - matern(nu, x); gap > 0.1 {
			return gap
		}
	}
	h, c := step(nu, x), logC(nu)
	sum := 0.0
	term := func(t float64) (term, inner float64) {
		if inner = x * math.Exp(-t); t < -700 {
			inner = math.Exp(math.Log(x) - t) // e^-t overflows, which x e^-t does not
		}
		return math.Exp(c-nu*(math.Expm1(t)-t)) * -math.Expm1(-inner), inner
	}
	for i := 0.0; ; i++ {
		term, _ := term(i * h)
		sum += term
		if !(term > negligible*sum) {
			break
		}
	}
	for i := 1.0; ; i++ {
		t := -i * h
		term, inner := term(t)
		sum += term
		if inner > 40 && -t > 40 {
			// What is left is a geometric series: e^t has gone from the exponent, and
			// the second factor is 1.
			return h * (sum + term/math.Expm1(nu*h))
		}
		if !(term > negligible*sum) && (nu > 1.5 || inner > 1) {
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

// maternSlope returns -dk/dx of the Matérn kernel as a function of x = γ‖x-y‖². By
// d(z^ν K_ν)/dz = -z^ν K_(ν-1) it is ν/(ν-1) times the kernel of ν-1 at the same z² = 4νx; for
// ν ≤ 1 it is the integral of matern.go with one factor e^-t more. At x = 0, where it may be
// infinite, it is 0.
func maternSlope(nu, x float64) float64 {
	switch {
	case x == 0:
		return 0
	case nu-1 >= minNu:
		return nu / (nu - 1) * matern(nu-1, x*nu/(nu-1))
	case nu == 0.5: // k = exp(-√(2x))
		root := math.Sqrt(2 * x)
		return math.Exp(-root) / root
	}
	exponent := func(t float64) float64 { return -nu*(math.Expm1(t)-t) - x*math.Exp(-t) - t }
	// The peak, where νe^2t - (ν-1)e^t - x = 0.
	peak := math.Log((nu - 1 + math.Sqrt((nu-1)*(nu-1)+4*nu*x)) / (2 * nu))
	top, h := exponent(peak), step(nu, x)
	if math.IsInf(top, 0) || top != top {
		return 0
	}
	sum := 1.0
	for _, h := range [2]float64{h, -h} {
		for i := 1.0; ; i++ {
			term := math.Exp(exponent(peak+i*h) - top)
			sum += term
			if !(term > negligible*sum) {
				break
			}
		}
	}
	return math.Exp(logC(nu)+top) * h * sum
}
