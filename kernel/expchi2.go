package kernel

import (
	"math"

	"mercer/internal/engine/vec"
)

// ExpChi2 is exp(-γ Σ (x_j-y_j)²/(x_j+y_j)), x, y ≥ 0: rbf on the feature space of chi2. It is the usual
// kernel of histograms in computer vision. The sum has no factor ½, as in scikit-learn.
var ExpChi2 = &Kind{
	name:       "exp-chi2",
	formula:    "exp(-γ Σ (x_j-y_j)²/(x_j+y_j)), x, y ≥ 0",
	about:      "histograms: rbf with the distance of chi2",
	source:     "Chapelle, Haffner and Vapnik 1999",
	parameters: []Parameter{gammaParameter()},
	gamma:      gammaOfChi2,
	parts: func(k Kernel) (inner, outer Kernel) {
		return Kernel{Name: Chi2.name}, Kernel{Name: RBF.name, Gamma: k.Gamma}
	},
	family: summed{
		argument: func(_ Kernel, x, y []float32) float64 { return chi2Distance(x, y) },
		of:       func(k Kernel, s float64) float64 { return math.Exp(-k.Gamma * s) },
		gap:      func(k Kernel, s float64) float64 { return -math.Expm1(-k.Gamma * s) },
		sum: func(k Kernel) *sums {
			return &sums{of: vec.SumChi2Distance, numbers: itself, steep: k.Gamma, exactly: chi2Distance}
		},
		all: func(k Kernel, s []float64) { exponential(s, k.Gamma) },
		gaps: func(k Kernel, s []float64) {
			for c, v := range s {
				s[c] = -math.Expm1(-k.Gamma * v)
			}
		},
		gradient: func(k Kernel, dst []float64, w float64, x, y []float32) {
			addByDimension(dst, w, x, y, func(x, y float64) float64 {
				if x+y == 0 {
					return 0
				}
				return k.Gamma * (x - y) / (x + y) * ((3*x + y) / (x + y))
			})
		},
		least: func(Kernel) float32 { return 0 },
	},
}
