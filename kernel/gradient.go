package kernel

import (
	"math"

	"mercer/matrix"
)

// Smooth says whether the kernel depends on x·y, ‖x‖² and ‖y‖² alone, so that it has
// [Kernel.Slopes].
func (k Kernel) Smooth() bool {
	switch k.Name {
	case "linear", "poly", "exp", "rbf", "matern", "arccos":
		return true
	}
	return false
}

// Slopes returns p and q of the gradient ∂k(x, y)/∂y = p·x + q·y, from x·y, ‖x‖² and ‖y‖², of
// a kernel that is [Kernel.Smooth]. Where there is no gradient (of matern with ν ≤ ½ at x = y,
// of arccos at θ = 0 and at rows of zeros), it is 0.
func (k Kernel) Slopes(xy, xx, yy float64) (p, q float64) {
	switch k.Name {
	case "linear":
		return 1, 0
	case "poly":
		if k.Degree == 1 {
			return k.Gamma, 0
		}
		return float64(k.Degree) * k.Gamma * power(k.Gamma*xy+k.Coef0, k.Degree-1), 0
	case "exp":
		return k.Gamma * math.Exp(k.Gamma*xy), 0
	case "arccos":
		return k.arccosSlopes(xy, xx, yy)
	}
	s := max(0, xx+yy-2*xy)
	slope := math.Exp(-k.Gamma * s) // -dk/d(γs)
	if k.Name == "matern" {
		slope = maternSlope(k.Nu, k.Gamma*s)
	}
	return 2 * k.Gamma * slope, -2 * k.Gamma * slope
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

// AddGradient adds Σ_i w_i ∂k(x_i, y)/∂y over the rows of x to dst, for any kernel. Where there
// is no gradient in a coordinate (of laplacian and the intersection kernels at x_j = y_j, of
// hellinger and jensen-shannon at y_j = 0), it is 0.
func (k Kernel) AddGradient(dst, w []float64, x *matrix.Dense, y []float32) {
	if x.Rows == 0 {
		return
	}
	k.check(x.Row(0), y)
	for i, w := range w[:x.Rows] {
		k.addGradient(dst, w, x.Row(i), y)
	}
}

func (k Kernel) addGradient(dst []float64, w float64, x, y []float32) {
	if k.Smooth() {
		xy, xx, yy := 0.0, 0.0, 0.0
		if k.Name == "rbf" || k.Name == "matern" {
			xx = squared(x, y) // nothing else counts
		} else {
			xy, xx, yy = dot(x, y), dot(x, x), dot(y, y)
		}
		p, q := k.Slopes(xy, xx, yy)
		for j, v := range x {
			dst[j] += float64(w * (float64(p*float64(v)) + float64(q*float64(y[j]))))
		}
		return
	}
	if !k.additive() {
		w *= k.of(k.argument(x, y))
	}
	if k.Name == "laplacian" {
		w *= k.Gamma
		for j, v := range x {
			if v > y[j] {
				dst[j] += w
			} else if v < y[j] {
				dst[j] -= w
			}
		}
		return
	}
	for j := range x {
		if g := k.coordinate(float64(x[j]), float64(y[j])); g-g == 0 {
			dst[j] += float64(w * g)
		}
	}
}

// coordinate returns the derivative by a coordinate y of k₁(x, y), or of log k for the kernels
// that are products over the coordinates.
func (k Kernel) coordinate(x, y float64) float64 {
	switch k.Name {
	case "cauchy":
		d := k.Gamma * (x - y)
		return 2 * k.Gamma * d / (1 + d*d)
	case "exp-chi2":
		if x+y == 0 {
			return 0
		}
		return k.Gamma * (x - y) / (x + y) * ((3*x + y) / (x + y))
	case "skewed-chi2":
		u, v := x+k.Coef0, y+k.Coef0
		return (u - v) / (2 * v * (u + v))
	case "skewed-intersection":
		return sign(x-y) / (2 * (y + k.Coef0))
	}
	if x == 0 {
		return 0
	}
	slope := 0.0
	switch k.Name {
	case "hellinger":
		slope = math.Sqrt(x) / (2 * math.Sqrt(y))
	case "chi2":
		slope = 2 * (x / (x + y)) * (x / (x + y))
	case "intersection":
		slope = (1 + sign(x-y)) / 2
	case "jensen-shannon":
		slope = math.Log1p(x/y) / (2 * math.Ln2)
	}
	if h := k.homogeneity(); h != 1 {
		more := math.Exp((h - 1) / 2 * (math.Log(x) + math.Log(y)))
		slope = more * (slope + (h-1)/2*homogeneous(k.Name, x, y)/y)
	}
	return slope
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
