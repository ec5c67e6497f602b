package kernel

import (
	"fmt"
	"math"

	"mercer/matrix"
)

// The arc-cosine kernels (Cho and Saul, Kernel Methods for Deep Learning, 2009): k(x, y) =
// 2·E[h(ω·x)h(ω·y)] over normal ω, h the step function (order 0) or max(0, ·) (order 1).

// ArcCos is (1/π)‖x‖ᵖ‖y‖ᵖ J_p(θ), θ the angle between x and y, p (Degree) = 0 or 1: J_0 = π-θ,
// J_1 = sin θ + (π-θ) cos θ. It is the kernel of an infinitely wide layer of a neural network, with steps
// (p = 0) or max(0, ·) (p = 1) as activation. It has no γ. A row of zeros counts as orthogonal to every
// row, including itself.
var ArcCos = &Kind{
	name:    "arccos",
	formula: "(1/π)‖x‖ᵖ‖y‖ᵖ J_p(θ), J_0 = π-θ, J_1 = sin θ + (π-θ) cos θ",
	about:   "an infinitely wide layer of a neural network; needs no γ",
	source:  "Cho and Saul 2009",
	parameters: []Parameter{{
		Name: "degree", About: "order p, 0 or 1,", Usual: 1, Least: 0, Most: 1, must: "0 or 1",
		text: func(v float64) string { return fmt.Sprintf("order %d", int(v)) },
	}},
	law: func(k Kernel) Law {
		if k.Degree == 0 {
			return Law{Coordinates: Normal, Scale: 1, Wave: Step}
		}
		return Law{Coordinates: Normal, Scale: 1, Wave: Ramp}
	},
	family: angular{},
}

// angular is the family of the functions of the rows' lengths and the angle between them.
type angular struct{}

func (angular) value(k Kernel, x, y []float32) float64 { return k.arccos(angleOf(x, y)) }

func (angular) distance2(k Kernel, x, y []float32) float64 {
	a, b, _ := apart(x, y, 1)
	return k.arccosDistance(angleOf(x, y), a-b)
}

func (angular) unit() bool { return false }

func (angular) diagonal(k Kernel, x matrix.Rows) []float64 {
	diagonal := norms(x, nil)
	for i, xx := range diagonal {
		diagonal[i] = k.arccosSelf(xx)
	}
	return diagonal
}

func (angular) lowest(Kernel) float32 { return anything }

func (angular) ofProducts(k Kernel, xy, xx, yy float64) float64 {
	cos, _ := cosine(xy, xx, yy)
	return k.arccos(angle{xx: xx, yy: yy, theta: math.Acos(cos), rest: math.Acos(-cos)})
}

func (angular) slopes(k Kernel, xy, xx, yy float64) (p, q float64) {
	return k.arccosSlopes(xy, xx, yy)
}

func (angular) addGradient(k Kernel, dst []float64, w float64, x, y []float32) {
	p, q := k.arccosSlopes(product(x, y), product(x, x), product(y, y))
	addAlong(dst, w, x, y, p, q)
}

func (angular) engine(k Kernel) engine { return angularEngine{k} }

// angularEngine computes blocks of kernel values from dot products and lengths.
type angularEngine struct{ kernel Kernel }

func (e angularEngine) sums(bool) *sums { return nil }

func (e angularEngine) numbers() func(float64) float64 { return nil }

func (e angularEngine) moves() bool { return false }

func (e angularEngine) frame(g *Gram, distances bool) frame {
	if distances {
		return g.value
	}
	return g.lengths(false)
}

// parallel is the 1 - |cos θ| below which the angle is computed from the rows themselves.
const parallel = 1e-5

func (e angularEngine) values(b *block, r, lo int, s []float64) {
	for c, xy := range s {
		cos, length := cosine(xy, b.xNorm[r], b.yNorm[lo+c])
		switch {
		case e.kernel.Degree == 1:
			s[c] = max(0, length/math.Pi*(math.Sqrt((1-cos)*(1+cos))+math.Acos(-cos)*cos))
		case 1-math.Abs(cos) < parallel:
			s[c] = e.kernel.arccos(angleOf(b.rowsOf(r, lo+c)))
		default:
			s[c] = math.Acos(-cos) / math.Pi
		}
	}
}

func (e angularEngine) against(a *Against, norm float64, s []float64) {
	for c, xy := range s {
		s[c] = angular{}.ofProducts(e.kernel, xy, norm, a.norm[c])
	}
}

func (e angularEngine) distances2(b *block, r, lo int, s []float64) {
	for c, xy := range s {
		a := angle{xx: b.xNorm[r], yy: b.yNorm[lo+c]}
		cos, _ := cosine(xy, a.xx, a.yy)
		if 1-cos < parallel || a.xx+a.yy-2*xy < nearRows*(a.xx+a.yy) {
			x, y := b.rowsOf(r, lo+c)
			s[c] = angular{}.distance2(e.kernel, x, y)
			continue
		}
		a.theta = math.Acos(cos)
		s[c] = e.kernel.arccosDistance(a, a.xx-a.yy)
	}
}

// cosine returns cos θ from x·y, and ‖x‖‖y‖.
func cosine(xy, xx, yy float64) (cos, length float64) {
	length = math.Sqrt(xx * yy)
	if length == 0 {
		return 0, 0
	}
	return min(1, max(-1, xy/length)), length
}

// angle has the lengths of two rows and the angle between them.
type angle struct {
	xx, yy float64 // ‖x‖², ‖y‖²

	// theta is the angle θ, rest is π-θ. Each is accurate where it is small.
	theta, rest float64
}

// angleOf computes the angle by tan(θ/2) = ‖u-v‖/‖u+v‖ with u = x/‖x‖ and v = y/‖y‖. The cosine cannot
// tell angles below 10⁻⁸, or as near to π.
func angleOf(x, y []float32) angle {
	a := angle{xx: product(x, x), yy: product(y, y), theta: math.Pi / 2, rest: math.Pi / 2}
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
	return math.Sqrt(a.xx*a.yy) * (lune(a.rest) / math.Pi)
}

// arccosSelf returns k(x, x) from ‖x‖².
func (k Kernel) arccosSelf(xx float64) float64 {
	switch {
	case k.Degree == 1:
		return xx
	case xx == 0:
		return 0.5
	}
	return 1
}

// arccosDistance returns d². In order 1, with k(x, x) = ‖x‖², it is
// (‖x‖-‖y‖)² + 2‖x‖‖y‖(1 - J_1/π), and 1 - J_1/π = 2 sin²(θ/2) - (sin θ - θ cos θ)/π.
// difference is ‖x‖²-‖y‖².
func (k Kernel) arccosDistance(a angle, difference float64) float64 {
	if k.Degree == 0 {
		if a.xx == 0 || a.yy == 0 {
			return k.arccosSelf(a.xx) + k.arccosSelf(a.yy) - 1
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

// arccosSlopes: of order 1, πk = ‖x‖‖y‖sin θ + (π-θ)x·y, where the derivatives by θ cancel; of
// order 0, πk = π-θ, and -∂θ/∂y = (x/(‖x‖‖y‖) - y cos θ/‖y‖²)/sin θ.
func (k Kernel) arccosSlopes(xy, xx, yy float64) (p, q float64) {
	cos, length := cosine(xy, xx, yy)
	if length == 0 {
		return 0, 0
	}
	sin := math.Sqrt((1 - cos) * (1 + cos))
	if k.Degree == 1 {
		return math.Acos(-cos) / math.Pi, math.Sqrt(xx/yy) * sin / math.Pi
	}
	if sin < 1e-6 {
		return 0, 0
	}
	return 1 / (math.Pi * length * sin), -cos / (math.Pi * yy * sin)
}
