package kernel

import "math"

// The arc-cosine kernels (Cho and Saul, Kernel Methods for Deep Learning, 2009): k(x, y) =
// 2·E[h(ω·x)h(ω·y)] over normal ω, h the step function (order 0) or max(0, ·) (order 1).

// angle is the place of two rows to each other.
type angle struct {
	xx, yy float64 // ‖x‖², ‖y‖²

	// theta is the angle θ in between, rest is π-θ; each has its digits where it is small.
	theta, rest float64
}

// angleOf takes the angle from the triangles of u = x/‖x‖ and v = y/‖y‖, tan(θ/2) =
// ‖u-v‖/‖u+v‖: the cosine says nothing of angles below 10⁻⁸, or as near to π.
func angleOf(x, y []float32) angle {
	a := angle{xx: dot(x, x), yy: dot(y, y), theta: math.Pi / 2, rest: math.Pi / 2}
	if a.xx == 0 || a.yy == 0 {
		return a
	}
	nx, ny := math.Sqrt(a.xx), math.Sqrt(a.yy)
	minus, plus := 0.0, 0.0
	for i, v := range x {
		v, w := float64(v)*ny, float64(y[i])*nx
		minus += (v - w) * (v - w)
		plus += (v + w) * (v + w)
	}
	minus, plus = math.Sqrt(minus), math.Sqrt(plus)
	a.theta, a.rest = 2*math.Atan2(minus, plus), 2*math.Atan2(plus, minus)
	return a
}

// arccos returns the kernel's value. With φ = π-θ, J_0 is φ and J_1 is sin φ - φ cos φ.
func (k Kernel) arccos(a angle) float64 {
	if k.Degree == 0 {
		return a.rest / math.Pi
	}
	return math.Sqrt(a.xx*a.yy) / math.Pi * lune(a.rest)
}

// arccosDistance returns d². In order 1, with k(x, x) = ‖x‖², it is
// (‖x‖-‖y‖)² + 2‖x‖‖y‖(1 - J_1/π), and 1 - J_1/π = 2 sin²(θ/2) - (sin θ - θ cos θ)/π.
// difference is ‖x‖²-‖y‖².
func (k Kernel) arccosDistance(a angle, difference float64) float64 {
	if k.Degree == 0 {
		if a.xx == 0 || a.yy == 0 {
			return k.self(a.xx) + k.self(a.yy) - 1
		}
		return 2 * a.theta / math.Pi
	}
	if a.xx == 0 || a.yy == 0 {
		return a.xx + a.yy
	}
	sin := math.Sin(a.theta / 2)
	difference /= math.Sqrt(a.xx) + math.Sqrt(a.yy)
	return difference*difference + 2*math.Sqrt(a.xx*a.yy)*(2*sin*sin-lune(a.theta)/math.Pi)
}

// lune returns sin t - t cos t for t from 0 to π.
func lune(t float64) float64 {
	if t > 1 {
		return math.Sin(t) - t*math.Cos(t)
	}
	// t³/3 - t⁵/30 + …, the term of t^(2k+1) being 2k/(2k+1)!.
	sum, power := 0.0, t
	for k := 1.0; k < 12; k++ {
		power *= -t * t / (2 * k * (2*k + 1))
		sum -= 2 * k * power
	}
	return sum
}
