package kernel

import (
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// The additive kernels of histograms, of rows x, y ≥ 0, are sums over the dimensions of
// k₁(x, y) = (xy)^(h/2)·𝒦(log(y/x)). h is the degree of homogeneity: k₁(ax, ay) = aʰ·k₁(x, y). k₁ is 0
// where one of the two is, and k₁(x, x) = xʰ. The usual kernels have h = 1 (Vedaldi and Zisserman,
// "Efficient additive kernels via explicit feature maps", 2012); κ is the Fourier transform of 𝒦:
//
//	                k₁, h = 1                          𝒦(ω)         κ(λ)
//	hellinger       √(xy)                              1
//	chi2            2xy/(x+y)                          sech(ω/2)    sech(πλ)
//	intersection    min(x, y)                          e^(-|ω|/2)   (2/π)/(1+4λ²)
//	jensen-shannon  x/2·log₂((x+y)/x) + y/2·log₂((x+y)/y)
//	                    𝒦 = e^(ω/2)/2·log₂(1+e^-ω) + e^(-ω/2)/2·log₂(1+e^ω), κ = sech(πλ)/(ln 2·(1+4λ²))

// Hellinger is Σ √(x_j y_j), x, y ≥ 0: the inner product of the roots. It is also called the Bhattacharyya
// kernel.
var Hellinger = &Kind{
	name:       "hellinger",
	formula:    "Σ √(x_j y_j), x, y ≥ 0",
	about:      "histograms: the inner product of the roots",
	source:     "Vedaldi and Zisserman 2012",
	parameters: additiveParameters(),
	sum: func(k Kernel) Additive {
		return Additive{Homogeneity: k.homogeneity(), Signature: func(float64) float64 { return 1 }}
	},
	family: additive{
		one:   func(x, y float64) float64 { return math.Sqrt(x) * math.Sqrt(y) },
		gap:   func(float64) float64 { return 0 },
		slope: func(x, y float64) float64 { return math.Sqrt(x) / (2 * math.Sqrt(y)) },
		sum:   func(Kernel, bool) *sums { return nil },
		root: func(k Kernel) func(float64) float64 {
			if k.homogeneity() == 1 {
				return math.Sqrt
			}
			h := k.homogeneity()
			return func(x float64) float64 { return math.Pow(x, h/2) }
		},
	},
}

// Chi2 is Σ 2x_j y_j/(x_j+y_j), x, y ≥ 0: the additive chi-squared kernel, the usual choice for histograms.
// Its squared distance is Σ (x_j-y_j)²/(x_j+y_j).
var Chi2 = &Kind{
	name:       "chi2",
	formula:    "Σ 2x_j y_j/(x_j+y_j), x, y ≥ 0",
	about:      "histograms, the usual choice: sums of functions of one column",
	source:     "Vedaldi and Zisserman 2012",
	parameters: additiveParameters(),
	sum: func(k Kernel) Additive {
		return Additive{
			Homogeneity: k.homogeneity(),
			Signature:   func(w float64) float64 { return 1 / math.Cosh(w/2) },
			Spectrum:    func(l float64) float64 { return 1 / math.Cosh(math.Pi*l) },
		}
	},
	family: additive{
		one: func(x, y float64) float64 { return 2 * x / (x + y) * y },
		gap: func(w float64) float64 {
			// With s = sinh(ω/4), cosh(ω/2) is 1 + 2s².
			s := math.Sinh(w / 4)
			s = 2 * s * s
			return 1 / (1 + 1/s) // 1 - 1/(1+s)
		},
		slope: func(x, y float64) float64 { return 2 * (x / (x + y)) * (x / (x + y)) },
		sum: func(k Kernel, distances bool) *sums {
			switch {
			case k.homogeneity() != 1:
				return &sums{of: vec.SumWeightedChi2, factor: 2, numbers: weighted(k)}
			case distances:
				return &sums{of: vec.SumChi2Distance, distances: true, numbers: itself, exactly: chi2Distance}
			}
			return &sums{of: vec.SumChi2, factor: 2, numbers: itself}
		},
	},
}

// Intersection is Σ min(x_j, y_j), x, y ≥ 0: the mass that two histograms have in common. A machine of this
// kernel is a sum of piecewise linear functions of one column each.
var Intersection = &Kind{
	name:       "intersection",
	formula:    "Σ min(x_j, y_j), x, y ≥ 0",
	about:      "histograms: what two have in common",
	source:     "Swain and Ballard 1991; Maji, Berg and Malik 2008",
	parameters: additiveParameters(),
	sum: func(k Kernel) Additive {
		return Additive{
			Homogeneity: k.homogeneity(),
			Signature:   func(w float64) float64 { return math.Exp(-math.Abs(w) / 2) },
			Spectrum:    func(l float64) float64 { return 2 / math.Pi / (1 + 4*l*l) },
		}
	},
	family: additive{
		one:   func(x, y float64) float64 { return min(x, y) },
		gap:   func(w float64) float64 { return -math.Expm1(-w / 2) },
		slope: func(x, y float64) float64 { return (1 + sign(x-y)) / 2 },
		sum: func(k Kernel, distances bool) *sums {
			switch {
			case k.homogeneity() != 1:
				return &sums{of: vec.SumWeightedMin, numbers: weighted(k)}
			case distances:
				return &sums{of: vec.SumAbs, distances: true, numbers: itself, exactly: absolute}
			}
			return &sums{of: vec.SumMin, numbers: itself}
		},
	},
}

// JensenShannon is Σ x_j/2·log₂((x_j+y_j)/x_j) + y_j/2·log₂((x_j+y_j)/y_j), x, y ≥ 0. For two histograms of
// sum 1 it is 1 less the Jensen-Shannon divergence.
var JensenShannon = &Kind{
	name:       "jensen-shannon",
	formula:    "Σ x_j/2·log₂((x_j+y_j)/x_j) + y_j/2·log₂((x_j+y_j)/y_j), x, y ≥ 0",
	about:      "histograms: 1 less the Jensen-Shannon divergence",
	source:     "Vedaldi and Zisserman 2012",
	parameters: additiveParameters(),
	sum: func(k Kernel) Additive {
		return Additive{Homogeneity: k.homogeneity(), Signature: jensenSignature, Spectrum: jensenSpectrum}
	},
	family: additive{
		one:   func(x, y float64) float64 { return vec.Entropy(x, y, math.Log(x), math.Log(y)) / (2 * math.Ln2) },
		gap:   jensenGap,
		slope: func(x, y float64) float64 { return math.Log1p(x/y) / (2 * math.Ln2) },
		sum: func(k Kernel, _ bool) *sums {
			if k.homogeneity() == 1 {
				return &sums{of: vec.SumEntropy, factor: 1 / (2 * math.Ln2), numbers: func(v float64) [3]float64 { return [3]float64{v, logOrZero(v)} }}
			}
			return &sums{of: vec.SumWeightedEntropy, factor: 1 / (2 * math.Ln2), numbers: func(v float64) [3]float64 {
				return [3]float64{v, logOrZero(v), k.weight(v)}
			}}
		},
	},
}

func additiveParameters() []Parameter {
	return []Parameter{{
		Name: "homogeneity", About: "degree of homogeneity h, k(ax, ay) = aʰ·k(x, y),", Usual: 1, Least: 0, Most: 16,
		must: "a positive number, 16 at most, or 0 for 1",
		text: func(v float64) string {
			if v == 0 || v == 1 {
				return ""
			}
			return fmt.Sprintf("degree of homogeneity %g", v)
		},
	}}
}

// additive is the family of the sums over dimensions.
type additive struct {
	// one is k₁(x, y) of degree 1 for x, y > 0, slope its derivative by y, and gap is 1 - 𝒦(ω) for ω > 0.
	one   func(x, y float64) float64
	gap   func(w float64) float64
	slope func(x, y float64) float64

	// sum says how values or distances are computed for blocks of rows. It is nil for values that are dot
	// products of the elements' roots, and for distances that are computed from values.
	sum  func(k Kernel, distances bool) *sums
	root func(k Kernel) func(float64) float64 `may:"be nil"`
}

// homogeneity is the degree of homogeneity h of an additive kernel.
func (k Kernel) homogeneity() float64 {
	if k.Homogeneity == 0 {
		return 1
	}
	return k.Homogeneity
}

func (f additive) value(k Kernel, x, y []float32) float64 {
	sum, h := 0.0, k.homogeneity()
	for j, v := range x {
		v, w := float64(v), float64(y[j])
		if v == 0 || w == 0 {
			continue
		}
		s := f.one(v, w)
		if s != 0 && h != 1 {
			s *= k.weight(v) * k.weight(w)
		}
		sum += s
	}
	return sum
}

// weight is the factor x^((h-1)/2) that makes k₁ of degree 1 one of degree h, and 0 of 0.
func (k Kernel) weight(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Pow(x, (k.homogeneity()-1)/2)
}

// weighted gives an element and its weight.
func weighted(k Kernel) func(v float64) [3]float64 {
	return func(v float64) [3]float64 { return [3]float64{v, k.weight(v)} }
}

// distance2 is Σ k₁(x_j, x_j) + k₁(y_j, y_j) - 2k₁(x_j, y_j), as the sum of
//
//	(x^(h/2) - y^(h/2))² + 2(xy)^(h/2)(1 - 𝒦(log(y/x))),
//
// none of which is negative.
func (f additive) distance2(k Kernel, x, y []float32) float64 {
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
			sum += d*d + 2*a*b*f.gap(w)
		}
	}
	return sum
}

func (f additive) unit() bool { return false }

func (f additive) diagonal(k Kernel, x matrix.Rows) []float64 {
	diagonal := make([]float64, x.Len())
	vec.Parallel(len(diagonal), 64, func(lo, hi int) {
		var p pair
		for i := lo; i < hi; i++ {
			row, _ := p.of(x, i, x, i)
			diagonal[i] = f.value(k, row, row)
		}
	})
	return diagonal
}

func (f additive) lowest(Kernel) float32 { return 0 }

func (f additive) addGradient(k Kernel, dst []float64, w float64, x, y []float32) {
	h := k.homogeneity()
	addByDimension(dst, w, x, y, func(x, y float64) float64 {
		if x == 0 {
			return 0
		}
		slope := f.slope(x, y)
		if h != 1 {
			one := 0.0
			if y != 0 {
				one = f.one(x, y)
			}
			more := math.Exp((h - 1) / 2 * (math.Log(x) + math.Log(y)))
			slope = more * (slope + (h-1)/2*one/y)
		}
		return slope
	})
}

func (f additive) engine(k Kernel) engine {
	e := additiveEngine{additive: f, kernel: k, of: f.sum(k, false), apart: f.sum(k, true)}
	if f.root != nil {
		e.taken = f.root(k)
	}
	return e
}

// additiveEngine computes blocks of kernel values from sums or dot products.
type additiveEngine struct {
	additive
	kernel    Kernel
	of, apart *sums
	taken     func(float64) float64
}

func (e additiveEngine) sums(distances bool) *sums {
	if distances {
		return e.apart
	}
	return e.of
}

func (e additiveEngine) numbers() func(float64) float64 { return e.taken }

func (e additiveEngine) moves() bool { return false }

// frame has k(x, x) for distances.
func (e additiveEngine) frame(g *Gram, distances bool) frame {
	if !distances {
		return frame{}
	}
	return g.selves(func(x matrix.Rows) []float64 { return e.diagonal(e.kernel, x) })
}

func (e additiveEngine) values(_ *block, _, _ int, s []float64) { e.scale(s) }

func (e additiveEngine) against(_ *Against, _ float64, s []float64) { e.scale(s) }

// scale turns sums into values.
func (e additiveEngine) scale(s []float64) {
	if e.of == nil || e.of.factor == 0 {
		return
	}
	for c := range s {
		s[c] *= e.of.factor
	}
}

func (e additiveEngine) distances2(b *block, r, lo int, s []float64) {
	if b.sums != nil && b.sums.distances {
		return
	}
	e.scale(s)
	xx := b.xNorm[r]
	for c, xy := range s {
		yy := b.yNorm[lo+c]
		if s[c] = positive(xx + yy - 2*xy); s[c] < nearRows*(xx+yy) {
			x, y := b.rowsOf(r, lo+c)
			s[c] = e.distance2(e.kernel, x, y)
		}
	}
}

func jensenSignature(w float64) float64 {
	w = math.Abs(w)
	// log(1+e^w) = w + log(1+e^-w)
	near := math.Log1p(math.Exp(-w))
	return (math.Exp(w/2)*near + math.Exp(-w/2)*(w+near)) / (2 * math.Ln2)
}

func jensenSpectrum(l float64) float64 { return 1 / math.Ln2 / math.Cosh(math.Pi*l) / (1 + 4*l*l) }

// jensenGap returns 1 - 𝒦(ω).
func jensenGap(w float64) float64 {
	// With s = sinh(ω/4), cosh(ω/2) is 1 + 2s².
	s := math.Sinh(w / 4)
	s = 2 * s * s
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
