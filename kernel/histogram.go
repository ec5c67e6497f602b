package kernel

import (
	"fmt"
	"math"

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
	case k.Name == "skewed-chi2" || k.Name == "skewed-intersection":
		c := float32(-k.Coef0)
		for float64(c) <= -k.Coef0 {
			c = math.Nextafter32(c, 1)
		}
		return c
	}
	return float32(math.Inf(-1))
}

// CheckRows reports the first number of x that is below [Kernel.Lowest], counting rows and
// dimensions from 1.
func (k Kernel) CheckRows(x matrix.Rows) error {
	lowest := k.Lowest()
	if math.IsInf(float64(lowest), -1) {
		return nil
	}
	if x.CSR != nil && lowest > 0 && x.CSR.NNZ() < x.Len()*x.Dim() {
		return fmt.Errorf("kernel: %s takes numbers above %g, and the rows have zeros", k.Name, -k.Coef0)
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
				return fmt.Errorf("kernel: row %d, dimension %d: %g is too small; %s takes numbers %s", i+1, j+1, v, k.Name, k.domain())
			}
		}
	}
	return nil
}

// domain says in words which numbers a kernel takes.
func (k Kernel) domain() string {
	if k.Lowest() == 0 {
		return "of 0 or more"
	}
	return fmt.Sprintf("above %g", -k.Coef0)
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
	return (x*math.Log1p(y/x) + y*math.Log1p(x/y)) / (2 * math.Ln2)
}

// additiveValue is Σ k₁(x_j, y_j).
func (k Kernel) additiveValue(x, y []float32) float64 {
	h, sum := k.homogeneity(), 0.0
	for j, v := range x {
		v, w := float64(v), float64(y[j])
		s := homogeneous(k.Name, v, w)
		if h != 1 && s != 0 {
			s *= math.Exp((h - 1) / 2 * (math.Log(v) + math.Log(w)))
		}
		sum += s
	}
	return sum
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

// skewedExcess is 1/k² - 1 = Π(1 + (u-v)²/(4uv)) - 1 of skewed-chi2, u = x+c, v = y+c.
func skewedExcess(c float64, x, y []float32) float64 {
	s := 0.0
	for j, v := range x {
		u, v := float64(v)+c, float64(y[j])+c
		d := (u - v) / u * (u - v) / (4 * v)
		s += d + s*d
	}
	return s
}

// skewedDistance is -log k = ½Σ|log(x+c) - log(y+c)| of skewed-intersection.
func skewedDistance(c float64, x, y []float32) float64 {
	sum := 0.0
	for j, v := range x {
		u, v := float64(v)+c, float64(y[j])+c
		sum += math.Abs(math.Log1p((u - v) / v))
	}
	return sum / 2
}
