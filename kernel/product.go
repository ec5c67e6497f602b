package kernel

import (
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// The kernels that are products over the dimensions with k(x, x) = 1, and so functions of a sum over the
// dimensions. Those of histograms are in expchi2.go and skewed.go.

// Laplacian is exp(-γ‖x-y‖₁). It is for functions less smooth than those of rbf, and for columns that
// matter one by one.
var Laplacian = &Kind{
	name:       "laplacian",
	formula:    "exp(-γ‖x-y‖₁)",
	about:      "less smooth than rbf, column by column",
	source:     "Rahimi and Recht 2007",
	parameters: []Parameter{gammaParameter()},
	gamma:      gammaOfAbsolutes,
	law:        func(k Kernel) Law { return Law{Coordinates: CauchyLaw, Scale: k.Gamma, Wave: Cosine} },
	falls:      func(k Kernel) Falling { return Falling{k.Gamma, func(d float64) float64 { return d }, true} },
	family: summed{
		argument: func(_ Kernel, x, y []float32) float64 { return absolute(x, y) },
		of:       func(k Kernel, s float64) float64 { return math.Exp(-k.Gamma * s) },
		gap:      func(k Kernel, s float64) float64 { return -math.Expm1(-k.Gamma * s) },
		sum: func(k Kernel) *sums {
			return &sums{of: vec.SumAbs, numbers: itself, steep: k.Gamma, exactly: absolute}
		},
		all: func(k Kernel, s []float64) { exponential(s, k.Gamma) },
		gaps: func(k Kernel, s []float64) {
			for c, v := range s {
				s[c] = -math.Expm1(-k.Gamma * v)
			}
		},
		gradient: func(k Kernel, dst []float64, w float64, x, y []float32) {
			w *= k.Gamma
			for j, v := range x {
				if v > y[j] {
					dst[j] += w
				} else if v < y[j] {
					dst[j] -= w
				}
			}
		},
		least: func(Kernel) float32 { return anything },
	},
}

// Cauchy is Π 1/(1 + γ²(x_j-y_j)²). Its tails are heavy, so that far rows still count.
var Cauchy = &Kind{
	name:       "cauchy",
	formula:    "Π 1/(1 + γ²(x_j-y_j)²)",
	about:      "heavy tails: far rows still count",
	source:     "Rahimi and Recht 2007",
	parameters: []Parameter{gammaParameter()},
	gamma:      gammaOfRootSquares,
	law:        func(k Kernel) Law { return Law{Coordinates: LaplaceLaw, Scale: k.Gamma, Wave: Cosine} },
	falls: func(k Kernel) Falling {
		return Falling{1, func(d float64) float64 { return math.Log1p(k.Gamma * d * k.Gamma * d) }, false}
	},
	family: summed{
		argument: func(k Kernel, x, y []float32) float64 { return excess(k.Gamma, x, y) },
		of:       func(_ Kernel, s float64) float64 { return 1 / (1 + s) },
		gap:      func(_ Kernel, s float64) float64 { return 1 / (1 + 1/s) },
		sum: func(k Kernel) *sums {
			return &sums{
				of: vec.SumExcess, zero: k.Gamma,
				numbers: func(v float64) [3]float64 { return [3]float64{v, k.Gamma} },
				exactly: func(x, y []float32) float64 { return math.Log1p(excess(k.Gamma, x, y)) },
			}
		},
		all: func(_ Kernel, s []float64) { // from 1/k - 1
			for c, v := range s {
				if s[c] = 1 / (1 + v); v != v {
					s[c] = 0 // of an infinite product
				}
			}
		},
		gaps: func(_ Kernel, s []float64) {
			for c, v := range s {
				if s[c] = v / (1 + v); !(v <= math.MaxFloat64) {
					s[c] = 1
				}
			}
		},
		gradient: func(k Kernel, dst []float64, w float64, x, y []float32) {
			addByDimension(dst, w, x, y, func(x, y float64) float64 {
				d := k.Gamma * (x - y)
				return 2 * k.Gamma * d / (1 + d*d)
			})
		},
		least: func(Kernel) float32 { return anything },
	},
}

// summed is the family of the functions of a sum over the dimensions, with the value 1 at 0.
type summed struct {
	// argument is the sum s of two rows, or a function of it. of and gap turn it into k and 1 - k. All are
	// accurate where rows are near.
	argument func(k Kernel, x, y []float32) float64
	of, gap  func(k Kernel, s float64) float64

	// sum says how sums are computed for blocks of rows. all and gaps turn these into k and 1 - k.
	sum       func(k Kernel) *sums
	all, gaps func(k Kernel, s []float64)

	// gradient adds w times the gradient of log k to dst.
	gradient func(k Kernel, dst []float64, w float64, x, y []float32)

	// least is the smallest value that rows may have.
	least func(k Kernel) float32

	// origin is the sum of each row and a row of zeros, for kernels whose sums of near rows must be
	// computed again for distances; nil for all others.
	origin func(k Kernel, x matrix.Rows) []float64 `may:"be nil"`
}

func (f summed) value(k Kernel, x, y []float32) float64 { return f.of(k, f.argument(k, x, y)) }

func (f summed) distance2(k Kernel, x, y []float32) float64 {
	return 2 * f.gap(k, f.argument(k, x, y))
}

func (f summed) unit() bool { return true }

func (f summed) diagonal(_ Kernel, x matrix.Rows) []float64 { return ones(x) }

func (f summed) lowest(k Kernel) float32 { return f.least(k) }

func (f summed) addGradient(k Kernel, dst []float64, w float64, x, y []float32) {
	f.gradient(k, dst, w*f.value(k, x, y), x, y)
}

func (f summed) engine(k Kernel) engine { return summedEngine{f, k, f.sum(k)} }

// summedEngine computes blocks of kernel values from sums.
type summedEngine struct {
	summed
	kernel Kernel
	terms  *sums
}

func (e summedEngine) sums(bool) *sums { return e.terms }

func (e summedEngine) numbers() func(float64) float64 { return nil }

func (e summedEngine) moves() bool { return false }

func (e summedEngine) frame(g *Gram, distances bool) frame {
	if !distances || e.origin == nil {
		return frame{}
	}
	return g.selves(func(x matrix.Rows) []float64 { return e.origin(e.kernel, x) })
}

func (e summedEngine) values(_ *block, _, _ int, s []float64) { e.all(e.kernel, s) }

func (e summedEngine) against(_ *Against, _ float64, s []float64) { e.all(e.kernel, s) }

func (e summedEngine) distances2(b *block, r, lo int, s []float64) {
	if b.xNorm != nil {
		for c, v := range s {
			if v < nearRows*(b.xNorm[r]+b.yNorm[lo+c]) {
				s[c] = b.sums.exactly(b.rowsOf(r, lo+c))
			}
		}
	}
	e.gaps(e.kernel, s)
	for c := range s {
		s[c] *= 2
	}
}

// exponential turns sums into exp(-rate·s).
func exponential(s []float64, rate float64) {
	rate = -rate
	for c := range s {
		s[c] *= rate
	}
	vec.Exp64(s, s)
}

// excess is Π(1 + γ²(x_j-y_j)²) - 1. As (1+s)(1+t) - 1 = s + t + st has no negative term,
// it keeps its digits however small it is.
func excess(gamma float64, x, y []float32) float64 {
	s := 0.0
	for i, v := range x {
		d := gamma * (float64(v) - float64(y[i]))
		d *= d
		s += d + s*d
	}
	if s == s {
		return s
	}
	// Infinity times 0: the product itself has no such terms.
	p := 1.0
	for i, v := range y {
		d := gamma * (float64(x[i]) - float64(v))
		p *= 1 + d*d
	}
	return p - 1
}
