package vec

import (
	"context"
	"math"
)

// secular is the eigenproblem of D + ρ·z·zᵀ for a diagonal D with d strictly ascending, ρ >
// 0 and no z equal to 0. The eigenvalues are the roots of
//
//	f(λ) = 1/ρ + Σ_k z_k²/(d_k - λ),
//
// one between each d_i and d_(i+1), and one beyond the last d. A root is stored as its distance
// from the nearer d: the vectors depend on d_k - λ, which then loses no digits.
type secular struct {
	rho    float64
	d, z   []float64
	origin []int // root i is d[origin[i]] + tau[i]
	tau    []float64
}

// mostTurns is how many iterations a root may take. It takes about 4; half as many bisections
// as mostTurns reduce an interval to rounding errors.
const mostTurns = 200

// solve finds all roots. It returns false if the context ended.
func (s *secular) solve(ctx context.Context) bool {
	Parallel(len(s.d), 16, func(lo, hi int) {
		delta := make([]float64, len(s.d))
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			s.origin[i], s.tau[i] = s.root(i, delta)
		}
	})
	return ctx.Err() == nil
}

// root finds the i-th root, by interpolation of both sums of f, over the poles to the left and
// to the right, with one pole each at d_i and d_(i+1), so that values and derivatives agree
// (the middle way of Li 1994). If that leaves the interval or gains little, a simpler
// model and bisection alternate.
func (s *secular) root(i int, delta []float64) (origin int, tau float64) {
	origin, lo, hi, tau := s.start(i, delta)
	before := math.Inf(1)
	for turn := range mostTurns {
		at := s.evaluate(i, delta, tau)
		if math.Abs(at.f) <= 0x1p-50*(1/s.rho+at.right-at.left) {
			break
		}
		if at.f < 0 {
			lo = tau
		} else {
			hi = tau
		}
		next := tau + at.step(delta[i:], tau)
		if !(next > lo && next < hi) || math.Abs(at.f) > before/2 {
			// If a root is very near its pole, it is where that pole outweighs the others as evaluated here.
			square := float64(s.z[origin] * s.z[origin])
			next = square / (at.f + square/tau)
			if turn%2 == 1 || !(next > lo && next < hi) {
				next = between(lo, hi)
			}
		}
		if next == tau || next == lo || next == hi {
			break
		}
		before = math.Abs(at.f)
		tau = next
	}
	return origin, tau
}

// start chooses the origin of the i-th root, the end of its interval that is nearer, and makes delta the distances of all d from it.
// The root is between lo and hi from there, and about at tau.
func (s *secular) start(i int, delta []float64) (origin int, lo, hi, tau float64) {
	d, last := s.d, i == len(s.d)-1
	var gap float64
	if last {
		for _, z := range s.z {
			gap += float64(z * z)
		}
		gap *= s.rho
	} else {
		gap = d[i+1] - d[i]
	}

	// The sign in the middle shows which end is nearer.
	for j, v := range d {
		delta[j] = v - d[i]
	}
	origin = i
	middle := gap / 2
	at := s.evaluate(i, delta, middle)
	lo, hi = 0.0, middle
	switch {
	case last && at.f < 0:
		lo, hi, tau = middle, 2*gap, gap // the root may be gap up to rounding
	case last:
	default:
		// All poles but the nearest two are evaluated in the middle.
		left, right := float64(s.z[i]*s.z[i]), float64(s.z[i+1]*s.z[i+1])
		c := at.f + left/middle - right/middle
		if at.f >= 0 {
			tau = nearRoot(c, float64(c*gap)+left+right, left*gap)
		} else {
			origin = i + 1
			for j, v := range d {
				delta[j] = v - d[origin]
			}
			lo, hi = -middle, 0
			tau = nearRoot(c, left+right-float64(c*gap), -right*gap)
		}
	}
	if !(tau > lo && tau < hi) {
		tau = lo + (hi-lo)/2
	}
	return origin, lo, hi, tau
}

// between is the middle of an interval, or the middle of the exponents if its ends differ widely.
func between(lo, hi float64) float64 {
	if l, h := math.Abs(lo), math.Abs(hi); l > 0 && h > 0 && (l > 4*h || h > 4*l) {
		return math.Copysign(math.Sqrt(l)*math.Sqrt(h), lo+hi)
	}
	return lo + (hi-lo)/2
}

// nearRoot is the root of c·x² - a·x + b = 0 that lies between the poles of the interpolation.
func nearRoot(c, a, b float64) float64 {
	root := math.Sqrt(max(0, float64(a*a)-float64(4*b*c)))
	if a > 0 {
		return 2 * b / (a + root)
	}
	return (a - root) / (2 * c)
}

// secularValue is f at some point, its two sums and their derivatives.
type secularValue struct {
	f, left, right, leftSlope, rightSlope float64
}

// step is how far from tau the interpolation has its root; delta begins with the nearest poles: two, or one for the last root.
func (v secularValue) step(delta []float64, tau float64) float64 {
	toLeft := delta[0] - tau
	if len(delta) == 1 {
		return toLeft * v.f / (v.f - float64(toLeft*v.leftSlope))
	}
	toRight := delta[1] - tau
	c := v.f - float64(toLeft*v.leftSlope) - float64(toRight*v.rightSlope)
	both := toLeft * toRight
	return nearRoot(c, float64((toLeft+toRight)*v.f)-float64(both*(v.leftSlope+v.rightSlope)), both*v.f)
}

// evaluate computes f at tau beyond the origin of delta; the left sum is that of poles 0 … i.
func (s *secular) evaluate(i int, delta []float64, tau float64) (v secularValue) {
	v.left, v.leftSlope = poles(s.z[:i+1], delta, tau)
	v.right, v.rightSlope = poles(s.z[i+1:], delta[i+1:], tau)
	v.f = 1/s.rho + v.left + v.right
	return v
}

// poles sums z²/(delta - tau) and z²/(delta - tau)².
func poles(z, delta []float64, tau float64) (sum, slope float64) {
	delta = delta[:len(z)]
	var sum1, slope1 float64
	k := 0
	for ; k+1 < len(z); k += 2 {
		q, r := z[k]/(delta[k]-tau), z[k+1]/(delta[k+1]-tau)
		sum += float64(z[k] * q)
		slope += float64(q * q)
		sum1 += float64(z[k+1] * r)
		slope1 += float64(r * r)
	}
	if k < len(z) {
		q := z[k] / (delta[k] - tau)
		sum += float64(z[k] * q)
		slope += float64(q * q)
	}
	return sum + sum1, slope + slope1
}

// refine replaces z by the one for which the computed roots are exact eigenvalues, so that
// the vectors are orthogonal however close the roots are (Gu and Eisenstat 1994, after Löwner):
//
//	ρ·z_k² = Π_i (λ_i - d_k) / Π_(i≠k) (d_i - d_k).
//
// ρ is left out: vectors have unit length. It returns false if the context ended.
func (s *secular) refine(ctx context.Context) bool {
	Parallel(len(s.d), 64, func(lo, hi int) {
		squares := make([]float64, hi-lo)
		for k := range squares {
			squares[k] = 1
		}
		for i := range s.d {
			if ctx.Err() != nil {
				return
			}
			near, tau := s.d[s.origin[i]], s.tau[i]
			// Poles before root i are paired with d_(i+1), later ones with d_i: no quotient exceeds 1.
			behind := max(lo, min(hi, i+1))
			for k := lo; k < behind; k++ {
				v := near - s.d[k] + tau
				if i < len(s.d)-1 {
					v /= s.d[i+1] - s.d[k]
				}
				squares[k-lo] *= v
			}
			for k := behind; k < hi; k++ {
				squares[k-lo] *= (near - s.d[k] + tau) / (s.d[i] - s.d[k])
			}
		}
		for k, v := range squares {
			s.z[lo+k] = math.Copysign(math.Sqrt(v), s.z[lo+k])
		}
	})
	return ctx.Err() == nil
}

// value is root i.
func (s *secular) value(i int) float64 { return s.d[s.origin[i]] + s.tau[i] }

// vector writes the eigenvector of root i, of unit length: element k at u[place[k]].
func (s *secular) vector(i int, place []int, u []float64) {
	near, tau := s.d[s.origin[i]], s.tau[i]
	square := 0.0
	for k, z := range s.z {
		v := z / (s.d[k] - near - tau)
		u[place[k]] = v
		square += float64(v * v)
	}
	f := 1 / math.Sqrt(square)
	for k := range u {
		u[k] *= f
	}
}
