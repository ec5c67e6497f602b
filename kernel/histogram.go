package kernel

import (
	"fmt"
	"math"

	"mercer/internal/vec"
	"mercer/matrix"
)

// The kernels of histograms, of rows x, y ≥ 0.
//
// The additive ones are sums over the dimensions of k₁(x, y) = (xy)^(h/2)·𝒦(log(y/x)), which
// is homogeneous: k₁(ax, ay) = aʰ·k₁(x, y). It is 0 where one of the two is, and k₁(x, x) = xʰ.
// The usual kernels have h = 1 (Vedaldi and Zisserman, "Efficient additive kernels via explicit
// feature maps", 2012):
//
//	hellinger       √(xy)                                    𝒦(ω) = 1
//	chi2            2xy/(x+y)                                sech(ω/2)
//	intersection    min(x, y)                                e^(-|ω|/2)
//	jensen-shannon  x/2·log₂((x+y)/x) + y/2·log₂((x+y)/y)
//	                    e^(ω/2)/2·log₂(1+e^-ω) + e^(-ω/2)/2·log₂(1+e^ω)

// additive says whether the kernel is a sum over dimensions.
func (k Kernel) additive() bool {
	switch k.Name {
	case "hellinger", "chi2", "intersection", "jensen-shannon":
		return true
	}
	return false
}

// skewed says whether the kernel is one of the two that take numbers above -c.
func (k Kernel) skewed() bool { return k.Name == "skewed-chi2" || k.Name == "skewed-intersection" }

// homogeneity is h of an additive kernel.
func (k Kernel) homogeneity() float64 {
	if k.Homogeneity == 0 {
		return 1
	}
	return k.Homogeneity
}

// Lowest returns the smallest number that a row may hold: 0 for kernels of histograms, for
// skewed ones the first float32 above -c, and -Inf for all others.
func (k Kernel) Lowest() float32 {
	switch {
	case k.additive() || k.Name == "exp-chi2":
		return 0
	case k.skewed():
		c := float32(-k.Coef0)
		for float64(c) <= -k.Coef0 {
			c = math.Nextafter32(c, 1)
		}
		return c
	}
	return float32(math.Inf(-1))
}

// DomainError says which number of a row a kernel does not take.
type DomainError struct {
	Kernel   Kernel
	Row, Dim int // from 0
	Value    float32
}

// Error counts rows and dimensions from 1.
func (e *DomainError) Error() string {
	return fmt.Sprintf("kernel: row %d, dimension %d: %s", e.Row+1, e.Dim+1, e.Reason())
}

// Reason is the part of the error without the place.
func (e *DomainError) Reason() string {
	takes := "of 0 or more"
	if c := e.Kernel.Coef0; e.Kernel.skewed() {
		takes = fmt.Sprintf("above %g, which is -coef0", -c)
	}
	return fmt.Sprintf("%g is too small; %s takes numbers %s", e.Value, e.Kernel.Name, takes)
}

// CheckRows reports the first number of x that is below [Kernel.Lowest], as a [DomainError].
func (k Kernel) CheckRows(x matrix.Rows) error {
	lowest := k.Lowest()
	if math.IsInf(float64(lowest), -1) {
		return nil
	}
	for i := range x.Len() {
		var row []float32
		var idx []int32
		if x.CSR != nil {
			idx, row = x.CSR.Row(i)
		} else {
			row = x.Dense.Row(i)
		}
		for j, v := range row {
			if v < lowest {
				if idx != nil {
					j = int(idx[j])
				}
				return &DomainError{Kernel: k, Row: i, Dim: j, Value: v}
			}
		}
	}
	return nil
}

// homogeneous returns k₁(x, y) of an additive kernel of degree 1.
func homogeneous(name string, x, y float64) float64 {
	if x == 0 || y == 0 {
		return 0
	}
	switch name {
	case "hellinger":
		return math.Sqrt(x) * math.Sqrt(y)
	case "chi2":
		return 2 * x / (x + y) * y
	case "intersection":
		return min(x, y)
	}
	return vec.Entropy(x, y, math.Log(x), math.Log(y)) / (2 * math.Ln2)
}

// weight is the factor x^((h-1)/2) that makes k₁ of degree 1 one of degree h, and 0 of 0.
func (k Kernel) weight(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Pow(x, (k.homogeneity()-1)/2)
}

// additiveValue is Σ k₁(x_j, y_j).
func (k Kernel) additiveValue(x, y []float32) float64 {
	sum := 0.0
	for j, v := range x {
		v, w := float64(v), float64(y[j])
		s := homogeneous(k.Name, v, w)
		if s != 0 && k.homogeneity() != 1 {
			s *= k.weight(v) * k.weight(w)
		}
		sum += s
	}
	return sum
}

// additiveDistance is Σ k₁(x_j, x_j) + k₁(y_j, y_j) - 2k₁(x_j, y_j), as the sum of
//
//	(x^(h/2) - y^(h/2))² + 2(xy)^(h/2)(1 - 𝒦(log(y/x))),
//
// none of which is negative.
func (k Kernel) additiveDistance(x, y []float32) float64 {
	h, sum := k.homogeneity(), 0.0
	for j, v := range x {
		low, high := float64(min(v, y[j])), float64(max(v, y[j]))
		switch {
		case low == high:
		case low == 0:
			sum += math.Pow(high, h)
		default:
			w := math.Log1p((high - low) / low)
			a, b := math.Pow(low, h/2), math.Pow(high, h/2)
			d := b * math.Expm1(-h/2*w)
			sum += d*d + 2*a*b*signatureGap(k.Name, w)
		}
	}
	return sum
}

// signatureGap returns 1 - 𝒦(ω), ω > 0.
func signatureGap(name string, w float64) float64 {
	switch name {
	case "hellinger":
		return 0
	case "intersection":
		return -math.Expm1(-w / 2)
	}
	// With s = sinh(ω/4), cosh(ω/2) is 1 + 2s².
	s := math.Sinh(w / 4)
	if s = 2 * s * s; name == "chi2" {
		return 1 / (1 + 1/s) // 1 - 1/(1+s)
	}
	if w > 2 {
		y := math.Exp(-w)
		return 1 - vec.Entropy(1, y, 0, -w)/(2*math.Ln2*math.Sqrt(y))
	}
	// 𝒦 = cosh(ω/2)·log₂(2cosh(ω/2)) - ω/2·sinh(ω/2)/ln2. What is left of these terms is a
	// seventh or more.
	return (w/2*math.Sinh(w/2) - (1+s)*math.Log1p(s) - s*math.Ln2) / math.Ln2
}

// chi2Distance is Σ (x-y)²/(x+y).
func chi2Distance(x, y []float32) float64 {
	sum := 0.0
	for j, v := range x {
		v, w := float64(v), float64(y[j])
		if d := v - w; d != 0 {
			sum += d / (v + w) * d
		}
	}
	return sum
}

// skewedChi2Distance is -log k = ½log Π(1 + (u-v)²/(4uv)) of skewed-chi2, u = x+c, v = y+c.
func skewedChi2Distance(c float64, x, y []float32) float64 {
	var p logProduct
	for j, v := range x {
		v, w := float64(v), float64(y[j])
		p.multiply((v - w) / (v + c) * ((v - w) / (w + c)) / 4)
	}
	return p.log() / 2
}

// skewedDistance is -log k = ½Σ|log(x+c) - log(y+c)| of skewed-intersection.
func skewedDistance(c float64, x, y []float32) float64 {
	sum := 0.0
	for j, v := range x {
		low, high := float64(min(v, y[j])), float64(max(v, y[j]))
		sum += math.Log1p((high - low) / (low + c))
	}
	return sum / 2
}
