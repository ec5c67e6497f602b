package approx

import (
	"fmt"
	"math"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// Errors are how far estimates are from the values of a kernel, over pairs of rows (Sivertsen,
// "Scalable learning through linearithmic time kernel approximation techniques", 2014, equations
// 4.2 and 4.3).
type Errors struct {
	MeanAbs, MaxAbs float64

	// MeanSigned is the mean of estimate - k.
	MeanSigned float64

	// MeanRel is the mean of |estimate - k|/|k| over the pairs where that is at most 1,
	// as in the paper, and Within their share of all pairs: otherwise a few pairs with
	// k close to 0 would dominate the mean. MaxRel is the largest over all pairs. A pair with k = 0
	// has no relative error; nil means that there are no pairs with one, or that MaxRel exceeds float64.
	MeanRel, MaxRel *float64
	Within          float64
}

// Compare returns the errors of estimates of a kernel's values.
func Compare(exact, estimates []float64) Errors {
	var e Errors
	rel, maxRel := 0.0, 0.0
	within, defined := 0, false
	for i, k := range exact {
		signed := estimates[i] - k
		abs := math.Abs(signed)
		e.MeanAbs += abs
		e.MaxAbs = max(e.MaxAbs, abs)
		e.MeanSigned += signed
		size := math.Abs(k)
		if size == 0 {
			continue
		}
		defined = true
		maxRel = max(maxRel, abs/size)
		if abs <= size {
			rel += abs / size
			within++
		}
	}
	n := float64(max(len(exact), 1))
	e.MeanAbs /= n
	e.MeanSigned /= n
	e.Within = float64(within) / n
	if within > 0 {
		rel /= float64(within)
		e.MeanRel = &rel
	}
	if defined && !math.IsInf(maxRel, 0) {
		e.MaxRel = &maxRel
	}
	return e
}

// Values returns k(x_i, y_i) and z(x_i)·z(y_i) of rows with the same number. It maps 256 rows at a
// time.
func Values(k kernel.Kernel, z feature.Map, x, y *matrix.Dense) (exact, estimates []float64) {
	if x.Rows != y.Rows || x.Cols != y.Cols {
		panic(fmt.Sprintf("approx: Values of %d×%d and %d×%d rows", x.Rows, x.Cols, y.Rows, y.Cols))
	}
	_, dim := z.Dims()
	const block = 256
	zx, zy := matrix.NewDense(block, dim), matrix.NewDense(block, dim)
	for lo := 0; lo < x.Rows; lo += block {
		hi := min(lo+block, x.Rows)
		zx, zy := zx.Slice(0, hi-lo), zy.Slice(0, hi-lo)
		z.Transform(zx, matrix.Rows{Dense: x.Slice(lo, hi)})
		z.Transform(zy, matrix.Rows{Dense: y.Slice(lo, hi)})
		for i := lo; i < hi; i++ {
			b := zy.Row(i - lo)
			dot := 0.0
			for j, v := range zx.Row(i - lo) {
				dot += float64(v) * float64(b[j])
			}
			exact, estimates = append(exact, k.Eval(x.Row(i), y.Row(i))), append(estimates, dot)
		}
	}
	return exact, estimates
}
