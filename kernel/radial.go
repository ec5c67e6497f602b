package kernel

import (
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// The kernels that are functions of ‖x-y‖² and 1 at 0.

// RBF is exp(-γ‖x-y‖²), the Gaussian kernel: smooth functions of all columns together, with σ in
// γ = 1/(2σ²) as the distance over which they change. The first to try.
var RBF = &Kind{
	name:       "rbf",
	formula:    "exp(-γ‖x-y‖²)",
	about:      "smooth functions of all columns together: the first to try",
	source:     "Boser, Guyon and Vapnik 1992",
	parameters: []Parameter{gammaParameter()},
	gamma:      gammaOfSquares,
	law:        func(k Kernel) Law { return Law{Coordinates: Normal, Scale: math.Sqrt(2 * k.Gamma), Wave: Cosine} },
	falls:      func(k Kernel) Falling { return Falling{k.Gamma, func(d float64) float64 { return d * d }, false} },
	family: radial{
		of:    func(k Kernel, s float64) float64 { return math.Exp(-k.Gamma * s) },
		gap:   func(k Kernel, s float64) float64 { return -math.Expm1(-k.Gamma * s) },
		slope: func(k Kernel, s float64) float64 { return math.Exp(-k.Gamma * s) },
		slopesOf: func(k Kernel, s []float64) {
			for c, v := range s {
				s[c] = math.Exp(-k.Gamma * v)
			}
		},
		steep: func(k Kernel) float64 { return k.Gamma },
		all: func(k Kernel) func(s []float64) {
			return func(s []float64) { exponential(s, k.Gamma) }
		},
		passing: rbfPassing,
		gaps: func(k Kernel) func(s []float64) {
			return func(s []float64) {
				for c, v := range s {
					s[c] = -math.Expm1(-k.Gamma * v)
				}
			}
		},
	},
}

// Matern is the kernel of Matérn, 2^(1-ν)/Γ(ν)·(√(2ν)r)^ν K_ν(√(2ν)r), r = ‖x-y‖/σ with
// γ = 1/(2σ²). It suits functions with about ν derivatives, where rbf assumes infinitely many. It is
// exp(-r) for ν = ½. For large ν it approaches rbf, from which it differs by 0.27/ν at most. ν = n+½ up to
// 8.5 is fast, ν = ½, 3/2 and 5/2 nearly as fast as rbf.
var Matern = &Kind{
	name:    "matern",
	formula: "2^(1-ν)/Γ(ν)·(√(2ν)r)^ν K_ν(√(2ν)r), r = ‖x-y‖/σ, γ = 1/(2σ²)",
	about:   "functions with about ν derivatives; ν = ½: exp(-r)",
	source:  "Matérn 1960; Rasmussen and Williams 2006",
	parameters: []Parameter{
		{
			Name: "nu", About: "smoothness ν", Usual: 1.5, Least: minNu, Most: maxNu,
			must: fmt.Sprintf("a number from %g to %g (rbf is the limit)", minNu, maxNu),
			text: func(v float64) string { return fmt.Sprintf("ν = %g", v) },
		},
		gammaParameter(),
	},
	gamma:  gammaOfSquares,
	length: true,
	law: func(k Kernel) Law {
		return Law{Coordinates: Normal, Scale: math.Sqrt(2 * k.Gamma), Nu: k.Nu, Wave: Cosine}
	},
	family: radial{
		of:       func(k Kernel, s float64) float64 { return matern(k.Nu, k.Gamma*s) },
		gap:      func(k Kernel, s float64) float64 { return maternGap(k.Nu, k.Gamma*s) },
		slope:    func(k Kernel, s float64) float64 { return maternSlope(k.Nu, k.Gamma*s) },
		steep:    maternSteep,
		slopesOf: maternSlopes,
		all:      maternAll,
		passing:  maternPassing,
		gaps:     maternGaps,
	},
}

// radial is the family of the functions of s = ‖x-y‖².
type radial struct {
	of    func(k Kernel, s float64) float64
	gap   func(k Kernel, s float64) float64 // 1 - k, without cancellation
	slope func(k Kernel, s float64) float64 // -dk/d(γs), 0 where k has no derivative
	steep func(k Kernel) float64            // the largest -dk/ds

	slopesOf func(k Kernel, s []float64) // turns many s into slopes

	// all turns many s into k, and gaps into 1 - k. passing turns dot products of one row with others into
	// k; xx is the squared length of the one, yy of the others.
	all, gaps func(k Kernel) func(s []float64)
	passing   func(k Kernel) func(s []float64, xx float64, yy []float64)
}

func (f radial) value(k Kernel, x, y []float32) float64 { return f.of(k, squared(x, y)) }

func (f radial) distance2(k Kernel, x, y []float32) float64 { return 2 * f.gap(k, squared(x, y)) }

func (f radial) unit() bool { return true }

func (f radial) diagonal(_ Kernel, x matrix.Rows) []float64 { return ones(x) }

func (f radial) lowest(Kernel) float32 { return anything }

func (f radial) ofProducts(k Kernel, xy, xx, yy float64) float64 {
	return f.of(k, max(0, xx+yy-2*xy))
}

func (f radial) slopes(k Kernel, xy, xx, yy float64) (p, q float64) {
	slope := f.slope(k, max(0, xx+yy-2*xy))
	return 2 * k.Gamma * slope, -2 * k.Gamma * slope
}

func (f radial) slopesOfRow(k Kernel, products []float64, yy float64, norms, p, q []float64) {
	p = p[:len(products)]
	copy(p, products)
	vec.Distances64(p, norms, yy, 1)
	f.slopesOf(k, p)
	twice := 2 * k.Gamma
	for j, slope := range p {
		p[j], q[j] = twice*slope, -twice*slope
	}
}

func (f radial) addGradient(k Kernel, dst []float64, w float64, x, y []float32) {
	p, q := f.slopes(k, 0, squared(x, y), 0) // they depend on ‖x-y‖² alone
	addAlong(dst, w, x, y, p, q)
}

func (f radial) engine(k Kernel) engine {
	return radialEngine{steep: f.steep(k), all: f.all(k), gaps: f.gaps(k), passing: f.passing(k)}
}

// radialEngine computes blocks from dot products, by ‖x-y‖² = ‖x‖² + ‖y‖² - 2x·y.
type radialEngine struct {
	steep     float64
	all, gaps func(s []float64)
	passing   func(s []float64, xx float64, yy []float64)
}

func (e radialEngine) sums(bool) *sums { return nil }

func (e radialEngine) numbers() func(float64) float64 { return nil }

func (e radialEngine) moves() bool { return true }

func (e radialEngine) frame(g *Gram, distances bool) frame {
	if distances {
		return g.value
	}
	return g.lengths(true)
}

func (e radialEngine) values(b *block, r, lo int, s []float64) {
	// The error of ‖x-y‖² from norms and products may be enough for an error of 10⁻¹³ in k.
	cancels := e.steep*(b.xNorm[r]+b.yMost) > 50
	b.squares(r, lo, s, cancels)
	e.all(s)
}

func (e radialEngine) distances2(b *block, r, lo int, s []float64) {
	b.squares(r, lo, s, true)
	e.gaps(s)
	for c := range s {
		s[c] *= 2
	}
}

func (e radialEngine) against(a *Against, norm float64, s []float64) {
	e.passing(s, norm, a.norm)
}

func rbfPassing(k Kernel) func(s []float64, xx float64, yy []float64) {
	return func(s []float64, xx float64, yy []float64) {
		vec.Distances64(s, yy, xx, -k.Gamma)
		vec.Exp64(s, s)
	}
}

// maternSteep bounds the derivative of k by ‖x-y‖²: it is γν/(ν-1) at most, and unbounded for ν ≤ 1.
func maternSteep(k Kernel) float64 {
	if k.Nu <= 1 {
		return math.Inf(1)
	}
	return k.Gamma * (k.Nu / (k.Nu - 1))
}

// vectorForms is how many of the closed forms vec.Decay64 has: those for ν = ½, 3/2 and 5/2.
const vectorForms = 3

// maternRate is z²/‖x-y‖² of closed forms.
func maternRate(k Kernel) float64 { return min(4*k.Nu*k.Gamma, math.MaxFloat64) }

// maternAll uses the closed form if there is a short one.
func maternAll(k Kernel) func(s []float64) {
	p := closedForm(k.Nu)
	if n := len(p); n > 0 && n <= vectorForms {
		rate := maternRate(k)
		return func(s []float64) {
			for c := range s {
				s[c] *= rate
			}
			vec.Decay64(s, s, n-1)
		}
	}
	if p == nil {
		return maternByTable(k)
	}
	root, scale := math.Sqrt(k.Gamma), 2*math.Sqrt(k.Nu)
	return func(s []float64) {
		var z [128]float64
		for len(s) > 0 {
			n := min(len(s), len(z))
			for c, v := range s[:n] {
				z[c] = min(scale*(root*math.Sqrt(v)), mostZ)
				s[c] = -z[c]
			}
			vec.Exp64(s[:n], s[:n])
			if len(p) > 1 {
				for c, v := range z[:n] {
					s[c] *= horner(p, v)
				}
			}
			s = s[n:]
		}
	}
}

// maternByTable looks -log k up in a table.
func maternByTable(k Kernel) func(s []float64) {
	logs := maternLogs(k)
	return func(s []float64) {
		logs(s)
		exponential(s, 1)
	}
}

func maternPassing(k Kernel) func(s []float64, xx float64, yy []float64) {
	if n := len(closedForm(k.Nu)); n > 0 && n <= vectorForms {
		rate := maternRate(k)
		return func(s []float64, xx float64, yy []float64) {
			vec.Distances64(s, yy, xx, rate)
			vec.Decay64(s, s, n-1)
		}
	}
	table := newMaternTable(k.Nu)
	return func(s []float64, xx float64, yy []float64) {
		vec.Distances64(s, yy, xx, k.Gamma)
		table.log(s)
		exponential(s, 1)
	}
}

// maternSlopes turns ‖x-y‖² into -dk/d(γ‖x-y‖²), as maternSlope does.
func maternSlopes(k Kernel, s []float64) {
	n := len(closedForm(k.Nu))
	if n == 0 || n > vectorForms {
		for c, v := range s {
			s[c] = maternSlope(k.Nu, k.Gamma*v)
		}
		return
	}
	rate := maternRate(k)
	for c := range s {
		s[c] *= rate
	}
	const strip = 128
	var z2 [strip]float64
	for len(s) > 0 {
		part := s[:min(len(s), strip)]
		copy(z2[:], part)
		vec.Decay64(part, part, max(n-2, 0))
		for c, v := range z2[:len(part)] {
			switch {
			case v == 0:
				part[c] = 0
			case n == 1:
				part[c] /= math.Sqrt(v)
			default:
				part[c] *= k.Nu / (k.Nu - 1)
			}
		}
		s = s[len(part):]
	}
}

func maternGaps(k Kernel) func(s []float64) {
	logs := maternLogs(k)
	return func(s []float64) {
		logs(s)
		for c, v := range s {
			s[c] = -math.Expm1(-v)
		}
	}
}

// maternLogs turns ‖x-y‖² into -log k.
func maternLogs(k Kernel) func(s []float64) {
	table := newMaternTable(k.Nu)
	return func(s []float64) {
		for c := range s {
			s[c] *= k.Gamma
		}
		table.log(s)
	}
}
