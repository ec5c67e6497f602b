package learn

import (
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Variance is the predictive variance of a ridge regression taken as Bayesian: weights are
// normal with variance σ²/λ, noise with variance σ², and the intercept has a flat prior
// (Bishop 2006, section 3.3). For a new row of weight 1,
//
//	Var y = σ²(1 + 1/Σw + (z-z̄)ᵀ(H+λI)⁻¹(z-z̄)) = σ²(1 + 1/Σw + ‖(z-z̄)ᵀF‖²).
type Variance struct {
	Factor *matrix.Dense // D×R: F = Uᵀ(D+λI)^-½, R = D except on principal components
	Shift  []float32     // R: z̄ᵀF
	Noise  []float64     // K: σ² of each target
	Mean   float64       // 1/Σw
}

// variance estimates the noise by the squared residuals divided by the number of rows
// minus the effective parameters and the intercept, which also maximises the evidence
// (MacKay 1992).
func (s *spectrum) variance(lambda float64) *Variance {
	d := s.m.D
	v := &Variance{Factor: matrix.NewDense(d, d), Shift: make([]float32, d), Noise: make([]float64, s.m.K), Mean: 1 / s.m.Labelled}
	roots, shift := make([]float64, d), make([]float64, d)
	for i := range roots {
		roots[i] = math.Sqrt(s.inverse(i, lambda))
	}
	for j := range d {
		row := v.Factor.Row(j)
		for i, root := range roots {
			row[i] = float32(root * s.vectors[i*d+j])
		}
		vec.AxpyWide(s.m.MeanZ[j], row, shift)
	}
	for i, x := range shift {
		v.Shift[i] = float32(x)
	}
	free := max(float64(s.m.Used)-1-s.parameters(lambda), 1)
	for t := range v.Noise {
		v.Noise[t] = s.residual(t, lambda) / free
	}
	return v
}

// Deviations writes the standard deviations of predictions for the rows z into dst, which must
// be Len×K. A row's deviations do not depend on the rows beside it. work is memory for Len×R
// numbers.
func (v *Variance) Deviations(dst *matrix.Dense, z matrix.Rows, work *matrix.Dense) {
	d, r := v.Factor.Rows, v.Factor.Cols
	if z.Dim() != d || dst.Rows != z.Len() || dst.Cols != len(v.Noise) {
		panic(fmt.Sprintf("learn: Deviations of %d×%d rows by a model of %d features and %d targets into %d×%d", z.Len(), z.Dim(), d,
			len(v.Noise), dst.Rows, dst.Cols))
	}
	x := z.Dense
	if x == nil {
		x = new(matrix.Dense)
		z.CSR.Densify(x)
	}
	work.Reshape(x.Rows, r)
	vec.Gemm32(x.Rows, r, d, x.Data, x.Stride, v.Factor.Data, v.Factor.Stride, work.Data, work.Stride)
	for i := range x.Rows {
		row := work.Row(i)
		vec.Axpy32(-1, v.Shift, row)
		around := 1 + v.Mean + vec.DotWide(row, row)
		for t, noise := range v.Noise {
			dst.Row(i)[t] = float32(math.Sqrt(noise * around))
		}
	}
}
