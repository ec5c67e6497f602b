package train

import (
	"fmt"
	"math"
)

// farTargets is how many standard deviations the targets of a regression lie from zero before their mean is taken away.
// Up to there float32 keeps scores to 4·10⁻⁶ of a deviation.
const farTargets = 64

// farOffset is the means of the targets if the learner should see differences from them. A training that keeps
// its statistics, which may be added to others, sees the targets themselves.
func (f *surveyed) farOffset() []float64 {
	if f.opt.Keep != nil {
		return nil
	}
	offset, far := make([]float64, f.sum.Outputs), false
	for t := range offset {
		mean, deviation := f.sum.Target(t)
		if math.Abs(mean) > farTargets*deviation && math.Abs(mean) < math.MaxFloat32 {
			offset[t], far = mean, true
		}
	}
	if !far {
		return nil
	}
	return offset
}

// leastDeviation is the smallest deviation of targets whose scores float32 tells apart.
const leastDeviation = 1e-32

// checkSpread fails if all that is to be learned lies below what scores can hold.
func (f *surveyed) checkSpread() error {
	for t := range f.sum.Outputs {
		if _, deviation := f.sum.Target(t); deviation > 0 && deviation < leastDeviation {
			return fmt.Errorf("%s: the numbers to predict deviate by %.3g from their mean, too little for float32; multiply them, for example by %.0e",
				f.src.Name(), deviation, 1/deviation)
		}
	}
	return nil
}

// centre takes the offset away from targets.
func (a *answers) centre(y []float64) { subtract(y, a.offset) }

func subtract(y, offset []float64) {
	if offset == nil {
		return
	}
	for i := range y {
		y[i] -= offset[i%len(offset)]
	}
}
