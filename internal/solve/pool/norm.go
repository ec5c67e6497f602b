package pool

import (
	"math"

	"mercer/internal/engine/vec"
)

// norm is the final normalisation of a pooled row.
type norm string

const (
	noNorm norm = "none"
	onlyL2 norm = "l2"
	rootL2 norm = "root-l2"
)

// apply normalises v in place.
func (n norm) apply(v []float32) {
	if n == noNorm {
		return
	}
	if n == rootL2 {
		vec.SignedRoot32(v, v)
	}
	if sum := vec.DotWide(v, v); sum > 0 {
		scale(v, float32(1/math.Sqrt(sum)))
	}
}

// scale multiplies v.
func scale(v []float32, by float32) {
	for i := range v {
		v[i] *= by
	}
}

// smallest is the share of the largest |v| of a row below which v counts as 0 in the derivative of the root.
const smallest = 1e-6

// backward returns the gradient with respect to v, which it may write to work, given dout, the gradient with respect to
// the normalised v; v is overwritten. With r = v or sign(v)√|v|, and u = r/‖r‖,
//
//	dr = (dout - u(u·dout))/‖r‖,  dv = dr/(2√|v|).
func (n norm) backward(v, dout, work []float32) []float32 {
	if n == noNorm {
		return dout
	}
	var most float32
	for _, x := range v {
		most = max(most, x, -x)
	}
	r := v
	if n == rootL2 {
		vec.SignedRoot32(r, v)
	}
	sum := vec.DotWide(r, r)
	if sum == 0 {
		clear(work)
		return work
	}
	along := float32(vec.DotWide(r, dout) / sum)
	factor := float32(1 / math.Sqrt(sum))
	if n == onlyL2 {
		for i, x := range r {
			work[i] = factor * (dout[i] - float32(along*x))
		}
		return work
	}
	least := float32(math.Sqrt(smallest * float64(most)))
	factor /= 2
	for i, x := range r {
		work[i] = 0
		if root := max(x, -x); root > least {
			work[i] = factor * (dout[i] - float32(along*x)) / root
		}
	}
	return work
}
