package kernel

import (
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// The skewed kernels of histograms, of rows x, y > -c (Li, Ionescu and Sminchisescu, "Random Fourier
// approximations for skewed multiplicative histogram kernels", 2010): functions of the differences
// of log(x_j+c).

// SkewedChi2 is Π 2√((x_j+c)(y_j+c))/(x_j+y_j+2c), x_j > -c. It compares values by their ratios. c (Coef0)
// sets the size from which a value counts, and should be chosen by the size of the values.
var SkewedChi2 = &Kind{
	name:       "skewed-chi2",
	formula:    "Π 2√((x_j+c)(y_j+c))/(x_j+y_j+2c), x_j > -c",
	about:      "histograms: products over the columns, of ratios",
	source:     "Li, Ionescu and Sminchisescu 2010",
	parameters: skewedParameters(),
	law:        func(Kernel) Law { return Law{Coordinates: HyperbolicLaw, Scale: 1, Wave: Cosine, Log: true} },
	family: summed{
		argument: func(k Kernel, x, y []float32) float64 { return skewedChi2Distance(k.Coef0, x, y) },
		of:       func(_ Kernel, s float64) float64 { return math.Exp(-s) },
		gap:      func(_ Kernel, s float64) float64 { return -math.Expm1(-s) },
		sum: func(k Kernel) *sums {
			return &sums{
				of: vec.SumExcess, zero: 1 / (2 * k.Coef0),
				numbers: func(v float64) [3]float64 { return [3]float64{v, 1 / (2 * (v + k.Coef0))} },
				exactly: func(x, y []float32) float64 { return 2 * skewedChi2Distance(k.Coef0, x, y) },
			}
		},
		all: func(_ Kernel, s []float64) { // from 1/k² - 1
			for c, v := range s {
				if s[c] = 1 / math.Sqrt(1+v); v != v {
					s[c] = 0 // of an infinite product
				}
			}
		},
		gaps: func(_ Kernel, s []float64) {
			for c, v := range s {
				if s[c] = v / (1 + v + math.Sqrt(1+v)); !(v <= math.MaxFloat64) {
					s[c] = 1
				}
			}
		},
		gradient: func(k Kernel, dst []float64, w float64, x, y []float32) {
			addByDimension(dst, w, x, y, func(x, y float64) float64 {
				u, v := x+k.Coef0, y+k.Coef0
				return (u - v) / (2 * v * (u + v))
			})
		},
		least: aboveCoef0,
	},
}

// SkewedIntersection is Π min(√((x_j+c)/(y_j+c)), √((y_j+c)/(x_j+c))), x_j > -c. It is like skewed-chi2,
// but has a kink where x_j = y_j.
var SkewedIntersection = &Kind{
	name:       "skewed-intersection",
	formula:    "Π min(√((x_j+c)/(y_j+c)), √((y_j+c)/(x_j+c))), x_j > -c",
	about:      "skewed-chi2 for functions that are less smooth",
	source:     "Li, Ionescu and Sminchisescu 2010",
	parameters: skewedParameters(),
	law:        func(Kernel) Law { return Law{Coordinates: CauchyLaw, Scale: 0.5, Wave: Cosine, Log: true} },
	family: summed{
		argument: func(k Kernel, x, y []float32) float64 { return skewedDistance(k.Coef0, x, y) },
		of:       func(_ Kernel, s float64) float64 { return math.Exp(-s) },
		gap:      func(_ Kernel, s float64) float64 { return -math.Expm1(-s) },
		sum: func(k Kernel) *sums {
			return &sums{
				of: vec.SumAbs, steep: 1,
				numbers: func(v float64) [3]float64 { return [3]float64{math.Log1p(v/k.Coef0) / 2} },
				exactly: func(x, y []float32) float64 { return skewedDistance(k.Coef0, x, y) },
			}
		},
		all: func(_ Kernel, s []float64) { exponential(s, 1) },
		gaps: func(_ Kernel, s []float64) {
			for c, v := range s {
				s[c] = -math.Expm1(-v)
			}
		},
		gradient: func(k Kernel, dst []float64, w float64, x, y []float32) {
			addByDimension(dst, w, x, y, func(x, y float64) float64 { return sign(x-y) / (2 * (y + k.Coef0)) })
		},
		least:  aboveCoef0,
		origin: skewedOrigin,
	},
}

func skewedParameters() []Parameter {
	return []Parameter{{
		Name: "coef0", About: "constant c > 0, of the size of the values,", Usual: 1,
		Least: math.SmallestNonzeroFloat32, Most: math.MaxFloat32,
		must: "a positive number, from 1.4e-45 to 3.4e38",
		text: func(v float64) string { return fmt.Sprintf("c = %.4g", v) },
	}}
}

// aboveCoef0 is the first float32 above -c.
func aboveCoef0(k Kernel) float32 {
	c := float32(-k.Coef0)
	for float64(c) <= -k.Coef0 {
		c = math.Nextafter32(c, 1)
	}
	return c
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

// skewedOrigin returns -log k(x_i, 0) of every row, of skewed-intersection.
func skewedOrigin(k Kernel, x matrix.Rows) []float64 {
	sums := make([]float64, x.Len())
	zero := make([]float32, x.Dim())
	vec.Parallel(len(sums), 64, func(lo, hi int) {
		var p pair
		for i := lo; i < hi; i++ {
			row, _ := p.of(x, i, x, i)
			sums[i] = skewedDistance(k.Coef0, row, zero)
		}
	})
	return sums
}
