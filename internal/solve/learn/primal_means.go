package learn

import (
	"context"
	"math"
)

// diagonal writes the diagonal of the Hessian of the losses, taking curvature and z² as
// unrelated: Σᵢ cᵢℓ″·zᵢⱼ² = (Σᵢ cᵢℓ″)·(mean of zᵢⱼ²).
func (f *primalFit) diagonal(m *newton, diagonal []float64) {
	d, p := f.z.Dim(), f.parameters()
	for _, c := range f.sums.columns {
		if c.machine != m {
			continue
		}
		own := diagonal[c.at*p : (c.at+1)*p]
		for j, v := range f.square {
			own[j] = c.curvature * v
		}
		if f.intercept {
			own[d] = c.curvature
		}
	}
}

// centred is the norm of the gradient at 0 for centred features: what the best intercept leaves
// of it, exactly so if the losses' curvature is the same for all rows. If features are short, or far from 0 compared
// with their spread, nearly all of the gradient is the intercept's, and all but a hundredth would
// vanish with the right intercept alone.
func (f *primalFit) centred(g []float64) float64 {
	d, p, sum := f.z.Dim(), f.parameters(), 0.0
	for first := 0; first < len(g); first += p {
		for j, mean := range f.mean {
			v := g[first+j] - float64(g[first+d]*mean)
			sum += float64(v * v)
		}
	}
	return math.Sqrt(sum)
}

// sampledRows is how many rows of dense features are used for the means, which precondition the solver
// and set its tolerance.
const sampledRows = 8192

// meanSquares computes the columns' means and mean squares, weighted by cost: for dense features
// from evenly spaced rows.
func (f *primalFit) meanSquares(ctx context.Context) error {
	n := f.z.Len()
	f.square, f.mean = make([]float64, f.z.Dim()), make([]float64, f.z.Dim())
	total := 0.0
	for lo := 0; lo < n; lo += BlockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+BlockRows, n)
		rows, err := f.z.Block(lo, hi)
		if err != nil {
			return err
		}
		if x := rows.CSR; x != nil {
			for i := lo; i < hi; i++ {
				idx, val := x.Row(i - lo)
				for e, j := range idx {
					v := float64(val[e])
					f.square[j] += f.cost[i] * v * v
					f.mean[j] += f.cost[i] * v
				}
				total += f.cost[i]
			}
			continue
		}
		step := max(1, n/sampledRows)
		for i := (lo + step - 1) / step * step; i < hi; i += step {
			for j, v := range rows.Dense.Row(i - lo) {
				f.square[j] += f.cost[i] * float64(v) * float64(v)
				f.mean[j] += f.cost[i] * float64(v)
			}
			total += f.cost[i]
		}
	}
	for j := range f.square {
		f.square[j] /= max(total, math.SmallestNonzeroFloat64)
		f.mean[j] /= max(total, math.SmallestNonzeroFloat64)
	}
	return nil
}
